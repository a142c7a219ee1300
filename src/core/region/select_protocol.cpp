// SPDX-License-Identifier: BSD-3-Clause
#include "core/region/region.hpp"

namespace oriel {
namespace {

/// Returns whether each run is worth a transfer of its own: the runs are long on average, or few.
bool suits_transfers(const Elements& elements, const Limits& limits) {
  const Layout& layout = elements.layout;
  const std::uint64_t blocks = layout.blocks().size();
  return layout.contiguous() || layout.size() >= blocks * limits.direct_run ||
         blocks * elements.count <= limits.few_runs;
}

}  // namespace

Protocol select_protocol(const Operation& operation, Region& region, const Limits& limits,
                         bool transfers_now) {
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
  // 4. Short operations: one message takes less time than preparing a transfer, or than waiting
  //    until the target is available. Also if the target has no memory that the network can reach.
  const bool is_long = operation.bytes() > limits.direct;
  if ((!is_long && !transfers_now) || !target.direct) return Protocol::message;
  const bool put = operation.kind == OperationKind::put;
  const Buffer& local = put ? operation.origin : operation.result;
  if (!region.dynamic()) {
    // 5. Long or few runs at both sides. Many short runs are packed into messages instead.
    return suits_transfers(operation.target_elements(), limits) &&
                   suits_transfers(local.elements(), limits)
               ? Protocol::direct
               : Protocol::message;
  }
  // 6. Only the target knows the attached memory: it moves one long run by itself. A put that fits
  //    into one message goes as a message, which saves a journey.
  return is_long && (!put || operation.bytes() > limits.fragment) &&
                 operation.target_layout->contiguous() && local.layout->contiguous()
             ? Protocol::rendezvous
             : Protocol::message;
}

}  // namespace oriel
