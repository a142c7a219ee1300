// SPDX-License-Identifier: BSD-3-Clause
#include "core/region/region.hpp"

namespace oriel {
namespace {

/// Returns whether the runs are so long on average that each is worth a transfer of its own.
bool has_long_runs(const Layout& layout, const Limits& limits) {
  return layout.contiguous() || layout.size() >= layout.blocks().size() * limits.direct_run;
}

}  // namespace

Protocol select_protocol(const Operation& operation, Region& region, const Limits& limits) {
  // 1. Datatypes of the window's AtomicSet: NICs' atomics are not atomic with those of CPUs, so the
  //    network's atomics carry out all accumulates of these datatypes, on any target.
  if (region.atomics().has(operation) && operation.bytes() != 0) return Protocol::network_atomic;
  // 2. The target is mapped: this process moves the bytes by itself. On a dynamic window the
  //    attached piece decides how.
  if (region.mapped(operation.target)) {
    return mapped_protocol(region.path_of(operation.target, operation.displacement,
                                          operation.target_elements(), operation.handle));
  }
  const Member& target = region.member(operation.target);
  // 3. Accumulates need the target's Server; ordered operations need the order of messages (Q2).
  if (operation.ordered ||
      (operation.kind != OperationKind::put && operation.kind != OperationKind::get)) {
    return Protocol::message;
  }
  // 4. Short operations: one message takes less time than preparing a transfer. Also if the target
  //    has no memory that the network can reach.
  if (operation.bytes() <= limits.direct || !target.direct) return Protocol::message;
  const bool put = operation.kind == OperationKind::put;
  const Buffer& local = put ? operation.origin : operation.result;
  if (!region.dynamic()) {
    // 5. Long runs at both sides. Short runs are packed into messages instead.
    return has_long_runs(*operation.target_layout, limits) && has_long_runs(*local.layout, limits)
               ? Protocol::direct
               : Protocol::message;
  }
  // 6. Only the target knows the attached memory: it moves one long run by itself. A put that fits
  //    into one message goes as a message, which saves a journey.
  return (!put || operation.bytes() > limits.fragment) && operation.target_layout->contiguous() &&
                 local.layout->contiguous()
             ? Protocol::rendezvous
             : Protocol::message;
}

}  // namespace oriel
