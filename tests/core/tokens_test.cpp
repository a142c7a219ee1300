// SPDX-License-Identifier: BSD-3-Clause
// Replies and transfers name the operation that they belong to. One that comes when that is over
// names nothing, although its record has another operation in it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/base/pool.hpp"
#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

struct Thing {
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;
  void reset() {}
};

TEST(Tokens, NameOneUseOfAnObject) {
  Pool<Thing> pool;
  Thing& first = pool.acquire();
  const std::uint64_t token = pool.token(first);
  EXPECT_NE(token, 0u);
  EXPECT_EQ(pool.find(token), &first);
  pool.release(first);
  EXPECT_EQ(pool.find(token), nullptr);
  EXPECT_EQ(pool.find(pool.token(first)), nullptr) << "made up for an object that is not in use";
  Thing& second = pool.acquire();
  ASSERT_EQ(&second, &first);
  EXPECT_EQ(pool.find(token), nullptr);
  EXPECT_EQ(pool.find(pool.token(second)), &second);
  EXPECT_EQ(pool.find(pool.token(second) + 100000), nullptr);
}

TEST(Tokens, ATransferToldTwiceEndsNoOther) {
  Limits limits;
  limits.direct = 0;
  limits.direct_run = 0;
  SimJob job({0, 1}, false, limits);
  SimWindowSpec spec;
  spec.bytes = 2 * sizeof(std::uint64_t);
  spec.direct = true;
  job.create_window(spec);
  std::uint64_t value = 7;
  ASSERT_EQ(job.window(0).lock(true, 1, {}), Error::none);
  PostedCall first;
  issue(job.window(0), on_word(OperationKind::put, &value, 1));
  first.take(job.window(0).epochs().flush(1, false, &first));
  job.run_until_idle();
  ASSERT_TRUE(first.done());

  PostedCall second;
  issue(job.window(0), on_word(OperationKind::put, &value, 1, 8));
  second.take(job.window(0).epochs().flush(1, false, &second));
  job.network().repeat_report(0);
  job.process(0).sweep();
  EXPECT_FALSE(second.done()) << "its bytes have not arrived";
  job.run_until_idle();
  EXPECT_TRUE(second.done());
  std::uint64_t found = 0;
  std::memcpy(&found, job.memory(1) + 8, sizeof found);
  EXPECT_EQ(found, 7u);
}

// Rank 1 is the test: it answers the same question twice.
TEST(Tokens, AReplyToAnOperationThatIsOverIsRefused) {
  SimJob job({0, 1});
  SimWindowSpec spec;
  spec.bytes = sizeof(std::uint64_t);
  job.create_window(spec);
  std::uint64_t got = 0;
  Operation get = on_word(OperationKind::get, nullptr, 1);
  get.origin = {};
  get.result = {&got, 1, get.target_layout};

  const auto asked = [&] {
    issue(job.window(0), get);
    EXPECT_FALSE(job.window(0).epochs().flush(1, false, nullptr).done);
    for (const SimNetwork::Route& route : job.network().under_way()) {
      while (job.network().deliver(route)) {
      }
    }
    Message operation;
    for (auto bytes = job.transport(1).receive(); !bytes.empty();
         bytes = job.transport(1).receive()) {
      Message message;
      if (message.read_header(bytes) && message.kind == MessageKind::operation) operation = message;
    }
    return operation;
  };
  const auto answer = [&](const Message& operation, std::uint64_t value) {
    Message reply;
    reply.kind = MessageKind::reply;
    reply.origin = 1;
    reply.word = operation.word;
    reply.fetched = reply.data = sizeof value;
    return job.window(0).deliver(reply, std::as_bytes(std::span(&value, 1)));
  };
  ASSERT_EQ(job.window(0).lock(true, 1, no_check()), Error::none);
  const Message first = asked();
  EXPECT_TRUE(answer(first, 5));
  EXPECT_EQ(got, 5u);
  const Message second = asked();
  EXPECT_FALSE(answer(first, 6));
  EXPECT_EQ(got, 5u);
  EXPECT_TRUE(answer(second, 8));
  EXPECT_EQ(got, 8u);
}

}  // namespace
}  // namespace oriel::test
