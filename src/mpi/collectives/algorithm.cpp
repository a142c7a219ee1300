// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/algorithm.hpp"

#include <oriel/collectives.h>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {

bool names_algorithm(MPI_Info info) {
  return info_value(info, ORIEL_ALLTOALLV).has_value();
}

Failure read_algorithm(MPI_Info info, Algorithm& algorithm) {
  algorithm = Algorithm::automatic;
  const std::optional<std::string> given = info_value(info, ORIEL_ALLTOALLV);
  if (!given) return {};
  std::string reason = "the info key oriel_alltoallv is \"" + *given + "\"; it takes";
  for (std::size_t at = 0; at < algorithms; ++at) {
    const auto named = static_cast<Algorithm>(at);
    if (*given == name_of(named)) {
      algorithm = named;
      return {};
    }
    reason += std::string(" ") + name_of(named);
  }
  return said(MPI_ERR_INFO_VALUE, std::move(reason));
}

Failure read_starts(MPI_Info info, std::optional<std::uint64_t>& starts) {
  starts.reset();
  const std::optional<std::string> given = info_value(info, ORIEL_ALLTOALLV_STARTS);
  if (!given) return {};
  std::uint64_t number = 0;
  const char* const end = given->data() + given->size();
  const auto [stopped, error] = std::from_chars(given->data(), end, number);
  if (error != std::errc() || stopped != end || number == 0) {
    return said(MPI_ERR_INFO_VALUE, "the info key oriel_alltoallv_starts is \"" + *given +
                                        "\"; it takes a whole number from 1 on");
  }
  starts = number;
  return {};
}

}  // namespace oriel::mpi
