// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/failure.hpp"

// One operation per type. Each knows what the target's memory holds at first (`fill`), what a round
// issues, and what target and origin must hold after the last round.
namespace micro {

inline void expect_word(const char* where, std::size_t index, double found, double expected) {
  if (found == expected) return;
  bench::fail(std::string("after the last round element ") + std::to_string(index) + " of " +
              where + " is " + std::to_string(found) + " and should be " +
              std::to_string(expected) + ".");
}

/// The round's number travels in the first and in the last word.
class Put {
 public:
  using Element = std::int64_t;
  explicit Put(std::size_t bytes) : source_(bytes / sizeof(Element)) {
    for (std::size_t index = 0; index < source_.size(); ++index) source_[index] = content(index);
  }

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), -1); }
  void prepare_batch() {}
  void issue(std::int64_t round, int target, MPI_Win win) {
    source_.front() = round;
    source_.back() = round;
    const int count = static_cast<int>(source_.size());
    MPI_Put(source_.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, win);
  }
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    for (std::size_t index = 0; index < target.size(); ++index) {
      const bool marked = index == 0 || index + 1 == target.size();
      const Element expected = marked ? rounds - 1 : content(index);
      expect_word("the window", index, static_cast<double>(target[index]),
                  static_cast<double>(expected));
    }
  }
  void check_origin(std::int64_t) const {}

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index * 2654435761u); }

  std::vector<Element> source_;
};

/// The next one of so many places each time: puts that are not complete do not meet.
inline constexpr std::size_t places_in_a_row = 16;

class PutInARow {
 public:
  using Element = std::int64_t;
  static constexpr std::size_t places = places_in_a_row;
  explicit PutInARow(std::size_t bytes)
      : count_(static_cast<int>(bytes / sizeof(Element))),
        source_(places * bytes / sizeof(Element)) {
    for (std::size_t index = 0; index < source_.size(); ++index) source_[index] = content(index);
  }

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), -1); }
  void prepare_batch() {}
  void issue(std::int64_t round, int target, MPI_Win win) {
    const MPI_Aint place = round % static_cast<std::int64_t>(places) * count_;
    MPI_Put(source_.data() + place, count_, MPI_INT64_T, target, place * MPI_Aint(sizeof(Element)),
            count_, MPI_INT64_T, win);
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
  static constexpr std::size_t places = places_in_a_row;
  explicit GetInARow(std::size_t bytes)
      : count_(static_cast<int>(bytes / sizeof(Element))),
        result_(places * bytes / sizeof(Element), -1) {}

  void fill(std::span<Element> target) const {
    for (std::size_t index = 0; index < target.size(); ++index) target[index] = content(index);
  }
  void prepare_batch() {}  // the last ones may not be complete
  void issue(std::int64_t round, int target, MPI_Win win) {
    const MPI_Aint place = round % static_cast<std::int64_t>(places) * count_;
    MPI_Get(result_.data() + place, count_, MPI_INT64_T, target, place * MPI_Aint(sizeof(Element)),
            count_, MPI_INT64_T, win);
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

class Get {
 public:
  using Element = std::int64_t;
  explicit Get(std::size_t bytes) : result_(bytes / sizeof(Element)) {}

  void fill(std::span<Element> target) const {
    for (std::size_t index = 0; index < target.size(); ++index) target[index] = content(index);
  }
  void prepare_batch() { std::fill(result_.begin(), result_.end(), -1); }
  void issue(std::int64_t, int target, MPI_Win win) {
    const int count = static_cast<int>(result_.size());
    MPI_Get(result_.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, win);
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
};

/// MPI_Accumulate with MPI_SUM of small whole numbers, so that sums of doubles are exact as well.
template <typename Number>
class Accumulate {
 public:
  using Element = Number;
  explicit Accumulate(std::size_t bytes) : source_(bytes / sizeof(Element)) {
    for (std::size_t index = 0; index < source_.size(); ++index) source_[index] = content(index);
  }

  void fill(std::span<Element> target) const { std::fill(target.begin(), target.end(), Element{}); }
  void prepare_batch() {}
  void issue(std::int64_t, int target, MPI_Win win) {
    const int count = static_cast<int>(source_.size());
    MPI_Accumulate(source_.data(), count, datatype(), target, 0, count, datatype(), MPI_SUM, win);
  }
  void check_target(std::span<const Element> target, std::int64_t rounds) const {
    for (std::size_t index = 0; index < target.size(); ++index) {
      expect_word("the window", index, static_cast<double>(target[index]),
                  static_cast<double>(content(index)) * static_cast<double>(rounds));
    }
  }
  void check_origin(std::int64_t) const {}

 private:
  static Element content(std::size_t index) { return static_cast<Element>(index % 7 + 1); }
  static MPI_Datatype datatype() {
    if constexpr (std::is_same_v<Number, double>) return MPI_DOUBLE;
    return MPI_INT64_T;
  }

  std::vector<Element> source_;
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
  void issue(std::int64_t, int target, MPI_Win win) {
    const int count = static_cast<int>(source_.size());
    MPI_Get_accumulate(source_.data(), count, MPI_INT64_T, fetched_.data(), count, MPI_INT64_T,
                       target, 0, count, MPI_INT64_T, MPI_SUM, win);
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
  void issue(std::int64_t, int target, MPI_Win win) {
    MPI_Fetch_and_op(&one_, &fetched_, MPI_INT64_T, target, 0, MPI_SUM, win);
  }

 private:
  Element one_ = 1;
};

class CompareAndSwap : public OneWord {
 public:
  using OneWord::OneWord;
  void issue(std::int64_t round, int target, MPI_Win win) {
    expected_ = round;
    desired_ = round + 1;
    MPI_Compare_and_swap(&desired_, &expected_, &fetched_, MPI_INT64_T, target, 0, win);
  }

 private:
  Element expected_ = 0;
  Element desired_ = 0;
};

}  // namespace micro
