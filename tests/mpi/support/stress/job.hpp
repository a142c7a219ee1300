// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "support/program.hpp"
#include "support/stress/calls.hpp"
#include "support/stress/random.hpp"
#include "support/stress/region.hpp"
#include "support/stress/reuse.hpp"
#include "support/stress/tally.hpp"
#include "support/window.hpp"

namespace stress {

/// An area of one rank, by its region.
struct Goal {
  int region;
  int target;
};

/// What the threads of one rank share: windows of all kinds, and the handles and datatypes by which
/// they are used. What changes it is called by one thread while the others wait.
class Job {
 public:
  Job(const support::Program& program, std::uint64_t seed, int threads)
      : rank_(program.rank()), ranks_(program.size()), threads_(threads), seed_(seed) {
    make_windows();
    make_values_come_again();
    make_views_by_handle();
    tallies_.resize(static_cast<std::size_t>(threads * regions() * ranks_));
    comms_.resize(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm(thread).all);
      MPI_Comm_dup(MPI_COMM_SELF, &comm(thread).self);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Job() {
    free_views();
    for (Region& region : regions_) withdraw(region);
    for (Window& window : windows_) {
      while (!window.handles.empty()) free_handle(window.handles);
    }
    release_shapes();
    for (auto& [all, self] : comms_) {
      MPI_Comm_free(&all);
      MPI_Comm_free(&self);
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  struct Comms {
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Comm self = MPI_COMM_NULL;
  };

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int right() const { return (rank_ + 1) % ranks_; }
  int left() const { return (rank_ + ranks_ - 1) % ranks_; }
  int threads() const { return threads_; }
  std::uint64_t seed() const { return seed_; }
  int regions() const { return static_cast<int>(regions_.size()); }
  Region& region(int index) { return regions_[static_cast<std::size_t>(index)]; }
  Window& window_of(int index) { return window(region(index).window); }
  Window& window(int index) { return windows_[static_cast<std::size_t>(index)]; }
  int windows() const { return static_cast<int>(windows_.size()); }
  const std::vector<Shape>& shapes() const { return shapes_; }
  Comms& comm(int thread) { return comms_[static_cast<std::size_t>(thread)]; }
  Tally& tally(int thread, Goal goal) {
    return tallies_[static_cast<std::size_t>((thread * regions() + goal.region) * ranks_ +
                                             goal.target)];
  }
  /// A thread's model of its lot.
  std::byte* lot(int thread, Goal goal) {
    Region& of = region(goal.region);
    return of.model.data() + (goal.target * threads_ + thread) * of.area.lot_bytes();
  }
  /// Any that reaches the goal.
  Handle handle(Goal goal, Random& random) {
    Region& of = region(goal.region);
    const auto& handles =
        of.by_handle ? of.views[static_cast<std::size_t>(goal.target)] : window(of.window).handles;
    return handles[random.below(handles.size())];
  }
  long handles_reused() const { return reused_windows_.count(); }
  long types_reused() const { return reused_types_.count(); }

  /// The pieces of the dynamic window go elsewhere, and their handles with them. Collective.
  void relocate() {
    free_views();
    for (Region& region : regions_) {
      if (region.memory != nullptr) move(region);
    }
    make_views();
  }
  /// Some duplicates and all views are freed, and made again of other windows; datatypes, too.
  void remake(Random& random) {
    free_views();
    for (int i = 0; i < 3; ++i) free_duplicate(random);
    while (duplicates_ < most_duplicates) duplicate(random);
    make_views();
    release_shapes();
    for (int i = 0; i < 4; ++i) add_shape(random);
  }

 private:
  static constexpr MPI_Aint long_lot = 112 * 1024;
  static constexpr MPI_Aint short_lot = 12 * 1024;
  static constexpr int most_duplicates = 8;

  void make_windows() {
    add_window("allocated", 1, long_lot);
    MUST(MPI_Win_allocate(regions_.back().area.bytes(), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                          &regions_.back().own, &windows_.back().handles[0].win));
    add_window("created", 4, long_lot);
    Region& created = regions_.back();
    created_ = zeroed(false, created.area.bytes());
    created.own = created_.get();
    MUST(MPI_Win_create(created.own, created.area.bytes(), 4, MPI_INFO_NULL, MPI_COMM_WORLD,
                        &windows_.back().handles[0].win));
    // Where the ranks have several nodes, a second allocated one takes the place of the shared one.
    add_window("shared", 8, short_lot);
    const auto make = support::one_node() ? MPI_Win_allocate_shared : MPI_Win_allocate;
    MUST(make(regions_.back().area.bytes(), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &regions_.back().own,
              &windows_.back().handles[0].win));
    add_window("attached", 1, short_lot);
    MUST(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows_.back().handles[0].win));
    add_attached(regions_.back(), false);
    add_region("attached and mapped", 1, short_lot);
    add_attached(regions_.back(), true);
    for (Region& region : regions_) {
      std::memset(region.own, 0, static_cast<std::size_t>(region.area.bytes()));
    }
    for (Window& window : windows_) {
      MUST(MPI_Win_set_errhandler(window.first(), MPI_ERRORS_RETURN));
    }
  }
  void add_window(const char* name, int unit, MPI_Aint lot) {
    windows_.push_back({Epoch::everybody, {{MPI_WIN_NULL, false, ++last_number_}}});
    add_region(name, unit, lot);
  }
  void add_region(const char* name, int unit, MPI_Aint lot) {
    regions_.push_back({name, windows() - 1, Area(ranks_, threads_, lot), unit});
    Region& made = regions_.back();
    made.bases.resize(static_cast<std::size_t>(ranks_));
    made.model.resize(static_cast<std::size_t>(ranks_ * threads_ * lot));
  }
  void add_attached(Region& region, bool mapped) {
    region.mapped = mapped;
    expose(region, zeroed(mapped, region.area.bytes()));
  }
  /// Values rest until so many are free.
  void make_values_come_again() {
    constexpr int all_resting = 1100;
    for (int i = 0; i < all_resting; ++i) {
      MPI_Win made = MPI_WIN_NULL;
      MUST(oriel().Win_dup_with_info(windows_.front().first(), MPI_INFO_NULL, &made));
      reused_windows_.freed(made);
      MUST(MPI_Win_free(&made));
    }
  }
  void make_views_by_handle() {
    for (const bool mapped : {false, true}) {
      add_region(mapped ? "mapped, by handle" : "by handle", 8, short_lot);
      regions_.back().by_handle = true;
      add_attached(regions_.back(), mapped);
    }
    make_views();
  }

  /// Memory of a region of the dynamic window, from now on.
  void expose(Region& region, Memory memory) {
    region.memory = std::move(memory);
    region.own = region.memory.get();
    const MPI_Win parent = window(region.window).first();
    if (region.by_handle) {
      Region::Name name{};
      int bytes = 0;
      MUST(oriel().Memhandle_create(region.own, region.area.bytes(), MPI_INFO_NULL, parent,
                                    name.data(), &bytes));
      region.names.resize(static_cast<std::size_t>(ranks_));
      MPI_Allgather(name.data(), static_cast<int>(name.size()), MPI_BYTE, region.names.data(),
                    static_cast<int>(name.size()), MPI_BYTE, MPI_COMM_WORLD);
      return;
    }
    MUST(MPI_Win_attach(parent, region.own, region.area.bytes()));
    MPI_Aint address = 0;
    MPI_Get_address(region.own, &address);
    MPI_Allgather(&address, 1, MPI_AINT, region.bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  }
  void withdraw(Region& region) {
    if (region.memory == nullptr) return;
    const MPI_Win parent = window(region.window).first();
    if (region.by_handle) {
      MUST(oriel().Memhandle_release(region.names[static_cast<std::size_t>(rank_)].data(), parent));
    } else {
      MUST(MPI_Win_detach(parent, region.own));
    }
  }
  void move(Region& region) {
    Memory next = zeroed(region.mapped, region.area.bytes());
    std::memcpy(next.get(), region.own, static_cast<std::size_t>(region.area.bytes()));
    withdraw(region);
    expose(region, std::move(next));
  }

  static MPI_Info order(bool ordered) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, ORIEL_WIN_ORDER, ordered ? "true" : "false");
    return info;
  }
  Handle numbered(MPI_Win made, bool ordered) {
    reused_windows_.made(made);
    return {made, ordered, ++last_number_};
  }
  void duplicate(Random& random) {
    Window& of = window(random.below(windows()));
    const bool ordered = random.chance(50);
    MPI_Info info = order(ordered);
    MPI_Win made = MPI_WIN_NULL;
    MUST(oriel().Win_dup_with_info(of.handles[random.below(of.handles.size())].win, info, &made));
    MPI_Info_free(&info);
    of.handles.push_back(numbered(made, ordered));
    ++duplicates_;
  }
  /// The youngest of some window, if it has any: the first stays, to be given to what is
  /// collective.
  void free_duplicate(Random& random) {
    Window& of = window(random.below(windows()));
    if (of.handles.size() == 1) return;
    free_handle(of.handles);
    --duplicates_;
  }
  void free_handle(std::vector<Handle>& handles) {
    reused_windows_.freed(handles.back().win);
    MUST(MPI_Win_free(&handles.back().win));
    handles.pop_back();
  }
  void make_views() {
    // By target first: handles then mean another region than those before a relocation.
    for (int target = 0; target < ranks_; ++target) {
      for (Region& region : regions_) {
        if (region.by_handle) make_view(region, target);
      }
    }
  }
  void make_view(Region& region, int target) {
    region.views.resize(static_cast<std::size_t>(ranks_));
    const bool ordered = ++views_made_ % 3 != 0;
    MPI_Info info = order(ordered);
    MPI_Win made = MPI_WIN_NULL;
    MUST(oriel().Win_from_memhandle(region.names[static_cast<std::size_t>(target)].data(),
                                    region.area.bytes(), region.unit, info, target,
                                    window(region.window).first(), &made));
    MPI_Info_free(&info);
    MUST(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
    region.views[static_cast<std::size_t>(target)].push_back(numbered(made, ordered));
  }
  void free_views() {
    for (Region& region : regions_) {
      for (auto& views : region.views) {
        while (!views.empty()) free_handle(views);
      }
    }
  }
  void add_shape(Random& random) {
    shapes_.push_back(Shape::derived(random));
    reused_types_.made(shapes_.back().type);
  }
  void release_shapes() {
    for (Shape& shape : shapes_) {
      reused_types_.freed(shape.type);
      shape.release();
    }
    shapes_.clear();
  }

  const int rank_;
  const int ranks_;
  const int threads_;
  const std::uint64_t seed_;
  std::vector<Window> windows_;
  std::vector<Region> regions_;
  std::vector<Shape> shapes_;
  std::vector<Tally> tallies_;
  std::vector<Comms> comms_;
  Memory created_{nullptr, nullptr};
  int duplicates_ = 0;
  int views_made_ = 0;
  long last_number_ = 0;
  Reuse<MPI_Win> reused_windows_;
  Reuse<MPI_Datatype> reused_types_;
};

}  // namespace stress
