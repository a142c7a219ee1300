// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "core/base/shared_words.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The ranks of a node that share a window's words, from the view of one of them: all that LockLine
/// and Update need besides the words. The words identify them by rank.
class Sharers {
 public:
  /// `process_of`: returns a rank's number in the transport. `ranks`: all of them, `self` included;
  /// needed for locks and updates only, and must outlive this object.
  Sharers(NodeServices& services, int self, std::function<int(int)> process_of,
          std::span<const int> ranks = {})
      : services_(services),
        self_(static_cast<std::uint32_t>(self)),
        asymmetric_(services.fences_peers()),
        process_of_(std::move(process_of)),
        ranks_(ranks) {}

  /// The rank that acts here. For an origin on another node that is the target.
  std::uint32_t self() const { return self_; }
  /// True if fence() reaches all of them: see store_before_load().
  bool asymmetric() const { return asymmetric_; }
  std::span<const int> ranks() const { return ranks_; }
  /// The lines of a rank's threads that update without its process's lock.
  std::span<const ThreadLine> threads(int rank) { return services_.threads(process_of_(rank)); }
  void fence() { services_.fence_peers(); }
  /// Yields the processor for a moment.
  void relax() { services_.relax(); }
  /// False: the rank's process has ended, and all its stores are visible. Costs a system call or
  /// two.
  bool alive(std::uint32_t rank) { return services_.alive(process_of_(static_cast<int>(rank))); }

 private:
  NodeServices& services_;
  std::uint32_t self_;
  bool asymmetric_;
  std::function<int(int)> process_of_;
  std::span<const int> ranks_;
};

/// The sharers of words of a policy: that of the tests has its own.
template <typename Words>
struct SharersOf {
  using Type = typename Words::Sharers;
};
template <>
struct SharersOf<SharedWords> {
  using Type = Sharers;
};

/// The wait of a rank for another rank that is within a few instructions which exclude others. It
/// ends when that rank has died.
template <typename Words>
class Patience {
 public:
  explicit Patience(typename SharersOf<Words>::Type& sharers) : sharers_(sharers) {}

  /// Called after the protocol's words were read and name `rank` as the rank to wait for. False if
  /// that rank had died before they were read, so that it will not change them.
  bool wait(std::uint32_t rank) {
    if (rank == ended_) return false;
    if (++rounds_ % Words::rounds_per_check == 0 && !sharers_.alive(rank)) ended_ = rank;
    sharers_.relax();
    loop_.again();
    return true;
  }
  /// Called when another rank was faster: the protocol's words must be read again.
  void retry() {
    sharers_.relax();
    loop_.again();
  }

 private:
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  typename SharersOf<Words>::Type& sharers_;
  std::uint32_t rounds_ = 0;
  std::uint32_t ended_ = no_rank;
  [[no_unique_address]] typename Words::Loop loop_;
};

}  // namespace oriel
