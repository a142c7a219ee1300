// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace oriel {

/// The place of a thread within a call of this library: an address in the function that the program
/// has called, and addresses in the callers of that function, the innermost first. Found by
/// unwinding the stack, so that calls need not record it.
struct CallFrames {
  std::uintptr_t call = 0;                  // 0: the thread is in no call of this library
  std::array<std::uintptr_t, 3> callers{};  // 0: there is no further caller

  /// The frames of the calling thread. Takes about a microsecond; does not allocate, does not look
  /// up symbols.
  static CallFrames of_this_thread();

  bool operator==(const CallFrames&) const = default;
};

/// A place in a program.
struct CodePlace {
  std::string file;          // executable or library
  std::string function;      // a function of `file`; empty: it exports none nearby
  std::uint64_t offset = 0;  // in the addresses of `file`, as addr2line expects them
};

/// Call frames, translated to names.
struct CallSite {
  std::string call;                // MPI_Win_fence, ...; empty: not found
  std::vector<CodePlace> callers;  // the innermost first; without functions that only forward calls

  explicit CallSite(const CallFrames& frames);
};

}  // namespace oriel
