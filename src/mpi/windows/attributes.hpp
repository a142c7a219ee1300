// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

/// The value of an attribute. C receives `address`. For a predefined attribute, that is the address
/// of the value, except for MPI_WIN_BASE, which is the base. For an attribute of the program, it is
/// the value that C has set, or the address of the value that Fortran has set. Fortran receives
/// `value` (MPI-4.1 sections 12.2.6 and 19.3.7).
struct AttributeValue {
  void* address = nullptr;
  MPI_Aint value = 0;
};

/// The result of looking up an attribute. The host looks up attributes of its own windows, except
/// those of notification counters, which its windows do not have.
struct FoundAttribute {
  bool answered = true;  // false: the host must look it up
  Failure failure;
  std::optional<AttributeValue> value;  // empty: it is not set
};
FoundAttribute find_attribute(MPI_Win handle, int keyval);

/// MPI_Win_get_attr, for C and Fortran: sets `flag`, and calls give(value) if the attribute is set.
/// Called without the process lock, as set_attribute() and delete_attributes() are.
template <typename Give, typename Host>
int get_attribute(MPI_Win handle, int keyval, const void* output, int* flag, Give&& give,
                  Host&& host) {
  constexpr const char* call = "MPI_Win_get_attr";
  const FoundAttribute found = find_attribute(handle, keyval);
  if (!found.answered) return pass_to_host(call, handle, host);
  if (const Failure bad = check_outputs(output, flag)) return raise(handle, call, bad);
  if (found.failure) return raise(handle, call, found.failure);
  // 1 is .true. in the Fortran of every compiler: some test the lowest bit, others all bits.
  *flag = found.value.has_value() ? 1 : 0;
  if (found.value) give(*found.value);
  return MPI_SUCCESS;
}

/// MPI_Win_set_attr on a window of Oriel's: deletes the previous value by its delete callback.
int set_own_attribute(MPI_Win handle, const Attribute& attribute);
template <typename Host>
int set_attribute(MPI_Win handle, const Attribute& attribute, Host&& host) {
  if (!names_window(handle)) return pass_to_host("MPI_Win_set_attr", handle, host);
  return set_own_attribute(handle, attribute);
}
/// MPI_Win_delete_attr on a window of Oriel's.
int delete_own_attribute(MPI_Win handle, int keyval);

/// Deletes all attributes of a handle, the last set first. Stops at the first delete callback that
/// fails, and raises its error. Without the process lock: a callback may wait for another thread
/// that makes a window.
int delete_attributes(MPI_Win handle);

}  // namespace oriel::mpi
