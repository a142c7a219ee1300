// SPDX-License-Identifier: BSD-3-Clause
// G12: in a lock epoch that a blocking call has opened, an operation with a result
// waits for the lock of its mapped target, and has its result when it returns. Nonblocking calls
// never make it wait.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "engine/progress/waiting.hpp"
#include "support/calls.hpp"
#include "support/sim_ranks.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t stored = 7;

/// An operation of any kind on the word of rank 1. It reads and compares with `stored`, or adds or
/// stores `origin`.
Operation on_word_of_rank_1(OperationKind kind, std::uint64_t& origin, std::uint64_t& result) {
  Operation operation = on_word(kind, &origin, 1);
  operation.result = operation.origin;
  operation.result.address = &result;
  operation.compare = &stored;
  operation.reduction.op = Op::sum;
  operation.reduction.basic = Basic::u64;
  operation.reduction.element = sizeof(std::uint64_t);
  return operation;
}

/// The completion of a nonblocking call.
struct Request final : Completion {
  void complete(Error error) override {
    EXPECT_EQ(error, Error::none);
    over = true;
  }
  bool over = false;
};

/// Rank 1 holds its own lock exclusively and has stored a value under it while rank 0 opens epochs.
class AwaitLock : public ::testing::Test {
 protected:
  AwaitLock() : windows_(all_.make_windows()), others_(all_.make_windows()) {}

  Window& window(int rank) { return *windows_[static_cast<std::size_t>(rank)]; }
  Window& other(int rank) { return *others_[static_cast<std::size_t>(rank)]; }
  Engine& engine(int rank) { return all_[rank].engine; }

  /// Runs body() on rank 0 while rank 1 holds its own lock, until `released_`.
  void run(const std::function<void()>& body) {
    all_.run([&](int rank) {
      if (rank == 0) {
        while (!held_) std::this_thread::yield();
        const Guard guard(engine(0).lock);
        body();
        released_ = true;
        return;
      }
      {
        const Guard guard(engine(1).lock);
        ASSERT_EQ(window(1).lock(true, 1, {}), Error::none);
        issue(window(1), on_word(OperationKind::put, &stored, 1));
      }
      held_ = true;
      while (!released_) std::this_thread::yield();
      const Guard guard(engine(1).lock);
      EXPECT_TRUE(window(1).unlock(1, nullptr).done);
    });
  }
  /// Waits as a call of rank 0 does, issues the operation, and returns its result.
  std::uint64_t result_of(OperationKind kind) {
    origin_ = 1;
    result_ = 0;
    const Operation operation = on_word_of_rank_1(kind, origin_, result_);
    EXPECT_FALSE(await_lock(engine(0), window(0), operation));
    EXPECT_TRUE(window(0).epochs().issue(operation).ok());
    return result_;
  }
  /// A get of rank 0 from rank 1.
  Operation get() { return on_word_of_rank_1(OperationKind::get, origin_, result_); }
  void unlock(Window& locked) {
    released_ = true;
    EXPECT_FALSE(block(engine(0), locked, {WaitReason::unlock, 1},
                       [&](Completion* completion) { return locked.unlock(1, completion); }));
  }
  void unlock_all() {
    released_ = true;
    EXPECT_FALSE(block(engine(0), window(0), {WaitReason::unlock},
                       [&](Completion* completion) { return window(0).unlock_all(completion); }));
  }
  /// Lets rank 1 give its lock back when rank 0 waits for it, or has closed its epoch.
  std::thread release_when_awaited() {
    return std::thread([this] {
      ShmTransport& node = all_[1].running().transports.shm();
      const int waits = window(1).member(0).process;
      while (!released_ && !node.wait_sign(waits).read().has_value()) std::this_thread::yield();
      released_ = true;
    });
  }

  SimRanks all_{2};
  std::vector<Window*> windows_;
  std::vector<Window*> others_;
  std::uint64_t origin_ = 0;
  std::uint64_t result_ = 0;
  std::atomic<bool> held_{false};
  std::atomic<bool> released_{false};
};

TEST_F(AwaitLock, ResultsAreThere) {
  for (const OperationKind kind :
       {OperationKind::get, OperationKind::get_accumulate, OperationKind::compare_and_swap}) {
    held_ = released_ = false;
    std::thread releasing = release_when_awaited();
    run([&] {
      ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
      EXPECT_EQ(result_of(kind), stored) << name_of(kind);
      unlock(window(0));
    });
    releasing.join();
  }
}

// Its locks are out of the order: rank 1 may hold the awaited one and wait for a later one of ours.
TEST_F(AwaitLock, LockAllDoesNotWait) {
  run([&] {
    ASSERT_EQ(window(0).lock_all({}), Error::none);
    result_of(OperationKind::get);
    EXPECT_FALSE(released_);
    unlock_all();
    EXPECT_EQ(result_, stored);
  });
}

// A put before the get is carried out first, at its place.
TEST_F(AwaitLock, OperationsKeepTheirOrder) {
  std::thread releasing = release_when_awaited();
  run([&] {
    const std::uint64_t value = 9;
    ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
    issue(window(0), on_word(OperationKind::put, &value, 1));
    EXPECT_EQ(result_of(OperationKind::get), value);
    unlock(window(0));
  });
  releasing.join();
}

TEST_F(AwaitLock, OperationsWithoutAResultDoNotWait) {
  run([&] {
    ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
    for (const OperationKind kind : {OperationKind::put, OperationKind::accumulate})
      result_of(kind);
    EXPECT_FALSE(released_);
    unlock(window(0));
  });
}

// A request or notification reports the completion.
TEST_F(AwaitLock, RequestsAndNotificationsDoNotWait) {
  run([&] {
    ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
    Request request;
    Operation operation = get();
    operation.completion = &request;
    EXPECT_FALSE(window(0).awaits_lock(operation));
    operation.completion = nullptr;
    EXPECT_TRUE(window(0).awaits_lock(operation));
    operation.notify_arg = {NotifyKind::tag, 1, 8};
    EXPECT_FALSE(window(0).awaits_lock(operation));
    unlock(window(0));
  });
}

TEST_F(AwaitLock, EpochsOfNonblockingCallsDoNotWait) {
  run([&] {
    ASSERT_EQ(window(0).lock(true, 1, {.nonblocking = true}), Error::none);
    EXPECT_FALSE(window(0).awaits_lock(get()));
    unlock(window(0));
  });
}

// The epoch is deferred behind one that the program has closed without waiting.
TEST_F(AwaitLock, EpochsBehindAPendingOneDoNotWait) {
  run([&] {
    Request request;
    ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
    ASSERT_FALSE(window(0).unlock(1, &request).done);
    ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
    EXPECT_FALSE(window(0).awaits_lock(get()));
    unlock(window(0));
    EXPECT_TRUE(request.over);
  });
}

// The lock of the first window comes first (E18): opened by a nonblocking call, or closed by one.
TEST_F(AwaitLock, LocksBehindANonblockingOneDoNotWait) {
  for (const bool opens : {true, false}) {
    held_ = released_ = false;
    run([&] {
      Request request;
      ASSERT_EQ(window(0).lock(true, 1, {.nonblocking = opens}), Error::none);
      ASSERT_EQ(other(0).lock(true, 1, {}), Error::none);
      if (!opens) {
        ASSERT_FALSE(window(0).unlock(1, &request).done);
      }
      EXPECT_FALSE(other(0).awaits_lock(get())) << opens;
      if (opens) unlock(window(0));
      unlock(other(0));
    });
  }
}

// The lock of the first window comes first, and its epoch is deferred behind one that the program
// has closed without waiting.
TEST_F(AwaitLock, LocksBehindADeferredOneDoNotWait) {
  run([&] {
    Request request;
    ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
    ASSERT_FALSE(window(0).unlock(1, &request).done);
    ASSERT_EQ(window(0).lock(true, 1, {}), Error::none);
    ASSERT_EQ(other(0).lock(true, 1, {}), Error::none);
    EXPECT_FALSE(other(0).awaits_lock(get()));
    unlock(window(0));
    unlock(other(0));
    EXPECT_TRUE(request.over);
  });
}

// Between nodes a message fetches the result, and no MPI library waits for it.
TEST(AwaitLockOfARemoteRank, DoesNotWait) {
  SimRanks all({0, 1}, 1);
  const std::vector<Window*> windows = all.make_windows();
  const Guard guard(all[0].engine.lock);
  ASSERT_EQ(windows[0]->lock(true, 1, {}), Error::none);
  std::uint64_t origin = 0;
  std::uint64_t result = 0;
  EXPECT_FALSE(windows[0]->awaits_lock(on_word_of_rank_1(OperationKind::get, origin, result)));
}

}  // namespace
}  // namespace oriel::test
