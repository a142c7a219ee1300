// SPDX-License-Identifier: BSD-3-Clause
#include "core/epoch/invariant_checks.hpp"

#include <cstdio>
#include <cstdlib>

namespace oriel {
namespace {

void require(bool holds, const EventSource& source, const Epoch& epoch, const char* otherwise) {
  if (holds) return;
  std::fprintf(stderr, "oriel: window %u, rank %d: of the %s epoch %llu %s.\n", source.window,
               source.rank, name_of(epoch.kind), static_cast<unsigned long long>(epoch.opened_at),
               otherwise);
  std::abort();
}

}  // namespace

void InvariantChecks::on(const Event& event, const EventSource& source) {
  if (source.epoch == nullptr || source.hot_path) return;
  const Epoch& epoch = *source.epoch;
  switch (event.kind) {
    case EventKind::epoch_opened:
      require(!epoch.active && !epoch.closed, source, epoch, "the opening comes late");
      break;
    case EventKind::epoch_activated:
      require(!epoch.active, source, epoch, "the activation comes twice");
      for (const Target& target : epoch) {
        if (epoch.kind == EpochKind::access) ++accesses_[{source.window, target.rank}];
        if (epoch.kind == EpochKind::exposure) ++exposures_[{source.window, target.rank}];
      }
      break;
    case EventKind::epoch_closed:
      require(!epoch.closed, source, epoch, "the closing comes twice");
      break;
    case EventKind::epoch_renewing:
    case EventKind::epoch_renewed:
      require(epoch.active && !epoch.closed, source, epoch, "a renewal finds none that is open");
      require(epoch.attention == 0, source, epoch, "the renewal comes before its operations' end");
      break;
    case EventKind::epoch_completed:
      require(!epoch.completed, source, epoch, "the completion comes twice");
      require(epoch.active && epoch.closed, source, epoch, "the completion comes before the end");
      require(epoch.unsignaled == 0, source, epoch,
              "the completion comes before all targets are told");
      require(epoch.attention == 0, source, epoch, "the completion comes before its operations'");
      break;
    case EventKind::told:
      check_told(source, epoch, *source.target);
      break;
    default:
      break;
  }
}

void InvariantChecks::check_told(const EventSource& source, const Epoch& epoch,
                                 const Target& target) {
  require(!target.signaled, source, epoch, "a target is told twice");
  require(target.waiting.empty(), source, epoch, "a target is told with operations waiting for it");
  require(target.reads + target.counted_apart == 0, source, epoch,
          "a target is told with transfers under way to it");
  const Pair pair{source.window, target.rank};
  if (epoch.kind == EpochKind::access) {
    require(target.id <= accesses_[pair], source, epoch, "the number of an access runs ahead");
  }
  if (epoch.kind == EpochKind::exposure) {
    require(target.id <= exposures_[pair], source, epoch, "the number of an exposure runs ahead");
  }
}

}  // namespace oriel
