// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/limits.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"
#include "core/region/member.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// Chooses the protocol of an operation that takes the general path; the first reason that holds
/// decides. The hot paths (Window::find_address and the like) are reason 2 if
/// MappedTargets::make_ready() has opened them. Three kinds of short puts travel in another
/// message: in a notification (MappedTargets::inline_put, Window::put_notified), and with a lock
/// request (Region::pack_piggyback). A rendezvous whose buffer the network cannot register becomes
/// messages (RemoteTargets::issue).
Protocol select_protocol(const Operation& operation, Region& region, const Limits& limits);

/// The protocol of reason 2: this process carries out the operation on the memory of a mapped rank.
constexpr Protocol mapped_protocol(Path path) {
  return path == Path::system_call ? Protocol::system_call : Protocol::stored;
}

}  // namespace oriel
