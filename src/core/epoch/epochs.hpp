// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/epoch/activation.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/fence.hpp"
#include "core/epoch/pending_operations.hpp"
#include "core/lock/control.hpp"

namespace oriel {

/// Assertions of the synchronization calls, as bits of Oriel's own; the MPI layer translates MPI's.
/// One byte: separate bools would be stored one by one and loaded as one word, which stalls.
struct Assert {
  bool no_check : 1 = false;
  bool no_precede : 1 = false;
  bool no_succeed : 1 = false;
  bool weak_unlock : 1 = false;  // unlock may return before operations are complete at targets
  bool nonblocking : 1 = false;  // lock, lock_all: opened by a call that the program does not await
};

struct EpochsSpec {
  int rank = 0;
  Reorder reorder;
  bool no_locks = false;
  /// Ranks load and store one another's memory without a call (shared windows): a blocking lock
  /// must then hold the lock when it returns.
  bool shared = false;
  const Slot* slots = nullptr;     // that the other ranks write, by rank
  std::function<bool(int)> alive;  // false: the rank's process has ended or cannot be reached
  /// Checks that an operation stays within its target's memory, and sets the reason of an error.
  std::function<Error(const Operation&, FailureReason&)> check;
};

/// A step that must happen before a wait can end.
struct Awaited {
  enum class Condition : std::uint8_t {
    exposure,     // `rank` posts
    completion,   // `rank` completes its access epoch
    fence,        // `rank` enters the closing fence
    lock,         // `rank`, or an unknown holder (-1), gives the lock of `target` back
    lock_order,   // an earlier lock is granted; the lock of `target` is requested then
    operations,   // operations to `rank` complete
    notification  // `rank` notifies; no epoch knows of it
  };

  Condition condition;
  int rank;
  int target = -1;
  std::uint64_t epoch = 0;  // Epoch::opened_at of the epoch that waits; 0: notified operations
};

/// One rank's epochs on one window, from opening to completion, and the steps that this rank takes
/// for them with other ranks. How bytes move, and which ranks are mapped, is left to Link and
/// Fence.
///
/// Calls either finish (`done`), or are posted, and a later sweep calls the Completion. No call
/// here blocks. Not thread-safe, except for the Published words; the caller serializes the calls of
/// a Process.
class Epochs {
 public:
  Epochs(const EpochsSpec& spec, EpochState& state, Fence& fence, EpochPools& pools);
  ~Epochs();
  Epochs(const Epochs&) = delete;
  Epochs& operator=(const Epochs&) = delete;

  SweepWork& work() { return work_; }
  const Reorder& reorder() const { return reorder_; }
  void set_reorder(Reorder reorder) { reorder_ = reorder; }
  bool no_locks() const { return no_locks_; }
  /// Sets whether lock calls are refused from now on. Open lock epochs stay open.
  void set_no_locks(bool no_locks) { no_locks_ = no_locks; }

  // Opening an epoch finishes at once (E2).
  Error post(std::span<const int> origins, Assert assertion);
  Error start(std::span<const int> targets, Assert assertion);
  /// Closes and opens an epoch, as the assertion permits; the outcome is that of the closing (E6).
  /// `barrier`: wait for all ranks even if no epoch can be open, as programs expect of a blocking
  /// fence without MPI_MODE_NOPRECEDE. Ranks need not agree on it. The caller makes no other call
  /// on the window before the completion: usually the open epoch is not replaced but renewed, and
  /// its targets stay ready.
  Outcome fence(Assert assertion, bool barrier, Completion* completion);

  // Closing.
  Outcome complete(Completion* completion);
  Outcome wait(Completion* completion);
  /// MPI_Win_test: closes the exposure epoch if it can complete now.
  Error test(bool& flag);

  // Flushes; `local`: until origin buffers may be reused (E9). `threads`: their operations only, as
  // far as these can be distinguished (Q1). If such a flush was not local, and is over before these
  // threads have issued more, mark_flushed() must follow.
  Outcome flush(int target, bool local, Completion* completion, ThreadSet threads = all_threads);
  Outcome flush_all(bool local, Completion* completion, ThreadSet threads = all_threads);
  /// Called when these threads have nothing outstanding at any target of the open epochs.
  void mark_flushed(ThreadSet threads);
  /// MPI_Win_sync.
  Error sync();

  /// True if a lock or lock_all epoch is open for `target`.
  bool passive(int target) const { return peers_[target].lock != nullptr || in_lock_all(); }
  /// Requests the due locks of an open epoch, as far as LockOrder permits. True if anything moved.
  bool request_locks(Epoch& epoch);
  /// True if the lock of `target` is held now; for a blocking lock that must hold it on return.
  bool try_hold_lock(int target) { return has_hot_lock(target) || hold_lock(target); }
  /// For a blocking lock_all: true if the locks of all ranks are held whose memory can be loaded
  /// and stored without a call.
  bool try_hold_all() {
    return access_ == &hot_lock_all_ ||
           (access_ != nullptr && access_->active && hold_loaded(*access_));
  }
  /// Tries to acquire the target, which an open epoch covers. True: operations to it take place in
  /// their calls. False: its lock or grant has been requested, unless an earlier epoch or lock
  /// comes first.
  bool try_acquire(int target);
  /// True if an epoch is open in which this rank accesses the target.
  bool accesses(int target);
  /// True if an operation with a result waits at its call until its target's lock is held. All of
  /// this must hold:
  /// - The target is mapped.
  /// - A blocking call has opened a lock epoch of the target, and its lock is not held. A lock_all
  ///   epoch asks for locks out of the order, so a wait could be for a rank that waits for a later
  ///   lock of ours.
  /// - behind_pending() is false.
  /// - LockOrder::behind_nonblocking() is false.
  bool awaits_lock(int target);
  /// True if an epoch of this window is pending that a nonblocking call closed before this one was
  /// opened.
  bool behind_pending(const Epoch& epoch) const;
  bool mapped(int target) { return !link(target).remote(); }
  /// True if the open lock or lock_all epoch that covers the rank holds the locks that permit loads
  /// and stores of its memory, or if there is no such epoch.
  bool try_hold_loaded(int rank);
  /// Called when the program may access peers' memory by loads and stores from now on
  /// (MPI_Win_shared_query). An open lock_all epoch requests their locks.
  void set_shared();
  bool shared() const { return shared_; }

  /// Issues any operation. `done`: carried out, or recorded without a completion to call. A
  /// notified one that no open epoch covers belongs to the window's notified epoch.
  Outcome issue(const Operation& operation);
  /// True if an open epoch permits operations to the target.
  bool covered(int target) const {
    const EpochPeer& other = peers_[target];
    return other.lock != nullptr ||
           (access_ != nullptr && (access_->kind != EpochKind::access || other.touched == access_));
  }
  /// A flush of the notified epoch, for all targets.
  Outcome flush_notified(Completion* completion);

  /// True if no epoch is open or not yet completed, no flush waits, and the notified epoch has
  /// nothing pending. For MPI_Win_free.
  bool quiet() const { return all_.empty() && !pending_.flushing() && notified_.attention == 0; }
  /// True if an epoch is open at the application level; a fence epoch only if it has operations.
  bool open_epoch() const;
  /// The number of epochs that the program has closed and that are not completed.
  std::uint64_t pending_epochs() const { return closed_; }

  /// A rank that has ended and that a pending step waits for, or -1 if none is known. Other ranks
  /// are not checked, because a check may take a connection.
  int lost_peer();
  /// For a wait for a step of `rank`: `rank` if it has ended, else -1. If `rank` is -1, any rank
  /// that has ended, or -1.
  int lost_source(int rank);
  /// The number of the window whose lock must be granted before one of this window is requested; it
  /// may be this window. 0: there is none.
  std::uint32_t window_of_earlier_lock() const;
  /// The steps of other ranks that the window's active epochs wait for now, as far as they are
  /// known here.
  std::vector<Awaited> awaited();

  /// Advances everything that can advance, without blocking (E10). True if anything moved.
  bool sweep();

  // Lock and lock_all epochs. Window's calls try the hot epochs first. `thread`: see LockOrder.
  Error open_lock(bool exclusive, int target, Assert assertion, ThreadSet thread);
  Outcome close_lock(int target, Completion* completion);
  Error open_lock_all(Assert assertion, ThreadSet thread);
  Outcome close_lock_all(Completion* completion);

  // Hot epochs. A lock epoch whose lock is granted at its call, while nothing is pending on the
  // window that it may not overtake, uses an epoch object that is never in the list. So does a
  // lock_all epoch while nothing is pending, as long as each lock is granted at the first operation
  // that needs it. The caller acquires these locks and gives them back.
  /// True if a lock of the target may be a hot epoch.
  bool may_open_hot_lock(int target) const {
    const EpochPeer& locked = peers_[target];
    return !hot_lock_open_ && access_ == nullptr && !no_locks_ && locked.lock == nullptr &&
           locked.locking == nullptr && !lock_order_.any_open() &&
           (nothing_waits() || overtakes_all(locked));
  }
  /// Called when the lock has been acquired. Returns the Target of its operations.
  Target& open_hot_lock(bool exclusive, int target) {
    hot_lock_open_ = true;
    hot_lock_.exclusive = exclusive;
    hot_lock_.one.rank = target;
    peers_[target].lock = &hot_lock_;
    ++open_locks_;
    if (all_locks_) [[unlikely]]
      report_hot_opening();
    return hot_lock_.one;
  }
  bool has_hot_lock(int target) const { return peers_[target].lock == &hot_lock_; }
  /// The caller then gives the lock back. True if it is held exclusively.
  bool close_hot_lock(int target) {
    if (all_locks_) [[unlikely]]
      events_.free_lock_released(hot_lock_);
    hot_lock_open_ = false;
    peers_[target].lock = nullptr;
    peers_[target].ready.store(nullptr);
    peers_[target].short_moves.store(0);
    --open_locks_;
    pending_.mark_unflushed();
    return hot_lock_.exclusive;
  }
  bool may_open_hot_lock_all() const {
    return open_locks_ == 0 && nothing_waits() && access_ == nullptr && !no_locks_ && !shared_ &&
           pending_.weak_peers() == 0 && !all_locks_ && lock_order_.empty();
  }
  /// `own`: the rank's own lock has been acquired.
  void open_hot_lock_all(bool own, bool nonblocking) {
    access_ = &hot_lock_all_;
    own_lock_held_ = own;
    hot_lock_all_.nonblocking = nonblocking;
  }
  /// True if the hot lock_all epoch is open and has not touched the target; the caller may then
  /// try to acquire its lock shared, and touch the target.
  bool may_add_hot_target(int target) const {
    return access_ == &hot_lock_all_ && peers_[target].touched != &hot_lock_all_ &&
           peers_[target].locking == nullptr && lock_order_.empty();
  }
  /// True if the target is this rank, whose lock the hot lock_all epoch holds since its opening.
  bool holds_own_lock(int target) const { return own_lock_held_ && target == rank_; }
  /// Adds a target whose lock the caller has acquired. Returns the Target of its operations.
  Target& add_hot_target(int target) {
    EpochPeer& other = peers_[target];
    Target& hot = other.hot_target != nullptr ? *other.hot_target : create_hot_target(target);
    other.touched = other.locking = &hot_lock_all_;
    other.target = &hot;
    hot.next = hot_lock_all_.targets;
    hot_lock_all_.targets = &hot;
    return hot;
  }
  /// True if the hot lock_all epoch is open and no operation is postponed.
  bool may_close_hot_lock_all() const {
    if (access_ != &hot_lock_all_) return false;
    for (const Target& target : hot_lock_all_) {
      if (peers_[target.rank].postponed.load() != 0) return false;
    }
    return true;
  }
  /// Calls give_back() with each rank whose lock is held.
  template <typename GiveBack>
  void close_hot_lock_all(GiveBack&& give_back) {
    access_ = nullptr;
    for (const Target& target : hot_lock_all_) {
      EpochPeer& other = peers_[target.rank];
      other.ready.store(nullptr);
      other.short_moves.store(0);
      other.touched = other.locking = nullptr;
      if (!holds_own_lock(target.rank)) give_back(target.rank);
    }
    if (own_lock_held_) give_back(rank_);
    hot_lock_all_.targets = nullptr;
    pending_.mark_unflushed();
  }

 private:
  static constexpr std::size_t at(EpochKind kind) { return static_cast<std::size_t>(kind); }

  // epochs.cpp: the life of an epoch.
  Epoch& create(EpochKind kind);
  void open(Epoch& epoch);
  bool must_wait(const Epoch& epoch) const;
  EpochQueue* queue_for(const Epoch& epoch);
  bool activate_deferred();
  bool waits_at(const EpochPeer& other, const Epoch& epoch) const;
  bool lock_all_before(const Epoch& lock) const;
  void entitle_next(EpochPeer& other);
  void release_entry(const Epoch& epoch, EpochPeer& other);
  void activate(Epoch& epoch);
  Outcome close(Epoch& epoch, Completion* completion);
  bool advance(Epoch& epoch, Target& target);
  bool progress(Epoch& epoch);
  bool try_complete(Epoch& epoch);
  /// True if the epoch is completed and no target may be holding its operations back: the next
  /// epoch may then be activated (E5). MPI_Win_complete need not wait for that.
  bool over(Epoch& epoch);
  void retire(Epoch& epoch);
  Target& add_target(Epoch& epoch, int rank);
  Target& touch(Epoch& epoch, int rank);
  Target& notified_target(int rank);
  // hot_epochs.cpp: a hot epoch moves to the list.
  bool nothing_waits() const { return closed_ == 0 && deferred_ == 0; }
  bool overtakes_all(const EpochPeer& locked) const;
  void report_hot_opening();
  void activate_listed(Epoch& epoch, bool report);
  Epoch& list_hot_lock();
  Epoch& list_hot_lock_all();
  Target& create_hot_target(int rank);
  void release_targets(Epoch& epoch);

  // epoch_calls.cpp: the calls that open and close epochs.
  Error retire_unused_fence();
  Error end_access_before();
  bool may_renew_fence(Assert assertion) const;
  Outcome renew_fence(Completion* completion);
  bool try_renew(Epoch& epoch);
  bool loaded(int rank);
  bool hold_loaded(Epoch& epoch);
  bool hold_lock(int target);

  // flushes.cpp
  using Coverage = PendingOperations::Coverage;
  void cover(Epoch& epoch, Target& target, bool local, ThreadSet threads, Coverage& coverage);
  void cover_notified(bool local, Coverage& coverage);
  /// Calls visit(epoch) for each open lock epoch.
  template <typename Visit>
  void for_each_open_lock(Visit&& visit) {
    if (open_locks_ == 0) return;
    for (Epoch* epoch = all_.first(); epoch != nullptr; epoch = EpochsByOpening::after(*epoch)) {
      if (epoch->kind == EpochKind::lock && !epoch->closed) visit(*epoch);
    }
  }
  Outcome finish_flush(const Coverage& coverage, Completion* completion);

  // flushes.cpp: operations that weak unlocks have left and that may not be complete at the target.
  /// Makes all targets of such operations targets of the lock_all epoch, which will ask them.
  void touch_weak(Epoch& epoch);
  /// Sends questions for such operations. The next epoch that is not a lock epoch waits for the
  /// answers.
  void ask_for_weak();
  bool weak_unasked(int rank);
  /// True if an epoch with a weak unlock that is closed and not completed satisfies the predicate.
  template <typename Predicate>
  bool weak_closed(Predicate&& predicate) const {
    if (weak_closed_ == 0) return false;
    for (const EpochKind kind : {EpochKind::lock, EpochKind::lock_all}) {
      const Epoch* epoch = closed_of_[at(kind)].first();
      for (; epoch != nullptr; epoch = EpochsByClosing::after(*epoch)) {
        if (epoch->weak && predicate(*epoch)) return true;
      }
    }
    return false;
  }

  // awaited.cpp: the peers that pending epochs wait for.
  bool awaits_any_rank(const Epoch& epoch);
  bool awaits(const Epoch& epoch, const Target& target);

  /// True if the origin has completed its access number `id` to us: its operations are in our
  /// memory.
  bool completed_by(int origin, std::uint64_t id) const {
    // Acquire pairs with the origin's release: its stores to our memory are visible.
    return DoneWord(slots_[origin].done.load(std::memory_order_acquire)).covers(id);
  }
  bool in_lock_all() const { return access_ != nullptr && access_->kind == EpochKind::lock_all; }
  Link& link(int rank) { return peers_.link(rank); }
  EpochPeer& peer(int rank) { return peers_[rank]; }
  const EpochPeer& peer(int rank) const { return peers_[rank]; }
  int ranks() const { return peers_.ranks(); }
  Error fail(Error error, const char* reason) { return reason_.fail(error, reason); }
  /// The call is not permitted in the epochs that are open.
  Error refuse(const char* reason) { return fail(Error::sync, reason); }
  Error check_rank(int rank) {
    return peers_.valid(rank) ? Error::none
                              : fail(Error::rank, "the rank is not in the window's group");
  }

  int rank_;
  const Slot* slots_;
  std::function<bool(int)> alive_;
  std::function<Error(const Operation&, FailureReason&)> check_;
  EpochPeers& peers_;
  FailureReason& reason_;
  SweepWork& work_;
  PendingOperations& pending_;
  LockOrder& lock_order_;
  const WindowEvents& events_;
  Fence& fence_;
  EpochPools& pools_;
  bool no_locks_;
  bool all_locks_;  // a sink receives each lock; then no lock_all epoch is hot
  bool shared_;
  bool fence_possible_ = false;  // a fence epoch may be open on some rank; equal on all ranks
  Reorder reorder_;
  EpochsByOpening all_;                                 // from opening to completion
  std::array<EpochsByClosing, epoch_kinds> closed_of_;  // by kind: closed and not completed
  std::array<EpochQueue, epoch_kinds> deferred_of_;     // by kind: see queue_for()
  EpochQueue active_;
  Epoch* next_swept_ = nullptr;  // next in a round of sweeps; null: the round is over
  bool round_moved_ = false;     // the round has moved something
  Epoch* access_ = nullptr;      // open start, fence or lock_all epoch
  Epoch* exposure_ = nullptr;    // open post epoch
  Epoch hot_lock_;               // active and granted from opening to closing
  bool hot_lock_open_ = false;
  Epoch hot_lock_all_;                // as hot_lock_, but for lock_all; its targets' locks are held
  bool own_lock_held_ = false;        // the rank's own lock is held, even if it is no target
  std::vector<Target*> hot_targets_;  // all EpochPeer::hot_target
  Epoch notified_;                    // never in the list
  std::uint64_t open_locks_ = 0;
  std::uint64_t closed_ = 0;       // epochs closed and not completed
  std::uint64_t deferred_ = 0;     // epochs not yet active
  std::uint64_t weak_closed_ = 0;  // epochs with a weak unlock, closed and not completed
  std::uint64_t asking_ = 0;       // epochs with asks_for_weak, closed and not completed
  std::uint64_t steps_ = 0;        // openings and closings so far: Epoch::opened_at, closed_at
  std::uint64_t fence_calls_ = 0;
};

}  // namespace oriel
