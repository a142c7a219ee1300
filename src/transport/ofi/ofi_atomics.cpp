// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/ofi_atomics.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "transport/ofi/fabric_errors.hpp"

namespace oriel {
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

bool OfiAtomics::open() {
  if (!ask_what_there_is()) return false;
  buffers_ = std::make_unique<std::array<AtomicBuffers, most_under_way>>();
  if (endpoint_.local_registration()) {
    if (endpoint_.register_memory(buffers_.get(), sizeof *buffers_, FI_READ | FI_WRITE,
                                  registration_) != 0) {
      return false;
    }
    descriptor_ = fi_mr_desc(registration_);
  }
  for (std::size_t i = 0; i < most_under_way; ++i) {
    all_[i].kind = OperationContext::Kind::atomic;
    all_[i].buffers = &(*buffers_)[i];
    idle_.push_back(&all_[i]);
  }
  return true;
}

/// Returns whether the provider has any atomic.
bool OfiAtomics::ask_what_there_is() {
  static_assert(ops.size() == op_count);
  bool any = false;
  for (std::size_t basic = 1; basic < type_count; ++basic) {
    for (std::size_t op = 0; op < op_count; ++op) {
      std::size_t count = 0;
      const auto ask = op == compare_swap ? fi_compare_atomicvalid : fi_fetch_atomicvalid;
      if (ask(endpoint_.handle(), type_of(basic), ops[op], &count) != 0) continue;
      most_[basic][op] = count;
      any |= count != 0;
    }
  }
  return any;
}

TypeSet OfiAtomics::types(OpSet wanted) const {
  TypeSet types = 0;
  for (std::size_t basic = 1; basic < type_count; ++basic) {
    const OpSet needed = wanted & ops_on(static_cast<Basic>(basic));
    OpSet there = 0;
    for (std::size_t op = 0; op < op_count; ++op) {
      if (most_[basic][op] != 0) there |= bit_of(op);
    }
    if (needed != 0 && (needed & ~there) == 0) types |= bit(static_cast<Basic>(basic));
  }
  return types;
}

int OfiAtomics::attach(const EndpointName& name) {
  std::string ignored;
  return endpoint_.attach_endpoint(name, ignored);
}

int OfiAtomics::expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) {
  return endpoint_.expose_memory(memory, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, exposed);
}

std::uint64_t OfiAtomics::begin(int process, const Atomic& atomic, const RemoteMemory& remote,
                                std::uint64_t token) {
  if (idle_.empty()) return 0;
  const std::size_t count =
      std::min(std::min<std::size_t>(atomic.bytes, AtomicBuffers::most_bytes) / atomic.element,
               most_[static_cast<std::size_t>(atomic.basic)][index_of(atomic)]);
  FetchingAtomic& begun = *idle_.back();
  begun.process = process;
  begun.token = token;
  begun.bytes = count * atomic.element;
  begun.destination = atomic.fetched;
  const auto index = static_cast<std::size_t>(process);
  const bool lost = index < lost_.size() && lost_[index];
  const ssize_t code = lost ? -FI_ECONNABORTED : post(begun, atomic, remote);
  if (code != 0 && meaning_of(code) == FabricError::passing) return 0;
  idle_.pop_back();
  const std::uint64_t bytes = begun.bytes;
  if (code != 0) over(begun, static_cast<int>(code));
  return bytes;
}

ssize_t OfiAtomics::post(FetchingAtomic& begun, const Atomic& atomic, const RemoteMemory& remote) {
  AtomicBuffers& buffers = *begun.buffers;
  const std::size_t count = begun.bytes / atomic.element;
  const fi_addr_t address = endpoint_.address_of(begun.process);
  const fi_datatype type = type_of(static_cast<std::size_t>(atomic.basic));
  const fi_op op = ops[index_of(atomic)];
  if (atomic.operands != nullptr) {
    std::memcpy(buffers.operands.data(), atomic.operands, begun.bytes);
  }
  if (atomic.kind != OperationKind::compare_and_swap) {
    return fi_fetch_atomic(endpoint_.handle(), buffers.operands.data(), count, descriptor_,
                           buffers.fetched.data(), descriptor_, address, remote.address, remote.key,
                           type, op, &begun.context);
  }
  std::memcpy(buffers.compare.data(), atomic.compare, atomic.element);
  return fi_compare_atomic(endpoint_.handle(), buffers.operands.data(), count, descriptor_,
                           buffers.compare.data(), descriptor_, buffers.fetched.data(), descriptor_,
                           address, remote.address, remote.key, type, op, &begun.context);
}

/// An atomic that has failed for a shortage is not repeated: it may have taken effect.
void OfiAtomics::over(FetchingAtomic& atomic, int code) {
  Error error = Error::none;
  if (code != 0) {
    error = Error::system;
    if (meaning_of(code) == FabricError::peer_gone) {
      error = Error::peer_lost;
      const auto index = static_cast<std::size_t>(atomic.process);
      lost_.resize(std::max(lost_.size(), index + 1));
      lost_[index] = true;
    }
  } else if (atomic.destination != nullptr) {
    std::memcpy(atomic.destination, atomic.buffers->fetched.data(), atomic.bytes);
  }
  finished_.push({atomic.token, atomic.bytes, error});
  idle_.push_back(&atomic);
}

}  // namespace oriel
