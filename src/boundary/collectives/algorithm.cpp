// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/algorithm.hpp"

#include <oriel/collectives.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "boundary/info/info_value.hpp"

namespace oriel::boundary {
namespace {

struct Name {
  const char* name;
  Algorithm algorithm;
};

constexpr std::array names{
    Name{"auto", Algorithm::automatic},
    Name{"notified", Algorithm::notified},
    Name{"notified_hierarchy", Algorithm::notified_hierarchy},
    Name{"fence", Algorithm::fence},
    Name{"fence_hierarchy", Algorithm::fence_hierarchy},
    Name{"lock", Algorithm::lock},
    Name{"lock_hierarchy", Algorithm::lock_hierarchy},
    Name{"two_sided", Algorithm::two_sided},
};

}  // namespace

bool names_algorithm(MPI_Info info) {
  return info_value(info, ORIEL_ALLTOALLV).has_value();
}

Failure read_algorithm(MPI_Info info, Algorithm& algorithm) {
  algorithm = Algorithm::automatic;
  const std::optional<std::string> given = info_value(info, ORIEL_ALLTOALLV);
  if (!given) return {};
  for (const Name& one : names) {
    if (*given != one.name) continue;
    algorithm = one.algorithm;
    return {};
  }
  std::string reason = "the info key oriel_alltoallv is \"" + *given + "\"; it takes";
  for (const Name& one : names) reason += std::string(" ") + one.name;
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

}  // namespace oriel::boundary
