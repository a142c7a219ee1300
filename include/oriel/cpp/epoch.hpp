// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file epoch.hpp
 * Epochs as objects: the constructor opens the epoch, the destructor closes it. Included by
 * oriel.hpp.
 *
 * Each class has two constructors. The plain one makes MPI's call, such as MPI_Win_lock, and blocks
 * where MPI may. The one with `nonblocking` as first argument makes Oriel's, such as
 * ORIEL_Win_ilock. Each closing function exists twice, too: unlock() blocks until all operations of
 * the epoch are complete, iunlock() returns a request that completes then. Both forms may be mixed.
 *
 * The destructor closes an epoch that is open by the blocking call, also when an exception unwinds.
 * A fence epoch's destructor then waits for all ranks, and a post epoch's for its origins.
 *
 * An epoch keeps the MPI handle of its window. The owner of the window may be moved while the epoch
 * is open, but not freed. Epochs cannot be moved. `assertion` is MPI's assert.
 *
 * Errors are those of the C functions; MPI_ERR_RMA_SYNC: the epoch is open already, or has been
 * closed already. After a blocking close that fails the epoch is closed; after a nonblocking close
 * that fails it is unchanged.
 */
#pragma once

#include <mpi.h>
#include <oriel/oriel.h>

#include <oriel/cpp/error.hpp>
#include <oriel/cpp/request.hpp>
#include <oriel/cpp/window_handle.hpp>

namespace oriel {

/** Selects the constructors that do not block. */
struct nonblocking_t {
  explicit nonblocking_t() = default;
};
inline constexpr nonblocking_t nonblocking{};

namespace detail {

/** The base of all epochs: the window, which is MPI_WIN_NULL once the epoch is closed. */
class epoch {
 public:
  epoch(const epoch&) = delete;
  epoch& operator=(const epoch&) = delete;
  /** True if the object must still close the epoch. */
  bool is_open() const noexcept { return window_ != MPI_WIN_NULL; }

 protected:
  explicit epoch(window_handle on) noexcept : window_(on.native()) {}
  ~epoch() = default;

  /** Makes a nonblocking opening call. Its request is complete, so that the wait does not block. */
  template <class Call, class... Arguments>
  void open(Call call, Arguments... arguments) {
    MPI_Request opened = MPI_REQUEST_NULL;
    check(call(arguments..., window_, &opened));
    check(MPI_Wait(&opened, MPI_STATUS_IGNORE));
  }
  /** Makes a nonblocking closing call. */
  template <class Call, class... Arguments>
  request close(Call call, Arguments... arguments) {
    MPI_Request closed = MPI_REQUEST_NULL;
    check(call(arguments..., window(), &closed));
    window_ = MPI_WIN_NULL;
    return request(closed);
  }
  /** The window of the epoch, which must be open. */
  MPI_Win window() const {
    if (!is_open()) fail(MPI_ERR_RMA_SYNC);
    return window_;
  }
  /** The window for a blocking closing call, after which the epoch is closed. */
  MPI_Win take() {
    const MPI_Win result = window();
    window_ = MPI_WIN_NULL;
    return result;
  }

 private:
  MPI_Win window_;
};

}  // namespace detail

/** A lock epoch of one target rank: MPI_Win_lock to MPI_Win_unlock. */
class [[nodiscard]] lock_epoch : public detail::epoch {
 public:
  /** MPI_Win_lock, with MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE. May block until the lock is held. */
  lock_epoch(window_handle on, int lock_type, int rank, int assertion = 0)
      : epoch(on), rank_(rank) {
    detail::check(MPI_Win_lock(lock_type, rank, assertion, window()));
  }
  /** ORIEL_Win_ilock. Does not block; operations wait for the lock. */
  lock_epoch(nonblocking_t, window_handle on, int lock_type, int rank, int assertion = 0)
      : epoch(on), rank_(rank) {
    open(ORIEL_Win_ilock, lock_type, rank, assertion);
  }
  ~lock_epoch() {
    if (is_open()) detail::check_in_destructor(MPI_Win_unlock(rank_, take()));
  }

  /** MPI_Win_unlock: blocks until the operations are complete at origin and target. */
  void unlock() { detail::check(MPI_Win_unlock(rank_, take())); }
  /** ORIEL_Win_iunlock. Does not block. */
  request iunlock() { return close(ORIEL_Win_iunlock, rank_); }

 private:
  int rank_;
};

/** A lock epoch of all ranks: MPI_Win_lock_all to MPI_Win_unlock_all. */
class [[nodiscard]] lock_all_epoch : public detail::epoch {
 public:
  /** MPI_Win_lock_all. May block until no rank is locked exclusively. */
  explicit lock_all_epoch(window_handle on, int assertion = 0) : epoch(on) {
    detail::check(MPI_Win_lock_all(assertion, window()));
  }
  /** ORIEL_Win_ilock_all. Does not block. */
  lock_all_epoch(nonblocking_t, window_handle on, int assertion = 0) : epoch(on) {
    open(ORIEL_Win_ilock_all, assertion);
  }
  ~lock_all_epoch() {
    if (is_open()) detail::check_in_destructor(MPI_Win_unlock_all(take()));
  }

  /** MPI_Win_unlock_all: blocks until the operations are complete at origin and targets. */
  void unlock_all() { detail::check(MPI_Win_unlock_all(take())); }
  /** ORIEL_Win_iunlock_all. Does not block. */
  request iunlock_all() { return close(ORIEL_Win_iunlock_all); }
};

/** Fence epochs, from the first fence to the last one. All ranks of the window make the same calls
 *  in the same order. */
class [[nodiscard]] fence_epoch : public detail::epoch {
 public:
  /** MPI_Win_fence with MPI_MODE_NOPRECEDE: opens the first epoch. Collective; need not wait for
   *  other ranks. No fence epoch of the window may be open. */
  explicit fence_epoch(window_handle on, int assertion = 0) : epoch(on) {
    detail::check(MPI_Win_fence(assertion | MPI_MODE_NOPRECEDE, window()));
  }
  /** ORIEL_Win_ifence with MPI_MODE_NOPRECEDE. Collective; does not block. */
  fence_epoch(nonblocking_t, window_handle on, int assertion = 0) : epoch(on) {
    open(ORIEL_Win_ifence, assertion | MPI_MODE_NOPRECEDE);
  }
  ~fence_epoch() {
    if (is_open()) detail::check_in_destructor(MPI_Win_fence(MPI_MODE_NOSUCCEED, take()));
  }

  /** MPI_Win_fence: closes the epoch and opens the next one. Collective; blocks until all ranks
   *  have made the call and the operations of the closed epoch are complete. */
  void fence(int assertion = 0) { detail::check(MPI_Win_fence(assertion, window())); }
  /** ORIEL_Win_ifence: closes the epoch and opens the next one; the request completes when fence
   *  would have returned. Collective; does not block. */
  request ifence(int assertion = 0) {
    MPI_Request closed = MPI_REQUEST_NULL;
    detail::check(ORIEL_Win_ifence(assertion, window(), &closed));
    return request(closed);
  }
  /** MPI_Win_fence with MPI_MODE_NOSUCCEED: closes the last epoch. Collective; blocks as fence. */
  void end(int assertion = 0) {
    detail::check(MPI_Win_fence(assertion | MPI_MODE_NOSUCCEED, take()));
  }
  /** ORIEL_Win_ifence with MPI_MODE_NOSUCCEED. Collective; does not block. */
  request iend(int assertion = 0) {
    return close(ORIEL_Win_ifence, assertion | MPI_MODE_NOSUCCEED);
  }
};

/** An access epoch to a group: MPI_Win_start to MPI_Win_complete. */
class [[nodiscard]] start_epoch : public detail::epoch {
 public:
  /** MPI_Win_start. May block until the targets have posted. The group may be freed afterwards. */
  start_epoch(window_handle on, MPI_Group group, int assertion = 0) : epoch(on) {
    detail::check(MPI_Win_start(group, assertion, window()));
  }
  /** ORIEL_Win_istart. Does not block. */
  start_epoch(nonblocking_t, window_handle on, MPI_Group group, int assertion = 0) : epoch(on) {
    open(ORIEL_Win_istart, group, assertion);
  }
  ~start_epoch() {
    if (is_open()) detail::check_in_destructor(MPI_Win_complete(take()));
  }

  /** MPI_Win_complete: blocks until the operations are complete at the origin. */
  void complete() { detail::check(MPI_Win_complete(take())); }
  /** ORIEL_Win_icomplete. Does not block. */
  request icomplete() { return close(ORIEL_Win_icomplete); }
};

/** An exposure epoch to a group: MPI_Win_post to MPI_Win_wait. */
class [[nodiscard]] post_epoch : public detail::epoch {
 public:
  /** MPI_Win_post. Does not block. The group may be freed afterwards. */
  post_epoch(window_handle on, MPI_Group group, int assertion = 0) : epoch(on) {
    detail::check(MPI_Win_post(group, assertion, window()));
  }
  /** ORIEL_Win_ipost. Does not block; earlier epochs of the window may be pending. */
  post_epoch(nonblocking_t, window_handle on, MPI_Group group, int assertion = 0) : epoch(on) {
    open(ORIEL_Win_ipost, group, assertion);
  }
  ~post_epoch() {
    if (is_open()) detail::check_in_destructor(MPI_Win_wait(take()));
  }

  /** MPI_Win_wait: blocks until all origins of the group have completed their access epochs. */
  void wait() { detail::check(MPI_Win_wait(take())); }
  /** MPI_Win_test: as wait, without blocking. True: the epoch is closed. */
  bool test() {
    int flag = 0;
    detail::check(MPI_Win_test(window(), &flag));
    if (flag != 0) take();
    return flag != 0;
  }
  /** ORIEL_Win_iwait. Does not block. */
  request iwait() { return close(ORIEL_Win_iwait); }
};

}  // namespace oriel
