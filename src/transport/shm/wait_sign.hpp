// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include "core/base/cache_line.hpp"
#include "core/base/published.hpp"

namespace oriel {

/// A wait of a process, as its peers and `oriel top` see it.
struct ShownWait {
  static constexpr std::size_t most_awaited = 4;
  static constexpr std::size_t name_bytes = 64;

  std::uint32_t reason = 0;  // a WaitReason
  std::uint32_t window = 0;  // its number in the owner's process; 0: no particular window
  std::uint64_t since = 0;   // nanoseconds of the monotonic clock
  /// The first few awaited processes of the node, by ProcessName::id; 0: no further one.
  std::array<std::uint64_t, most_awaited> awaited{};
  /// 1: all of `awaited` must act before the wait ends. 0: perhaps only some of them.
  std::uint32_t certain = 0;
  std::array<char, name_bytes> window_name{};  // the beginning of the name, then zeros

  bool operator==(const ShownWait&) const = default;
};

/// The words in which a process shows its peers a long wait. The owner writes them with its process
/// lock. Peers read them without a lock, and see one consistent state (Version).
class alignas(cache_line) WaitSign {
 public:
  void show(const ShownWait& wait) {
    version_.change([&] {
      reason_.store(wait.reason, std::memory_order_release);
      window_.store(wait.window, std::memory_order_release);
      since_.store(wait.since, std::memory_order_release);
      for (std::size_t i = 0; i < awaited_.size(); ++i) {
        awaited_[i].store(wait.awaited[i], std::memory_order_release);
      }
      certain_.store(wait.certain, std::memory_order_release);
      const auto name = std::bit_cast<NameWords>(wait.window_name);
      for (std::size_t i = 0; i < name.size(); ++i) {
        window_name_[i].store(name[i], std::memory_order_release);
      }
    });
  }
  void clear() { show({}); }

  /// The wait that is shown; nullopt: there is none, or the owner is changing it.
  std::optional<ShownWait> look() const {
    const std::uint64_t version = version_.look();
    ShownWait wait;
    wait.reason = reason_.load(std::memory_order_acquire);
    wait.window = window_.load(std::memory_order_acquire);
    wait.since = since_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < awaited_.size(); ++i) {
      wait.awaited[i] = awaited_[i].load(std::memory_order_acquire);
    }
    wait.certain = certain_.load(std::memory_order_acquire);
    NameWords name;
    for (std::size_t i = 0; i < name.size(); ++i) {
      name[i] = window_name_[i].load(std::memory_order_acquire);
    }
    wait.window_name = std::bit_cast<decltype(wait.window_name)>(name);
    if (!version_.still(version) || wait.since == 0) return std::nullopt;
    return wait;
  }

 private:
  using NameWords = std::array<std::uint64_t, ShownWait::name_bytes / sizeof(std::uint64_t)>;

  // python/oriel/top/process_block.py reads them.
  Version version_;
  std::atomic<std::uint32_t> reason_{0};
  std::atomic<std::uint32_t> window_{0};
  std::atomic<std::uint64_t> since_{0};
  std::array<std::atomic<std::uint64_t>, ShownWait::most_awaited> awaited_{};
  std::atomic<std::uint32_t> certain_{0};
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<NameWords>> window_name_{};
};
static_assert(sizeof(WaitSign) == 2 * cache_line);

}  // namespace oriel
