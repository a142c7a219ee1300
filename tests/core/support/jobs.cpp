// SPDX-License-Identifier: BSD-3-Clause
#include "support/jobs.hpp"

#include <vector>

#include "support/random.hpp"

namespace oriel::test {

struct RandomJob::Plan {
  std::vector<int> nodes;
  std::vector<SimWindowSpec> windows;
  ProgramSpec program;
  Limits limits;
  SimNetwork::Writes writes;
  std::uint64_t longest_copied = 0;  // see SimNetwork
  std::size_t congesting = 0;
  unsigned serving = 0;
  std::vector<bool> maps_private;  // by rank

  Plan(std::uint64_t seed, Placement placement, bool reorder) {
    Random random(seed * 1000003 + static_cast<std::uint64_t>(placement) * 2 + (reorder ? 1 : 0));
    program.ranks = random.between(2, 8);
    program.windows = random.chance(30) ? 2 : 1;
    if (reorder) {
      program.reorder = keys_of(static_cast<unsigned>(random.between(1, 15)));
    }
    if (random.chance(50)) limits.set_by_card(true);
    // Operations have some ten words: limits that cut and stop them, or do not.
    if (random.chance(60)) {
      limits.fragment = std::uint64_t{8} * static_cast<unsigned>(random.between(1, 6));
      limits.ahead = std::uint64_t{40} * static_cast<unsigned>(random.below(12));
      limits.direct = std::uint64_t{8} * static_cast<unsigned>(random.below(3));
      limits.direct_run = std::uint64_t{8} * static_cast<unsigned>(random.below(3));
      limits.direct_fragment = std::uint64_t{8} * static_cast<unsigned>(random.between(1, 3));
      limits.announced_each = random.between(1, 8);
      limits.under_way = limits.fragment * static_cast<unsigned>(random.between(1, 3));
    }
    const int node_count = random.between(2, 4);
    for (int rank = 0; rank < program.ranks; ++rank) {
      nodes.push_back(placement == Placement::remote ? rank
                      : placement == Placement::mixed || placement == Placement::dynamic
                          ? random.below(node_count)
                          : 0);
    }
    for (int i = 0; i < program.windows; ++i) {
      SimWindowSpec& window = windows.emplace_back();
      window.bytes = std::uint64_t{8} * Cells::count(program.ranks);
      window.disp_unit = std::uint64_t{1} << random.below(4);
      // Off the boundary of its size no element can be updated by a CPU atomic.
      window.misalign = random.chance(20) ? 4 : 0;
      window.reorder = program.reorder;
      window.direct = random.chance(50);
      if (random.chance(30)) window.atomicity.granularity = sizeof(std::uint64_t);
      // Sums, claims and replaced cells by the network; elements off their boundary never are.
      if (window.misalign == 0 && random.chance(40)) window.atomics = {bit(Basic::u64), every_op};
      for (int rank = 0; rank < program.ranks; ++rank) {
        Path path = Path::load_store;
        const bool some =
            (placement == Placement::mixed || placement == Placement::dynamic) && random.chance(30);
        if (some || placement == Placement::private_memory) {
          path = random.chance(50) ? Path::system_call : Path::messages;
        }
        window.memory.push_back(path);
      }
    }
    if (placement == Placement::dynamic) {
      for (SimWindowSpec& window : windows) {
        window.pieces = static_cast<std::uint64_t>(random.between(1, 20));
        window.atomics = {};
      }
    }
    writes = random.pick(SimNetwork::all_writes);
    longest_copied = std::uint64_t{8} * static_cast<unsigned>(random.below(4));
    congesting = static_cast<std::size_t>(random.chance(50) ? random.between(1, 4) : 1000);
    serving = static_cast<unsigned>(random.below(11));
    for (SimWindowSpec& window : windows) window.exposed = random.chance(50);
    for (int rank = 0; rank < program.ranks; ++rank) maps_private.push_back(random.chance(70));
  }
};

RandomJob::RandomJob(std::uint64_t seed, Placement placement, bool reorder, bool threads)
    : RandomJob(seed, Plan(seed, placement, reorder), threads) {}

RandomJob::RandomJob(std::uint64_t seed, const Plan& plan, bool threads)
    : job_(plan.nodes, threads, plan.limits), program_(make_program(seed, plan.program)) {
  job_.network().set_writes(plan.writes);
  job_.network().set_longest_copied(plan.longest_copied);
  job_.network().set_congesting(plan.congesting);
  job_.network().set_serving(plan.serving);
  for (int rank = 0; rank < plan.program.ranks; ++rank) {
    job_.transport(rank).set_maps_private(plan.maps_private[static_cast<std::size_t>(rank)]);
  }
  for (const SimWindowSpec& window : plan.windows) job_.create_window(window);
  description_ = std::to_string(plan.program.ranks) + " ranks on nodes";
  for (const int node : plan.nodes) description_ += " " + std::to_string(node);
  const Reorder& keys = plan.program.reorder;
  description_ += ", keys";
  if (keys.access_after_access) description_ += " access_after_access";
  if (keys.access_after_exposure) description_ += " access_after_exposure";
  if (keys.exposure_after_exposure) description_ += " exposure_after_exposure";
  if (keys.exposure_after_access) description_ += " exposure_after_access";
  description_ += ", pieces of " + std::to_string(plan.limits.fragment) + ", ahead " +
                  std::to_string(plan.limits.ahead);
  description_ += ", direct from " + std::to_string(plan.limits.direct_from);
  description_ += ", writes: " + name_of(plan.writes);
  description_ += ", copied up to " + std::to_string(plan.longest_copied);
  description_ += ", congested from " + std::to_string(plan.congesting) + " on";
  description_ += ", " + std::to_string(plan.serving) + " of 10 errands carried out";
  description_ += ", private memory mapped by ranks";
  for (std::size_t rank = 0; rank < plan.maps_private.size(); ++rank) {
    if (plan.maps_private[rank]) description_ += " " + std::to_string(rank);
  }
  for (const SimWindowSpec& window : plan.windows) {
    description_ += ", window of unit " + std::to_string(window.disp_unit) +
                    (window.pieces != 0 ? " in " + std::to_string(window.pieces) + " pieces" : "") +
                    (window.atomics.types != 0 ? " with atomics" : "") +
                    (window.atomicity.granularity != 0 ? " updated by elements" : "") +
                    (window.exposed ? " exposed" : "") + " memory";
    for (const Path path : window.memory) {
      description_ += path == Path::load_store    ? " mapped"
                      : path == Path::system_call ? " vm"
                                                  : " served";
    }
  }
}

}  // namespace oriel::test
