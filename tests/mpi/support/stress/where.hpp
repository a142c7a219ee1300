// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/check.hpp"

namespace stress {

/// Where a thread is in its program: what has to be known to run it again.
struct Where {
  std::uint64_t seed = 0;
  int phase = 0;
  int round = 0;
  int thread = 0;
  int step = 0;
  const char* operation = "";
};

inline Where& here() {
  static thread_local Where where;
  return where;
}

[[noreturn]] inline void fail(const std::string& sentence) {
  const Where& where = here();
  const auto named = [](const char* name, auto value) {
    return std::string(name) + ' ' + std::to_string(value) + ", ";
  };
  support::fail(__FILE__, __LINE__,
                named("seed", where.seed) + named("phase", where.phase) +
                    named("round", where.round) + named("thread", where.thread) +
                    named("step", where.step) + where.operation + ": " + sentence);
}

inline void must(int code, int expected = MPI_SUCCESS) {
  if (support::error_class(code) == expected) return;
  fail("expected [" + support::class_name(expected) + "], found [" + support::class_name(code) +
       "].");
}

template <class Number>
void expect(const char* what, const Number& found, const Number& expected) {
  if (found == expected) return;
  fail(std::string(what) + ": expected " + support::shown(expected) + ", found " +
       support::shown(found) + '.');
}

/// The first byte that differs, if any does.
inline void expect_bytes(const std::string& what, const std::byte* found, const std::byte* expected,
                         std::size_t count) {
  if (std::memcmp(found, expected, count) == 0) return;
  std::size_t at = 0;
  while (found[at] == expected[at]) ++at;
  fail(what + ", byte " + std::to_string(at) + " of " + std::to_string(count) + ": expected " +
       std::to_string(std::to_integer<int>(expected[at])) + ", found " +
       std::to_string(std::to_integer<int>(found[at])) + '.');
}

}  // namespace stress

/// A call that has to succeed.
#define MUST(call) (stress::here().operation = #call, stress::must(call))
#define MUST_FAIL(call, error) (stress::here().operation = #call, stress::must(call, error))
