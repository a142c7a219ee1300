// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace oriel::model {

constexpr int most_ranks = 3;
constexpr int most_atomics = 44;
constexpr int most_plain = 32;
// Of one word, that somebody may still read. Who stores in a loop would otherwise never come to an
// end: so deep are the store buffers.
constexpr int most_values = 4;
constexpr int most_messages = most_atomics * most_values;

/// What one rank knows of the words: of each atomic word the oldest message that it may still read,
/// of each plain one whether what others did to it comes before all that the rank does from now on.
struct View {
  std::array<std::uint8_t, most_atomics> at{};
  std::uint32_t written = ~0U;                                // by plain word: of its last write
  std::array<std::uint32_t, most_ranks> read{~0U, ~0U, ~0U};  // and of each rank's last read

  bool operator==(const View&) const = default;
  void join(const View& other) {
    for (int i = 0; i < most_atomics; ++i) {
      if (other.at[i] > at[i]) at[i] = other.at[i];
    }
    written |= other.written;
    for (int i = 0; i < most_ranks; ++i) read[i] |= other.read[i];
  }
};

/// One value that an atomic word has had, or for other ranks still has.
struct Message {
  std::uint64_t value = 0;
  View view{{}, 0, {}};        // what its writer released with it
  std::uint32_t attached = 0;  // written by a read-modify-write that has read the one before
};

/// The words of some ranks and how far each rank has come: one state of the search.
///
/// The memory is that of C++ without load buffering: each atomic word has an order of modification,
/// each rank a view. A load reads any message not older than the view; so one that another rank has
/// long overwritten, as long as nothing that the reader has acquired says so. A store takes any
/// place in the order behind the view. Release attaches the view to the message, acquire joins it,
/// sequentially consistent accesses of one word see one another besides. A read-modify-write stands
/// at once behind what it reads. A membarrier makes all that any rank has stored seen by all. What
/// store buffers of any kind do, in order (x86) or not (ARM, POWER), is among what this permits; a
/// store buffer is what the other ranks' views do not contain yet.
///
/// Plain words have to be used as if there were nobody else: two accesses, one of them a write, of
/// which neither comes before the other are a race.
struct State {
  struct Fixed {
    std::array<std::uint32_t, most_ranks> node{};  // where each rank is in its program
    std::array<View, most_ranks> view{};
    std::array<std::uint8_t, most_atomics> sc{};     // by word: the last seen by all of its seq_cst
    std::array<std::uint8_t, most_atomics> count{};  // messages of each atomic word
    std::array<std::uint32_t, most_plain> plain{};
    std::array<std::uint8_t, most_ranks> asleep{};  // 1 + the word on which it sleeps
    std::uint8_t dead = 0;                          // a bit for each rank that was killed
    std::uint8_t over = 0;                          // and for each that has finished
    std::uint8_t kills = 0;                         // that may yet come
    std::uint8_t words = 0;                         // whose messages are kept: see begin()
    std::uint8_t messages = 0;
  };

  Fixed fixed;
  std::array<Message, most_messages> messages;

  State();
  /// A copy of what matters: faster than of all the messages that there is space for.
  void become(const State& other) {
    fixed = other.fixed;
    std::copy_n(other.messages.data(), fixed.messages, messages.data());
  }

  /// A word that is looked at for the first time has its first message, and so have all before it:
  /// who uses few words pays for few.
  Message* begin(int word) {
    for (; fixed.words <= word; ++fixed.words) messages[fixed.messages++] = {};
    Message* first = messages.data();
    for (int i = 0; i < word; ++i) first += fixed.count[i];
    return first;
  }
  int count(int word) const { return fixed.count[word]; }
  std::uint64_t latest(int word) { return begin(word)[count(word) - 1].value; }
  bool gone(int rank) const { return ((fixed.dead | fixed.over) >> rank & 1) != 0; }

  // What a rank may choose among, in the order of modification: how many, and the index of one.
  int oldest(int rank, int word, std::memory_order order) const;
  /// Whether something may be written right before the message of that index; count(): the end.
  bool open_before(int word, int index) {
    return index == count(word) || begin(word)[index].attached == 0;
  }

  std::uint64_t load(int rank, int word, int index, std::memory_order order);
  /// Right before the message of that index.
  void store(int rank, int word, int index, std::uint64_t value, std::memory_order order);
  /// Reads the message of that index and writes the one behind it.
  void modify(int rank, int word, int index, std::uint64_t value, std::memory_order order);
  void fence();

  /// False: a race.
  bool read_plain(int rank, int word, std::uint32_t& value);
  bool write_plain(int rank, int word, std::uint32_t value);

  /// Forgets what no rank can distinguish any more, so that equal states look equal.
  void normalize();
  std::uint64_t hash() const;

 private:
  template <typename Do>
  void for_each_view(Do&& change) {
    for (View& view : fixed.view) change(view);
    for (int i = 0; i < fixed.messages; ++i) change(messages[i].view);
  }
};

static_assert(std::has_unique_object_representations_v<Message> &&
              std::has_unique_object_representations_v<State::Fixed>);
static_assert(std::is_trivially_copyable_v<State>);

constexpr bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
constexpr bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace oriel::model
