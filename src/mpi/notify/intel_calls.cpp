// SPDX-License-Identifier: BSD-3-Clause
// Intel MPI's calls on notification counters, in both of its spellings (N8). For windows that are
// not Oriel's, the host's call is used, if the host has it.
#include <oriel/intel_profiling.h>

#include <string>
#include <type_traits>
#include <utility>

#include "mpi/calls/parameters.hpp"
#include "mpi/host/host_library.hpp"
#include "mpi/notify/notify_access.hpp"
#include "mpi/notify/window_counters.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// Calls the host's function of that name. If there is none, raises an error.
template <typename Function, typename... Arguments>
int host_or_unsupported(const char* call, MPI_Win win, Arguments... arguments) {
  if (void* found = find_host_symbol(("P" + std::string(call)).c_str())) {
    return reinterpret_cast<Function*>(found)(arguments...);
  }
  return no_counters(call, win);
}

/// A call of type Function with these arguments: ours(window), or the host's function.
template <typename Function, typename Ours, typename... Arguments>
int intel_call(const char* call, MPI_Win win, Ours&& ours, Arguments... arguments) {
  return dispatch_call(call, win, ours,
                       [&] { return host_or_unsupported<Function>(call, win, arguments...); });
}

auto setting(int number, MPI_Info info = MPI_INFO_NULL) {
  return [=](WindowHandle& window) { return set_number(window, number, info); };
}
auto getting(int index, MPI_Count* value) {
  return [=](WindowHandle& window) { return get_value(window, index, value); };
}
auto giving(int index, MPI_Count value) {
  return [=](WindowHandle& window) { return set_value(window, index, value); };
}

/// In the guides of 2021.13 and 2021.14 the window precedes the index. If handles are integers,
/// programs that follow these guides have the same binary interface: swap the arguments. The handle
/// of a window, negative in the MPICH ABI, is no valid index.
template <typename Handle>
void sort_arguments(int& index, Handle& win) {
  if constexpr (std::is_integral_v<Handle>) {
    const Guard guard(engine.lock);
    if (index < 0 && runtime.windows.find(handle_key(static_cast<Handle>(index))) != nullptr) {
      std::swap(index, win);
    }
  }
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

/// Defines an operation under one name.
#define ORIEL_INTEL_OPERATION(prefix, Name, name, NAME, Count, suffix)                             \
  ORIEL_DEFINE_BOTH(prefix##_##Name##_notify##suffix, P##prefix##_##Name##_notify##suffix)         \
  (ORIEL_##NAME##_ARGS(Count), int index, MPI_Win win) {                                           \
    constexpr const char* call = #prefix "_" #Name "_notify" #suffix;                              \
    sort_arguments(index, win);                                                                    \
    return dispatch_notified(call, win, counted(name##_access(ORIEL_##NAME##_NAMES), index), [&] { \
      return host_or_unsupported<decltype(prefix##_##Name##_notify##suffix)>(                      \
          call, win, ORIEL_##NAME##_NAMES, index, win);                                            \
    });                                                                                            \
  }

#define ORIEL_INTEL_OPERATIONS(prefix)                        \
  ORIEL_INTEL_OPERATION(prefix, Put, put, PUT, int, )         \
  ORIEL_INTEL_OPERATION(prefix, Put, put, PUT, MPI_Count, _c) \
  ORIEL_INTEL_OPERATION(prefix, Get, get, GET, int, )         \
  ORIEL_INTEL_OPERATION(prefix, Get, get, GET, MPI_Count, _c)

ORIEL_INTEL_OPERATIONS(MPIX)
ORIEL_INTEL_OPERATIONS(MPI)

/// Defines a call on counters. `...`: the names of its parameters behind the window.
#define ORIEL_INTEL_CALL(name, parameters, ours, ...)                                    \
  ORIEL_DEFINE_BOTH(name, P##name) parameters {                                          \
    return intel_call<decltype(name)>(#name, win, ours, win __VA_OPT__(, ) __VA_ARGS__); \
  }

ORIEL_INTEL_CALL(MPIX_Win_create_notify, (MPI_Win win, int number), setting(number), number)
ORIEL_INTEL_CALL(MPI_Win_notify_attach, (MPI_Win win, int number, MPI_Info info),
                 setting(number, info), number, info)
ORIEL_INTEL_CALL(MPI_Win_notify_set_num, (MPI_Win win, MPI_Info info, int number),
                 setting(number, info), info, number)
ORIEL_INTEL_CALL(MPIX_Win_free_notify, (MPI_Win win), setting(0))
ORIEL_INTEL_CALL(MPI_Win_notify_detach, (MPI_Win win), setting(0))
ORIEL_INTEL_CALL(MPIX_Win_get_notify, (MPI_Win win, int index, MPI_Count* value),
                 getting(index, value), index, value)
ORIEL_INTEL_CALL(MPI_Win_notify_get_value, (MPI_Win win, int index, MPI_Count* value),
                 getting(index, value), index, value)
ORIEL_INTEL_CALL(MPIX_Win_set_notify, (MPI_Win win, int index, MPI_Count value),
                 giving(index, value), index, value)
ORIEL_INTEL_CALL(MPI_Win_notify_set_value, (MPI_Win win, int index, MPI_Count value),
                 giving(index, value), index, value)

ORIEL_DEFINE_BOTH(MPIX_Win_get_notify_request, PMPIX_Win_get_notify_request)
(MPI_Win win, int index, MPI_Count threshold, MPI_Request* request) {
  constexpr const char* call = "MPIX_Win_get_notify_request";
  return request_value(call, win, index, threshold, request, [&] {
    return host_or_unsupported<decltype(MPIX_Win_get_notify_request)>(call, win, win, index,
                                                                      threshold, request);
  });
}
