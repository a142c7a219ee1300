// SPDX-License-Identifier: BSD-3-Clause
// Atomics: of one element, as cards have them, and atomic among themselves.
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "endpoint.hpp"

namespace card {
namespace {

using Element = std::array<std::byte, 8>;

struct Atomic {
  const void* operand;
  const void* compare;
  void* result;
  std::size_t count;
  fi_addr_t target;
  std::uint64_t address;
  std::uint64_t key;
  fi_datatype type;
  fi_op op;
  std::uint64_t flags;
  void* context;
};

template <typename T>
bool apply(fi_op op, const T& old, const T& operand, const T& compare, T& updated) {
  switch (op) {
    case FI_MIN:
      updated = std::min(old, operand);
      return true;
    case FI_MAX:
      updated = std::max(old, operand);
      return true;
    case FI_SUM:
      updated = static_cast<T>(old + operand);
      return true;
    case FI_PROD:
      updated = static_cast<T>(old * operand);
      return true;
    case FI_LOR:
      updated = static_cast<T>(old != T{} || operand != T{});
      return true;
    case FI_LAND:
      updated = static_cast<T>(old != T{} && operand != T{});
      return true;
    case FI_LXOR:
      updated = static_cast<T>((old != T{}) != (operand != T{}));
      return true;
    case FI_ATOMIC_READ:
      updated = old;
      return true;
    case FI_ATOMIC_WRITE:
      updated = operand;
      return true;
    case FI_CSWAP:
      updated = old == compare ? operand : old;
      return true;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == FI_BOR) return updated = static_cast<T>(old | operand), true;
    if (op == FI_BAND) return updated = static_cast<T>(old & operand), true;
    if (op == FI_BXOR) return updated = static_cast<T>(old ^ operand), true;
  }
  return false;
}

/// Calls `use` with a value of the type. False if the card does not have the type.
template <typename Use>
bool with_type(fi_datatype type, Use&& use) {
  switch (type) {
    case FI_INT8:
      return use(std::int8_t{});
    case FI_UINT8:
      return use(std::uint8_t{});
    case FI_INT16:
      return use(std::int16_t{});
    case FI_UINT16:
      return use(std::uint16_t{});
    case FI_INT32:
      return use(std::int32_t{});
    case FI_UINT32:
      return use(std::uint32_t{});
    case FI_INT64:
      return use(std::int64_t{});
    case FI_UINT64:
      return use(std::uint64_t{});
    case FI_FLOAT:
      return use(float{});
    case FI_DOUBLE:
      return use(double{});
    default:
      return false;
  }
}

bool update(fi_datatype type, fi_op op, const Element& old, const Element& operand,
            const Element& compare, Element& updated) {
  return with_type(type, [&]<typename T>(T /*value*/) {
    const auto value = [](const Element& element) {
      T read;
      std::memcpy(&read, element.data(), sizeof read);
      return read;
    };
    T made{};
    if (!apply(op, value(old), value(operand), value(compare), made)) return false;
    std::memcpy(updated.data(), &made, sizeof made);
    return true;
  });
}

std::size_t size_of(fi_datatype type) {
  std::size_t size = 0;
  with_type(type, [&](auto value) { return size = sizeof value, true; });
  return size;
}

Element element_at(const void* place, std::size_t bytes) {
  Element element{};
  if (place != nullptr) std::memcpy(element.data(), place, bytes);
  return element;
}

/// 0, or libfabric's code.
int carry_out(Peer& peer, const Atomic& atomic) {
  const std::size_t bytes = size_of(atomic.type);
  const std::uint64_t access = atomic.op == FI_ATOMIC_READ    ? std::uint64_t{FI_REMOTE_READ}
                               : atomic.op == FI_ATOMIC_WRITE ? std::uint64_t{FI_REMOTE_WRITE}
                                                              : FI_REMOTE_READ | FI_REMOTE_WRITE;
  std::uint64_t place = 0;
  if (const int code = peer.resolve(atomic.key, atomic.address, bytes, access, place); code != 0) {
    return code;
  }
  if (place % bytes != 0) return -FI_EINVAL;
  const Element operand = element_at(atomic.operand, bytes);
  const Element compare = element_at(atomic.compare, bytes);
  Element old{};
  Element updated{};
  {
    const std::lock_guard<SharedLock> held(peer.segment().atomics);
    const iovec read{old.data(), bytes};
    if (const int code = peer.read(&read, 1, place, bytes); code != 0) return code;
    if (!update(atomic.type, atomic.op, old, operand, compare, updated)) return -FI_EOPNOTSUPP;
    const iovec written{updated.data(), bytes};
    const int code = atomic.op == FI_ATOMIC_READ ? 0 : peer.write(&written, 1, place, bytes);
    if (code != 0) return code;
  }
  if (atomic.result != nullptr) std::memcpy(atomic.result, old.data(), bytes);
  return 0;
}

int valid(fid_ep* /*endpoint*/, fi_datatype type, fi_op op, std::size_t* count) {
  Element updated;
  if (op == FI_CSWAP || !update(type, op, {}, {}, {}, updated)) return -FI_EOPNOTSUPP;
  if (count != nullptr) *count = 1;
  return 0;
}

int compare_valid(fid_ep* /*endpoint*/, fi_datatype type, fi_op op, std::size_t* count) {
  if (op != FI_CSWAP || size_of(type) == 0) return -FI_EOPNOTSUPP;
  if (count != nullptr) *count = 1;
  return 0;
}

ssize_t begin(fid_ep* object, const Atomic& atomic) {
  Endpoint& endpoint = endpoint_of(object);
  Peer* peer = endpoint.peer(atomic.target);
  if (peer == nullptr || atomic.count != 1) return -FI_EINVAL;
  if (size_of(atomic.type) == 0) return -FI_EOPNOTSUPP;
  if (endpoint.full()) return -FI_EAGAIN;
  const bool fetches = atomic.result != nullptr;
  const std::uint64_t due = endpoint.link().sent(size_of(atomic.type)) + latency();
  const int code = carry_out(*peer, atomic);
  Event event;
  event.entry.op_context = atomic.context;
  event.entry.flags = FI_ATOMIC | (fetches ? FI_READ : FI_WRITE);
  event.error = -code;
  endpoint.finish(due, fetches ? Counted::read : Counted::write, atomic.flags, event);
  return 0;
}

/// The only run of a vector.
template <typename Runs>
auto* only(const Runs* runs, std::size_t count) {
  return count == 1 ? runs->addr : nullptr;
}

std::uint64_t usual(fid_ep* endpoint) {
  return endpoint_of(endpoint).transmit_flags();
}

ssize_t write(fid_ep* endpoint, const void* buffer, std::size_t count, void* /*descriptor*/,
              fi_addr_t target, std::uint64_t address, std::uint64_t key, fi_datatype type,
              fi_op op, void* context) {
  return begin(endpoint, {buffer, nullptr, nullptr, count, target, address, key, type, op,
                          usual(endpoint), context});
}

ssize_t writev(fid_ep* endpoint, const fi_ioc* runs, void** /*descriptors*/, std::size_t count,
               fi_addr_t target, std::uint64_t address, std::uint64_t key, fi_datatype type,
               fi_op op, void* context) {
  return begin(endpoint, {only(runs, count), nullptr, nullptr, runs->count, target, address, key,
                          type, op, usual(endpoint), context});
}

ssize_t fetch_message(fid_ep* endpoint, const fi_msg_atomic* message, const fi_ioc* comparands,
                      const fi_ioc* results, std::uint64_t flags) {
  if (message->rma_iov_count != 1 || message->rma_iov->count != 1) return -FI_EINVAL;
  const fi_ioc* operands = message->iov_count != 0 ? message->msg_iov : nullptr;
  return begin(endpoint, {operands != nullptr ? operands->addr : nullptr,
                          comparands != nullptr ? comparands->addr : nullptr,
                          results != nullptr ? results->addr : nullptr, message->rma_iov->count,
                          message->addr, message->rma_iov->addr, message->rma_iov->key,
                          message->datatype, message->op, flags, message->context});
}

ssize_t writemsg(fid_ep* endpoint, const fi_msg_atomic* message, std::uint64_t flags) {
  return fetch_message(endpoint, message, nullptr, nullptr, flags);
}

ssize_t inject(fid_ep* endpoint, const void* buffer, std::size_t count, fi_addr_t target,
               std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op) {
  return begin(endpoint, {buffer, nullptr, nullptr, count, target, address, key, type, op,
                          FI_INJECT, nullptr});
}

ssize_t readwrite(fid_ep* endpoint, const void* buffer, std::size_t count, void* /*descriptor*/,
                  void* result, void* /*result_descriptor*/, fi_addr_t target,
                  std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op,
                  void* context) {
  return begin(endpoint, {buffer, nullptr, result, count, target, address, key, type, op,
                          usual(endpoint), context});
}

ssize_t readwritev(fid_ep* endpoint, const fi_ioc* runs, void** /*descriptors*/, std::size_t count,
                   fi_ioc* results, void** /*result_descriptors*/, std::size_t result_count,
                   fi_addr_t target, std::uint64_t address, std::uint64_t key, fi_datatype type,
                   fi_op op, void* context) {
  return begin(endpoint, {only(runs, count), nullptr, only(results, result_count), results->count,
                          target, address, key, type, op, usual(endpoint), context});
}

ssize_t readwritemsg(fid_ep* endpoint, const fi_msg_atomic* message, fi_ioc* results,
                     void** /*descriptors*/, std::size_t /*count*/, std::uint64_t flags) {
  return fetch_message(endpoint, message, nullptr, results, flags);
}

ssize_t compwrite(fid_ep* endpoint, const void* buffer, std::size_t count, void* /*descriptor*/,
                  const void* compare, void* /*compare_descriptor*/, void* result,
                  void* /*result_descriptor*/, fi_addr_t target, std::uint64_t address,
                  std::uint64_t key, fi_datatype type, fi_op op, void* context) {
  return begin(endpoint, {buffer, compare, result, count, target, address, key, type, op,
                          usual(endpoint), context});
}

ssize_t compwritev(fid_ep* endpoint, const fi_ioc* runs, void** /*descriptors*/, std::size_t count,
                   const fi_ioc* comparands, void** /*compare_descriptors*/,
                   std::size_t compare_count, fi_ioc* results, void** /*result_descriptors*/,
                   std::size_t result_count, fi_addr_t target, std::uint64_t address,
                   std::uint64_t key, fi_datatype type, fi_op op, void* context) {
  return begin(endpoint,
               {only(runs, count), only(comparands, compare_count), only(results, result_count),
                runs->count, target, address, key, type, op, usual(endpoint), context});
}

ssize_t compwritemsg(fid_ep* endpoint, const fi_msg_atomic* message, const fi_ioc* comparands,
                     void** /*compare_descriptors*/, std::size_t /*compare_count*/, fi_ioc* results,
                     void** /*result_descriptors*/, std::size_t /*count*/, std::uint64_t flags) {
  return fetch_message(endpoint, message, comparands, results, flags);
}

}  // namespace

fi_ops_atomic atomics{
    sizeof(fi_ops_atomic), write,     writev,     writemsg,     inject, readwrite, readwritev,
    readwritemsg,          compwrite, compwritev, compwritemsg, valid,  valid,     compare_valid};

}  // namespace card
