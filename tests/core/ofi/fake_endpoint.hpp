// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/transport/messages.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/network_name.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/ofi/packet_buffers.hpp"

namespace oriel::ofi_test {

/// An endpoint without a provider: a test decides the code of each call, and keeps what is sent.
class FakeEndpoint : public OfiEndpoint {
 public:
  struct Sent {
    std::vector<std::byte> bytes;
    PacketBuffer* buffer = nullptr;  // null: injected
  };
  struct Posted {
    PacketBuffer* buffer = nullptr;
    std::byte* memory = nullptr;
  };
  struct Moved {
    OperationContext* context = nullptr;
    bool write = false;
    std::uint64_t flags = 0;
    std::uint64_t data = 0;
    iovec local{};
    fi_rma_iov remote{};
  };

  FakeEndpoint();
  ~FakeEndpoint();

  using OfiEndpoint::read_completions;
  /// Attaches a process. Returns its name.
  NetworkName attach(std::uint64_t id);
  void require_local_registration() { local_registration_ = true; }
  void set_inject_bytes(std::size_t bytes) { facts_.inject_bytes = bytes; }
  void set_longest_message(std::uint64_t bytes) { facts_.longest_message = bytes; }
  /// The longest direct transfer, and whether writes are ordered or else delivered.
  void set_transfers(std::uint64_t longest, bool ordered) {
    facts_.longest = longest;
    facts_.runs = Messages::most_runs;
    facts_.orders_writes = ordered;
    facts_.delivers_writes = !ordered;
  }

  // The codes of the next calls. Later calls succeed.
  std::deque<int> send_codes;
  std::deque<int> receive_codes;
  std::deque<int> transfer_codes;
  std::deque<int> register_codes;

  std::deque<fi_cq_data_entry> completions;  // those of the queue
  std::deque<fi_cq_err_entry> failures;      // the queue reports failures first
  int queue_code = -FI_EAGAIN;               // of an empty queue
  std::vector<Sent> sent;
  std::deque<Posted> posted;
  std::vector<Moved> moved;
  int registered = 0;
  std::size_t registered_bytes = 0;

 private:
  static FakeEndpoint& of(fid_ep* endpoint);
  static FakeEndpoint& of(fid_cq* queue);

  Libfabric functions_;
  fi_info attributes_{};
  fi_tx_attr sending_{};
  fi_domain_attr domain_attributes_{};
  fi_fabric_attr fabric_attributes_{};
  char provider_[5] = "fake";
  fid_av table_{};
  fi_ops_av table_functions_{};
  fi_ops_msg messages_{};
  fi_ops_rma transfers_{};
  fi_ops_mr registering_{};
  fi_ops_cq completing_{};
  struct {
    fid_ep endpoint;
    FakeEndpoint* self;
  } object_{};
  struct {
    fid_domain domain;
    FakeEndpoint* self;
  } registrar_{};
  struct {
    fid_cq queue;
    FakeEndpoint* self;
  } reporter_{};
};

}  // namespace oriel::ofi_test
