// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/requests/persistent_requests.hpp"

namespace oriel::boundary {

/// A persistent request on a window, for what the window's notifications tell.
class WindowRequest : public PersistentRequest {
 public:
  explicit WindowRequest(WindowHandle& window, Serves serves = Serves::again)
      : PersistentRequest(serves), window_(&window) {}

  ErrorTaker error_taker() const final {
    return {.window = window_ != nullptr ? window_->handle : MPI_WIN_NULL,
            .wait = "A wait for notifications"};
  }

 protected:
  WindowHandle& window() const { return *window_; }

 private:
  Failure lost_failure(int rank) const final { return lost_rank(*window_->state, rank); }
  Failure cut_off() const final {
    if (window_ != nullptr) return {};
    return {MPI_ERR_REQUEST, "the request's window has been freed"};
  }
  void note_end_of(const WindowHandle& window) final {
    if (window_ != &window) return;
    // Other handles of the window may outlive this one.
    if (active() && !done()) abandon();
    window_ = nullptr;
  }

  WindowHandle* window_;  // null: it has been freed
};

}  // namespace oriel::boundary
