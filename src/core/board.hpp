// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/control.hpp"
#include "core/operation.hpp"

namespace oriel {

/// An operation on the private memory of a process that happens to be looking: contiguous on both
/// sides. Plain data, written by the origin; short data travel along, long ones through
/// Board::staging.
struct Offer {
  static constexpr std::size_t capacity = 256;

  std::uint32_t window = 0;
  std::int32_t origin = 0;
  OperationKind kind = OperationKind::put;
  Op op = Op::replace;
  Basic basic = Basic::none;
  std::uint32_t element = 0;
  std::uint64_t offset = 0;  // bytes from the start of the target's window
  std::uint64_t bytes = 0;
  /// Origin data, then the result; of compare-and-swap the compare value follows. With the fields
  /// above, words share one cache line with Board::state.
  std::byte data[capacity] = {};
  std::uint64_t op_code = 0;  // as in Reduction
  std::uint64_t type_code = 0;
};

/// Where the origins on a node offer operations to a process that may be waiting in MPI. A system
/// call into its memory takes a microsecond and more; a process that looks has done a short
/// operation in a third of that. One that does not look is not waited for: the origin takes its
/// offer back and makes the system call.
///
///     origin                                     owner
///     idle -> claimed (compare-exchange)
///     writes the offer; -> offered (release)
///                                                looks in each sweep; attentive = 1
///                                                offered -> taken (compare-exchange, acquire)
///                                                carries it out; -> done or refused (release)
///     sees it (acquire), reads the result; -> idle
///   or, out of patience:
///     offered -> claimed (compare-exchange); attentive = 0; -> idle
///
/// Data longer than Offer::capacity, up to `staging_bytes`, are copied twice, by both processes at
/// the same time: a put's origin fills `staging` from the front while the owner empties it behind,
/// a get's the other way round. `staged` says how far the one in front is (release), and is set to
/// zero by the origin in `claimed`. The one in front waits for nothing, so the one behind waits
/// only for a process that is copying.
///
/// Invariant: the offer belongs to the origin in `claimed`, `done` and `refused`, to the owner in
/// `taken`; `staging` belongs to whoever is in front, up to `staged` to the other. An offer is
/// carried out by the owner or taken back, never both. An origin that is killed leaves the board
/// unusable and everybody with their system calls.
struct alignas(cache_line) Board {
  static constexpr std::uint32_t idle = 0;
  static constexpr std::uint32_t claimed = 1;
  static constexpr std::uint32_t offered = 2;
  static constexpr std::uint32_t taken = 3;
  static constexpr std::uint32_t done = 4;
  static constexpr std::uint32_t refused = 5;

  static constexpr std::uint64_t staging_bytes = std::uint64_t{64} * 1024;

  std::atomic<std::uint32_t> state{idle};
  std::atomic<std::uint32_t> attentive{0};  // the owner has looked since an offer was taken back
  Offer offer;
  alignas(cache_line) std::atomic<std::uint64_t> staged{0};
  alignas(cache_line) std::byte staging[staging_bytes];  // not touched before its first use
};

static_assert(offsetof(Board, offer) + offsetof(Offer, data) + 3 * sizeof(std::uint64_t) <=
              cache_line);
static_assert(std::is_trivially_copyable_v<Offer> && std::is_standard_layout_v<Board>);

}  // namespace oriel
