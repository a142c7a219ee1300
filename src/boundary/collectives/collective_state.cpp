// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/collective_state.hpp"

#include <algorithm>
#include <mutex>

#include "boundary/progress/setup_collectives.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
namespace {

// Threads may make their first collectives at the same time, on communicators of their own.
std::mutex alone;
int keyval = MPI_KEYVAL_INVALID;

}  // namespace

std::shared_ptr<CollectiveState> CollectiveState::of(MPI_Comm communicator) {
  const std::lock_guard guard(alone);
  void* value = nullptr;
  int found = 0;
  if (keyval == MPI_KEYVAL_INVALID &&
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &CollectiveState::forget, &keyval, nullptr) !=
          MPI_SUCCESS) {
    return nullptr;
  }
  if (PMPI_Comm_get_attr(communicator, keyval, &value, &found) == MPI_SUCCESS && found != 0) {
    return *static_cast<std::shared_ptr<CollectiveState>*>(value);
  }
  auto hung = std::make_unique<std::shared_ptr<CollectiveState>>(
      std::make_shared<CollectiveState>(communicator));
  if (PMPI_Comm_set_attr(communicator, keyval, hung.get()) != MPI_SUCCESS) return nullptr;
  return *hung.release();
}

CollectiveState::~CollectiveState() {
  int ended = 0;
  if (!duplicates_.empty()) PMPI_Finalized(&ended);
  for (Duplicate& one : duplicates_) {
    if (ended == 0) PMPI_Comm_free(&one.communicator);
  }
}

std::uint64_t CollectiveState::idle_duplicates() const {
  constexpr std::size_t most = 64;
  std::uint64_t idle = 0;
  for (std::size_t at = 0; at < std::min(most, duplicates_.size()); ++at) {
    if (!duplicates_[at].used) idle |= std::uint64_t{1} << at;
  }
  return idle;
}

int CollectiveState::take_duplicate(std::uint64_t idle, std::size_t& place) {
  if (idle == 0) {
    MPI_Comm made = MPI_COMM_NULL;
    if (const int code = setup::duplicate(communicator_, &made); code != MPI_SUCCESS) return code;
    const Guard guard(runtime.lock);
    place = duplicates_.size();
    duplicates_.push_back({made, true});
    return MPI_SUCCESS;
  }
  const Guard guard(runtime.lock);
  place = static_cast<std::size_t>(__builtin_ctzll(idle));
  duplicates_[place].used = true;
  return MPI_SUCCESS;
}

int CollectiveState::forget(MPI_Comm communicator, int, void* value, void*) {
  const std::unique_ptr<std::shared_ptr<CollectiveState>> hung(
      static_cast<std::shared_ptr<CollectiveState>*>(value));
  const Guard guard(runtime.lock);
  CollectiveState& state = **hung;
  state.communicator_ = MPI_COMM_NULL;
  // Those that MPI has made go when it ends, and all windows with them.
  if (communicator != MPI_COMM_WORLD && communicator != MPI_COMM_SELF) {
    state.windows_.leave_unused();
    state.plans_.orphan();
  }
  return MPI_SUCCESS;
}

}  // namespace oriel::boundary
