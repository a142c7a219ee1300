// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/leave_window.hpp"

#include "engine/progress/waiting.hpp"

namespace oriel {

EngineFailure leave_window(Engine& engine, Window& window, EngineFailure& failed) {
  // An error reported by a target is raised after the collective steps, which other ranks wait for.
  const auto keep = [&](const EngineFailure& bad) {
    if (bad.error != Error::range) return bad;
    if (!failed) failed = bad;
    return EngineFailure();
  };
  LostPeerCheck lost(engine.running()->process, window);
  const auto fence = [&](bool last) {
    Assert assertion;
    assertion.no_succeed = last;
    return keep(block(
        engine, window, {WaitReason::window},
        [&](Completion* completion) { return window.epochs().fence(assertion, true, completion); },
        lost));
  };
  // Notified operations outside epochs, which no fence covers.
  if (const EngineFailure bad =
          keep(block(engine, window, {WaitReason::window}, [&](Completion* completion) {
            return window.epochs().flush_notified(completion);
          }))) {
    return bad;
  }
  // A fence between nodes is counted by messages: a second one follows, after all ranks have ended
  // the first.
  if (window.remote()) {
    if (const EngineFailure bad = fence(false)) return bad;
  }
  // A process that does not call MPI_Finalize may end after its last fence, while others have not
  // yet read its last messages, or wait for a slow rank. Peers are therefore not checked for ten
  // seconds. Checks are counted, not time, because this process may not have run meanwhile either.
  constexpr int checks_in_ten_seconds = 100;
  lost.skip(checks_in_ten_seconds);
  if (const EngineFailure bad = fence(true)) return bad;
  return sweep_until(
      engine, window.events(), {WaitReason::window},
      [&] { return window.epochs().quiet() && window.depart() && engine.running()->drained(); },
      lost);
}

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
  int checks = 30;  // three seconds, if a peer of the window has ended
  sweep_until(
      engine, events_of_no_window(engine), {WaitReason::window}, [&] { return running.drained(); },
      [&]() -> EngineFailure {
        if (--checks > 0) return {};
        return {Error::peer_lost, "not all packets have been sent"};
      });
}

}  // namespace oriel
