// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/lifeline.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

void set_option(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

/// Nothing of the connection is unanswered for longer than this.
void keep_alive(int socket, int timeout_s) {
  const int interval = std::max(1, timeout_s / 4);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, timeout_s * 1000);
}

}  // namespace

Lifeline::Lifeline(std::span<const std::byte> near, int timeout_s) {
  sockaddr_storage place{};
  if (near.size() < sizeof(sa_family_t) || near.size() > sizeof place) return;
  std::memcpy(&place, near.data(), near.size());
  auto length = static_cast<socklen_t>(near.size());
  if (place.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(place).sin_port = 0;
  } else if (place.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(place).sin6_port = 0;
  } else {
    return;  // not an address of a network that TCP runs on
  }
  socket_ = ::socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return;
  keep_alive(socket_, timeout_s);
  length = static_cast<socklen_t>(near.size());
  if (::bind(socket_, reinterpret_cast<sockaddr*>(&place), length) != 0 ||
      ::listen(socket_, SOMAXCONN) != 0) {
    return;
  }
  length = sizeof place;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&place), &length) != 0) return;
  const auto* bytes = reinterpret_cast<const std::byte*>(&place);
  address_.assign(bytes, bytes + length);
}

Lifeline::~Lifeline() {
  if (socket_ >= 0) ::close(socket_);
}

Lifeline::Watch::~Watch() {
  if (socket_ >= 0) ::close(socket_);
}

Lifeline::Watch::Watch(Watch&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      tried_(other.tried_),
      dead_(other.dead_),
      since_(other.since_) {}

Lifeline::Watch& Lifeline::Watch::operator=(Watch&& other) noexcept {
  std::swap(socket_, other.socket_);
  tried_ = other.tried_;
  dead_ = other.dead_;
  since_ = other.since_;
  return *this;
}

void Lifeline::Watch::connect(std::span<const std::byte> address, int timeout_s) {
  sockaddr_storage place{};
  if (address.empty() || address.size() > sizeof place) return;
  std::memcpy(&place, address.data(), address.size());
  socket_ = ::socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return;
  keep_alive(socket_, timeout_s);
  since_ = nanoseconds_now();
  const int code = ::connect(socket_, reinterpret_cast<sockaddr*>(&place),
                             static_cast<socklen_t>(address.size()));
  dead_ = code != 0 && errno != EINPROGRESS;
}

bool Lifeline::Watch::alive(std::span<const std::byte> address, int timeout_s) {
  if (!tried_) {
    tried_ = true;
    connect(address, timeout_s);
  }
  if (socket_ < 0 || dead_) return !dead_;
  pollfd look{socket_, POLLIN | POLLOUT, 0};
  if (::poll(&look, 1, 0) <= 0) {
    // Still connecting: the kernel tries for longer than we want to wait.
    constexpr std::uint64_t second = 1'000'000'000;
    dead_ = nanoseconds_now() - since_ > static_cast<std::uint64_t>(timeout_s) * second;
    return !dead_;
  }
  char byte = 0;
  const ssize_t got = ::recv(socket_, &byte, 1, MSG_DONTWAIT);
  dead_ = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  return !dead_;
}

}  // namespace oriel
