// SPDX-License-Identifier: BSD-3-Clause
// Which way an operation takes in each situation: the table of docs/protocols.md, asked of the one
// function that decides it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "core/operation/protocol.hpp"
#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel {

void PrintTo(Protocol protocol, std::ostream* out) {
  *out << name_of(protocol);
}

}  // namespace oriel

namespace oriel::test {
namespace {

constexpr std::uint64_t window_words = 64;

/// Ranks 0 and 1 on one node, rank 2 on another. Messages take two words, transfers more than four
/// and runs of two.
class SelectProtocol : public ::testing::Test {
 protected:
  explicit SelectProtocol(const Limits& given = limits()) : job_({0, 0, 1}, false, given) {}
  static Limits limits() {
    Limits limits;
    limits.fragment = 16;
    limits.direct = 32;
    limits.direct_run = 16;
    return limits;
  }
  void make(SimWindowSpec spec = {}) {
    spec.bytes = 8 * window_words;
    job_.create_window(spec);
  }
  Protocol of(const Operation& operation) { return job_.window(0).protocol(operation); }
  Protocol of(OperationKind kind, int target, std::uint64_t count) {
    return of(contiguous(kind, target, count));
  }
  static Operation contiguous(OperationKind kind, int target, std::uint64_t count) {
    static const std::array<std::uint64_t, window_words> memory{};
    Operation operation = on_word(kind, memory.data(), target);
    operation.target_count = operation.origin.count = count;
    if (fetches(kind)) operation.result = operation.origin;
    return operation;
  }

  SimJob job_;
};

TEST_F(SelectProtocol, StoresIntoMappedMemory) {
  make();
  for (const int target : {0, 1}) {
    for (const auto kind : {OperationKind::put, OperationKind::get, OperationKind::accumulate}) {
      EXPECT_EQ(of(kind, target, 1), Protocol::stored);
      EXPECT_EQ(of(kind, target, window_words), Protocol::stored);
    }
  }
}

TEST_F(SelectProtocol, CopiesPrivateMemoryOfItsNode) {
  SimWindowSpec spec;
  spec.memory = {Path::system_call, Path::system_call, Path::system_call};
  make(spec);
  EXPECT_EQ(of(OperationKind::put, 1, 1), Protocol::system_call);
  EXPECT_EQ(of(OperationKind::accumulate, 1, window_words), Protocol::system_call);
  EXPECT_EQ(of(OperationKind::put, 0, 1), Protocol::stored) << "its own";
}

TEST_F(SelectProtocol, SendsMessagesWhereTheNodeForbidsCopies) {
  SimWindowSpec spec;
  spec.memory = {Path::load_store, Path::messages, Path::load_store};
  make(spec);
  EXPECT_EQ(of(OperationKind::put, 1, window_words), Protocol::message);
}

TEST_F(SelectProtocol, SendsMessagesToOtherNodes) {
  make();
  for (const auto kind : {OperationKind::put, OperationKind::get, OperationKind::accumulate}) {
    EXPECT_EQ(of(kind, 2, 1), Protocol::message);
    EXPECT_EQ(of(kind, 2, window_words), Protocol::message) << "its memory is not exposed";
  }
}

TEST_F(SelectProtocol, TransfersWhatIsLong) {
  SimWindowSpec spec;
  spec.direct = true;
  make(spec);
  for (const auto kind : {OperationKind::put, OperationKind::get}) {
    EXPECT_EQ(of(kind, 2, 4), Protocol::message);
    EXPECT_EQ(of(kind, 2, 5), Protocol::direct);
    Operation ordered = contiguous(kind, 2, window_words);
    ordered.ordered = true;
    EXPECT_EQ(of(ordered), Protocol::message);
  }
  EXPECT_EQ(of(OperationKind::accumulate, 2, window_words), Protocol::message);
  EXPECT_EQ(of(OperationKind::get_accumulate, 2, window_words), Protocol::message);
}

/// A message takes eight words.
class LongMessages : public SelectProtocol {
 protected:
  LongMessages() : SelectProtocol(long_fragments()) {}
  static Limits long_fragments() {
    Limits longer = limits();
    longer.fragment = 64;
    return longer;
  }
};

TEST_F(LongMessages, TakePutsToDynamicWindows) {
  SimWindowSpec spec;
  spec.direct = true;
  spec.pieces = 1;
  make(spec);
  EXPECT_EQ(of(OperationKind::put, 2, 8), Protocol::message);
  EXPECT_EQ(of(OperationKind::put, 2, 9), Protocol::rendezvous);
  EXPECT_EQ(of(OperationKind::get, 2, 5), Protocol::rendezvous);
}

TEST_F(SelectProtocol, PacksShortRuns) {
  SimWindowSpec spec;
  spec.direct = true;
  make(spec);
  const LayoutRef runs_of_one(new Layout({{0, 8}, {16, 8}}, 32, Basic::u64));
  const LayoutRef runs_of_two(new Layout({{0, 16}, {32, 16}}, 64, Basic::u64));
  for (const bool there : {false, true}) {
    Operation put = contiguous(OperationKind::put, 2, 8);
    (there ? put.target_layout : put.origin.layout) = runs_of_one;
    (there ? put.target_count : put.origin.count) = 4;
    EXPECT_EQ(of(put), Protocol::message);
    (there ? put.target_layout : put.origin.layout) = runs_of_two;
    (there ? put.target_count : put.origin.count) = 2;
    EXPECT_EQ(of(put), Protocol::direct);
  }
}

/// The network's card carries transfers out.
class SelectProtocolWithACard : public SelectProtocol {
 protected:
  SelectProtocolWithACard() : SelectProtocol(by_card()) {}
  static Limits by_card() {
    Limits limits = SelectProtocol::limits();
    const std::uint64_t longest_message = limits.direct;
    limits.set_by_card(true);
    limits.direct = longest_message;
    return limits;
  }
};

TEST_F(SelectProtocolWithACard, TransfersEveryLength) {
  SimWindowSpec spec;
  spec.direct = true;
  make(spec);
  for (const auto kind : {OperationKind::put, OperationKind::get}) {
    EXPECT_EQ(of(kind, 1, 1), Protocol::stored);
    EXPECT_EQ(of(kind, 2, 0), Protocol::message);
    EXPECT_EQ(of(kind, 2, 1), Protocol::direct);
    EXPECT_EQ(of(kind, 2, window_words), Protocol::direct);
    Operation ordered = contiguous(kind, 2, 1);
    ordered.ordered = true;
    EXPECT_EQ(of(ordered), Protocol::message);
  }
  EXPECT_EQ(of(OperationKind::accumulate, 2, 1), Protocol::message);
}

TEST_F(SelectProtocolWithACard, PacksManyShortRuns) {
  SimWindowSpec spec;
  spec.direct = true;
  make(spec);
  const auto runs = [&](std::uint64_t bytes, std::uint64_t count, bool there) {
    Operation put = contiguous(OperationKind::put, 2, bytes * count / 8);
    const LayoutRef apart(
        new Layout({{0, bytes}}, static_cast<std::int64_t>(2 * bytes), Basic::u64));
    (there ? put.target_layout : put.origin.layout) = apart;
    (there ? put.target_count : put.origin.count) = count;
    return of(put);
  };
  for (const bool there : {false, true}) {
    EXPECT_EQ(runs(8, 64, there), Protocol::direct);
    EXPECT_EQ(runs(8, 65, there), Protocol::message);
    EXPECT_EQ(runs(1016, 65, there), Protocol::message);
    EXPECT_EQ(runs(1024, 65, there), Protocol::direct);
  }
}

// Only what the owner moves by itself is a rendezvous.
TEST_F(SelectProtocolWithACard, SendsMessagesToADynamicWindow) {
  SimWindowSpec spec;
  spec.direct = true;
  spec.pieces = 2;
  make(spec);
  EXPECT_EQ(of(OperationKind::put, 2, 4), Protocol::message);
  EXPECT_EQ(of(OperationKind::get, 2, 4), Protocol::message);
  EXPECT_EQ(of(OperationKind::get, 2, 5), Protocol::rendezvous);
}

TEST_F(SelectProtocol, AsksThePieceOfADynamicWindow) {
  SimWindowSpec spec;
  spec.memory = {Path::load_store, Path::system_call, Path::load_store};
  spec.pieces = 2;  // of which rank 1 has a private and a shared one
  make(spec);
  for (const auto kind : {OperationKind::put, OperationKind::accumulate}) {
    Operation operation = contiguous(kind, 1, 1);
    operation.displacement = job_.displacement(1, 0, 0);
    EXPECT_EQ(of(operation), Protocol::system_call);
    operation.displacement = job_.displacement(1, 0, 8 * window_words / 2);
    EXPECT_EQ(of(operation), Protocol::stored);
    operation.displacement = 1;
    EXPECT_EQ(of(operation), Protocol::stored) << "it fails: nothing is attached there";
  }
}

TEST_F(SelectProtocol, LeavesLongOnesToTheOwnerOfADynamicWindow) {
  SimWindowSpec spec;
  spec.direct = true;
  spec.pieces = 2;
  make(spec);
  EXPECT_EQ(of(OperationKind::put, 1, window_words), Protocol::stored)
      << "nothing is attached there";
  EXPECT_EQ(of(OperationKind::put, 2, 4), Protocol::message);
  EXPECT_EQ(of(OperationKind::put, 2, 5), Protocol::rendezvous);
  EXPECT_EQ(of(OperationKind::get, 2, 5), Protocol::rendezvous);
  EXPECT_EQ(of(OperationKind::accumulate, 2, window_words), Protocol::message);
  Operation scattered = contiguous(OperationKind::put, 2, 4);
  scattered.target_layout = LayoutRef(new Layout({{0, 16}, {32, 16}}, 64, Basic::u64));
  scattered.origin.count = 16;
  EXPECT_EQ(of(scattered), Protocol::message);
}

// Whoever the target is: CPUs are not atomic with the network.
TEST_F(SelectProtocol, LeavesAccumulatesToTheNetwork) {
  SimWindowSpec spec;
  spec.atomics = {bit(Basic::u64), every_op};
  make(spec);
  for (const int target : {0, 1, 2}) {
    EXPECT_EQ(of(OperationKind::accumulate, target, 1), Protocol::network_atomic);
    Operation other = contiguous(OperationKind::accumulate, target, 1);
    other.reduction.basic = Basic::i32;
    EXPECT_EQ(of(other), target == 2 ? Protocol::message : Protocol::stored);
    EXPECT_EQ(of(OperationKind::put, target, 1),
              target == 2 ? Protocol::message : Protocol::stored);
  }
}

}  // namespace
}  // namespace oriel::test
