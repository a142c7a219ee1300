// SPDX-License-Identifier: BSD-3-Clause
// Control messages that nobody here has sent: malformed, truncated, of another kind, replayed. They
// are refused, touch nothing outside the window, and the job goes on (bounded time; ORIEL_SEEDS=n
// for more).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/packet/packet.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t window_bytes = 256;

Message any_message(Random& random) {
  Message message;
  auto* bytes = reinterpret_cast<unsigned char*>(&message);
  switch (random.below(4)) {
    case 0:  // anything
      for (std::size_t i = 0; i < sizeof message; ++i) {
        bytes[i] = static_cast<unsigned char>(random.below(256));
      }
      if (random.chance(90)) message.version = Message::current_version;
      break;
    case 1:  // something like a message
      message.kind = static_cast<MessageKind>(random.below(13));
      message.gate = static_cast<Gate>(random.below(5));
      message.operation = static_cast<OperationKind>(random.below(7));
      message.op = static_cast<Op>(random.below(14));
      message.basic = static_cast<Basic>(random.below(basic_count + 2));
      // Steps and counts; or the token of an operation that has been made once or twice.
      message.word = static_cast<std::uint64_t>(random.below(4)) << 32 |
                     static_cast<std::uint64_t>(random.below(random.chance(50) ? 3 : 80));
      message.stamp = static_cast<std::uint64_t>(random.below(3));
      message.offset = static_cast<std::uint64_t>(random.below(300));
      message.layout = static_cast<std::uint64_t>(random.below(3));
      message.count = static_cast<std::uint64_t>(random.below(5));
      message.data = static_cast<std::uint32_t>(random.below(100));
      message.fetched = static_cast<std::uint32_t>(random.below(100));
      message.element = static_cast<std::uint32_t>(random.below(20));
      message.exclusive = static_cast<std::uint8_t>(random.below(2));
      message.joins = static_cast<std::uint8_t>(random.below(2));
      message.acknowledge = static_cast<std::uint8_t>(random.below(2));
      message.last = static_cast<std::uint8_t>(random.below(2));
      break;
    case 2:  // a good rendezvous
      message.kind = MessageKind::rendezvous;
      message.gate = Gate::open;
      message.operation = random.chance(50) ? OperationKind::put : OperationKind::get;
      message.count = static_cast<std::uint64_t>(random.between(1, 2 * int{window_bytes}));
      message.data = sizeof(RemoteMemory);
      break;
    default:  // a good put, with some bytes changed
      message.kind = MessageKind::operation;
      message.gate = Gate::lock;
      message.offset = 8;
      message.data = 8;
      for (int i = random.below(3); i > 0; --i) {
        bytes[random.below(sizeof message)] = static_cast<unsigned char>(random.below(256));
      }
  }
  if (random.chance(80)) message.window = 0;
  if (random.chance(80)) message.origin = 1;
  return message;
}

// Run under the sanitizers, which see what reaches outside.
TEST(Fuzz, MessagesFromAnywhere) {
  const Seeds seeds = Seeds::from_environment(300);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("replay with ORIEL_SEED=" + std::to_string(seed));
    Random random(seed);
    SimJob job({0, 1});
    SimWindowSpec spec;
    spec.bytes = window_bytes;
    spec.direct = true;
    spec.pieces = random.chance(50) ? 2 : 0;
    job.create_window(spec);
    std::uint64_t value = 7;
    ASSERT_EQ(job.window(0).lock(false, 1, {}), Error::none);
    issue(job.window(0), on_word(OperationKind::put, &value, 1, job.displacement(1, 0, 0)));
    job.run_until_idle();
    std::array<std::byte, window_bytes> buffer{};
    RemoteMemory registered;
    ASSERT_GE(job.transport(1).register_buffer(0, random.chance(50), buffer.data(), buffer.size(),
                                               registered),
              0);
    for (int i = 0; i < 100; ++i) {
      Message message = any_message(random);
      // An address, where the window is dynamic.
      if (random.chance(50)) {
        message.offset += static_cast<std::uint64_t>(job.displacement(0, 0, 0));
      }
      std::vector<std::byte> payload(static_cast<std::size_t>(random.below(120)));
      if (random.chance(50)) payload.resize(std::min<std::size_t>(message.data, 4096));
      for (std::byte& byte : payload) byte = static_cast<std::byte>(random.below(256));
      if (message.kind == MessageKind::rendezvous && random.chance(80)) {
        payload.resize(sizeof registered);
        std::memcpy(payload.data(), &registered, sizeof registered);
      }
      job.transport(1).send(0, std::as_bytes(std::span(&message, 1)), payload);
      job.transport(1).push();
      if (random.chance(30)) job.run_until_idle();
    }
    job.run_until_idle();
  }
}

TEST(Fuzz, Packets) {
  const Seeds seeds = Seeds::from_environment(3000);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    Random random(seed);
    alignas(8) std::array<std::byte, 512> buffer{};
    PacketWriter writer(buffer);
    const std::vector<std::byte> text(static_cast<std::size_t>(random.between(1, 60)),
                                      std::byte{5});
    int put = 0;
    while (put < 4 && writer.fits(text.size())) {
      writer.add(text, {}, static_cast<std::uint32_t>(random.below(3)));
      ++put;
    }
    auto packet = writer.close(3, 1, 0);
    for (int i = random.below(4); i > 0; --i) {
      buffer[static_cast<std::size_t>(random.below(static_cast<int>(packet.size())))] =
          static_cast<std::byte>(random.below(256));
    }
    if (random.chance(30)) {
      packet =
          packet.first(static_cast<std::size_t>(random.below(static_cast<int>(packet.size()))));
    }
    // A copy of its own size, so that a sanitizer sees every byte read behind it.
    std::vector<std::uint64_t> exact((packet.size() + 7) / 8);
    if (!packet.empty()) std::memcpy(exact.data(), packet.data(), packet.size());
    PacketReader reader(std::as_bytes(std::span(exact)).first(packet.size()));
    std::size_t taken = 0;
    for (auto message = reader.next(); !message.empty(); message = reader.next()) {
      taken += message.size();
    }
    EXPECT_LE(taken, packet.size());
    EXPECT_TRUE(reader.valid() || taken == 0);
  }
}

// What is refused changes nothing: the counter of a step does not run backwards.
TEST(Fuzz, ReplayedStepsAreRefused) {
  SimJob job({0, 1});
  SimWindowSpec spec;
  spec.bytes = window_bytes;
  job.create_window(spec);
  Message grant;
  grant.kind = MessageKind::granted;
  grant.origin = 1;
  grant.word = 1;
  EXPECT_TRUE(job.window(0).deliver(grant, {}));
  EXPECT_FALSE(job.window(0).deliver(grant, {}));
  Message reply;
  reply.kind = MessageKind::reply;
  reply.origin = 1;
  EXPECT_FALSE(job.window(0).deliver(reply, {})) << "to nothing that was asked";
  Message unlock;
  unlock.kind = MessageKind::unlock;
  unlock.gate = Gate::lock;
  unlock.origin = 1;
  EXPECT_TRUE(job.window(0).deliver(unlock, {})) << "of a lock that it does not hold: ignored";
  EXPECT_TRUE(job.window(0).epochs().try_hold_lock(0) == false);
  ASSERT_EQ(job.window(0).lock(true, 0, {}), Error::none);
  EXPECT_TRUE(job.window(0).epochs().try_hold_lock(0));
}

}  // namespace
}  // namespace oriel::test
