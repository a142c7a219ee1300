// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/mailbox.hpp"

#include <algorithm>
#include <cstring>

#include "transport/shm/liveness.hpp"

namespace oriel {

std::optional<Mailbox::Reservation> Mailbox::reserve(std::int32_t pid, std::uint64_t source,
                                                     std::uint64_t total, std::uint64_t offset,
                                                     std::uint32_t bytes) {
  const std::uint64_t cells = cells_for(bytes);
  std::uint64_t tail = ends_->tail.load(std::memory_order_relaxed);
  do {
    // Acquire: the zeroes that the reader left in these cells come before what we write. An old
    // head only makes the mailbox look fuller. A head beyond our old tail (others were here in
    // between) makes the difference negative and the exchange fail.
    const std::uint64_t head = ends_->head.load(std::memory_order_acquire);
    if (static_cast<std::int64_t>(tail + cells - head) > static_cast<std::int64_t>(count_)) {
      return std::nullopt;
    }
  } while (!ends_->tail.compare_exchange_weak(tail, tail + cells, std::memory_order_relaxed));

  const std::uint64_t owner = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pid)) << 32;
  first_word(tail).store(
      owner | std::uint64_t{bytes} << 2 | static_cast<std::uint64_t>(Phase::reserved),
      std::memory_order_relaxed);
  auto* record = reinterpret_cast<MailboxRecord*>(cell(tail).bytes);
  record->source = source;
  record->total = total;
  record->offset = offset;
  return Reservation{tail, bytes};
}

void Mailbox::fill(const Reservation& reservation, std::uint32_t at,
                   std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::uint64_t ring = count_ * cache_line;
  const std::uint64_t from =
      (reservation.position * cache_line + sizeof(MailboxRecord) + at) & (ring - 1);
  const std::size_t first = std::min<std::size_t>(bytes.size(), ring - from);
  std::memcpy(cells_->bytes + from, bytes.data(), first);
  std::memcpy(cells_->bytes, bytes.data() + first, bytes.size() - first);
}

void Mailbox::publish(const Reservation& reservation, Phase phase) {
  auto state = first_word(reservation.position);
  const std::uint64_t reserved = state.load(std::memory_order_relaxed);
  // Pairs with the acquire in peek().
  state.store((reserved & ~std::uint64_t{3}) | static_cast<std::uint64_t>(phase),
              std::memory_order_release);
}

std::optional<Mailbox::Fragment> Mailbox::peek() {
  while (true) {
    const std::uint64_t head = ends_->head.load(std::memory_order_relaxed);
    const std::uint64_t state = first_word(head).load(std::memory_order_acquire);
    switch (phase_of(state)) {
      case Phase::free:
      case Phase::reserved:
        return std::nullopt;
      case Phase::discarded:
        free_cells(head, bytes_of(state));
        break;
      case Phase::committed: {
        const auto* record = reinterpret_cast<const MailboxRecord*>(cell(head).bytes);
        return Fragment{head, bytes_of(state), record->source, record->total, record->offset};
      }
    }
  }
}

void Mailbox::copy(const Fragment& fragment, std::byte* to) const {
  if (fragment.bytes == 0) return;
  const std::uint64_t ring = count_ * cache_line;
  const std::uint64_t from = (fragment.position * cache_line + sizeof(MailboxRecord)) & (ring - 1);
  const std::size_t first = std::min<std::size_t>(fragment.bytes, ring - from);
  std::memcpy(to, cells_->bytes + from, first);
  std::memcpy(to + first, cells_->bytes, fragment.bytes - first);
}

void Mailbox::free_cells(std::uint64_t position, std::uint32_t bytes) {
  const std::uint64_t end = position + cells_for(bytes);
  for (std::uint64_t p = position; p != end; ++p) {
    first_word(p).store(0, std::memory_order_relaxed);
  }
  // Pairs with the acquire in reserve().
  ends_->head.store(end, std::memory_order_release);
}

bool Mailbox::stalled() const {
  const std::uint64_t head = ends_->head.load(std::memory_order_relaxed);
  const Phase phase = phase_of(first_word(head).load(std::memory_order_relaxed));
  return phase == Phase::reserved ||
         (phase == Phase::free && ends_->tail.load(std::memory_order_relaxed) != head);
}

bool Mailbox::skip_dead() {
  const std::uint64_t head = ends_->head.load(std::memory_order_relaxed);
  const std::uint64_t state = first_word(head).load(std::memory_order_relaxed);
  if (phase_of(state) != Phase::reserved) return false;
  if (process_alive(static_cast<std::int32_t>(state >> 32), 0)) return false;
  // Look again: it may have committed just before it died.
  const std::uint64_t last = first_word(head).load(std::memory_order_acquire);
  if (phase_of(last) == Phase::reserved) free_cells(head, bytes_of(last));
  return true;
}

}  // namespace oriel
