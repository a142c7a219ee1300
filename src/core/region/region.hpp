// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/zero_array.hpp"
#include "core/lock/control.hpp"
#include "core/lock/light_update.hpp"
#include "core/lock/lock_line.hpp"
#include "core/lock/sharers.hpp"
#include "core/lock/update.hpp"
#include "core/operation/atomic_set.hpp"
#include "core/operation/atomicity.hpp"
#include "core/operation/operation.hpp"
#include "core/pieces/own_handles.hpp"
#include "core/pieces/own_pieces.hpp"
#include "core/pieces/peer_handles.hpp"
#include "core/pieces/peer_pieces.hpp"
#include "core/region/aggregation.hpp"
#include "core/region/member.hpp"
#include "core/region/private_copy.hpp"
#include "core/transport/transport.hpp"

namespace oriel {

struct RegionSpec {
  int rank = 0;
  int ranks = 0;
  std::shared_ptr<MemberResolver> resolver;
  std::vector<int> mapped;          // ranks that are, ourselves included
  ControlBlock* control = nullptr;  // our own
  SharedPieces* pieces = nullptr;   // likewise, of a dynamic window
  std::shared_ptr<void> own;        // what these and our memory lie in, let go with the region
  AtomicSet atomics;                // the same on all ranks
  Atomicity atomicity;              // of accumulates; ranks that differ exclude one another, too
};

/// The memory of a group of ranks as one of them sees it: how each is reached, its words (locks,
/// updates, steps), and how bytes move to memory in our address space or one system call away. No
/// epoch, no message between nodes, no MPI handle: made by one process alone, and shared by
/// whatever uses it.
class Region {
 public:
  Region(RegionSpec spec, Transport& transport);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const AtomicSet& atomics() const { return atomics_; }
  const Atomicity& atomicity() const { return atomicity_; }
  /// Its memory is what each rank has attached: see Member::pieces.
  bool dynamic() const { return own_pieces_ != nullptr; }

  const Member& member(int rank) {
    Known& known = members_[rank];
    if (!known.resolved) [[unlikely]]
      resolve(rank);
    return known.member;
  }
  /// Its control block is in our address space: steps are stores, and it has our lock and update
  /// words as we have its.
  bool mapped(int rank) { return member(rank).control != nullptr; }
  /// All ranks that are, ourselves included.
  const std::vector<int>& mapped_ranks() const { return mapped_; }
  /// The same for a question that all ranks are asked: nothing is kept.
  Member look(int rank) const {
    const Known& known = members_[rank];
    return known.resolved ? known.member : resolver_->find(rank);
  }
  bool alive(int rank) const { return transport_.messages().alive(look(rank).process); }

  // Steps.
  /// What a rank tells us.
  Slot& slot_from(int rank) { return mine_->slots()[rank]; }
  /// The rank has exposed its memory to our access number `id`.
  bool exposed(int rank, std::uint64_t id) {
    return slot_from(rank).granted.load(std::memory_order_acquire) >= id;
  }
  /// Where we tell a mapped rank.
  Slot& slot_at(int rank) { return member(rank).control->slots()[rank_]; }
  ControlBlock& mine() { return *mine_; }
  /// After a store that the rank may be waiting for: rings if it sleeps.
  void wake(int rank);
  /// Tells a mapped rank by a notification of an operation that has taken place, and of the store.
  NotifyOutcome notify(int rank, const NotifyArg& notify_arg, const NotifyStore& store) {
    const Member& target = member(rank);
    return transport_.node().notify(
        target.process, {target.window, {rank_, notify_arg.number, notify_arg.bytes}}, store);
  }

  /// Begins to take back the stores that have been left to the mapped rank. True: fence() has to
  /// follow, and finish_recall() in any case.
  bool begin_recall(int rank, RecallFor reason);
  /// They are made when this returns. Waits for one that the rank is making, as long as it lives.
  Error finish_recall(int rank);
  /// A full memory fence on every processor that runs one of the node's processes.
  void fence() { sharers_.fence(); }
  /// A store into our own memory that its origin has left to us.
  void store(std::uint64_t offset, std::span<const std::byte> bytes);

  // Locks, of mapped ranks.
  LockLine lock_line(int rank) { return {*member(rank).control, sharers_}; }
  /// Gives back the lock of `locked` that `origin` holds: ourselves, or a remote origin in whose
  /// place we stand in our own line. Hands it on if somebody is in line.
  void give_back(int locked, int origin, bool exclusive);

  // Bytes, of mapped ranks.
  /// The path to what the operation names: on a dynamic window, to the piece or memory handle that
  /// its lowest byte lies in. Where there is none the operation fails, and the path is the rank's.
  Path path_of(const Operation& operation) {
    return path_of(operation.target, operation.displacement, operation.target_elements(),
                   operation.handle);
  }
  Path path_of(int rank, std::int64_t displacement, const Elements& elements,
               const HandleName& handle);
  /// Whether the operation stays within its target's memory; else `reason` is the second half of a
  /// sentence. What is attached is asked when the operation is carried out.
  Error check(const Operation& operation, const char*& reason);
  Error perform(const Operation& operation);
  /// Some bytes of a put or get whose memory is in one run on both sides; not on a dynamic window.
  Error perform_piece(const Operation& operation, std::uint64_t first, std::uint64_t bytes);
  /// A put (`write`) or get between elements at these addresses of ours.
  static void move(bool write, std::byte* there, const Elements& elements, void* local,
                   const Elements& own);
  /// Likewise where `there` is an address of that process, in its private memory. By any thread.
  Error copy(bool write, int process, std::uint64_t there, const Elements& elements, void* local,
             const Elements& own) const;
  /// Of one run.
  Error copy(bool write, int process, std::uint64_t there, void* local, std::uint64_t bytes) const {
    const Run run{local, there, bytes};
    return copy_private(transport_.node(), process, write, {&run, 1});
  }
  /// Lets what has been aggregated for the rank go.
  void push(Aggregation& aggregation, int rank);
  /// `thread`: the line of the calling thread, if it has one. Error::peer_lost: a rank was killed
  /// within an update that this one would have to wait for.
  Error reduce(const Reduction& reduction, const Member& target, void* where, const void* origin,
               void* fetched, std::uint64_t count, ThreadLine* thread = nullptr) {
    const Update held(*target.control, sharers_,
                      !by_cpu_atomics(reduction, target, where, fetched != nullptr, count), thread);
    if (held.lost()) [[unlikely]]
      return lost(held);
    (held.alone() ? reduce_plain : reduce_atomic)(reduction, where, origin, fetched, count);
    return Error::none;
  }
  /// The same of runs at offsets from `start`, as one update: `bytes` of the layout that `cursor`
  /// walks, `origin` and `fetched` contiguous.
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
  /// The same as a LightUpdate. False: nothing has been done, and the lock is needed.
  bool reduce_lightly(ThreadLine* thread, const Reduction& reduction, const Member& target,
                      void* where, const void* origin, void* fetched, std::uint64_t count) const {
    return update_lightly(
        thread, target,
        [&] { return by_cpu_atomics(reduction, target, where, fetched != nullptr, count); },
        [&](auto&& combine) { combine(reduction, where, origin, fetched, count); }, reduce_plain,
        reduce_atomic);
  }
  bool compare_swap_lightly(ThreadLine* thread, std::uint32_t element, const Member& target,
                            void* where, const void* origin, const void* compare,
                            void* result) const {
    return update_lightly(
        thread, target, [&] { return atomic_at(target, where, element); },
        [&](auto&& combine) { combine(element, where, origin, compare, result); },
        compare_swap_plain, compare_swap_atomic);
  }
  /// Likewise of private memory at an address of the target's process, by a LightUpdate that
  /// excludes all others. False: the update has not taken place, but `fetched` (`result`) may
  /// have been written.
  bool reduce_private(ThreadLine* thread, const Reduction& reduction, const Member& target,
                      std::uint64_t address, const void* origin, void* fetched,
                      std::uint64_t count) const;
  bool compare_swap_private(ThreadLine* thread, std::uint32_t element, const Member& target,
                            std::uint64_t address, const void* origin, const void* compare,
                            void* result) const;
  /// Whether so many elements in a row there are updated one by one, by an atomic of the CPU each;
  /// else all of them as a whole (see Update).
  bool by_cpu_atomics(const Reduction& reduction, const Member& target, const void* where,
                      bool fetches, std::uint64_t count) const {
    const auto by_elements = [&] {
      return reduction.by_elements || atomicity_.by_elements(reduction, fetches);
    };
    return (count <= 1 || (count <= most_atomics && by_elements())) &&
           atomic_at(target, where, reduction.element);
  }
  /// Whom the last operation that failed with Error::peer_lost has lost: the second half of a
  /// sentence.
  const char* whom_lost() const { return whom_lost_.c_str(); }
  /// It is this one.
  void note_lost(int rank) { lose(rank, ""); }
  // What is attached, and memory handles, where the window is dynamic.
  OwnPieces& own_pieces() { return *own_pieces_; }
  OwnHandles& own_handles() { return *own_handles_; }
  /// Looks for the handle of a mapped rank. Error::base: it has been released, or never was one.
  Error open_handle(HandleView& view);
  /// Where so many bytes at that address of a mapped rank lie in our address space, if they lie in
  /// one piece that can be loaded and stored. Null: perform() is to look. Any thread may ask,
  /// whatever others do.
  std::byte* find_mapped_piece(int rank, std::uint64_t address, std::uint64_t bytes) const;
  /// Error::range: some of these bytes of ours are not attached, or an element of so many bytes
  /// lies in two pieces. Sets `some_private` if peers cannot map all of them.
  Error check_attached(std::uint64_t address, std::uint64_t bytes, std::uint64_t element,
                       bool& some_private);
  /// The memory of a handle as a member whose memory it is. Error::range: it has been released.
  Error find_handle(int rank, const HandleName& name, Member& piece);
  /// A short operation as a lock request carries it (S4); false: it is not one.
  bool pack_piggyback(const Operation& operation, Piggyback& piggyback);

 private:
  struct Known {
    Member member;
    bool resolved = false;
  };

  void resolve(int rank);
  static bool atomic_at(const Member& target, const void* where, std::uint32_t element) {
    return !target.private_memory && atomic_element(element, where);
  }
  Member as_member(int rank, const MemoryRange& memory);
  Error perform_on_handle(const Operation& operation);
  Error find_piece(int rank, std::uint64_t address, Member& piece, std::uint64_t& left);
  Error perform_on_pieces(const Operation& operation);
  template <typename Visit>
  Error for_each_part(const Operation& operation, Visit&& visit);
  Error perform_by_pieces(const Operation& operation);
  Error perform_at(const Operation& operation, const Member& target, std::uint64_t offset);
  bool by_elements(const Operation& operation, const Member& target, std::uint64_t offset) const;
  Error move_at(const Operation& operation, const Member& target, std::uint64_t offset);
  Error update_at(const Update& held, const Operation& operation, const Member& target,
                  std::uint64_t offset);
  Error ended(const Operation& operation, Error error);
  /// update(plain) or update(atomic), as others' updates of the memory permit. `by_elements`:
  /// whether it may be the second.
  template <typename ByElements, typename UpdateBy, typename Plain, typename Atomic>
  bool update_lightly(ThreadLine* thread, const Member& target, ByElements&& by_elements,
                      UpdateBy&& update, Plain&& plain, Atomic&& atomic) const {
    LightUpdate held(*target.control, sharers_, thread);
    if (held.alone()) [[likely]] {
      update(plain);
      return true;
    }
    const bool elements = by_elements();
    if (held.by_elements() && elements) {
      update(atomic);
    } else if (held.takes_turn(!elements)) {
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
  Error perform_piggyback(const Piggyback& piggyback, const Member& target);
  Error lost(const Update& update) {
    return lose(update.lost_rank(), " within an accumulate to the same target");
  }
  [[gnu::noinline, gnu::cold]] Error lose(int rank, const char* when);

  /// More elements than this are updated as a whole although each could be by itself: as many CPU
  /// atomics take longer than a turn.
  static constexpr std::uint64_t most_atomics = 512;

  Transport& transport_;
  int rank_;
  int ranks_;
  AtomicSet atomics_;
  Atomicity atomicity_;
  std::shared_ptr<void> own_;
  std::shared_ptr<MemberResolver> resolver_;
  std::vector<int> mapped_;
  Sharers sharers_;
  ControlBlock* mine_;
  ZeroArray<Known> members_;
  std::unique_ptr<OwnPieces> own_pieces_;  // null: the window is not dynamic
  std::unique_ptr<OwnHandles> own_handles_;
  ZeroArray<PeerPieces> pieces_;  // by rank, where it is
  ZeroArray<PeerHandles> handles_;
  std::vector<int> told_;           // scratch of give_back
  std::vector<std::byte> scratch_;  // of updates of private memory
  std::string whom_lost_;
};

}  // namespace oriel
