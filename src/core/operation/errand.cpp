// SPDX-License-Identifier: BSD-3-Clause
#include "core/operation/errand.hpp"

namespace oriel {

void Errand::carry_out_row() {
  std::array<std::byte, most_bytes> fetched;
  std::uint64_t at = 0;
  for_each_entry([&](const Entry& entry, std::byte* bytes) {
    auto* const there = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(entry.address));
    if (head_.kind == OperationKind::put) {
      std::memcpy(there, bytes, entry.bytes);
    } else {
      std::memcpy(fetched.data() + at, there, entry.bytes);
    }
    at += entry.bytes;
    return true;
  });
  head_.carried = 0;
  if (head_.kind == OperationKind::get) carry(fetched.data(), at);
}

void Errand::carry_out() {
  auto* const there = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(head_.address));
  const std::uint32_t bytes = head_.bytes;
  const std::uint32_t element = head_.element;
  std::array<std::byte, most_bytes> fetched;
  const bool fetches = oriel::fetches(head_.kind);
  if (head_.entries != 0) return carry_out_row();
  switch (head_.kind) {
    case OperationKind::put:
      std::memcpy(there, data_.data(), bytes);
      break;
    case OperationKind::get:
      std::memcpy(fetched.data(), there, bytes);
      break;
    case OperationKind::accumulate:
    case OperationKind::get_accumulate:
      reduce_plain({head_.op, head_.basic, element}, there, data_.data(),
                   fetches ? fetched.data() : nullptr, bytes / element);
      break;
    case OperationKind::compare_and_swap:
      compare_swap_plain(element, there, data_.data(), data_.data() + element, fetched.data());
      break;
    case OperationKind::acknowledge:
      break;
  }
  head_.carried = 0;
  if (fetches) carry(fetched.data(), bytes);
}

}  // namespace oriel
