// SPDX-License-Identifier: BSD-3-Clause
// The schedules of persistent collectives on simulated ranks (C4): each collective against a plain
// model, for every placement of the ranks, in whatever order things happen, several at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/collective/packed.hpp"
#include "core/collective/plan_registry.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"
#include "core/collective/schedules/schedules.hpp"
#include "support/index.hpp"
#include "support/plan_players.hpp"
#include "support/plans.hpp"
#include "support/players.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

// Around the limits, in words of eight bytes.
const std::vector<std::uint64_t> sizes{0, 1, 2, 5, 8, 12, 13, 16, 17, 32, 33, 64, 100, 300};

LayoutRef row_of_words(bool gaps) {
  static const LayoutRef dense(new Layout({{0, 8}}, 8, Basic::u64));
  static const LayoutRef gappy(new Layout({{8, 4}, {16, 4}}, 24, Basic::u64));
  return gaps ? gappy : dense;
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  return Random((a << 48) ^ (b << 32) ^ (c << 20) ^ d).next();
}

/// Memory with a message in it, which has a number.
class MessageBuffer {
 public:
  MessageBuffer(std::uint64_t count, bool gaps)
      : memory_(std::make_unique<std::vector<std::byte>>(count * (gaps ? 24 : 8))),
        buffer_{memory_->data(), count, row_of_words(gaps)} {}

  const Buffer& buffer() const { return buffer_; }
  void clear() { std::ranges::fill(*memory_, std::byte{0}); }
  void spoil() { std::ranges::fill(*memory_, std::byte{0xee}); }
  void fill(std::uint64_t message, std::uint64_t use) {
    clear();
    each_byte([&](std::byte& byte, std::uint64_t i) { byte = content(message, use, i); });
  }
  /// So many bytes of it, and nothing else.
  bool holds(std::uint64_t message, std::uint64_t use, std::uint64_t bytes) {
    bool right = true;
    each_byte([&](std::byte& byte, std::uint64_t i) {
      if (i >= bytes) return;
      right &= byte == content(message, use, i);
      byte = std::byte{0};
    });
    return right && std::ranges::all_of(*memory_, [](std::byte b) { return b == std::byte{0}; });
  }

 private:
  static std::byte content(std::uint64_t message, std::uint64_t use, std::uint64_t byte) {
    return static_cast<std::byte>(mixed(message, use, 0, byte) | 1);
  }
  template <typename Visit>
  void each_byte(Visit&& visit) {
    std::uint64_t number = 0;
    for (BlockCursor cursor(buffer_.elements()); !cursor.finished();) {
      visit((*memory_)[static_cast<std::size_t>(cursor.offset())], number++);
      cursor.advance(1);
    }
  }

  std::unique_ptr<std::vector<std::byte>> memory_;
  Buffer buffer_;
};

/// What one rank does in one collective.
class RankPart {
 public:
  virtual ~RankPart() = default;
  virtual const Schedule& schedule() const { return made_.schedule; }
  virtual void fill(std::uint64_t use) = 0;
  /// Whether it has come out as it should.
  virtual bool check(std::uint64_t use) = 0;
  /// The program may do so as soon as its rank's part of the use is over.
  virtual void spoil() = 0;

 protected:
  MadeSchedule made_;
};

/// A collective with its arguments, the same for all ranks.
class Collective {
 public:
  virtual ~Collective() = default;
  virtual std::unique_ptr<RankPart> part(const NodeMap& node_map) = 0;
  virtual std::string name() const = 0;
};

/// Sides that are sent and received, each with the number of its message.
class NumberedMessages : public RankPart {
 public:
  void fill(std::uint64_t use) override {
    for (auto& received : receives_) received.side.clear();
    for (auto& [side, message] : sends_) side.fill(message, use);
    for (auto& [i, message] : refills_) receives_[i].side.fill(message, use);
  }
  bool check(std::uint64_t use) override {
    bool right = true;
    for (auto& [side, message, bytes] : receives_) right &= side.holds(message, use, bytes);
    return right;
  }
  void spoil() override {
    for (auto& [side, message] : sends_) side.spoil();
    for (auto& received : receives_) received.side.spoil();
  }

 protected:
  const Buffer& send(std::uint64_t count, bool gaps, std::uint64_t message) {
    return sends_.emplace_back(MessageBuffer(count, gaps), message).first.buffer();
  }
  /// `spare`: elements that there is space for behind those that come.
  const Buffer& receive(std::uint64_t count, bool gaps, std::uint64_t message,
                        std::uint64_t spare = 0) {
    receives_.push_back({MessageBuffer(count + spare, gaps), message, 8 * count});
    return receives_.back().side.buffer();
  }
  /// The one received last holds that at the start.
  void refill(std::uint64_t message) { refills_.emplace_back(receives_.size() - 1, message); }

 private:
  struct Received {
    MessageBuffer side;
    std::uint64_t message;
    std::uint64_t bytes;
  };
  std::vector<std::pair<MessageBuffer, std::uint64_t>> sends_;
  std::vector<Received> receives_;
  std::vector<std::pair<std::size_t, std::uint64_t>> refills_;
};

class AlltoallwOf final : public Collective {
 public:
  AlltoallwOf(int ranks, Random& random) : ranks_(ranks), in_place_(random.chance(30)) {
    seed_ = random.next();
    counts_.resize(at(ranks * ranks));
    for (int a = 0; a < ranks; ++a) {
      for (int b = 0; b < ranks; ++b) {
        counts_[at(a * ranks + b)] =
            in_place_ && b < a ? counts_[at(b * ranks + a)] : random.pick(sizes);
      }
    }
  }
  std::string name() const override { return in_place_ ? "alltoallw in place" : "alltoallw"; }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : NumberedMessages {
      One(const AlltoallwOf& of, int rank) {
        Random random(of.seed_ + at(rank));
        std::vector<Buffer> sends;
        std::vector<Buffer> receives;
        const int n = of.ranks_;
        for (int other = 0; other < n; ++other) {
          const int to = rank * n + other;
          const int from = other * n + rank;
          const bool stays = of.in_place_ && other == rank;
          if (!of.in_place_) sends.push_back(send(of.counts_[at(to)], random.chance(30), at(to)));
          receives.push_back(receive(of.counts_[at(from)], random.chance(30), at(from)));
          if (of.in_place_) refill(stays ? at(from) : at(to));
        }
        made_ =
            of.in_place_ ? alltoallw_in_place(rank, receives) : alltoallw(rank, sends, receives);
      }
    };
    return std::make_unique<One>(*this, node_map.rank());
  }

 private:
  int ranks_;
  bool in_place_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> counts_;
};

/// The numbers of elements that ranks send one another, and what each has to know of them where
/// short blocks are gathered.
class Counts {
 public:
  Counts(int ranks, bool symmetrical, Random& random) : ranks_(ranks), counts_(at(ranks * ranks)) {
    // Of some all are short, of some few are not empty.
    const bool all_short = random.chance(40);
    const int empty = random.pick(std::vector{0, 0, 50, 90});
    for (int a = 0; a < ranks; ++a) {
      for (int b = 0; b < ranks; ++b) {
        std::uint64_t& count = counts_[at(a * ranks + b)];
        count = all_short ? at(random.below(6)) : random.pick(sizes);
        if (random.chance(empty)) count = 0;
        if (symmetrical && b < a) count = of(b, a);
      }
    }
  }
  std::uint64_t of(int from, int to) const { return counts_[at(from * ranks_ + to)]; }

  struct Known {
    std::vector<BlockLengths::Word> to;
    std::vector<BlockLengths::Word> from;
    std::vector<BlockLengths::Word> between;

    bool operator==(const Known&) const = default;
  };
  Known known(const NodeMap& node_map) const {
    const auto told = [&](int from, int to) {
      const std::uint64_t bytes = 8 * of(from, to);
      return bytes <= limits_of_plans().gathered ? static_cast<BlockLengths::Word>(bytes)
                                                 : BlockLengths::goes_directly;
    };
    Known known{std::vector<BlockLengths::Word>(at(ranks_)),
                std::vector<BlockLengths::Word>(at(ranks_)),
                {}};
    const int here = node_map.node();
    const int nodes = node_map.nodes();
    const auto size = [&](int node) { return static_cast<int>(node_map.members(node).size()); };
    for (int other = 0; other < ranks_; ++other) {
      const int there = node_map.node(other);
      if (there == here || size(here) * size(there) == 1) continue;
      known.to[at(other)] = told(node_map.rank(), other);
      known.from[at(other)] = told(other, node_map.rank());
    }
    for (const bool outwards : {true, false}) {
      for (int distance = 1; distance < nodes; ++distance) {
        const int there = (here + (outwards ? distance : nodes - distance)) % nodes;
        if ((distance - 1) % size(here) != node_map.position()) continue;
        if (size(here) * size(there) == 1) continue;
        for (const int from : node_map.members(outwards ? here : there)) {
          for (const int to : node_map.members(outwards ? there : here)) {
            known.between.push_back(told(from, to));
          }
        }
      }
    }
    return known;
  }

 private:
  int ranks_;
  std::vector<std::uint64_t> counts_;
};

/// Short blocks are gathered; there may be more space than is sent.
class GatheredOf final : public Collective {
 public:
  GatheredOf(int ranks, Random& random)
      : ranks_(ranks),
        in_place_(random.chance(30)),
        seed_(random.next()),
        counts_(ranks, in_place_, random) {}
  std::string name() const override { return in_place_ ? "gathered in place" : "gathered"; }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : NumberedMessages {
      One(const GatheredOf& of, const NodeMap& node_map) {
        const int rank = node_map.rank();
        Random random(of.seed_ + at(rank));
        std::vector<Buffer> sends;
        std::vector<Buffer> receives;
        const int n = of.ranks_;
        for (int other = 0; other < n; ++other) {
          const std::uint64_t out = of.counts_.of(rank, other);
          const std::uint64_t in = of.counts_.of(other, rank);
          const std::uint64_t from = at(other * n + rank);
          const std::uint64_t to = at(rank * n + other);
          if (!of.in_place_) sends.push_back(send(out, random.chance(30), to));
          const std::uint64_t spare = !of.in_place_ && random.chance(20) ? at(random.below(9)) : 0;
          receives.push_back(receive(in, random.chance(30), from, spare));
          if (of.in_place_) refill(other == rank ? from : to);
        }
        auto [known_to, known_from, between] = of.counts_.known(node_map);
        const BlockLengths lengths(known_to, known_from, between);
        made_ = of.in_place_ ? gathered_alltoallw_in_place(node_map, receives, lengths)
                             : gathered_alltoallw(node_map, sends, receives, lengths);
      }
    };
    return std::make_unique<One>(*this, node_map);
  }

 private:
  int ranks_;
  bool in_place_;
  std::uint64_t seed_;
  Counts counts_;
};

/// How they learn what GatheredOf is told.
class LengthsOf final : public Collective {
 public:
  LengthsOf(int ranks, Random& random) : ranks_(ranks), counts_(ranks, false, random) {}
  std::string name() const override { return "lengths"; }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : RankPart {
      One(const LengthsOf& of, const NodeMap& node_map)
          : known_(of.counts_.known(node_map)),
            exchange_(node_map, sends(of, node_map.rank()), limits_of_plans()) {}
      const Schedule& schedule() const override { return exchange_.schedule(); }
      void fill(std::uint64_t) override {}
      bool check(std::uint64_t) override {
        const BlockLengths lengths = exchange_.lengths();
        Counts::Known told = known_;
        for (std::size_t i = 0; i < told.to.size(); ++i) {
          told.to[i] = lengths.to(static_cast<int>(i));
          told.from[i] = lengths.from(static_cast<int>(i));
        }
        for (std::size_t i = 0; i < told.between.size(); ++i) {
          told.between[i] = lengths.between(i);
        }
        return told == known_;
      }
      void spoil() override {}

     private:
      static std::vector<Buffer> sends(const LengthsOf& of, int rank) {
        std::vector<Buffer> made;
        for (int to = 0; to < of.ranks_; ++to) {
          made.push_back({nullptr, of.counts_.of(rank, to), row_of_words(false)});
        }
        return made;
      }

      Counts::Known known_;
      LengthsExchange exchange_;
    };
    return std::make_unique<One>(*this, node_map);
  }

 private:
  int ranks_;
  Counts counts_;
};

class AllgathervOf final : public Collective {
 public:
  AllgathervOf(int ranks, Random& random) : in_place_(random.chance(30)), seed_(random.next()) {
    const bool all_short = random.chance(40);
    for (int i = 0; i < ranks; ++i) {
      counts_.push_back(all_short ? at(random.below(5)) : random.pick(sizes));
    }
  }
  std::string name() const override { return in_place_ ? "allgatherv in place" : "allgatherv"; }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : NumberedMessages {
      One(const AllgathervOf& of, const NodeMap& node_map) {
        const int rank = node_map.rank();
        Random random(of.seed_ + at(rank));
        Buffer own;
        if (!of.in_place_) own = send(of.counts_[at(rank)], random.chance(30), at(rank));
        std::vector<Buffer> blocks;
        const bool gaps = random.chance(30);
        for (std::size_t other = 0; other < of.counts_.size(); ++other) {
          blocks.push_back(receive(of.counts_[other], gaps, other));
          if (of.in_place_ && other == at(rank)) refill(other);
        }
        made_ = allgatherv(node_map, own, blocks, limits_of_plans());
      }
    };
    return std::make_unique<One>(*this, node_map);
  }

 private:
  bool in_place_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> counts_;
};

/// Edges between ranks, as often as it happens. Each rank lists them in an order of its own, but
/// those of one pair in the same one.
class GraphOf final : public Collective {
 public:
  GraphOf(int ranks, Random& random) : seed_(random.next()) {
    const int edges = random.below(3 * ranks + 1);
    for (int i = 0; i < edges; ++i) {
      const int from = random.below(ranks);
      const int to = random.chance(60) ? (from + random.below(2)) % ranks : random.below(ranks);
      edges_.push_back({from, to, random.pick(sizes)});
    }
  }
  std::string name() const override { return "neighbor_alltoallv of a graph"; }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : NumberedMessages {
      One(const GraphOf& of, int rank) {
        Random random(of.seed_ + at(rank));
        made_ = neighbor_alltoallv(rank, list(of, random, rank, true),
                                   list(of, random, rank, false), EdgeMatching::graph);
      }
      std::vector<Edge> list(const GraphOf& of, Random& random, int rank, bool out) {
        // By the other end, in an order by chance; those of one pair one after the other or mixed
        // with others.
        std::vector<std::pair<std::uint64_t, std::size_t>> order;
        std::vector<std::uint64_t> last(64);
        for (std::size_t i = 0; i < of.edges_.size(); ++i) {
          const OneEdge& edge = of.edges_[i];
          if ((out ? edge.from : edge.to) != rank) continue;
          std::uint64_t& before = last[at(out ? edge.to : edge.from)];
          before += random.next() % 1000 + 1;
          order.emplace_back(before, i);
        }
        std::ranges::sort(order);
        std::vector<Edge> edges;
        for (const auto& [key, i] : order) {
          const OneEdge& edge = of.edges_[i];
          const bool gaps = random.chance(30);
          edges.push_back({out ? edge.to : edge.from,
                           out ? send(edge.count, gaps, i) : receive(edge.count, gaps, i)});
        }
        return edges;
      }
    };
    return std::make_unique<One>(*this, node_map.rank());
  }

 private:
  struct OneEdge {
    int from;
    int to;
    std::uint64_t count;
  };
  std::uint64_t seed_;
  std::vector<OneEdge> edges_;
};

/// A grid of two dimensions, each periodic or not.
class GridOf final : public Collective {
 public:
  GridOf(int ranks, Random& random) : seed_(random.next()) {
    std::vector<int> divisors;
    for (int i = 1; i <= ranks; ++i) {
      if (ranks % i == 0) divisors.push_back(i);
    }
    extent_[0] = random.pick(divisors);
    extent_[1] = ranks / extent_[0];
    for (bool& one : periodic_) one = random.chance(80);
    for (int i = 0; i < ranks * 4; ++i) counts_.push_back(random.pick(sizes));
  }
  std::string name() const override { return "neighbor_alltoallv of a grid"; }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : NumberedMessages {
      One(const GridOf& of, int rank) {
        Random random(of.seed_ + at(rank));
        std::vector<Edge> sends;
        std::vector<Edge> receives;
        for (int i = 0; i < 4; ++i) {
          const int other = of.neighbor(rank, i);
          // What they send us goes the other way round.
          const int out = rank * 4 + i;
          const int in = other * 4 + (i ^ 1);
          sends.push_back({other, other < 0
                                      ? Buffer()
                                      : send(of.counts_[at(out)], random.chance(30), at(out))});
          receives.push_back({other, other < 0
                                         ? Buffer()
                                         : receive(of.counts_[at(in)], random.chance(30), at(in))});
        }
        made_ = neighbor_alltoallv(rank, sends, receives, EdgeMatching::cartesian);
      }
    };
    return std::make_unique<One>(*this, node_map.rank());
  }

 private:
  int neighbor(int rank, int edge) const {
    std::array<int, 2> place{rank / extent_[1], rank % extent_[1]};
    const auto dimension = at(edge / 2);
    int& coordinate = place[dimension];
    coordinate += edge % 2 == 0 ? -1 : 1;
    if (coordinate < 0 || coordinate == extent_[dimension]) {
      if (!periodic_[dimension]) return -1;
      coordinate = (coordinate + extent_[dimension]) % extent_[dimension];
    }
    return place[0] * extent_[1] + place[1];
  }

  std::uint64_t seed_;
  std::array<int, 2> extent_{};
  std::array<bool, 2> periodic_{};
  std::vector<std::uint64_t> counts_;
};

class BcastOf final : public Collective {
 public:
  BcastOf(int ranks, Random& random)
      : root_(random.below(ranks)),
        count_(random.chance(5) ? 2100 : random.pick(sizes)),
        seed_(random.next()) {}
  std::string name() const override { return "bcast from " + std::to_string(root_); }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : NumberedMessages {
      One(const BcastOf& of, const NodeMap& node_map) {
        Random random(of.seed_ + at(node_map.rank()));
        const bool gaps = random.chance(30);
        const Buffer& buffer =
            node_map.rank() == of.root_ ? send(of.count_, gaps, 7) : receive(of.count_, gaps, 7);
        made_ = bcast(node_map, of.root_, buffer, limits_of_plans());
      }
    };
    return std::make_unique<One>(*this, node_map);
  }

 private:
  int root_;
  std::uint64_t count_;
  std::uint64_t seed_;
};

/// Of pairs of words: affine maps, one behind the other; or sums.
class PairOp final : public OwnOp {
 public:
  explicit PairOp(bool commutes) : commutes_(commutes) {}
  bool commutes() const override { return commutes_; }
  bool callable() const override { return true; }
  void combine(const void* from, void* into, std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::array<std::uint64_t, 2> low{};
      std::array<std::uint64_t, 2> high{};
      std::memcpy(low.data(), static_cast<const std::byte*>(from) + i * sizeof low, sizeof low);
      std::byte* const place = static_cast<std::byte*>(into) + i * sizeof high;
      std::memcpy(high.data(), place, sizeof high);
      high = commutes_ ? std::array{low[0] + high[0], low[1] + high[1]}
                       : std::array{low[0] * high[0], low[0] * high[1] + low[1]};
      std::memcpy(place, high.data(), sizeof high);
    }
  }

 private:
  bool commutes_;
};

class ReduceOf final : public Collective {
 public:
  ReduceOf(int ranks, Random& random)
      : ranks_(ranks),
        root_(random.below(ranks)),
        in_place_(random.chance(30)),
        seed_(random.next()) {
    static const std::vector<Reduction> reductions{
        {Op::sum, Basic::f64, 8}, {Op::sum, Basic::f64, 8},       {Op::sum, Basic::f32, 4},
        {Op::sum, Basic::i64, 8}, {Op::max, Basic::i32, 4},       {Op::bxor, Basic::u8, 1},
        {Op::min, Basic::f64, 8}, {Op::maxloc, Basic::int_int, 8}};
    reduction_ = random.pick(reductions);
    if (random.chance(40)) {
      reduction_ = {Op::replace, Basic::none, 16};
      own_op_ = std::make_shared<PairOp>(random.chance(30));
    }
    count_ = random.pick(sizes) * 8 / reduction_.element;
    if (random.chance(10)) count_ *= 8;
  }
  std::string name() const override { return "reduce to " + std::to_string(root_); }
  std::unique_ptr<RankPart> part(const NodeMap& node_map) override {
    struct One : RankPart {
      One(const ReduceOf& of, const NodeMap& node_map) : of_(of), rank_(node_map.rank()) {
        from_.resize(of.count_ * of.reduction_.element);
        if (rank_ == of.root_ && !of.in_place_) into_.resize(from_.size());
        std::vector<std::byte>& into = of.in_place_ ? from_ : into_;
        made_ = reduce(node_map, of.root_,
                       {from_.data(), rank_ == of.root_ ? into.data() : nullptr, of.count_,
                        of.reduction_, of.own_op_},
                       limits_of_plans());
      }
      void fill(std::uint64_t use) override {
        std::ranges::copy(of_.values(rank_, use), from_.begin());
        std::ranges::fill(into_, std::byte{0});
      }
      bool check(std::uint64_t use) override {
        const bool at_root = rank_ == of_.root_;
        if (!(at_root && of_.in_place_) && from_ != of_.values(rank_, use)) return false;
        return !at_root || (of_.in_place_ ? from_ : into_) == of_.expected(use);
      }
      void spoil() override { std::ranges::fill(from_, std::byte{0xee}); }

      const ReduceOf& of_;
      int rank_;
      std::vector<std::byte> from_;
      std::vector<std::byte> into_;
    };
    return std::make_unique<One>(*this, node_map);
  }

 private:
  template <typename T>
  static void store(std::vector<std::byte>& into, std::uint64_t place, T value) {
    std::memcpy(into.data() + place * sizeof value, &value, sizeof value);
  }
  std::vector<std::byte> values(int rank, std::uint64_t use) const {
    std::vector<std::byte> made(count_ * reduction_.element);
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::uint64_t bits = mixed(seed_ & 0xffff, at(rank), use, i);
      // Of very different sizes, so that the order of additions shows.
      const double number = static_cast<double>(bits >> 40) * (bits % 3 == 0 ? 1e-9 : 1.0);
      switch (reduction_.basic) {
        case Basic::f64:
          store(made, i, number);
          break;
        case Basic::f32:
          store(made, i, static_cast<float>(number));
          break;
        case Basic::i64:
          store(made, i, bits);
          break;
        case Basic::i32:
          store(made, i, static_cast<std::int32_t>(bits));
          break;
        case Basic::int_int:
          store(made, 2 * i, static_cast<std::int32_t>(bits % 5));
          store(made, 2 * i + 1, rank);
          break;
        case Basic::none:
          store(made, 2 * i, bits | 1);
          store(made, 2 * i + 1, ~bits);
          break;
        default:
          store(made, i, static_cast<std::uint8_t>(bits));
      }
    }
    return made;
  }
  /// Of the ranks from `first` on: so many, or up to the last.
  std::vector<std::byte> fold(int first, int many, std::uint64_t use) const {
    if (many == 1) return values(first, use);
    std::vector<std::byte> one = fold(first, many / 2, use);
    if (first + many / 2 >= ranks_) return one;
    std::vector<std::byte> other = fold(first + many / 2, many / 2, use);
    if (own_op_ != nullptr) {
      own_op_->combine(one.data(), other.data(), count_);
      return other;
    }
    reduce_plain(reduction_, one.data(), other.data(), nullptr, count_);
    return one;
  }
  std::vector<std::byte> expected(std::uint64_t use) const { return fold(0, 16, use); }

  int ranks_;
  int root_;
  bool in_place_;
  std::uint64_t seed_;
  Reduction reduction_;
  std::shared_ptr<OwnOp> own_op_;
  std::uint64_t count_ = 0;
};

struct AnyCollective {
  static constexpr std::uint64_t uses = 4;

  static Limits limits() { return limits_of_plans(); }
  static std::unique_ptr<Collective> draw(int ranks, Random& random) {
    switch (random.below(11)) {
      case 0:
        return std::make_unique<AlltoallwOf>(ranks, random);
      case 8:
      case 9:
        return std::make_unique<GatheredOf>(ranks, random);
      case 10:
        return std::make_unique<LengthsOf>(ranks, random);
      case 1:
      case 2:
        return std::make_unique<AllgathervOf>(ranks, random);
      case 3:
        return std::make_unique<GraphOf>(ranks, random);
      case 4:
        return std::make_unique<GridOf>(ranks, random);
      case 5:
        return std::make_unique<BcastOf>(ranks, random);
      default:
        return std::make_unique<ReduceOf>(ranks, random);
    }
  }
};

constexpr std::uint32_t other_signature = 12345;

class SchedulesOn : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(SchedulesOn, DoWhatTheCollectiveDoes) {
  play_seeds<PlanPlayers<AnyCollective>>(GetParam(), 40, false);
}

TEST_P(SchedulesOn, AreMadeForTheNodesThatRanksTellOfThemselves) {
  SimJob job(GetParam(), false, limits_of_plans());
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  for (int rank = 0; rank < job.ranks(); ++rank) job.window(rank).plan_registry().ask_nodes();
  job.run_until_idle();
  for (int rank = 0; rank < job.ranks(); ++rank) {
    PlanRegistry& space = job.window(rank).plan_registry();
    ASSERT_TRUE(space.nodes_known());
    for (int one = 0; one < job.ranks(); ++one) {
      EXPECT_EQ(space.nodes()[at(one)],
                std::ranges::find(GetParam(), GetParam()[at(one)]) - GetParam().begin());
    }
  }
}

TEST_P(SchedulesOn, AreFaultyOnAllRanksWhereOneGivesOtherArguments) {
  SimJob job(GetParam(), false, limits_of_plans());
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  const int odd = job.ranks() - 1;
  const auto find_fault = [&](std::uint32_t odd_signature, int odd_root, std::uint64_t odd_count,
                              int odd_bad) {
    std::vector<MessageBuffer> sides;
    std::vector<Plan*> plans;
    for (int rank = 0; rank < job.ranks(); ++rank) {
      const bool is_odd = rank == odd;
      sides.emplace_back(is_odd ? odd_count : 40, false);
      const MadeSchedule made = bcast(NodeMap(rank, GetParam()), is_odd ? odd_root : 0,
                                      sides.back().buffer(), limits_of_plans());
      plans.push_back(&job.window(rank).plan_registry().make(
          made.schedule,
          {.signature = is_odd ? odd_signature : 0, .bad_arguments = is_odd ? odd_bad : 0}));
    }
    for (int round = 0; round < 4; ++round) {
      job.run_until_idle();
      for (Plan* plan : plans) plan->advance_making();
    }
    const PlanFault fault = plans.front()->fault();
    for (int rank = 0; rank < job.ranks(); ++rank) {
      Plan& plan = *plans[at(rank)];
      EXPECT_TRUE(plan.advance_making());
      EXPECT_EQ(plan.fault().kind, fault.kind);
      EXPECT_EQ(plan.fault().sender, fault.sender);
      job.window(rank).plan_registry().free(plan);
    }
    return fault;
  };
  EXPECT_FALSE(find_fault(0, 0, 40, 0));
  if (job.ranks() == 1) return;
  const PlanFault differs = find_fault(other_signature, odd, 40, 0);
  EXPECT_EQ(differs.kind, PlanFault::Kind::signature);
  EXPECT_EQ(differs.sender, 0);
  EXPECT_EQ(differs.receiver, odd);
  EXPECT_EQ(find_fault(0, 0, 40, 7).kind, PlanFault::Kind::arguments);
  // Who has not told has to be found by the transfers themselves.
  EXPECT_TRUE(find_fault(0, 0, 3, 0));
  EXPECT_FALSE(find_fault(0, 0, 40, 0));
}

TEST_P(SchedulesOn, AreFaultyWhereWhatARankSendsItselfDoesNotFit) {
  SimJob job(GetParam(), false, limits_of_plans());
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  const int odd = job.ranks() / 2;
  std::vector<MessageBuffer> sides;
  std::vector<Plan*> plans;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    std::vector<Buffer> sends;
    std::vector<Buffer> receives;
    for (int other = 0; other < job.ranks(); ++other) {
      const std::uint64_t sent = rank == odd && other == odd ? 6 : 5;
      sends.push_back(sides.emplace_back(sent, false).buffer());
      receives.push_back(sides.emplace_back(5, false).buffer());
    }
    plans.push_back(
        &job.window(rank).plan_registry().make(alltoallw(rank, sends, receives).schedule));
  }
  for (int round = 0; round < 4; ++round) {
    job.run_until_idle();
    for (Plan* plan : plans) plan->advance_making();
  }
  for (int rank = 0; rank < job.ranks(); ++rank) {
    ASSERT_TRUE(plans[at(rank)]->advance_making());
    const PlanFault fault = plans[at(rank)]->fault();
    EXPECT_EQ(fault.kind, PlanFault::Kind::truncated);
    EXPECT_EQ(fault.sender, odd);
    EXPECT_EQ(fault.receiver, odd);
    EXPECT_EQ(fault.sent, 48u);
    EXPECT_EQ(fault.space, 40u);
    job.window(rank).plan_registry().free(*plans[at(rank)]);
  }
}

TEST(BuffersTogether, AreTheBytesOfTheirStretches) {
  std::array<std::uint64_t, 12> from{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = mixed(i, 0, 0, 0);
  std::vector<std::byte> expected;
  std::vector<Stretch> parts;
  const auto add = [&](const Buffer& whole, std::uint64_t first, std::uint64_t bytes) {
    parts.emplace_back(whole, first, bytes);
    std::uint64_t number = 0;
    for (BlockCursor cursor(whole.elements()); !cursor.finished(); cursor.advance(1), ++number) {
      if (number < first || number - first >= bytes) continue;
      expected.push_back(static_cast<const std::byte*>(whole.address)[cursor.offset()]);
    }
  };
  const Buffer dense{&from[9], 3, row_of_words(false)};
  const Buffer gappy{from.data(), 2, row_of_words(true)};
  add(gappy, 3, 7);
  add(dense, 5, 100);
  add(dense, 24, 8);
  add(gappy, 0, 0);
  add(gappy, 11, ~std::uint64_t{0});
  const Packed all(together(parts));
  std::vector<std::byte> packed(expected.size());
  ASSERT_EQ(all.bytes(), packed.size());
  all.copy_out(0, packed.size(), packed.data());
  EXPECT_EQ(packed, expected);
}

TEST_P(SchedulesOn, AlsoAsThreads) {
  play_seeds<PlanPlayers<AnyCollective>>(GetParam(), 5, true);
}

using Nodes = std::vector<int>;
INSTANTIATE_TEST_SUITE_P(
    Placements, SchedulesOn,
    ::testing::Values(Nodes{0}, Nodes{0, 0}, Nodes{0, 1}, Nodes{0, 0, 0}, Nodes{0, 1, 0, 1},
                      Nodes{0, 0, 0, 1, 1}, Nodes{0, 0, 0, 0, 0, 0}, Nodes{0, 1, 2, 3, 4, 5, 6},
                      Nodes{0, 0, 0, 0, 1, 1, 1, 1}, Nodes{0, 0, 0, 1, 2, 2, 2, 2, 2},
                      Nodes{1, 0, 0, 2, 1, 0, 2, 2, 1}, Nodes{0, 1, 2, 3, 4, 5, 6, 7, 8}),
    placement_name);

}  // namespace
}  // namespace oriel::test
