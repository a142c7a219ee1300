// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "transport/ofi/endpoint_name.hpp"
#include "transport/ofi/lifeline_name.hpp"

namespace oriel {

/// The name by which processes of other nodes find this one. Trivially copyable, like EndpointName.
struct NetworkName {
  EndpointName endpoint;
  LifelineName lifeline;
};
static_assert(std::is_trivially_copyable_v<NetworkName>);

}  // namespace oriel
