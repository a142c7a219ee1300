// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "engine/record/event_counts.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

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

/// A handle of a performance variable of Oriel's, in one session. The handle of a counter has a
/// value of its own: the count while the handle was started.
struct PvarHandle {
  const Pvar* pvar;
  MPI_T_pvar_session session;
  // The window that the handle is bound to: its MPI_Win, which a later window may get as well, and
  // this process's number of the window, which is 0 when the window's engine has ended.
  MPI_Win win = MPI_WIN_NULL;
  std::uint32_t window = 0;
  bool started = false;
  std::uint64_t value = 0;  // the count before the last start
  std::uint64_t base = 0;   // value of the variable at the last start
};

/// The handles of Oriel's performance variables, and the sessions that they belong to. With the
/// process lock. Functions that return int return a code of MPI_T.
class PvarHandles {
 public:
  void begin_session(MPI_T_pvar_session session) { sessions_.insert(session); }
  void end_session(MPI_T_pvar_session session);
  /// Called when MPI_T ends.
  void clear();

  /// `object`: the address of the handle of the MPI object that the variable is bound to.
  int allocate(MPI_T_pvar_session session, const Pvar& pvar, const void* object,
               MPI_T_pvar_handle* handle);
  void free(MPI_T_pvar_handle handle) { handles_.erase(handle); }
  /// Null: the handle is the host's.
  PvarHandle* find(MPI_T_pvar_handle handle);

  int start(PvarHandle& handle);
  int stop(PvarHandle& handle);
  int read(const PvarHandle& handle, void* buffer);
  int write(PvarHandle& handle, const void* buffer);
  int reset(PvarHandle& handle);
  /// Calls change(handle) for each counter of the session.
  template <typename Change>
  void for_all_counters(MPI_T_pvar_session session, Change&& change) {
    for (auto& [key, handle] : handles_) {
      if (handle->session == session && !handle->pvar->level()) change(*handle);
    }
  }

  /// Called when an engine has been made, whose variables count from 0 again.
  void engine_begins();
  /// Called before the engine stops. Handles keep their counts. Tools may read them while the
  /// engine stops, and from then on no variable reads from it.
  void engine_ends();

 private:
  /// If a handle has been started, events are counted, which cost nothing before.
  void listen();
  std::uint64_t read_variable(const Pvar& pvar, Window* window = nullptr) const;
  std::uint64_t counted(const PvarHandle& handle) const;
  void set(PvarHandle& handle, std::uint64_t value);

  std::unordered_set<MPI_T_pvar_session> sessions_;
  std::unordered_map<MPI_T_pvar_handle, std::unique_ptr<PvarHandle>> handles_;  // by their address
  bool wanted_ = false;         // a handle has been started
  bool engine_counts_ = false;  // there is an engine that has not begun to stop
};

extern PvarHandles pvar_handles;

}  // namespace oriel::mpi
