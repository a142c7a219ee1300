// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/gathered_alltoallw.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/collective/schedule.hpp"
#include "core/collective/schedules/schedules.hpp"

namespace oriel {
namespace {

using Word = BlockLengths::Word;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

std::uint64_t gathered_bytes(Word word) {
  return word == BlockLengths::goes_directly ? 0 : word;
}

/// The gathered blocks from one node to another. One of the two is our node; this rank serves the
/// other.
struct Charge {
  int distance = 0;
  std::span<const int> senders;
  std::span<const int> receivers;
  std::uint64_t first_pair = 0;  // of its blocks, which are ordered by sender, then receiver
  std::uint64_t bytes = 0;       // of all gathered blocks
  std::byte* memory = nullptr;

  std::uint64_t pair(std::size_t sender, std::size_t receiver) const {
    return first_pair + sender * receivers.size() + receiver;
  }
};

class GatheredExchange {
 public:
  GatheredExchange(const NodeMap& node_map, std::span<const Buffer> receives,
                   const BlockLengths& lengths)
      : node_map_(node_map), receives_(receives), lengths_(lengths) {
    find_charges();
  }

  MadeSchedule make(std::span<const Buffer> sends) {
    allocate_scratch(0);
    sends_ = sends;
    const Buffer& own = sends_[at(node_map_.rank())];
    if (bytes_in(own) != 0) schedule().copies.push_back({own, receives_[at(node_map_.rank())], 0});
    return finish();
  }
  MadeSchedule make_in_place() {
    std::byte* memory = allocate_scratch(KeptSends::bytes(node_map_.rank(), receives_));
    KeptSends kept(node_map_.rank(), receives_, memory);
    sends_ = kept.sends;
    schedule().copies = std::move(kept.copies);
    return finish();
  }

 private:
  Schedule& schedule() { return made_.schedule; }
  int other_node(int distance) const { return node_map_.behind(node_map_.node(), distance); }
  std::span<const int> here() const { return node_map_.members(node_map_.node()); }

  void find_charges() {
    std::uint64_t pairs = 0;
    const auto find = [&](std::vector<Charge>& charges, int direction) {
      for (int distance = 1; distance < node_map_.nodes(); ++distance) {
        const int there = other_node(direction * distance);
        if (node_map_.gateway(node_map_.node(), distance) != node_map_.rank()) continue;
        if (!gathers(node_map_, there)) continue;
        Charge charge{distance, here(), node_map_.members(there), pairs};
        if (direction < 0) std::swap(charge.senders, charge.receivers);
        pairs += charge.senders.size() * charge.receivers.size();
        for (std::uint64_t pair = charge.first_pair; pair < pairs; ++pair) {
          charge.bytes += gathered_bytes(lengths_.between(pair));
        }
        if (charge.bytes != 0) charges.push_back(charge);
      }
    };
    find(departures_, 1);
    find(arrivals_, -1);
    last_step_ =
        !arrivals_.empty() ? static_cast<int>(arrivals_.size()) + 1 : (departures_.empty() ? 0 : 1);
  }

  /// Allocates the memory of the charges and `besides` bytes, and returns the latter's address.
  std::byte* allocate_scratch(std::uint64_t besides) {
    std::uint64_t bytes = besides;
    for (const auto* charges : {&departures_, &arrivals_}) {
      for (const Charge& charge : *charges) bytes += charge.bytes;
    }
    std::byte* next = made_.allocate_scratch(bytes);
    for (auto* charges : {&departures_, &arrivals_}) {
      for (Charge& charge : *charges) {
        charge.memory = next;
        next += charge.bytes;
      }
    }
    return next;
  }

  MadeSchedule finish() {
    schedule().needs_all = true;
    exchange_directly();
    exchange_with_gateways(true);
    gather();
    share_out();
    exchange_with_gateways(false);
    std::ranges::stable_sort(schedule().sends, {}, &Schedule::Send::step);
    std::ranges::stable_sort(schedule().copies, {}, &Schedule::Copy::step);
    return std::move(made_);
  }

  bool goes_directly(int other, Word word) const {
    return node_map_.node(other) == node_map_.node() ||
           !gathers(node_map_, node_map_.node(other)) || word == BlockLengths::goes_directly;
  }
  /// Sends and receives direct blocks. They are waited for in the last step only.
  void exchange_directly() {
    for (int distance = 1; distance < node_map_.ranks(); ++distance) {
      const int to = (node_map_.rank() + distance) % node_map_.ranks();
      const int from = (node_map_.rank() + node_map_.ranks() - distance) % node_map_.ranks();
      if (goes_directly(to, lengths_.to(to))) {
        schedule().sends.push_back({to, sends_[at(to)], 0});
      }
      if (goes_directly(from, lengths_.from(from))) {
        schedule().receives.push_back({from, receives_[at(from)], last_step_});
      }
    }
  }

  /// Our gathered blocks to (`sent`) or from another node, in the order of its ranks.
  Buffer blocks_of(int node, bool sent) const {
    std::vector<Stretch> parts;
    for (const int other : node_map_.members(node)) {
      parts.emplace_back((sent ? sends_ : receives_)[at(other)], 0,
                         gathered_bytes(sent ? lengths_.to(other) : lengths_.from(other)));
    }
    return together(parts);
  }

  /// Sends our gathered blocks to the gateways of our node (`sent`), or receives those for this
  /// rank from them.
  void exchange_with_gateways(bool sent) {
    for (int distance = 1; distance < node_map_.nodes(); ++distance) {
      const int there = other_node(sent ? distance : -distance);
      const int gateway = node_map_.gateway(node_map_.node(), distance);
      if (gateway == node_map_.rank() || !gathers(node_map_, there)) continue;
      const Buffer blocks = blocks_of(there, sent);
      if (bytes_in(blocks) == 0) continue;
      if (sent) {
        schedule().sends.push_back({gateway, blocks, 0});
      } else {
        schedule().receives.push_back({gateway, blocks, last_step_});
      }
    }
  }

  void gather() {
    for (const Charge& charge : departures_) {
      std::byte* next = charge.memory;
      for (std::size_t sender = 0; sender < charge.senders.size(); ++sender) {
        std::uint64_t bytes = 0;
        for (std::size_t receiver = 0; receiver < charge.receivers.size(); ++receiver) {
          bytes += gathered_bytes(lengths_.between(charge.pair(sender, receiver)));
        }
        if (bytes == 0) continue;
        const Buffer into = bytes_at(std::exchange(next, next + bytes), bytes);
        if (charge.senders[sender] == node_map_.rank()) {
          schedule().copies.push_back({blocks_of(other_node(charge.distance), true), into, 0});
        } else {
          schedule().receives.push_back({charge.senders[sender], into, 0});
        }
      }
      const int there = other_node(charge.distance);
      schedule().sends.push_back(
          {node_map_.gateway(there, charge.distance), bytes_at(charge.memory, charge.bytes), 1});
    }
  }

  /// Blocks from another node are distributed in the step after the one that waits for them.
  void share_out() {
    int step = 0;
    for (const Charge& charge : arrivals_) {
      const int there = other_node(-charge.distance);
      schedule().receives.push_back({node_map_.gateway(there, charge.distance),
                                     bytes_at(charge.memory, charge.bytes), ++step});
      std::vector<std::vector<Stretch>> parts(charge.receivers.size());
      std::byte* next = charge.memory;
      for (std::size_t sender = 0; sender < charge.senders.size(); ++sender) {
        for (std::size_t receiver = 0; receiver < charge.receivers.size(); ++receiver) {
          const auto bytes = gathered_bytes(lengths_.between(charge.pair(sender, receiver)));
          if (bytes == 0) continue;
          parts[receiver].emplace_back(bytes_at(std::exchange(next, next + bytes), bytes));
        }
      }
      for (std::size_t receiver = 0; receiver < parts.size(); ++receiver) {
        if (parts[receiver].empty()) continue;
        const Buffer blocks = together(parts[receiver]);
        if (charge.receivers[receiver] == node_map_.rank()) {
          schedule().copies.push_back({blocks, blocks_of(there, false), step + 1});
        } else {
          schedule().sends.push_back({charge.receivers[receiver], blocks, step + 1});
        }
      }
    }
  }

  const NodeMap& node_map_;
  std::span<const Buffer> sends_;
  std::span<const Buffer> receives_;
  const BlockLengths& lengths_;
  std::vector<Charge> departures_;  // to other nodes; only those with gathered blocks
  std::vector<Charge> arrivals_;
  int last_step_ = 0;
  MadeSchedule made_;
};

Word length_word(const Buffer& block, const Limits& limits) {
  const std::uint64_t bytes = bytes_in(block);
  return bytes <= limits.gathered ? static_cast<Word>(bytes) : BlockLengths::goes_directly;
}

}  // namespace

bool gathers(const NodeMap& node_map, int node) {
  return node != node_map.node() &&
         node_map.members(node_map.node()).size() * node_map.members(node).size() > 1;
}

bool gathers_anywhere(const NodeMap& node_map) {
  return node_map.nodes() > 1 && node_map.nodes() < node_map.ranks();
}

MadeSchedule gathered_alltoallw(const NodeMap& node_map, std::span<const Buffer> sends,
                                std::span<const Buffer> receives, const BlockLengths& lengths) {
  return GatheredExchange(node_map, receives, lengths).make(sends);
}

MadeSchedule gathered_alltoallw_in_place(const NodeMap& node_map, std::span<const Buffer> buffers,
                                         const BlockLengths& lengths) {
  return GatheredExchange(node_map, buffers, lengths).make_in_place();
}

LengthsExchange::LengthsExchange(const NodeMap& node_map, std::span<const Buffer> sends,
                                 const Limits& limits)
    : to_(sends.size()), from_(sends.size()) {
  std::vector<Buffer> words_to(sends.size());
  std::vector<Buffer> words_from(sends.size());
  for (std::size_t other = 0; other < sends.size(); ++other) {
    // A block between nodes that do not gather always goes directly and needs no length.
    if (!gathers(node_map, node_map.node(static_cast<int>(other)))) continue;
    to_[other] = length_word(sends[other], limits);
    words_to[other] = bytes_at(&to_[other], sizeof(Word));
    words_from[other] = bytes_at(&from_[other], sizeof(Word));
  }
  made_ = gathered_alltoallw(node_map, words_to, words_from, BlockLengths(sizeof(Word)));
}

BlockLengths LengthsExchange::lengths() const {
  std::vector<Word> between(made_.scratch_bytes / sizeof(Word));
  if (!between.empty())
    std::memcpy(between.data(), made_.memory.scratch.get(), made_.scratch_bytes);
  return {to_, from_, std::move(between)};
}

}  // namespace oriel
