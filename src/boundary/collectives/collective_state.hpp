// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "boundary/collectives/plan_window.hpp"
#include "boundary/collectives/receive_windows.hpp"
#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// What the persistent collectives of one communicator have in common. Hangs on the communicator,
/// and is held by its requests, which may outlive it.
class CollectiveState {
 public:
  explicit CollectiveState(MPI_Comm communicator) : communicator_(communicator) {}
  ~CollectiveState();
  CollectiveState(const CollectiveState&) = delete;
  CollectiveState& operator=(const CollectiveState&) = delete;

  /// That of the communicator, made if there is none; null if the host lets nothing hang on it.
  static std::shared_ptr<CollectiveState> of(MPI_Comm communicator);

  /// MPI_COMM_NULL: it has been freed.
  MPI_Comm communicator() const { return communicator_; }
  ReceiveWindows& windows() { return windows_; }
  PlanWindow& plan_window() { return plans_; }

  /// Duplicates for the host's collectives, for one request at a time: ranks start requests in
  /// different orders. Like windows they are in the same places on all ranks, which agree by bits
  /// on the first ones, and by a collective on those behind.
  struct Duplicate {
    MPI_Comm communicator = MPI_COMM_NULL;
    bool used = false;
  };
  /// With the process lock.
  std::uint64_t idle_duplicates() const;
  std::size_t duplicates_in_use() const {
    return static_cast<std::size_t>(std::ranges::count(duplicates_, true, &Duplicate::used));
  }
  void give_back_duplicate(std::size_t place) { duplicates_[place].used = false; }
  /// One that is idle on all ranks, or a new one. Without the lock.
  int take_duplicate(std::uint64_t idle, std::size_t& place);
  MPI_Comm duplicate(std::size_t place) const { return duplicates_[place].communicator; }
  /// The host has begun a collective of the communicator itself on some ranks alone, as all of them
  /// know: the numbers that it gives its collectives there are not the same on all ranks any more.
  void put_out_of_step() { out_of_step_ = true; }
  bool out_of_step() const { return out_of_step_; }

  /// A request was freed before its first starts had shown what is fastest: the program makes
  /// requests that are not started often enough for that. As rank 0 alone has to know.
  void note_trial_cut_short() { trial_cut_short_ = true; }
  bool trial_cut_short() const { return trial_cut_short_; }

 private:
  static constexpr std::size_t seen_at_once = 64;

  int find_further_duplicate(std::size_t& place);
  static int forget(MPI_Comm communicator, int keyval, void* value, void* extra);

  MPI_Comm communicator_;
  std::vector<Duplicate> duplicates_;
  bool out_of_step_ = false;
  bool trial_cut_short_ = false;
  ReceiveWindows windows_;
  PlanWindow plans_;
};

}  // namespace oriel::boundary
