// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/base/published.hpp"
#include "core/base/shared_words.hpp"
#include "core/operation/chunked_operation.hpp"
#include "core/operation/errand.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The cell in which peers of a node leave an errand for its owner, one at a time. Zero bytes are a
/// valid cell. A template over its words, as all protocols are (SharedWords).
///
///     origin                                   owner, when it sweeps
///     O1  claimed: 0 -> 1                      T1  state: asked -> taken
///         (compare-exchange, acquire)              (compare-exchange, acquire)
///     O2  write errand;                        T2  carry it out, or decline
///         state = asked (release)
///     O3  answered (acquire): read the         T3  state = done or declined (release)
///         fetched data; claimed = 0 (release)
///     O4  or time is over: state: asked ->
///         none (compare-exchange),
///         claimed = 0 (release); if the
///         exchange fails: O3
///
/// Both origin and owner carry out chunks of an errand in chunks, one after the other. Each draws
/// the number of its next chunk from `drawn`: the origin from the first chunk upward, the owner
/// from the last one downward. If an operation is repeated, each finds most of its part in its
/// cache.
///
///     origin                                   owner, when it sweeps and waits
///     C1  claim; drawn = 0; write operation;   D1  state: asked_in_chunks -> taken
///         state = asked_in_chunks (release)        (compare-exchange, acquire)
///     C2  draw and carry out chunks, until     D2  draw and carry out one chunk
///         none is left to draw                 D3  state = asked_in_chunks; done if there was
///     C3  state: asked_in_chunks -> none           none to draw; declined if it has failed
///         (compare-exchange, acquire),             (release)
///         or is done or declined (acquire)
///     C4  carry out the chunk that failed;
///         claimed = 0 (release)
///
/// Invariant of chunks: no chunk is carried out twice; after C4 the owner is within no chunk; if
/// the origin had no error, all chunks have been carried out. The release in C1 pairs with the
/// acquire in D1, that in D3 with the acquire in C3: each process sees what the other one has
/// written.
///
/// Invariant of other errands: an errand is carried out once, between T1 and T3, or its owner has
/// declined it, or its origin has withdrawn it in O4. The release in O2 pairs with the acquire in
/// T1, that in T3 with the acquire in O3. The release of `claimed` in O3 and O4 pairs with the
/// acquire in O1, so an origin writes its errand only after the previous origin has read its
/// answer.
///
/// `claimed` and `state` are in different cache lines. The line of `claimed` stays in the cache of
/// an origin without rivals. The owner polls the line of `state`; the origin writes that line only
/// to store an errand, by successive stores.
///
/// If O4 fails, the origin waits for the owner, which is between T1 and T3, as long as the owner
/// lives. The owner never waits. If a process is killed within these steps, the cell is not used
/// any more, and operations use system calls.
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
  /// Stands for a chunk number if there is no chunk.
  static constexpr std::uint32_t no_chunk = ~std::uint32_t{0};

  typename Words::template Atomic<std::uint32_t> state{none};
  typename Words::template Plain<Short> errand{};
  alignas(cache_line) typename Words::template Atomic<std::uint32_t> claimed{0};
  // For an errand in chunks. Draws are rare, so `drawn` may share the line of `claimed`.
  /// The lower half counts the numbers that the origin has drawn, the upper half the owner's.
  typename Words::template Atomic<std::uint64_t> drawn{0};
  /// The time, in ns, at which the origin last worked on the errand. The owner checks it.
  typename Words::template Atomic<std::uint64_t> alive_at{0};
  /// The chunk that the owner could not carry out, if it has declined.
  typename Words::template Plain<std::uint32_t> failed{};
  typename Words::template Plain<std::uint32_t> origin_pid{};
  alignas(cache_line) typename Words::template Plain<Long> operation{};

  // For the origin.
  /// False if another origin's errand is in the cell.
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
  /// Reads the answer. True if the errand has been carried out: `what` is then the errand with the
  /// fetched data.
  bool read_answer(Short& what) {
    const bool carried_out = state.load(std::memory_order_relaxed) == done;
    if (carried_out) what = errand;
    release_claim();
    return carried_out;
  }
  /// Withdraws the errand. False if the owner is carrying it out or has answered.
  bool withdraw() {
    std::uint32_t now = asked;
    if (!state.compare_exchange_strong(now, none, std::memory_order_relaxed)) return false;
    release_claim();
    return true;
  }
  /// Draws the origin's next chunk of `chunks`, or no_chunk.
  std::uint32_t draw_first(std::uint32_t chunks) {
    const std::uint64_t before = drawn.fetch_add(1, std::memory_order_relaxed);
    return any_undrawn(before, chunks) ? static_cast<std::uint32_t>(before) : no_chunk;
  }
  /// Withdraws the errand unless the owner is within a chunk. True if the owner carries out no more
  /// chunks.
  bool end_chunks() {
    std::uint32_t now = asked_in_chunks;
    return state.compare_exchange_strong(now, none, std::memory_order_acquire) || now >= done;
  }
  /// After end_chunks(): the chunk that the owner has drawn and could not carry out, or no_chunk.
  std::uint32_t declined_chunk() {
    if (state.load(std::memory_order_relaxed) != declined) return no_chunk;
    return failed;
  }
  /// True if any of `chunks` chunks has not been drawn.
  bool any_undrawn(std::uint32_t chunks) const {
    return any_undrawn(drawn.load(std::memory_order_relaxed), chunks);
  }
  /// The number of draws of the owner, those that found no chunk included.
  std::uint64_t drawn_by_owner() const {
    return drawn.load(std::memory_order_relaxed) / one_of_owner;
  }
  void release_claim() { claimed.store(0, std::memory_order_release); }

  // For the owner, on any of its threads.
  /// False if there is no errand.
  bool begin() { return begin(asked); }
  void hand_back(const Short& what) {
    errand = what;
    state.store(done, std::memory_order_release);
  }
  void decline() { state.store(declined, std::memory_order_release); }

  // For the owner, on any of its threads: an errand in chunks.
  bool begin_in_chunks() { return begin(asked_in_chunks); }
  std::uint32_t draw_last(std::uint32_t chunks) {
    const std::uint64_t before = drawn.fetch_add(one_of_owner, std::memory_order_relaxed);
    if (!any_undrawn(before, chunks)) return no_chunk;
    return chunks - 1 - static_cast<std::uint32_t>(before / one_of_owner);
  }
  /// Called when the owner has finished a chunk; it may then take the errand again.
  void put_back() { state.store(asked_in_chunks, std::memory_order_release); }
  /// Called when no chunk is left to draw.
  void finish() { state.store(done, std::memory_order_release); }
  /// `number`: the chunk that the owner has drawn, or no_chunk.
  void decline_chunk(std::uint32_t number) {
    failed = number;
    decline();
  }

 private:
  bool begin(std::uint32_t now) {
    return state.load(std::memory_order_relaxed) == now &&
           state.compare_exchange_strong(now, taken, std::memory_order_acquire);
  }

  static constexpr std::uint64_t one_of_owner = std::uint64_t{1} << 32;
  static bool any_undrawn(std::uint64_t before, std::uint32_t chunks) {
    return before / one_of_owner + before % one_of_owner < chunks;
  }
};

using ErrandCell = BasicErrandCell<SharedWords, Errand, ChunkedOperation>;

static_assert(sizeof(ErrandCell) == 18 * cache_line);

/// Decides whether to leave errands for a process. A process that computes does not answer. After
/// an errand without an answer the next operations use system calls, so that little time is lost.
/// Used by any thread: a lost update of a count does no harm.
class ErrandSender {
 public:
  bool may_ask() {
    const std::uint32_t remaining = pause_.load();
    if (remaining == 0) return true;
    pause_.store(remaining - 1);
    return false;
  }
  void record(bool carried_out) {
    const std::uint32_t penalty = penalty_.load();
    if (carried_out) {
      if (penalty != 0) penalty_.store(penalty / 2);
      return;
    }
    const std::uint32_t next = std::clamp(2 * penalty, least_pause, most_pause);
    penalty_.store(next);
    pause_.store(next);
  }

 private:
  static constexpr std::uint32_t least_pause = 16;
  static constexpr std::uint32_t most_pause = 1024;

  Published<std::uint32_t> pause_;
  Published<std::uint32_t> penalty_;
};

}  // namespace oriel
