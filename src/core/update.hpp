// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/asymmetric.hpp"
#include "core/control.hpp"
#include "core/transport.hpp"

namespace oriel {

/// An origin's update of a rank's window memory by an accumulate. While it lives, either nobody
/// else updates that memory (alone(): plain loads and stores do), or everybody who does updates
/// single elements by CPU atomics.
///
/// ControlBlock::updater says which of the two holds; its values are
///   nobody    no update has been made yet
///   everybody single elements by CPU atomics
///   changing  the origin that wrote this is the only one to change the word now
///   alone + r rank r alone: it keeps the right until somebody else wants to update
/// Slot::updating is 1 while the origin is within an update. The usual update is the owner's, next
/// one by the same rank: two stores to a line of its own and a load of a word that does not change.
///
///     updater                              changer
///     U1  updating = 1                     C1  updater = changing (compare-exchange)
///     U2  look at `updater`                C2  fence of all peers
///     U3  update the window                C3  for each peer: wait while updating = 1 (acquire)
///     U4  updating = 0 (release)           C4  updater = its new value (release)
///
/// Invariant: at most one origin is between U2 and U4 having read `alone + itself`, and then no one
/// is there having read `everybody`. Either the changer sees U1 in C3 and waits, or the updater
/// sees C1 in U2 and turns back (U1 is kept before U2 by C2: see store_before_look()). U4 to C3 and
/// C4 to U2 carry what was written from one holder to the next.
class Update {
 public:
  /// `alone`: the update is not made of single elements that CPU atomics can update, or so large
  /// that asking for the right costs less than the atomics. Waits for updates under way, for
  /// nothing else.
  Update(ControlBlock& target, int origin, Transport& transport, bool asymmetric, bool alone)
      : slot_(target.slots()[origin]) {
    const std::uint32_t mine = first_alone + static_cast<std::uint32_t>(origin);
    alone_ = enter(target, asymmetric) == mine;
    if (!alone_) [[unlikely]]
      alone_ = ask(target, origin, transport, asymmetric, alone);
  }
  ~Update() { slot_.updating.store(0, std::memory_order_release); }
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  bool alone() const { return alone_; }

 private:
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t everybody = 1;
  static constexpr std::uint32_t changing = 2;
  static constexpr std::uint32_t first_alone = 3;

  std::uint32_t enter(ControlBlock& target, bool asymmetric) {
    store_before_look(slot_.updating, 1, asymmetric);
    return target.updater.load(std::memory_order_seq_cst);
  }
  bool ask(ControlBlock& target, int origin, Transport& transport, bool asymmetric, bool alone);

  Slot& slot_;
  bool alone_;
};

}  // namespace oriel
