// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/message.hpp"

#include <cstring>

namespace oriel {
namespace {

constexpr std::size_t unit = sizeof(std::uint64_t);

}  // namespace

void Message::notify(const NotifyArg& wanted) {
  if (!wanted.wanted()) return;
  notifies = wanted.kind;
  notify_number = wanted.number;
  notified_bytes = wanted.bytes;
}

std::span<const std::byte> Message::trim() {
  const auto bytes = std::as_bytes(std::span(this, 1));
  std::size_t used = most_words;
  for (; used > 1; --used) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + (used - 1) * unit, unit);
    if (value != 0) break;
  }
  words = static_cast<std::uint8_t>(used);
  return bytes.first(used * unit);
}

bool Message::read_header(std::span<const std::byte>& bytes) {
  if (bytes.size() < unit || bytes.size() > most_bytes) return false;
  *this = Message();
  std::memcpy(static_cast<void*>(this), bytes.data(), unit);
  if (version != current_version || words == 0 || words > most_words ||
      bytes.size() < words * unit) {
    return false;
  }
  std::memcpy(static_cast<void*>(this), bytes.data(), words * unit);
  bytes = bytes.subspan(words * unit);
  return true;
}

}  // namespace oriel
