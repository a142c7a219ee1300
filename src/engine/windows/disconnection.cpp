// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/disconnection.hpp"

#include "engine/progress/waiting.hpp"

namespace oriel {

void await_other_ranks(Engine& engine, std::vector<Window*> windows) {
  for (Window* window : windows) window->barrier().enter();
  sweep_until(
      engine, events_of_no_window(engine), {WaitReason::window},
      [&] {
        std::erase_if(windows, [](Window* window) { return window->barrier().over(); });
        return windows.empty();
      },
      [&] {
        std::erase_if(windows, [](Window* window) { return bool(look_for_any_lost(*window)); });
        return EngineFailure();
      });
}

void await_last_packets(Engine& engine) {
  Running& running = *engine.running();
  int checks = 10;  // some seconds, if a peer of the window has ended
  sweep_until(
      engine, events_of_no_window(engine), {WaitReason::window}, [&] { return running.drained(); },
      [&]() -> EngineFailure {
        if (--checks > 0) return {};
        return {Error::peer_lost, "not all packets have been sent"};
      });
}

}  // namespace oriel
