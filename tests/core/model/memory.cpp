// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <algorithm>
#include <cstdlib>

namespace oriel::model {

State::State() {
  fixed.count.fill(1);
}

int State::oldest(int rank, int word, std::memory_order order) const {
  const int seen = fixed.view[rank].at[word];
  return order == std::memory_order_seq_cst ? std::max<int>(seen, fixed.sc[word]) : seen;
}

std::uint64_t State::load(int rank, int word, int index, std::memory_order order) {
  const Message& message = begin(word)[index];
  View& view = fixed.view[rank];
  if (acquires(order)) view.join(message.view);
  view.at[word] = std::max(view.at[word], static_cast<std::uint8_t>(index));
  if (order == std::memory_order_seq_cst) {
    fixed.sc[word] = std::max(fixed.sc[word], static_cast<std::uint8_t>(index));
  }
  return message.value;
}

void State::store(int rank, int word, int index, std::uint64_t value, std::memory_order order) {
  if (fixed.messages == most_messages) std::abort();  // a scenario too large for this checker
  const auto place = static_cast<std::uint8_t>(index);
  for_each_view([&](View& view) { view.at[word] += view.at[word] >= place ? 1 : 0; });
  fixed.sc[word] += fixed.sc[word] >= place ? 1 : 0;
  Message* at = begin(word) + index;
  Message* end = messages.data() + fixed.messages;
  std::copy_backward(at, end, end + 1);
  ++fixed.messages;
  ++fixed.count[word];
  View& view = fixed.view[rank];
  view.at[word] = place;
  *at = {};
  at->value = value;
  if (releases(order)) at->view = view;
  if (order == std::memory_order_seq_cst) fixed.sc[word] = std::max(fixed.sc[word], place);
}

void State::modify(int rank, int word, int index, std::uint64_t value, std::memory_order order) {
  load(rank, word, index, order);
  const View read = begin(word)[index].view;
  store(rank, word, index + 1, value, order);
  Message& written = begin(word)[index + 1];
  // It continues the release sequence of what it has read.
  written.view.join(read);
  written.attached = 1;
}

void State::fence() {
  View all = fixed.view[0];
  for (const View& view : fixed.view) all.join(view);
  fixed.view.fill(all);
}

bool State::read_plain(int rank, int word, std::uint32_t& value) {
  const std::uint32_t bit = 1U << word;
  value = fixed.plain[word];
  if ((fixed.view[rank].written & bit) == 0) return false;
  for_each_view([&](View& view) { view.read[rank] &= ~bit; });
  fixed.view[rank].read[rank] |= bit;
  return true;
}

bool State::write_plain(int rank, int word, std::uint32_t value) {
  const std::uint32_t bit = 1U << word;
  const View& mine = fixed.view[rank];
  if ((mine.written & bit) == 0) return false;
  for (const std::uint32_t read : mine.read) {
    if ((read & bit) == 0) return false;
  }
  for_each_view([&](View& view) {
    view.written &= ~bit;
    for (std::uint32_t& read : view.read) read |= bit;  // whoever knows of the write knows of them
  });
  fixed.view[rank].written |= bit;
  fixed.plain[word] = value;
  return true;
}

void State::normalize() {
  // What all that will still read know already.
  View known{{}, ~0U, {~0U, ~0U, ~0U}};
  known.at.fill(0xff);
  bool any = false;
  for (int rank = 0; rank < most_ranks; ++rank) {
    if (gone(rank)) continue;
    any = true;
    const View& view = fixed.view[rank];
    for (int i = 0; i < most_atomics; ++i) known.at[i] = std::min(known.at[i], view.at[i]);
    known.written &= view.written;
    for (int i = 0; i < most_ranks; ++i) known.read[i] &= view.read[i];
  }
  Message* to = messages.data();
  const Message* from = messages.data();
  for (int word = 0; word < fixed.words; ++word) {
    const int all = fixed.count[word];
    if (!any) known.at[word] = static_cast<std::uint8_t>(all - 1);
    known.at[word] = static_cast<std::uint8_t>(std::max<int>(known.at[word], all - most_values));
    const int old = known.at[word];
    to = std::copy(from + old, from + all, to);
    from += all;
    fixed.count[word] = static_cast<std::uint8_t>(all - old);
    (to - fixed.count[word])->attached = 0;
    fixed.sc[word] = static_cast<std::uint8_t>(std::max(0, fixed.sc[word] - old));
  }
  fixed.messages = static_cast<std::uint8_t>(to - messages.data());
  for_each_view([&](View& view) {
    for (int i = 0; i < most_atomics; ++i) {
      view.at[i] = static_cast<std::uint8_t>(std::max(0, view.at[i] - known.at[i]));
    }
    view.written |= known.written;
    for (int i = 0; i < most_ranks; ++i) view.read[i] |= known.read[i];
  });
  // Nobody reads a word any more but by its latest message.
  const Message* first = messages.data();
  for (int word = 0; word < fixed.words; first += fixed.count[word++]) {
    for (int i = 0; i < fixed.count[word]; ++i)
      messages[first - messages.data() + i].view.at[word] = 0;
  }
  const View nothing_new{{}, known.written, known.read};
  while (fixed.words != 0 && fixed.count[fixed.words - 1] == 1 &&
         messages[fixed.messages - 1].value == 0 &&
         messages[fixed.messages - 1].view == nothing_new) {
    --fixed.words;
    --fixed.messages;
  }
}

std::uint64_t State::hash() const {
  std::uint64_t sum = 0x9e3779b97f4a7c15ULL;
  const auto mix = [&](const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (; bytes >= 8; at += 8, bytes -= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, 8);
      const auto product = static_cast<unsigned __int128>(sum ^ word) * 0xd6e8feb86659fd93ULL;
      sum = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^
            (sum << 23 | sum >> 41);
    }
    if (bytes != 0) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, bytes);
      const auto product =
          static_cast<unsigned __int128>(sum ^ word ^ bytes) * 0xd6e8feb86659fd93ULL;
      sum = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
  };
  mix(&fixed, sizeof fixed);
  mix(messages.data(), fixed.messages * sizeof(Message));
  return sum;
}

}  // namespace oriel::model
