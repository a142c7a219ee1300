// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/tick_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "transport/shm/clock.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

// How long a reading is used, and the minimal time between two readings that determine the rate.
constexpr std::uint64_t renewal = 1'000'000;  // ns
// The maximal time between these: the kernel adjusts the rate of its clock to follow other
// machines.
constexpr std::uint64_t longest_baseline = 64 * renewal;
// A reading during which the thread was preempted, between its two reads of the counter, is not
// used. Undisturbed, the reads are 64 to 76 ticks apart; of 1,000 pairs one was over 104 (Intel
// Xeon, 2.4 GHz).
constexpr std::uint64_t most_between = 300;  // ticks

}  // namespace

void TickClock::start() {
  char source[8] = "";
  const int file = own_descriptor(::open(
      "/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC));
  if (file < 0) return;
  const ssize_t length = ::read(file, source, sizeof source);
  ::close(file);
  counts_ = has_counter && length == 4 && std::memcmp(source, "tsc\n", 4) == 0;
}

std::uint64_t TickClock::read_anew() {
  const std::uint64_t before = ticks();
  const Reading reading{nanoseconds_now(), ticks()};
  if (counts_ && reading.ticks - before <= most_between) return take(reading);
  return std::max(reading.time, latest());
}

std::uint64_t TickClock::take(const Reading& reading) {
  const std::uint64_t time = std::max(reading.time, latest());
  if (first_.time == 0) first_ = reading;
  if (reading.time - first_.time > longest_baseline) first_ = last_;
  last_ = reading;
  const std::uint64_t passed = reading.time - first_.time;
  if (passed >= renewal) {
    const double rate =
        static_cast<double>(passed) / static_cast<double>(reading.ticks - first_.ticks);
    lasts_ = static_cast<std::uint64_t>(static_cast<double>(renewal) / rate);
    // If the clock is ahead, it runs slower until the next reading, when it is correct again.
    const double ahead =
        static_cast<double>(std::min(time - reading.time, renewal)) / static_cast<double>(renewal);
    rate_ = static_cast<std::uint64_t>(rate * (1 - ahead) * 4294967296.0);
    base_ = {time, reading.ticks};
  }
  return time;
}

}  // namespace oriel
