// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/provider_settings.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace oriel {
namespace {

// With so many peers, receives that are shared take less memory than 128 for each connection.
constexpr int least_sharing_ranks = 32;

}  // namespace

void limit_provider_memory(int ranks) {
  if (void* loaded = ::dlopen("libfabric.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)) {
    ::dlclose(loaded);
    return;
  }
  ::setenv("FI_UNIVERSE_SIZE", std::to_string(ranks).c_str(), 0);
  // The provider tcp allocates 1,024 buffers of this size, 16 KB without this setting, for messages
  // that find no receive. It keeps messages of this interface in the socket instead.
  ::setenv("FI_TCP_MAX_RX_SIZE", "1024", 0);
  // ofi_rxm allocates 1,024 buffers of 16 KB at a time.
  ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "1024", 0);
  if (ranks >= least_sharing_ranks) ::setenv("FI_OFI_RXM_USE_SRX", "1", 0);
}

}  // namespace oriel
