// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// Marks communicators with a value, by an attribute of its own. A duplicate of a communicator gets
/// its mark. Marks are static objects, and any thread may use them.
class CommunicatorMark {
 public:
  CommunicatorMark();
  CommunicatorMark(const CommunicatorMark&) = delete;
  CommunicatorMark& operator=(const CommunicatorMark&) = delete;

  bool is_set(MPI_Comm communicator, std::uintptr_t value = 0) const;
  void set(MPI_Comm communicator, std::uintptr_t value = 0);

  /// Called before MPI_Finalize, which deletes the attributes of MPI_COMM_SELF. From then on that
  /// communicator gets no marks: if a delete callback of the program made a window on it, MPICH
  /// would find a new attribute each time and never end.
  static void spare_self() { spares_self_.store(true, std::memory_order_relaxed); }
  /// Called before MPI ends. If MPI begins again, the host may give the program the same keys.
  static void forget_all();

 private:
  int make_key();

  inline static CommunicatorMark* first_ = nullptr;  // of the list of all marks
  inline static std::atomic<bool> spares_self_{false};

  std::mutex making_;
  std::atomic<int> key_{MPI_KEYVAL_INVALID};
  CommunicatorMark* next_;
};

}  // namespace oriel::mpi
