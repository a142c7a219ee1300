// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tuning/tuner.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "engine/tuning/start_trial.hpp"

namespace oriel {
namespace {

/// A trial pays if the request has at least this many times as many starts as the trial.
constexpr std::uint64_t worth_a_trial = 2;

constexpr std::size_t shorter = std::size_t{16} * 1024;
constexpr std::size_t longer = std::size_t{256} * 1024;
constexpr int times = 5;  // the shortest counts: it was not interrupted

template <typename Copy>
double shortest(Copy&& copy) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < times; ++i) {
    const Clock::time_point begin = Clock::now();
    copy();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return least;
}

constexpr double lost = 1.0 / 16;  // the largest share of a copy's time that a call may add
constexpr std::uint64_t least_piece = std::uint64_t{64} * 1024;
constexpr std::uint64_t most_piece = std::uint64_t{1024} * 1024;

/// Measures CopyCosts.
class Measurement {
 public:
  Measurement() : from_(longer, std::byte{1}), between_(longer), into_(longer) {}

  CopyCosts run() {
    const double call_short = by_call(shorter);
    const double call_long = by_call(longer);
    const double twice_long = twice(longer);
    if (refused_) return {any, least_piece};
    // Costs are linear in the length; two copies have no constant part.
    const double per_byte = std::max(0.0, (call_long - call_short) / (longer - shorter));
    const double call = std::max(0.0, call_short - per_byte * shorter);
    return {most_copied_twice(call, per_byte, twice_long / longer), worth_a_call(call, per_byte)};
  }

 private:
  static constexpr auto any = std::numeric_limits<std::uint64_t>::max();

  static std::uint64_t most_copied_twice(double call, double per_byte, double twice_per_byte) {
    const double saved = twice_per_byte - per_byte;
    return saved > 0 && call / saved < longer ? static_cast<std::uint64_t>(call / saved) : any;
  }
  static std::uint64_t worth_a_call(double call, double per_byte) {
    if (call >= lost * per_byte * most_piece) return most_piece;
    const auto bytes = static_cast<std::uint64_t>(call / (lost * per_byte));
    return std::bit_ceil(std::max(bytes, least_piece));
  }
  /// The process copies from its own pages: the system accesses another process's in the same way.
  double by_call(std::size_t bytes) {
    return shortest([&] {
      const iovec local{into_.data(), bytes};
      const iovec remote{from_.data(), bytes};
      const ssize_t copied = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
      refused_ = refused_ || copied != static_cast<ssize_t>(bytes);
    });
  }
  double twice(std::size_t bytes) {
    return shortest([&] {
      std::memcpy(between_.data(), from_.data(), bytes);
      std::memcpy(into_.data(), between_.data(), bytes);
    });
  }

  std::vector<std::byte> from_;
  std::vector<std::byte> between_;
  std::vector<std::byte> into_;
  bool refused_ = false;
};

}  // namespace

Tuner::Tuner(std::string processor, std::string mpi, ExchangeTimes stored)
    : processor_(std::move(processor)), mpi_(std::move(mpi)), stored_(std::move(stored)) {}

Tuner::Choice Tuner::choose(const Exchange& exchange) const {
  if (const ExchangeTimes::Line* line = nearest(exchange)) {
    return {line->cheapest(exchange.gathers, exchange.starts), *line};
  }
  if (exchange.ranks == 1 || exchange.longest == 0) return {};
  const std::uint64_t needed = worth_a_trial * StartTrial::starts(exchange.gathers ? 3 : 2);
  const bool long_lived = exchange.starts ? *exchange.starts >= needed : !exchange.seldom_started;
  return {long_lived ? Algorithm::automatic : Algorithm::notified, std::nullopt};
}

const ExchangeTimes::Line* Tuner::nearest(const Exchange& exchange) const {
  for (const ExchangeTimes* known : {&trials_, &stored_}) {
    const ExchangeTimes::Line* line =
        known->nearest(processor_, mpi_, exchange.ranks, exchange.several_nodes, exchange.longest);
    if (line != nullptr && (known == &stored_ || line->like(exchange.longest))) return line;
  }
  return nullptr;
}

void Tuner::learn(ExchangeTimes::Line line) {
  line.processor = processor_;
  line.mpi = mpi_;
  trials_.add(std::move(line));
}

const CopyCosts& Tuner::copy_costs() {
  static const CopyCosts costs = Measurement().run();
  return costs;
}

}  // namespace oriel
