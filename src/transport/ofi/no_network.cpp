// SPDX-License-Identifier: BSD-3-Clause
// Built instead of the network if libfabric's headers are not available.
#include "transport/ofi/ofi_networks.hpp"

namespace oriel {

OfferedNetworks OfiNetworks::offered(std::string& error) {
  error =
      "this build of Oriel has no network, because libfabric's headers were not found when it was "
      "configured; install them (Debian: libfabric-dev) and build again";
  return {};
}

std::unique_ptr<Network> OfiNetworks::open_network(std::uint64_t, const RankPosition&,
                                                   std::string&) {
  return nullptr;
}

std::unique_ptr<AtomicNetwork> OfiNetworks::open_atomics() {
  return nullptr;
}

}  // namespace oriel
