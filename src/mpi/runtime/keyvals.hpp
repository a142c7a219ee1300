// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// An attribute that the program has set on a window of Oriel's.
struct Attribute {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Aint value = 0;  // an address, if it was set by C
  bool set_by_fortran = false;
  bool being_deleted = false;  // its delete callback runs

  /// The value as C receives it: the value that C has set, or the address of Fortran's (MPI-4.1
  /// section 19.3.7).
  void* in_c() { return set_by_fortran ? &value : reinterpret_cast<void*>(value); }
};

/// Calls a delete callback of MPICH's C++ binding. `kind` 0: the value is an address.
using DeleteProxy = int(MPI_Win_delete_attr_function* function, int handle, int keyval, int kind,
                        void* value, void* extra_state);

/// The delete callback that MPI_Win_create_keyval was given. A callback from Fortran has Fortran's
/// calling convention, and its extra state is the value of an integer.
struct DeleteCallback {
  MPI_Win_delete_attr_function* function = nullptr;
  void* extra_state = nullptr;
  bool fortran = false;
  DeleteProxy* proxy = nullptr;

  /// Calls it for an attribute of a window of Oriel's. Without the process lock.
  int call(MPI_Win handle, Attribute& attribute) const;
};

/// The keyvals of windows that the program has made. The host allocates their numbers. If the
/// program frees a keyval that attributes of Oriel's windows still use, it is freed at the host
/// with the last of these. Thread-safe. Functions that may call the host are called without the
/// process lock.
class Keyvals {
 public:
  void record(int keyval, const DeleteCallback& callback);
  /// Changes the callback of a keyval, if it is known.
  void change(int keyval, const std::function<void(DeleteCallback&)>& how);
  /// Empty: not a keyval of windows.
  std::optional<DeleteCallback> find(int keyval);
  /// Counts an attribute with this keyval. Returns false if the keyval is not one of windows, or
  /// the program has freed it.
  bool hold(int keyval);
  /// Called when an attribute has been deleted. May call the host.
  void release(int keyval);
  /// MPI_Win_free_keyval. May call the host.
  int free(int* keyval);

 private:
  struct Keyval {
    DeleteCallback callback;
    int attributes = 0;
    bool freed = false;
  };
  std::mutex alone_;
  std::unordered_map<int, Keyval> keyvals_;
};

}  // namespace oriel::mpi
