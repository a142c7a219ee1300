// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/epoch/epoch.hpp"
#include "core/epoch/fence.hpp"
#include "core/mapped/fence_words.hpp"
#include "core/region/region.hpp"
#include "core/remote/fence_count.hpp"
#include "core/remote/late_ranks.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"
#include "core/remote/server.hpp"

namespace oriel {

/// The closing fence of a window of which some ranks are remote to each other (S2). Each rank
/// receives the number of origins that have sent it operations, and waits for that many marks.
class CountedFence final : public Fence {
 public:
  CountedFence(Region& region, Sender& sender, FenceWords& words, Server& server)
      : Fence(true, false),
        region_(region),
        sender_(sender),
        words_(words),
        server_(server),
        count_(region.rank(), region.ranks()),
        late_(region, sender, count_) {}

  void open(std::uint64_t call, bool announce) override;
  bool end(Epoch& epoch) override;
  void find_late(std::uint64_t /*closing_call*/, std::vector<int>& late) override {
    late_.find(late);
  }

  /// The last closing fence that this rank has ended.
  std::uint64_t ended() const { return ended_; }
  /// The fence call to which marks sent now belong.
  std::uint64_t call() const { return count_.call(); }

  /// True if this rank sends the target a mark behind its operations of the epoch: if the target is
  /// remote and was sent messages or direct transfers.
  bool marked(const Target& target) const {
    return !region_.mapped(target.rank) && (target.issued != 0 || target.transferred);
  }
  bool receive_count(const Message& message, std::span<const std::byte> payload);
  bool receive_mark(const Message& message) { return count_.marked(message.word); }
  LateRanks& late_ranks() { return late_; }

 private:
  bool begin(Epoch& epoch);
  void send_steps();

  Region& region_;
  Sender& sender_;
  FenceWords& words_;
  Server& server_;
  FenceCount count_;
  std::uint64_t ended_ = 0;
  LateRanks late_;
};

}  // namespace oriel
