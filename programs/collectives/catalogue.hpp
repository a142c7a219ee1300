// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "allgatherv.hpp"
#include "alltoall.hpp"
#include "alltoallw.hpp"
#include "bcast.hpp"
#include "neighbor_alltoallv.hpp"
#include "persistent/collective.hpp"
#include "persistent/ranks.hpp"
#include "reduce.hpp"

namespace collectives {

struct Entry {
  const char* name;
  /// With blocks of so many elements.
  std::unique_ptr<persistent::Collective> (*make)(const persistent::Ranks& ranks, int count);
};

template <typename Kind>
std::unique_ptr<persistent::Collective> make(const persistent::Ranks& ranks, int count) {
  return std::make_unique<Kind>(ranks, count);
}

inline constexpr Entry catalogue[] = {
    {"alltoall", make<Alltoall>},     {"alltoallw", make<Alltoallw>},
    {"allgatherv", make<Allgatherv>}, {"neighbor_alltoallv", make<NeighborAlltoallv>},
    {"reduce", make<Reduce>},         {"bcast", make<Bcast>},
};

}  // namespace collectives
