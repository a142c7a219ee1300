// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/epoch/epoch.hpp"
#include "core/mapped/fence_words.hpp"
#include "core/region/region.hpp"
#include "core/remote/fence_count.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"

namespace oriel {

/// The closing fence of a window on which some rank is remote to some other (S2): each rank learns
/// how many origins have sent it operations, and waits for as many marks.
class CountedFence {
 public:
  CountedFence(Region& region, Sender& sender, FenceWords& words)
      : region_(region), sender_(sender), words_(words), count_(region.rank(), region.ranks()) {}

  /// A fence epoch opened by this call is active: what it lets in may come.
  void open(std::uint64_t call) { open_ = call; }
  std::uint64_t opened() const { return open_; }
  /// The last closing fence that we have ended.
  std::uint64_t ended() const { return ended_; }
  /// What a mark of ours belongs to.
  std::uint64_t call() const { return count_.call(); }

  /// Carries the closing of an epoch on; true when it is over.
  bool advance(Epoch& epoch);
  bool take_count(const Message& message, std::span<const std::byte> payload);
  bool take_mark(const Message& message) { return count_.marked(message.word); }

 private:
  bool begin(Epoch& epoch);
  void send_steps();
  /// A remote target learns by a mark that all of a fence epoch's operations have been sent.
  bool marked(const Target& target) { return !region_.mapped(target.rank) && target.issued != 0; }

  Region& region_;
  Sender& sender_;
  FenceWords& words_;
  FenceCount count_;
  std::uint64_t open_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace oriel
