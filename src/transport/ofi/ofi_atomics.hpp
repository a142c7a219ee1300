// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_domain.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/fifo.hpp"
#include "core/operation/atomicity.hpp"
#include "core/transport/messages.hpp"
#include "transport/ofi/atomic_network.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/operation_context.hpp"

namespace oriel {

/// The memory that libfabric reads and writes while an atomic is in flight.
struct AtomicBuffers {
  static constexpr std::size_t most_bytes = 4096;  // of operands
  alignas(16) std::array<std::byte, most_bytes> operands;
  alignas(16) std::array<std::byte, most_bytes> fetched;
  alignas(16) std::array<std::byte, 16> compare;
};

/// A network atomic in flight.
struct FetchingAtomic : OperationContext {
  std::uint64_t token = 0;
  AtomicBuffers* buffers = nullptr;
  std::byte* destination = nullptr;  // of the fetched values; null: not needed
};

/// The network atomics of an endpoint: of the messages' one if its provider has them, else of one
/// of their own (AtomicEndpoint).
///
/// Each atomic is a fetching one. The returned value shows that the atomic has taken effect at the
/// target; no other event shows that with every provider. The order of fetching atomics among
/// themselves (FI_ORDER_ATOMIC_RAR) is all the order that is needed. Operands and results use
/// buffers that are registered once.
class OfiAtomics : public AtomicNetwork {
 public:
  explicit OfiAtomics(OfiEndpoint& endpoint) : endpoint_(endpoint) {}
  ~OfiAtomics() override { close_object(registration_); }
  OfiAtomics(const OfiAtomics&) = delete;
  OfiAtomics& operator=(const OfiAtomics&) = delete;

  /// Called once, when the endpoint is open. False if the provider has no atomics.
  bool open();
  /// The provider reports the end of an atomic. `code`: libfabric's; 0: without an error.
  void over(FetchingAtomic& atomic, int code);

  const EndpointName& name() const override { return endpoint_.own_name(); }
  TypeSet types(OpSet wanted) const override;
  int attach(const EndpointName& name) override;
  int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) override;
  void withdraw(int exposure) override { endpoint_.withdraw_memory(exposure); }
  std::uint64_t begin(int process, const Atomic& atomic, const RemoteMemory& remote,
                      std::uint64_t token) override;
  /// The endpoint of the messages is polled by Network::receive().
  void progress() override {}
  bool finished(Transfer& transfer) override { return finished_.pop(transfer); }
  int wait_descriptor() const override { return endpoint_.wait_descriptor(); }
  bool may_wait() override { return endpoint_.quiet(); }

 private:
  static constexpr std::size_t most_under_way = 64;
  static constexpr std::size_t type_count = static_cast<std::size_t>(Basic::f64) + 1;
  static constexpr std::size_t op_count = static_cast<std::size_t>(Op::bxor) + 2;

  bool ask_what_there_is();
  ssize_t post(FetchingAtomic& begun, const Atomic& atomic, const RemoteMemory& remote);

  OfiEndpoint& endpoint_;
  std::unique_ptr<std::array<AtomicBuffers, most_under_way>> buffers_;
  fid_mr* registration_ = nullptr;  // of the buffers, if the provider requires it
  void* descriptor_ = nullptr;
  std::array<FetchingAtomic, most_under_way> all_;
  std::vector<FetchingAtomic*> idle_;
  std::vector<bool> lost_;  // by the process's number; those behind the last one are not
  Fifo<Transfer> finished_;
  /// The maximal elements of one atomic, by type and op; 0: the provider does not have it.
  std::array<std::array<std::size_t, op_count>, type_count> most_{};
};

}  // namespace oriel
