// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/communicator_mark.hpp"

#include <utility>

#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

// Not MPI_COMM_DUP_FN and MPI_COMM_NULL_DELETE_FN, which are functions of the libraries of some
// hosts.

int copy_mark(MPI_Comm, int, void*, void* value, void* copy, int* copied) {
  *static_cast<void**>(copy) = value;
  *copied = 1;
  return MPI_SUCCESS;
}

int delete_mark(MPI_Comm, int, void*, void*) {
  return MPI_SUCCESS;
}

}  // namespace

CommunicatorMark::CommunicatorMark() : next_(std::exchange(first_, this)) {}

bool CommunicatorMark::is_set(MPI_Comm communicator, std::uintptr_t value) const {
  const int key = key_.load(std::memory_order_relaxed);
  void* found_value = nullptr;
  int found = 0;
  return key != MPI_KEYVAL_INVALID &&
         host_mpi().Comm_get_attr(communicator, key, &found_value, &found) == MPI_SUCCESS &&
         found != 0 && found_value == reinterpret_cast<void*>(value);
}

void CommunicatorMark::set(MPI_Comm communicator, std::uintptr_t value) {
  if (communicator == MPI_COMM_SELF && spares_self_.load(std::memory_order_relaxed)) return;
  if (const int key = make_key(); key != MPI_KEYVAL_INVALID) {
    host_mpi().Comm_set_attr(communicator, key, reinterpret_cast<void*>(value));
  }
}

int CommunicatorMark::make_key() {
  const std::lock_guard alone(making_);
  int key = key_.load(std::memory_order_relaxed);
  if (key == MPI_KEYVAL_INVALID &&
      host_mpi().Comm_create_keyval(copy_mark, delete_mark, &key, nullptr) == MPI_SUCCESS) {
    key_.store(key, std::memory_order_relaxed);
  }
  return key;
}

void CommunicatorMark::forget_all() {
  for (CommunicatorMark* mark = first_; mark != nullptr; mark = mark->next_) {
    int key = mark->key_.exchange(MPI_KEYVAL_INVALID, std::memory_order_relaxed);
    if (key != MPI_KEYVAL_INVALID) host_mpi().Comm_free_keyval(&key);
  }
}

}  // namespace oriel::mpi
