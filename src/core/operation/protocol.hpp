// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace oriel {

/// How an operation travels to its target. select_protocol() chooses it.
enum class Protocol : std::uint8_t {
  stored,          // loads, stores and CPU atomics on memory that this process maps
  system_call,     // process_vm_readv and process_vm_writev on private memory of a node peer
  message,         // the target's Server carries it out
  direct,          // the network reads or writes the target's exposed memory
  rendezvous,      // the target moves the bytes by direct transfers of its own
  network_atomic,  // the network's atomics on the target's exposed memory
};
constexpr std::size_t protocol_count = static_cast<std::size_t>(Protocol::network_atomic) + 1;

constexpr const char* name_of(Protocol protocol) {
  constexpr const char* names[] = {"stored",          "system call", "message",
                                   "direct transfer", "rendezvous",  "network atomic"};
  static_assert(std::size(names) == protocol_count);
  return names[static_cast<int>(protocol)];
}

/// True if the operation uses transfers or atomics of the network, of which the network reports
/// each end individually.
constexpr bool awaits_network(Protocol protocol) {
  return protocol == Protocol::direct || protocol == Protocol::rendezvous ||
         protocol == Protocol::network_atomic;
}

/// How the bytes of a collective's transfer are copied on the node, in the order in which CopyTrial
/// tries the methods.
enum class CopyMethod : std::uint8_t {
  staged,    // through cells
  streamed,  // through cells that the sender writes past its caches: see stream_copy()
  one_copy   // directly from buffer to buffer
};
inline constexpr int copy_methods = static_cast<int>(CopyMethod::one_copy) + 1;
constexpr const char* name_of(CopyMethod method) {
  constexpr const char* names[] = {"copies by cells", "copies by streamed cells",
                                   "copies without cells"};
  static_assert(std::size(names) == copy_methods);
  return names[static_cast<int>(method)];
}

}  // namespace oriel
