// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "core/epoch/events.hpp"
#include "core/process.hpp"
#include "engine/process/call_site.hpp"
#include "engine/record/record_file.hpp"

namespace oriel {

/// Records the waits of a process, and the steps of its epochs that other ranks may wait for, in
/// two files of the folder that ORIEL_REPORT names (B1): events in `rank-N.record`, and the meaning
/// of their numbers in `rank-N.names`. Windows and call sites are written there when they first
/// occur.
class Recorder final : public EventSink {
 public:
  /// Records the process's events in the folder. If the files cannot be made, reports that on
  /// standard error. `rank`, `ranks`: of the process in MPI_COMM_WORLD, and of that communicator;
  /// -1: there is none, or the process has been spawned, whose MPI_COMM_WORLD is another one and
  /// may record to the same folder.
  void start(Process& process, const std::string& folder, int rank, int ranks);
  bool records() const { return file_.is_open(); }
  /// Called when a window has been made. `world_ranks`: its ranks in MPI_COMM_WORLD, in the
  /// window's order. Empty: there is no such communicator, or some of the ranks are not in it.
  void add_window(std::uint32_t number, std::span<const int> world_ranks);
  /// Called when the process is about to end its MPI.
  void mark_end() { file_.mark_end(); }
  void stop();

  /// The folder of the records, if the library itself prints the table of the run; otherwise empty.
  /// At the end of MPI rank 0 prints it; at an abort, the rank that calls MPI_Abort.
  const std::string& table_folder() const { return table_folder_; }
  bool prints_at_end() const { return first_; }

  void on(const Event& event, const EventSource& source) override;

 private:
  struct Hash {
    std::size_t operator()(const CallFrames& frames) const;
  };

  std::uint32_t site();
  void describe_window(std::uint32_t window);
  void write_line(const std::string& line);

  int engines_ = 0;  // of this process, one after another
  bool operations_ = false;
  RecordFile file_;
  std::string table_folder_;
  bool first_ = false;  // this is rank 0 of MPI_COMM_WORLD
  int names_ = -1;
  bool line_is_cut_ = false;  // the last line of the names file
  std::unordered_map<CallFrames, std::uint32_t, Hash> sites_;
  Process* process_ = nullptr;
  // The ranks of each window that is not in the names file yet, by its number.
  std::unordered_map<std::uint32_t, std::string> new_windows_;
};

}  // namespace oriel
