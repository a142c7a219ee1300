// SPDX-License-Identifier: BSD-3-Clause
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/settings.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/network.hpp"
#include "transport/ofi/offers.hpp"

namespace oriel {

/// Network atomics by libfabric, through an endpoint of their own: some providers have atomics only
/// without order between writes and messages, and messages and direct transfers need that order.
///
/// Each atomic is a fetching one. The returned value shows that the atomic has taken effect at the
/// target; no other event shows that with every provider. The order of fetching atomics among
/// themselves (FI_ORDER_ATOMIC_RAR) is all the order that is needed. Operands and results use
/// buffers that are registered once.
class OfiAtomics final : public AtomicNetwork, private OfiEndpoint {
 public:
  OfiAtomics() = default;
  ~OfiAtomics() override;

  bool open();

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

namespace {

static_assert(FI_INT8 == 0 && FI_UINT64 == 7 && FI_FLOAT == 8 && FI_DOUBLE == 9 &&
                  static_cast<int>(Basic::i8) == 1 && static_cast<int>(Basic::u64) == 8 &&
                  static_cast<int>(Basic::f32) == 9 && static_cast<int>(Basic::f64) == 10,
              "libfabric's types are in the order of ours");

fi_datatype type_of(std::size_t basic) {
  return static_cast<fi_datatype>(basic - 1);
}

/// The ops of libfabric in the order of Op, and compare-and-swap.
constexpr std::array ops{FI_ATOMIC_WRITE, FI_ATOMIC_READ, FI_SUM,  FI_PROD, FI_MIN,
                         FI_MAX,          FI_LAND,        FI_LOR,  FI_LXOR, FI_BAND,
                         FI_BOR,          FI_BXOR,        FI_CSWAP};

constexpr std::size_t compare_swap = ops.size() - 1;

std::size_t index_of(const Atomic& atomic) {
  return atomic.kind == OperationKind::compare_and_swap ? compare_swap
                                                        : static_cast<std::size_t>(atomic.op);
}

OpSet bit_of(std::size_t index) {
  return index == compare_swap ? compare_swap_bit : bit(static_cast<Op>(index));
}

}  // namespace

std::unique_ptr<AtomicNetwork> OfiNetworks::open_atomics() {
  auto made = std::make_unique<OfiAtomics>();
  return made->open() ? std::move(made) : nullptr;
}

OfiAtomics::~OfiAtomics() {
  close_endpoint();
  close_object(registration_);
}

bool OfiAtomics::choose() {
  const Offers offers(*library_,
                      {setting_text("ORIEL_OFI_PROVIDER"), FI_ATOMIC, FI_ORDER_ATOMIC_RAR});
  if (offers.usable().empty()) return false;
  info_ = library_->dupinfo(offers.usable().front());
  return true;
}

bool OfiAtomics::open() {
  std::string ignored;  // network atomics are optional
  library_ = Libfabric::load(ignored);
  if (library_ == nullptr || !choose() || !open_endpoint(ignored)) return false;
  buffers_ = std::make_unique<std::array<Buffers, most_under_way>>();
  if (local_registration_) {
    if (register_memory(buffers_.get(), sizeof *buffers_, FI_READ | FI_WRITE, registration_) != 0) {
      return false;
    }
    descriptor_ = fi_mr_desc(registration_);
  }
  for (std::size_t i = 0; i < most_under_way; ++i) {
    works_[i].buffers = &(*buffers_)[i];
    idle_.push_back(&works_[i]);
  }
  ask_what_there_is();
  return true;
}

void OfiAtomics::ask_what_there_is() {
  static_assert(ops.size() == ops_asked);
  for (std::size_t basic = 1; basic < type_count; ++basic) {
    for (std::size_t op = 0; op < ops_asked; ++op) {
      std::size_t count = 0;
      const auto ask = op == compare_swap ? fi_compare_atomicvalid : fi_fetch_atomicvalid;
      if (ask(endpoint_, type_of(basic), ops[op], &count) == 0) most_[basic][op] = count;
    }
  }
}

TypeSet OfiAtomics::types(OpSet wanted) const {
  TypeSet types = 0;
  for (std::size_t basic = 1; basic < type_count; ++basic) {
    const OpSet needed = wanted & ops_on(static_cast<Basic>(basic));
    OpSet there = 0;
    for (std::size_t op = 0; op < ops_asked; ++op) {
      if (most_[basic][op] != 0) there |= bit_of(op);
    }
    if (needed != 0 && (needed & ~there) == 0) types |= bit(static_cast<Basic>(basic));
  }
  return types;
}

int OfiAtomics::attach(const EndpointName& name) {
  std::string ignored;
  const int number = attach_endpoint(name, ignored);
  if (number == static_cast<int>(lost_.size())) lost_.push_back(false);
  return number;
}

std::uint64_t OfiAtomics::begin(int process, const Atomic& atomic, const RemoteMemory& remote,
                                std::uint64_t token) {
  if (idle_.empty()) return 0;
  const std::size_t count =
      std::min(std::min<std::size_t>(atomic.bytes, most_bytes) / atomic.element,
               most_[static_cast<std::size_t>(atomic.basic)][index_of(atomic)]);
  const std::uint64_t bytes = count * atomic.element;
  Work& work = *idle_.back();
  work.process = process;
  work.destination = atomic.fetched;
  work.transfer = {token, bytes, Error::none};
  const bool lost = lost_[static_cast<std::size_t>(process)];
  const ssize_t code = lost ? -FI_ECONNABORTED : post(work, atomic, count, remote);
  if (code == -FI_EAGAIN) return 0;
  idle_.pop_back();
  if (code != 0) done(work, Error::peer_lost);
  return bytes;
}

ssize_t OfiAtomics::post(Work& work, const Atomic& atomic, std::size_t count,
                         const RemoteMemory& remote) {
  Buffers& buffers = *work.buffers;
  const fi_addr_t address = address_of(work.process);
  const fi_datatype type = type_of(static_cast<std::size_t>(atomic.basic));
  const fi_op op = ops[index_of(atomic)];
  if (atomic.operands != nullptr) {
    std::memcpy(buffers.operands.data(), atomic.operands, work.transfer.bytes);
  }
  if (atomic.kind != OperationKind::compare_and_swap) {
    return fi_fetch_atomic(endpoint_, buffers.operands.data(), count, descriptor_,
                           buffers.fetched.data(), descriptor_, address, remote.address, remote.key,
                           type, op, &work.context);
  }
  std::memcpy(buffers.compare.data(), atomic.compare, atomic.element);
  return fi_compare_atomic(endpoint_, buffers.operands.data(), count, descriptor_,
                           buffers.compare.data(), descriptor_, buffers.fetched.data(), descriptor_,
                           address, remote.address, remote.key, type, op, &work.context);
}

void OfiAtomics::progress() {
  std::array<fi_cq_data_entry, 16> entries;
  const ssize_t count = fi_cq_read(completions_, entries.data(), entries.size());
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry entry{};
    if (fi_cq_readerr(completions_, &entry, 0) > 0 && entry.op_context != nullptr) {
      done(*static_cast<Work*>(entry.op_context), Error::peer_lost);
    }
  }
  for (ssize_t i = 0; i < count; ++i) {
    done(*static_cast<Work*>(entries[static_cast<std::size_t>(i)].op_context), Error::none);
  }
}

void OfiAtomics::done(Work& work, Error error) {
  if (error != Error::none) {
    lost_[static_cast<std::size_t>(work.process)] = true;
  } else if (work.destination != nullptr) {
    std::memcpy(work.destination, work.buffers->fetched.data(), work.transfer.bytes);
  }
  work.transfer.error = error;
  finished_.push_back(work.transfer);
  idle_.push_back(&work);
}

bool OfiAtomics::finished(Transfer& transfer) {
  if (finished_.empty()) return false;
  transfer = finished_.front();
  finished_.pop_front();
  return true;
}

}  // namespace oriel
