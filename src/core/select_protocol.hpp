// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/limits.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// How an operation that takes the general path travels. The first reason that holds decides; the
/// hot paths (Window::direct and its kin) are the case 2 for short operations, decided once for an
/// epoch by MappedTargets::make_ready().
Protocol select_protocol(const Operation& operation, Region& region, const Limits& limits);

}  // namespace oriel
