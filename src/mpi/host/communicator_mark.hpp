// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// Marks communicators with a value, by an attribute of its own. A duplicate of a communicator gets
/// its mark. MPI_COMM_SELF gets none. Marks are static objects, and any thread may use them.
class CommunicatorMark {
 public:
  CommunicatorMark();
  CommunicatorMark(const CommunicatorMark&) = delete;
  CommunicatorMark& operator=(const CommunicatorMark&) = delete;

  bool is_set(MPI_Comm communicator, std::uintptr_t value = 0) const;
  void set(MPI_Comm communicator, std::uintptr_t value = 0);

  /// Called before MPI ends. If MPI begins again, the host may give the program the same keys.
  static void forget_all();

 private:
  int make_key();

  inline static CommunicatorMark* first_ = nullptr;  // of the list of all marks

  std::mutex making_;
  std::atomic<int> key_{MPI_KEYVAL_INVALID};
  CommunicatorMark* next_;
};

}  // namespace oriel::mpi
