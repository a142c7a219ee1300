// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress/request_array.hpp"

#include <algorithm>

#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// What a check of a request of Oriel's has found.
struct Checked {
  bool ended = false;  // it is complete, or was not active
  ErrorTaker taker;
  Failure failure;

  /// Raises the failure, if any. Without the process lock.
  int report() const { return report_wait(taker, failure); }
};

/// `handle`: the program's handle, if the check completes the request for the program; null: it
/// does not. With the process lock.
Checked check(OwnRequest& request, MPI_Request* handle, MPI_Status* status) {
  Checked checked;
  checked.ended = !request.active() || request.complete();
  if (!checked.ended) return checked;
  checked.taker = request.error_taker();
  checked.failure =
      handle != nullptr ? own_requests.end(handle, request, status) : request.describe(status);
  return checked;
}

/// Checks one request. Returns false if it is not Oriel's. `handle`: as for check().
bool check_one(MPI_Request request, MPI_Request* handle, int* flag, MPI_Status* status, int& code) {
  if (!own_requests.any()) return false;
  Checked checked;
  {
    const Guard guard(engine.lock);
    OwnRequest* const own = own_requests.find(request);
    if (own == nullptr) return false;
    checked = check(*own, handle, status);
  }
  *flag = checked.ended ? 1 : 0;
  code = checked.report();
  return true;
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// The host tests so many requests in a call for a wait for all of them. MPICH 4.0 aborts if
/// MPI_Testall is given MPI_STATUSES_IGNORE, more than 64 requests, and a message's request behind
/// a generalized one.
constexpr int piece = 64;

}  // namespace

int test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (own_requests.end_complete(request, status)) {
    *flag = 1;
    return MPI_SUCCESS;
  }
  int code = MPI_SUCCESS;
  if (check_one(*request, request, flag, status, code)) return code;
  return host_mpi().Test(request, flag, status);
}

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (own_requests.end_complete(&request, status)) {
    *flag = 1;
    return MPI_SUCCESS;
  }
  int code = MPI_SUCCESS;
  if (check_one(request, nullptr, flag, status, code)) return code;
  return host_mpi().Request_get_status(request, flag, status);
}

RequestArray::RequestArray(int count, MPI_Request* requests) : count_(count), requests_(requests) {
  find_own(requests);
}

#if ORIEL_HOST_STATUS_OF_MANY
// The host only reads the handles, too.
RequestArray::RequestArray(int count, const MPI_Request* requests)
    : count_(count), requests_(const_cast<MPI_Request*>(requests)), ends_(false) {
  find_own(requests);
}
#endif

RequestArray::~RequestArray() {
  std::swap(buffers_, spare);
}

void RequestArray::find_own(const MPI_Request* requests) {
  std::swap(buffers_, spare);
  buffers_.own.clear();
  {
    const Guard guard(engine.lock);
    for (int i = 0; i < count_; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      if (own_requests.is_complete(requests[i])) {
        buffers_.own.push_back({i, nullptr});
      } else if (OwnRequest* own = own_requests.find(requests[i])) {
        buffers_.own.push_back({i, own});
      }
    }
  }
  if (buffers_.own.empty()) return;
  buffers_.handles.assign(requests, requests + count_);
  for (const Own& own : buffers_.own) {
    buffers_.handles[static_cast<std::size_t>(own.index)] = MPI_REQUEST_NULL;
  }
}

/// Copies handles of the host's to the program's array: the host has set some to MPI_REQUEST_NULL.
void RequestArray::give_back(int first, int end) {
  if (buffers_.own.empty()) return;
  auto own = std::ranges::lower_bound(buffers_.own, first, {}, &Own::index);
  for (int i = first; i < end; ++i) {
    if (own != buffers_.own.end() && own->index == i) {
      ++own;
    } else {
      requests_[i] = buffers_.handles[static_cast<std::size_t>(i)];
    }
  }
}

int RequestArray::look(const Own& own, bool& ended, MPI_Status* status) {
  if (own.request != nullptr) {
    Checked checked;
    {
      const Guard guard(engine.lock);
      checked = check(*own.request, ends_ ? requests_ + own.index : nullptr, status);
    }
    ended = checked.ended;
    return checked.report();
  }
  ended = true;
  make_empty(status);
  if (ends_) requests_[own.index] = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int RequestArray::host_any(int* index, int* flag, MPI_Status* status) {
  if (only_own()) {
    *index = MPI_UNDEFINED;
    *flag = 1;
    make_empty(status);
    return MPI_SUCCESS;
  }
#if ORIEL_HOST_STATUS_OF_MANY
  if (!ends_) return host_mpi().Request_get_status_any(count_, handles(), index, flag, status);
#endif
  const int code = host_mpi().Testany(count_, handles(), index, flag, status);
  give_back(0, count_);
  return code;
}

int RequestArray::host_some(int* done, int* indices, MPI_Status* statuses) {
  if (only_own()) {
    *done = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
#if ORIEL_HOST_STATUS_OF_MANY
  if (!ends_) {
    return host_mpi().Request_get_status_some(count_, handles(), done, indices, statuses);
  }
#endif
  const int code = host_mpi().Testsome(count_, handles(), done, indices, statuses);
  give_back(0, count_);
  return code;
}

/// Tests the host's requests from `first` up to `end`.
int RequestArray::host_all(int first, int end, int* flag, MPI_Status* statuses) {
  MPI_Request* const part = handles() + first;
  int code = MPI_SUCCESS;
#if ORIEL_HOST_STATUS_OF_MANY
  if (!ends_) {
    code = host_mpi().Request_get_status_all(end - first, part, flag, at(statuses, first));
  } else
#endif
  {
    code = host_mpi().Testall(end - first, part, flag, at(statuses, first));
    give_back(first, end);
  }
  if (code == MPI_ERR_IN_STATUS && *flag != 0) failed_.emplace_back(first, end);
  return code;
}

int RequestArray::test_any(int* index, int* flag, MPI_Status* status) {
  if (buffers_.own.empty()) return host_any(index, flag, status);
  bool waiting = false;
  const Own* found = nullptr;
  {
    const Guard guard(engine.lock);
    for (const Own& own : buffers_.own) {
      if (own.request != nullptr && !own.request->active()) continue;
      if (own.request == nullptr || own.request->complete()) {
        found = &own;
        break;
      }
      waiting = true;
    }
  }
  if (found != nullptr) {
    bool ended = false;
    *index = found->index;
    *flag = 1;
    return look(*found, ended, status);
  }
  const int code = host_any(index, flag, status);
  // The host may have no active request although Oriel has one.
  if (waiting && code == MPI_SUCCESS && *flag != 0 && *index == MPI_UNDEFINED) *flag = 0;
  return code;
}

int RequestArray::test_some(int* done, int* indices, MPI_Status* statuses) {
  if (buffers_.own.empty()) return host_some(done, indices, statuses);
  // The host's part first: if it fails as a whole, no request has been completed.
  int hosts = 0;
  const int code = host_some(&hosts, indices, statuses);
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
  const bool nothing_active = hosts == MPI_UNDEFINED;
  if (nothing_active) hosts = 0;
  bool waiting = false;
  bool failed = false;
  int found = hosts;
  buffers_.codes.clear();
  for (const Own& own : buffers_.own) {
    bool ended = false;
    {
      const Guard guard(engine.lock);
      if (own.request != nullptr && !own.request->active()) continue;
      ended = own.request == nullptr || own.request->complete();
    }
    waiting |= !ended;
    if (!ended) continue;
    buffers_.codes.push_back(look(own, ended, at(statuses, found)));
    failed |= buffers_.codes.back() != MPI_SUCCESS;
    indices[found++] = own.index;
  }
  *done = nothing_active && found == 0 && !waiting ? MPI_UNDEFINED : found;
  if (code == MPI_SUCCESS && !failed) return MPI_SUCCESS;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (int i = 0; code == MPI_SUCCESS && i < hosts; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    for (int i = hosts; i < found; ++i) {
      statuses[i].MPI_ERROR = buffers_.codes[static_cast<std::size_t>(i - hosts)];
    }
  }
  return MPI_ERR_IN_STATUS;
}

int RequestArray::test_all(int* flag, MPI_Status* statuses) {
  if (buffers_.own.empty()) return host_all(0, count_, flag, statuses);
  *flag = 0;
  {
    const Guard guard(engine.lock);
    for (const Own& own : buffers_.own) {
      if (own.request != nullptr && own.request->active() && !own.request->complete()) {
        return MPI_SUCCESS;
      }
    }
  }
  // No request is completed before all are complete: Oriel's are only checked above, and completed
  // after the host's.
  if (!only_own()) {
    const int code = host_all(0, count_, flag, statuses);
    if ((code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) || *flag == 0) return code;
  }
  *flag = 1;
  return end_own(statuses);
}

int RequestArray::test_rest(int* flag, MPI_Status* statuses) {
  *flag = 0;
  const std::vector<Own>& own = buffers_.own;
  if (next_own_ < own.size()) {
    const Guard guard(engine.lock);
    while (next_own_ < own.size() &&
           (own[next_own_].request == nullptr || !own[next_own_].request->active() ||
            own[next_own_].request->complete())) {
      ++next_own_;
    }
  }
  while (next_ < count_) {
    const int end = std::min(next_ + piece, count_);
    std::size_t own_end = own_before_;
    while (own_end < own.size() && own[own_end].index < end) ++own_end;
    if (own_end - own_before_ < static_cast<std::size_t>(end - next_)) {
      int over = 0;
      const int code = host_all(next_, end, &over, statuses);
      if (over == 0 || (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)) return code;
    }
    next_ = end;
    own_before_ = own_end;
  }
  if (next_own_ < own.size()) return MPI_SUCCESS;
  *flag = 1;
  return end_own(statuses);
}

/// Ends Oriel's requests when all are complete. Sets all error codes if a request has failed.
int RequestArray::end_own(MPI_Status* statuses) {
  std::vector<int>& codes = buffers_.codes;
  codes.clear();
  bool failed = !failed_.empty();
  for (const Own& own : buffers_.own) {
    bool ended = false;
    codes.push_back(look(own, ended, at(statuses, own.index)));
    failed |= codes.back() != MPI_SUCCESS;
  }
  if (!failed) return MPI_SUCCESS;
  if (statuses == MPI_STATUSES_IGNORE) return MPI_ERR_IN_STATUS;
  int first = 0;
  const auto succeeded = [&](int end) {
    for (int i = first; i < end; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
  };
  for (const auto& [begin, end] : failed_) {
    succeeded(begin);
    first = end;
  }
  succeeded(count_);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    statuses[buffers_.own[i].index].MPI_ERROR = codes[i];
  }
  return MPI_ERR_IN_STATUS;
}

}  // namespace oriel::mpi
