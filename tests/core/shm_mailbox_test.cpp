// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/mailbox.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "shm_processes.hpp"
#include "transport/shm/process_block.hpp"

namespace oriel {
namespace {

using shm_test::Bytes;
using shm_test::Child;
using shm_test::OwnTransport;
using shm_test::pattern;

bool lives(std::int32_t pid) {
  return process_alive(pid, 0);
}

/// A mailbox in this process's memory.
class ShmMailbox : public shm_test::ShmTest {
 protected:
  bool put(const Bytes& bytes, std::uint64_t source = 1) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const auto space = box_.reserve(claim_, ::getpid(), source, size, 0, size);
    if (!space) return false;
    box_.fill(*space, 0, bytes);
    box_.commit(*space);
    return true;
  }
  Bytes get() {
    const auto fragment = box_.peek();
    if (!fragment) return {};
    Bytes bytes(fragment->bytes);
    box_.copy(*fragment, bytes.data());
    box_.release(*fragment);
    return bytes;
  }

  static constexpr std::size_t cells = 64;
  MailboxEnds ends_;
  std::vector<MailboxCell> memory_{cells};
  MailboxClaim claim_;
  Mailbox box_{ends_, memory_, 1};
};

// Zeroed memory is an empty mailbox.
TEST_F(ShmMailbox, BeginsEmpty) {
  EXPECT_FALSE(box_.peek());
  EXPECT_FALSE(box_.stalled());
  EXPECT_FALSE(box_.skip_dead(lives));
}

// Every length meets every position of the ring, so also each way of being cut by its end.
TEST_F(ShmMailbox, EveryLengthAtEveryPosition) {
  for (std::size_t bytes = 0; bytes <= box_.largest_fragment(); ++bytes) {
    for (std::size_t position = 0; position < cells; ++position) {
      const Bytes sent = pattern(bytes, static_cast<unsigned>(position));
      ASSERT_TRUE(put(sent));
      ASSERT_EQ(get(), sent);
      ASSERT_TRUE(put({}));
      ASSERT_TRUE(box_.peek());
      get();
    }
  }
}

// The 64-bit counts themselves may wrap; nothing compares them by size.
TEST_F(ShmMailbox, CountsWrapAround) {
  ends_.head = ends_.tail = ~std::uint64_t{0} - 100;
  for (unsigned i = 0; i < 1000; ++i) {
    const Bytes sent = pattern(i % 300, i);
    ASSERT_TRUE(put(sent));
    ASSERT_TRUE(put(sent));
    ASSERT_EQ(get(), sent);
    ASSERT_EQ(get(), sent);
  }
}

// Full is told, nothing is overwritten, and as much fits again as was taken out.
TEST_F(ShmMailbox, FullRefusesAndRecovers) {
  unsigned sent = 0;
  while (put(pattern(100, sent))) ++sent;
  EXPECT_EQ(sent, cells / 3);
  EXPECT_FALSE(put(pattern(100, 0)));
  for (unsigned taken = 0; taken < 200; ++taken) {
    ASSERT_EQ(get(), pattern(100, taken));
    ASSERT_TRUE(put(pattern(100, sent++)));
  }
}

// A producer that pauses between reserve and commit: others can write behind it, nothing overtakes.
TEST_F(ShmMailbox, PausedProducerKeepsTheOrder) {
  const Bytes late = pattern(80, 1);
  const auto space = box_.reserve(claim_, ::getpid(), 1, late.size(), 0, 80);
  ASSERT_TRUE(space);
  ASSERT_TRUE(put(pattern(30, 2), 2));
  EXPECT_FALSE(box_.peek());
  EXPECT_TRUE(box_.stalled());
  box_.fill(*space, 0, late);
  EXPECT_FALSE(box_.peek());
  EXPECT_FALSE(box_.skip_dead(lives));  // it lives
  box_.commit(*space);
  EXPECT_EQ(get(), late);
  EXPECT_EQ(get(), pattern(30, 2));
  EXPECT_FALSE(box_.stalled());
}

// Bytes of an earlier record can look like anything; a reserved and not yet begun record must not
// be taken for a committed one.
TEST_F(ShmMailbox, OldBytesAreNotMistakenForRecords) {
  const Bytes evil(300, std::byte{0xfe});  // as a state: committed
  for (int round = 0; round < 50; ++round) {
    ASSERT_TRUE(put(evil));
    ASSERT_EQ(get(), evil);
    ASSERT_FALSE(box_.peek());
    // The instant after the reservation, before the record is marked.
    ends_.tail.fetch_add(1);
    ASSERT_FALSE(box_.peek());
    ASSERT_TRUE(box_.stalled());
    ends_.tail.fetch_sub(1);
    ASSERT_TRUE(put({}));
    get();
  }
}

// Many producers, much contention, a ring that is nearly always full: nothing is lost, doubled or
// torn, and each producer's records keep their order. Clean under ThreadSanitizer.
TEST_F(ShmMailbox, ManyThreads) {
  constexpr unsigned producers = 4;
  constexpr unsigned records = 5000;
  std::vector<std::jthread> threads;
  for (unsigned source = 0; source < producers; ++source) {
    threads.emplace_back([&, source] {
      std::mt19937 random(source);
      for (unsigned i = 0; i < records; ++i) {
        Bytes bytes = pattern(4 + random() % 400, i);
        std::memcpy(bytes.data(), &i, sizeof i);
        const auto size = static_cast<std::uint32_t>(bytes.size());
        std::optional<Mailbox::Reservation> space;
        while (!(space = box_.reserve(claim_, ::getpid(), source, size, 0, size))) ::sched_yield();
        if (random() % 16 == 0) ::sched_yield();
        box_.fill(*space, 0, bytes);
        box_.commit(*space);
      }
    });
  }
  std::vector<unsigned> next(producers, 0);
  for (unsigned taken = 0; taken < producers * records;) {
    const auto fragment = box_.peek();
    if (!fragment) {
      ::sched_yield();
      continue;
    }
    ++taken;
    Bytes bytes(fragment->bytes);
    box_.copy(*fragment, bytes.data());
    const std::uint64_t source = fragment->source;
    box_.release(*fragment);
    unsigned number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    ASSERT_EQ(number, next[source]++);
    Bytes expected = pattern(bytes.size(), number);
    std::memcpy(expected.data(), &number, sizeof number);
    ASSERT_EQ(bytes, expected);
  }
  EXPECT_FALSE(box_.peek());
}

/// A mailbox in an arena that children inherit.
class ShmMailboxProcesses : public shm_test::ShmTest {
 protected:
  ShmMailboxProcesses()
      : ends_(new(arena_.allocate(sizeof(MailboxEnds) + cells * sizeof(MailboxCell),
                                  alignof(MailboxEnds), error_)) MailboxEnds),
        box_(*ends_, {reinterpret_cast<MailboxCell*>(ends_ + 1), cells}, 1) {}

  static constexpr std::size_t cells = 256;
  std::string error_;
  Arena arena_{OwnTransport::extent};
  MailboxEnds* ends_;
  MailboxClaim claim_;
  Mailbox box_;
};

// The same with processes.
TEST_F(ShmMailboxProcesses, ManyProcesses) {
  constexpr unsigned producers = 6;
  constexpr unsigned records = 3000;
  std::vector<Child> children;
  for (unsigned source = 0; source < producers; ++source) {
    children.emplace_back([&, source] {
      for (unsigned i = 0; i < records; ++i) {
        const Bytes bytes = pattern(8 + i % 500, i);
        const auto size = static_cast<std::uint32_t>(bytes.size());
        std::optional<Mailbox::Reservation> space;
        while (!(space = box_.reserve(claim_, ::getpid(), source, size, i, size))) ::sched_yield();
        box_.fill(*space, 0, bytes);
        box_.commit(*space);
      }
      return 0;
    });
  }
  std::vector<unsigned> next(producers, 0);
  for (unsigned taken = 0; taken < producers * records;) {
    const auto fragment = box_.peek();
    if (!fragment) {
      ::sched_yield();
      continue;
    }
    ++taken;
    ASSERT_EQ(fragment->offset, next[fragment->source]++);
    Bytes bytes(fragment->bytes);
    box_.copy(*fragment, bytes.data());
    ASSERT_EQ(bytes, pattern(bytes.size(), static_cast<unsigned>(fragment->offset)));
    box_.release(*fragment);
  }
  for (Child& child : children) EXPECT_EQ(child.join(), 0);
}

// B2: a producer that is killed in the middle of a record costs that record only.
TEST_F(ShmMailboxProcesses, KilledProducerIsPassedOver) {
  Child child([&] {
    const auto space = box_.reserve(claim_, ::getpid(), 1, 1000, 0, 1000);
    box_.fill(*space, 0, pattern(500, 1));
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(child.join(), -SIGKILL);
  const Bytes after = pattern(70, 3);
  const auto space = box_.reserve(claim_, ::getpid(), 2, 70, 0, 70);
  ASSERT_TRUE(space);
  box_.fill(*space, 0, after);
  box_.commit(*space);
  EXPECT_FALSE(box_.peek());
  EXPECT_TRUE(box_.stalled());
  EXPECT_TRUE(box_.skip_dead(lives));
  const auto fragment = box_.peek();
  ASSERT_TRUE(fragment);
  Bytes got(fragment->bytes);
  box_.copy(*fragment, got.data());
  box_.release(*fragment);
  EXPECT_EQ(got, after);
  // The cells that it had half filled are clean: the next round of the ring works.
  for (int round = 0; round < 20; ++round) {
    const auto again = box_.reserve(claim_, ::getpid(), 2, 1000, 0, 1000);
    ASSERT_TRUE(again);
    ASSERT_FALSE(box_.peek());
    box_.commit(*again);
    const auto seen = box_.peek();
    ASSERT_TRUE(seen);
    box_.release(*seen);
  }
}

/// A producer that is killed after it has moved the tail and before it says how long its record is:
/// nothing of the record is there, and the claim tells.
class ShmMailboxClaims : public ShmMailbox {
 protected:
  static constexpr std::uint32_t bytes = 200;
  static constexpr std::uint64_t record_cells = 4;

  /// As reserve() leaves it there.
  void reserve_and_say_nothing(MailboxClaim& claim) {
    claim.reader = 1;
    claim.bytes = bytes;
    claim.position = ends_.tail.load() + 1;
    ends_.tail += record_cells;
  }
  bool skip(const std::vector<std::pair<const MailboxClaim*, bool>>& claims) {
    return box_.skip_claimed([&](auto&& visit) {
      for (const auto& [claim, alive] : claims) visit(*claim, [now = alive] { return now; });
    });
  }

  MailboxClaim killed_, other_;
};

TEST_F(ShmMailboxClaims, TheOnlyDeadClaimIsPassedOver) {
  ASSERT_TRUE(put(pattern(70, 1)));
  ASSERT_EQ(get(), pattern(70, 1));
  reserve_and_say_nothing(killed_);
  ASSERT_TRUE(put(pattern(70, 2)));
  EXPECT_FALSE(box_.peek());
  EXPECT_TRUE(box_.stalled());
  EXPECT_FALSE(box_.skip_dead(lives));
  EXPECT_FALSE(skip({{&killed_, true}})) << "it lives, and goes on";
  EXPECT_FALSE(skip({})) << "nobody's";
  EXPECT_TRUE(skip({{&claim_, true}, {&killed_, false}, {&other_, false}}));
  EXPECT_EQ(get(), pattern(70, 2));
  EXPECT_FALSE(box_.stalled());
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(put(pattern(500, 3)));
    ASSERT_EQ(get(), pattern(500, 3));
  }
}

TEST_F(ShmMailboxClaims, AnotherClaimOfThePlaceIsAReasonToWait) {
  reserve_and_say_nothing(killed_);
  other_.reader = 1;
  other_.bytes = 8;
  other_.position = killed_.position.load();
  EXPECT_FALSE(skip({{&killed_, false}, {&other_, true}}));
  EXPECT_FALSE(skip({{&killed_, false}, {&other_, false}}));
  other_.reader = 2;  // of another mailbox
  EXPECT_TRUE(skip({{&killed_, false}, {&other_, true}}));
}

TEST_F(ShmMailboxClaims, WhatHasAStateIsLeftToIt) {
  const auto space = box_.reserve(killed_, ::getpid(), 1, bytes, 0, bytes);
  ASSERT_TRUE(space);
  EXPECT_FALSE(skip({{&killed_, false}}));
  box_.commit(*space);
  EXPECT_FALSE(skip({{&killed_, false}}));
  EXPECT_TRUE(box_.peek());
}

TEST_F(ShmMailboxClaims, AFullMailboxLeavesNoClaim) {
  const std::uint32_t most = box_.largest_fragment();
  while (box_.reserve(killed_, ::getpid(), 1, most, 0, most)) {
  }
  EXPECT_EQ(killed_.position.load(), 0u);
}

}  // namespace
}  // namespace oriel
