// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/base/zero_array.hpp"
#include "core/lock/control.hpp"
#include "core/lock/lock_line.hpp"
#include "core/lock/sharers.hpp"
#include "core/lock/update.hpp"
#include "core/operation/atomicity.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"
#include "core/pieces/memory_handles.hpp"
#include "core/pieces/own_pieces.hpp"
#include "core/pieces/peer_pieces.hpp"
#include "core/region/aggregation.hpp"
#include "core/region/member.hpp"
#include "core/region/private_copy.hpp"
#include "core/transport/transport.hpp"

namespace oriel {

struct RegionSpec {
  int rank = 0;
  int ranks = 0;
  MemberTable members;
  ControlBlock* control = nullptr;  // our own
  SharedPieces* pieces = nullptr;   // our own; null: the window is not dynamic
  std::shared_ptr<void> own;        // owns our control block, pieces and memory
  AtomicSet atomics;                // equal on all ranks
  Atomicity atomicity;              // of accumulates; ranks with different ones exclude one another
};

/// The memory of a group of ranks as one of them sees it: how each rank is reached, the words of
/// mapped ranks (locks, updates, protocol steps), and copies to memory that is mapped or accessed
/// by system calls. It knows no epochs, messages between nodes or MPI handles. Making a Region is
/// not collective. Several objects may share one.
class Region {
 public:
  Region(RegionSpec spec, Transport& transport);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const AtomicSet& atomics() const { return atomics_; }
  const Atomicity& atomicity() const { return atomicity_; }
  /// True on a dynamic window: each rank's memory is what it has attached. See Member::pieces.
  bool dynamic() const { return own_pieces_ != nullptr; }

  const Member& member(int rank) {
    const Member* const known = known_[rank].member;
    return known != nullptr ? *known : resolve(rank);
  }
  bool mapped(int rank) { return member(rank).mapped(); }
  /// True if the rank's memory is in our address space, for loads and stores of the program. On a
  /// dynamic window that is our own attached memory.
  bool loadable(int rank) {
    const Member& target = member(rank);
    return (target.base != nullptr && target.size != 0) || (dynamic() && rank == rank_);
  }
  /// All mapped ranks, our own included.
  const std::vector<int>& mapped_ranks() const { return table_.mapped_ranks(); }
  /// As member(), but does not keep a new result: for loops over all ranks.
  Member read_member(int rank) const {
    const Member* const known = known_[rank].member;
    return known != nullptr ? *known : table_.read_member(rank);
  }
  bool alive(int rank) const { return transport_.messages().alive(read_member(rank).process); }
  /// Why a lost rank cannot be reached, as a clause; empty: it has ended.
  std::string loss_reason(int rank) const {
    return transport_.messages().loss_reason(read_member(rank).process);
  }

  // Protocol steps.
  /// Our slot that the rank writes.
  Slot& slot_from(int rank) { return mine_->slots()[rank]; }
  /// True if the rank has exposed its memory to our access number `id`.
  bool exposed(int rank, std::uint64_t id) {
    return slot_from(rank).granted.load(std::memory_order_acquire) >= id;
  }
  /// The slot of a mapped rank that we write.
  Slot& slot_at(int rank) { return member(rank).control->slots()[rank_]; }
  ControlBlock& mine() { return *mine_; }
  /// Called after a store that the rank may be waiting for: rings if the rank sleeps.
  void wake(int rank) { transport_.node().wake(*member(rank).doorbell); }
  /// Notifies a mapped rank of an operation that has taken effect, and of the store.
  NotifyOutcome notify(int rank, const NotifyArg& notify_arg, const NotifyStore& store) {
    const Member& target = member(rank);
    return transport_.node().notify(
        target.process, {target.window, {rank_, notify_arg.number, notify_arg.bytes}}, store);
  }

  /// Begins to recall the stores inlined for the mapped rank. True if fence() must follow.
  /// finish_recall() must follow in any case.
  bool begin_recall(int rank, RecallFor reason);
  /// Returns when the recalled stores have been made. Waits for a store that the rank is making
  /// now, as long as the rank lives.
  Error finish_recall(int rank);
  /// A full memory fence on every processor that runs one of the node's processes.
  void fence() { sharers_.fence(); }
  /// Makes a store into our own memory that its origin has inlined.
  void store(std::uint64_t offset, std::span<const std::byte> bytes);

  // Locks of mapped ranks.
  LockLine lock_line(int rank) { return {*member(rank).control, sharers_}; }
  /// Releases the lock of `locked` that `origin` holds. `origin` is our own rank, or a remote one
  /// that we represent in our own lock line. Grants the lock to waiting origins, if there are any.
  void release_lock(int locked, int origin, bool exclusive);

  // Operations on mapped ranks.
  /// The path to the memory of an operation. On a dynamic window, it is the path to the piece or
  /// memory handle that contains the lowest byte; without one it is the rank's path, and the
  /// operation will fail.
  Path path_of(int rank, std::int64_t displacement, const Elements& elements,
               const HandleName& handle);
  /// Checks that the operation stays within its target's memory. Attached memory is checked when
  /// the operation is carried out.
  Error check(const Operation& operation, FailureReason& reason);
  Error perform(const Operation& operation);
  /// Carries out `bytes` bytes, from byte `first` on, of a put or get that is contiguous on both
  /// sides. Not for dynamic windows.
  Error perform_piece(const Operation& operation, std::uint64_t first, std::uint64_t bytes);
  /// Carries out a put (`write`) or get between elements at two addresses of this process.
  static void move(bool write, std::byte* there, const Elements& elements, void* local,
                   const Elements& own);
  /// Carries out a put (`write`) or get, where `there` is an address in the private memory of
  /// `process`. Called by any thread.
  /// `alone`: the process does not help.
  Error copy(bool write, int process, std::uint64_t there, const Elements& elements, void* local,
             const Elements& own, bool alone = false) const;
  /// copy() of one run.
  Error copy(bool write, int process, std::uint64_t there, void* local, std::uint64_t bytes) const {
    const Run run{local, there, bytes};
    return copy_private(transport_.node(), process, write, {&run, 1});
  }
  /// Carries out the operations that have been aggregated for the rank.
  void push(Aggregation& aggregation, int rank);
  /// Updates elements at `where`. `thread`: the line of the calling thread, if it has one.
  /// Error::peer_lost: a rank was killed within an update that this one would have to wait for.
  Error reduce(const Reduction& reduction, const Member& target, void* where, const void* origin,
               void* fetched, std::uint64_t count, ThreadLine* thread = nullptr) {
    const Update held(*target.control, sharers_,
                      !by_cpu_atomics(reduction, target, where, fetched != nullptr, count), thread);
    if (held.lost()) [[unlikely]]
      return lost(held);
    (held.alone() ? reduce_plain : reduce_atomic)(reduction, where, origin, fetched, count);
    return Error::none;
  }
  /// Updates runs at offsets from `start`, as one update: `bytes` bytes of the layout that `cursor`
  /// walks. `origin` and `fetched` are contiguous.
  Error reduce(const Reduction& reduction, const Member& target, std::byte* start,
               BlockCursor cursor, std::uint64_t bytes, const std::byte* origin,
               std::byte* fetched);
  Error compare_swap(std::uint32_t element, const Member& target, void* where, const void* origin,
                     const void* compare, void* result, ThreadLine* thread = nullptr) {
    const Update held(*target.control, sharers_, !atomic_at(target, where, element), thread);
    if (held.lost()) [[unlikely]]
      return lost(held);
    (held.alone() ? compare_swap_plain : compare_swap_atomic)(element, where, origin, compare,
                                                              result);
    return Error::none;
  }
  /// reduce() by a HotUpdate. False: nothing has been done, and the process lock is needed.
  bool try_hot_reduce(ThreadLine* thread, const Reduction& reduction, const Member& target,
                      void* where, const void* origin, void* fetched, std::uint64_t count) const {
    return try_hot_update(
        thread, target,
        [&] { return by_cpu_atomics(reduction, target, where, fetched != nullptr, count); },
        [&](auto&& combine) { combine(reduction, where, origin, fetched, count); }, reduce_plain,
        reduce_atomic);
  }
  bool try_hot_compare_swap(ThreadLine* thread, std::uint32_t element, const Member& target,
                            void* where, const void* origin, const void* compare,
                            void* result) const {
    return try_hot_update(
        thread, target, [&] { return atomic_at(target, where, element); },
        [&](auto&& combine) { combine(element, where, origin, compare, result); },
        compare_swap_plain, compare_swap_atomic);
  }
  /// Updates private memory at an address in the target's process, by a HotUpdate that excludes
  /// all others. False: the update has not taken effect, but `fetched` (`result`) may have been
  /// written.
  bool reduce_private(ThreadLine* thread, const Reduction& reduction, const Member& target,
                      std::uint64_t address, const void* origin, void* fetched,
                      std::uint64_t count) const;
  bool compare_swap_private(ThreadLine* thread, std::uint32_t element, const Member& target,
                            std::uint64_t address, const void* origin, const void* compare,
                            void* result) const;
  /// True if `count` contiguous elements at `where` are updated by one CPU atomic each. Otherwise
  /// they are updated as a whole (see Update).
  bool by_cpu_atomics(const Reduction& reduction, const Member& target, const void* where,
                      bool fetches, std::uint64_t count) const {
    const auto by_elements = [&] {
      return reduction.by_elements || atomicity_.by_elements(reduction, fetches);
    };
    return (count <= 1 || (count <= most_atomics && by_elements())) &&
           atomic_at(target, where, reduction.element);
  }
  /// The rank that the last operation that failed with Error::peer_lost has lost, as the second
  /// half of a sentence. The text exists as long as the region, because a thread raises the error
  /// after it has released the process lock.
  const char* whom_lost() const { return whom_lost_; }
  /// Sets whom_lost() to this rank.
  void set_lost(int rank) { lose(rank, ""); }
  // Attached memory, and memory handles, of a dynamic window.
  OwnPieces& own_pieces() { return *own_pieces_; }
  OwnHandles& own_handles() { return *own_handles_; }
  /// Finds the memory handle of a mapped rank. Error::base: it has been released, or never existed.
  Error open_handle(HandleView& view);
  /// The address in our address space of `bytes` bytes at `address` of a mapped rank, if they are
  /// in one known piece that can be loaded and stored. Null: use perform(). Any thread may call it
  /// at any time.
  std::byte* find_piece_address(int rank, std::uint64_t address, std::uint64_t bytes) const;
  /// Checks that our own bytes in this range are in pieces. Error::range: some are not, or an
  /// element of `element` bytes is in two pieces. Sets `memory.private_memory` if peers cannot map
  /// all of the bytes, and `memory.detached` if some are in a detached piece: reachable() must
  /// follow then.
  Error check_pieces(std::uint64_t address, std::uint64_t bytes, std::uint64_t element,
                     Member& memory);
  /// True if this process can load these bytes of its own now (`stores`: and store them).
  bool reachable(const std::byte* memory, std::uint64_t bytes, bool stores) {
    return transport_.node().reachable(reinterpret_cast<std::uintptr_t>(memory), bytes, stores);
  }
  /// Copies into (`write`) or out of our own detached memory. The agent may copy while the program
  /// unmaps the memory, so the kernel does it. Error::range: the memory is gone.
  Error copy_detached(bool write, std::byte* memory, std::byte* local, std::uint64_t bytes) {
    const Run run{local, reinterpret_cast<std::uintptr_t>(memory), bytes};
    return transport_.node().copy_own(write, run) == Error::none ? Error::none : Error::range;
  }
  /// Returns whether perform() has found detached memory since the last call.
  bool clear_detached_found() { return std::exchange(detached_found_, false); }
  /// Finds the memory of a memory handle, as a Member, and its slot. Null: the handle has been
  /// released, or never existed.
  const HandleSlot* find_handle(int rank, const HandleName& name, Member& piece);
  /// Packs a short operation for a lock request (S4). False if the operation is not suitable.
  bool pack_piggyback(const Operation& operation, Piggyback& piggyback);

 private:
  /// The memory that a mapped rank has attached to a dynamic window, and its memory handles.
  struct Attached {
    PeerPieces pieces;
    PeerHandles handles;
  };
  /// A rank that has been used. All bytes zero: one that has not.
  struct Known {
    const Member* member = nullptr;  // in table_ or remote_members_
    Attached* attached = nullptr;    // in attached_; null: the window is not dynamic
  };

  const Member& resolve(int rank);
  Attached& attached(int rank) {
    member(rank);
    return *known_[rank].attached;
  }
  static bool atomic_at(const Member& target, const void* where, std::uint32_t element) {
    return !target.private_memory && atomic_element(element, where);
  }
  Member as_member(int rank, const MemoryRange& memory, bool detached = false);
  bool check_detached(int rank, const Member& piece, std::uint64_t address, std::uint64_t bytes,
                      bool stores);
  Error perform_on_handle(const Operation& operation);
  Error find_piece(int rank, std::uint64_t address, Member& piece, std::uint64_t& remaining);
  Error perform_on_pieces(const Operation& operation);
  template <typename Visit>
  Error for_each_part(const Operation& operation, Visit&& visit);
  Error perform_by_pieces(const Operation& operation);
  Error perform_at(const Operation& operation, const Member& target, std::uint64_t offset);
  bool by_elements(const Operation& operation, const Member& target, std::uint64_t offset) const;
  Error move_at(const Operation& operation, const Member& target, std::uint64_t offset);
  Error update_at(const Update& held, const Operation& operation, const Member& target,
                  std::uint64_t offset);
  Error ended(const Operation& operation, const Member& target, Error error);
  /// Calls update(plain) or update(atomic), as the updates of other ranks permit. by_elements()
  /// returns whether update(atomic) is possible. False: neither is permitted now.
  template <typename ByElements, typename UpdateBy, typename Plain, typename Atomic>
  bool try_hot_update(ThreadLine* thread, const Member& target, ByElements&& by_elements,
                      UpdateBy&& update, Plain&& plain, Atomic&& atomic) const {
    HotUpdate held(*target.control, sharers_, thread);
    if (held.alone()) [[likely]] {
      update(plain);
      return true;
    }
    const bool elements = by_elements();
    if (held.by_elements() && elements) {
      update(atomic);
    } else if (held.acquire_turn(!elements)) {
      update(plain);
    } else {
      return false;
    }
    return true;
  }
  template <typename Combine>
  bool update_private(ThreadLine* thread, const Member& target, std::uint64_t address,
                      std::uint64_t bytes, bool stores, Errand* errand, void* result,
                      Combine&& combine) const;
  bool ask(const Member& target, Errand& errand, void* fetched) const;
  bool update_by_owner(const Operation& operation, const Member& target, std::uint64_t base) const;
  std::optional<Error> update_in_chunks(const Operation& operation, const Member& target,
                                        std::uint64_t base);
  Error update_vm(const Operation& operation, const Member& target, std::uint64_t base);
  Error perform_piggyback(const Piggyback& piggyback, int rank);
  Error lost(const Update& update) {
    return lose(update.lost_rank(), " within an accumulate to the same target");
  }
  [[gnu::noinline, gnu::cold]] Error lose(int rank, const char* when);

  /// More elements than this are updated as a whole, although CPU atomics are possible: so many
  /// atomics take longer than a turn.
  static constexpr std::uint64_t most_atomics = 512;

  Transport& transport_;
  int rank_;
  int ranks_;
  AtomicSet atomics_;
  Atomicity atomicity_;
  std::shared_ptr<void> own_;
  MemberTable table_;
  Sharers sharers_;
  ControlBlock* mine_;
  ZeroArray<Known> known_;
  std::deque<Member> remote_members_;  // of the remote ranks that have been used
  std::deque<Attached> attached_;
  std::unique_ptr<OwnPieces> own_pieces_;  // null: the window is not dynamic
  std::unique_ptr<OwnHandles> own_handles_;
  bool detached_found_ = false;
  std::vector<int> granted_;        // temporary list of release_lock(): the origins to wake
  std::vector<std::byte> scratch_;  // of updates of private memory
  std::map<std::pair<int, std::string_view>, std::string> texts_of_lost_;
  const char* whom_lost_ = "";  // one of these texts
};

/// Chooses the protocol of an operation that takes the general path; the first reason that holds
/// decides. The hot paths (Window::find_address and the like) are reason 2 if
/// MappedTargets::make_ready() has opened them. Three kinds of short puts travel in another
/// message: in a notification (MappedTargets::inline_put, Window::put_notified), and with a lock
/// request (Region::pack_piggyback). A rendezvous whose buffer the network cannot register becomes
/// messages (RemoteTargets::issue).
///
/// `transfers_now`: a put or get of this length may be a direct transfer (Limits::direct_from), and
/// its target is available, so that the transfer need not wait.
Protocol select_protocol(const Operation& operation, Region& region, const Limits& limits,
                         bool transfers_now);

/// The protocol of reason 2: this process carries out the operation on the memory of a mapped rank.
constexpr Protocol mapped_protocol(Path path) {
  return path == Path::system_call ? Protocol::system_call : Protocol::stored;
}

}  // namespace oriel
