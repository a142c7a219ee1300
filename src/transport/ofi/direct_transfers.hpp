// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/transport/messages.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/network_peer.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/ofi/packet_receiver.hpp"
#include "transport/ofi/packet_sender.hpp"

namespace oriel {

/// A direct transfer in flight.
struct DirectTransfer : OperationContext {
  std::uint64_t token = 0;
  fid_mr* registration = nullptr;  // of our memory, if the provider requires one
};

/// The direct transfers of an endpoint: reads and writes of other processes' memory.
class DirectTransfers {
 public:
  DirectTransfers(OfiEndpoint& endpoint, PacketSender& sender, PacketReceiver& receiver);
  ~DirectTransfers();

  /// `longest`: the maximal bytes of one transfer. `ordered`: messages arrive after the writes
  /// before them.
  void set_limits(std::uint64_t longest, bool ordered);

  /// As Network::transfer().
  std::uint64_t begin(NetworkPeer& to, bool write, std::span<const TransferRun> runs,
                      std::uint64_t key, std::uint64_t token, Behind* behind);
  /// The provider reports the end of a transfer.
  void over(DirectTransfer& transfer, Error error);
  /// As Network::finished().
  bool finished(Transfer& transfer);
  std::size_t under_way() const { return under_way_; }

 private:
  OfiEndpoint& endpoint_;
  PacketSender& sender_;
  PacketReceiver& receiver_;
  std::uint64_t longest_ = 0;
  bool ordered_ = false;
  std::deque<DirectTransfer> all_;  // all that have ever been used
  std::vector<DirectTransfer*> idle_;
  std::deque<Transfer> finished_;
  std::size_t under_way_ = 0;
};

}  // namespace oriel
