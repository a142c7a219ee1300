// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/base/thread_lines.hpp"
#include "core/lock/control.hpp"
#include "memory.hpp"
#include "program.hpp"

namespace oriel::model {

/// An atomic word of the checker: each access is a step of the rank that is being run. All words
/// begin with zero, as shared memory does.
template <typename T>
class Atomic {
 public:
  Atomic(T value = 0) {  // NOLINT(google-explicit-constructor): as std::atomic
    if (value != 0) std::abort();
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order order) const {
    return static_cast<T>(run().step(step(Kind::load, reading(order))));
  }
  void store(T value, std::memory_order order) {
    if (mutated(Mutation::Kind::skip)) return;
    run().store(step(Kind::store, writing(order), value), mutated(Mutation::Kind::late));
  }
  T exchange(T value, std::memory_order order) { return modify(Kind::exchange, value, order); }
  T fetch_add(T value, std::memory_order order) { return modify(Kind::add, value, order); }
  T fetch_sub(T value, std::memory_order order) {
    return modify(Kind::add, std::uint64_t{0} - value, order);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order) {
    Step made = step(Kind::compare_exchange, writing(reading(order)), desired);
    made.expected = expected;
    made.failing = reading(order == std::memory_order_acq_rel   ? std::memory_order_acquire
                           : order == std::memory_order_release ? std::memory_order_relaxed
                                                                : order);
    const T old = static_cast<T>(run().step(made));
    const bool same = old == expected;
    expected = old;
    return same;
  }
  /// Failing for no reason is what a loop around it permits anyway.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order) {
    return compare_exchange_strong(expected, desired, order);
  }

  void name(Programs& programs, const std::string& name) const { programs.name(this, name); }
  void give(Programs& programs, int rank) const { programs.give(this, rank); }
  /// As a futex.
  void sleep_while(T value) {
    Step made = step(Kind::sleep, std::memory_order_relaxed);
    made.expected = value;
    run().step(made);
  }
  void wake() { run().step(step(Kind::wake, std::memory_order_relaxed)); }

 private:
  static Run& run() { return Run::current(); }
  bool mutated(Mutation::Kind kind) const {
    const int rank = run().programs().mutation().rank;
    return (rank < 0 || rank == run().rank()) && run().programs().mutated(kind, this);
  }
  Step step(Kind kind, std::memory_order order, std::uint64_t value = 0) const {
    Step made;
    made.kind = kind;
    made.word = run().programs().atomic(this);
    made.order = order;
    made.value = value;
    const int owner = run().programs().owner(this);
    made.own = owner == run().rank();
    if (!made.own && owner >= 0 && kind != Kind::load) std::abort();
    return made;
  }
  T modify(Kind kind, std::uint64_t value, std::memory_order order) {
    if (mutated(Mutation::Kind::skip)) return 0;
    return static_cast<T>(run().step(step(kind, writing(reading(order)), value)));
  }
  std::memory_order reading(std::memory_order order) const {
    if (!acquires(order) || !mutated(Mutation::Kind::unacquire)) return order;
    return order == std::memory_order_acquire ? std::memory_order_relaxed
                                              : std::memory_order_release;
  }
  std::memory_order writing(std::memory_order order) const {
    if (!releases(order) || !mutated(Mutation::Kind::unrelease)) return order;
    return order == std::memory_order_release ? std::memory_order_relaxed
                                              : std::memory_order_acquire;
  }
};

inline std::uint32_t encoded(std::uint32_t value) {
  return value;
}
inline std::uint32_t encoded(const Piggyback& piggyback) {
  return static_cast<std::uint32_t>(piggyback.offset);
}
inline void decode(std::uint32_t from, std::uint32_t& value) {
  value = from;
}
inline void decode(std::uint32_t from, Piggyback& piggyback) {
  piggyback.offset = from;
}

/// A word that one rank touches at a time: the checker finds where that is not so.
template <typename T>
class Plain {
 public:
  Plain(T value = {}) {  // NOLINT(google-explicit-constructor): as the value itself
    if (encoded(value) != 0) std::abort();
  }
  Plain(const Plain&) = delete;

  operator T() const {  // NOLINT(google-explicit-constructor)
    T value{};
    decode(static_cast<std::uint32_t>(Run::current().step(step(Kind::read_plain, 0))), value);
    return value;
  }
  Plain& operator=(const T& value) {
    Run::current().step(step(Kind::write_plain, encoded(value)));
    return *this;
  }
  Plain& operator=(const Plain& other) { return *this = static_cast<T>(other); }
  Plain& operator+=(T value) { return *this = static_cast<T>(*this) + value; }
  Plain& operator-=(T value) { return *this = static_cast<T>(*this) - value; }
  Plain& operator++() { return *this += 1; }
  Plain& operator--() { return *this = static_cast<T>(*this) - 1; }

  void name(Programs& programs, const std::string& name) const { programs.name(this, name); }

 private:
  Step step(Kind kind, std::uint64_t value) const {
    Step made;
    made.kind = kind;
    made.word = Run::current().programs().plain(this);
    made.value = value;
    return made;
  }
};

struct Words;

/// The lines of the threads that update without their processes' locks.
struct Threads {
  using Line = BasicThreadLine<Words>;

  virtual ~Threads() = default;
  virtual std::span<const Line> of_rank(int rank) const = 0;
};

/// The ranks of a scenario, as one of them sees them.
class Sharers {
 public:
  Sharers(int self, bool asymmetric, std::span<const int> ranks = {},
          const Threads* threads = nullptr)
      : self_(static_cast<std::uint32_t>(self)),
        asymmetric_(asymmetric),
        ranks_(ranks),
        threads_(threads) {}

  std::uint32_t self() const { return self_; }
  bool asymmetric() const { return asymmetric_; }
  void fence() {
    if (!asymmetric_ || Run::current().programs().mutation().kind == Mutation::Kind::no_fence)
      return;
    Step made;
    made.kind = Kind::fence;
    Run::current().step(made);
  }
  void relax() {}
  std::span<const int> ranks() const { return ranks_; }
  std::span<const Threads::Line> threads(int rank) const { return threads_->of_rank(rank); }
  bool alive(std::uint32_t rank) {
    return Run::current().programs().mutation().kind == Mutation::Kind::trusting || lives(rank);
  }
  static bool lives(std::uint32_t rank) {
    Step made;
    made.kind = Kind::alive;
    made.word = static_cast<std::uint8_t>(rank);
    return Run::current().step(made) != 0;
  }

 private:
  std::uint32_t self_;
  bool asymmetric_;
  std::span<const int> ranks_;  // of those who lock or update
  const Threads* threads_;      // of those who update
};

/// The loop of a rank that waits for others. Nothing is carried from one round to the next but whom
/// it has found dead, so a rank in its second round is where it was in the first one.
class Loop {
 public:
  Loop() : head_(Run::current().place()), begun_(Run::current().done()) {}

  void again() const {
    const std::uint32_t dead = Run::current().found_dead_since(begun_);
    Step made;
    made.kind = Kind::jump;
    made.value = std::uint64_t{head_} << 8 | dead;
    made.expected = dead == 0 ? std::uint64_t{head_} + 1 : 0;
    Run::current().step(made);
  }

 private:
  std::uint32_t head_;
  std::size_t begun_;
};

/// Nothing of what the rank has seen so far matters for what it does from here on, but `key`.
inline void forget(std::uint64_t key) {
  Step made;
  made.kind = Kind::jump;
  made.value = std::uint64_t{1} << 63 | key;
  Run::current().step(made);
}

/// Whether the scene's own code has this fault.
inline bool mutated_code(const char* what) {
  const Mutation& mutation = Run::current().programs().mutation();
  return mutation.kind == Mutation::Kind::code && mutation.word == what;
}

/// The policy of the protocols under the checker.
struct Words {
  template <typename T>
  using Atomic = model::Atomic<T>;
  template <typename T>
  using Plain = model::Plain<T>;
  using Sharers = model::Sharers;
  using Loop = model::Loop;

  static void store_then_load() {}
  static constexpr std::uint32_t long_streak = 2;
  static constexpr std::uint32_t singles_in_a_row = 2;
  static constexpr unsigned tries_of_turn = 1;
  static void pause() {}
  static constexpr unsigned rounds_per_check = 1;
};

}  // namespace oriel::model
