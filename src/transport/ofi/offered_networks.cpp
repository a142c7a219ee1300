// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "transport/ofi/offered_networks.hpp"

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
  constexpr std::string_view more = ", ...";
  if (used + listed.size() + more.size() < names.size()) {
    listed.copy(&names[used], listed.size());
  } else if (!std::string_view(names.data()).ends_with(more)) {
    more.copy(&names[used], more.size());
  }
}

std::uint64_t common_network(std::span<const OfferedNetworks> by_rank,
                             std::span<const std::uint64_t> refused) {
  const auto first = std::ranges::find_if_not(by_rank, &OfferedNetworks::none);
  if (first == by_rank.end()) return 0;
  const auto offered_by_all = [&](std::uint64_t choice) {
    if (choice == 0 || std::ranges::find(refused, choice) != refused.end()) return false;
    std::map<std::uint64_t, LifelineName::Words> nodes;  // by address
    return std::ranges::all_of(by_rank, [&](const OfferedNetworks& rank) {
      if (rank.none()) return true;
      const OfferedNetwork* offered = rank.find(choice);
      return offered != nullptr &&
             (offered->address == 0 ||
              nodes.try_emplace(offered->address, rank.node).first->second == rank.node);
    });
  };
  for (const auto kind : {&OfferedNetwork::network, &OfferedNetwork::provider}) {
    for (const OfferedNetwork& offered : first->networks) {
      if (offered_by_all(offered.*kind)) return offered.*kind;
    }
  }
  return 0;
}

void NetworkOffers::refuse(std::uint64_t choice) {
  refused.push_back(choice);
  for (const OfferedNetworks& rank : by_rank) {
    // Ranks would open it again as the first one of its provider.
    if (const OfferedNetwork* same = rank.find(choice)) refused.push_back(same->provider);
    if (!rank.none()) return;
  }
}

}  // namespace oriel
