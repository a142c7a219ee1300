// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "boundary/host/host.hpp"
#include "core/base/published.hpp"
#include "core/epoch/activation.hpp"
#include "core/operation/atomic_set.hpp"
#include "core/operation/atomicity.hpp"

namespace oriel::boundary {

/// The info keys of a window: the standard's and the reorder keys. Unknown keys are ignored (G6).
struct WindowInfo {
  bool no_locks = false;
  bool same_size = false;
  bool same_disp_unit = false;
  bool alloc_shared_noncontig = false;
  std::string accumulate_ordering = "rar,raw,war,waw";
  std::string accumulate_ops = "same_op_no_op";
  std::string accumulate_granularity = "0";
  std::string which_accumulate_ops = "any_op";  // MPICH's
  std::string minimum_alignment = "64";
  std::string alloc_kinds = "system,mpi";
  std::string asserted_alloc_kinds;
  std::string max_num_notify = "0";  // 0: nothing is promised
  bool weak_unlock = false;
  // Read without the process lock.
  Published<bool> order;         // operations to one target complete there in the order of issue
  Published<bool> thread_scope;  // a flush waits for the calling thread's operations alone
  /// Asked for; once the window is made: in effect on this handle.
  Published<bool> accumulate_intrinsic;
  /// How accumulates can be intrinsic, which is found out when the window is made: not at all; by
  /// the processors, on the handles that ask for it; or by the network, on all of them.
  enum class Intrinsic { never, as_asked, always };
  Intrinsic intrinsic = Intrinsic::as_asked;
  Reorder reorder;

  /// Takes all keys, when the window is made: its memory and what the ranks agree on do not change.
  void read(MPI_Info info);
  /// Takes the keys that may change later, and differ between the handles of a window.
  void update(MPI_Info info);
  /// Every key with its value, also when it is the default.
  int write(MPI_Info info) const;

  /// What the memory must be aligned to.
  std::size_t alignment() const;
  /// The memory lies there, where others' sizes have put it: it may be aligned to less.
  void note_address(const void* memory);
  /// How many notification counters a rank may have, and how many it should have at most so that
  /// they cost little.
  int most_counters() const;
  int suggested_counters() const;
  /// The ops that the program says it uses.
  OpSet ops() const;
  /// What it permits of accumulates on several elements.
  Atomicity atomicity() const;
};

/// Whether `info` gives this key the value true. Other values, and none, are false.
bool asserts(MPI_Info info, const char* key);

}  // namespace oriel::boundary
