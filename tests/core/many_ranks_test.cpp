// SPDX-License-Identifier: BSD-3-Clause
// What a window costs a process for ranks that it never talks to (B8).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>

#include "core/base/zeroed_pages.hpp"
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

/// One of the two ranks that there really are; all others would be found if somebody asked.
class Side {
 public:
  Side(SimNetwork& network, int process, int rank)
      : transport_(network, process), process_(transport_, process), rank_(rank) {}

  void make_window(const Side& other) {
    WindowSpec spec;
    spec.id = 1;
    spec.remote = true;
    RegionSpec region;
    region.rank = rank_;
    region.ranks = ranks;
    region.mapped = {rank_};
    region.control = ControlBlock::create(control_.data(), ranks, 1);
    resolver_ = std::make_shared<Found>(*this, other);
    region.resolver = resolver_;
    spec.region = std::make_shared<Region>(std::move(region), transport_);
    window_ = &process_.create_window(std::move(spec));
  }
  Window& window() { return *window_; }
  Process& process() { return process_; }
  std::uint64_t memory() const { return memory_; }
  const std::set<int>& asked() const { return resolver_->asked; }

 private:
  struct Found final : MemberResolver {
    Found(Side& own, const Side& peer) : self(own), other(peer) {}
    Member find(int rank) override {
      asked.insert(rank);
      Member member;
      member.window = 1;
      member.size = sizeof self.memory_;
      if (rank == self.rank_) {
        member.process = self.process_.self();
        member.base = reinterpret_cast<std::byte*>(&self.memory_);
        member.control = static_cast<ControlBlock*>(self.control_.data());
        member.doorbell = &self.doorbell_;
        return member;
      }
      EXPECT_EQ(rank, other.rank_);
      member.process = other.process_.self();
      member.path = Path::messages;
      return member;
    }
    Side& self;
    const Side& other;
    std::set<int> asked;
  };

  SimTransport transport_;
  Process process_;
  Doorbell doorbell_;
  int rank_;
  std::uint64_t memory_ = 0;
  ZeroedPages control_{ControlBlock::bytes(ranks)};
  std::shared_ptr<Found> resolver_;
  Window* window_ = nullptr;
};

TEST(ManyRanks, NothingIsKeptForThoseThatAreNeverTalkedTo) {
  SimNetwork network(2, true);
  Side one(network, 0, first);
  Side other(network, 1, second);
  const std::uint64_t before = resident_bytes();
  one.make_window(other);
  other.make_window(one);
  const std::uint64_t made = resident_bytes();
  const std::uint64_t value = 7;
  ASSERT_EQ(one.window().lock(true, second, {}), Error::none);
  issue(one.window(), on_word(OperationKind::put, const_cast<std::uint64_t*>(&value), second));
  Told unlocked;
  unlocked.take(one.window().unlock(second, &unlocked));
  for (int i = 0; i < 100 && !unlocked.done(); ++i) {
    other.process().sweep();
    one.process().sweep();
  }
  ASSERT_TRUE(unlocked.done());
  EXPECT_EQ(other.memory(), value);
  const std::uint64_t talked = resident_bytes();
  EXPECT_EQ(one.asked(), std::set<int>{second});
  EXPECT_EQ(other.asked(), (std::set<int>{first, second})) << "itself, to carry the put out";
  std::cout << "a window of " << ranks << " ranks: " << (made - before) / 2
            << " bytes resident when it is made, " << (talked - before) / 2
            << " when two ranks have talked, each\n";
  // Pages: one or two for each of the few things that are kept by rank. A sanitizer has its own.
  EXPECT_LT((talked - before) / 2, 64u * 4096);
}

}  // namespace
}  // namespace oriel::test
