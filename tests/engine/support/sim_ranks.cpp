// SPDX-License-Identifier: BSD-3-Clause
#include "support/sim_ranks.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "engine/progress/waiting.hpp"
#include "engine/windows/announcement.hpp"
#include "engine/windows/make_window.hpp"

namespace oriel::test {

void SimGroup::meet(Engine& engine) {
  const std::uint64_t round = round_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks()) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);
    return;
  }
  while (round_.load(std::memory_order_acquire) == round) {
    sweep_once(engine);
    std::this_thread::yield();
  }
}

HostCode SimComm::barrier() {
  ++counts_.barriers;
  group_.meet(engine_);
  return 0;
}

HostCode SimComm::allgather(const void* own, std::size_t bytes, void* all) {
  ++counts_.gathers;
  counts_.gathered = bytes;
  group_.show(rank_, own);
  group_.meet(engine_);
  for (int rank = 0; rank < ranks(); ++rank) {
    std::memcpy(static_cast<std::byte*>(all) + static_cast<std::size_t>(rank) * bytes,
                group_.part(rank), bytes);
  }
  group_.meet(engine_);
  if (hidden_ >= 0 && bytes == sizeof(Announcement)) {
    static_cast<Announcement*>(all)[hidden_].process.id ^= 1;
  }
  return 0;
}

HostCode SimComm::broadcast(void* buffer, std::size_t bytes, int root) {
  ++counts_.broadcasts;
  group_.show(rank_, buffer);
  group_.meet(engine_);
  if (rank_ != root) std::memcpy(buffer, group_.part(root), bytes);
  group_.meet(engine_);
  return 0;
}

HostCode SimComm::allreduce(std::span<std::uint64_t> words, HostOp op) {
  ++counts_.reductions;
  const std::vector<std::uint64_t> own(words.begin(), words.end());
  group_.show(rank_, own.data());
  group_.meet(engine_);
  for (int rank = 0; rank < ranks(); ++rank) {
    if (rank == rank_) continue;
    const auto* other = static_cast<const std::uint64_t*>(group_.part(rank));
    for (std::uint64_t& word : words) {
      const std::uint64_t next = *other++;
      word = op == HostOp::sum   ? word + next
             : op == HostOp::max ? std::max(word, next)
                                 : std::min(word, next);
    }
  }
  group_.meet(engine_);
  return 0;
}

SimRanks::SimRanks(int ranks) : group_(ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<SimRank>(group_, rank));
  }
}

SimRanks::SimRanks(const std::vector<int>& node_of, std::uint64_t seed, Courier::Late late)
    : group_(static_cast<int>(node_of.size())),
      network_(std::make_unique<SimNetwork>(2 * count(), false)) {
  for (int rank = 0; rank < count(); ++rank) {
    const int number = node_of[static_cast<std::size_t>(rank)];
    Node node;
    node.id = static_cast<std::uint64_t>(number) + 1;
    std::snprintf(node.name.data(), node.name.size(), "node%d", number);
    ranks_.push_back(std::make_unique<SimRank>(group_, rank, node, network_.get()));
  }
  courier_ = std::make_unique<Courier>(*network_, seed, std::move(late));
}

std::vector<Window*> SimRanks::make_windows(const Prepare& prepare, std::uint64_t bytes) {
  std::vector<Window*> made(ranks_.size());
  run([&](int rank) {
    SimRank& own = *ranks_[static_cast<std::size_t>(rank)];
    const auto draft = own.make_draft(own.comm);
    if (prepare) prepare(*draft);
    draft->begin(bytes, 1);
    if (make_window(*draft) != 0 || draft->failed()) throw std::runtime_error(draft->reason);
    made[static_cast<std::size_t>(rank)] = draft->window;
  });
  return made;
}

}  // namespace oriel::test
