// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>

namespace awkward {

/// Returns whether the provider wants a registration of our own memory too (FI_MR_LOCAL).
bool needs_local_registration();
/// The provider's descriptor of this memory, which must be registered for the access.
void* descriptor_of(const void* memory, std::size_t bytes, void* descriptor, std::uint64_t access);

/// Puts our functions in the place of the domain's.
void play_memory(fid_domain& domain);

}  // namespace awkward
