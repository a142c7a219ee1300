// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/stress/own_windows.hpp"
#include "support/stress/transfers.hpp"

namespace stress {

/// Handles, pieces and memory handles of the shared windows that one thread makes, uses and frees
/// while others work.
class Passing {
 public:
  explicit Passing(Self& self) : self_(self) {}

  /// A duplicate that is freed before what was issued on it is known to be complete, or after.
  void duplicate(Goal goal) {
    Region& region = self_.job.region(goal.region);
    if (region.by_handle) return view(goal);
    const bool ordered = self_.random.chance(50);
    MPI_Info info = order(ordered);
    MPI_Win made = MPI_WIN_NULL;
    MUST(oriel().Win_dup_with_info(self_.any_handle(goal), info, &made));
    if (self_.random.chance(50)) MUST(MPI_Win_set_info(made, info));
    MPI_Info_free(&info);
    use(goal, made, ordered);
  }

  /// A piece of the dynamic window on our own rank, which puts reach as long as its memory is
  /// there.
  void piece(int region) {
    const MPI_Win window = self_.any_handle({region, self_.job.rank()});
    const Memory memory = zeroed(self_.random.chance(50), bytes);
    MPI_Aint at = 0;
    MPI_Get_address(memory.get(), &at);
    MUST(MPI_Win_attach(window, memory.get(), bytes));
    OwnWindows::put_and_flush(window, self_.job.rank(), at, MPI_SUCCESS);
    expect_and_clear(memory.get());
    MUST(MPI_Win_detach(window, memory.get()));
    if (self_.random.chance(30)) MUST_FAIL(MPI_Win_detach(window, memory.get()), MPI_ERR_BASE);
    OwnWindows::put_and_flush(window, self_.job.rank(), at, MPI_SUCCESS);
    expect_and_clear(memory.get());
  }

  /// A memory handle of our own, and a window from it, which outlives it.
  void memory_handle(int region) {
    const int own = self_.job.rank();
    const MPI_Win parent = self_.job.window_of(region).first();
    const Memory memory = zeroed(self_.random.chance(50), bytes);
    Region::Name name{};
    int used = 0;
    MUST(oriel().Memhandle_create(memory.get(), bytes, MPI_INFO_NULL, parent, name.data(), &used));
    MPI_Win made = open(name, bytes, 1, own, parent, MPI_INFO_NULL);
    OwnWindows::put_and_flush(made, own, 8, MPI_SUCCESS);
    expect_and_clear(memory.get() + 8);
    MUST(oriel().Memhandle_release(name.data(), parent));
    OwnWindows::put_and_flush(made, own, 8, MPI_ERR_RMA_RANGE);
    if (self_.random.chance(30)) refused(name, own, parent);
    MUST(MPI_Win_free(&made));
    expect_nothing(memory.get() + 8);
  }

 private:
  static constexpr MPI_Aint bytes = 64;

  static MPI_Info order(bool ordered) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, ORIEL_WIN_ORDER, ordered ? "true" : "false");
    return info;
  }
  static MPI_Win open(const Region::Name& name, MPI_Aint size, int unit, int target, MPI_Win parent,
                      MPI_Info info) {
    MPI_Win made = MPI_WIN_NULL;
    MUST(oriel().Win_from_memhandle(name.data(), size, unit, info, target, parent, &made));
    MUST(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
    return made;
  }
  void view(Goal goal) {
    Region& region = self_.job.region(goal.region);
    const bool ordered = self_.random.chance(50);
    MPI_Info info = order(ordered);
    MPI_Win made = open(region.names[static_cast<std::size_t>(goal.target)], region.area.bytes(),
                        region.unit, goal.target, self_.job.window_of(goal.region).first(), info);
    MPI_Info_free(&info);
    use(goal, made, ordered);
  }
  void use(Goal goal, MPI_Win made, bool ordered) {
    Transfers transfers(self_);
    const Handle by{made, ordered, --last_number_};
    for (int i = 1 + self_.random.below(4); i > 0; --i) transfers.any(goal, by);
    if (passive(self_.epoch(goal)) && self_.random.chance(50)) self_.flush(goal);
    MUST(MPI_Win_free(&made));
  }
  /// What has been released is neither opened nor released again.
  static void refused(Region::Name& name, int own, MPI_Win parent) {
    MPI_Win made = MPI_WIN_NULL;
    MUST_FAIL(oriel().Memhandle_release(name.data(), parent), MPI_ERR_ARG);
    MUST_FAIL(oriel().Win_from_memhandle(name.data(), bytes, 1, MPI_INFO_NULL, own, parent, &made),
              MPI_ERR_ARG);
  }
  static void expect_and_clear(std::byte* memory) {
    std::int64_t found = 0;
    std::memcpy(&found, memory, sizeof found);
    expect("what was put", found, OwnWindows::written);
    std::memset(memory, 0, sizeof found);
  }
  static void expect_nothing(const std::byte* memory) {
    std::int64_t found = 0;
    std::memcpy(&found, memory, sizeof found);
    expect("memory that is not exposed", found, std::int64_t{0});
  }

  Self& self_;
  long last_number_ = 0;  // below those of shared handles
};

}  // namespace stress
