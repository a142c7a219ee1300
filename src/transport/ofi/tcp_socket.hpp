// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/socket.h>

#include <cstdint>

// Nonblocking TCP sockets, whose addresses are of IPv4 or IPv6.

namespace oriel {

/// A socket for connections to or from this kind of address; -1: the system gives none.
int open_socket(const sockaddr_storage& address);

std::uint32_t port_of(const sockaddr_storage& address);
void set_port(sockaddr_storage& address, std::uint32_t port);

/// The outcome of a connect(), as an error number; -1: it is still in progress.
int outcome_of_connect(int socket);

/// Returns whether this error of a connect(), or of an established connection, shows that the other
/// end's node does not answer.
bool shows_silence(int error);

}  // namespace oriel
