// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/failure.hpp"

namespace persistent {

using Element = std::uint64_t;

/// As the receiver of a block that goes to all ranks.
inline constexpr int everyone = 0xfff;

/// One side of an exchange: blocks, packed in this order.
struct Side {
  struct Block {
    int sender;
    int receiver;
  };

  std::vector<Block> blocks;
  std::vector<int> counts;
  std::vector<int> starts;
  std::vector<Element> elements;

  void add(Block block, int count) {
    blocks.push_back(block);
    counts.push_back(count);
    starts.push_back(static_cast<int>(elements.size()));
    elements.resize(elements.size() + static_cast<std::size_t>(count));
  }
};

/// What a rank sends and receives. Every element names its batch, its sender, its receiver and its
/// place, so that one that is missing, misplaced or left from an earlier batch is found; the last
/// one of a block names the last round of its batch as well.
class Buffers {
 public:
  explicit Buffers(int rank) : rank_(rank) {}

  /// Other contents to send, and none received.
  void renew() {
    ++batch_;
    last_ = false;
    for (std::size_t number = 0; number < sent.blocks.size(); ++number) {
      Element* const elements = sent.elements.data() + sent.starts[number];
      for (int index = 0; index < sent.counts[number]; ++index) {
        elements[index] = element(sent, number, index);
      }
    }
    std::fill(received.elements.begin(), received.elements.end(), nothing);
  }

  /// Other last elements to send, in the last round of the batch.
  void renew_last() {
    last_ = true;
    for (std::size_t number = 0; number < sent.blocks.size(); ++number) {
      Element* const elements = sent.elements.data() + sent.starts[number];
      const int last = sent.counts[number] - 1;
      if (last >= 0) elements[last] = element(sent, number, last);
    }
  }

  /// Ends the job unless everything has arrived by this variant.
  void check(const std::string& variant) const {
    for (std::size_t number = 0; number < received.blocks.size(); ++number) {
      const Side::Block& block = received.blocks[number];
      const Element* const elements = received.elements.data() + received.starts[number];
      for (int index = 0; index < received.counts[number]; ++index) {
        if (elements[index] == element(received, number, index)) continue;
        bench::fail("after an exchange (" + variant + ") rank " + std::to_string(rank_) + " has " +
                    std::to_string(elements[index]) + " as element " + std::to_string(index) +
                    " from rank " + std::to_string(block.sender) + ", and should have " +
                    std::to_string(element(received, number, index)) + ".");
      }
    }
  }

  Side sent;
  Side received;

 private:
  static constexpr Element nothing = ~Element{0};

  Element element(const Side& side, std::size_t number, int index) const {
    const Side::Block& block = side.blocks[number];
    const Element last = last_ && index + 1 == side.counts[number] ? 1 : 0;
    return batch_ << 56 | Element(block.sender) << 44 | Element(block.receiver) << 32 | last << 31 |
           Element(index);
  }

  int rank_;
  Element batch_ = 0;
  bool last_ = false;  // round of the batch
};

}  // namespace persistent
