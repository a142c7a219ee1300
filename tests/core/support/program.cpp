// SPDX-License-Identifier: BSD-3-Clause
// Random programs that are legal MPI and cannot deadlock. A program is a sequence of phases that
// all ranks have in the same order; each phase gives instructions to its participants, and what a
// phase waits for lies in itself or in earlier phases. Nonblocking closes are awaited at any later
// place.
#include "support/program.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "support/index.hpp"
#include "support/random.hpp"

namespace oriel::test {
namespace {

using Kind = Instruction::Kind;

class Maker {
 public:
  Maker(std::uint64_t seed, const ProgramSpec& spec) : random_(seed), ranks_(spec.ranks) {
    program_.ranks = spec.ranks;
    program_.windows = spec.windows;
    const Reorder& keys = spec.reorder;
    program_.ordered = !(keys.access_after_access || keys.access_after_exposure ||
                         keys.exposure_after_exposure || keys.exposure_after_access);
    program_.code.resize(at(ranks_));
    program_.accesses.resize(at(ranks_));
    program_.requests.resize(at(ranks_));
    program_.changes.resize(at(spec.windows));
    const std::vector<std::uint64_t> cells(Cells::count(ranks_));
    program_.memory.assign(at(spec.windows), {at(ranks_), cells});
    for (auto& window : program_.changes) {
      window.assign(at(ranks_), std::vector<std::vector<Change>>(cells.size()));
    }
    pending_.resize(at(ranks_));
    epochs_.assign(at(spec.windows), std::vector<std::uint64_t>(at(ranks_)));
  }

  Program make() {
    const int eras = random_.between(2, 4);
    for (int i = 0; i < eras; ++i) era();
    return std::move(program_);
  }

 private:
  /// Accesses that are over when a request is.
  struct Pending {
    int request;
    std::vector<int> accesses;
  };
  enum class Use : std::uint8_t { untouched, updated, written, read };
  using Place = std::pair<int, int>;  // window and target
  /// One open epoch, or several open at the same time, of one origin.
  struct Context {
    int rank = 0;
    int window = 0;
    bool passive = false;
    std::uint64_t number = 0;
    std::map<std::pair<int, std::uint32_t>, Use> uses;  // by target and cell, since the last flush
    std::map<int, std::vector<int>> unsettled;          // by target
  };
  /// Between two barriers. A window is never locked and exposed at the same time (MPI-4.1 section
  /// 12.5.3), so each rank is either exposed in an era or lockable.
  struct Era {
    std::vector<int> exposed;
    std::vector<int> lockable;
    bool fences = false;
    bool lock_all = false;
    bool no_check = false;  // locks need not be taken: all are shared
  };

  // --- single instructions

  Instruction& add(int rank, Kind kind, int window) {
    auto& code = program_.code[at(rank)];
    Instruction& instruction = code.emplace_back();
    instruction.kind = kind;
    instruction.window = window;
    return instruction;
  }
  int new_request(int rank) { return program_.requests[at(rank)]++; }
  void settle(int rank, const std::vector<int>& accesses) {
    for (const int index : accesses) add(rank, Kind::settle, 0).index = index;
  }
  void close(int rank, Kind kind, int window, int target, const std::vector<int>& accesses) {
    Instruction& instruction = add(rank, kind, window);
    instruction.target = target;
    instruction.blocking = random_.chance(40);
    finish_close(rank, instruction, accesses);
  }
  void finish_close(int rank, Instruction& instruction, const std::vector<int>& accesses) {
    instruction.request = new_request(rank);
    if (instruction.blocking) {
      settle(rank, accesses);
    } else {
      pending_[at(rank)].push_back({instruction.request, accesses});
    }
  }
  std::vector<int> take_unsettled(Context& context, int target) {
    return std::exchange(context.unsettled[target], {});
  }
  std::vector<int> take_all_unsettled(Context& context) {
    std::vector<int> all;
    for (auto& [target, accesses] : context.unsettled) {
      all.insert(all.end(), accesses.begin(), accesses.end());
    }
    context.unsettled.clear();
    return all;
  }
  void await_all(int rank) {
    add(rank, Kind::await_all, 0);
    for (const Pending& pending : pending_[at(rank)]) settle(rank, pending.accesses);
    pending_[at(rank)].clear();
  }
  void check_memory(int rank) {
    for (int window = 0; window < program_.windows; ++window) {
      add(rank, Kind::memory, window).cells = program_.memory[at(window)][at(rank)];
    }
  }
  void maybe_away(int rank) {
    if (random_.chance(8)) add(rank, Kind::away, 0).index = random_.between(1, 60);
  }
  Context open_context(int rank, int window, bool passive) {
    Context context;
    context.rank = rank;
    context.window = window;
    context.passive = passive;
    context.number = ++epochs_[at(window)][at(rank)];
    return context;
  }

  // --- operations

  std::uint64_t& cell(int window, int target, std::uint32_t index) {
    return program_.memory[at(window)][at(target)][index];
  }

  /// Cells of a run with a stride, possibly backwards.
  std::vector<std::uint32_t> choose(std::uint32_t first, std::uint32_t size) {
    const int stride = random_.between(1, 3);
    const int count = random_.between(1, std::min(4, (static_cast<int>(size) - 1) / stride + 1));
    const int space = static_cast<int>(size) - (count - 1) * stride;
    const int start = random_.below(space);
    std::vector<std::uint32_t> cells;
    for (int i = 0; i < count; ++i) {
      cells.push_back(first + static_cast<std::uint32_t>(start + i * stride));
    }
    if (random_.chance(15)) std::reverse(cells.begin(), cells.end());
    return cells;
  }

  void issue(Context& context, Access access) {
    access.window = context.window;
    access.scattered_origin = random_.chance(30);
    access.resized_target = random_.chance(50);
    access.direct = random_.chance(50);
    auto& accesses = program_.accesses[at(context.rank)];
    const int index = static_cast<int>(accesses.size());
    if (context.passive && random_.chance(20)) {
      access.request = new_request(context.rank);
      pending_[at(context.rank)].push_back({access.request, {}});
    }
    context.unsettled[access.target].push_back(index);
    add(context.rank, Kind::access, context.window).index = index;
    // MPI_Rput and its like say that origin memory may be reused, and that a result is there.
    if (access.request >= 0 && random_.chance(40)) {
      add(context.rank, Kind::await, 0).request = access.request;
      add(context.rank, Kind::settle, 0).index = index;
    }
    accesses.push_back(std::move(access));
  }

  bool sum(Context& context, int target) {
    Access access;
    access.target = target;
    access.cells = choose(0, Cells::sums);
    const std::uint64_t one = std::uint64_t{1} << (8 * context.rank);
    const int what = random_.below(4);
    access.kind = what < 2 ? OperationKind::accumulate : OperationKind::get_accumulate;
    access.op = what == 3 ? Op::no_op : Op::sum;
    for (const std::uint32_t index : access.cells) {
      std::uint64_t& now = cell(context.window, target, index);
      if (((now >> (8 * context.rank)) & 0xff) > 250) return false;
      if (what >= 2) {
        Expected expected;
        expected.what = Expected::What::counters;
        expected.low = era_start_[at(context.window)][at(target)][index];
        if (program_.ordered) {
          const std::uint64_t mine = std::uint64_t{0xff} << (8 * context.rank);
          expected.low = (expected.low & ~mine) | (now & mine);
          expected.exact_rank = context.rank;
        }
        access.expected.push_back(expected);
      }
      if (what < 3) {
        now += one;
        access.values.push_back(one);
      }
    }
    issue(context, std::move(access));
    return true;
  }

  void claim(Context& context, int target) {
    Access access;
    access.kind = OperationKind::compare_and_swap;
    access.target = target;
    access.cells = {Cells::first_claim +
                    static_cast<std::uint32_t>(random_.below(static_cast<int>(Cells::claims)))};
    access.values = {static_cast<std::uint64_t>(context.rank) + 1};
    access.expected = {Expected{Expected::What::claim, 0, -1}};
    issue(context, std::move(access));
  }

  /// Replaces or fetches all cells that hold one number, by one call.
  void whole(Context& context, int target) {
    Access access;
    access.target = target;
    const int what = random_.below(4);
    access.kind = what < 2 ? OperationKind::accumulate : OperationKind::get_accumulate;
    access.op = what == 3 ? Op::no_op : Op::replace;
    ++values_;
    const bool spread = random_.chance(50);
    for (std::uint32_t i = 0; i < (spread ? Cells::spread : Cells::wholes); ++i) {
      access.cells.push_back(spread ? Cells::first_spread + 2 * i + 1 : Cells::first_whole + i);
      if (what < 3) access.values.push_back(values_);
      if (what >= 2) access.expected.push_back({Expected::What::equal_to_first, 0, -1});
    }
    issue(context, std::move(access));
  }

  static bool may_follow(Use before, Use now) {
    if (before == Use::untouched) return true;
    return before == now && now != Use::written;
  }

  /// Puts, gets, replaces or swaps cells of our own; false if none is free.
  bool own(Context& context, int target) {
    Access access;
    access.target = target;
    const int what = random_.below(6);
    const bool single = what == 4;
    auto& fresh = fresh_[{context.window, target, context.rank}];
    const std::uint32_t first = Cells::own_of(context.rank);
    if (program_.ordered) {
      access.cells = choose(first, Cells::own);
    } else {
      // With the keys, whoever sets them promises that epochs touch disjoint memory.
      if (fresh + 3 >= Cells::own) return false;
      access.cells = {first + fresh, first + fresh + 2};
      if (random_.chance(50)) access.cells = {first + fresh, first + fresh + 1, first + fresh + 2};
      fresh += 3;
    }
    if (single) access.cells.resize(1);
    Use use = Use::updated;
    switch (what) {
      case 0:
      case 1:
        access.kind = OperationKind::put;
        use = Use::written;
        break;
      case 2:
        access.kind = OperationKind::get;
        use = Use::read;
        break;
      case 3:
        access.kind = OperationKind::accumulate;
        break;
      case 4:
        access.kind = OperationKind::compare_and_swap;
        break;
      default:
        access.kind = OperationKind::get_accumulate;
        access.op = random_.chance(30) ? Op::no_op : Op::replace;
        break;
    }
    for (const std::uint32_t index : access.cells) {
      if (!may_follow(context.uses[{target, index}], use)) return false;
    }
    const bool fails = single && random_.chance(30);
    for (const std::uint32_t index : access.cells) {
      context.uses[{target, index}] = use;
      std::uint64_t& now = cell(context.window, target, index);
      if (use == Use::read || what >= 4) {
        access.expected.push_back({Expected::What::exactly, now, -1});
      }
      access.compare = fails ? ~now : now;
      if (use == Use::read || access.op == Op::no_op) continue;
      const std::uint64_t value = (context.number << 32) | ++values_;
      access.values.push_back(value);
      if (fails) continue;
      now = value;
      program_.changes[at(context.window)][at(target)][index].push_back({context.number, value});
    }
    issue(context, std::move(access));
    return true;
  }

  void operate(Context& context, int target) {
    const int what = random_.below(10);
    if (what == 0) {
      claim(context, target);
    } else if (what == 1) {
      whole(context, target);
    } else if (what < 6) {
      if (!own(context, target)) sum(context, target);
    } else {
      sum(context, target);
    }
  }

  /// Reads both guarded cells, which must be equal; under an exclusive lock increments them.
  void guarded(Context& context, int target, bool exclusive) {
    Access read;
    read.kind = OperationKind::get;
    read.target = target;
    read.cells = {Cells::first_guarded, Cells::first_guarded + 1};
    read.expected = {Expected{Expected::What::equal_to_first, 0, -1},
                     Expected{Expected::What::equal_to_first, 0, -1}};
    issue(context, read);
    if (!exclusive) return;
    const int index = static_cast<int>(program_.accesses[at(context.rank)].size()) - 1;
    flush(context, target, random_.chance(50), true);
    Access write;
    write.kind = OperationKind::put;
    write.target = target;
    write.cells = read.cells;
    write.values = {0, 0};
    write.increments = index;
    issue(context, write);
    for (const std::uint32_t c : write.cells) ++cell(context.window, target, c);
  }

  void flush(Context& context, int target, bool local, bool blocking) {
    Instruction& instruction = add(context.rank, Kind::flush, context.window);
    instruction.target = target;
    instruction.local = local;
    instruction.blocking = blocking;
    finish_flush(context, instruction, take_unsettled(context, target));
    if (blocking && !local) {
      std::erase_if(context.uses, [&](const auto& use) { return use.first.first == target; });
    }
  }

  void flush_all(Context& context, bool local, bool blocking) {
    Instruction& instruction = add(context.rank, Kind::flush_all, context.window);
    instruction.local = local;
    instruction.blocking = blocking;
    finish_flush(context, instruction, take_all_unsettled(context));
    if (blocking && !local) context.uses.clear();
  }

  void finish_flush(Context& context, Instruction& instruction, const std::vector<int>& accesses) {
    const bool blocking = instruction.blocking;
    finish_close(context.rank, instruction, accesses);
    if (blocking || !random_.chance(30)) return;
    add(context.rank, Kind::await, 0).request = pending_[at(context.rank)].back().request;
    settle(context.rank, accesses);
    pending_[at(context.rank)].pop_back();
  }

  // --- phases

  void post_start(const Era& era) {
    const int window = random_.below(program_.windows);
    std::vector<std::vector<int>> targets(at(ranks_));
    std::vector<std::vector<int>> origins(at(ranks_));
    const int density = random_.between(15, 70);
    for (int origin = 0; origin < ranks_; ++origin) {
      for (const int target : era.exposed) {
        if (!random_.chance(density)) continue;
        targets[at(origin)].push_back(target);
        origins[at(target)].push_back(origin);
      }
      random_.shuffle(targets[at(origin)]);
    }
    const bool no_check = random_.chance(10);
    const auto post = [&](int rank) {
      if (origins[at(rank)].empty()) return;
      Instruction& instruction = add(rank, Kind::post, window);
      instruction.group = origins[at(rank)];
      instruction.assertion.no_check = no_check;
    };
    if (no_check) {
      // MPI_MODE_NOCHECK at start: all posts have been made before.
      for (int rank = 0; rank < ranks_; ++rank) {
        post(rank);
        add(rank, Kind::barrier, 0);
      }
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      const bool exposed = !origins[at(rank)].empty();
      const bool accesses = !targets[at(rank)].empty();
      const bool start_first = !no_check && random_.chance(30);
      if (!no_check && !start_first) post(rank);
      Context context;
      if (accesses) {
        Instruction& start = add(rank, Kind::start, window);
        start.group = targets[at(rank)];
        start.assertion.no_check = no_check;
        context = open_context(rank, window, false);
      }
      if (start_first) post(rank);
      maybe_away(rank);
      if (accesses) {
        const int operations = random_.below(5);
        for (int i = 0; i < operations; ++i) operate(context, random_.pick(targets[at(rank)]));
        maybe_away(rank);
      }
      const bool wait_first = exposed && accesses && random_.chance(25);
      if (wait_first) {
        // Blocking here would wait for origins that may be waiting for our own complete.
        Instruction& wait = add(rank, Kind::wait, window);
        wait.blocking = false;
        finish_close(rank, wait, {});
      }
      if (accesses) close(rank, Kind::complete, window, 0, take_all_unsettled(context));
      if (exposed && !wait_first) {
        close(rank, random_.chance(20) ? Kind::test : Kind::wait, window, 0, {});
      }
    }
  }

  void fences() {
    const int window = random_.below(program_.windows);
    const int calls = random_.between(2, 4);
    const bool no_precede = random_.chance(40);
    const bool no_succeed = random_.chance(60);
    std::vector<Context> contexts(at(ranks_));
    for (int call = 0; call < calls; ++call) {
      const bool last = call == calls - 1;
      std::vector<int> targets;
      std::vector<bool> quiet(at(ranks_));
      for (int rank = 0; rank < ranks_; ++rank) {
        quiet[at(rank)] = random_.chance(15);
        if (!quiet[at(rank)]) targets.push_back(rank);
      }
      for (int rank = 0; rank < ranks_; ++rank) {
        Instruction& fence = add(rank, Kind::fence, window);
        fence.assertion.no_precede = call == 0 && no_precede;
        fence.assertion.no_succeed = last && no_succeed;
        fence.blocking = random_.chance(40);
        fence.barrier = fence.blocking;
        finish_close(rank, fence, take_all_unsettled(contexts[at(rank)]));
        contexts[at(rank)] = open_context(rank, window, false);
        maybe_away(rank);
        if (last || targets.empty()) continue;
        const int operations = random_.below(4);
        for (int i = 0; i < operations; ++i) operate(contexts[at(rank)], random_.pick(targets));
      }
    }
  }

  void locks(const Era& era) {
    const int window = random_.below(program_.windows);
    for (int rank = 0; rank < ranks_; ++rank) {
      if (!random_.chance(60)) continue;
      if (era.lock_all && random_.chance(40)) {
        lock_all(era, rank, window);
      } else {
        lock(era, rank, window);
      }
    }
  }

  /// Several locks at once, of several windows perhaps, are taken in ascending order, or they would
  /// deadlock (E18). The locks that lock_all epochs come to are in no such order.
  void lock(const Era& era, int rank, int window) {
    const bool all_shared = era.no_check;
    std::vector<Place> places;
    for (const int target : era.lockable) places.push_back({window, target});
    const bool several = !era.lock_all || all_shared;
    if (several && random_.chance(30)) {
      for (const int target : era.lockable) {
        places.push_back({random_.below(program_.windows), target});
      }
    }
    random_.shuffle(places);
    const int most = several ? std::min(3, static_cast<int>(places.size())) : 1;
    places.resize(at(random_.chance(70) ? 1 : random_.between(1, most)));
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    // Not with one of them held while another is deferred, behind an epoch that waits for ranks.
    if (places.front().first != places.back().first) await_all(rank);
    std::map<int, Context> contexts;  // by window
    std::map<Place, bool> exclusive;
    for (const Place& place : places) {
      const auto [number, target] = place;
      if (!contexts.contains(number)) contexts[number] = open_context(rank, number, true);
      Instruction& instruction = add(rank, Kind::lock, number);
      instruction.target = target;
      instruction.exclusive = exclusive[place] = !all_shared && random_.chance(50);
      instruction.assertion.no_check = era.no_check && random_.chance(50);
      instruction.assertion.weak_unlock = random_.chance(25);
      if (instruction.assertion.weak_unlock) weak_.insert({rank, number, target});
      if (random_.chance(20)) operate(contexts[number], target);
    }
    maybe_away(rank);
    if (random_.chance(35)) {
      for (const auto& [number, target] : places) operate(contexts[number], target);
    } else {
      const int steps = random_.below(6);
      bool counted = false;
      for (int i = 0; i < steps; ++i) {
        const Place place = random_.pick(places);
        Context& context = contexts[place.first];
        const int target = place.second;
        const int what = random_.below(10);
        if (what < 6) {
          operate(context, target);
        } else if (what < 7 && !counted) {
          counted = true;
          guarded(context, target, exclusive[place]);
        } else if (what < 9) {
          flush(context, target, random_.chance(40), random_.chance(40));
        } else {
          flush_all(context, random_.chance(40), random_.chance(40));
        }
      }
    }
    random_.shuffle(places);
    for (const auto& [number, target] : places) {
      close(rank, Kind::unlock, number, target, take_unsettled(contexts[number], target));
    }
  }

  void lock_all(const Era& era, int rank, int window) {
    Instruction& instruction = add(rank, Kind::lock_all, window);
    instruction.assertion.no_check = era.no_check && random_.chance(50);
    instruction.assertion.weak_unlock = random_.chance(25);
    if (instruction.assertion.weak_unlock) {
      for (const int target : era.lockable) weak_.insert({rank, window, target});
    }
    Context context = open_context(rank, window, true);
    maybe_away(rank);
    const int steps = random_.below(7);
    for (int i = 0; i < steps; ++i) {
      const int target = random_.pick(era.lockable);
      const int what = random_.below(10);
      if (what < 7) {
        operate(context, target);
      } else if (what < 9) {
        flush(context, target, random_.chance(40), random_.chance(40));
      } else {
        flush_all(context, random_.chance(40), random_.chance(40));
      }
    }
    close(rank, Kind::unlock_all, window, 0, take_all_unsettled(context));
  }

  /// What weak unlocks that are complete have left is at its targets after the next flush or usual
  /// unlock.
  void finish_weak(const Era& era) {
    for (int rank = 0; !weak_.empty() && rank < ranks_; ++rank) await_all(rank);
    for (const auto& [rank, window, target] : std::exchange(weak_, {})) {
      Instruction& lock = add(rank, Kind::lock, window);
      lock.target = target;
      lock.assertion.no_check = era.no_check && random_.chance(50);
      lock.assertion.weak_unlock = random_.chance(50);
      const bool by_flush = lock.assertion.weak_unlock;
      Context context = open_context(rank, window, true);
      if (by_flush) flush(context, target, false, true);
      close(rank, Kind::unlock, window, target, {});
    }
  }

  void era() {
    era_start_ = program_.memory;
    fresh_.clear();
    Era era;
    const int what = random_.below(4);
    era.fences = what == 0;
    era.lock_all = what == 1;
    era.no_check = what == 1 && random_.chance(40);
    for (int rank = 0; rank < ranks_; ++rank) {
      const bool exposed = era.fences || (!era.lock_all && random_.chance(60));
      (exposed ? era.exposed : era.lockable).push_back(rank);
    }
    const int phases = random_.between(2, 7);
    for (int i = 0; i < phases; ++i) {
      const bool locking = era.exposed.empty() || (!era.lockable.empty() && random_.chance(50));
      if (locking) {
        locks(era);
      } else if (era.fences && random_.chance(50)) {
        fences();
      } else {
        post_start(era);
      }
      for (int rank = 0; rank < ranks_; ++rank) rest(era, rank);
    }
    finish_weak(era);
    for (int rank = 0; rank < ranks_; ++rank) {
      await_all(rank);
      add(rank, Kind::barrier, 0);
      check_memory(rank);
      add(rank, Kind::barrier, 0);
    }
  }

  /// Between two phases of a rank.
  void rest(const Era& era, int rank) {
    maybe_away(rank);
    auto& pending = pending_[at(rank)];
    if (random_.chance(20)) {
      await_all(rank);
      // Whoever changes our memory needs our next post or fence to do so.
      if (std::count(era.exposed.begin(), era.exposed.end(), rank) != 0) check_memory(rank);
    } else if (!pending.empty() && random_.chance(20)) {
      const int index = random_.below(static_cast<int>(pending.size()));
      add(rank, Kind::await, 0).request = pending[at(index)].request;
      settle(rank, pending[at(index)].accesses);
      pending.erase(pending.begin() + index);
    }
  }

  Random random_;
  int ranks_;
  Program program_;
  std::vector<std::vector<Pending>> pending_;       // by rank
  std::vector<std::vector<std::uint64_t>> epochs_;  // by window and origin
  std::vector<std::vector<std::vector<std::uint64_t>>> era_start_;
  std::map<std::tuple<int, int, int>, std::uint32_t> fresh_;  // by window, target and origin
  std::set<std::tuple<int, int, int>> weak_;                  // rank, window, target
  std::uint64_t values_ = 0;
};

}  // namespace

Program make_program(std::uint64_t seed, const ProgramSpec& spec) {
  return Maker(seed, spec).make();
}

std::string to_string(const Instruction& instruction) {
  static const char* const names[] = {"post",   "start",     "complete", "wait",     "test",
                                      "fence",  "lock",      "unlock",   "lock_all", "unlock_all",
                                      "flush",  "flush_all", "access",   "await",    "await_all",
                                      "settle", "barrier",   "memory",   "away"};
  std::string text = names[static_cast<std::size_t>(instruction.kind)];
  text += " window " + std::to_string(instruction.window);
  text += " target " + std::to_string(instruction.target);
  text += instruction.blocking ? " blocking" : " nonblocking";
  if (instruction.exclusive) text += " exclusive";
  if (instruction.local) text += " local";
  if (instruction.request >= 0) text += " request " + std::to_string(instruction.request);
  text += " index " + std::to_string(instruction.index);
  if (!instruction.group.empty()) {
    text += " group";
    for (const int rank : instruction.group) text += " " + std::to_string(rank);
  }
  return text;
}

}  // namespace oriel::test
