// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/startup/disconnection.hpp"

#include <memory>
#include <vector>

#include "boundary/runtime/runtime.hpp"
#include "engine/progress/lost_peers.hpp"
#include "engine/progress/waiting.hpp"

namespace oriel::boundary {

void await_other_ranks() {
  const Guard guard(engine.lock);
  std::vector<std::shared_ptr<WindowState>> awaited;
  for (const auto& owned : runtime.owned_handles) {
    const std::shared_ptr<WindowState>& state = owned.second->state;
    if (state->own || state->left) continue;
    state->core->barrier().enter();  // repeated for each handle, without effect
    awaited.push_back(state);
  }
  sweep_until(
      engine, events_of_no_window(engine), {WaitReason::window},
      [&] {
        std::erase_if(awaited, [](const auto& state) { return state->core->barrier().over(); });
        return awaited.empty();
      },
      [&] {
        std::erase_if(awaited,
                      [](const auto& state) { return bool(look_for_any_lost(*state->core)); });
        return Failure();
      });
}

void await_last_packets() {
  const Guard guard(engine.lock);
  Running& running = *engine.running();
  int looks = 10;  // some seconds, if a peer of the window has ended
  sweep_until(
      engine, events_of_no_window(engine), {WaitReason::window}, [&] { return running.drained(); },
      [&] { return --looks > 0 ? Failure() : Failure{MPI_ERR_OTHER, "not all has left"}; });
}

}  // namespace oriel::boundary
