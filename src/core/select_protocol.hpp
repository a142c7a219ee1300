// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/limits.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"
#include "core/region/member.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// How an operation that takes the general path travels; the first reason that holds decides. The
/// hot paths (Window::direct and its kin) are reason 2 where MappedTargets::make_ready() has opened
/// them. Three short puts travel with something else: in a notification (MappedTargets::inline_put,
/// Window::put_notified), and with a lock request (Region::pack_piggyback). A rendezvous whose
/// buffer the network cannot register becomes messages (RemoteTargets::issue).
Protocol select_protocol(const Operation& operation, Region& region, const Limits& limits);

/// Reason 2: of operations that this process carries out on the memory of a mapped rank.
constexpr Protocol mapped_protocol(Path path) {
  return path == Path::system_call ? Protocol::system_call : Protocol::stored;
}

}  // namespace oriel
