// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "boundary/host/host.hpp"
#include "boundary/host/host_list.hpp"

namespace oriel::boundary {

/// Envelope and contents of a datatype, by the large-count calls where the host has them: the plain
/// ones refuse datatypes that were made by large-count constructors.
#if ORIEL_HOST_LARGE_COUNTS
struct HostContents {
  static bool envelope(MPI_Datatype type, int& integers, int& addresses, int& types,
                       int& combiner) {
    MPI_Count counts[4] = {};
    const int code =
        PMPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner);
    integers = static_cast<int>(counts[0]);
    addresses = static_cast<int>(counts[1]);
    types = static_cast<int>(counts[3]);
    return code == MPI_SUCCESS;
  }
  static bool read(MPI_Datatype type, int& combiner, std::vector<int>& integers,
                   std::vector<std::int64_t>& addresses, std::vector<std::int64_t>& large,
                   std::vector<MPI_Datatype>& types) {
    MPI_Count counts[4] = {};
    if (PMPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner) !=
        MPI_SUCCESS) {
      return false;
    }
    if (combiner == MPI_COMBINER_NAMED || counts[3] == 0) return true;
    integers.resize(static_cast<std::size_t>(counts[0]));
    std::vector<MPI_Aint> aints(static_cast<std::size_t>(counts[1]));
    std::vector<MPI_Count> larges(static_cast<std::size_t>(counts[2]));
    std::vector<MPI_Datatype> inner(static_cast<std::size_t>(counts[3]));
    if (PMPI_Type_get_contents_c(type, counts[0], counts[1], counts[2], counts[3],
                                 host_list(integers), host_list(aints), host_list(larges),
                                 host_list(inner)) != MPI_SUCCESS) {
      return false;
    }
    addresses.assign(aints.begin(), aints.end());
    large.assign(larges.begin(), larges.end());
    types = std::move(inner);
    return true;
  }
};
#else
struct HostContents {
  static bool envelope(MPI_Datatype type, int& integers, int& addresses, int& types,
                       int& combiner) {
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS;
  }
  static bool read(MPI_Datatype type, int& combiner, std::vector<int>& integers,
                   std::vector<std::int64_t>& addresses, std::vector<std::int64_t>&,
                   std::vector<MPI_Datatype>& types) {
    int counts[3] = {};
    if (!envelope(type, counts[0], counts[1], counts[2], combiner)) return false;
    if (combiner == MPI_COMBINER_NAMED || counts[2] == 0) return true;
    integers.resize(static_cast<std::size_t>(counts[0]));
    std::vector<MPI_Aint> aints(static_cast<std::size_t>(counts[1]));
    std::vector<MPI_Datatype> inner(static_cast<std::size_t>(counts[2]));
    if (PMPI_Type_get_contents(type, counts[0], counts[1], counts[2], host_list(integers),
                               host_list(aints), host_list(inner)) != MPI_SUCCESS) {
      return false;
    }
    addresses.assign(aints.begin(), aints.end());
    types = std::move(inner);
    return true;
  }
};
#endif

}  // namespace oriel::boundary
