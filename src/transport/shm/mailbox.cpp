// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/mailbox.hpp"

#include <algorithm>
#include <cstring>

namespace oriel {

std::optional<Mailbox::Reservation> Mailbox::reserve(MailboxClaim& claim, std::int32_t pid,
                                                     std::uint64_t source, std::uint64_t total,
                                                     std::uint64_t offset, std::uint32_t bytes) {
  std::uint64_t head = load_head();
  const std::optional<std::uint64_t> position = BasicMailboxRing::reserve(claim, pid, bytes, head);
  if (!position.has_value()) return std::nullopt;
  auto* record = reinterpret_cast<MailboxRecord*>(cells_.at(*position).bytes);
  record->source = source;
  record->total = total;
  record->offset = offset;
  return Reservation{*position, bytes};
}

void Mailbox::fill(const Reservation& reservation, std::uint32_t at,
                   std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::uint64_t ring = cells_.count() * cache_line;
  const std::uint64_t from =
      (reservation.position * cache_line + sizeof(MailboxRecord) + at) & (ring - 1);
  const std::size_t first = std::min<std::size_t>(bytes.size(), ring - from);
  std::memcpy(cells_.bytes() + from, bytes.data(), first);
  std::memcpy(cells_.bytes(), bytes.data() + first, bytes.size() - first);
}

std::optional<Mailbox::Fragment> Mailbox::peek() {
  const std::uint64_t state = state_at_front();
  if (phase_of(state) != Phase::committed) return std::nullopt;
  const std::uint64_t position = front();
  const auto* record = reinterpret_cast<const MailboxRecord*>(cells_.at(position).bytes);
  return Fragment{position, bytes_of(state), record->source, record->total, record->offset};
}

void Mailbox::copy(const Fragment& fragment, std::byte* to) const {
  if (fragment.bytes == 0) return;
  const std::uint64_t ring = cells_.count() * cache_line;
  const std::uint64_t from = (fragment.position * cache_line + sizeof(MailboxRecord)) & (ring - 1);
  const std::size_t first = std::min<std::size_t>(fragment.bytes, ring - from);
  std::memcpy(to, cells_.bytes() + from, first);
  std::memcpy(to + first, cells_.bytes(), fragment.bytes - first);
}

}  // namespace oriel
