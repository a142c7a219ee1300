// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "core/transport/node_services.hpp"

namespace oriel {

/// The ranks of a node that share a window's words, as one of them sees them: what LockLine and
/// Update need besides the words. Named in the words by their ranks.
class Sharers {
 public:
  /// `process_of`: a rank's number in the transport. `ranks`: all of them, `self` included; they
  /// are only needed for locks and updates, and outlive this.
  Sharers(NodeServices& services, int self, std::function<int(int)> process_of,
          std::span<const int> ranks = {})
      : services_(services),
        self_(static_cast<std::uint32_t>(self)),
        asymmetric_(services.fences_peers()),
        process_of_(std::move(process_of)),
        ranks_(ranks) {}

  /// Who acts here. For an origin of another node the target does.
  std::uint32_t self() const { return self_; }
  /// All obey fence(): see store_before_look().
  bool asymmetric() const { return asymmetric_; }
  std::span<const int> ranks() const { return ranks_; }
  /// What the threads of a rank say that update without its process's lock.
  std::span<const ThreadLine> threads(int rank) { return services_.threads(process_of_(rank)); }
  void fence() { services_.fence_peers(); }
  /// Gives the processor away for a moment.
  void relax() { services_.relax(); }
  /// False: the rank's process has ended, and all that it ever stored is seen. A system call or
  /// two.
  bool alive(std::uint32_t rank) { return services_.alive(process_of_(static_cast<int>(rank))); }

 private:
  NodeServices& services_;
  std::uint32_t self_;
  bool asymmetric_;
  std::function<int(int)> process_of_;
  std::span<const int> ranks_;
};

}  // namespace oriel
