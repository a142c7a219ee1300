// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/tcp_socket.hpp"

#include <netinet/in.h>
#include <poll.h>

#include <cerrno>

#include "transport/shm/descriptors.hpp"

namespace oriel {

int open_socket(const sockaddr_storage& address) {
  return own_descriptor(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

std::uint32_t port_of(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

void set_port(sockaddr_storage& address, std::uint32_t port) {
  const in_port_t number = htons(static_cast<std::uint16_t>(port));
  if (address.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(address).sin_port = number;
  } else {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = number;
  }
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
