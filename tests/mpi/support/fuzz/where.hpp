// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/check.hpp"

namespace fuzz {

/// The call that runs now. A failure prints it, and so does a hang.
struct Where {
  std::uint64_t seed = 0;
  long round = 0;
  long calls = 0;  // of this rank
};

inline Where& where() {
  static Where now;
  return now;
}

/// Returns whether most windows and operations are long.
inline bool long_ones() {
  static const bool wanted = std::getenv("ORIEL_TEST_LONG") != nullptr;
  return wanted;
}

/// Notes the next call.
inline void note(const char* call, int window) {
  static std::array<char, 128> text{};
  ++where().calls;
  std::snprintf(text.data(), text.size(), "seed %lu%s, round %ld, call %ld: %s on window %d",
                static_cast<unsigned long>(where().seed),
                long_ones() ? " with ORIEL_TEST_LONG" : "", where().round, where().calls, call,
                window);
  support::current_test() = text.data();
}

/// A crash is a failure, too, that names the call.
inline void name_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) {
    std::signal(signal, [](int number) {
      std::signal(number, SIG_DFL);
      const char* name = support::current_test();
      static const char head[] = "FAILED: a crash in test '";
      if (write(2, head, sizeof head - 1) < 0 || write(2, name, std::strlen(name)) < 0 ||
          write(2, "'\n", 2) < 0) {
        _exit(2);
      }
      std::raise(number);
    });
  }
}

/// Fails unless `code` has the class; `described` makes the sentence of what was called.
template <class Described>
void expect(int code, int expected, Described&& described) {
  if (expected == MPI_SUCCESS ? code == MPI_SUCCESS : support::error_class(code) == expected) {
    return;
  }
  support::fail(__FILE__, __LINE__,
                std::string(described()) + " should return [" + support::class_name(expected) +
                    "] but returned [" + support::class_name(code) + "].");
}

}  // namespace fuzz
