// SPDX-License-Identifier: BSD-3-Clause
// The host's waits and tests, which also advance Oriel's requests. If none of those is pending,
// they make one check and call the host's function.
#include "mpi/progress/waits.hpp"

#include <optional>

#include "engine/progress/waiting.hpp"
#include "engine/stalls/long_wait.hpp"
#include "mpi/host/communicator_mark.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/progress/request_array.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// True if the host's own wait would not advance work of Oriel's. Requests of a session that has
/// ended belong to the host only.
bool ours_pending() {
  if (engine.running() == nullptr) return false;
  return own_requests.any() || (!progress.hooked() && engine.busy());
}

/// True if a wait or test of these requests concerns Oriel.
bool ours_among(int count, const MPI_Request* requests) {
  return ours_pending() || own_requests.any_complete(count, requests);
}

CommunicatorMark windows_made;  // set on communicators on which windows were made

/// Carries out aggregated puts before this rank sends a message. A program may rely on that: the
/// message may notify the target of the puts, although MPI requires a flush for that.
void sweep_before_message() {
  const Running* running = engine.running();
  if (running != nullptr && running->process.pending() != 0) [[unlikely]]
    sweep_once(engine);
}

/// True if any of the addresses is null.
template <typename... Addresses>
bool any_null(const Addresses*... addresses) {
  return (... || (addresses == nullptr));
}
/// True if an array of `count` requests is missing.
bool no_array(int count, const MPI_Request* requests) {
  return count > 0 && requests == nullptr;
}

/// Reports a wait of a call for requests, some of which may be Oriel's. Without the process lock.
class RequestWaitEvent {
 public:
  RequestWaitEvent() {
    if (!engine.running()->process.events().has_sink()) return;
    const Guard guard(engine.lock);
    event_.emplace(events_of_no_window(engine), Wait{WaitReason::request});
  }
  ~RequestWaitEvent() {
    if (!event_.has_value()) return;
    const Guard guard(engine.lock);
    event_.reset();
  }
  RequestWaitEvent(const RequestWaitEvent&) = delete;
  RequestWaitEvent& operator=(const RequestWaitEvent&) = delete;

 private:
  std::optional<WaitEvent> event_;
};

/// A wait is either the program's, in MPI_Wait and its variants, which may be for requests of
/// Oriel's, or the library's own wait for a request of the host, which rings no doorbell. Only the
/// program's is reported to Events.
enum class Caller : bool { program, library };

/// Calls test(&flag) and sweeps until the flag is set or the test fails. Sweeps first: that costs a
/// few cache lines, while a host's test may poll its network.
template <typename Test>
int wait_by_testing(Test&& test, Caller caller = Caller::program,
                    WaitReason reason = WaitReason::request) {
  sweep_once(engine);
  std::optional<RequestWaitEvent> event;
  Waiter waiter(engine, caller == Caller::program);
  UnlockedLongWait long_wait(engine, reason);
  while (true) {
    int flag = 0;
    const int code = test(&flag);
    if (code != MPI_SUCCESS || flag != 0) return code;
    if (caller == Caller::program && !event.has_value()) event.emplace();
    waiter.round_unlocked();
    if (!waiter.check_peers()) continue;
    own_requests.fail_lost();
    long_wait.look();
  }
}

/// Waits for one request of Oriel's, as a call on its window would. Returns false if the request is
/// not Oriel's.
bool wait_for(MPI_Request* handle, MPI_Status* status, int& code) {
  if (!own_requests.any()) return false;
  OwnRequest* request = nullptr;
  bool active = false;
  {
    const Guard guard(engine.lock);
    request = own_requests.find(*handle);
    if (request == nullptr) return false;
    active = request->active();
  }
  // No other work of Oriel's needs sweeps meanwhile.
  if (active && (progress.hooked() || !engine.busy())) request->wait_in_host();
  Failure failure;
  ErrorTaker taker;
  {
    const Guard guard(engine.lock);
    if (active && !request->complete()) {
      const Window* window = request->waits_on();
      sweep_until(
          engine, window != nullptr ? window->events() : events_of_no_window(engine),
          request->wait(), [&] { return request->complete(); },
          [&] {
            LostSources sources(engine.running()->process);
            request->check_lost(sources);
            return Failure();
          });
    }
    taker = request->error_taker();
    failure = own_requests.end(handle, *request, status);
  }
  code = report_wait(taker, failure);
  return true;
}

/// One test, with a sweep before it. A program that polls must yield to the rank that it polls for.
template <typename Test>
int test_after_sweep(int* flag, Test&& test) {
  if (!ours_pending()) return test();
  const bool moved = sweep_once(engine);
  const int code = test();
  if (code == MPI_SUCCESS && *flag == 0 && !moved && engine.running()->pace.end_vain_poll()) {
    own_requests.fail_lost();
  }
  return code;
}

}  // namespace

bool must_sweep() {
  sweep_before_message();
  return !progress.hooked() && engine.busy();
}

bool collectives_sweep(MPI_Comm communicator) {
  sweep_before_message();
  return !progress.hooked() && communicator != MPI_COMM_NULL && windows_made.is_set(communicator);
}

void note_windows_on(MPI_Comm communicator) {
  if (!progress.hooked()) windows_made.set(communicator);
}

int wait_for_host(MPI_Request* request, MPI_Status* status, WaitReason reason) {
  // A rank that could not prepare its part of a window may have no engine, and thus nothing to
  // sweep.
  if (engine.running() == nullptr) return host_mpi().Wait(request, status);
  // Not the host's wait, even if Oriel has nothing to do, because Intel MPI's spins.
  return wait_by_testing([&](int* flag) { return host_mpi().Test(request, flag, status); },
                         Caller::library, reason);
}

}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_MPI_CALL(Wait)(MPI_Request* request, MPI_Status* status) {
  if (request != nullptr && own_requests.end_complete(request, status)) return MPI_SUCCESS;
  if (!ours_pending()) return call_host([&] { return host_mpi().Wait(request, status); });
  if (any_null(request)) return refuse_null("MPI_Wait");
  int code;
  if (wait_for(request, status, code)) return code;
  return wait_by_testing([&](int* flag) { return test(request, flag, status); });
}

ORIEL_MPI_CALL(Waitany)(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (!ours_among(count, requests))
    return call_host([&] { return host_mpi().Waitany(count, requests, index, status); });
  if (no_array(count, requests) || any_null(index)) return refuse_null("MPI_Waitany");
  RequestArray array(count, requests);
  return wait_by_testing([&](int* flag) { return array.test_any(index, flag, status); });
}

ORIEL_MPI_CALL(Waitall)(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (own_requests.end_all_complete(count, requests, statuses)) return MPI_SUCCESS;
  if (!ours_among(count, requests) || count < 0)
    return call_host([&] { return host_mpi().Waitall(count, requests, statuses); });
  if (no_array(count, requests)) return refuse_null("MPI_Waitall");
  RequestArray array(count, requests);
  return wait_by_testing([&](int* flag) { return array.test_rest(flag, statuses); });
}

ORIEL_MPI_CALL(Waitsome)
(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  if (!ours_among(count, requests))
    return call_host([&] { return host_mpi().Waitsome(count, requests, done, indices, statuses); });
  if (no_array(count, requests) || any_null(done, indices)) return refuse_null("MPI_Waitsome");
  RequestArray array(count, requests);
  return wait_by_testing([&](int* flag) {
    const int code = array.test_some(done, indices, statuses);
    *flag = code != MPI_SUCCESS || *done != 0;  // MPI_UNDEFINED, too: nothing active
    return code;
  });
}

ORIEL_MPI_CALL(Test)(MPI_Request* request, int* flag, MPI_Status* status) {
  if (any_null(request) || any_null(flag)) return refuse_null("MPI_Test");
  return test_after_sweep(flag, [&] { return test(request, flag, status); });
}

ORIEL_MPI_CALL(Testany)
(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (!ours_among(count, requests)) return host_mpi().Testany(count, requests, index, flag, status);
  if (no_array(count, requests) || any_null(index, flag)) return refuse_null("MPI_Testany");
  return test_after_sweep(
      flag, [&] { return RequestArray(count, requests).test_any(index, flag, status); });
}

ORIEL_MPI_CALL(Testall)(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (!ours_among(count, requests)) return host_mpi().Testall(count, requests, flag, statuses);
  if (no_array(count, requests) || any_null(flag)) return refuse_null("MPI_Testall");
  return test_after_sweep(flag,
                          [&] { return RequestArray(count, requests).test_all(flag, statuses); });
}

ORIEL_MPI_CALL(Testsome)
(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  if (!ours_among(count, requests))
    return host_mpi().Testsome(count, requests, done, indices, statuses);
  if (no_array(count, requests) || any_null(done, indices)) return refuse_null("MPI_Testsome");
  return test_after_sweep(
      done, [&] { return RequestArray(count, requests).test_some(done, indices, statuses); });
}

ORIEL_MPI_CALL(Request_get_status)(MPI_Request request, int* flag, MPI_Status* status) {
  if (any_null(flag)) return refuse_null("MPI_Request_get_status");
  return test_after_sweep(flag, [&] { return get_status(request, flag, status); });
}

#if ORIEL_HOST_STATUS_OF_MANY

ORIEL_MPI_CALL(Request_get_status_any)
(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (!ours_among(count, requests))
    return host_mpi().Request_get_status_any(count, requests, index, flag, status);
  if (no_array(count, requests) || any_null(index, flag)) {
    return refuse_null("MPI_Request_get_status_any");
  }
  return test_after_sweep(
      flag, [&] { return RequestArray(count, requests).test_any(index, flag, status); });
}

ORIEL_MPI_CALL(Request_get_status_all)
(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (!ours_among(count, requests))
    return host_mpi().Request_get_status_all(count, requests, flag, statuses);
  if (no_array(count, requests) || any_null(flag)) {
    return refuse_null("MPI_Request_get_status_all");
  }
  return test_after_sweep(flag,
                          [&] { return RequestArray(count, requests).test_all(flag, statuses); });
}

ORIEL_MPI_CALL(Request_get_status_some)
(int count, const MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  if (!ours_among(count, requests))
    return host_mpi().Request_get_status_some(count, requests, done, indices, statuses);
  if (no_array(count, requests) || any_null(done, indices)) {
    return refuse_null("MPI_Request_get_status_some");
  }
  return test_after_sweep(
      done, [&] { return RequestArray(count, requests).test_some(done, indices, statuses); });
}

#endif
