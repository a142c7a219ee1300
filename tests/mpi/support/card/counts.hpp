// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace card {

/// The objects of this process on the card, and the arrivals for it.
struct Counts {
  std::uint64_t endpoints;      // open now
  std::uint64_t registrations;  // of memory, now
  std::uint64_t arrivals;       // what peers have sent to the software of the open endpoints
};

}  // namespace card

/// Exported by the stand-in card's libfabric.
extern "C" card::Counts card_counts();
