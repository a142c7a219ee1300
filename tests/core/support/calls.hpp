// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "core/operation/operation.hpp"
#include "core/window.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {

inline constexpr std::int32_t any = NotifyPattern::any;

/// A call that may be posted: its completion, which must come once and without an error.
class PostedCall final : public Completion {
 public:
  void complete(Error error) override {
    EXPECT_EQ(error, Error::none);
    EXPECT_FALSE(done_) << "completed twice";
    done_ = true;
  }
  void take(const Outcome& outcome) {
    EXPECT_EQ(outcome.error, Error::none);
    if (outcome.done) complete(outcome.error);
  }
  bool done() const { return done_; }

 private:
  bool done_ = false;
};

/// An operation on one 64-bit word at `displacement` bytes of the target's window.
inline Operation on_word(OperationKind kind, const std::uint64_t* origin, int target,
                         std::int64_t displacement = 0) {
  static const LayoutRef word(new Layout({{0, 8}}, 8, Basic::u64));
  Operation operation;
  operation.kind = kind;
  operation.target = target;
  operation.displacement = displacement;
  operation.target_count = 1;
  operation.target_layout = word;
  operation.origin.address = const_cast<std::uint64_t*>(origin);
  operation.origin.count = 1;
  operation.origin.layout = word;
  if (kind == OperationKind::accumulate) {
    operation.reduction.op = Op::sum;
    operation.reduction.basic = Basic::u64;
    operation.reduction.element = sizeof(std::uint64_t);
  }
  return operation;
}

inline void issue(Window& window, const Operation& operation) {
  const Outcome outcome = window.epochs().issue(operation);
  EXPECT_EQ(outcome.error, Error::none) << window.reason();
}

/// The error of a call once it is over: call(completion) may post it.
template <typename Call>
Error error_of(SimJob& job, Call&& call) {
  Flag flag;
  const Outcome outcome = call(&flag);
  if (outcome.done) return outcome.error;
  job.run_until_idle();
  EXPECT_TRUE(flag.done());
  return flag.error();
}

inline Assert no_check() {
  Assert assertion;
  assertion.no_check = true;
  return assertion;
}

inline Assert weak_unlock() {
  Assert assertion;
  assertion.weak_unlock = true;
  return assertion;
}

inline Assert no_precede() {
  Assert assertion;
  assertion.no_precede = true;
  return assertion;
}

inline Assert no_succeed() {
  Assert assertion;
  assertion.no_succeed = true;
  return assertion;
}

}  // namespace oriel::test
