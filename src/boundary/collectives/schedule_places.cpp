// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/schedule_places.hpp"

#include "boundary/runtime/runtime.hpp"
#include "core/collective/packed.hpp"

namespace oriel::boundary {
namespace {

ArenaLocation place_of(const Stretch& stretch) {
  const Packed packed(stretch);
  if (packed.run() == nullptr) return {};
  return runtime.arena.find(packed.run(), packed.bytes()).value_or(ArenaLocation{});
}

}  // namespace

void find_places(Schedule& schedule) {
  const Guard guard(runtime.lock);
  for (Schedule::Send& send : schedule.sends) send.place = place_of(send.from);
  for (Schedule::Receive& receive : schedule.receives) receive.place = place_of(receive.into);
}

}  // namespace oriel::boundary
