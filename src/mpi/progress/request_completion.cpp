// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress/request_completion.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

PersistentRequest* find(MPI_Request handle) {
  const Guard guard(engine.lock);
  return own_requests.persistent.find(handle);
}

/// Checks a request of Oriel's. Sets `ended` if it is complete or was not active. `handle`: the
/// program's handle, if the check completes the request for the program; null: it does not.
int look(PersistentRequest& request, MPI_Request* handle, bool& ended, MPI_Status* status) {
  Failure failure;
  ErrorTaker taker;
  {
    const Guard guard(engine.lock);
    ended = !request.active() || request.complete();
    if (!ended) return MPI_SUCCESS;
    taker = request.error_taker();
    failure = handle != nullptr ? own_requests.persistent.end(handle, request, status)
                                : request.describe(status);
  }
  return report_wait(taker, failure);
}

bool active(PersistentRequest& request) {
  const Guard guard(engine.lock);
  return request.active();
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

MPI_Request* at(MPI_Request* requests, int index) {
  return requests == nullptr ? nullptr : requests + index;
}

/// The host's part of an array of requests, with MPI_REQUEST_NULL in the place of Oriel's requests.
class HostPart {
 public:
  HostPart(int count, const MPI_Request* requests) : handles_(requests, requests + count) {
    const Guard guard(engine.lock);
    for (int i = 0; i < count; ++i) {
      PersistentRequest* ours = own_requests.persistent.find(requests[i]);
      if (ours == nullptr) continue;
      ours_.push_back({i, ours});
      handles_[static_cast<std::size_t>(i)] = MPI_REQUEST_NULL;
    }
  }

  struct Ours {
    int index;
    PersistentRequest* request;
  };
  std::span<const Ours> ours() const { return ours_; }
  MPI_Request* handles() { return handles_.data(); }
  /// Copies the host's handles to the program's array: the host has set some to MPI_REQUEST_NULL.
  void give_back(MPI_Request* requests) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (next < ours_.size() && ours_[next].index == static_cast<int>(i)) {
        ++next;
      } else {
        requests[i] = handles_[i];
      }
    }
  }

 private:
  std::vector<MPI_Request> handles_;
  std::vector<Ours> ours_;
};

// In the functions below, `requests` is the program's array, in which complete requests are ended,
// or null if the call only checks.

/// MPI_Testany; host(handles, index, flag, status) checks the host's part.
template <typename Host>
int look_at_any(HostPart& part, MPI_Request* requests, int* index, int* flag, MPI_Status* status,
                Host&& host) {
  bool waiting = false;
  for (const auto& [place, request] : part.ours()) {
    if (!active(*request)) continue;
    bool ended = false;
    const int code = look(*request, at(requests, place), ended, status);
    if (ended) {
      *index = place;
      *flag = 1;
      return code;
    }
    waiting = true;
  }
  const int code = host(part.handles(), index, flag, status);
  // The host may have no active request although Oriel has one.
  if (waiting && code == MPI_SUCCESS && *flag != 0 && *index == MPI_UNDEFINED) *flag = 0;
  return code;
}

/// MPI_Testsome; host(handles, done, indices, statuses) checks the host's part.
template <typename Host>
int look_at_some(HostPart& part, MPI_Request* requests, int* done, int* indices,
                 MPI_Status* statuses, Host&& host) {
  // The host's part first: if it fails as a whole, no request has been completed.
  int hosts = 0;
  const int code = host(part.handles(), &hosts, indices, statuses);
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
  const bool nothing_active = hosts == MPI_UNDEFINED;
  if (nothing_active) hosts = 0;
  bool waiting = false;
  bool failed = false;
  int found = hosts;
  std::vector<int> codes;
  for (const auto& [place, request] : part.ours()) {
    if (!active(*request)) continue;
    bool ended = false;
    const int its = look(*request, at(requests, place), ended, at(statuses, found));
    waiting |= !ended;
    if (!ended) continue;
    failed |= its != MPI_SUCCESS;
    codes.push_back(its);
    indices[found++] = place;
  }
  *done = nothing_active && found == 0 && !waiting ? MPI_UNDEFINED : found;
  if (code == MPI_SUCCESS && !failed) return MPI_SUCCESS;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (int i = 0; code == MPI_SUCCESS && i < hosts; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    for (int i = hosts; i < found; ++i) {
      statuses[i].MPI_ERROR = codes[static_cast<std::size_t>(i - hosts)];
    }
  }
  return MPI_ERR_IN_STATUS;
}

/// Statuses for MPI_Testall if the program gives none. MPICH 4.0 aborts if MPI_Testall is given
/// MPI_STATUSES_IGNORE, more than 64 requests, and a message's request after a generalized one,
/// such as in an array that begins with pending requests of Oriel's.
class IgnoredStatuses {
 public:
  IgnoredStatuses(int count, MPI_Status* given) : statuses_(given) {
    constexpr int most_without = 64;
    if (given != MPI_STATUSES_IGNORE || count <= most_without) return;
    taken_.swap(spare_);
    if (taken_.size() < static_cast<std::size_t>(count)) {
      taken_.resize(static_cast<std::size_t>(count));
    }
    statuses_ = taken_.data();
  }
  ~IgnoredStatuses() {
    if (!taken_.empty()) taken_.swap(spare_);
  }
  IgnoredStatuses(const IgnoredStatuses&) = delete;
  IgnoredStatuses& operator=(const IgnoredStatuses&) = delete;

  MPI_Status* statuses() const { return statuses_; }

 private:
  // Kept for the thread's next call. A nested call from a callback finds it empty.
  inline static thread_local std::vector<MPI_Status> spare_;

  std::vector<MPI_Status> taken_;
  MPI_Status* statuses_;
};

/// MPI_Testall; host(handles, flag, statuses) checks the host's part.
template <typename Host>
int look_at_all(HostPart& part, MPI_Request* requests, int count, int* flag, MPI_Status* statuses,
                Host&& host) {
  *flag = 0;
  {
    const Guard guard(engine.lock);
    for (const auto& [place, request] : part.ours()) {
      if (request->active() && !request->complete()) return MPI_SUCCESS;
    }
  }
  // No request is completed before all are complete: Oriel's are only checked above, and completed
  // after the host's.
  const int code = host(part.handles(), flag, statuses);
  if ((code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) || *flag == 0) return code;
  std::vector<int> codes;
  bool failed = false;
  for (const auto& [place, request] : part.ours()) {
    bool ended = false;
    codes.push_back(look(*request, at(requests, place), ended, at(statuses, place)));
    failed |= codes.back() != MPI_SUCCESS;
  }
  if (!failed) return code;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (int i = 0; code == MPI_SUCCESS && i < count; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      statuses[part.ours()[i].index].MPI_ERROR = codes[i];
    }
  }
  return MPI_ERR_IN_STATUS;
}

}  // namespace

bool any_of_ours(int count, const MPI_Request* requests) {
  if (!own_requests.persistent.any() || count <= 0 || requests == nullptr) return false;
  const Guard guard(engine.lock);
  return std::any_of(requests, requests + count, [](MPI_Request handle) {
    return own_requests.persistent.find(handle) != nullptr;
  });
}

int test(MPI_Request* request, int* flag, MPI_Status* status) {
  PersistentRequest* ours = own_requests.persistent.any() ? find(*request) : nullptr;
  if (ours == nullptr) return host_mpi().Test(request, flag, status);
  bool ended = false;
  const int code = look(*ours, request, ended, status);
  *flag = ended ? 1 : 0;
  return code;
}

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
  PersistentRequest* ours = own_requests.persistent.any() ? find(request) : nullptr;
  if (ours == nullptr) return host_mpi().Request_get_status(request, flag, status);
  bool ended = false;
  const int code = look(*ours, nullptr, ended, status);
  *flag = ended ? 1 : 0;
  return code;
}

int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (!any_of_ours(count, requests)) {
    return host_mpi().Testany(count, requests, index, flag, status);
  }
  HostPart part(count, requests);
  return look_at_any(part, requests, index, flag, status,
                     [&](MPI_Request* handles, int* i, int* f, MPI_Status* s) {
                       const int code = host_mpi().Testany(count, handles, i, f, s);
                       part.give_back(requests);
                       return code;
                     });
}

int test_some(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  if (!any_of_ours(count, requests)) {
    return host_mpi().Testsome(count, requests, done, indices, statuses);
  }
  HostPart part(count, requests);
  return look_at_some(part, requests, done, indices, statuses,
                      [&](MPI_Request* handles, int* d, int* i, MPI_Status* s) {
                        const int code = host_mpi().Testsome(count, handles, d, i, s);
                        part.give_back(requests);
                        return code;
                      });
}

int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const IgnoredStatuses ignored(count, statuses);
  statuses = ignored.statuses();
  if (!any_of_ours(count, requests)) {
    return host_mpi().Testall(count, requests, flag, statuses);
  }
  HostPart part(count, requests);
  return look_at_all(part, requests, count, flag, statuses,
                     [&](MPI_Request* handles, int* f, MPI_Status* s) {
                       const int code = host_mpi().Testall(count, handles, f, s);
                       part.give_back(requests);
                       return code;
                     });
}

#if ORIEL_HOST_STATUS_OF_MANY

int get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status) {
  if (!any_of_ours(count, requests)) {
    return host_mpi().Request_get_status_any(count, requests, index, flag, status);
  }
  HostPart part(count, requests);
  return look_at_any(part, nullptr, index, flag, status,
                     [&](MPI_Request* handles, int* i, int* f, MPI_Status* s) {
                       return host_mpi().Request_get_status_any(count, handles, i, f, s);
                     });
}

int get_status_some(int count, const MPI_Request* requests, int* done, int* indices,
                    MPI_Status* statuses) {
  if (!any_of_ours(count, requests)) {
    return host_mpi().Request_get_status_some(count, requests, done, indices, statuses);
  }
  HostPart part(count, requests);
  return look_at_some(part, nullptr, done, indices, statuses,
                      [&](MPI_Request* handles, int* d, int* i, MPI_Status* s) {
                        return host_mpi().Request_get_status_some(count, handles, d, i, s);
                      });
}

int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (!any_of_ours(count, requests)) {
    return host_mpi().Request_get_status_all(count, requests, flag, statuses);
  }
  HostPart part(count, requests);
  return look_at_all(part, nullptr, count, flag, statuses,
                     [&](MPI_Request* handles, int* f, MPI_Status* s) {
                       return host_mpi().Request_get_status_all(count, handles, f, s);
                     });
}

#endif

}  // namespace oriel::mpi
