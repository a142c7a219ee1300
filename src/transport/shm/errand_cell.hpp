// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"
#include "core/operation/chunked_operation.hpp"
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
/// Of an errand in chunks origin and owner carry out one chunk after the other. Each draws the
/// number of its next one from `drawn`: the origin from the first chunk on, the owner from the last
/// one on, so that where an operation is repeated each finds most of its part in its own cache.
///
///     origin                                   owner, when it sweeps and waits
///     C1  claimed; drawn = 0; the operation;   D1  state: asked_in_chunks -> taken
///         state = asked_in_chunks (release)        (compare-exchange, acquire)
///     C2  draws; carries out; until            D2  draws; carries out
///         there is none                        D3  state = asked_in_chunks; done if there was
///     C3  state: asked_in_chunks -> none           none to draw; declined if it has failed
///         (compare-exchange, acquire),             (release)
///         or is done or declined (acquire)
///     C4  the chunk that has failed;
///         claimed = 0 (release)
///
/// Invariant: no chunk is carried out twice, behind C4 the owner is at none, and where the origin
/// had no error all have been carried out. C1 to D1 and D3 to C3 carry what either has written.
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
template <typename Words, typename Short, typename Long>
struct alignas(cache_line) BasicErrandCell {
  enum State : std::uint32_t {
    none,
    asked = NodeServices::errand_asked,
    asked_in_chunks = NodeServices::errand_asked_in_chunks,
    taken,
    done,
    declined
  };
  /// No chunk has it.
  static constexpr std::uint32_t no_chunk = ~std::uint32_t{0};

  typename Words::template Atomic<std::uint32_t> state{none};
  typename Words::template Plain<Short> errand{};
  alignas(cache_line) typename Words::template Atomic<std::uint32_t> claimed{0};
  // Of an errand in chunks. The two draw seldom, so they may share the line of `claimed`.
  /// Numbers drawn by the origin, and, in the upper half, by the owner.
  typename Words::template Atomic<std::uint64_t> drawn{0};
  /// When the origin was last at it, ns: for the owner.
  typename Words::template Atomic<std::uint64_t> alive_at{0};
  /// The chunk that the owner could not carry out, if it has declined.
  typename Words::template Plain<std::uint32_t> failed{};
  typename Words::template Plain<std::uint32_t> origin_pid{};
  alignas(cache_line) typename Words::template Plain<Long> operation{};

  // The origin.
  /// False: another one's errand is there.
  bool claim() {
    std::uint32_t free = 0;
    return claimed.compare_exchange_strong(free, 1, std::memory_order_acquire);
  }
  void ask(const Short& what) {
    errand = what;
    state.store(asked, std::memory_order_release);
  }
  void ask_in_chunks(const Long& what, std::uint32_t pid) {
    drawn.store(0, std::memory_order_relaxed);
    operation = what;
    origin_pid = pid;
    state.store(asked_in_chunks, std::memory_order_release);
  }
  bool answered() const { return state.load(std::memory_order_acquire) >= done; }
  /// The answer; true: it has been carried out, and this is it, with what it has fetched.
  bool take_back(Short& what) {
    const bool carried_out = state.load(std::memory_order_relaxed) == done;
    if (carried_out) what = errand;
    release_claim();
    return carried_out;
  }
  /// False: the owner is at it, or has answered.
  bool withdraw() {
    std::uint32_t now = asked;
    if (!state.compare_exchange_strong(now, none, std::memory_order_relaxed)) return false;
    release_claim();
    return true;
  }
  /// The number of the origin's next chunk of so many, or no_chunk.
  std::uint32_t draw_first(std::uint32_t chunks) {
    const std::uint64_t before = drawn.fetch_add(1, std::memory_order_relaxed);
    return any_left(before, chunks) ? static_cast<std::uint32_t>(before) : no_chunk;
  }
  /// Withdraws it unless the owner is within a chunk. True: the owner carries out no more of it.
  bool end_chunks() {
    std::uint32_t now = asked_in_chunks;
    return state.compare_exchange_strong(now, none, std::memory_order_acquire) || now >= done;
  }
  /// Then: the chunk that the owner has drawn and could not carry out, or no_chunk.
  std::uint32_t declined_chunk() {
    if (state.load(std::memory_order_relaxed) != declined) return no_chunk;
    return failed;
  }
  /// Whether there are chunks, of so many, that nobody has drawn.
  bool any_left(std::uint32_t chunks) const {
    return any_left(drawn.load(std::memory_order_relaxed), chunks);
  }
  /// How many chunks the owner has drawn, or has looked for.
  std::uint64_t drawn_by_owner() const {
    return drawn.load(std::memory_order_relaxed) / one_of_owner;
  }
  void release_claim() { claimed.store(0, std::memory_order_release); }

  // The owner, by any of its threads.
  /// False: there is none.
  bool take() {
    if (state.load(std::memory_order_relaxed) != asked) return false;
    std::uint32_t now = asked;
    return state.compare_exchange_strong(now, taken, std::memory_order_acquire);
  }
  void hand_back(const Short& what) {
    errand = what;
    state.store(done, std::memory_order_release);
  }
  void decline() { state.store(declined, std::memory_order_release); }

  // Likewise of an errand in chunks.
  bool take_in_chunks() {
    if (state.load(std::memory_order_relaxed) != asked_in_chunks) return false;
    std::uint32_t now = asked_in_chunks;
    return state.compare_exchange_strong(now, taken, std::memory_order_acquire);
  }
  std::uint32_t draw_last(std::uint32_t chunks) {
    const std::uint64_t before = drawn.fetch_add(one_of_owner, std::memory_order_relaxed);
    if (!any_left(before, chunks)) return no_chunk;
    return chunks - 1 - static_cast<std::uint32_t>(before / one_of_owner);
  }
  /// The owner is within no chunk, and may take the next one.
  void give_back() { state.store(asked_in_chunks, std::memory_order_release); }
  /// There are no more.
  void finish() { state.store(done, std::memory_order_release); }
  /// `number`: the chunk that it has drawn, or no_chunk.
  void decline_chunk(std::uint32_t number) {
    failed = number;
    decline();
  }

 private:
  static constexpr std::uint64_t one_of_owner = std::uint64_t{1} << 32;
  static bool any_left(std::uint64_t before, std::uint32_t chunks) {
    return before / one_of_owner + before % one_of_owner < chunks;
  }
};

using ErrandCell = BasicErrandCell<SharedWords, Errand, ChunkedOperation>;

static_assert(sizeof(ErrandCell) == 18 * cache_line);

}  // namespace oriel
