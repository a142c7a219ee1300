// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "core/base/published.hpp"
#include "core/epoch/activation.hpp"
#include "engine/windows/window_terms.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The call that waits until a mapped target is available, in an epoch that a blocking call has
/// opened (ORIEL_AWAIT_ACCESS).
enum class AccessAwaited : std::uint8_t {
  at_completion,  // flushes and closing calls
  // Also operations with a result and without a request, in epochs of MPI_Win_lock.
  at_result,
  at_opening,  // the opening call
};

/// The info keys of a window: the standard's, Oriel's and the reorder keys. Unknown keys are
/// ignored (G6).
struct WindowInfo {
  bool no_locks = false;
  bool same_size = false;
  bool same_disp_unit = false;
  bool alloc_shared_noncontig = false;
  std::string accumulate_ordering = "rar,raw,war,waw";
  std::string accumulate_ops = "same_op_no_op";
  std::string accumulate_granularity = "0";
  std::string which_accumulate_ops = "any_op";  // a key of MPICH's
  std::string minimum_alignment = "64";
  std::string alloc_kinds = "system,mpi";
  std::string asserted_alloc_kinds;
  std::string max_num_notify = "0";  // 0: no limit is asserted
  bool weak_unlock = false;
  AccessAwaited access_awaited = AccessAwaited::at_result;
  // Read without the process lock.
  Published<bool> order;         // operations to one target complete there in the order of issue
  Published<bool> thread_scope;  // a flush waits for the calling thread's operations alone
  /// Before the window is made: the key was given. Afterwards: in effect on this handle.
  Published<bool> accumulate_intrinsic;
  Intrinsic intrinsic = Intrinsic::as_asked;
  Reorder reorder;

  /// Reads all keys, when the window is made. The keys for its memory, and those on which the ranks
  /// agree, do not change later.
  void read(MPI_Info info);
  /// Reads the keys that may change later and may differ between the handles of a window.
  void update(MPI_Info info);
  /// The keys that a window is made with.
  WindowTerms terms() const;
  /// Stores every key with its value, including defaults. Returns the host's error code.
  int write(MPI_Info info) const;

  /// The required alignment of the memory in bytes.
  std::size_t alignment() const;
  /// Lowers the alignment to that of the address, which depends on the sizes of other ranks'
  /// memory.
  void lower_alignment(const void* memory);
  /// The maximal number of notification counters of a rank, and the number up to which they need
  /// little memory.
  int most_counters() const;
  int suggested_counters() const;
};

/// True if `info` has this key with the value true or 1.
bool asserts(MPI_Info info, const char* key);

}  // namespace oriel::mpi
