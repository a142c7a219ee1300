// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/collective_state.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/mpi_host.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

// Threads may make their first collectives at the same time, each on its own communicator.
std::mutex alone;
int keyval = MPI_KEYVAL_INVALID;

}  // namespace

std::shared_ptr<CollectiveState> CollectiveState::of(MPI_Comm communicator) {
  const std::lock_guard guard(alone);
  void* value = nullptr;
  int found = 0;
  // Not MPI_COMM_NULL_COPY_FN, which in Open MPI is a function of its library.
  const auto copy_nothing = [](MPI_Comm, int, void*, void*, void*, int* copied) -> int {
    *copied = 0;
    return MPI_SUCCESS;
  };
  if (keyval == MPI_KEYVAL_INVALID &&
      host_mpi().Comm_create_keyval(copy_nothing, &CollectiveState::forget, &keyval, nullptr) !=
          MPI_SUCCESS) {
    return nullptr;
  }
  if (host_mpi().Comm_get_attr(communicator, keyval, &value, &found) == MPI_SUCCESS && found != 0) {
    return *static_cast<std::shared_ptr<CollectiveState>*>(value);
  }
  auto hung = std::make_unique<std::shared_ptr<CollectiveState>>(
      std::make_shared<CollectiveState>(communicator));
  if (host_mpi().Comm_set_attr(communicator, keyval, hung.get()) != MPI_SUCCESS) return nullptr;
  return *hung.release();
}

CollectiveState::~CollectiveState() {
  int ended = 0;
  if (!duplicates_.empty()) host_mpi().Finalized(&ended);
  for (Duplicate& one : duplicates_) {
    if (ended == 0) host_mpi().Comm_free(&one.communicator);
  }
}

std::uint64_t CollectiveState::idle_duplicates() const {
  std::uint64_t idle = 0;
  for (std::size_t at = 0; at < std::min(seen_at_once, duplicates_.size()); ++at) {
    if (!duplicates_[at].used) idle |= std::uint64_t{1} << at;
  }
  return idle;
}

/// `position`: a duplicate behind the first `seen_at_once` that is idle on all ranks; the number of
/// duplicates if there is none.
int CollectiveState::find_further_duplicate(std::size_t& position) {
  std::vector<std::uint64_t> idle;  // on this rank, then on all ranks
  {
    const Guard guard(engine.lock);
    position = duplicates_.size();
    for (std::size_t at = seen_at_once; at < position; ++at)
      idle.push_back(duplicates_[at].used ? 0 : 1);
  }
  if (idle.empty()) return MPI_SUCCESS;
  const int code = MpiComm(communicator_).allreduce(idle, HostOp::min);
  const auto found = std::ranges::find(idle, std::uint64_t{1});
  if (found != idle.end()) position = seen_at_once + static_cast<std::size_t>(found - idle.begin());
  return code;
}

int CollectiveState::acquire_duplicate(std::uint64_t idle, std::size_t& position) {
  MPI_Comm made = MPI_COMM_NULL;
  if (idle != 0) {
    position = static_cast<std::size_t>(std::countr_zero(idle));
  } else {
    if (const int code = find_further_duplicate(position); code != MPI_SUCCESS) return code;
    if (position == duplicates_.size()) {
      const int code = MpiComm(communicator_).duplicate(&made);
      if (code != MPI_SUCCESS) return code;
    }
  }
  const Guard guard(engine.lock);
  if (made != MPI_COMM_NULL) duplicates_.push_back({made, false});
  duplicates_[position].used = true;
  return MPI_SUCCESS;
}

int CollectiveState::forget(MPI_Comm communicator, int, void* value, void*) {
  const std::unique_ptr<std::shared_ptr<CollectiveState>> hung(
      static_cast<std::shared_ptr<CollectiveState>*>(value));
  const Guard guard(engine.lock);
  CollectiveState& state = **hung;
  state.communicator_ = MPI_COMM_NULL;
  // MPI's own communicators are freed when MPI ends, and all windows with them.
  if (communicator != MPI_COMM_WORLD && communicator != MPI_COMM_SELF) {
    state.windows_.retire_unused();
    state.plans_.orphan();
  }
  return MPI_SUCCESS;
}

}  // namespace oriel::mpi
