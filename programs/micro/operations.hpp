// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/failure.hpp"
#include "layout.hpp"
#include "target.hpp"

// One operation per type. Each knows what the target's memory holds at first (`fill`), what a round
// issues, and what target and origin must hold after the last round. `spread`, where it is not 1,
// is the length of the target's memory in lengths of the operation's data.
namespace micro {

inline void expect_word(const char* where, std::size_t index, double found, double expected) {
  if (found == expected) return;
  bench::fail(std::string("after the last round element ") + std::to_string(index) + " of " +
              where + " is " + std::to_string(found) + " and should be " +
              std::to_string(expected) + ".");
}

/// The window's content after the last round: `expected(index)` in the places of the layout, and
/// between them what was there at first.
template <typename Layout, typename Element, typename Expected>
void expect_spread(std::span<const Element> target, std::type_identity_t<Element> first,
                   Expected expected) {
  for (std::size_t place = 0; place < target.size(); ++place) {
    const bool between = place % Layout::stride != 0;
    expect_word("the window", place, static_cast<double>(target[place]),
                static_cast<double>(between ? first : expected(place / Layout::stride)));
  }
}

/// The round's number travels in the first and in the last word.
template <template <typename> typename Layout = Contiguous>
class Put {
 public:
  using Element = std::int64_t;
  static constexpr std::size_t spread = Layout<Element>::stride;
  explicit Put(std::size_t bytes) : source_(bytes / sizeof(Element)), layout_(source_.size()) {
    for (std::size_t index = 0; index < source_.size(); ++index) source_[index] = content(index);
  }

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), -1); }
  void prepare_batch() {}
  void issue(std::int64_t round, const Target& target) {
    source_.front() = round;
    source_.back() = round;
    MPI_Put(source_.data(), static_cast<int>(source_.size()), MPI_INT64_T, target.rank,
            target.start, layout_.count(), layout_.datatype(), target.win);
  }
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    expect_spread<Layout<Element>>(target, -1, [&](std::size_t index) {
      const bool marked = index == 0 || index + 1 == source_.size();
      return marked ? rounds - 1 : content(index);
    });
  }
  void check_origin(std::int64_t) const {}

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index * 2654435761u); }

  std::vector<Element> source_;
  Layout<Element> layout_;
};

/// The next one of so many places each time: puts that are not complete do not meet.
inline constexpr std::size_t places_in_a_row = 16;

class PutInARow {
 public:
  using Element = std::int64_t;
  static constexpr std::size_t spread = places_in_a_row;
  explicit PutInARow(std::size_t bytes)
      : count_(static_cast<int>(bytes / sizeof(Element))),
        source_(spread * bytes / sizeof(Element)) {
    for (std::size_t index = 0; index < source_.size(); ++index) source_[index] = content(index);
  }

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), -1); }
  void prepare_batch() {}
  void issue(std::int64_t round, const Target& target) {
    const MPI_Aint place = round % static_cast<std::int64_t>(spread) * count_;
    MPI_Put(source_.data() + place, count_, MPI_INT64_T, target.rank,
            target.start + place * MPI_Aint(sizeof(Element)), count_, MPI_INT64_T, target.win);
  }
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    const auto played = static_cast<std::size_t>(rounds) * static_cast<std::size_t>(count_);
    for (std::size_t index = 0; index < std::min(target.size(), played); ++index) {
      expect_word("the window", index, static_cast<double>(target[index]),
                  static_cast<double>(content(index)));
    }
  }
  void check_origin(std::int64_t) const {}

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index * 2654435761u); }

  int count_;
  std::vector<Element> source_;
};

class GetInARow {
 public:
  using Element = std::int64_t;
  static constexpr std::size_t spread = places_in_a_row;
  explicit GetInARow(std::size_t bytes)
      : count_(static_cast<int>(bytes / sizeof(Element))),
        result_(spread * bytes / sizeof(Element), -1) {}

  void fill(std::span<Element> target) const {
    for (std::size_t index = 0; index < target.size(); ++index) target[index] = content(index);
  }
  void prepare_batch() {}  // the last ones may not be complete
  void issue(std::int64_t round, const Target& target) {
    const MPI_Aint place = round % static_cast<std::int64_t>(spread) * count_;
    MPI_Get(result_.data() + place, count_, MPI_INT64_T, target.rank,
            target.start + place * MPI_Aint(sizeof(Element)), count_, MPI_INT64_T, target.win);
  }
  void check_target(std::span<const Element>, std::int64_t) const {}
  void check_origin(std::int64_t rounds) const {
    const auto played = static_cast<std::size_t>(rounds) * static_cast<std::size_t>(count_);
    for (std::size_t index = 0; index < std::min(result_.size(), played); ++index) {
      expect_word("what was got", index, static_cast<double>(result_[index]),
                  static_cast<double>(content(index)));
    }
  }

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index * 40503u + 7); }

  int count_;
  std::vector<Element> result_;
};

/// The gaps of a vector hold other values than its elements, so a get that takes them fails.
template <template <typename> typename Layout = Contiguous>
class Get {
 public:
  using Element = std::int64_t;
  static constexpr std::size_t spread = Layout<Element>::stride;
  explicit Get(std::size_t bytes) : result_(bytes / sizeof(Element)), layout_(result_.size()) {}

  void fill(std::span<Element> target) const {
    for (std::size_t place = 0; place < target.size(); ++place) {
      target[place] = place % spread == 0 ? content(place / spread) : -1;
    }
  }
  void prepare_batch() { std::fill(result_.begin(), result_.end(), -1); }
  void issue(std::int64_t, const Target& target) {
    MPI_Get(result_.data(), static_cast<int>(result_.size()), MPI_INT64_T, target.rank,
            target.start, layout_.count(), layout_.datatype(), target.win);
  }
  void check_target(std::span<const Element>, std::int64_t) const {}
  void check_origin(std::int64_t) const {
    for (std::size_t index = 0; index < result_.size(); ++index) {
      expect_word("what was got", index, static_cast<double>(result_[index]),
                  static_cast<double>(content(index)));
    }
  }

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index * 40503u + 7); }

  std::vector<Element> result_;
  Layout<Element> layout_;
};

/// MPI_Accumulate with MPI_SUM of small whole numbers, so that sums of doubles are exact as well.
template <typename Number, template <typename> typename Layout = Contiguous>
class Accumulate {
 public:
  using Element = Number;
  static constexpr std::size_t spread = Layout<Element>::stride;
  explicit Accumulate(std::size_t bytes)
      : source_(bytes / sizeof(Element)), layout_(source_.size()) {
    for (std::size_t index = 0; index < source_.size(); ++index) source_[index] = content(index);
  }

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), Element{}); }
  void prepare_batch() {}
  void issue(std::int64_t, const Target& target) {
    MPI_Accumulate(source_.data(), static_cast<int>(source_.size()), datatype_of<Element>(),
                   target.rank, target.start, layout_.count(), layout_.datatype(), MPI_SUM,
                   target.win);
  }
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    expect_spread<Layout<Element>>(target, Element{}, [&](std::size_t index) {
      return content(index) * static_cast<Element>(rounds);
    });
  }
  void check_origin(std::int64_t) const {}

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index % 7 + 1); }

  std::vector<Element> source_;
  Layout<Element> layout_;
};

/// MPI_Get_accumulate with MPI_SUM of small whole numbers.
class GetAccumulate {
 public:
  using Element = std::int64_t;
  explicit GetAccumulate(std::size_t bytes)
      : source_(bytes / sizeof(Element)), fetched_(source_.size()) {
    for (std::size_t index = 0; index < source_.size(); ++index) source_[index] = content(index);
  }

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), 0); }
  void prepare_batch() {}
  void issue(std::int64_t, const Target& target) {
    const int count = static_cast<int>(source_.size());
    MPI_Get_accumulate(source_.data(), count, MPI_INT64_T, fetched_.data(), count, MPI_INT64_T,
                       target.rank, target.start, count, MPI_INT64_T, MPI_SUM, target.win);
  }
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    expect_sums("the window", target, rounds);
  }
  void check_origin(std::int64_t rounds) const {
    expect_sums("what was fetched", fetched_, rounds - 1);
  }

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index % 5 + 1); }
  static void expect_sums(const char* where, std::span<const Element> sums, std::int64_t rounds) {
    for (std::size_t index = 0; index < sums.size(); ++index) {
      expect_word(where, index, static_cast<double>(sums[index]),
                  static_cast<double>(content(index) * rounds));
    }
  }

  std::vector<Element> source_;
  std::vector<Element> fetched_;
};

/// The common part of operations on one word: each round adds one to it and fetches its old value.
class OneWord {
 public:
  using Element = std::int64_t;
  explicit OneWord(std::size_t) {}

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), 0); }
  void prepare_batch() {}
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    expect_word("the window", 0, static_cast<double>(target[0]), static_cast<double>(rounds));
  }
  void check_origin(std::int64_t rounds) const {
    expect_word("what was fetched", 0, static_cast<double>(fetched_),
                static_cast<double>(rounds - 1));
  }

 protected:
  Element fetched_ = -1;
};

class FetchAndOp : public OneWord {
 public:
  using OneWord::OneWord;
  void issue(std::int64_t, const Target& target) {
    MPI_Fetch_and_op(&one_, &fetched_, MPI_INT64_T, target.rank, target.start, MPI_SUM, target.win);
  }

 private:
  Element one_ = 1;
};

/// Every rank adds to the same word; `rounds` are those of one rank.
class ContendedFetchAndOp : public FetchAndOp {
 public:
  using FetchAndOp::FetchAndOp;
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    FetchAndOp::check_target(target, rounds * ranks());
  }
  /// The last value that a rank fetched counts its own earlier rounds, and any of the others'.
  void check_origin(std::int64_t rounds) const {
    if (fetched_ >= rounds - 1 && fetched_ < rounds * ranks()) return;
    bench::fail("the last value fetched is " + std::to_string(fetched_) + " after " +
                std::to_string(rounds) + " rounds on each of " + std::to_string(ranks()) +
                " ranks.");
  }

 private:
  static std::int64_t ranks() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }
};

class CompareAndSwap : public OneWord {
 public:
  using OneWord::OneWord;
  void issue(std::int64_t round, const Target& target) {
    expected_ = round;
    desired_ = round + 1;
    MPI_Compare_and_swap(&desired_, &expected_, &fetched_, MPI_INT64_T, target.rank, target.start,
                         target.win);
  }

 private:
  Element expected_ = 0;
  Element desired_ = 0;
};

}  // namespace micro
