// SPDX-License-Identifier: BSD-3-Clause
// The host's waits and tests, so that they carry our requests on. Without any of ours pending they
// are the host's own after one look.
#include "boundary/progress/waits.hpp"

#include <optional>

#include "boundary/host/host_mpi.hpp"
#include "boundary/progress/progress.hpp"
#include "boundary/progress/request_completion.hpp"
#include "boundary/progress/waiting.hpp"
#include "boundary/requests/own_requests.hpp"
#include "engine/stalls/unlocked_long_wait.hpp"

namespace oriel::boundary {
namespace {

/// Whether the host's own wait would leave something of ours undone. Requests of a session that has
/// ended are the host's alone.
bool ours_pending() {
  if (engine.running() == nullptr) return false;
  return own_requests.pending.live() || own_requests.persistent.any() ||
         (!progress.hooked() && engine.busy());
}

/// Whether an address is null that the call needs.
template <typename... Addresses>
bool any_null(const Addresses*... addresses) {
  return (... || (addresses == nullptr));
}
/// Likewise of so many requests.
bool no_array(int count, const MPI_Request* requests) {
  return count > 0 && requests == nullptr;
}

/// Reports that a call waits for requests, some of which may be ours. Without the process lock.
class RequestWaitEvent {
 public:
  RequestWaitEvent() {
    if (!engine.running()->process.events().heard()) return;
    const Guard guard(engine.lock);
    event_.emplace(events_of_no_window(), Wait{WaitReason::request});
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

/// A wait is either the program's, in MPI_Wait or its kind, also for requests of ours; or this
/// library's own for a request of the host, which rings nobody. Only the program's is an event.
enum class Caller : bool { program, library };

/// Calls test(&flag) and sweeps until it says yes or fails. A sweep first: it costs a few cache
/// lines, a host's test may look through its network.
template <typename Test>
int wait_by_testing(Test&& test, Caller caller = Caller::program,
                    WaitReason reason = WaitReason::request) {
  sweep_once();
  std::optional<RequestWaitEvent> event;
  Waiter waiter(caller == Caller::program);
  UnlockedLongWait long_wait(reason);
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

/// Before a wait for all of these, which are pending requests of ours: until the host knows that
/// they are complete. A host's test looks at all of them each time. Else it does nothing.
void wait_for_pending(int count, const MPI_Request* requests) {
  if (!own_requests.pending.live() || !own_requests.pending.all_pending(count, requests)) return;
  std::optional<RequestWaitEvent> event;
  Waiter waiter;
  UnlockedLongWait long_wait(WaitReason::request);
  sweep_once();
  for (int i = 0; i < count; ++i) {
    while (own_requests.pending.incomplete_at_host(requests[i])) {
      if (!event.has_value()) event.emplace();
      waiter.round_unlocked();
      if (!waiter.check_peers()) continue;
      own_requests.fail_lost();
      long_wait.look();
    }
  }
}

/// A wait for one persistent request of ours, as short as the wait of a call on its window. False:
/// it is not ours.
bool wait_for(MPI_Request* handle, MPI_Status* status, int& code) {
  if (!own_requests.persistent.any()) return false;
  PersistentRequest* request = nullptr;
  bool active = false;
  {
    const Guard guard(engine.lock);
    request = own_requests.persistent.find(*handle);
    if (request == nullptr) return false;
    active = request->active();
  }
  // Nothing of ours is left undone meanwhile.
  if (active && (progress.hooked() || !engine.busy())) request->wait_in_host();
  Failure failure;
  ErrorTaker taker;
  {
    const Guard guard(engine.lock);
    if (active && !request->complete()) {
      const Window* window = request->waits_on();
      sweep_until(
          window != nullptr ? window->events() : events_of_no_window(), request->wait(),
          [&] { return request->complete(); },
          [&] {
            LostSources sources;
            request->look_for_lost(sources);
            return Failure();
          });
    }
    taker = request->error_taker();
    failure = own_requests.persistent.end(handle, *request, status);
  }
  own_requests.pending.complete_at_host();
  code = report_wait(taker, failure);
  return true;
}

/// One look, with a sweep before it. A program that polls in a loop must let the rank run that it
/// polls for.
template <typename Test>
int test_after_sweep(int* flag, Test&& test) {
  if (!ours_pending()) return test();
  const bool moved = sweep_once();
  const int code = test();
  if (code == MPI_SUCCESS && *flag == 0 && !moved) {
    polled_in_vain();
    if (time_to_check_peers()) own_requests.fail_lost();
  }
  return code;
}

}  // namespace

int wait_for_host(MPI_Request* request, MPI_Status* status, WaitReason reason) {
  // A rank that could not prepare its part of a window may have no engine, and nothing to sweep.
  if (engine.running() == nullptr) return host_mpi().Wait(request, status);
  // Not the host's wait, though nothing of ours may be left to do: Intel MPI's spins.
  return wait_by_testing([&](int* flag) { return host_mpi().Test(request, flag, status); },
                         Caller::library, reason);
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_MPI_CALL(Wait)(MPI_Request* request, MPI_Status* status) {
  if (!ours_pending()) return host_mpi().Wait(request, status);
  if (any_null(request)) return refuse_null("MPI_Wait");
  int code;
  if (wait_for(request, status, code)) return code;
  wait_for_pending(1, request);
  return wait_by_testing([&](int* flag) { return test(request, flag, status); });
}

ORIEL_MPI_CALL(Waitany)(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (!ours_pending()) return host_mpi().Waitany(count, requests, index, status);
  if (no_array(count, requests) || any_null(index)) return refuse_null("MPI_Waitany");
  return wait_by_testing([&](int* flag) { return test_any(count, requests, index, flag, status); });
}

ORIEL_MPI_CALL(Waitall)(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (!ours_pending() || count < 0) return host_mpi().Waitall(count, requests, statuses);
  if (no_array(count, requests)) return refuse_null("MPI_Waitall");
  wait_for_pending(count, requests);
  // All in every round: a look at single ones that leaves them as they are does not exist, because
  // MPICH's MPI_Request_get_status ends persistent ones.
  return wait_by_testing([&](int* flag) { return test_all(count, requests, flag, statuses); });
}

ORIEL_MPI_CALL(Waitsome)
(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  if (!ours_pending()) return host_mpi().Waitsome(count, requests, done, indices, statuses);
  if (no_array(count, requests) || any_null(done, indices)) return refuse_null("MPI_Waitsome");
  return wait_by_testing([&](int* flag) {
    const int code = test_some(count, requests, done, indices, statuses);
    *flag = code != MPI_SUCCESS || *done != 0;  // MPI_UNDEFINED, too: nothing active
    return code;
  });
}

ORIEL_MPI_CALL(Test)(MPI_Request* request, int* flag, MPI_Status* status) {
  if (ours_pending() && (any_null(request) || any_null(flag))) return refuse_null("MPI_Test");
  return test_after_sweep(flag, [&] { return test(request, flag, status); });
}

ORIEL_MPI_CALL(Testany)
(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (ours_pending() && (no_array(count, requests) || any_null(index, flag))) {
    return refuse_null("MPI_Testany");
  }
  return test_after_sweep(flag, [&] { return test_any(count, requests, index, flag, status); });
}

ORIEL_MPI_CALL(Testall)(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (ours_pending() && (no_array(count, requests) || any_null(flag))) {
    return refuse_null("MPI_Testall");
  }
  return test_after_sweep(flag, [&] { return test_all(count, requests, flag, statuses); });
}

ORIEL_MPI_CALL(Testsome)
(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  if (ours_pending() && (no_array(count, requests) || any_null(done, indices))) {
    return refuse_null("MPI_Testsome");
  }
  return test_after_sweep(done,
                          [&] { return test_some(count, requests, done, indices, statuses); });
}

ORIEL_MPI_CALL(Request_get_status)(MPI_Request request, int* flag, MPI_Status* status) {
  if (ours_pending() && any_null(flag)) return refuse_null("MPI_Request_get_status");
  return test_after_sweep(flag, [&] { return get_status(request, flag, status); });
}

#if ORIEL_HOST_STATUS_OF_MANY

ORIEL_MPI_CALL(Request_get_status_any)
(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (ours_pending() && (no_array(count, requests) || any_null(index, flag))) {
    return refuse_null("MPI_Request_get_status_any");
  }
  return test_after_sweep(flag,
                          [&] { return get_status_any(count, requests, index, flag, status); });
}

ORIEL_MPI_CALL(Request_get_status_all)
(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (ours_pending() && (no_array(count, requests) || any_null(flag))) {
    return refuse_null("MPI_Request_get_status_all");
  }
  return test_after_sweep(flag, [&] { return get_status_all(count, requests, flag, statuses); });
}

ORIEL_MPI_CALL(Request_get_status_some)
(int count, const MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  if (ours_pending() && (no_array(count, requests) || any_null(done, indices))) {
    return refuse_null("MPI_Request_get_status_some");
  }
  return test_after_sweep(
      done, [&] { return get_status_some(count, requests, done, indices, statuses); });
}

#endif
