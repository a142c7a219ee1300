// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/collectives/plan_window.hpp"
#include "mpi/collectives/receive_windows.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The state that all persistent collectives of one communicator share. It is an attribute of the
/// communicator, and is also owned by the requests, which may outlive the communicator.
class CollectiveState {
 public:
  explicit CollectiveState(MPI_Comm communicator) : communicator_(communicator) {}
  ~CollectiveState();
  CollectiveState(const CollectiveState&) = delete;
  CollectiveState& operator=(const CollectiveState&) = delete;

  /// The state of the communicator, made if there is none; null if the host permits no attribute.
  static std::shared_ptr<CollectiveState> of(MPI_Comm communicator);

  /// MPI_COMM_NULL: the communicator has been freed.
  MPI_Comm communicator() const { return communicator_; }
  ReceiveWindows& windows() { return windows_; }
  PlanWindow& plan_window() { return plans_; }

  /// A duplicate of the communicator for the host's collectives. One request at a time uses it,
  /// because ranks may start requests in different orders. All ranks have the duplicates at the
  /// same positions. They agree on an idle one among the first `seen_at_once` by bits
  /// (Offer::usable), and among the others by a collective.
  struct Duplicate {
    MPI_Comm communicator = MPI_COMM_NULL;
    bool used = false;
  };
  /// The idle ones among the first `seen_at_once`, as bits. With the process lock.
  std::uint64_t idle_duplicates() const;
  std::size_t duplicates_in_use() const {
    return static_cast<std::size_t>(std::ranges::count(duplicates_, true, &Duplicate::used));
  }
  void release_duplicate(std::size_t position) { duplicates_[position].used = false; }
  /// Takes a duplicate that is idle on all ranks, or makes one. `idle`: the first ones that are
  /// idle on all ranks, as bits. Without the process lock.
  int acquire_duplicate(std::uint64_t idle, std::size_t& position);
  MPI_Comm duplicate(std::size_t position) const { return duplicates_[position].communicator; }
  /// All ranks call this if the host may have begun a collective on the communicator itself on some
  /// ranks only. The numbers that the host gives its collectives there may then differ by rank.
  void put_out_of_step() { out_of_step_ = true; }
  bool out_of_step() const { return out_of_step_; }

  /// Notes that a request was freed before its trial had ended: the program makes requests that are
  /// not started often enough for a trial. Only rank 0 uses this.
  void record_trial_cut_short() { trial_cut_short_ = true; }
  bool trial_cut_short() const { return trial_cut_short_; }

 private:
  static constexpr std::size_t seen_at_once = 64;

  int find_further_duplicate(std::size_t& position);
  static int forget(MPI_Comm communicator, int keyval, void* value, void* extra);

  MPI_Comm communicator_;
  std::vector<Duplicate> duplicates_;
  bool out_of_step_ = false;
  bool trial_cut_short_ = false;
  ReceiveWindows windows_;
  PlanWindow plans_;
};

}  // namespace oriel::mpi
