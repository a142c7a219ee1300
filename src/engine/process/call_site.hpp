// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace oriel {

/// Where a thread is in a call of this library: addresses within the function that the program has
/// called, and within those that call it, the innermost first. Found by unwinding the stack, so
/// that calls need not note it.
struct CallFrames {
  std::uintptr_t call = 0;                  // 0: none of this library's
  std::array<std::uintptr_t, 3> callers{};  // 0: no further one

  /// Of the calling thread, in about a microsecond. Allocates nothing, looks nothing up.
  static CallFrames of_this_thread();
  /// Keeps them for of_this_thread() until release(): a function of this library that the host
  /// calls meanwhile would find the host's frames as its callers.
  static void keep();
  static void release();

  bool operator==(const CallFrames&) const = default;
};

/// A place in a program.
struct CodePlace {
  std::string file;          // executable or library
  std::string function;      // of that file; empty: it exports none that is near
  std::uint64_t offset = 0;  // in the file's addresses, as addr2line takes them
};

/// Call frames in words.
struct CallSite {
  std::string call;                // MPI_Win_fence, ...; empty: not found
  std::vector<CodePlace> callers;  // the innermost first; without what only forwards calls

  explicit CallSite(const CallFrames& frames);
};

}  // namespace oriel
