// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/node_probe.hpp"

#include <algorithm>
#include <cerrno>

#include "transport/ofi/tcp_socket.hpp"

namespace oriel {
namespace {

// The time between two attempts.
constexpr std::uint64_t interval = 1'000'000'000;
// The minimal time of unanswered attempts after which a node is silent. The kernel repeats an
// attempt after one second and after three, so more than one packet must be lost.
constexpr std::uint64_t least_silence = 4'000'000'000;

}  // namespace

void NodeProbe::begin(const IpAddress& address, std::uint16_t port, std::uint64_t now) {
  address_ = address;
  port_ = port;
  attempt(now);
}

void NodeProbe::attempt(std::uint64_t now) {
  if (port_ == 0) return;
  socket_ = open_socket(address_);
  if (socket_ < 0) return;
  begun_ = now;
  const int error = begin_connect(socket_, address_, port_);
  if (error == EINPROGRESS || shows_silence(error)) {
    if (silent_since_ == 0) silent_since_ = begun_;
  } else if (error == 0 || error == ECONNREFUSED) {
    answer();
  }
  if (error != EINPROGRESS) end_attempt();
}

bool NodeProbe::finds_silence(std::uint64_t now, std::uint64_t timeout) {
  const int error = socket_ >= 0 ? outcome_of_connect(socket_) : -1;
  if (error >= 0) {
    end_attempt();
    if (!shows_silence(error)) answer();
  }
  if (socket_ < 0 && now - begun_ > interval) attempt(now);
  // This process may not have called for long: the last attempt must have had time, too.
  return answered_ && silent_since_ != 0 &&
         now - silent_since_ > std::max(timeout, least_silence) && now - begun_ > interval / 2;
}

void NodeProbe::end() {
  end_attempt();
  silent_since_ = 0;
}

void NodeProbe::end_attempt() {
  close_socket(socket_);
  socket_ = -1;
}

}  // namespace oriel
