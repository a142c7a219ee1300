// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_rma.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/fifo.hpp"
#include "core/transport/messages.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/network_peer.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/ofi/packet_buffers.hpp"
#include "transport/ofi/packet_sender.hpp"

namespace oriel {

/// A direct transfer in flight, with all that is needed to repeat it.
struct DirectTransfer : OperationContext {
  std::uint64_t token = 0;
  fid_mr* registration = nullptr;  // of our memory, if the provider requires one
  PacketBuffer* bounce = nullptr;  // holds the bytes in place of our memory
  bool long_bounce = false;
  bool write = false;
  std::size_t runs = 0;
  std::array<iovec, Messages::most_runs> here;
  std::array<fi_rma_iov, Messages::most_runs> there;
  std::optional<std::uint64_t> immediate;
  std::uint32_t sequence = 0;  // of the immediate data
};

/// The direct transfers of an endpoint: reads and writes of other processes' memory.
class DirectTransfers {
 public:
  DirectTransfers(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
                  PacketSender& sender);
  ~DirectTransfers();

  /// As Network::transfer().
  Accepted begin(NetworkPeer& to, bool write, std::span<const TransferRun> runs, std::uint64_t key,
                 std::uint64_t token, Behind* behind);
  /// The provider reports the end of a transfer. `code`: libfabric's; 0: without an error.
  void over(DirectTransfer& transfer, int code);
  /// Begins transfers again that have failed for a shortage.
  void repeat();
  /// As Network::finished().
  bool finished(Transfer& transfer) { return finished_.pop(transfer); }
  std::size_t under_way() const { return under_way_; }

 private:
  bool fill_runs(DirectTransfer& direct, std::span<const TransferRun> runs,
                 std::uint64_t key) const;
  bool copies(const DirectTransfer& direct) const;
  bool register_runs(DirectTransfer& direct);
  void bounce_runs(DirectTransfer& direct, PacketBuffer& buffer);
  void release_memory(DirectTransfer& direct);
  ssize_t issue(DirectTransfer& direct);
  Error error_of(NetworkPeer& to, long code);
  bool may_repeat(DirectTransfer& direct, long code) const;
  void finish(DirectTransfer& direct, Error error);

  OfiEndpoint& endpoint_;
  PacketBuffers& buffers_;
  NetworkPeers& peers_;
  PacketSender& sender_;
  std::deque<DirectTransfer> all_;  // all that have ever been used
  std::vector<DirectTransfer*> idle_;
  std::vector<DirectTransfer*> failed_;  // to be begun again
  Fifo<Transfer> finished_;
  std::size_t bouncing_ = 0;   // transfers with a long bounce buffer
  std::size_t short_ = 0;      // transfers with a short one
  std::size_t under_way_ = 0;  // all in flight, those to be begun again included
};

}  // namespace oriel
