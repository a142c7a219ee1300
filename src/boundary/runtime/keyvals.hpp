// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "boundary/host/host.hpp"
#include "boundary/runtime/attribute.hpp"

namespace oriel::boundary {

/// Calls a delete callback of MPICH's C++ binding. `kind` 0: the value is an address.
using DeleteProxy = int(MPI_Win_delete_attr_function* function, int handle, int keyval, int kind,
                        void* value, void* extra_state);

/// The delete callback of a keyval, as MPI_Win_create_keyval was given it. One from Fortran has
/// Fortran's calling convention, and its extra state is the value of an integer.
struct DeleteCallback {
  MPI_Win_delete_attr_function* function = nullptr;
  void* extra_state = nullptr;
  bool fortran = false;
  DeleteProxy* proxy = nullptr;

  /// For an attribute of a window of ours. Without the process lock.
  int call(MPI_Win handle, Attribute& attribute) const;
};

/// The keyvals of windows that the program has made. The host allocates their numbers. A keyval
/// that the program frees while attributes of ours use it is freed at the host with the last of
/// these. Any thread may call, without the process lock where the host may be called.
class Keyvals {
 public:
  void note(int keyval, const DeleteCallback& callback);
  /// Changes what has been noted, if it has.
  void change(int keyval, const std::function<void(DeleteCallback&)>& how);
  /// Nothing: no keyval of windows.
  std::optional<DeleteCallback> find(int keyval);
  /// An attribute has it. False: no keyval of windows, or one that the program has freed.
  bool hold(int keyval);
  /// The attribute is gone. May call the host.
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

}  // namespace oriel::boundary
