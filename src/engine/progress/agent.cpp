// SPDX-License-Identifier: BSD-3-Clause
#include "engine/progress/agent.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/base/settings.hpp"
#include "core/base/steps.hpp"
#include "core/epoch/events.hpp"
#include "engine/engine.hpp"
#include "transport/shm/clock.hpp"
#include "transport/shm/sleeper.hpp"

namespace oriel {

namespace {

// The shortest time for which a program that was expected to compute is left undisturbed.
constexpr std::uint64_t short_sleep = steps::host_interval_time / 2;
// While data is being sent: not every descriptor signals that the network accepts more.
constexpr auto between_pieces = static_cast<long>(steps::host_interval_time);
// In a program that makes MPI calls all the time the agent acts less and less often, down to once
// in this many intervals: each look() costs some twenty microseconds of a processor in use. So
// rarely it also checks whether any window needs it.
constexpr std::uint64_t intervals_in_rest = 16;
// Threads that wait for a processor are indistinguishable from threads that compute: if the node is
// crowded, the agent acts after this many intervals. With a descriptor it checks after as many
// whether the program makes MPI calls again.
constexpr std::uint64_t patience = 5;
// If the program waits for its operations at once, only one wake-up in 64 reaches the agent: each
// costs some twenty microseconds, a tenth of the time of a megabyte.
constexpr unsigned most_unheard = 63;

/// Returns whether arrivals on an open network are found only by polling.
bool must_poll(CompositeTransport& transports) {
  const Network* network = transports.network();
  const AtomicNetwork* atomics = transports.atomics();
  return network != nullptr &&
         (network->wait_descriptor() < 0 || (atomics != nullptr && atomics->wait_descriptor() < 0));
}

void sleep_for(std::uint64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  ::nanosleep(&time, nullptr);
}

// The agent that was started last, until it is stopped. This word is the process's, because exit()
// stops the agent, and a process has one exit for all engines.
std::atomic<Agent*> last_started{nullptr};

void forget_at_exit(Agent* agent) {
  last_started.compare_exchange_strong(agent, nullptr, std::memory_order_relaxed);
}

/// A program may exit without MPI_Finalize. libfabric's destructors run then, so the agent, which
/// calls libfabric, must end before.
void stop_at_exit(int, void*) {
  if (Agent* agent = last_started.load(std::memory_order_relaxed)) agent->stop();
}

}  // namespace

void Agent::start() {
  const std::lock_guard alone(changing_);
  if (running()) return wake();  // it may rest because no window needed it
  const long microseconds = std::clamp(setting_int("ORIEL_AGENT_INTERVAL"), 0L, 50'000L);
  if (microseconds == 0) return;
  const auto configured = static_cast<std::uint64_t>(microseconds) * 1000;
  long_interval_ = patience * configured;
  interval_ = engine_.running()->pace.crowded() ? long_interval_ : configured;
  longest_rest_ = intervals_in_rest * configured;
  // From here on the library has two threads, whatever thread level the program has requested.
  engine_.lock.enable_beside_agent();
  {
    const Guard guard(engine_.lock);
    engine_.running()->process.set_swept_soon(true);
  }
  stopping_ = false;
  served_ = 0;
  last_started.store(this, std::memory_order_relaxed);
  static std::once_flag registered;
  std::call_once(registered, [] { ::on_exit(stop_at_exit, nullptr); });
  // Signals belong to the program: its handlers must not run on a thread unknown to it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::make_unique<std::thread>([this] { run(); });
  } catch (const std::system_error& error) {
    if (!std::exchange(refused_, true)) {
      std::fprintf(stderr,
                   "oriel: No thread can be started (%s): this rank serves others only while it "
                   "is in an MPI call. See `ulimit -u` and `ulimit -s`.\n",
                   error.what());
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Agent::disown() {
  forget_at_exit(this);
  [[maybe_unused]] const std::thread* parents = thread_.release();
}

void Agent::stop() {
  const std::lock_guard alone(changing_);
  if (!running()) return;
  forget_at_exit(this);
  stopping_ = true;
  // The agent sleeps on one of these two, or on the network for a moment.
  wake_event_.signal();
  ShmTransport& node = engine_.running()->transports.shm();
  node.ring(node.doorbell(node.self()));
  thread_->join();
  thread_.reset();
}

void Agent::run() {
  ::prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
  ::pthread_setname_np(::pthread_self(), "oriel-agent");
  const Process& process = engine_.running()->process;
  std::uint64_t rest = interval_;
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (!process.serving()) {
      wake_event_.wait(longest_rest_);
      continue;
    }
    seen_ = process.sweeps();
    bool signaled = wake_event_.wait(rest);
    if (!signaled && process.sweeps() != seen_) {
      // Has the program left MPI since?
      seen_ = process.sweeps();
      signaled = wake_event_.wait(interval_);
    }
    if (signaled) {
      // Either the program waits for its operations, and sweeps by itself, or it computes. Each
      // look() takes the processor from it: the delay grows while none finds work.
      seen_ = process.sweeps();
      sleep_for(std::min((in_vain_ + 1) * short_sleep, std::max(interval_, short_sleep)));
    }
    // Each look() takes the processor from the program for some microseconds.
    const bool served = serve();
    if (served) ++served_;
    rest = served ? interval_ : std::min(2 * rest, longest_rest_);
    if (!signaled) continue;
    in_vain_ = served ? 0 : std::min(2 * in_vain_ + 1, most_unheard);
    unheard_.store(in_vain_, std::memory_order_relaxed);
  }
}

void Agent::set_sweeping(Process& process, bool sweeping) {
  sweeping_ = sweeping;
  process.events().set_agent_sweeps(sweeping);
}

Agent::Look Agent::look() {
  Process& process = engine_.running()->process;
  if (!stopping_.load(std::memory_order_relaxed) && process.sweeps() == seen_) {
    if (const AgentGuard guard{engine_.lock}) {
      const std::uint64_t begun = process.events().has_sink() ? engine_.clock.now() : 0;
      set_sweeping(process, true);
      const bool moved = sweep_in_row(process);
      set_sweeping(process, false);
      seen_ = process.sweeps();
      if (moved && begun != 0) {
        process.events().report(
            {.time = begun, .number = engine_.clock.now() - begun, .kind = EventKind::agent_swept},
            {});
      }
      return moved ? Look::moved : Look::quiet;
    }
  }
  seen_ = process.sweeps();
  return Look::left;
}

/// Sweeps once, or, if the network signals no arrivals, until something moves: a provider may need
/// many polls for one arrival, and parts of a transfer move without a completion. A row of sweeps
/// ends after a host interval, or when the program waits for the lock.
bool Agent::sweep_in_row(Process& process) {
  bool moved = process.sweep();
  if (moved || !must_poll(engine_.running()->transports)) return moved;
  const std::uint64_t end = nanoseconds_now() + SweepPauses::longest_row;
  for (std::uint64_t sweeps = 1; !moved && sweeps < steps::polls_per_host_interval; ++sweeps) {
    if (engine_.lock.is_wanted() || nanoseconds_now() > end) break;
    moved = process.sweep();
  }
  return moved;
}

/// Returns whether the agent has swept.
bool Agent::serve() {
  Look found = look();
  const bool served = found != Look::left;
  // No spinning, no yielding: the processor belongs to the program.
  Sleeper sleeper(engine_.running()->transports.shm());
  SweepPauses pauses;
  while (found != Look::left) {
    if (found == Look::moved) {
      sleeper.rise();
      pauses.begin_again();
    } else if (!sleep_on_network(pauses)) {
      sleeper.sleep([&] { return (found = look()) != Look::quiet; });
    }
    if (found != Look::left) found = look();
  }
  return served;
}

bool Agent::sleep_on_network(SweepPauses& pauses) {
  auto timeout = static_cast<long>(long_interval_);
  // ppoll ignores negative descriptors.
  std::array<pollfd, 2> descriptors{pollfd{-1, POLLIN, 0}, pollfd{-1, POLLIN, 0}};
  bool quiet = true;
  {
    const AgentGuard guard(engine_.lock);
    if (!guard) return true;
    Running& running = *engine_.running();
    Network* network = running.transports.network();
    if (network == nullptr) return false;
    AtomicNetwork* atomics = running.transports.atomics();
    if (running.node_sends) timeout = static_cast<long>(interval_);
    if (must_poll(running.transports)) {
      timeout = pauses.next(network->transferring(), timeout);
    } else {
      descriptors[0].fd = network->wait_descriptor();
      if (atomics != nullptr) descriptors[1].fd = atomics->wait_descriptor();
      if (network->transferring()) timeout = between_pieces;
      quiet = network->may_wait() && (atomics == nullptr || atomics->may_wait());
    }
  }
  if (!quiet) return true;
  const timespec time{0, timeout};
  ::ppoll(descriptors.data(), descriptors.size(), &time, nullptr);
  return true;
}

}  // namespace oriel
