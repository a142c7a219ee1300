// SPDX-License-Identifier: BSD-3-Clause
// What a window costs a process for ranks that it never talks to (B8).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/zero_array.hpp"
#include "core/notify/counters.hpp"
#include "core/process.hpp"
#include "support/calls.hpp"
#include "transport/sim/sim_transport.hpp"

namespace oriel::test {
namespace {

constexpr int ranks = 65536;
constexpr int first = 17;
constexpr int second = 60000;

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// As many counters as a call can ask for (N8): what a program does not look at takes no memory.
TEST(ManyCounters, TakeMemoryWhenTheyAreUsed) {
  constexpr std::int32_t most = 0x7fffffff;
  const std::uint64_t before = resident_bytes();
  Counters made(0, {CounterRow{nullptr, most}}, nullptr);
  EXPECT_TRUE(made.news(most - 1, 1));
  EXPECT_FALSE(made.news(most - 1, 1));
  EXPECT_LT(resident_bytes(), before + std::uint64_t{64} * 1024 * 1024);
}

/// One of the two ranks that have a process. The window's table of members names a process for each
/// other rank, too, but the simulated network has no such process.
class Side {
 public:
  Side(SimNetwork& network, int process, int rank, int peer_rank)
      : transport_(network, process), process_(transport_, process), rank_(rank) {
    std::vector<Member> members(ranks);
    for (int i = 0; i < ranks; ++i) {
      Member& member = members[static_cast<std::size_t>(i)];
      member.process = i == peer_rank ? 1 - process : i;
      member.path = Path::messages;
      member.window = 1;
      member.size = sizeof memory_;
    }
    Member& own = members[static_cast<std::size_t>(rank)];
    own.process = process;
    own.path = Path::load_store;
    own.base = reinterpret_cast<std::byte*>(&memory_);
    own.control = ControlBlock::create(control_.data(), ranks, 1);
    own.doorbell = &doorbell_;
    members_ = MemberTable(members, false);
  }

  void make_window() {
    WindowSpec spec;
    spec.id = 1;
    spec.remote = true;
    spec.region.rank = rank_;
    spec.region.ranks = ranks;
    spec.region.control = static_cast<ControlBlock*>(control_.data());
    spec.region.members = std::move(members_);
    window_ = &process_.create_window(std::move(spec));
  }
  Window& window() { return *window_; }
  Process& process() { return process_; }
  std::uint64_t memory() const { return memory_; }

 private:
  SimTransport transport_;
  Process process_;
  Doorbell doorbell_;
  int rank_;
  std::uint64_t memory_ = 0;
  ZeroedPages control_{ControlBlock::bytes(ranks)};
  MemberTable members_;
  Window* window_ = nullptr;
};

TEST(ManyRanks, NothingIsKeptForThoseThatAreNeverTalkedTo) {
  SimNetwork network(2, true);
  Side one(network, 0, first, second);
  Side other(network, 1, second, first);
  const std::uint64_t before = resident_bytes();
  one.make_window();
  other.make_window();
  const std::uint64_t made = resident_bytes();
  const std::uint64_t value = 7;
  ASSERT_EQ(one.window().lock(true, second, {}), Error::none);
  issue(one.window(), on_word(OperationKind::put, const_cast<std::uint64_t*>(&value), second));
  PostedCall unlocked;
  unlocked.take(one.window().unlock(second, &unlocked));
  for (int i = 0; i < 100 && !unlocked.done(); ++i) {
    other.process().sweep();
    one.process().sweep();
  }
  ASSERT_TRUE(unlocked.done());
  EXPECT_EQ(other.memory(), value);
  const std::uint64_t talked = resident_bytes();
  std::cout << "a window of " << ranks << " ranks: " << (made - before) / 2
            << " bytes resident when it is made, " << (talked - before) / 2
            << " when two ranks have talked, each\n";
  // Pages: one or two for each of the few things that are kept by rank. A sanitizer has its own.
  EXPECT_LT((talked - before) / 2, 64u * 4096);
}

}  // namespace
}  // namespace oriel::test
