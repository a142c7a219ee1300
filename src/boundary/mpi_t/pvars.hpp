// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "boundary/runtime/runtime.hpp"
#include "engine/record/event_counts.hpp"

namespace oriel::boundary {

/// The objects from which performance variables are read. With the process lock.
struct PvarSource {
  Running& running;
  const EventCounts::Counts& counts;
  Window* window;  // that the handle is bound to; null: none
};

/// A performance variable of Oriel's.
struct Pvar {
  std::string name;
  std::string description;
  int variable_class;
  int binding;
  /// The count since the engine was made (a timer: nanoseconds), or the present level.
  std::function<std::uint64_t(const PvarSource&)> read;

  /// A level is a state of the process: it can be neither started and stopped nor written.
  bool level() const { return variable_class == MPI_T_PVAR_CLASS_LEVEL; }
  bool timer() const { return variable_class == MPI_T_PVAR_CLASS_TIMER; }
  MPI_Datatype datatype() const { return timer() ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG; }
};

/// Oriel's performance variables, in the order of their indices.
std::span<const Pvar> pvars();

}  // namespace oriel::boundary
