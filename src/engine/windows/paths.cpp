// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/paths.hpp"

#include <memory>

namespace oriel {
namespace {

std::string path_to(Running& running, const Member& member) {
  switch (member.path) {
    case Path::load_store:
      return member.by_space ? "mapped by XPMEM" : "mapped";
    case Path::system_call:
      return "by process_vm_readv";
    case Path::messages:
      break;
  }
  if (member.process < CompositeTransport::first_elsewhere) return "by messages";
  return std::string("over ") + running.transports.network()->name().endpoint.provider.data();
}

}  // namespace

std::string describe_paths(Running& running, const Window& window) {
  std::string text;
  for (int first = 0; first < window.ranks();) {
    const std::string path = path_to(running, window.read_member(first));
    int last = first;
    while (last + 1 < window.ranks() && path_to(running, window.read_member(last + 1)) == path)
      ++last;
    text += first == 0 ? "rank" : ", rank";
    if (last != first) text += "s";
    text += ' ' + std::to_string(first);
    if (last != first) text += " to " + std::to_string(last);
    text += ' ' + path;
    first = last + 1;
  }
  return text;
}

namespace {

Operation of_bytes(OperationKind kind, int target, std::uint64_t bytes) {
  constexpr std::uint64_t element = sizeof(std::int64_t);
  const LayoutRef layout(new Layout({{0, element}}, element, Basic::i64));
  Operation operation;
  operation.kind = kind;
  operation.target = target;
  operation.target_count = bytes / element;
  operation.target_layout = layout;
  operation.reduction = {Op::sum, Basic::i64, element};
  (kind == OperationKind::get ? operation.result : operation.origin) = {
      nullptr, operation.target_count, layout};
  return operation;
}

/// "message to 128 KiB, direct transfer beyond", of powers of two.
std::string by_length(Window& window, OperationKind kind, int target) {
  constexpr unsigned first = 3;
  constexpr unsigned last = 30;
  std::string text;
  for (unsigned power = first; power <= last; ++power) {
    const auto at = [&](unsigned exponent) {
      return window.protocol(of_bytes(kind, target, std::uint64_t{1} << exponent));
    };
    const bool ends = power == last || at(power + 1) != at(power);
    if (!ends) continue;
    if (!text.empty()) text += ", ";
    text += name_of(at(power));
    if (power != last) {
      const bool kib = power >= 10;
      text += " to " + std::to_string(std::uint64_t{1} << (power - (kib ? 10 : 0))) +
              (kib ? " KiB" : " bytes");
    }
  }
  return text;
}

}  // namespace

std::string describe_protocols(Running& running, Window& window) {
  std::string text;
  std::string known;
  for (int rank = 0; rank < window.ranks(); ++rank) {
    const std::string path = path_to(running, window.read_member(rank)) + '\n';
    if (known.find(path) != std::string::npos) continue;
    known += path;
    text += "oriel: protocols to rank " + std::to_string(rank) + " and others " + path;
    text.pop_back();
    text += ": put " + by_length(window, OperationKind::put, rank) + "; get " +
            by_length(window, OperationKind::get, rank) + "; accumulate " +
            by_length(window, OperationKind::accumulate, rank) + '\n';
  }
  return text;
}

std::string describe_network(Running& running) {
  const auto describe = [](const Network& network, const std::string& refusals) {
    return network.description() + (refusals.empty() ? "" : ". Not opened: " + refusals);
  };
  if (const Network* open = running.transports.network()) return describe(*open, running.refusals);
  std::string error;
  Networks& networks = running.transports.networks();
  NetworkOffers offers{{networks.offered(error)}, {}};
  std::string refusals;
  while (const std::uint64_t choice = offers.choice()) {
    error.clear();
    if (const auto tried = networks.open_network(choice, RankPosition(), error)) {
      return describe(*tried, refusals);
    }
    refusals += (refusals.empty() ? "" : ". ") + error;
    offers.refuse(choice);
  }
  return refusals.empty() ? error : refusals;
}

}  // namespace oriel
