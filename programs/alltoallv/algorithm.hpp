// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <oriel/collectives.h>

namespace alltoallv {

/// The values of Oriel's info key.
inline constexpr const char* algorithms[] = {
    "notified", "notified_hierarchy", "fence",     "fence_hierarchy",
    "lock",     "lock_hierarchy",     "two_sided", "auto",
};

/// The info that asks for an algorithm.
class AlgorithmInfo {
 public:
  explicit AlgorithmInfo(const char* algorithm) {
    MPI_Info_create(&info_);
    MPI_Info_set(info_, ORIEL_ALLTOALLV, algorithm);
  }
  ~AlgorithmInfo() { MPI_Info_free(&info_); }
  AlgorithmInfo(const AlgorithmInfo&) = delete;
  AlgorithmInfo& operator=(const AlgorithmInfo&) = delete;

  MPI_Info handle() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace alltoallv
