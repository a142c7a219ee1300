// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/tcp_socket.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

/// The address of a socket.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  SocketAddress() = default;
  SocketAddress(const IpAddress& address, std::uint16_t port) {
    if (address.is_v4()) {
      auto& four = reinterpret_cast<sockaddr_in&>(storage);
      four.sin_family = AF_INET;
      four.sin_port = htons(port);
      std::memcpy(&four.sin_addr, &address.bytes[12], sizeof four.sin_addr);
      length = sizeof four;
    } else {
      auto& six = reinterpret_cast<sockaddr_in6&>(storage);
      six.sin6_family = AF_INET6;
      six.sin6_port = htons(port);
      std::memcpy(&six.sin6_addr, address.bytes.data(), sizeof six.sin6_addr);
      length = sizeof six;
    }
  }

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  std::uint16_t port() const {
    return ntohs(storage.ss_family == AF_INET
                     ? reinterpret_cast<const sockaddr_in&>(storage).sin_port
                     : reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  }
};

/// The descriptors of the open sockets. Numbers beyond the last one are not in the set: the system
/// gives the lowest free ones first.
class OpenSockets {
 public:
  /// `opened`: -1 if there is no socket. Returns it.
  int add(int opened) {
    if (in_range(opened)) word_of(opened).fetch_or(bit_of(opened), std::memory_order_relaxed);
    return opened;
  }
  void remove(int socket) {
    if (in_range(socket)) word_of(socket).fetch_and(~bit_of(socket), std::memory_order_relaxed);
  }
  void close_all() {
    int socket = 0;
    for (std::atomic<std::uint64_t>& word : words_) {
      const std::uint64_t open = word.exchange(0, std::memory_order_relaxed);
      for (int i = 0; i < bits; ++i, ++socket) {
        if ((open >> i & 1) != 0) ::close(socket);
      }
    }
  }

 private:
  static constexpr int bits = 64;
  static constexpr int count = 65'536;

  static bool in_range(int socket) { return socket >= 0 && socket < count; }
  static std::uint64_t bit_of(int socket) {
    return std::uint64_t{1} << (static_cast<unsigned>(socket) % bits);
  }
  std::atomic<std::uint64_t>& word_of(int socket) {
    return words_[static_cast<std::size_t>(socket / bits)];
  }

  std::array<std::atomic<std::uint64_t>, count / bits> words_{};
};

OpenSockets open_sockets;

}  // namespace

IpAddress ip_address_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return IpAddress::v4(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  }
  IpAddress found;
  if (address.sa_family == AF_INET6) {
    std::memcpy(found.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr,
                found.bytes.size());
  }
  return found;
}

IpAddress ip_address_of_peer(int socket) {
  SocketAddress peer;
  return ::getpeername(socket, peer.get(), &peer.length) == 0 ? ip_address_of(*peer.get())
                                                              : IpAddress();
}

int open_socket(const IpAddress& address) {
  const int family = address.is_v4() ? AF_INET : AF_INET6;
  return open_sockets.add(
      own_descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
}

int accept_connection(int listening) {
  return open_sockets.add(
      own_descriptor(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
}

void close_socket(int socket) {
  if (socket < 0) return;
  open_sockets.remove(socket);
  ::close(socket);
}

void close_sockets_of_parent() {
  open_sockets.close_all();
}

int open_port(const IpAddress& address, std::uint16_t& port) {
  const int socket = open_socket(address);
  if (socket < 0) return -1;
  constexpr int off = 0;
  if (!address.is_v4()) ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  SocketAddress bound(address, 0);
  if (::bind(socket, bound.get(), bound.length) == 0 &&
      ::getsockname(socket, bound.get(), &bound.length) == 0) {
    port = bound.port();
    return socket;
  }
  close_socket(socket);
  return -1;
}

int begin_connect(int socket, const IpAddress& address, std::uint16_t port) {
  SocketAddress to(address, port);
  return ::connect(socket, to.get(), to.length) == 0 ? 0 : errno;
}

int outcome_of_connect(int socket) {
  pollfd writable{socket, POLLOUT, 0};
  if (::poll(&writable, 1, 0) <= 0) return -1;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

bool shows_silence(int error) {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}

}  // namespace oriel
