// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "epoch_api.hpp"

namespace bench {

enum class Mode { blocking, nonblocking };

/// The epoch calls of one window, blocking or nonblocking. A closing call returns the request of
/// its epoch: in blocking mode the epoch is complete by then and the request is MPI_REQUEST_NULL,
/// so a program is written once and `finish` costs nothing where there is nothing to wait for.
class Epochs {
 public:
  Epochs(MPI_Win win, Mode mode, const EpochApi& api) : win_(win), mode_(mode), api_(api) {}

  bool blocking() const { return mode_ == Mode::blocking; }

  void post(MPI_Group origins) const {
    if (blocking()) {
      MPI_Win_post(origins, 0, win_);
    } else {
      opened([&](MPI_Request* request) { return api_.ipost(origins, 0, win_, request); });
    }
  }

  void start(MPI_Group targets) const {
    if (blocking()) {
      MPI_Win_start(targets, 0, win_);
    } else {
      opened([&](MPI_Request* request) { return api_.istart(targets, 0, win_, request); });
    }
  }

  void lock(int target) const {
    if (blocking()) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win_);
    } else {
      opened([&](MPI_Request* request) {
        return api_.ilock(MPI_LOCK_EXCLUSIVE, target, 0, win_, request);
      });
    }
  }

  MPI_Request complete() const {
    if (blocking()) return done(MPI_Win_complete(win_));
    return closed([&](MPI_Request* request) { return api_.icomplete(win_, request); });
  }

  MPI_Request wait() const {
    if (blocking()) return done(MPI_Win_wait(win_));
    return closed([&](MPI_Request* request) { return api_.iwait(win_, request); });
  }

  MPI_Request fence(int assertion) const {
    if (blocking()) return done(MPI_Win_fence(assertion, win_));
    return closed([&](MPI_Request* request) { return api_.ifence(assertion, win_, request); });
  }

  MPI_Request unlock(int target) const {
    if (blocking()) return done(MPI_Win_unlock(target, win_));
    return closed([&](MPI_Request* request) { return api_.iunlock(target, win_, request); });
  }

  MPI_Request flush(int target) const {
    if (blocking()) return done(MPI_Win_flush(target, win_));
    return closed([&](MPI_Request* request) { return api_.iflush(target, win_, request); });
  }

  static void finish(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

  static void finish(MPI_Request first, MPI_Request second) {
    MPI_Request requests[] = {first, second};
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }

 private:
  static MPI_Request done(int) { return MPI_REQUEST_NULL; }

  template <typename Call>
  static MPI_Request closed(Call call) {
    MPI_Request request = MPI_REQUEST_NULL;
    call(&request);
    return request;
  }

  template <typename Call>
  static void opened(Call call) {
    finish(closed(call));
  }

  MPI_Win win_;
  Mode mode_;
  const EpochApi& api_;
};

}  // namespace bench
