// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "transport/ofi/ip_address.hpp"

struct sockaddr;

// Nonblocking TCP sockets.

namespace oriel {

/// The IP address of a socket address; all zero if it is of neither family.
IpAddress ip_address_of(const sockaddr& address);
/// The IP address of a connection's other end; all zero if there is none.
IpAddress ip_address_of_peer(int socket);

// Each of these sockets is closed by close_socket().
/// A socket for connections to or from this kind of address; -1: the system gives none.
int open_socket(const IpAddress& address);
/// A socket that is bound to this address at any `port`; -1: the system gives none. A socket that
/// is bound to the IPv6 address of zeros is also bound to all IPv4 addresses of the node.
int open_port(const IpAddress& address, std::uint16_t& port);
/// The next connection to a listening socket; -1: there is none.
int accept_connection(int listening);
/// Does nothing if the socket is -1.
void close_socket(int socket);

/// Closes all open sockets of these functions. For the child of a fork: its copies would answer for
/// its parent after the parent's end. Other threads of the parent may have been anywhere in the
/// library during the fork, so this reads only the set of open descriptors, which is valid at any
/// time.
void close_sockets_of_parent();

/// Begins to connect. Returns an error number; 0: the socket is connected; EINPROGRESS: the outcome
/// comes later.
int begin_connect(int socket, const IpAddress& address, std::uint16_t port);
/// The outcome of a connect(), as an error number; -1: it is still in progress.
int outcome_of_connect(int socket);

/// Returns whether this error of a connect(), or of an established connection, shows that the other
/// end's node does not answer.
bool shows_silence(int error);

}  // namespace oriel
