// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "support/stress/job.hpp"

namespace stress {

/// An operation that has been issued and is not known to be complete.
struct Operation {
  Goal goal{};
  Handle by{};
  // What it touches of the area; nothing that others of this thread must keep away from: no bytes.
  MPI_Aint at = 0;
  MPI_Aint bytes = 0;
  bool writes = false;
  Bytes buffer{};    // of the origin
  Bytes expected{};  // in it, when a get is complete
  MPI_Request request = MPI_REQUEST_NULL;
  bool told = false;  // its request tells that it is complete at the target
};

/// One thread's operations under way.
class Pending {
 public:
  explicit Pending(Job& job) : job_(job) {}

  Operation& add(Operation operation) {
    operations_.push_back(std::move(operation));
    return operations_.back();
  }
  /// Whether something under way touches what this one is to touch, in no order with it.
  bool in_the_way_of(const Operation& next) const {
    return std::any_of(operations_.begin(), operations_.end(), [&](const Operation& each) {
      return same(each.goal, next.goal) && (each.writes || next.writes) &&
             each.at < next.at + next.bytes && next.at < each.at + each.bytes &&
             !(each.by.ordered && each.by.number == next.by.number);
    });
  }
  /// A flush or the end of an epoch has completed all operations to this rank, or to all.
  void complete(int window, int target = every) {
    for (Operation& each : operations_) {
      if (meant(each, window, target)) finish(each);
    }
    drop([&](const Operation& each) { return meant(each, window, target); });
  }
  /// They are complete here: buffers may be used again.
  void complete_here(int window, int target = every) {
    for (Operation& each : operations_) {
      if (!meant(each, window, target)) continue;
      if (each.request == MPI_REQUEST_NULL) use_again(each);
    }
    drop([&](const Operation& each) {
      return meant(each, window, target) && !each.writes && each.request == MPI_REQUEST_NULL;
    });
  }
  /// All that have requests.
  void wait(bool by_tests) {
    std::vector<MPI_Request> requests;
    std::vector<Operation*> waiting;
    for (Operation& each : operations_) {
      if (each.request == MPI_REQUEST_NULL) continue;
      requests.push_back(std::exchange(each.request, MPI_REQUEST_NULL));
      waiting.push_back(&each);
    }
    const auto count = static_cast<int>(requests.size());
    int done = 0;
    while (by_tests && !done) {
      MUST(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE));
    }
    if (!by_tests) MUST(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    for (Operation* each : waiting) use_again(*each);
    // Gets are over, and what was told at the target is there.
    drop([&](const Operation& each) {
      const bool waited = std::find(waiting.begin(), waiting.end(), &each) != waiting.end();
      return waited && (each.told || !each.writes);
    });
  }
  bool empty() const { return operations_.empty(); }

  static constexpr int every = -1;

 private:
  static bool same(Goal a, Goal b) { return a.region == b.region && a.target == b.target; }
  bool meant(const Operation& each, int window, int target) const {
    return job_.region(each.goal.region).window == window &&
           (target == every || each.goal.target == target);
  }
  template <class Which>
  void drop(Which&& which) {
    // In two steps: `which` may ask for addresses, so nothing moves before all have been asked.
    std::vector<bool> gone;
    for (const Operation& each : operations_) gone.push_back(which(each));
    std::size_t i = 0;
    std::erase_if(operations_, [&](const Operation&) { return gone[i++]; });
  }
  void finish(Operation& each) {
    if (each.request != MPI_REQUEST_NULL) MUST(MPI_Wait(&each.request, MPI_STATUS_IGNORE));
    use_again(each);
  }
  /// The result of a get is looked at; what a put has read is spoilt, so that a late look shows.
  void use_again(Operation& each) {
    if (each.expected.empty()) {
      std::fill(each.buffer.begin(), each.buffer.end(), std::byte{0xdd});
      return;
    }
    here().operation = "get";
    expect_bytes(std::string(job_.region(each.goal.region).name) + " of rank " +
                     std::to_string(each.goal.target) + " at " + std::to_string(each.at),
                 each.buffer.data(), each.expected.data(), each.expected.size());
    each.expected.clear();
    each.bytes = 0;
  }

  Job& job_;
  std::vector<Operation> operations_;
};

}  // namespace stress
