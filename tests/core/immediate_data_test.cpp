// SPDX-License-Identifier: BSD-3-Clause
// Messages that go behind direct writes as immediate data (N5): in their places among packets,
// whenever a process is told of them; as few messages as it takes; nothing behind a write that
// fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using ArrivalOrder = SimNetwork::ArrivalOrder;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(ImmediateFormat, GivesBackWhatItWasGiven) {
  EXPECT_FALSE(ImmediateFormat(0).usable());
  EXPECT_FALSE(ImmediateFormat(2).usable());
  for (const std::size_t bytes : {4u, 8u}) {
    const ImmediateFormat format(bytes);
    ASSERT_TRUE(format.usable());
    const std::uint32_t sender = bytes == 4 ? 4095 : 0xffffffff;
    EXPECT_TRUE(format.names(sender));
    EXPECT_EQ(format.names(4096), bytes == 8);
    // Numbers wrap, and only their low bits travel.
    for (const std::uint32_t taken : {0u, 1022u, 1023u, 1u << 22, 0xfffffffeu, 0xffffffffu}) {
      for (const std::uint32_t ahead : {1u, 2u, 500u}) {
        const std::uint64_t packed = format.pack({sender, taken + ahead, MessageCodes::most});
        EXPECT_TRUE(bytes == 8 || packed >> 32 == 0);
        const ImmediateData data = format.unpack(packed);
        EXPECT_EQ(data.sender, sender);
        EXPECT_EQ(data.code, MessageCodes::most);
        EXPECT_EQ(format.sequence_after(taken, data.sequence), taken + ahead);
      }
    }
  }
}

TEST(MessageCodes, AreGivenAgainWhenAllAreInUse) {
  SentCodes given;
  ReceivedCodes heard;
  for (std::uint32_t i = 0; i < 3 * MessageCodes::most; ++i) {
    const std::string text = "message " + std::to_string(i);
    const SentCodes::Code code = given.code_of(bytes_of(text));
    ASSERT_FALSE(code.known);
    ASSERT_EQ(code.number, i % MessageCodes::most + 1);
    heard.keep(code.number, bytes_of(text));
    const SentCodes::Code again = given.code_of(bytes_of(text));
    ASSERT_TRUE(again.known);
    ASSERT_EQ(again.number, code.number);
    ASSERT_TRUE(std::ranges::equal(heard.message(code.number), bytes_of(text)));
  }
  EXPECT_FALSE(given.code_of(bytes_of("message 0")).known);
}

TEST(MessageCodes, BelieveNothing) {
  ReceivedCodes heard;
  const std::string text(MessageCodes::longest + 1, 'x');
  heard.keep(1, bytes_of(text));
  heard.keep(0, bytes_of("zero"));
  heard.keep(MessageCodes::most + 1, bytes_of("far"));
  for (const std::uint32_t code : {0u, 1u, MessageCodes::most, MessageCodes::most + 1}) {
    EXPECT_TRUE(heard.message(code).empty());
  }
  EXPECT_FALSE(SentCodes::fits(bytes_of(text)));
}

TEST(InOrder, TakesEachOnce) {
  using Turn = InOrder<int>::Turn;
  InOrder<int> order;
  const auto offer = [&](std::uint32_t sequence) {
    int item = static_cast<int>(sequence);
    return order.offer(sequence, item);
  };
  EXPECT_EQ(offer(0), Turn::never);
  EXPECT_EQ(offer(1), Turn::now);
  EXPECT_EQ(offer(1), Turn::never);
  EXPECT_EQ(offer(4), Turn::later);
  EXPECT_EQ(offer(4), Turn::never);
  EXPECT_EQ(offer(3), Turn::later);
  EXPECT_FALSE(order.next());
  EXPECT_EQ(offer(2), Turn::now);
  EXPECT_EQ(order.next(), 3);
  EXPECT_EQ(order.next(), 4);
  EXPECT_FALSE(order.next());
  EXPECT_EQ(offer(100000), Turn::never);
  EXPECT_EQ(offer(6), Turn::later);
  EXPECT_EQ(order.drop(), std::vector{6});
  EXPECT_EQ(offer(5), Turn::now);
  EXPECT_FALSE(order.next());
}

/// How many bytes of immediate data there are, and when a process is told of it.
struct Manners {
  std::size_t bytes;
  ArrivalOrder order;
};

class DirectNotification : public ::testing::TestWithParam<Manners> {
 protected:
  static constexpr std::int64_t words = 12;

  DirectNotification() : job_({0, 1}, false, limits()) {
    job_.network().set_immediate_data(GetParam().bytes, GetParam().order);
    SimWindowSpec spec;
    spec.bytes = words * 8;
    spec.direct = true;
    job_.create_window(spec);
    // Something has come from the target.
    notify(1, 0, 1);
    notify(0, 1, 1);
    flush();
    job_.run_until_idle();
    EXPECT_EQ(take(), 1);
  }
  static Limits limits() {
    Limits limits;
    limits.direct = 16;
    limits.direct_run = 8;
    limits.direct_fragment = 16;
    return limits;
  }
  void notify(int from, int to, std::int32_t tag, std::uint64_t count = 1) {
    Operation operation = on_word(OperationKind::put, values_.data(), to);
    operation.target_count = operation.origin.count = count;
    operation.notify_arg = {NotifyKind::tag, tag, operation.bytes()};
    issue(job_.window(from), operation);
  }
  void flush() {
    PostedCall flushed;
    flushed.take(job_.window(0).epochs().flush_notified(&flushed));
    job_.run_until_idle();
    ASSERT_TRUE(flushed.done());
  }
  /// The tag of the oldest one that is there; -1: there is none.
  std::int32_t take() {
    NotifyRequest next(NotifyPattern{0, any}, 1);
    Notifications& notifications = job_.window(1).notifications();
    if (notifications.find_kept(next.pattern()) == nullptr) return -1;
    notifications.start(next);
    return next.last().tag;
  }
  bool immediate() const { return GetParam().bytes != 0; }
  std::uint64_t named() { return job_.transport(0).named(); }

  std::vector<std::uint64_t> values_ = std::vector<std::uint64_t>(words, 5);
  SimJob job_;
};

/// Those that are told by immediate data.
class ImmediateNotification : public DirectNotification {};

const auto case_name_of = [](const auto& manners) {
  return "Case" + std::to_string(manners.index);
};
const auto immediate_manners = ::testing::Values(
    Manners{4, ArrivalOrder::in_order}, Manners{4, ArrivalOrder::immediate_first},
    Manners{8, ArrivalOrder::immediate_first}, Manners{8, ArrivalOrder::immediate_last});

INSTANTIATE_TEST_SUITE_P(Message, DirectNotification,
                         ::testing::Values(Manners{0, ArrivalOrder::in_order}), case_name_of);
INSTANTIATE_TEST_SUITE_P(Immediate, DirectNotification, immediate_manners, case_name_of);
INSTANTIATE_TEST_SUITE_P(Immediate, ImmediateNotification, immediate_manners, case_name_of);

// Short ones are collected, long ones go at once; and a code is told of before it is used.
TEST_P(DirectNotification, ArrivesAmongTheOthersInOrder) {
  constexpr int each = 2000;  // more than there are codes
  for (int tag = 0; tag < each; ++tag) {
    notify(0, 1, tag, tag % 3 == 0 ? 1 : words);
    if (tag % 100 == 99) flush();
  }
  for (int tag = 0; tag < each; ++tag) ASSERT_EQ(take(), tag);
  EXPECT_EQ(take(), -1);
  EXPECT_EQ(named() != 0, immediate());
}

// What the target sees when the origin's flush returns, without another sweep.
TEST_P(DirectNotification, IsThereWhenAFlushReturns) {
  for (int tag = 0; tag < 5; ++tag) {
    values_[words - 1] = static_cast<std::uint64_t>(tag);
    notify(0, 1, tag, words);
    flush();
    EXPECT_EQ(take(), tag);
    EXPECT_EQ(reinterpret_cast<std::uint64_t*>(job_.memory(1))[words - 1], values_[words - 1]);
  }
}

TEST_P(DirectNotification, IsNoMessageOnceItsCodeIsKnown) {
  notify(0, 1, 3, words);
  flush();
  const std::uint64_t messages = job_.transport(0).messages_sent();
  const std::uint64_t before = named();
  for (int i = 0; i < 10; ++i) notify(0, 1, 3, words);
  job_.run_until_idle();
  EXPECT_EQ(job_.transport(0).messages_sent() - messages, immediate() ? 0 : 10);
  EXPECT_EQ(named() - before, immediate() ? 10 : 0);
  for (int i = 0; i < 11; ++i) EXPECT_EQ(take(), 3);
  EXPECT_EQ(take(), -1);
}

// Five runs are more than one write takes; and who waits for the end of an epoch gives the network
// a piece at a time.
TEST_P(DirectNotification, OfManyWritesTellsWhenAllAreThere) {
  const LayoutRef gaps(
      new Layout({{0, 8}, {16, 8}, {32, 8}, {48, 8}, {64, 8}}, words * 8, Basic::u64));
  const auto* memory = reinterpret_cast<const std::uint64_t*>(job_.memory(1));
  for (const bool closed : {false, true}) {
    for (std::uint64_t& value : values_) ++value;
    Operation operation = on_word(OperationKind::put, values_.data(), 1);
    operation.origin.layout = operation.target_layout = gaps;
    operation.notify_arg = {NotifyKind::tag, 7, operation.bytes()};
    PostedCall unlocked;
    if (closed) {
      ASSERT_EQ(job_.window(0).lock(true, 1, {}), Error::none);
    }
    issue(job_.window(0), operation);
    if (closed) unlocked.take(job_.window(0).unlock(1, &unlocked));
    int deliveries = 0;
    for (int steps = 0; steps < 100; ++steps) {
      job_.process(0).sweep();
      const auto routes = job_.network().under_way();
      if (!routes.empty()) job_.network().deliver(routes.front());
      job_.process(1).sweep();
      if (take() < 0) continue;
      ++deliveries;
      for (std::size_t i = 0; i < 10; i += 2) ASSERT_EQ(memory[i], values_[i]);
    }
    EXPECT_EQ(deliveries, 1);
    EXPECT_EQ(unlocked.done(), closed);
  }
}

// A network that fails so has lost the process: nothing else arrives either.
TEST_P(ImmediateNotification, TellsNothingOfAWriteThatFails) {
  notify(0, 1, 3, words);
  flush();
  ASSERT_EQ(take(), 3);
  job_.network().set_failing(true);
  notify(0, 1, 4, words);
  job_.run_until_idle();
  EXPECT_EQ(take(), -1);
}

}  // namespace
}  // namespace oriel::test
