// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/leave_window.hpp"

#include <list>

#include "engine/progress/waiting.hpp"

namespace oriel {
namespace {

/// The end of this process's sends to the remote ranks of a window.
class Drain {
 public:
  Drain(Running& running, Window& window) : transports_(running.transports), window_(window) {
    // drained() may send an empty packet, whose end shows that injected ones have ended. So these
    // packets travel to all ranks at the same time.
    for (int rank = 0; rank < window.ranks(); ++rank) static_cast<void>(drained(rank));
  }

  /// Returns whether all sends to each rank have been finished at some time since construction.
  bool over() {
    while (next_ < window_.ranks() && drained(next_)) ++next_;
    return next_ == window_.ranks();
  }

 private:
  bool drained(int rank) {
    const Member member = window_.read_member(rank);
    return member.mapped() || transports_.drained(member.process);
  }

  CompositeTransport& transports_;
  Window& window_;
  int next_ = 0;  // ranks below this one are drained
};

/// Waits until drained() is true, three seconds at most, because a rank that has left may be needed
/// to finish a send. No rank needs a send that is given up here.
template <typename Drained>
void await_last_sends(Engine& engine, const WindowEvents& events, Drained&& drained) {
  constexpr int checks_in_three_seconds = 30;
  int checks = checks_in_three_seconds;
  sweep_until(engine, events, {WaitReason::window}, drained, [&] { return --checks == 0; });
}

}  // namespace

EngineFailure leave_window(Engine& engine, Window& window, EngineFailure& failed) {
  // An error of an operation is raised after the collective steps, which other ranks wait for.
  const auto keep = [&](const EngineFailure& bad) {
    if (bad.error == Error::peer_lost) return bad;
    if (!failed) failed = bad;
    return EngineFailure();
  };
  Running& running = *engine.running();
  LostPeerCheck lost(running.process, window);
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
  // the first. A send may be finished only when its receiver polls the network. So a rank enters
  // the second fence when its sends are finished, and all ranks poll until all have entered.
  if (window.remote()) {
    if (const EngineFailure bad = fence(false)) return bad;
    Drain drain(running, window);
    if (const EngineFailure bad = sweep_until(
            engine, window.events(), {WaitReason::window}, [&] { return drain.over(); },
            [&] { return look_for_any_lost(window); })) {
      return bad;
    }
  }
  // A process that does not call MPI_Finalize may end after its last fence, while others have not
  // yet read its last messages, or wait for a slow rank. Peers are therefore not checked for ten
  // seconds. Checks are counted, not time, because this process may not have run meanwhile either.
  constexpr int checks_in_ten_seconds = 100;
  lost.skip(checks_in_ten_seconds);
  if (const EngineFailure bad = fence(true)) return bad;
  if (const EngineFailure bad = sweep_until(
          engine, window.events(), {WaitReason::window},
          [&] { return window.epochs().quiet() && window.depart(); }, lost)) {
    return bad;
  }
  // The messages of the last fence. A rank that has left has received those that it was sent.
  if (window.remote()) {
    Drain drain(running, window);
    await_last_sends(engine, window.events(), [&] { return drain.over(); });
  }
  return {};
}

void await_other_ranks(Engine& engine, const std::vector<Window*>& windows) {
  struct Leaving {
    Window* window;
    Drain drain;
    bool entered = false;

    bool over() {
      // As in leave_window(): all ranks poll the network until all have entered.
      if (!entered && drain.over()) {
        window->barrier().enter();
        entered = true;
      }
      return window->barrier().over();
    }
  };
  std::list<Leaving> all;
  for (Window* window : windows) all.push_back({window, Drain(*engine.running(), *window)});
  sweep_until(
      engine, events_of_no_window(engine), {WaitReason::window},
      [&] {
        std::erase_if(all, [](Leaving& one) { return one.over(); });
        return all.empty();
      },
      [&] {
        std::erase_if(all, [](Leaving& one) { return bool(look_for_any_lost(*one.window)); });
        return EngineFailure();
      });
}

void await_last_sends(Engine& engine) {
  await_last_sends(engine, events_of_no_window(engine),
                   [&] { return engine.running()->drained(); });
}

}  // namespace oriel
