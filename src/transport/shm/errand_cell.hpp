// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"
#include "core/operation/errand.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// Where the node peers of a process leave an errand for it, one at a time. Zero bytes are a valid
/// one. A template over its words, as all protocols are (SharedWords).
///
///     origin                                   owner, when it sweeps
///     O1  claimed: 0 -> 1                      T1  state: asked -> taken
///         (compare-exchange, acquire)              (compare-exchange, acquire)
///     O2  the errand; state = asked (release)  T2  carries it out, or declines
///     O3  answered (acquire): what it          T3  state = done or declined (release)
///         fetched; claimed = 0 (release)
///     O4  no patience: state: asked -> none
///         (compare-exchange), claimed = 0
///         (release); else O3
///
/// Invariant: an errand is carried out once, between T1 and T3, or its owner has declined it, or
/// its origin has withdrawn it in O4. O2 to T1 and T3 to O3 carry what either has written. The
/// release of `claimed` in O3 and O4 pairs with the acquire in O1, so no origin writes an errand
/// before the one before it has read its answer.
///
/// `claimed` has a line of its own, which stays with an origin that has no rival: in the line that
/// the owner looks at an errand appears by stores in a row.
///
/// An origin waits behind O4 for an owner between T1 and T3, as long as that lives. The owner waits
/// for nobody. A process that is killed in between leaves the cell as it is. The cell is then used
/// no more, and operations go by system calls.
template <typename Words, typename Content>
struct alignas(cache_line) BasicErrandCell {
  enum State : std::uint32_t { none, asked = NodeServices::errand_asked, taken, done, declined };

  typename Words::template Atomic<std::uint32_t> state{none};
  typename Words::template Plain<Content> errand{};
  alignas(cache_line) typename Words::template Atomic<std::uint32_t> claimed{0};

  // The origin.
  /// False: another one's errand is there.
  bool claim() {
    std::uint32_t free = 0;
    return claimed.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }
  void ask(const Content& what) {
    errand = what;
    state.store(asked, std::memory_order_release);
  }
  bool answered() const { return state.load(std::memory_order_acquire) >= done; }
  /// The answer; true: it has been carried out, and this is it, with what it has fetched.
  bool take_back(Content& what) {
    const bool carried_out = state.load(std::memory_order_relaxed) == done;
    if (carried_out) what = errand;
    claimed.store(0, std::memory_order_release);
    return carried_out;
  }
  /// False: the owner is at it, or has answered.
  bool withdraw() {
    std::uint32_t now = asked;
    if (!state.compare_exchange_strong(now, none, std::memory_order_relaxed)) return false;
    claimed.store(0, std::memory_order_release);
    return true;
  }

  // The owner, by any of its threads.
  /// False: there is none.
  bool take() {
    if (state.load(std::memory_order_relaxed) != asked) return false;
    std::uint32_t now = asked;
    return state.compare_exchange_strong(now, taken, std::memory_order_acquire);
  }
  void hand_back(const Content& what) {
    errand = what;
    state.store(done, std::memory_order_release);
  }
  void decline() { state.store(declined, std::memory_order_release); }
};

using ErrandCell = BasicErrandCell<SharedWords, Errand>;

static_assert(sizeof(ErrandCell) == 17 * cache_line);

}  // namespace oriel
