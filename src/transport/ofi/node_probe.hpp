// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "transport/ofi/ip_address.hpp"

namespace oriel {

/// Finds out whether a process's node answers at all, by attempts to connect to a port at which no
/// socket listens. A live node refuses each attempt, whatever its processes do and however full
/// their queues are. If a firewall drops the attempts, the node never refuses one, and the probe
/// shows nothing.
///
/// Times are in nanoseconds. No function blocks.
class NodeProbe {
 public:
  /// Begins an attempt at an address of the node; 0: there is no such port.
  void begin(const IpAddress& address, std::uint16_t port, std::uint64_t now);
  bool begun() const { return port_ != 0; }
  /// Takes the outcome of the last attempt, and begins another one if it is time. Returns whether
  /// the node, which has answered before, has been silent for longer than the timeout.
  bool finds_silence(std::uint64_t now, std::uint64_t timeout);
  /// Ends the attempt in progress, and forgets the silence.
  void end();

 private:
  void answer() {
    answered_ = true;
    silent_since_ = 0;
  }
  void attempt(std::uint64_t now);
  void end_attempt();

  IpAddress address_;
  std::uint16_t port_ = 0;
  int socket_ = -1;          // of the attempt in progress
  bool answered_ = false;    // the node has refused an attempt
  std::uint64_t begun_ = 0;  // when the last attempt was begun
  // When the first unanswered attempt was begun; 0: there is none.
  std::uint64_t silent_since_ = 0;
};

}  // namespace oriel
