// SPDX-License-Identifier: BSD-3-Clause
// The target's calls on its notifications: persistent requests and probes (N2), requests for one
// notification (Q6).
#include <oriel/profiling.h>

#include <memory>
#include <optional>

#include "engine/progress/waiting.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"

namespace oriel::mpi {
namespace {

/// A persistent request that waits for notifications of a window.
class WindowRequest : public OwnRequest {
 public:
  explicit WindowRequest(WindowHandle& window, Serves serves = Serves::again)
      : OwnRequest(serves), window_(&window) {}

  ErrorTaker error_taker() const final {
    return {.window = window_ != nullptr ? window_->handle : MPI_WIN_NULL,
            .wait = "A wait for notifications"};
  }
  const Window* waits_on() const final { return window_ != nullptr ? window_->core : nullptr; }

 protected:
  WindowHandle& window() const { return *window_; }

 private:
  Failure lost_failure(int rank) const final { return lost_rank(*window_->core, rank); }
  Failure cut_off() const final {
    if (window_ != nullptr) return {};
    return {MPI_ERR_REQUEST, "the request's window has been freed"};
  }
  void cut_off_from(const WindowHandle& window) final {
    if (window_ != &window) return;
    // Other handles of the window may still exist.
    if (active() && !done()) abandon();
    window_ = nullptr;
  }

  WindowHandle* window_;  // null: the window has been freed
};

/// Sets a status. Keeps the last one, because programs repeat sizes, and the host needs two calls
/// to set a number of bytes. With the process lock.
void describe_notification(const Notification& notification, MPI_Status* status) {
  static MPI_Status last;
  static std::optional<std::uint64_t> last_bytes;
  if (status == MPI_STATUS_IGNORE) return;
  if (last_bytes != notification.bytes) {
    host_mpi().Status_set_elements_x(&last, MPI_BYTE, static_cast<MPI_Count>(notification.bytes));
    host_mpi().Status_set_cancelled(&last, 0);
    last_bytes = notification.bytes;
  }
  const int error = status->MPI_ERROR;
  *status = last;
  status->MPI_SOURCE = notification.source;
  status->MPI_TAG = notification.tag;
  status->MPI_ERROR = error;
}

/// Translates source and tag of a call.
Failure translate(const WindowHandle& window, int source, int tag, NotifyPattern& pattern) {
  if (window.view.has_value()) {
    return {MPI_ERR_RMA_FLAVOR, "a window made from a memory handle has no notified access"};
  }
  if (source != MPI_ANY_SOURCE && !valid_rank(window, source)) {
    return {MPI_ERR_RANK, "the source is not in the window's group"};
  }
  if (tag != MPI_ANY_TAG && tag < 0) return {MPI_ERR_TAG, "the tag is negative"};
  pattern.source = source == MPI_ANY_SOURCE ? NotifyPattern::any : source;
  pattern.tag = tag == MPI_ANY_TAG ? NotifyPattern::any : tag;
  return {};
}

/// The request that ORIEL_Notify_init and ORIEL_Win_wait_notify make.
class NotifyRequestHandle final : public WindowRequest {
 public:
  NotifyRequestHandle(WindowHandle& window, Serves serves, NotifyPattern pattern,
                      std::uint32_t expected)
      : WindowRequest(window, serves), request_(pattern, expected) {}

 private:
  Failure begin() override {
    window().core->notifications().start(request_);
    return {};
  }
  void abandon() override { window().core->notifications().stop(request_); }
  Wait wait() const override { return {WaitReason::notification, request_.pattern().source}; }
  bool done() const override { return request_.complete(); }
  void describe_end(MPI_Status* status) const override {
    if (request_.expected() == 0) return make_empty(status);
    describe_notification(request_.last(), status);
  }
  int lost(LostSources& sources) const override {
    return sources.of(*window().core, request_.pattern().source);
  }

  NotifyRequest request_;
};

int make_request(const char* call, MPI_Win win, OwnRequest::Serves serves, int source, int tag,
                 int expected, MPI_Request* request) {
  bool made = false;
  int code = MPI_SUCCESS;
  const int raised = dispatch_call(
      call, win,
      [&](WindowHandle& window) {
        NotifyPattern pattern;
        if (const Failure bad = check_outputs(request)) return bad;
        if (expected < 0) return Failure{MPI_ERR_COUNT, "the expected count is negative"};
        if (const Failure bad = translate(window, source, tag, pattern)) return bad;
        made = true;
        code = own_requests.add(std::make_unique<NotifyRequestHandle>(
                                    window, serves, pattern, static_cast<std::uint32_t>(expected)),
                                request);
        return Failure();
      },
      [&] { return unsupported_window(call, win, lacking::notified_access); });
  return made ? code : raised;
}

/// Sets `found` if a notification matches, and its status.
Failure probe(WindowHandle& window, int source, int tag, bool wait, bool& found,
              MPI_Status* status) {
  NotifyPattern pattern;
  if (const Failure bad = translate(window, source, tag, pattern)) return bad;
  // Sweeps receive notifications only while there is a listener.
  const Listening listening(engine.running()->process.listeners());
  const auto match = [&] {
    const Notification* kept = window.core->notifications().find_kept(pattern);
    if (kept == nullptr) return false;
    describe_notification(*kept, status);
    return found = true;
  };
  if (match()) return {};
  engine.running()->process.sweep();
  if (match()) return {};
  const auto lost = [&]() -> EngineFailure {
    LostSources sources(engine.running()->process);
    const int rank = sources.of(*window.core, pattern.source);
    if (rank < 0 || !sources.all_heard() || match()) return {};
    return lost_rank(*window.core, rank);
  };
  if (wait)
    return sweep_until(engine, window.core->events(), {WaitReason::notification, pattern.source},
                       match, lost);
  return engine.running()->pace.end_vain_poll(engine.lock) ? lost() : EngineFailure();
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_CALL(Notify_init)
(MPI_Win win, int source, int tag, int expected_count, MPI_Request* request) {
  return make_request("ORIEL_Notify_init", win, OwnRequest::Serves::again, source, tag,
                      expected_count, request);
}

ORIEL_CALL(Win_wait_notify)(MPI_Win win, int id, MPI_Request* request) {
  return make_request("ORIEL_Win_wait_notify", win, OwnRequest::Serves::once, MPI_ANY_SOURCE, id, 1,
                      request);
}

ORIEL_CALL(Notify_probe)(MPI_Win win, int source, int tag, MPI_Status* status) {
  constexpr const char* call = "ORIEL_Notify_probe";
  bool found = false;
  return dispatch_call(
      call, win,
      [&](WindowHandle& window) { return probe(window, source, tag, true, found, status); },
      [&] { return unsupported_window(call, win, lacking::notified_access); });
}

ORIEL_CALL(Notify_iprobe)(MPI_Win win, int source, int tag, int* flag, MPI_Status* status) {
  constexpr const char* call = "ORIEL_Notify_iprobe";
  bool found = false;
  const int code = dispatch_call(
      call, win,
      [&](WindowHandle& window) {
        const Failure bad = check_outputs(flag);
        return bad ? bad : probe(window, source, tag, false, found, status);
      },
      [&] { return unsupported_window(call, win, lacking::notified_access); });
  if (code == MPI_SUCCESS) *flag = found ? 1 : 0;
  return code;
}
