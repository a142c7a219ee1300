// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace awkward {

/// fi_getinfo() of the provider that is played.
int list_offers(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                const fi_info* hints, fi_info** offers);

/// The real library's offer that became this one, with what the caller has changed in it. To be
/// freed by fi_freeinfo().
fi_info* real_offer(const fi_info* offer);
/// The fabric that an offer names, with the real names. It refers to strings of the offer.
fi_fabric_attr real_fabric(const fi_fabric_attr& offered);

}  // namespace awkward
