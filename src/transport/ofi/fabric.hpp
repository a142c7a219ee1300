// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace oriel {

/// The facts about a network on which the transport's choices depend. They come from the attributes
/// that libfabric's provider has returned: a provider may ignore what was requested.
struct Fabric {
  /// The part that carries out a write or read at the target.
  enum class Carrier : std::uint8_t { none, software, card };

  /// None: there are no direct transfers, because the provider has none, or neither orders nor
  /// delivers writes.
  Carrier carrier = Carrier::none;
  /// A message that is sent after a write arrives after the write's bytes.
  bool orders_writes = false;
  /// A write that is finished is in the target's memory.
  bool delivers_writes = false;
  /// The bytes of immediate data, which arrive after the bytes of their write and of all earlier
  /// writes; 0: the network has no such data.
  std::size_t immediate_bytes = 0;
  /// The kernel's IP sends and receives all data of the provider.
  bool kernel_ip = false;
  /// The descriptor of a completion queue becomes readable when something has arrived; false: only
  /// when a call of this process has found it.
  bool signals_arrivals = false;
  /// The endpoint has network atomics beside messages, and keeps the order of fetching ones.
  bool atomics = false;
  std::size_t inject_bytes = 0;       // the longest message of fi_inject; 0: it is not used
  std::size_t runs = 1;               // of a direct transfer
  std::uint64_t longest = 0;          // bytes of a direct transfer
  std::uint64_t longest_message = 0;  // bytes

  bool operator==(const Fabric&) const = default;
  bool direct() const { return carrier != Carrier::none; }
  /// The ways of the network, for `oriel info`.
  std::string description() const;
};

/// The carrier of writes and reads of this offer, if the provider has them.
Fabric::Carrier carrier_of(const fi_info& offer);

/// Returns whether the provider of this offer reaches processes of the same node only.
bool only_within_node(const fi_info& offer);

/// Returns whether the addresses of this offer's endpoints are IP addresses, or may be.
bool has_ip_address(const fi_info& offer);

/// Returns whether the provider emulates its card by the kernel's TCP, with more work of the
/// target's software than the provider tcp needs.
bool emulated_by_tcp(const fi_info& offer);

/// The facts about the network of this offer. `paced_tcp`: see tcp_is_paced().
Fabric fabric_of(const fi_info& offer, bool paced_tcp);

/// Returns whether the node's TCP sends at a pace (BBR).
bool tcp_is_paced();

}  // namespace oriel
