// SPDX-License-Identifier: BSD-3-Clause
// Several threads of each rank operate in one epoch, with the lock of their process only where the
// hot paths decline, as the MPI layer does it (G8): for ThreadSanitizer, and against what the sums
// and the words of each thread have to be.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr int rank_count = 2;
constexpr int threads = 3;
constexpr int rounds = 8000;
constexpr std::uint64_t words_each = 4;  // of a thread's own in each window
constexpr std::uint64_t sums = 600;      // more than are updated one by one
constexpr std::uint64_t first_sum = rank_count * threads * words_each;
constexpr std::uint64_t wholes = 3;  // replaced, all of them, by one number
constexpr std::uint64_t first_whole = first_sum + sums;

struct ThreadsCase {
  const char* name;
  Path path;
  std::uint64_t pieces;
};

class SeveralThreads : public ::testing::TestWithParam<ThreadsCase> {
 protected:
  SeveralThreads() {
    SimWindowSpec spec;
    spec.bytes = 8 * (first_whole + wholes);
    spec.memory.assign(rank_count, GetParam().path);
    spec.pieces = GetParam().pieces;
    job_.create_window(spec);
    job_.create_window(spec);
  }

  SimJob job_{std::vector<int>(rank_count, 0), true};
  std::array<std::mutex, rank_count> locks_;
  /// Updates of all sums, and of the first one, of each rank.
  std::array<std::atomic<std::uint64_t>, rank_count> all_{};
  std::array<std::atomic<std::uint64_t>, rank_count> first_{};

  friend class Caller;
};

/// One thread of one rank.
class Caller {
 public:
  Caller(SeveralThreads& test, int rank, int thread)
      : test_(test),
        rank_(rank),
        own_(static_cast<std::uint64_t>(rank * threads + thread) * words_each),
        line_(test.job_.network().threads(rank).lines[static_cast<std::size_t>(thread)]),
        random_(static_cast<std::uint64_t>(rank * threads + thread) + 1) {
    line_.number = static_cast<std::uint32_t>(thread);
  }

  void play() {
    for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
      const int target = random_.below(rank_count);
      switch (random_.below(10)) {
        case 0:
          add_to_all(target);
          break;
        case 9:
          replace_whole(target);
          break;
        case 1:
          read(target);
          break;
        case 2:
          elsewhere(target);
          break;
        case 3:
        case 4:
          add(target);
          break;
        case 5:
          put_scattered(target);
          break;
        default:
          put(target);
      }
      if (random_.chance(70)) flush(target);
      if (random_.chance(10)) flush_all();
    }
    for (int target = 0; target < rank_count; ++target) flush(target);
  }

 private:
  Window& window(int index = 0) { return test_.job_.window(rank_, index); }
  std::mutex& lock() { return test_.locks_[static_cast<std::size_t>(rank_)]; }
  std::int64_t place(int target, std::uint64_t word) {
    return test_.job_.displacement(target, 0, 8 * word);
  }

  void put(int target) {
    const auto word = static_cast<std::uint64_t>(random_.below(words_each));
    const std::uint64_t value = ++mine_[static_cast<std::size_t>(target)][word];
    const std::int64_t displacement = place(target, own_ + word);
    if (std::byte* where = window().find_address(target, displacement, 8)) {
      std::memcpy(where, &value, 8);
      return;
    }
    std::uint64_t copied = value;
    if (window().try_copy(true, target, displacement, &copied, 8)) return;
    const std::lock_guard guard(lock());
    issue(window(), on_word(OperationKind::put, &value, target, displacement));
  }

  /// To every second word of its own.
  void put_scattered(int target) {
    static const LayoutRef scattered(new Layout({{0, 8}, {16, 8}}, 32, Basic::u64));
    std::array<std::uint64_t, 3> values{};
    for (const std::uint64_t word : {0U, 2U}) {
      values[word] = ++mine_[static_cast<std::size_t>(target)][word];
    }
    Operation operation = on_word(OperationKind::put, values.data(), target, place(target, own_));
    operation.target_layout = operation.origin.layout = scattered;
    if (window().try_move(true, target, operation.displacement, operation.target_elements(),
                          values.data(), operation.origin.elements())) {
      return;
    }
    const std::lock_guard guard(lock());
    issue(window(), operation);
  }

  void read(int target) {
    flush(target);
    const auto word = static_cast<std::uint64_t>(random_.below(words_each));
    std::uint64_t found = 0;
    const std::int64_t displacement = place(target, own_ + word);
    if (const std::byte* where = window().find_address(target, displacement, 8)) {
      std::memcpy(&found, where, 8);
    } else if (!window().try_copy(false, target, displacement, &found, 8)) {
      const std::lock_guard guard(lock());
      Operation get = on_word(OperationKind::get, nullptr, target, displacement);
      get.result = get.origin;
      get.result.address = &found;
      get.origin = {};
      issue(window(), get);
    }
    EXPECT_EQ(found, mine_[static_cast<std::size_t>(target)][word]);
  }

  void add(int target) {
    test_.first_[static_cast<std::size_t>(target)].fetch_add(1, std::memory_order_relaxed);
    const Reduction sum{Op::sum, Basic::u64, 8};
    const std::int64_t displacement = place(target, first_sum);
    if (window().try_reduce(&line_, target, displacement, sum, &one_, nullptr, 1)) return;
    const std::lock_guard guard(lock());
    Operation operation = on_word(OperationKind::accumulate, &one_, target, displacement);
    operation.line = &line_;
    issue(window(), operation);
  }

  /// So many that they are updated alone.
  void add_to_all(int target) {
    test_.all_[static_cast<std::size_t>(target)].fetch_add(1, std::memory_order_relaxed);
    const Reduction sum{Op::sum, Basic::u64, 8};
    if (window().try_reduce(&line_, target, place(target, first_sum), sum, ones_.data(), nullptr,
                            sums)) {
      return;
    }
    Operation operation =
        on_word(OperationKind::accumulate, ones_.data(), target, place(target, first_sum));
    operation.target_count = operation.origin.count = sums;
    if (random_.chance(70)) operation.line = &line_;
    const std::lock_guard guard(lock());
    issue(window(), operation);
  }

  /// One call replaces and fetches several words: all of them as another such call has left them.
  void replace_whole(int target) {
    const std::vector<std::uint64_t> numbers(wholes, random_.below(1000));
    std::vector<std::uint64_t> found(wholes);
    const Reduction replace{Op::replace, Basic::u64, 8};
    const std::int64_t displacement = place(target, first_whole);
    if (!window().try_reduce(&line_, target, displacement, replace, numbers.data(), found.data(),
                             wholes)) {
      Operation operation =
          on_word(OperationKind::get_accumulate, numbers.data(), target, displacement);
      operation.reduction = replace;
      operation.target_count = operation.origin.count = wholes;
      operation.result = operation.origin;
      operation.result.address = found.data();
      if (random_.chance(70)) operation.line = &line_;
      const std::lock_guard guard(lock());
      issue(window(), operation);
    }
    EXPECT_EQ(found, std::vector<std::uint64_t>(wholes, found[0]));
  }

  /// Another window's epoch, and pieces that come and go.
  void elsewhere(int target) {
    const std::lock_guard guard(lock());
    if (window(1).lock(false, target, {}) != Error::none) return;  // another thread's is open
    test_.job_.churn(rank_, 0);
    const std::uint64_t value = 7;
    issue(window(1), on_word(OperationKind::accumulate, &value, target,
                             test_.job_.displacement(target, 1, 8 * first_sum)));
    finish([&](Completion* posted) { return window(1).unlock(target, posted); });
  }

  void flush(int target) {
    if (window().flushed(target, false)) return;
    const std::lock_guard guard(lock());
    if (window().nothing_pending(target, false)) return;
    finish([&](Completion* posted) { return window().epochs().flush(target, false, posted); });
  }

  void flush_all() {
    if (window().pending().all_flushed()) return;
    const std::lock_guard guard(lock());
    finish([&](Completion* posted) {
      return window().epochs().flush_all(random_.chance(50), posted);
    });
  }

  /// As a blocking call does, with the lock.
  template <typename Call>
  void finish(Call call) {
    PostedCall posted;
    posted.take(call(&posted));
    while (!posted.done()) {
      if (!test_.job_.process(rank_).sweep()) std::this_thread::yield();
    }
  }

  SeveralThreads& test_;
  int rank_;
  std::uint64_t own_;  // its first word in each rank's window
  ThreadLine& line_;
  Random random_;
  std::array<std::array<std::uint64_t, words_each>, rank_count> mine_{};  // what they hold
  std::uint64_t one_ = 1;
  std::vector<std::uint64_t> ones_ = std::vector<std::uint64_t>(sums, 1);
};

TEST_P(SeveralThreads, DoNotDisturbOneAnother) {
  for (int rank = 0; rank < rank_count; ++rank) {
    job_.network().threads(rank).used = threads;
    ASSERT_EQ(job_.window(rank).lock_all({}), Error::none);
  }
  std::vector<std::thread> running;
  for (int rank = 0; rank < rank_count; ++rank) {
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([this, rank, thread] { Caller(*this, rank, thread).play(); });
    }
  }
  for (std::thread& thread : running) thread.join();
  for (int rank = 0; rank < rank_count; ++rank) {
    ASSERT_TRUE(job_.window(rank).unlock_all(nullptr).done);
  }
  for (int rank = 0; rank < rank_count; ++rank) {
    std::vector<std::uint64_t> found(sums);
    std::memcpy(found.data(), job_.memory(rank) + 8 * first_sum, 8 * sums);
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_EQ(found.front(), first_[at] + all_[at]);
    for (std::size_t i = 1; i < sums; ++i) ASSERT_EQ(found[i], all_[at]) << i;
  }
}

/// Told of a recorded operation while others behind it are still recorded.
class Behind final : public Completion {
 public:
  explicit Behind(Window& window) : window_(window) {}
  void complete(Error error) override {
    EXPECT_EQ(error, Error::none);
    completed_ = true;
    EXPECT_EQ(window_.find_address(1, 0, 8), nullptr)
        << "another thread's put would come in between";
  }
  bool completed() const { return completed_; }

 private:
  Window& window_;
  bool completed_ = false;
};

// Accumulates of one origin take place in its order, and ordered operations (Q2).
TEST(OtherThreads, DoNotOvertakeWhatIsRecorded) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  Window& origin = job.window(0);
  ASSERT_EQ(job.window(1).lock(true, 1, {}), Error::none);
  ASSERT_EQ(origin.lock(true, 1, {}), Error::none);
  const std::array<std::uint64_t, 2> values{1, 2};
  Behind first(origin);
  Operation operation = on_word(OperationKind::put, &values[0], 1);
  operation.completion = &first;
  ASSERT_FALSE(origin.epochs().issue(operation).done);
  issue(origin, on_word(OperationKind::put, &values[1], 1));
  ASSERT_TRUE(job.window(1).unlock(1, nullptr).done);
  job.run_until_idle();
  EXPECT_TRUE(first.completed());
  EXPECT_NE(origin.find_address(1, 0, 8), nullptr);
  EXPECT_TRUE(origin.unlock(1, nullptr).done);
}

// A store that travels in a notification is made before any thread's flush is over, whichever
// thread takes it back (N5).
void wait_for_stores_that_are_taken_back(bool all_targets) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  Window& origin = job.window(0);
  ASSERT_EQ(origin.lock_all({}), Error::none);
  std::uint64_t value = 0;
  issue(origin, on_word(OperationKind::put, &value, 1, 8));
  std::mutex lock;
  const auto flush = [&] {
    if (all_targets ? origin.pending().all_flushed() : origin.flushed(1, false)) return;
    const std::lock_guard guard(lock);
    if (!all_targets && origin.nothing_pending(1, false)) return;
    EXPECT_TRUE((all_targets ? origin.epochs().flush_all(false, nullptr)
                             : origin.epochs().flush(1, false, nullptr))
                    .done);
  };
  constexpr std::uint64_t all = 5;  // each takes seconds under ThreadSanitizer
  std::atomic<std::uint64_t> put{0};
  std::atomic<std::uint64_t> looked{0};
  std::thread other([&] {
    for (std::uint64_t round = 1; round <= all; ++round) {
      while (put.load(std::memory_order_acquire) != round) std::this_thread::yield();
      flush();
      std::uint64_t found = 0;
      std::memcpy(&found, job.memory(1), sizeof found);
      EXPECT_EQ(found, round);
      looked.store(round, std::memory_order_release);
    }
  });
  const NotifyArg notify_arg{NotifyKind::tag, 1, 8};
  for (std::uint64_t round = 1; round <= all; ++round) {
    value = round - 1;
    // Until stores are inlined again, which they are not for a while after a flush.
    while (origin.peer(1).postponed.load() == 0) {
      const std::lock_guard guard(lock);
      if (!origin.put_notified(1, 0, &value, sizeof value, notify_arg)) job.process(1).sweep();
    }
    value = round;
    while (true) {
      const std::lock_guard guard(lock);
      if (origin.put_notified(1, 0, &value, sizeof value, notify_arg)) break;
      job.process(1).sweep();
    }
    put.store(round, std::memory_order_release);
    flush();
    while (looked.load(std::memory_order_acquire) != round) std::this_thread::yield();
  }
  other.join();
  EXPECT_TRUE(origin.unlock_all(nullptr).done);
}

TEST(OtherThreads, WaitForStoresThatAreTakenBack) {
  wait_for_stores_that_are_taken_back(false);
}

TEST(OtherThreads, WaitForStoresOfAllTargetsThatAreTakenBack) {
  wait_for_stores_that_are_taken_back(true);
}

/// The lines of rank 0's process, with two threads.
ThreadLines& two_threads(SimJob& job) {
  ThreadLines& lines = job.network().threads(0);
  lines.used = 2;
  lines.lines[1].number = 1;
  return lines;
}

// A thread that has come to update alone goes on so, without the lock: long accumulates as well.
TEST(OtherThreads, LeaveAThreadItsRightToBeAlone) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 8 * sums;
  job.create_window(spec);
  Window& origin = job.window(0);
  ThreadLines& lines = two_threads(job);
  ASSERT_EQ(origin.lock_all({}), Error::none);
  const std::vector<std::uint64_t> ones(sums, 1);
  const Reduction sum{Op::sum, Basic::u64, 8};
  const auto add = [&](int thread, std::uint64_t count) {
    return origin.try_reduce(&lines.lines[static_cast<std::size_t>(thread)], 1, 0, sum, ones.data(),
                             nullptr, count);
  };
  issue(origin, on_word(OperationKind::put, ones.data(), 1, 8));
  EXPECT_FALSE(add(0, 1)) << "nobody has the right yet";
  Operation first = on_word(OperationKind::accumulate, ones.data(), 1);
  first.line = &lines.lines[0];
  issue(origin, first);
  EXPECT_TRUE(add(0, 1));
  EXPECT_TRUE(add(0, sums));
  EXPECT_FALSE(add(1, 1)) << "another thread is another updater";
  Operation second = first;
  second.line = &lines.lines[1];
  issue(origin, second);
  EXPECT_TRUE(add(0, 1));
  EXPECT_TRUE(add(1, 1));
  EXPECT_FALSE(add(1, sums)) << "both update now, element by element";
  EXPECT_TRUE(origin.unlock_all(nullptr).done);
}

// Private memory is updated by whoever is alone, so each thread without the lock where it has a
// target for itself.
TEST(OtherThreads, UpdatePrivateMemoryThatNobodyElseUpdates) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 8 * sums;
  spec.memory.assign(2, Path::system_call);
  job.create_window(spec);
  Window& origin = job.window(0);
  ThreadLines& lines = two_threads(job);
  ASSERT_EQ(origin.lock_all({}), Error::none);
  const std::vector<std::uint64_t> ones(sums, 1);
  std::vector<std::uint64_t> found(sums);
  const auto update = [&](int thread, std::uint64_t count, Op op = Op::sum,
                          std::uint64_t word = 1) {
    return origin.try_reduce(&lines.lines[static_cast<std::size_t>(thread)], 1,
                             static_cast<std::int64_t>(8 * word), {op, Basic::u64, 8}, ones.data(),
                             found.data(), count);
  };
  const auto memory = [&](std::size_t word) {
    std::uint64_t value = 0;
    std::memcpy(&value, job.memory(1) + 8 * word, sizeof value);
    return value;
  };
  Operation first = on_word(OperationKind::accumulate, ones.data(), 1, 8);
  first.line = &lines.lines[0];
  EXPECT_FALSE(update(0, 1)) << "the way to the target is not open";
  issue(origin, first);
  EXPECT_TRUE(update(0, 2));
  EXPECT_EQ(found[0], 1U);
  EXPECT_TRUE(update(0, 2, Op::no_op));
  EXPECT_EQ(found[0], 2U);
  EXPECT_EQ(found[1], 1U);
  EXPECT_EQ(memory(1), 2U);
  EXPECT_EQ(memory(2), 1U);
  EXPECT_TRUE(update(0, 1, Op::no_op, sums - 1));
  EXPECT_FALSE(update(0, 2, Op::no_op, sums - 1)) << "beyond the window";
  EXPECT_FALSE(update(0, 129, Op::no_op)) << "more than the hot path copies";
  const std::uint64_t expected = 2;
  const std::uint64_t swapped = 40;
  std::uint64_t before = 0;
  EXPECT_TRUE(origin.try_compare_swap(&lines.lines[0], 1, 8, {Op::replace, Basic::u64, 8}, &swapped,
                                      &expected, &before));
  EXPECT_EQ(before, 2U);
  EXPECT_EQ(memory(1), 40U);
  EXPECT_FALSE(update(1, 1)) << "another thread is another updater";
  Operation second = first;
  second.line = &lines.lines[1];
  issue(origin, second);
  EXPECT_TRUE(update(1, 1));
  EXPECT_TRUE(update(0, 1)) << "both in turn";
  EXPECT_EQ(memory(1), 43U);
  EXPECT_TRUE(origin.unlock_all(nullptr).done);
}

INSTANTIATE_TEST_SUITE_P(Windows, SeveralThreads,
                         ::testing::Values(ThreadsCase{"Mapped", Path::load_store, 0},
                                           ThreadsCase{"Dynamic", Path::load_store, 3},
                                           ThreadsCase{"Pieces", Path::load_store, 16},
                                           ThreadsCase{"Private", Path::system_call, 0},
                                           ThreadsCase{"DynamicPrivate", Path::system_call, 3}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace oriel::test
