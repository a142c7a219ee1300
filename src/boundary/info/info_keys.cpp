// SPDX-License-Identifier: BSD-3-Clause
// Lets the reorder keys into and out of the info objects of a host whose keys must be shorter (E7).
#include "boundary/info/info_keys.hpp"
#include "boundary/host/host_mpi.hpp"

#if ORIEL_HOST_SHORT_INFO_KEYS

#include <oriel/oriel.h>

#include <array>
#include <cstring>

namespace oriel::boundary {

const char* host_key(const char* key) {
  struct Alias {
    const char* key;
    const char* name;
  };
  static constexpr std::array aliases{
      Alias{ORIEL_ACCESS_AFTER_EXPOSURE_REORDER, "oriel_access_after_exposure"},
      Alias{ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER, "oriel_exposure_after_exposure"},
      Alias{ORIEL_EXPOSURE_AFTER_ACCESS_REORDER, "oriel_exposure_after_access"},
  };
  if (key == nullptr) return key;
  for (const Alias& alias : aliases) {
    if (std::strcmp(key, alias.key) == 0) return alias.name;
  }
  return key;
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_MPI_CALL(Info_set)(MPI_Info info, const char* key, const char* value) {
  return host_mpi().Info_set(info, host_key(key), value);
}

ORIEL_MPI_CALL(Info_get)(MPI_Info info, const char* key, int length, char* value, int* flag) {
  return host_mpi().Info_get(info, host_key(key), length, value, flag);
}

ORIEL_MPI_CALL(Info_get_string)(MPI_Info info, const char* key, int* length, char* value,
                                int* flag) {
  return host_mpi().Info_get_string(info, host_key(key), length, value, flag);
}

ORIEL_MPI_CALL(Info_get_valuelen)(MPI_Info info, const char* key, int* length, int* flag) {
  return host_mpi().Info_get_valuelen(info, host_key(key), length, flag);
}

ORIEL_MPI_CALL(Info_delete)(MPI_Info info, const char* key) {
  return host_mpi().Info_delete(info, host_key(key));
}

#endif
