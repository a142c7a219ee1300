// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/atomics/network_atomics.hpp"
#include "core/epoch/epochs.hpp"
#include "core/mapped/fence_words.hpp"
#include "core/mapped/mapped_targets.hpp"
#include "core/notify/notifications.hpp"
#include "core/operation/address.hpp"
#include "core/operation/operation.hpp"
#include "core/region/peer.hpp"
#include "core/region/region.hpp"
#include "core/remote/exchange.hpp"
#include "core/remote/message.hpp"

namespace oriel {

class PlanRegistry;
class Process;

struct WindowSpec {
  std::uint32_t id = 0;  // this process's number of the window, never reused
  RegionSpec region;
  Reorder reorder;
  bool no_locks = false;
  /// Some ranks of the window are remote to each other: fences are counted, and sweeps receive
  /// messages. The same on all ranks.
  bool remote = false;
  bool shared = false;  // see EpochsSpec
};

/// One rank's side of one RMA window: its epochs, its pending operations, a region of memory, and
/// the access to the region's ranks. It has the hot paths, because they need all of these. Callers
/// use the epochs for what a hot path declines, and for all other synchronization.
class Window final : private SweepWork {
 public:
  Window(Process& process, WindowSpec spec);
  ~Window();

  /// The window whose work this is.
  static Window& of(SweepWork& work) { return static_cast<Window&>(work); }

  Epochs& epochs() { return epochs_; }
  const Epochs& epochs() const { return epochs_; }
  PendingOperations& pending() { return state_.pending; }
  const WindowEvents& events() const { return state_.events; }
  /// The state of a rank that all epochs share.
  const Peer& peer(int rank) const { return peers_[rank]; }
  /// The reason of the last failed call, as the second half of a sentence.
  const char* reason() const { return state_.reason.text(); }

  std::uint32_t id() const { return id_; }
  /// The name that the program has given the window last, for reports.
  const std::string& name() const { return name_; }
  void set_name(std::string_view name) { name_ = name; }
  int ranks() const { return region_.ranks(); }
  bool valid_rank(int rank) const { return peers_.valid(rank); }
  int rank() const { return region_.rank(); }
  const Member& member(int rank) { return region_.member(rank); }
  /// As member(), for loops over all ranks: the member is not kept.
  Member read_member(int rank) const { return region_.read_member(rank); }
  /// As Region::loss_reason().
  std::string loss_reason(int rank) const { return region_.loss_reason(rank); }
  /// Returns whether some ranks are remote to each other.
  bool remote() const { return remote_ != nullptr; }
  /// Returns whether the rank is remote to this one.
  bool remote(int rank) { return remote() && !region_.mapped(rank); }
  /// Returns whether operations to one target can be ordered. Network atomics have no order with
  /// messages.
  bool orders() const { return region_.atomics().empty(); }
  /// Returns whether an accumulate of `op` on `count` contiguous, aligned elements of any rank's
  /// memory is carried out by hardware atomics: those of the network, or those of the CPU on mapped
  /// memory (Q3). `op` has one bit.
  bool intrinsic(OpSet op, const Reduction& reduction, std::uint64_t count) const;

  /// The protocol that the general path chooses for the operation on an available target.
  Protocol protocol(const Operation& operation);
  /// The protocol by which a hot path has carried out an operation on these elements.
  Protocol hot_protocol(int target, std::int64_t displacement, const Elements& elements,
                        const HandleName& handle) {
    return mapped_protocol(region_.path_of(target, displacement, elements, handle));
  }

  /// The hot path of operations on mapped memory: the address of `bytes` bytes that begin `low`
  /// bytes after `displacement` of `target`, if operations may access it now by loads and stores.
  /// Null: use Epochs::issue(). Any thread may call it, without the lock that serializes the
  /// process's other calls.
  std::byte* find_address(int target, std::int64_t displacement, std::uint64_t bytes,
                          std::int64_t low = 0) const {
    const Peer& other = peer(target);
    // Acquire: the members that `ready` covers, which another thread may have stored.
    Target* open = other.ready.load(std::memory_order_acquire);
    if (open == nullptr || other.postponed.load(std::memory_order_acquire) != 0) return nullptr;
    std::uint64_t offset;
    if (!find_range(displacement, other.disp_unit, low, bytes, other.size, offset)) [[unlikely]] {
      const auto address =
          static_cast<std::uint64_t>(displacement) + static_cast<std::uint64_t>(low);
      return find_attached(*open, target, address, bytes);
    }
    mark(open->used);
    return other.base + offset;
  }
  /// The hot path of private memory: puts a run of bytes there (`write`), or gets it. `where`: a
  /// rank, or a HandleView. Any thread may call it, as find_address(). False: use Epochs::issue();
  /// the target has not been notified, and part of the bytes may have been moved. `may_aggregate`:
  /// the operation may be aggregated; the caller has the process's lock then.
  template <typename Where>
  bool try_copy(bool write, const Where& where, std::int64_t displacement, void* local,
                std::uint64_t bytes, bool may_aggregate = false) {
    const bool aggregated =
        std::is_same_v<Where, int> && may_aggregate && bytes <= Aggregation::most_bytes;
    const PrivateRun run =
        private_run(where, displacement, bytes, 0,
                    aggregated ? Postponed::aggregated_puts | Postponed::aggregated_gets : 0);
    if (run.open == nullptr) return false;
    if constexpr (std::is_same_v<Where, int>) {
      if (aggregated && mapped_.aggregate(where, write, run.address, local, bytes)) {
        mark(run.open->used);
        return true;
      }
    }
    if (region_.copy(write, run.process, run.address, local, bytes) != Error::none) return false;
    mark(run.open->used);
    return true;
  }
  /// The hot path of puts and gets of any datatypes, by loads and stores or by system calls.
  template <typename Where>
  bool try_move(bool write, const Where& where, std::int64_t displacement, const Elements& there,
                void* local, const Elements& own) const {
    const auto [low, high] = there.layout.bounds(there.count);
    // Only the general path checks whether the data may begin before the displacement.
    if (displacement < 0 || low < 0) return false;
    const auto bytes = static_cast<std::uint64_t>(high - low);
    if (std::byte* lowest = find_address(where, displacement, bytes, low)) {
      Region::move(write, at(lowest, -low), there, local, own);
      return true;
    }
    const PrivateRun run = private_run(where, displacement, bytes, low, 0);
    if (run.open == nullptr ||
        region_.copy(write, run.process, run.address - static_cast<std::uint64_t>(low), there,
                     local, own) != Error::none) {
      return false;
    }
    mark(run.open->used);
    return true;
  }
  /// The hot path of a notified put: stores a run of bytes into mapped memory, in the open epoch
  /// or, if no epoch covers the target, in the notified epoch. False: use Epochs::issue(); the
  /// target has not been notified.
  bool put_notified(int target, std::int64_t displacement, const void* origin, std::uint64_t bytes,
                    const NotifyArg& notify_arg) {
    Peer& other = peers_[target];
    Target* open = other.ready.load();
    if (open == nullptr && !epochs_.covered(target)) open = other.notified;
    if (open == nullptr || bytes > most_stored_twice) return false;
    const Member& member = region_.member(target);
    std::uint64_t offset;
    if (member.size == 0 || !member.loadable() ||
        !find_range(displacement, member.disp_unit, 0, bytes, member.size, offset) ||
        !mapped_.put_notified(other, *open, member, offset, origin, bytes,
                              {notify_arg.kind, notify_arg.number, bytes})) {
      return false;
    }
    mark(open->used);
    return true;
  }
  /// The hot path of accumulates of `count` contiguous elements on both sides. False: use
  /// Epochs::issue(). `thread`: the line of a thread that does not hold the process's lock; null:
  /// the process has no other threads. Always inlined, because a call with eight arguments would be
  /// a tenth of the work.
  [[gnu::always_inline]] bool try_reduce(ThreadLine* thread, int target, std::int64_t displacement,
                                         const Reduction& reduction, const void* origin,
                                         void* fetched, std::uint64_t count) const {
    const AtomicSet& atomics = region_.atomics();
    if (!atomics.empty() && atomics.has(bit(reduction.op), reduction.basic)) return false;
    std::byte* where = find_address(target, displacement, count * reduction.element);
    if (where == nullptr) {
      return update_private(target, displacement, count * reduction.element,
                            [=, this, &reduction](const Member& member, std::uint64_t address) {
                              return region_.reduce_private(thread, reduction, member, address,
                                                            origin, fetched, count);
                            });
    }
    return region_.try_hot_reduce(thread, reduction, *peer(target).member, where, origin, fetched,
                                  count);
  }
  /// The hot path of compare-and-swap; see try_reduce().
  [[gnu::always_inline]] bool try_compare_swap(ThreadLine* thread, int target,
                                               std::int64_t displacement,
                                               const Reduction& reduction, const void* origin,
                                               const void* compare, void* result) const {
    const AtomicSet& atomics = region_.atomics();
    if (!atomics.empty() && atomics.has(compare_swap_bit, reduction.basic)) return false;
    std::byte* where = find_address(target, displacement, reduction.element);
    if (where == nullptr) {
      return update_private(target, displacement, reduction.element,
                            [=, this, &reduction](const Member& member, std::uint64_t address) {
                              return region_.compare_swap_private(thread, reduction.element, member,
                                                                  address, origin, compare, result);
                            });
    }
    return region_.try_hot_compare_swap(thread, reduction.element, *peer(target).member, where,
                                        origin, compare, result);
  }

  /// The hot path of a flush. True if all operations issued to `target` in its lock or lock_all
  /// epoch and in the notified epoch are finished. False: use nothing_pending(). Any thread may
  /// call it, as find_address(). threads(): only the operations of these threads count (Q1). It is
  /// called only if an operation may be outstanding.
  template <typename Threads>
  bool flushed(int target, bool local, Threads&& threads) {
    Peer& other = peers_[target];
    const Target* open = other.ready.load(std::memory_order_acquire);
    // Acquire: operations that other threads have finished.
    const ThreadSet outstanding = other.outstanding.load(std::memory_order_acquire);
    if (open == nullptr || !open->passive || other.has_postponed(local) ||
        (outstanding != no_threads && (outstanding & threads()) != no_threads)) {
      return false;
    }
    if (other.short_moves.load() != 0) other.short_moves.store(0);
    order_behind_flush();
    return true;
  }
  bool flushed(int target, bool local) {
    return flushed(target, local, [] { return all_threads; });
  }
  /// As flushed(), but also checks the operations of the general path. The caller has the process's
  /// lock. False: use Epochs::flush().
  bool nothing_pending(int target, bool local) {
    Peer& other = peers_[target];
    const Target* open = other.ready.load();
    if ((open != nullptr ? !open->passive : other.notified == nullptr || epochs_.covered(target)) ||
        other.has_postponed(local) || !finished(open) || !finished(other.notified)) {
      return false;
    }
    other.outstanding.store(0, std::memory_order_release);
    order_behind_flush();
    return true;
  }

  /// True if the operation must wait for its target's lock before it is issued: it has a result,
  /// which the program may read when the call has returned, and no request or notification reports
  /// its completion; see Epochs::awaits_lock(). The network's atomics return their results later in
  /// any case.
  bool awaits_lock(const Operation& operation) {
    return fetches(operation.kind) && operation.completion == nullptr &&
           !operation.notify_arg.wanted() && epochs_.awaits_lock(operation.target) &&
           !region_.atomics().has(operation);
  }

  /// Opens a lock epoch. If the lock is free and nothing else is pending on the window, the lock is
  /// acquired and released without the general path (try_lock()). `thread`: the thread that opens
  /// the epoch, whose locks are requested in order; see LockOrder.
  Error lock(bool exclusive, int target, Assert assertion, ThreadSet thread = all_threads) {
    return try_lock(exclusive, target, assertion)
               ? Error::none
               : epochs_.open_lock(exclusive, target, assertion, thread);
  }
  bool try_lock(bool exclusive, int target, Assert assertion);
  Outcome unlock(int target, Completion* completion);
  /// Opens a lock_all epoch. Acquires the rank's own lock now if the rank can load its own memory,
  /// and each other lock at the first operation to its target.
  Error lock_all(Assert assertion, ThreadSet thread = all_threads) {
    return try_lock_all(assertion) ? Error::none : epochs_.open_lock_all(assertion, thread);
  }
  bool try_lock_all(Assert assertion);
  Outcome unlock_all(Completion* completion);
  /// In a hot lock_all epoch: acquires the free lock of a target without operations so far, and
  /// opens the hot path to its memory. False: use Epochs::issue().
  bool try_touch(int target);

  // For dynamic windows. If attach(), detach() or create_handle() fails, reason() has the reason.
  bool dynamic() const { return region_.dynamic(); }
  /// Attaches memory of this rank. No process waits, and no operation of other ranks is delayed.
  Error attach(const MemoryRange& piece);
  /// Detaches the piece that begins at the address. Operations reach its memory, as long as it is
  /// there, until it is forgotten (OwnPieces).
  Error detach(std::uint64_t address);
  /// Forgets the detached pieces that begin in these bytes, or all. Operations on them fail from
  /// now on.
  void forget_detached(std::uint64_t address, std::uint64_t bytes) {
    region_.own_pieces().forget_detached(address, bytes);
  }
  void forget_detached() { region_.own_pieces().forget_detached(); }
  /// Creates a memory handle of this rank (Q5).
  Error create_handle(const MemoryRange& memory, HandleName& name);
  /// Releases a memory handle. Later operations on it fail.
  Error release_handle(const HandleName& name);
  /// Looks up the memory handle that `view` names. That of a remote rank is checked only when it is
  /// used.
  Error open_handle(HandleView& view);
  /// As the other find_address(), for memory of a handle.
  std::byte* find_address(const HandleView& view, std::int64_t displacement, std::uint64_t bytes,
                          std::int64_t low = 0) const {
    Target* open = nullptr;
    std::uint64_t offset;
    if (view.base == nullptr || !reaches(view, displacement, bytes, low, offset, open)) {
      return nullptr;
    }
    mark(open->used);
    return view.base + offset;
  }

  /// The notifications that this rank has received.
  Notifications& notifications() { return notifications_; }
  /// Finishes when this rank's counter `counter`, which must exist, has reached `value` (N8).
  Outcome await(std::int32_t counter, std::uint64_t value, Completion& completion);
  /// Sets this rank's counter and returns its previous value. No addition is lost. Requests whose
  /// threshold had been reached are completed.
  std::uint64_t exchange_counter(std::int32_t counter, std::uint64_t value);

  /// Makes a store that its origin has inlined in a notification.
  void store(std::uint64_t offset, std::span<const std::byte> bytes) {
    region_.store(offset, bytes);
  }

  /// For calls that are collective on the window: enters the next round of the exchange.
  void begin_exchange(const Exchange::Words& own) {
    exchange_.begin(own);
    state_.peers.push(true);
  }
  Exchange& exchange() { return exchange_; }
  /// The barrier of the window's ranks before MPI_Finalize.
  Barrier& barrier() { return barrier_; }
  /// The window's persistent collectives, which are made by rounds of the exchange.
  PlanRegistry& plan_registry();

  /// After the last fence, before the window is destroyed: to be called until it returns true. True
  /// if no other rank stores to or reads this rank's words any more.
  bool depart() { return fence_words_.depart(); }

  /// Receives a message of a remote rank. False if the message is invalid; nothing has been changed
  /// then.
  bool deliver(const Message& message, std::span<const std::byte> payload);
  /// Advances everything of the window that can advance, without blocking (E10). True if anything
  /// moved.
  bool sweep();

 private:
  /// As find_address(), for memory that the target has attached to a dynamic window. Null on other
  /// windows.
  std::byte* find_attached(Target& open, int target, std::uint64_t address,
                           std::uint64_t bytes) const {
    if (!region_.dynamic() || bytes == 0) return nullptr;
    std::byte* where = region_.find_piece_address(target, address, bytes);
    if (where != nullptr) mark(open.used);
    return where;
  }
  /// The most bytes that put_notified() stores without knowing whether there is space for the
  /// notification. If there is none, the general path stores them again. A longer put takes so long
  /// that the time of the general path does not matter.
  static constexpr std::uint64_t most_stored_twice = std::uint64_t{16} * 1024;

  /// A run of private memory that operations may access now.
  struct PrivateRun {
    Target* open = nullptr;  // null: no access
    int process = 0;
    std::uint64_t address = 0;
  };
  /// `behind`: the kinds of Postponed that may be pending to the target before this operation.
  PrivateRun private_run(int target, std::int64_t displacement, std::uint64_t bytes,
                         std::int64_t low, int behind) const {
    const Peer& other = peer(target);
    Target* open = other.ready.load(std::memory_order_acquire);
    std::uint64_t offset;
    if (open == nullptr || (other.postponed.load(std::memory_order_acquire) & ~behind) != 0 ||
        other.member->path != Path::system_call || bytes == 0 ||
        !find_range(displacement, other.disp_unit, low, bytes, other.member->size, offset)) {
      return {};
    }
    const Member& member = *other.member;
    return {open, member.process, member.address + offset};
  }
  PrivateRun private_run(const HandleView& view, std::int64_t displacement, std::uint64_t bytes,
                         std::int64_t low, int /*behind*/) const {
    Target* open = nullptr;
    std::uint64_t offset;
    if (view.address == 0 || bytes == 0 || !reaches(view, displacement, bytes, low, offset, open)) {
      return {};
    }
    return {open, peer(view.target).member->process, view.address + offset};
  }
  /// The hot path of accumulates on private memory: calls update(member, address) if operations may
  /// access these bytes now. False: the update has not been made. `update` captures values, so that
  /// they stay in registers where the memory is mapped.
  template <typename Update>
  [[gnu::noinline]] bool update_private(int target, std::int64_t displacement, std::uint64_t bytes,
                                        const Update& update) const {
    const PrivateRun run = private_run(target, displacement, bytes, 0, 0);
    if (run.open == nullptr || !update(*peer(target).member, run.address)) return false;
    mark(run.open->used);
    return true;
  }
  /// Returns whether operations through the handle may access these bytes of its memory now.
  bool reaches(const HandleView& view, std::int64_t displacement, std::uint64_t bytes,
               std::int64_t low, std::uint64_t& offset, Target*& open) const {
    const Peer& other = peer(view.target);
    open = other.ready.load(std::memory_order_acquire);
    return open != nullptr && open->passive &&
           other.postponed.load(std::memory_order_acquire) == 0 &&
           find_range(displacement, view.disp_unit, low, bytes, view.bytes, offset) && view.alive();
  }
  struct Remote;  // the objects that a window needs for remote ranks only
  Fence& choose_fence();
  Sender* sender();
  static bool finished(const Target* target) {
    return target == nullptr || (target->all_finished() && !target->failed());
  }

  Process& process_;
  std::uint32_t id_;
  std::string name_;
  Region region_;
  Peers peers_;
  EpochState state_;
  Notifications notifications_;
  FenceWords fence_words_;
  NetworkAtomics atomics_;
  MappedTargets mapped_;
  std::unique_ptr<Remote> remote_;  // null: all ranks are mapped to one another
  Exchange exchange_;
  Barrier barrier_;
  Epochs epochs_;
  std::unique_ptr<PlanRegistry> plan_registry_;  // null: the window has no persistent collectives
};

}  // namespace oriel
