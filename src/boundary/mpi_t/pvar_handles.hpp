// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "boundary/mpi_t/pvars.hpp"
#include "engine/record/event_counts.hpp"

namespace oriel::boundary {

/// A handle of a performance variable of Oriel's, in one session. That of a counter has a value of
/// its own: what has been counted while the handle was started.
struct PvarHandle {
  const Pvar* pvar;
  MPI_T_pvar_session session;
  // The window that the handle is bound to, by its MPI_Win, which a later window may get, and by
  // this process's number of it, which is 0 once the engine of the window has ended.
  MPI_Win win = MPI_WIN_NULL;
  std::uint32_t window = 0;
  bool started = false;
  std::uint64_t value = 0;  // until the last start
  std::uint64_t base = 0;   // of the variable at the last start
};

/// The handles of Oriel's performance variables, and the sessions that they belong to. With the
/// process lock. Functions that return int return a code of MPI_T.
class PvarHandles {
 public:
  void begin_session(MPI_T_pvar_session session) { sessions_.insert(session); }
  void end_session(MPI_T_pvar_session session);
  /// MPI_T ends.
  void clear();

  /// `object`: address of the handle of the MPI object that the variable is bound to.
  int allocate(MPI_T_pvar_session session, const Pvar& pvar, const void* object,
               MPI_T_pvar_handle* handle);
  void free(MPI_T_pvar_handle handle) { handles_.erase(handle); }
  /// Null: it is the host's.
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

  /// An engine has been made: variables are read from it, and count from 0 again.
  void engine_begins(EventCounts& counts);
  /// The engine is about to stop. Handles keep what they have counted.
  void engine_ends();

 private:
  void listen();
  std::uint64_t read_variable(const Pvar& pvar, Window* window = nullptr) const;
  std::uint64_t counted(const PvarHandle& handle) const;
  void set(PvarHandle& handle, std::uint64_t value);

  std::unordered_set<MPI_T_pvar_session> sessions_;
  std::unordered_map<MPI_T_pvar_handle, std::unique_ptr<PvarHandle>> handles_;  // by their address
  bool wanted_ = false;            // a handle has been started
  EventCounts* counts_ = nullptr;  // of the engine, while there is one
};

extern PvarHandles pvar_handles;

}  // namespace oriel::boundary
