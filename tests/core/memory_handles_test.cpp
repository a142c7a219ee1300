// SPDX-License-Identifier: BSD-3-Clause
// Memory handles (Q5): what is released is found out on every way, whatever has taken its place.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// Two ranks of a dynamic window; the second one makes handles of memory that is attached nowhere.
class MemoryHandles : public ::testing::TestWithParam<Path> {
 protected:
  MemoryHandles() {
    SimWindowSpec spec;
    spec.bytes = 8;
    spec.memory = {GetParam(), GetParam()};
    spec.pieces = 1;
    job_.create_window(spec);
    EXPECT_EQ(window().lock_all({}), Error::none);
    // From here on the target is available.
    const std::uint64_t zero = 0;
    EXPECT_EQ(outcome(on_word(OperationKind::put, &zero, 1, job_.displacement(1, 0, 0))),
              Error::none);
  }
  Window& window() { return job_.window(0); }
  Window& owner() { return job_.window(1); }

  static MemoryRange located(const std::uint64_t* memory, std::size_t words) {
    MemoryRange range{reinterpret_cast<std::uintptr_t>(memory), 8 * words};
    if (GetParam() == Path::load_store) range.location = SimTransport::location_of(memory);
    return range;
  }
  HandleName create(const MemoryRange& range) {
    HandleName name;
    EXPECT_EQ(owner().create_handle(range, name), Error::none);
    EXPECT_TRUE(name.given());
    return name;
  }
  HandleName create(const std::uint64_t* memory, std::size_t words) {
    return create(located(memory, words));
  }
  HandleView view(const HandleName& name, std::uint64_t words) {
    HandleView made;
    made.target = 1;
    made.name = name;
    made.bytes = 8 * words;
    made.disp_unit = 8;
    return made;
  }
  static Operation on_handle(OperationKind kind, const std::uint64_t* value, const HandleName& name,
                             std::int64_t bytes) {
    Operation operation = on_word(kind, value, 1, bytes);
    operation.handle = name;
    return operation;
  }
  Error outcome(const Operation& operation) {
    const Outcome issued = window().epochs().issue(operation);
    if (issued.error != Error::none) return issued.error;
    Flag flag;
    const Outcome flushed = window().epochs().flush(1, false, &flag);
    if (flushed.done) return flushed.error;
    job_.run_until_idle();
    EXPECT_TRUE(flag.done());
    return flag.error();
  }
  bool mapped() const { return GetParam() == Path::load_store; }
  bool served() const { return GetParam() == Path::messages; }

  SimJob job_{std::vector<int>{0, 0}};
  std::array<std::uint64_t, 4> memory_{};
};

TEST_P(MemoryHandles, ReachTheirMemory) {
  const HandleName name = create(memory_.data(), 4);
  HandleView seen = view(name, 4);
  EXPECT_EQ(window().open_handle(seen), Error::none);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t value = 10 + i;
    const auto place = static_cast<std::int64_t>(8 * i);
    EXPECT_EQ(outcome(on_handle(OperationKind::put, &value, name, place)), Error::none);
    EXPECT_EQ(outcome(on_handle(OperationKind::accumulate, &value, name, place)), Error::none);
    EXPECT_EQ(memory_[i], 2 * value);
    std::byte* direct = window().find_address(seen, static_cast<std::int64_t>(i), 8);
    EXPECT_EQ(direct, mapped() ? reinterpret_cast<std::byte*>(&memory_[i]) : nullptr);
  }
}

TEST_P(MemoryHandles, EndWithTheirMemory) {
  const HandleName name = create(memory_.data(), 3);
  HandleView seen = view(name, 3);
  ASSERT_EQ(window().open_handle(seen), Error::none);
  const std::uint64_t value = 1;
  for (const std::int64_t place : {24L, 17L, -1L, std::int64_t{1} << 62}) {
    EXPECT_EQ(outcome(on_handle(OperationKind::put, &value, name, place)), Error::range) << place;
    EXPECT_EQ(outcome(on_handle(OperationKind::accumulate, &value, name, place)), Error::range);
  }
  for (const std::int64_t place : {3L, -1L, std::int64_t{1} << 61, std::int64_t{1} << 62}) {
    EXPECT_EQ(window().find_address(seen, place, 8), nullptr) << place;
  }
  EXPECT_EQ(memory_, (std::array<std::uint64_t, 4>{}));
  HandleView larger = view(name, 4);
  EXPECT_EQ(window().open_handle(larger), served() ? Error::none : Error::base);
}

TEST_P(MemoryHandles, AreFoundOutWhenReleased) {
  const HandleName name = create(memory_.data(), 4);
  HandleView seen = view(name, 4);
  ASSERT_EQ(window().open_handle(seen), Error::none);
  EXPECT_EQ(owner().release_handle(name), Error::none);
  EXPECT_EQ(owner().release_handle(name), Error::base);
  // The same memory, and the same slot.
  const HandleName next = create(memory_.data(), 4);
  EXPECT_EQ(next.slot, name.slot);
  const std::uint64_t value = 5;
  EXPECT_EQ(window().find_address(seen, 0, 8), nullptr);
  for (const OperationKind kind : {OperationKind::put, OperationKind::accumulate}) {
    EXPECT_EQ(outcome(on_handle(kind, &value, name, 0)), Error::range);
  }
  EXPECT_EQ(memory_[0], 0U);
  HandleView again = view(name, 4);
  EXPECT_EQ(window().open_handle(again), served() ? Error::none : Error::base);
  EXPECT_EQ(outcome(on_handle(OperationKind::put, &value, next, 0)), Error::none);
  EXPECT_EQ(memory_[0], value);
}

TEST_P(MemoryHandles, AreNotGuessed) {
  const HandleName name = create(memory_.data(), 4);
  const std::uint64_t value = 5;
  for (const HandleName& wrong :
       {HandleName{name.token + 1, name.slot}, HandleName{name.token, name.slot + 1},
        HandleName{name.token, HandleRoot::most_slots}, HandleName{name.token, ~0U}}) {
    EXPECT_EQ(outcome(on_handle(OperationKind::put, &value, wrong, 0)), Error::range);
    EXPECT_EQ(owner().release_handle(wrong), Error::base);
  }
  EXPECT_EQ(memory_[0], 0U);
}

INSTANTIATE_TEST_SUITE_P(Paths, MemoryHandles,
                         ::testing::Values(Path::load_store, Path::system_call, Path::messages),
                         [](const auto& one) {
                           return one.param == Path::load_store    ? "Mapped"
                                  : one.param == Path::system_call ? "Private"
                                                                   : "Served";
                         });

// More slots than one segment has, and tokens that are all different.
TEST(HandleSlots, AreManyAndUsedAgain) {
  SimNetwork network(1, false);
  SimTransport transport(network, 0);
  HandleRoot root;
  OwnHandles own(root, transport);
  PeerHandles peer{};
  peer.set_root(root);
  constexpr std::uint64_t many = 5000;
  FailureReason reason;
  std::vector<HandleName> names(many);
  std::set<std::uint64_t> tokens;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < many; ++i) {
      ASSERT_EQ(own.create({1000 * i, i, {}}, names[i], reason), Error::none);
      EXPECT_LT(names[i].slot, many);
      EXPECT_TRUE(tokens.insert(names[i].token).second);
    }
    for (std::uint64_t i = 0; i < many; ++i) {
      MemoryRange piece;
      ASSERT_NE(peer.find_slot(names[i], piece, transport, 0), nullptr);
      EXPECT_EQ(piece.address, 1000 * i);
      EXPECT_EQ(piece.bytes, i);
    }
    for (const HandleName& name : names) EXPECT_EQ(own.release(name), Error::none);
  }
}

// A window's slots may lie where a former one's lay.
TEST(HandleSlots, AreNotThoseOfAFormerWindow) {
  SimNetwork network(1, false);
  SimTransport transport(network, 0);
  FailureReason reason;
  HandleName former;
  for (int window = 0; window < 2; ++window) {
    HandleRoot root;
    OwnHandles own(root, transport);
    PeerHandles peer{};
    peer.set_root(root);
    HandleName name;
    ASSERT_EQ(own.create({1000, 8, {}}, name, reason), Error::none);
    EXPECT_EQ(name.slot, 0U);
    MemoryRange piece;
    EXPECT_NE(peer.find_slot(name, piece, transport, 0), nullptr);
    EXPECT_EQ(peer.find_slot(former, piece, transport, 0), nullptr);
    EXPECT_EQ(own.release(former), Error::base);
    former = name;
  }
}

}  // namespace
}  // namespace oriel::test
