// SPDX-License-Identifier: BSD-3-Clause
// Dynamic windows (G2): what is attached is found without asking, what is not is an error.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "core/pieces/own_pieces.hpp"
#include "core/pieces/peer_pieces.hpp"
#include "core/pieces/shared_pieces.hpp"
#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// One rank's pieces, as it sees them and as a peer does.
class Pieces : public ::testing::Test {
 protected:
  Pieces() { peer_.set_root(root_); }

  Error attach(std::uint64_t address, std::uint64_t bytes) {
    FailureReason reason;
    return own_.attach({address, bytes, {address, 1}}, reason);
  }
  Error detach(std::uint64_t address) {
    FailureReason reason;
    return own_.detach(address, reason);
  }
  /// How many bytes a peer finds attached from the address on, in one piece.
  std::uint64_t left(std::uint64_t address) { return found(address, PieceSearch::found); }
  /// How many bytes it finds detached and not forgotten.
  std::uint64_t detached(std::uint64_t address) { return found(address, PieceSearch::detached); }
  std::uint64_t found(std::uint64_t address, PieceSearch as) {
    MemoryRange piece;
    if (peer_.find_last_piece(address, piece, transport_, 0) != as) return 0;
    EXPECT_EQ(piece.location.offset, piece.address);
    return piece.bytes_from(address);
  }

  SimNetwork network_{1, false};
  SimTransport transport_{network_, 0};
  PieceRoot root_;
  PeerPieces peer_{};
  OwnPieces own_{root_, transport_};
};

TEST_F(Pieces, AreFoundFromTheirFirstToTheirLastByte) {
  EXPECT_EQ(left(0), 0U);
  ASSERT_EQ(attach(1000, 100), Error::none);
  EXPECT_EQ(left(999), 0U);
  EXPECT_EQ(left(1000), 100U);
  EXPECT_EQ(left(1099), 1U);
  EXPECT_EQ(left(1100), 0U);
  ASSERT_EQ(detach(1000), Error::none);
  EXPECT_EQ(left(1000), 0U);
}

TEST_F(Pieces, AreFoundAsDetachedUntilForgotten) {
  for (const std::uint64_t address : {1000, 2000, 3000}) {
    ASSERT_EQ(attach(address, 100), Error::none);
    ASSERT_EQ(detach(address), Error::none);
  }
  EXPECT_EQ(detached(999), 0U);
  EXPECT_EQ(detached(1000), 100U);
  EXPECT_EQ(detached(1099), 1U);
  EXPECT_EQ(detached(1100), 0U);
  EXPECT_EQ(detach(1000), Error::base) << "it is not attached";
  own_.forget_detached(1000, 1001);
  EXPECT_EQ(detached(1000), 0U);
  EXPECT_EQ(detached(2000), 0U);
  EXPECT_EQ(detached(3000), 100U);
  ASSERT_EQ(attach(4000, 100), Error::none);
  own_.forget_detached();
  EXPECT_EQ(detached(3000), 0U);
  EXPECT_EQ(left(4000), 100U) << "it is attached";
}

// A piece replaces the detached pieces that it overlaps, and its bytes count as attached again.
TEST_F(Pieces, ReplaceDetachedOnes) {
  const auto detach_three = [&] {
    for (const std::uint64_t address : {1000, 1100, 1300}) {
      ASSERT_EQ(attach(address, 100), Error::none);
      ASSERT_EQ(detach(address), Error::none);
    }
  };
  detach_three();
  ASSERT_EQ(attach(1000, 100), Error::none);
  EXPECT_EQ(left(1000), 100U);
  EXPECT_EQ(detached(1100), 100U);
  EXPECT_EQ(detached(1300), 100U);
  ASSERT_EQ(detach(1000), Error::none);
  EXPECT_EQ(detached(1000), 100U);

  ASSERT_EQ(attach(1050, 251), Error::none);
  EXPECT_EQ(detached(1000), 0U) << "its bytes from 1050 on are in the new one";
  EXPECT_EQ(left(1050), 251U);
  EXPECT_EQ(left(1299), 2U);
  EXPECT_EQ(detached(1301), 0U);
  own_.forget_detached();
  EXPECT_EQ(left(1050), 251U);
  EXPECT_EQ(attach(1300, 1), Error::attach);
  ASSERT_EQ(detach(1050), Error::none);

  ASSERT_EQ(attach(1050, 10), Error::none);
  EXPECT_EQ(left(1050), 10U);
  EXPECT_EQ(detached(1060), 0U) << "a shorter one takes its place";
}

// The last ones of very many detached pieces are found.
TEST_F(Pieces, AreForgottenAfterManyOthers) {
  constexpr std::uint64_t many = OwnPieces::most_detached;
  for (std::uint64_t i = 1; i <= many + 5; ++i) {
    ASSERT_EQ(attach(64 * i, 60), Error::none);
    ASSERT_EQ(detach(64 * i), Error::none);
    // An old one that is detached anew is a late one.
    if (i == many / 2) {
      ASSERT_EQ(attach(64, 60), Error::none);
      ASSERT_EQ(detach(64), Error::none);
    }
  }
  EXPECT_EQ(detached(64), 60U);
  for (std::uint64_t i = 2; i <= many + 5; ++i) ASSERT_EQ(detached(64 * i), i <= 6 ? 0 : 60U) << i;
}

TEST_F(Pieces, MayTouchButNotOverlap) {
  ASSERT_EQ(attach(1000, 100), Error::none);
  EXPECT_EQ(attach(1100, 100), Error::none);
  EXPECT_EQ(attach(900, 100), Error::none);
  EXPECT_EQ(attach(900, 1), Error::attach);
  EXPECT_EQ(attach(899, 2), Error::attach);
  EXPECT_EQ(attach(500, 1000), Error::attach);
  EXPECT_EQ(attach(1050, 10), Error::attach);
  EXPECT_EQ(attach(1199, 1), Error::attach);
  EXPECT_EQ(attach(~std::uint64_t{0}, 2), Error::attach);
  EXPECT_EQ(attach(~std::uint64_t{0}, 1), Error::attach) << "its end is no address";
  EXPECT_EQ(attach(1200, 1), Error::none);
}

TEST_F(Pieces, AreDetachedByTheirFirstByte) {
  ASSERT_EQ(attach(1000, 100), Error::none);
  EXPECT_EQ(detach(1001), Error::base);
  EXPECT_EQ(detach(999), Error::base);
  EXPECT_EQ(detach(1000), Error::none);
  EXPECT_EQ(detach(1000), Error::base);
}

TEST_F(Pieces, WithoutBytesAreNowhere) {
  ASSERT_EQ(attach(1000, 0), Error::none);
  ASSERT_EQ(attach(1000, 0), Error::none);
  EXPECT_EQ(left(1000), 0U);
  EXPECT_EQ(attach(990, 20), Error::none);
  EXPECT_EQ(detach(1000), Error::none);
  EXPECT_EQ(detach(1000), Error::none);
  EXPECT_EQ(detach(1000), Error::base);
}

// Against an ordered map, in an order in which pieces fall between others.
TEST_F(Pieces, AreWhatAMapSays) {
  Random random(17);
  std::map<std::uint64_t, std::uint64_t> model;
  constexpr int most_addresses = 4000;
  for (int round = 0; round < 60'000; ++round) {
    const auto address = static_cast<std::uint64_t>(random.below(most_addresses)) + 1;
    const auto next = model.upper_bound(address);
    const auto last = next == model.begin() ? model.end() : std::prev(next);
    const bool inside = last != model.end() && address - last->first < last->second;
    ASSERT_EQ(left(address), inside ? last->second - (address - last->first) : 0) << round;
    if (random.chance(45)) {
      const bool begins = last != model.end() && last->first == address;
      ASSERT_EQ(detach(address), begins ? Error::none : Error::base) << round;
      if (begins) model.erase(last);
    } else {
      const auto bytes = static_cast<std::uint64_t>(random.between(1, 6));
      const bool overlaps = inside || (next != model.end() && next->first - address < bytes);
      ASSERT_EQ(attach(address, bytes), overlaps ? Error::attach : Error::none) << round;
      if (!overlaps) model[address] = bytes;
    }
  }
}

// By threads without the lock: any piece that lies in the mapped extent, as long as nothing has
// been attached or detached since the last one was cached.
TEST_F(Pieces, AreFoundWithoutTheLock) {
  constexpr std::uint64_t many = 300;  // in two segments of nodes
  constexpr std::uint64_t extent = std::uint64_t{1} << 40;
  constexpr std::uint64_t mapped = 7000;  // the extent
  const auto attach_at = [&](std::uint64_t address, const ArenaLocation& place) {
    FailureReason reason;
    ASSERT_EQ(own_.attach({address, 6, place}, reason), Error::none);
  };
  MemoryRange piece;
  const auto cache = [&](std::uint64_t address, std::uint64_t base) {
    ASSERT_EQ(peer_.find_last_piece(address, piece, transport_, 0), PieceSearch::found);
    peer_.cache(piece, reinterpret_cast<std::byte*>(base));
  };
  const auto found = [&](std::uint64_t address, std::uint64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(peer_.find_piece_address(address, bytes));
  };
  for (std::uint64_t i = 1; i <= many; ++i) {
    attach_at(10 * i, {extent + 20 * i, extent});
  }
  attach_at(10 * (many + 1), {20, extent});
  attach_at(10 * (many + 2), {});
  EXPECT_EQ(found(10, 1), 0U);
  cache(50, mapped + 100);
  // A search with the lock maps what it meets of the tree.
  for (std::uint64_t i = 1; i <= many; ++i) peer_.find_last_piece(10 * i, piece, transport_, 0);
  for (std::uint64_t i = 1; i <= many; ++i) {
    ASSERT_EQ(found(10 * i, 6), mapped + 20 * i);
    ASSERT_EQ(found(10 * i + 2, 4), mapped + 20 * i + 2);
    ASSERT_EQ(found(10 * i + 2, 5), 0U);
    ASSERT_EQ(found(10 * i + 6, 1), 0U);
  }
  EXPECT_EQ(found(9, 1), 0U);
  EXPECT_EQ(found(10 * (many + 1), 1), 0U) << "another extent";
  EXPECT_EQ(found(10 * (many + 2), 1), 0U) << "private memory";
  cache(10 * (many + 1), 5000);
  EXPECT_EQ(found(10 * (many + 1), 1), 5000U) << "cached by itself";
  ASSERT_EQ(found(10, 6), mapped + 20) << "the first extent is the one that is kept";
  ASSERT_EQ(detach(10 * many), Error::none);
  EXPECT_EQ(found(10, 6), 0U);
  cache(50, mapped + 100);
  EXPECT_EQ(found(10, 6), mapped + 20);
  EXPECT_EQ(found(10 * many, 1), 0U);
}

// A hundred thousand, and a million changes with as many nodes as before.
TEST_F(Pieces, AreManyAndLeaveNothingBehind) {
  constexpr std::uint64_t many = 100'000;
  constexpr std::uint64_t scattered = 7919;  // coprime to `many`
  for (std::uint64_t i = 0; i < many; ++i) {
    ASSERT_EQ(attach(64 * (i * scattered % many) + 64, 60), Error::none);
  }
  for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(left(64 * i + 64), 60U);
  const auto segments = [&] {
    std::size_t used = 0;
    while (root_.segments[used].extent_bytes.load() != 0) ++used;
    return used;
  };
  const std::size_t before = segments();
  for (std::uint64_t i = 0; i < 5 * many; ++i) {
    const std::uint64_t address = 64 * (i * scattered % many) + 64;
    ASSERT_EQ(detach(address), Error::none);
    ASSERT_EQ(attach(address, 60), Error::none);
  }
  EXPECT_EQ(segments(), before);
  for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(detach(64 * i + 64), Error::none);
  EXPECT_EQ(left(64 * many), 0U);
  own_.forget_detached();
  EXPECT_EQ(PieceRoot::number_of(root_.top.load()), 0U);
}

/// Memory for so many segments.
class FewSegments {
 public:
  using Node = BasicPieceNode<SharedWords>;

  explicit FewSegments(std::size_t most) : most_(most) {}
  Node* allocate(std::size_t segment, ArenaLocation& place) {
    if (segment == most_) return nullptr;
    place = SimTransport::location_of(this);
    return taken_.emplace_back(new Node[DoublingSegments::entries(segment)]).get();
  }

 private:
  std::size_t most_;
  std::vector<std::unique_ptr<Node[]>> taken_;
};

// What has been attached can be detached, also when there is no memory left.
TEST(PieceTree, CanAlwaysDetach) {
  for (const std::size_t segments : {1, 2, 6}) {
    PieceRoot root;
    FewSegments memory(segments);
    BasicPieceTree<SharedWords, FewSegments> tree(root, memory);
    std::uint64_t attached = 0;
    while (tree.reserve()) tree.attach({8 * ++attached, 8, {}});
    EXPECT_GE(attached, DoublingSegments::entries(segments - 1) / 2);
    for (std::uint64_t i = 1; i <= attached; ++i) {
      const std::uint64_t address = 8 * (i * 7919 % attached + 1);
      MemoryRange piece;
      std::uint64_t detach = 0;
      ASSERT_TRUE(tree.find(address, piece, detach));
      ASSERT_EQ(piece.address, address);
      ASSERT_EQ(detach, 0U);
      tree.detach(address, i);
    }
    for (std::uint64_t i = 1; i <= attached; ++i) tree.forget(8 * i);
    EXPECT_EQ(PieceRoot::number_of(root.top.load()), 0U);
    EXPECT_TRUE(tree.reserve());
  }
}

// Addresses by whose hashes each piece lies below the one before: no tree of so many is as deep.
TEST(PieceTree, CanDetachTheDeepest) {
  PieceRoot root;
  FewSegments memory(1);
  BasicPieceTree<SharedWords, FewSegments> tree(root, memory);
  constexpr std::uint64_t bands = 16;
  std::uint64_t address = 0;
  std::uint64_t attached = 0;
  for (; tree.reserve(); ++attached) {
    ASSERT_LT(attached, bands);
    do {
      address += 8;
    } while (mix_bits(address) / (~std::uint64_t{0} / bands) != bands - 1 - attached);
    tree.attach({address, 8, {}});
  }
  EXPECT_GE(attached, DoublingSegments::entries(0) / 2);
  MemoryRange piece;
  std::uint64_t detach = 0;
  while (tree.find(~std::uint64_t{0}, piece, detach)) {
    tree.detach(piece.address, 1);
    tree.forget(piece.address);
  }
  EXPECT_EQ(PieceRoot::number_of(root.top.load()), 0U);
}

/// Counts the operations on detached memory that a process reports.
class DetachedAccesses final : public EventSink {
 public:
  void on(const Event& event, const EventSource&) override {
    if (event.kind != EventKind::detached_accessed) return;
    EXPECT_EQ(event.rank, 1);
    ++count;
  }
  int count = 0;
};

/// Two ranks whose memory is attached in pieces of two words. Messages carry one word.
class Dynamic : public ::testing::TestWithParam<Path> {
 protected:
  static constexpr std::size_t words = 8;

  Dynamic() {
    SimWindowSpec spec;
    spec.bytes = 8 * words;
    spec.memory = {GetParam(), GetParam()};
    spec.pieces = words / 2;
    job_.create_window(spec);
    EXPECT_EQ(window().lock_all({}), Error::none);
  }
  Window& window() { return job_.window(0); }
  std::int64_t place(std::uint64_t byte) { return job_.displacement(1, 0, byte); }
  std::uint64_t word(std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(1) + 8 * i, sizeof value);
    return value;
  }
  /// What becomes of an operation, when it is over.
  Error outcome(const Operation& operation) {
    const Outcome issued = window().epochs().issue(operation);
    if (issued.error != Error::none) return issued.error;
    return flush();
  }
  Error flush() {
    return error_of(job_,
                    [&](Completion* done) { return window().epochs().flush(1, false, done); });
  }

  static Limits limits() {
    Limits limits;
    limits.fragment = 8;
    return limits;
  }

  /// The process that finds the pieces of rank 1 for operations of rank 0.
  int finder() const { return GetParam() == Path::messages ? 1 : 0; }

  SimJob job_{std::vector<int>{0, 0}, false, limits()};
};

TEST_P(Dynamic, ReachesWhatIsAttached) {
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t value = 100 + i;
    EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, place(8 * i))), Error::none);
    EXPECT_EQ(outcome(on_word(OperationKind::accumulate, &value, 1, place(8 * i))), Error::none);
    EXPECT_EQ(word(i), 2 * value);
  }
}

TEST_P(Dynamic, RefusesWhatIsNot) {
  const std::uint64_t value = 1;
  for (const std::int64_t displacement : {place(8 * words), place(0) - 8, std::int64_t{0}, -8L}) {
    EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, displacement)), Error::range);
    EXPECT_EQ(outcome(on_word(OperationKind::accumulate, &value, 1, displacement)), Error::range);
  }
  EXPECT_EQ(flush(), Error::none) << "told once";
}

// All kinds of operations reach what was detached, as on MPICH, until it is forgotten. The hot
// path may remember where a piece was.
TEST_P(Dynamic, ReachesWhatIsDetachedUntilItIsForgotten) {
  const std::uint64_t value = 7;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, place(0))), Error::none);
    window().find_address(1, place(0), 8);
  }
  const auto address = static_cast<std::uint64_t>(place(0));
  ASSERT_EQ(job_.window(1).detach(address), Error::none);
  EXPECT_EQ(window().find_address(1, place(0), 8), nullptr);
  std::uint64_t other = 8;
  EXPECT_EQ(outcome(on_word(OperationKind::put, &other, 1, place(0))), Error::none);
  EXPECT_EQ(word(0), other);
  EXPECT_EQ(outcome(on_word(OperationKind::accumulate, &other, 1, place(8))), Error::none);
  EXPECT_EQ(word(1), other);
  std::uint64_t found = 0;
  Operation get = on_word(OperationKind::get, nullptr, 1, place(0));
  get.result = {&found, 1, get.target_layout};
  get.origin = {};
  EXPECT_EQ(outcome(get), Error::none);
  EXPECT_EQ(found, other);
  EXPECT_EQ(window().find_address(1, place(0), 8), nullptr);
  job_.window(1).forget_detached();
  other = 9;
  EXPECT_EQ(outcome(on_word(OperationKind::put, &other, 1, place(0))), Error::range);
  EXPECT_EQ(outcome(get), Error::range);
  EXPECT_EQ(word(0), 8U);
  ASSERT_EQ(job_.window(1).attach({address, 16, SimTransport::location_of(job_.memory(1))}),
            Error::none);
  EXPECT_EQ(outcome(on_word(OperationKind::put, &other, 1, place(0))), Error::none);
  EXPECT_EQ(word(0), other);
}

TEST_P(Dynamic, ReportsOperationsOnDetachedMemory) {
  DetachedAccesses accesses;
  job_.process(finder()).events().add(accesses);
  const std::uint64_t value = 7;
  EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, place(0))), Error::none);
  EXPECT_EQ(accesses.count, 0);
  ASSERT_EQ(job_.window(1).detach(static_cast<std::uint64_t>(place(0))), Error::none);
  EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, place(0))), Error::none);
  EXPECT_EQ(outcome(on_word(OperationKind::accumulate, &value, 1, place(8))), Error::none);
  EXPECT_EQ(accesses.count, 2);
  EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, place(16))), Error::none);
  EXPECT_EQ(accesses.count, 2);
  job_.process(1).forget_detached(job_.memory(1), 1);
  EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, place(0))), Error::range);
  EXPECT_EQ(accesses.count, 2);
}

/// An operation on every second word from the second one on, which lie in several pieces.
Operation scattered(OperationKind kind, std::uint64_t* origin, std::int64_t displacement) {
  Operation operation = on_word(kind, origin, 1, displacement);
  operation.target_layout = LayoutRef(new Layout({{8, 8}, {24, 8}, {40, 8}}, 48, Basic::u64));
  operation.origin.count = 3;
  return operation;
}

TEST_P(Dynamic, DatatypesReachIntoSeveralPieces) {
  std::array<std::uint64_t, 3> values{1, 2, 3};
  EXPECT_EQ(outcome(scattered(OperationKind::put, values.data(), place(0))), Error::none);
  EXPECT_EQ(outcome(scattered(OperationKind::accumulate, values.data(), place(0))), Error::none);
  const std::array<std::uint64_t, words> expected{0, 2, 0, 4, 0, 6, 0, 0};
  for (std::size_t i = 0; i < words; ++i) EXPECT_EQ(word(i), expected[i]);

  std::array<std::uint64_t, 6> fetched{};
  Operation get = on_word(OperationKind::get, nullptr, 1, place(8));
  get.origin = {};
  get.target_count = fetched.size();
  get.result = {fetched.data(), fetched.size(), get.target_layout};
  EXPECT_EQ(outcome(get), Error::none);
  for (std::size_t i = 0; i < fetched.size(); ++i) EXPECT_EQ(fetched[i], expected[i + 1]);
}

// The first piece is private unless all are mapped. Its owner may have unmapped it after the
// detach.
TEST_P(Dynamic, RefusesDetachedMemoryThatIsGone) {
  const bool lost = GetParam() != Path::load_store;
  std::array<std::uint64_t, 3> values{1, 2, 3};
  ASSERT_EQ(job_.window(1).detach(static_cast<std::uint64_t>(place(0))), Error::none);
  for (const bool gone : {true, false}) {
    job_.transport(0).set_refusing(gone);
    job_.transport(1).set_unmapped(gone);
    const Error expected = gone && lost ? Error::range : Error::none;
    for (const OperationKind kind : {OperationKind::put, OperationKind::accumulate}) {
      EXPECT_EQ(outcome(on_word(kind, values.data(), 1, place(0))), expected);
      // Into attached pieces, too.
      EXPECT_EQ(outcome(scattered(kind, values.data(), place(0))), expected);
    }
    std::uint64_t found = 7;
    Operation get = on_word(OperationKind::get, nullptr, 1, place(0));
    get.result = {&found, 1, get.target_layout};
    get.origin = {};
    EXPECT_EQ(outcome(get), expected);
    EXPECT_EQ(found, expected == Error::range ? 7 : gone ? 2 : word(0));
  }
}

// The agent carries out operations while the program computes, which may unmap detached memory at
// any time.
TEST_P(Dynamic, RefusesDetachedMemoryThatIsUnmappedMeanwhile) {
  const Error expected = GetParam() == Path::messages ? Error::range : Error::none;
  std::array<std::uint64_t, 3> values{1, 2, 3};
  std::uint64_t found = 7;
  Operation get = on_word(OperationKind::get, nullptr, 1, place(0));
  get.result = {&found, 1, get.target_layout};
  get.origin = {};
  ASSERT_EQ(job_.window(1).detach(static_cast<std::uint64_t>(place(0))), Error::none);
  for (const Operation& operation : {on_word(OperationKind::put, values.data(), 1, place(0)), get,
                                     scattered(OperationKind::put, values.data(), place(0))}) {
    job_.transport(1).unmap_soon();
    EXPECT_EQ(outcome(operation), expected);
  }
}

// A rank that operates on its own memory loads and stores it, and would not survive that.
TEST_P(Dynamic, RefusesItsOwnMemoryThatIsGone) {
  const std::uint64_t value = 1;
  const std::int64_t own = job_.displacement(0, 0, 0);
  ASSERT_EQ(job_.window(0).detach(static_cast<std::uint64_t>(own)), Error::none);
  for (const bool gone : {true, false}) {
    job_.transport(0).set_unmapped(gone);
    EXPECT_EQ(window().epochs().issue(on_word(OperationKind::put, &value, 0, own)).error,
              gone ? Error::range : Error::none);
  }
  std::uint64_t found = 0;
  std::memcpy(&found, job_.memory(0), sizeof found);
  EXPECT_EQ(found, value);
}

// The owner of detached memory is not asked to access it: it may have unmapped it since it did so
// last.
TEST_P(Dynamic, NoErrandReachesDetachedMemory) {
  job_.network().set_serving(10);
  const std::uint64_t value = 1;
  const auto both = [&] {
    const std::uint64_t before = job_.transport(0).errands();
    for (const OperationKind kind : {OperationKind::put, OperationKind::accumulate}) {
      EXPECT_EQ(outcome(on_word(kind, &value, 1, place(0))), Error::none);
    }
    return job_.transport(0).errands() - before;
  };
  EXPECT_EQ(both(), GetParam() == Path::system_call ? 2U : 0U);
  ASSERT_EQ(job_.window(1).detach(static_cast<std::uint64_t>(place(0))), Error::none);
  EXPECT_EQ(both(), 0U);
}

TEST_P(Dynamic, NoElementLiesInTwoPieces) {
  const std::uint64_t value = 1;
  EXPECT_EQ(outcome(on_word(OperationKind::accumulate, &value, 1, place(12))), Error::range);
  EXPECT_EQ(outcome(on_word(OperationKind::put, &value, 1, place(12))), Error::none);
}

TEST_P(Dynamic, CountsDoNotWrap) {
  const std::uint64_t value = 1;
  for (const std::uint64_t count : {std::uint64_t{1} << 61, (std::uint64_t{1} << 61) + 1,
                                    std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    Operation put = on_word(OperationKind::put, &value, 1, place(0));
    put.target_count = put.origin.count = count;
    EXPECT_EQ(window().epochs().issue(put).error, Error::range) << count;
  }
  EXPECT_EQ(word(0), 0U);
}

// Who closes the epoch is told, and nobody after that.
TEST_P(Dynamic, AFenceTellsWhatItsEpochHasDoneWrong) {
  PostedCall unlocked;
  unlocked.take(window().unlock_all(&unlocked));
  job_.run_until_idle();
  const auto fence = [&](const Assert& assertion) {
    std::array<Flag, 2> flags;
    for (int rank = 0; rank < 2; ++rank) {
      Flag& flag = flags[static_cast<std::size_t>(rank)];
      const Outcome outcome = job_.window(rank).epochs().fence(assertion, true, &flag);
      if (outcome.done) flag.complete(outcome.error);
    }
    job_.run_until_idle();
    EXPECT_TRUE(flags[0].done() && flags[1].done());
    EXPECT_EQ(flags[1].error(), Error::none);
    return flags[0].error();
  };
  EXPECT_EQ(fence({}), Error::none);
  const std::uint64_t value = 1;
  const Outcome issued =
      window().epochs().issue(on_word(OperationKind::put, &value, 1, place(8 * words)));
  EXPECT_EQ(first_of(issued.error, fence({})), Error::range);
  issue(window(), on_word(OperationKind::put, &value, 1, place(0)));
  EXPECT_EQ(fence(no_succeed()), Error::none);
  ASSERT_EQ(window().lock(false, 1, {}), Error::none);
  std::uint64_t found = 0;
  Operation get = on_word(OperationKind::get, nullptr, 1, place(0));
  get.result = {&found, 1, get.target_layout};
  get.origin = {};
  EXPECT_EQ(outcome(get), Error::none);
  EXPECT_EQ(found, value);
}

// The request of a good operation does not tell of another one.
TEST_P(Dynamic, AReplyTellsOfItsOwnOperation) {
  const std::uint64_t value = 1;
  const Outcome issued =
      window().epochs().issue(on_word(OperationKind::put, &value, 1, place(8 * words)));
  std::uint64_t found = 7;
  Flag fetched;
  Operation get = on_word(OperationKind::get, nullptr, 1, place(0));
  get.result = {&found, 1, get.target_layout};
  get.origin = {};
  get.completion = &fetched;
  const Outcome second = window().epochs().issue(get);
  if (second.done) fetched.complete(second.error);
  job_.run_until_idle();
  EXPECT_TRUE(fetched.done());
  EXPECT_EQ(fetched.error(), Error::none);
  EXPECT_EQ(found, 0U);
  EXPECT_EQ(first_of(issued.error, flush()), Error::range);
}

TEST_P(Dynamic, NothingIsStoredOfWhatIsAttachedInPart) {
  ASSERT_EQ(job_.window(1).detach(static_cast<std::uint64_t>(place(32))), Error::none);
  job_.window(1).forget_detached();
  std::array<std::uint64_t, 3> values{1, 2, 3};
  for (const OperationKind kind : {OperationKind::put, OperationKind::accumulate}) {
    EXPECT_EQ(outcome(scattered(kind, values.data(), place(0))), Error::range);
  }
  for (std::size_t i = 0; i < words; ++i) EXPECT_EQ(word(i), 0U);
}

INSTANTIATE_TEST_SUITE_P(Paths, Dynamic,
                         ::testing::Values(Path::load_store, Path::system_call, Path::messages),
                         [](const auto& one) {
                           return one.param == Path::load_store    ? "Mapped"
                                  : one.param == Path::system_call ? "Private"
                                                                   : "Served";
                         });

// A put that waits for its epoch is about what is attached when it is carried out.
TEST(DynamicEpochs, WhatIsAttachedBeforeThePostIsReached) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 8;
  spec.pieces = 1;
  job.create_window(spec);
  const auto address = static_cast<std::uint64_t>(job.displacement(1, 0, 0));
  ASSERT_EQ(job.window(1).detach(address), Error::none);
  const std::array<int, 1> target{1};
  const std::array<int, 1> origin{0};
  ASSERT_EQ(job.window(0).epochs().start(target, {}), Error::none);
  const std::uint64_t value = 5;
  issue(job.window(0), on_word(OperationKind::put, &value, 1, static_cast<std::int64_t>(address)));
  PostedCall completed;
  completed.take(job.window(0).epochs().complete(&completed));
  job.run_until_idle();
  EXPECT_FALSE(completed.done());
  ASSERT_EQ(job.window(1).attach({address, 8, SimTransport::location_of(job.memory(1))}),
            Error::none);
  ASSERT_EQ(job.window(1).epochs().post(origin, {}), Error::none);
  PostedCall waited;
  waited.take(job.window(1).epochs().wait(&waited));
  job.run_until_idle();
  EXPECT_TRUE(completed.done() && waited.done());
  std::uint64_t found = 0;
  std::memcpy(&found, job.memory(1), sizeof found);
  EXPECT_EQ(found, value);
}

}  // namespace
}  // namespace oriel::test
