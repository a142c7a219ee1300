// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <string_view>

#include "bench/lookup.hpp"

namespace notify {

/// Operations that count at the target, under Intel MPI's names: its own, or with the library
/// preloaded the library's. Looked up at run time, so that the program can be built with any MPI.
struct CounterApi {
  using Operation = int (*)(const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype,
                            int counter, MPI_Win);

  int (*create)(MPI_Win, int counters) = bench::look_up<decltype(create)>("MPIX_Win_create_notify");
  int (*free)(MPI_Win) = bench::look_up<decltype(free)>("MPIX_Win_free_notify");
  int (*value)(MPI_Win, int counter,
               MPI_Count*) = bench::look_up<decltype(value)>("MPIX_Win_get_notify");
  int (*set)(MPI_Win, int counter,
             MPI_Count) = bench::look_up<decltype(set)>("MPIX_Win_set_notify");
  Operation put = bench::look_up<Operation>("MPIX_Put_notify");
  int (*get)(void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, int counter,
             MPI_Win) = bench::look_up<decltype(get)>("MPIX_Get_notify");

  /// Other MPIs have calls of the same names with other arguments.
  bool usable() const {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    const std::string_view text(version.data(), static_cast<std::size_t>(length));
    const bool intel = text.find("Intel(R) MPI") != std::string_view::npos;
    const bool preloaded = bench::look_up<void (*)()>("ORIEL_Get_version") != nullptr;
    return (intel || preloaded) && create && free && value && set && put && get;
  }
};

}  // namespace notify
