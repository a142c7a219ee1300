// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "transport/ofi/network.hpp"

namespace oriel {

const OfferedNetwork* OfferedNetworks::find(std::uint64_t choice) const {
  const auto found = std::ranges::find_if(networks, [&](const OfferedNetwork& offered) {
    return offered.network != 0 && offered.is(choice);
  });
  return found != networks.end() ? &*found : nullptr;
}

void OfferedNetworks::add(const OfferedNetwork& offered, const std::string& name) {
  const auto free = std::ranges::find(networks, std::uint64_t{0}, &OfferedNetwork::network);
  if (free == networks.end() || find(offered.network) != nullptr) return;
  *free = offered;
  const std::size_t used = std::strlen(names.data());
  const std::string listed = (used != 0 ? ", " : "") + name;
  if (used + listed.size() < names.size()) std::memcpy(&names[used], listed.data(), listed.size());
}

std::uint64_t common_network(std::span<const OfferedNetworks> by_rank,
                             std::span<const std::uint64_t> refused) {
  const auto first = std::ranges::find_if_not(by_rank, &OfferedNetworks::none);
  if (first == by_rank.end()) return 0;
  const auto offered_by_all = [&](std::uint64_t choice) {
    return choice != 0 && std::ranges::find(refused, choice) == refused.end() &&
           std::ranges::all_of(by_rank, [&](const OfferedNetworks& rank) {
             return rank.none() || rank.find(choice) != nullptr;
           });
  };
  for (const auto kind : {&OfferedNetwork::network, &OfferedNetwork::provider}) {
    for (const OfferedNetwork& offered : first->networks) {
      if (offered_by_all(offered.*kind)) return offered.*kind;
    }
  }
  return 0;
}

}  // namespace oriel
