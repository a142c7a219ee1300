// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/lengths_exchange.hpp"

#include <cstring>
#include <utility>

#include "core/collective/schedules/buffers_together.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"

namespace oriel {
namespace {

using Word = BlockLengths::Word;

Word length_word(const Buffer& block, const Limits& limits) {
  const std::uint64_t bytes = bytes_in(block);
  return bytes <= limits.gathered ? static_cast<Word>(bytes) : BlockLengths::goes_directly;
}

}  // namespace

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
