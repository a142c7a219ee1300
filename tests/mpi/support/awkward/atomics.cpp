// SPDX-License-Identifier: BSD-3-Clause
#include "atomics.hpp"

#include <rdma/fi_atomic.h>

#include "manners.hpp"
#include "transfers.hpp"

namespace awkward {
namespace {

using AtomicTable = Table<fi_ops_atomic, fid_ep>;

int refusal() {
  const int code = passing_refusal();
  if (code != 0) met("an atomic is refused for now");
  return code;
}

ssize_t fetch_part(fid_ep* endpoint, const void* operands, std::size_t count, void* descriptor,
                   void* result, void* result_descriptor, fi_addr_t target, std::uint64_t address,
                   std::uint64_t key, fi_datatype type, fi_op op, void* context) {
  if (const int code = refusal(); code != 0) return code;
  return AtomicTable::provider(endpoint->atomic)
      .readwrite(endpoint, operands, count, descriptor, result, result_descriptor, target, address,
                 key, type, op, context);
}

ssize_t compare_part(fid_ep* endpoint, const void* operands, std::size_t count, void* descriptor,
                     const void* compare, void* compare_descriptor, void* result,
                     void* result_descriptor, fi_addr_t target, std::uint64_t address,
                     std::uint64_t key, fi_datatype type, fi_op op, void* context) {
  if (const int code = refusal(); code != 0) return code;
  return AtomicTable::provider(endpoint->atomic)
      .compwrite(endpoint, operands, count, descriptor, compare, compare_descriptor, result,
                 result_descriptor, target, address, key, type, op, context);
}

}  // namespace

void play_atomics(fid_ep& endpoint) {
  fi_ops_atomic& functions = AtomicTable::replace(endpoint.atomic);
  functions.readwrite = fetch_part;
  functions.compwrite = compare_part;
}

}  // namespace awkward
