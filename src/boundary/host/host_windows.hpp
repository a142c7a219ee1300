// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "boundary/host/host.hpp"
#include "boundary/host/self_comm.hpp"

namespace oriel::boundary {

/// The host's windows behind ours: they lend the handle, name, attributes and error handler. Each
/// is a dynamic window of this process alone, so that making one registers nothing and asks nobody.
/// Where the host cannot make a dynamic window (Open MPI 4.1 without a network), an allocated one
/// of 0 bytes takes its place. One call at a time: hosts crash when two threads make or free
/// windows, and calls that were collective over several processes could not wait for each other.
///
/// Those on which the program has left nothing are kept for the next handles, because the host's
/// time for them is most of what a duplicate costs. One that has been given an error handler lends
/// itself only to handles that are given one: no call takes it back to none, which on MPICH is
/// something else than MPI_ERRORS_ARE_FATAL: errors go to the handler of a communicator.
class HostWindows {
 public:
  /// As the host makes them; or with `handler`, where that is not null.
  bool make(const SelfComm& self, MPI_Errhandler handler, MPI_Win* handle);
  /// Runs the delete callbacks of attributes that are left, which may free windows themselves.
  int free(MPI_Win* handle);
  /// Takes back one that has neither attributes nor a name of the program's. `handled`: it has been
  /// given an error handler. Nothing of ours may go by this handle any more.
  void keep(MPI_Win handle, bool handled);
  /// Whether it is kept: the program has freed it.
  bool keeps(MPI_Win handle);
  /// The program has no window: the host gets back nearly all that is kept, for its communicators
  /// and windows to come.
  void keep_few();
  /// The host gets back all, before it ends.
  void empty();
  /// Once the host has ended, and in the child of a fork, which has none. Without the lock, which a
  /// thread of the parent may have held.
  void forget() { kept_.clear(); }

 private:
  struct Kept {
    MPI_Win handle;
    bool handled;
  };
  static bool make_empty(const SelfComm& self, MPI_Win* handle);
  bool take(bool handled, MPI_Win* handle);
  void free_oldest();

  /// A window never lacks what is kept, which goes before another one is made. A communicator
  /// might: MPICH makes both of 2,048 context ids. So many are less than a hundredth, and but for
  /// two they are kept only while the program has windows.
  static constexpr std::size_t most_kept = 16;
  /// For a program that makes a window, and another one from its memory handle, again and again.
  static constexpr std::size_t few = 2;

  std::recursive_mutex alone_;
  std::vector<Kept> kept_;  // the latest last
};

}  // namespace oriel::boundary
