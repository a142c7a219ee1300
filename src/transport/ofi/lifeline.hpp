// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oriel {

/// Whether processes on other nodes live, without their help: each listens at a TCP socket that it
/// never reads. Who waits for one for long connects to it and watches the connection. The kernel at
/// the other end answers for a process that only computes; it closes the connection when the
/// process ends; and when the node is cut off, nobody answers its keep-alive probes. Nothing is
/// sent or connected before somebody waits.
class Lifeline {
 public:
  /// At the address of `near` (a socket address of this node), any port. `timeout_s`: so long may
  /// a node be silent.
  Lifeline(std::span<const std::byte> near, int timeout_s);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// Where peers connect to; empty if there is no such socket: then nobody is ever found dead.
  std::span<const std::byte> address() const { return address_; }

  /// One watched process.
  class Watch {
   public:
    Watch() = default;
    ~Watch();
    Watch(Watch&& other) noexcept;
    Watch& operator=(Watch&& other) noexcept;
    /// False once it is known to have ended, or to be out of reach. Never blocks.
    bool alive(std::span<const std::byte> address, int timeout_s);

   private:
    void connect(std::span<const std::byte> address, int timeout_s);
    int socket_ = -1;
    bool tried_ = false;
    bool dead_ = false;
    std::uint64_t since_ = 0;  // nanoseconds; 0: connected
  };

 private:
  int socket_ = -1;
  std::vector<std::byte> address_;
};

}  // namespace oriel
