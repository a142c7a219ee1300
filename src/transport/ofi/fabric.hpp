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

  std::string provider;  // the provider's name in libfabric
  /// Direct transfers are used only if the network orders or delivers writes; none: otherwise.
  Carrier carrier = Carrier::none;
  /// A message that is sent after a write arrives after the write's bytes.
  bool orders_writes = false;
  /// A write that is finished is in the target's memory.
  bool delivers_writes = false;
  /// The bytes of immediate data, which arrive after the bytes of their write and of all earlier
  /// writes; 0: the network has no such data.
  std::size_t immediate_bytes = 0;
  /// A put or get of so many bytes or more is a direct transfer.
  std::uint64_t direct_from = 0;
  /// A send may be finished only after the peer's software has looked at the network.
  bool sends_need_peer = true;
  bool multi_receive = false;    // one posted buffer takes several messages
  std::size_t inject_bytes = 0;  // the longest message of fi_inject
  std::size_t runs = 1;          // of a direct transfer
  std::uint64_t longest = 0;     // bytes of a direct transfer

  bool direct() const { return carrier != Carrier::none; }
  /// The ways of the network, for `oriel info`.
  std::string description() const;
};

/// The carrier of writes and reads of this offer, if the provider has them.
Fabric::Carrier carrier_of(const fi_info& offer);

/// The facts about the network of this offer. `paced_tcp`: see tcp_is_paced().
Fabric fabric_of(const fi_info& offer, bool paced_tcp);

/// Returns whether the node's TCP sends at a pace (BBR).
bool tcp_is_paced();

}  // namespace oriel
