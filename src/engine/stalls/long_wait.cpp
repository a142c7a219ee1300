// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stalls/long_wait.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/settings.hpp"
#include "engine/engine.hpp"
#include "engine/process/call_site.hpp"
#include "engine/process/standard_error.hpp"
#include "engine/stalls/awaited_peers.hpp"
#include "engine/stalls/stall_signal.hpp"
#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

/// ORIEL_STALL in nanoseconds; 0: no limit.
std::uint64_t stall_limit() {
  static const long seconds = setting_int("ORIEL_STALL");
  return seconds > 0 ? static_cast<std::uint64_t>(seconds) * 1'000'000'000 : 0;
}

WaitSign& own_sign(Engine& engine) {
  ShmTransport& node = engine.running()->transports.shm();
  return node.wait_sign(node.self());
}

}  // namespace

LongWait::LongWait(Engine& engine, const WindowEvents& events, const Wait& wait,
                   const CallFrames& frames)
    : engine_(engine),
      events_(events),
      wait_(wait),
      frames_(frames),
      quiet_peers_(engine.running()->transports.shm()) {}

LongWait::~LongWait() {
  if (begun_ == 0) return;
  stall_signal::count_waits(-1);
  LongWait** link = &engine_.oldest_long_wait;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  if (link != &engine_.oldest_long_wait) return;
  own_sign(engine_).clear();
  engine_.running()->calls.end_wait(nanoseconds_now());
  if (LongWait* oldest = engine_.oldest_long_wait; oldest != nullptr)
    oldest->show(awaited_peers(*oldest));
}

void LongWait::look() {
  const std::string text = report();
  if (text.empty()) return;
  // The write blocks if standard error is a full pipe.
  engine_.lock.release();
  standard_error.say(text);
  engine_.lock.acquire();
}

std::string LongWait::report() {
  const std::uint64_t now = nanoseconds_now();
  if (begun_ == 0) {
    begun_ = now - peer_check_interval;
    answered_ = stall_signal::asked();
    stall_signal::count_waits(+1);
    LongWait** link = &engine_.oldest_long_wait;
    while (*link != nullptr) link = &(*link)->next_;
    *link = this;
  }
  const AwaitedPeers awaited = awaited_peers(*this);
  Wait lasting = wait_;
  lasting.rank = awaited_rank(awaited);
  if (wait_.number != 0) events_.wait_lasts(lasting);
  if (engine_.oldest_long_wait == this) show(awaited);
  quiet_peers_.look(awaited, now);
  const std::uint32_t asked = stall_signal::asked();
  bool reports = asked != answered_;
  answered_ = asked;
  const bool stalls = !reported_ && stall_limit() != 0 && now - begun_ > stall_limit();
  if (!stalls && !reports) return {};
  if (frames_.call == 0) frames_ = CallFrames::of_this_thread();
  if (stalls) {
    reported_ = true;
    reports = first_of_its_place() || reports;
  }
  if (!reports) return {};
  return describe(awaited, now);
}

/// Returns whether this is the first stall in this call from this place of the program: a program
/// whose ranks wait for long in each step gets one report.
bool LongWait::first_of_its_place() {
  std::vector<CallFrames>& places = engine_.stalls;
  if (std::ranges::find(places, frames_) != places.end()) return false;
  places.push_back(frames_);
  return true;
}

/// The only rank of the window that must make a call; -1: there are several, or it is not known.
int LongWait::awaited_rank(const AwaitedPeers& awaited) const {
  if (wait_.rank >= 0) return wait_.rank;
  int found = -1;
  for (const auto& [window, of] : awaited.peers) {
    if (of.condition == Awaited::Condition::operations) continue;
    // Reports of late ranks between nodes may be incomplete, so no single awaited rank is named.
    if (of.condition == Awaited::Condition::fence && window->remote()) return -1;
    const bool another = found >= 0 && found != of.rank;
    if (!awaited.exact || of.rank < 0 || another) return -1;
    found = of.rank;
  }
  return found;
}

void LongWait::show(const AwaitedPeers& awaited) {
  ShownWait shown;
  shown.reason = static_cast<std::uint32_t>(wait_.reason);
  shown.since = begun_;
  ShmTransport& node = engine_.running()->transports.shm();
  shown.certain = awaited.exact ? 1 : 0;
  std::size_t count = 0;
  for (const AwaitedPeer& peer : awaited.peers) {
    if (count == shown.awaited.size()) break;
    const int process = peer.process();
    if (process >= 0) shown.awaited[count++] = node.name(process).id;
  }
  if (const Window* window = window_of(awaited); window != nullptr) {
    shown.window = window->id();
    window->name().copy(shown.window_name.data(), shown.window_name.size());
  }
  own_sign(engine_).show(shown);
}

/// The only window that the wait concerns; null: there are several, or it is not known.
const Window* LongWait::window_of(const AwaitedPeers& awaited) const {
  if (window() != 0 || awaited.peers.empty()) {
    return engine_.running()->process.find_window(window());
  }
  const Window* first = awaited.peers.front().window;
  const bool same = std::ranges::all_of(
      awaited.peers, [first](const AwaitedPeer& peer) { return peer.window == first; });
  return same ? first : nullptr;
}

UnlockedLongWait::~UnlockedLongWait() {
  if (!wait_.has_value()) return;
  const Guard guard(engine_.lock);
  wait_.reset();
}

void UnlockedLongWait::look() {
  std::string text;
  {
    const Guard guard(engine_.lock);
    text = report();
  }
  standard_error.say(text);
}

std::string UnlockedLongWait::try_report() {
  const TryGuard guard(engine_.lock);
  return guard ? report() : std::string();
}

std::string UnlockedLongWait::report() {
  if (!wait_.has_value()) {
    wait_.emplace(engine_, WindowEvents(engine_.running()->process.events(), {}), Wait{reason_},
                  frames_);
  }
  return wait_->report();
}

HookedWait::HookedWait(Engine& engine, WaitReason reason)
    : engine_(engine), wait_(engine, reason, CallFrames::of_this_thread()) {
  const std::lock_guard guard(engine.hooked_waits_mutex);
  next_ = engine.hooked_waits.load(std::memory_order_relaxed);
  engine.hooked_waits.store(this, std::memory_order_relaxed);
}

HookedWait::~HookedWait() {
  const std::lock_guard guard(engine_.hooked_waits_mutex);
  HookedWait* const first = engine_.hooked_waits.load(std::memory_order_relaxed);
  if (first == this) {
    engine_.hooked_waits.store(next_, std::memory_order_relaxed);
    return;
  }
  HookedWait* before = first;
  while (before->next_ != this) before = before->next_;
  before->next_ = next_;
}

void HookedWait::look_at_all(Engine& engine) {
  if (engine.hooked_waits.load(std::memory_order_relaxed) == nullptr) return;
  std::string text;
  {
    const std::unique_lock guard(engine.hooked_waits_mutex, std::try_to_lock);
    if (!guard.owns_lock()) return;
    for (HookedWait* wait = engine.hooked_waits.load(std::memory_order_relaxed); wait != nullptr;
         wait = wait->next_) {
      if (wait->timer_.due()) text += wait->wait_.try_report();
    }
  }
  standard_error.say(text);
}

}  // namespace oriel
