// SPDX-License-Identifier: BSD-3-Clause
// Operations that weak unlocks have left (S7) and that may not be complete at their targets.
#include "core/epoch/epochs.hpp"

namespace oriel {

void Epochs::touch_weak(Epoch& epoch) {
  for (int rank = 0; pending_.weak_peers() != 0 && rank < ranks(); ++rank) {
    if (!peer(rank).weak_unanswered()) continue;
    if (!epoch.closed) {
      if (peer(rank).touched != &epoch) touch(epoch, rank);
    } else if (!epoch.has(rank)) {
      add_target(epoch, rank);
    }
  }
}

void Epochs::ask_for_weak() {
  for (int rank = 0; pending_.weak_peers() + weak_closed_ != 0 && rank < ranks(); ++rank) {
    if (!weak_unasked(rank)) continue;
    // An epoch that takes no lock and sends the question only.
    Epoch& epoch = create(EpochKind::lock);
    epoch.no_check = epoch.asks_for_weak = true;
    add_target(epoch, rank);
    open(epoch);
    close(epoch, nullptr);
  }
}

bool Epochs::weak_unasked(int rank) {
  const EpochPeer& other = peers_[rank];
  const bool left = other.weak_asked != other.weak_sent ||
                    weak_closed([&](const Epoch& epoch) { return epoch.has(rank); });
  return left && link(rank).remote();
}

}  // namespace oriel
