// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "core/epoch/event.hpp"
#include "core/epoch/events.hpp"
#include "core/process.hpp"
#include "engine/process/call_site.hpp"
#include "engine/record/host_time.hpp"

namespace oriel {

/// A rank in MPI_COMM_WORLD, and the number of its ranks. -1: there is no such communicator, or the
/// process has been spawned and has another one than the processes that started the job.
struct WorldRank {
  int rank = -1;
  int ranks = -1;
};

/// The beginning of a record file.
struct RecordHead {
  static constexpr std::size_t bytes = 4096;

  std::array<char, 8> magic{'o', 'r', 'i', 'e', 'l', 'r', 'e', 'c'};
  std::uint32_t version = record_version;
  std::uint32_t entry_bytes = sizeof(Event);
  std::int32_t rank = -1;  // in MPI_COMM_WORLD; -1 here and below: there is none
  std::int32_t ranks = -1;
  std::int32_t pid = 0;
  std::uint32_t padding = 0;
  std::uint64_t begun = 0;             // on the clock of Event::time
  std::uint64_t ended = 0;             // 0: the process has not ended its MPI
  std::atomic<std::uint64_t> lost{0};  // events and names without space on the disk
  std::uint64_t in_host = 0;           // HostTime, in nanoseconds; set with `ended`
  std::array<char, 64> boot{};         // boot id and clock offset; equal: one clock
  std::array<char, 64> host{};
};

/// A file of events, mapped piece by piece. The kernel writes the pages, so a stored event reaches
/// the file even if the process is killed. One writer at a time.
class RecordFile {
 public:
  // The destructor does not close the file: the child of a fork, or a process that ends without
  // ending its MPI, leaves the file as it is.
  RecordFile() = default;
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Returns false and sets `error` to a sentence on failure. An existing file is an error.
  bool open(const std::string& path, const RecordHead& head, std::string& error);
  bool is_open() const { return head_ != nullptr; }
  void add(const Event& event) {
    if (next_ == end_ && !map_next_piece()) [[unlikely]]
      return;
    *next_++ = event;
  }
  /// Sets the time at which the process has ended its MPI, and its HostTime, in the head; finish()
  /// sets both again.
  void mark_end(const HostTime& host_time);
  /// Counts an event or a name that there was no space for.
  void lose() {
    if (head_ != nullptr) head_->lost.fetch_add(1, std::memory_order_relaxed);
  }
  /// Cuts the file behind its last event. It is not written any more.
  void finish(const HostTime& host_time);
  void close();

 private:
  static constexpr std::size_t piece = std::size_t{1} << 20;  // bytes
  static constexpr std::size_t events_of_piece = piece / sizeof(Event);

  bool map_next_piece();

  int file_ = -1;
  RecordHead* head_ = nullptr;
  Event* begin_ = nullptr;  // the start of the mapped piece
  Event* next_ = nullptr;
  Event* end_ = nullptr;
  std::size_t mapped_ = RecordHead::bytes;  // the end of the mapped piece, in bytes of the file
  bool full_ = false;
};

/// Records the waits of a process, the steps of its epochs, and with ORIEL_TIMELINE its operations
/// and the other events of a timeline, in two files of the folder that ORIEL_REPORT names (B1):
/// events in `rank-N.record`, and the meaning of their numbers in `rank-N.names`. Windows and call
/// sites are written there when they first occur.
class Recorder final : public EventSink {
 public:
  HostTime host_time;

  /// Records the process's events in the folder. If the files cannot be made, reports that on
  /// standard error.
  void start(Process& process, const std::string& folder, const WorldRank& own);
  bool records() const { return file_.is_open(); }
  /// Called when a window has been made. `world_ranks`: its ranks in MPI_COMM_WORLD, in the
  /// window's order. Empty: there is no such communicator, or some of the ranks are not in it.
  void add_window(std::uint32_t number, std::span<const int> world_ranks);
  /// Called when the process is about to end its MPI.
  void mark_end() { file_.mark_end(host_time); }
  void stop();
  /// Called in the child of a fork, whose parent goes on with the files. Another thread of the
  /// parent may have been changing the tables of names, so these are not touched.
  void disown();

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

  int engines_ = 0;  // starts of the engine in this process, for the names of later files
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
