// SPDX-License-Identifier: BSD-3-Clause
#include "engine/progress/pace.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "core/base/settings.hpp"
#include "engine/engine.hpp"
#include "transport/shm/clock.hpp"

namespace oriel {

namespace {

// Between two yields of a loop that polls: four polls on a crowded node, otherwise 1024, because a
// yield takes a scheduler's slice if another program wants the processor.
constexpr std::uint64_t crowded_yield_interval = 4 * steps::poll;
constexpr std::uint64_t rare_yield_interval = 1024 * steps::poll;

/// The number of ranks that the launcher has started on this node; zero: it does not say.
long launched_here() {
  // Hydra (MPICH, Intel MPI), prterun (Open MPI), MVAPICH's launcher.
  constexpr std::array names{"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "MV2_COMM_WORLD_LOCAL_SIZE"};
  for (const char* name : names) {
    if (const char* value = ::secure_getenv(name)) return std::strtol(value, nullptr, 10);
  }
  return 0;
}

}  // namespace

bool PeerTimer::due() {
  const std::uint64_t now = nanoseconds_now();
  if (checked_ != 0 && now - checked_ < peer_check_interval) return false;
  return std::exchange(checked_, now) != 0;
}

Pace::Pace(Running& running)
    : running_(running),
      spins_(setting_int("ORIEL_SPIN")),
      yields_(setting_int("ORIEL_YIELD")),
      launched_crowded_(setting_bool("ORIEL_CROWDED") ||
                        launched_here() > ::sysconf(_SC_NPROCESSORS_ONLN)) {}

bool Pace::crowded() const {
  return launched_crowded_ || running_.transports.shm().crowded();
}

bool Pace::polls_network() const {
  return running_.transports.network() != nullptr;
}

std::uint64_t Pace::steps_of_sweep(std::uint64_t steps) const {
  if (!polls_network()) return steps;
  return running_.transports.by_card() ? steps::call : steps::poll;
}

void Pace::sweep_in_passing(Passing passing) {
  Process& process = running_.process;
  const bool asked =
      passing == Passing::polls || (passing == Passing::synchronizes && process.expects());
  if (asked || !polls_network() || (passed_.add(steps::call) & steps::poll_interval) != 0) {
    process.sweep_in_passing();
  }
}

void Pace::sweep_on_hot_path(ProcessLock& lock) {
  static thread_local StepCount passed;
  static thread_local std::uint64_t seen = 0;
  Process& process = running_.process;
  const bool others_sweep = lock.enabled() && process.sweeps() != seen;
  const bool only_looks = polls_network() && !process.expects();
  if ((!others_sweep && !only_looks) || (passed.add(steps::call) & steps::poll_interval) != 0) {
    if (const TryGuard guard{lock}) process.sweep_in_passing();
  }
  seen = process.sweeps();
}

void Pace::end_host_interval() {
  static thread_local std::uint32_t reported = 0;
  const auto hot_calls = static_cast<std::uint32_t>(steps_of_thread.count() / one_hot_call);
  running_.calls.add_hot(hot_calls - reported);
  reported = hot_calls;
  running_.host.advance();
}

bool Pace::yield_after_poll(StepCount& polls) const {
  const std::uint64_t passed = polls.add(steps::poll);
  if ((passed & (crowded() ? crowded_yield_interval : rare_yield_interval)) != 0) ::sched_yield();
  return (passed & steps::host_interval) != 0;
}

bool Pace::end_vain_poll() {
  static thread_local StepCount polls;
  static thread_local PeerTimer timer;
  // All polls of an interval check their peers: the program may poll several windows in turn.
  static thread_local bool due = false;
  if (yield_after_poll(polls)) {
    end_host_interval();
    due = timer.due();
  }
  return due;
}

bool Pace::end_vain_poll(ProcessLock& held) {
  held.release();
  const bool due = end_vain_poll();
  held.acquire();
  return due;
}

}  // namespace oriel
