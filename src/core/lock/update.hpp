// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"
#include "core/base/thread_lines.hpp"
#include "core/lock/control.hpp"
#include "core/lock/sharers.hpp"

namespace oriel {

/// An updater of a rank's memory: an origin, which announces updates in its slot there, or one of
/// its threads, which announces them in its own line. An origin has its process's lock meanwhile; a
/// thread may have it.
template <typename Words>
class BasicUpdater {
 public:
  using Line = BasicThreadLine<Words>;
  using Word = typename Words::template Atomic<std::uint64_t>;

  BasicUpdater(BasicControlBlock<Words>& target, std::uint32_t origin, Line* thread)
      : word_(thread != nullptr ? thread->updating : target.slots()[origin].updating),
        number_(origin * numbers_each + (thread != nullptr ? thread->number + 1 : 0)) {}

  /// The word that has the target's name while the updater is in an update of the target.
  Word& word() const { return word_; }
  /// Unique among all updaters of the target.
  std::uint32_t number() const { return number_; }
  /// The origin whose number this is, or whose thread has it.
  static std::uint32_t origin(std::uint32_t number) { return number / numbers_each; }

 private:
  static constexpr std::uint32_t numbers_each = ThreadLines::most + 1;

  Word& word_;
  std::uint32_t number_;
};

/// An update of a rank's window memory by an accumulate. An update is *whole* if no other update of
/// the same memory may take place between its first and its last byte: a call on several elements,
/// or on an element that the CPU has no atomic for. All other updates are of single elements.
///
/// ControlBlock::updater determines how the updates of that memory exclude one another. Its values:
///   nobody     no update has been made yet
///   everybody  all updates are of single elements, by CPU atomics
///   turns      all updates in turn: each takes ControlBlock::turn and is made by plain stores
///   alone + u  only updater u updates (see Updater), by plain stores, until another updater comes
///   changing + r  rank r alone may change the word now
/// The updater's word (Slot::updating, ThreadLine::updating) is the target's name while it is
/// within an update. The usual update is one by the updater that has the memory alone: two stores
/// to a cache line of its own and a load of a word that does not change.
///
///     updater                              changer
///     U1  updating = target's name         C1  updater = changing (compare-exchange)
///     U2  read `updater`                   C2  fence of all peers
///         turns: T1 turn = updater         C3  for each peer and each of its threads: wait while
///             (compare-exchange, acquire)          updating is this name (acquire)
///     U3  update the window                C4  updater = its new value (release)
///         turns: T2 turn = 0 (release)
///     U4  updating = 0 (release)
///
/// The first updater has the memory alone. When a second one comes, `updater` becomes `everybody`
/// for an update of a single element and `turns` for a whole one. A whole update changes
/// `everybody` into `turns`. Words::singles_in_a_row updates of single elements in a row change it
/// back: as many of them in turn cost about as much as the change.
///
/// Invariant: all updaters between U2 and U4 have read the same value in U2. If it is `alone`,
/// there is one updater; if it is `turns`, at most one is between T1 and T2. Either C3 reads U1 and
/// the changer waits, or U2 reads C1 and the updater turns back; C2 keeps U1 before U2 (see
/// store_before_load()). U4 to C3, C4 to U2 and T2 to T1 are release and acquire: each holder sees
/// what the one before has written.
///
/// A changer has the lock of its process and no turn. A thread without that lock does not change
/// the word, and waits for a turn only briefly (HotUpdate).
///
/// Death: for a rank killed between U1 and U4, C3 waits no longer than the rank lives, and the
/// changer restores the old value. A rank killed between C1 and C4 leaves `changing`, a rank killed
/// between T1 and T2 the turn. Every update that would have to wait for such a rank ends as lost().
template <typename Words>
class BasicUpdate {
 public:
  using Sharers = typename SharersOf<Words>::Type;
  using Updater = BasicUpdater<Words>;

  /// `whole`: see above; otherwise the update may be made element by element. `thread`: the line of
  /// the calling thread, or null. Waits for updates in progress only, and not for those of dead
  /// processes.
  BasicUpdate(BasicControlBlock<Words>& target, Sharers& sharers, bool whole,
              BasicThreadLine<Words>* thread = nullptr)
      : target_(target), self_(target, sharers.self(), thread) {
    if (enter(target, self_, sharers) != alone_by(self_)) [[unlikely]]
      right_ = acquire(sharers, whole);
  }
  ~BasicUpdate() {
    if (right_ == in_turn) end_turn(target_);
    self_.word().store(0, std::memory_order_release);
  }
  BasicUpdate(const BasicUpdate&) = delete;
  BasicUpdate& operator=(const BasicUpdate&) = delete;

  /// True: by plain loads and stores. False: by CPU atomics, one for each element.
  bool alone() const { return right_ == all || right_ == in_turn; }
  /// True if nothing may be updated: the update would have to wait for a process that was killed.
  bool lost() const { return right_ >= first_lost; }
  int lost_rank() const { return static_cast<int>(right_ - first_lost); }

  // Shared with HotUpdate.
  static constexpr std::uint32_t everybody = 1;
  static constexpr std::uint32_t turns = 2;
  static std::uint32_t alone_by(const Updater& one) { return first_alone + one.number(); }
  static std::uint32_t enter(const BasicControlBlock<Words>& target, const Updater& one,
                             const Sharers& sharers) {
    store_before_load<Words>(one.word(), target.name, sharers.asymmetric());
    return target.updater.load(std::memory_order_seq_cst);
  }
  /// Tries T1 once. Returns 0 if it took the turn, else 1 + the number of the updater that has it.
  static std::uint32_t try_turn(BasicControlBlock<Words>& target, const Updater& one);
  /// Called by an update that has just taken the turn. True if the update may go on. False if so
  /// many updates in a row were of single elements that these are to use CPU atomics again.
  static bool count_turn(BasicControlBlock<Words>& target, bool whole);
  static void end_turn(BasicControlBlock<Words>& target) {
    target.turn.store(0, std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t first_alone = 3;
  static constexpr std::uint32_t changing = std::uint32_t{1} << 31;

  // The right of this update. From `first_lost` on it has none, because the rank `right_` -
  // `first_lost` was lost.
  static constexpr std::uint32_t all = 0;
  static constexpr std::uint32_t elements = 1;
  static constexpr std::uint32_t in_turn = 2;
  static constexpr std::uint32_t first_lost = 3;

  std::uint32_t acquire(Sharers& sharers, bool whole);
  std::uint32_t await_turn(Sharers& sharers);
  std::uint32_t await_others(Sharers& sharers);

  BasicControlBlock<Words>& target_;
  Updater self_;
  std::uint32_t right_ = all;
};

// The general path of an update: it waits for its turn, or changes `updater`.

template <typename Words>
std::uint32_t BasicUpdate<Words>::acquire(Sharers& sharers, bool whole) {
  for (Patience<Words> patience(sharers);;) {
    std::uint32_t holder = enter(target_, self_, sharers);
    if (holder == alone_by(self_)) return all;
    if (holder == everybody && !whole) return elements;
    if (holder == turns) {
      const std::uint32_t right = await_turn(sharers);
      if (right != in_turn || count_turn(target_, whole)) return right;
      end_turn(target_);
    }
    // A changer of the word may be waiting for us.
    self_.word().store(0, std::memory_order_release);
    if ((holder & changing) != 0) {
      const std::uint32_t changer = holder & ~changing;
      if (!patience.wait(changer)) return first_lost + changer;
      continue;
    }
    if (!target_.updater.compare_exchange_strong(holder, changing | sharers.self(),
                                                 std::memory_order_seq_cst)) {
      patience.retry();
      continue;
    }
    if (holder != nobody) {
      const std::uint32_t right = await_others(sharers);
      if (right >= first_lost) {
        target_.updater.store(holder, std::memory_order_release);
        return right;
      }
    }
    if (holder != nobody && whole) {
      target_.singles = 0;  // no updater has the turn: the changer has awaited all
      target_.updater.store(turns, std::memory_order_release);
      continue;
    }
    self_.word().store(target_.name, std::memory_order_relaxed);
    target_.updater.store(holder == nobody ? alone_by(self_) : everybody,
                          std::memory_order_release);
    return holder == nobody ? all : elements;
  }
}

template <typename Words>
std::uint32_t BasicUpdate<Words>::try_turn(BasicControlBlock<Words>& target, const Updater& one) {
  std::uint32_t holder = 0;
  target.turn.compare_exchange_strong(holder, 1 + one.number(), std::memory_order_acquire);
  return holder;
}

template <typename Words>
bool BasicUpdate<Words>::count_turn(BasicControlBlock<Words>& target, bool whole) {
  target.singles = whole ? 0 : target.singles + 1;
  return target.singles < Words::singles_in_a_row;
}

template <typename Words>
std::uint32_t BasicUpdate<Words>::await_turn(Sharers& sharers) {
  for (Patience<Words> patience(sharers);;) {
    const std::uint32_t holder = try_turn(target_, self_);
    if (holder == 0) return in_turn;
    const std::uint32_t rank = Updater::origin(holder - 1);
    if (!patience.wait(rank)) return first_lost + rank;
  }
}

/// Returns when no other updater is within an update that began before `updater` was changed.
template <typename Words>
std::uint32_t BasicUpdate<Words>::await_others(Sharers& sharers) {
  sharers.fence();
  for (const int rank : sharers.ranks()) {
    const auto named = static_cast<std::uint32_t>(rank);
    const auto& updating = target_.slots()[rank].updating;
    for (Patience<Words> patience(sharers); updating.load(std::memory_order_seq_cst) != 0;) {
      if (!patience.wait(named)) return first_lost + named;
    }
    for (const auto& thread : sharers.threads(rank)) {
      for (Patience<Words> patience(sharers);
           thread.updating.load(std::memory_order_seq_cst) == target_.name;) {
        if (!patience.wait(named)) return first_lost + named;
      }
    }
  }
  return all;
}

extern template class BasicUpdate<SharedWords>;
using Update = BasicUpdate<SharedWords>;

/// The update of hot paths, which waits for no other update: U1 to U4 of Update, by an updater that
/// has the memory alone, or while everybody updates single elements, or in turn if the turn is
/// free. HotUpdate never changes `updater`, so a thread makes it without the lock of its process.
template <typename Words>
class BasicHotUpdate {
 public:
  /// `thread`: the line of the calling thread; null: the process has no other threads.
  BasicHotUpdate(BasicControlBlock<Words>& target, const typename SharersOf<Words>::Type& sharers,
                 BasicThreadLine<Words>* thread)
      : target_(target),
        self_(target, sharers.self(), thread),
        holder_(Update::enter(target, self_, sharers)) {}
  ~BasicHotUpdate() {
    if (has_turn_) Update::end_turn(target_);
    self_.word().store(0, std::memory_order_release);
  }
  BasicHotUpdate(const BasicHotUpdate&) = delete;
  BasicHotUpdate& operator=(const BasicHotUpdate&) = delete;

  // If all three are false, nothing may be updated: the caller needs an Update, with the process's
  // lock.
  bool alone() const { return holder_ == Update::alone_by(self_); }
  bool by_elements() const { return holder_ == Update::everybody; }
  /// To be called once. If true, the update is made as if alone().
  bool acquire_turn(bool whole) {
    if (holder_ == Update::turns) has_turn_ = await_free_turn(whole);
    return has_turn_;
  }

 private:
  using Update = BasicUpdate<Words>;

  [[gnu::noinline]] bool await_free_turn(bool whole) {
    for (unsigned i = 0; i < Words::tries_of_turn; ++i) {
      if (Update::try_turn(target_, self_) != 0) {
        Words::pause();
        continue;
      }
      if (Update::count_turn(target_, whole)) return true;
      Update::end_turn(target_);
      return false;
    }
    return false;
  }

  BasicControlBlock<Words>& target_;
  BasicUpdater<Words> self_;
  std::uint32_t holder_;
  bool has_turn_ = false;
};

using HotUpdate = BasicHotUpdate<SharedWords>;

}  // namespace oriel
