// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "transport/ofi/atomic_network.hpp"
#include "transport/ofi/endpoint.hpp"

namespace oriel {

/// Network atomics by libfabric, through an endpoint of their own: some providers have atomics only
/// without order between writes and messages, and messages and direct transfers need that order.
///
/// Each atomic is a fetching one. The returned value shows that the atomic has taken place at the
/// target; no other event shows that with every provider. The order of fetching atomics among
/// themselves (FI_ORDER_ATOMIC_RAR) is all the order that is needed. Operands and results use
/// buffers that are registered once.
class OfiAtomics final : public AtomicNetwork, private OfiEndpoint {
 public:
  static std::unique_ptr<OfiAtomics> create();
  ~OfiAtomics() override;

  const EndpointName& name() const override { return own_name_; }
  TypeSet types(OpSet ops) const override;
  int attach(const EndpointName& name) override;
  int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) override {
    return expose_memory(memory, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, exposed);
  }
  void withdraw(int exposure) override { withdraw_memory(exposure); }
  std::uint64_t begin(int process, const Atomic& atomic, const RemoteMemory& remote,
                      std::uint64_t token) override;
  void progress() override;
  bool finished(Transfer& transfer) override;
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_wait() override { return quiet(); }

 private:
  static constexpr std::size_t most_bytes = 4096;  // of operands of one atomic
  static constexpr std::size_t most_under_way = 64;

  /// The memory that libfabric reads and writes while an atomic is in flight.
  struct Buffers {
    alignas(16) std::array<std::byte, most_bytes> operands;
    alignas(16) std::array<std::byte, most_bytes> fetched;
    alignas(16) std::array<std::byte, 16> compare;
  };
  struct Work {
    fi_context2 context{};  // first: the completion's pointer is that of the Work
    Buffers* buffers = nullptr;
    std::byte* destination = nullptr;  // of the fetched values; null: not needed
    int process = 0;
    Transfer transfer;
  };

  OfiAtomics() = default;
  bool open(std::string& error);
  bool choose();
  void ask_what_there_is();
  ssize_t post(Work& work, const Atomic& atomic, std::size_t count, const RemoteMemory& remote);
  void done(Work& work, Error error);

  std::unique_ptr<std::array<Buffers, most_under_way>> buffers_;
  fid_mr* registration_ = nullptr;  // of the buffers, if the provider requires it
  void* descriptor_ = nullptr;
  std::array<Work, most_under_way> works_;
  std::vector<Work*> idle_;
  std::vector<bool> lost_;  // by the process's number
  std::deque<Transfer> finished_;
  /// The maximal elements of one atomic, by type and op; 0: the provider does not have it.
  static constexpr std::size_t type_count = static_cast<std::size_t>(Basic::f64) + 1;
  static constexpr std::size_t ops_asked = static_cast<std::size_t>(Op::bxor) + 2;
  std::array<std::array<std::size_t, ops_asked>, type_count> most_{};
};

}  // namespace oriel
