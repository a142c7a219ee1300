// SPDX-License-Identifier: BSD-3-Clause
#include "support/scheduler.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "support/index.hpp"

namespace oriel::test {

Scheduler::Scheduler(SimJob& job, const Program& program, std::uint64_t seed)
    : job_(job),
      program_(program),
      random_(seed ^ 0x5eed),
      barrier_(program.ranks),
      finished_(at(program.ranks)),
      asleep_(at(program.ranks)),
      left_(program.ranks) {
  for (int rank = 0; rank < program.ranks; ++rank) {
    runners_.emplace_back(job, program, barrier_, rank);
  }
  if (random_.chance(50)) slow_from_ = random_.below(program.ranks);
}

void Scheduler::wake(int rank) {
  asleep_[at(rank)] = false;
  job_.doorbell(rank).sleeping.store(0, std::memory_order_relaxed);
  idle_ = 0;
}

void Scheduler::act(int rank) {
  if (asleep_[at(rank)]) {
    if (job_.doorbell(rank).sleeping.load(std::memory_order_relaxed) != 0) return;
    wake(rank);
  }
  if (random_.chance(20)) {
    if (job_.process(rank).sweep()) idle_ = 0;
    return;
  }
  switch (runners_[at(rank)].step()) {
    case Runner::Step::moved:
    case Runner::Step::away:
      idle_ = 0;
      break;
    case Runner::Step::blocked:
      blocked(rank);
      break;
    case Runner::Step::finished:
      if (!finished_[at(rank)]) {
        finished_[at(rank)] = true;
        --left_;
      }
      if (job_.process(rank).sweep()) idle_ = 0;
      break;
  }
}

void Scheduler::blocked(int rank) {
  if (job_.process(rank).sweep()) {
    idle_ = 0;
    return;
  }
  if (!random_.chance(30)) return;
  // Says that it sleeps, looks once more, sleeps.
  job_.doorbell(rank).sleeping.store(1, std::memory_order_relaxed);
  const bool moved =
      job_.process(rank).sweep() || runners_[at(rank)].step() != Runner::Step::blocked;
  asleep_[at(rank)] = true;
  if (moved) wake(rank);
}

bool Scheduler::deliver_one() {
  const auto routes = job_.network().under_way();
  if (routes.empty()) return false;
  SimNetwork::Route route = random_.pick(routes);
  // Slow ones: whoever is told too early of a write has time to look.
  if (route.transfers && random_.chance(95)) route = routes.front();
  if (route.from == slow_from_ && random_.chance(97)) return true;
  job_.network().deliver(route);
  // A real waiter looks at the network now and then: for packets, and for transfers that are over.
  wake(route.to);
  wake(route.from);
  return true;
}

std::string Scheduler::run() {
  for (std::uint64_t step = 0; left_ != 0; ++step) {
    if (random_.chance(30)) deliver_one();
    act(random_.below(program_.ranks));
    for (const Runner& runner : runners_) {
      if (runner.failed()) return runner.failure();
    }
    if (step % 128 == 0) {
      if (std::string wrong = out_of_order(); !wrong.empty()) return wrong;
    }
    if (++idle_ > 200 * static_cast<std::uint64_t>(program_.ranks)) {
      if (std::string wrong = unstick(); !wrong.empty()) return wrong;
      idle_ = 0;
    }
  }
  job_.run_until_idle();
  for (int rank = 0; rank < program_.ranks; ++rank) {
    if (job_.process(rank).pending() != 0) {
      return "rank " + std::to_string(rank) + " has finished, but counts work as pending";
    }
    for (int window = 0; window < program_.windows; ++window) {
      if (job_.window(rank, window).epochs().quiet()) continue;
      const bool fence_left_open = !job_.window(rank, window).epochs().open_epoch();
      if (!fence_left_open) return "rank " + std::to_string(rank) + " has an epoch left";
    }
  }
  return check_end(job_, program_, runners_);
}

std::string Scheduler::unstick() {
  // Nothing has moved for long. Ranks in a barrier go on by themselves when the last one comes.
  while (deliver_one()) {
  }
  for (int rank = 0; rank < program_.ranks; ++rank) {
    if (finished_[at(rank)]) {
      if (job_.process(rank).sweep()) return {};
      continue;
    }
    if (asleep_[at(rank)] && job_.doorbell(rank).sleeping.load(std::memory_order_relaxed) == 0) {
      return {};  // has been rung and not been chosen yet
    }
    const bool moved = job_.process(rank).sweep();
    const bool went_on = runners_[at(rank)].step() == Runner::Step::moved;
    if (!moved && !went_on) continue;
    const bool slept = asleep_[at(rank)];
    wake(rank);
    const std::string where = runners_[at(rank)].where();
    // The barrier stands for another library's synchronization, which wakes by its own means.
    if (slept && moved) return "nobody woke " + where;
    return {};
  }
  return "deadlock\n" + states();
}

std::string Scheduler::states() const {
  std::string text;
  for (const Runner& runner : runners_) text += "  " + runner.where() + "\n";
  return text;
}

std::string Scheduler::out_of_order() const {
  // E5: an epoch is activated after the one before it completed. So if a cell shows the effect of
  // an origin's epoch, all cells show what that origin's earlier epochs have done.
  if (!program_.ordered) return {};
  for (int window = 0; window < program_.windows; ++window) {
    for (int origin = 0; origin < program_.ranks; ++origin) {
      // What is on its way to a remote target is complete at its origin: the order is the same at
      // each target, not between targets.
      const bool together = !job_.remote(window);
      const std::uint32_t first = Cells::own_of(origin);
      const auto epoch_of = [&](int target, std::uint32_t cell) {
        std::uint64_t value = 0;
        std::memcpy(&value, job_.memory(target, window) + cell * 8, sizeof value);
        return value >> 32;
      };
      const auto latest_at = [&](int target) {
        std::uint64_t latest = 0;
        for (std::uint32_t cell = first; cell < first + Cells::own; ++cell) {
          latest = std::max(latest, epoch_of(target, cell));
        }
        return latest;
      };
      std::uint64_t latest = 0;
      for (int target = 0; together && target < program_.ranks; ++target) {
        latest = std::max(latest, latest_at(target));
      }
      for (int target = 0; target < program_.ranks; ++target) {
        if (!together) latest = latest_at(target);
        for (std::uint32_t cell = first; cell < first + Cells::own; ++cell) {
          std::uint64_t due = 0;
          for (const Change& change : program_.changes[at(window)][at(target)][cell]) {
            if (change.epoch < latest) due = change.epoch;
          }
          if (epoch_of(target, cell) >= due) continue;
          std::ostringstream text;
          text << "window " << window << ": epoch " << latest << " of rank " << origin
               << " has taken effect, but its epoch " << due << " not yet in cell " << cell
               << " of rank " << target;
          return text.str();
        }
      }
    }
  }
  return {};
}

}  // namespace oriel::test
