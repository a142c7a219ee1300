// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stalls/stall_signal.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "core/base/settings.hpp"
#include "engine/process/standard_error.hpp"

namespace oriel::stall_signal {
namespace {

// The signal handler uses these words, and therefore no lock protects them. A process has one
// handler of a signal, so they are the process's: `waits` counts the waits of all engines.
std::atomic<std::uint32_t> times{0};
std::atomic<int> waits{0};
struct sigaction program_action{};

void answer(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  times.fetch_add(1, std::memory_order_relaxed);
  if (waits.load(std::memory_order_relaxed) == 0) {
    standard_error.say(
        "oriel: This rank is in no call of Oriel's that has waited for a tenth of a second.\n");
  }
  errno = saved;
  if ((program_action.sa_flags & SA_SIGINFO) != 0) {
    program_action.sa_sigaction(signal, info, context);
  } else if (program_action.sa_handler != SIG_DFL && program_action.sa_handler != SIG_IGN) {
    program_action.sa_handler(signal);
  }
}

}  // namespace

void start() {
  static bool started = false;
  const long number = setting_int("ORIEL_STALL_SIGNAL");
  if (started || number == 0) return;
  started = true;
  const int signal = static_cast<int>(number);
  // After a fault the program cannot continue; two signals cannot have handlers.
  const bool fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
  const bool fixed = signal == SIGKILL || signal == SIGSTOP;
  if (fault || fixed || ::sigaction(signal, nullptr, &program_action) != 0) {
    std::fprintf(
        stderr,
        "oriel: ORIEL_STALL_SIGNAL: %ld is no signal that may ask a rank. Give the number of "
        "another one, such as %d for SIGUSR1.\n",
        number, SIGUSR1);
    return;
  }
  // If the program has a handler, its flags apply. Otherwise system calls are restarted.
  const bool handles =
      (program_action.sa_flags & SA_SIGINFO) != 0 ||
      (program_action.sa_handler != SIG_DFL && program_action.sa_handler != SIG_IGN);
  struct sigaction action = program_action;
  action.sa_flags =
      handles ? program_action.sa_flags & ~static_cast<int>(SA_RESETHAND) : SA_RESTART;
  action.sa_flags |= SA_SIGINFO;
  action.sa_sigaction = answer;
  ::sigaction(signal, &action, nullptr);
}

std::uint32_t asked() {
  return times.load(std::memory_order_relaxed);
}

void count_waits(int change) {
  waits.fetch_add(change, std::memory_order_relaxed);
}

}  // namespace oriel::stall_signal
