// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/epoch/events.hpp"
#include "engine/process/call_site.hpp"
#include "engine/record/record_file.hpp"

namespace oriel::boundary {

/// Records the waits of a process, and the steps of its epochs that other ranks may wait for, in
/// two files of the folder that ORIEL_REPORT names (B1): events in `rank-N.record`, and the meaning
/// of their numbers in `rank-N.names`. Windows and call sites are written there when they first
/// occur.
class Recorder final : public EventSink {
 public:
  // RecordEntry::flags
  // The epoch that ends, or ends at one target, had operations.
  static constexpr std::uint16_t used = 1;
  static constexpr std::uint16_t exclusive = 2;  // of a lock epoch

  /// Records, if the setting asks for it. If the files cannot be made, reports that on standard
  /// error.
  void start(Events& events);
  /// Called when the process is about to end its MPI.
  void mark_end() { file_.mark_end(); }
  void stop();

  /// The folder of the records, if the library itself prints the table of the run; otherwise empty.
  /// At the end of MPI rank 0 prints it; at an abort, the rank that calls MPI_Abort.
  const std::string& table_folder() const { return table_folder_; }
  bool prints_at_end() const { return first_; }

  void epoch(const EventSource& source, EpochStep step, const Epoch& epoch) override;
  void told(const EventSource& source, const Epoch& epoch, const Target& target) override;
  void granted(const EventSource& source, const Epoch& epoch, const Target& target) override;
  void free_lock_acquired(const EventSource& source, const Epoch& epoch) override;
  void free_lock_released(const EventSource& source, const Epoch& epoch) override;
  void issued(const EventSource& source, const Operation& operation, Protocol protocol) override;
  void done(const EventSource& source, const RecordedOperation& recorded) override;
  void carried_out(const EventSource& source, const OperationEvent& operation) override;
  void matched(const EventSource& source, const Notification& notification) override;
  void counted(const EventSource& source, std::int32_t counter, std::uint64_t value,
               std::uint64_t after) override;
  void transfer_begun(const EventSource& source, const PlanTransfer& transfer) override;
  void transfer_ended(const EventSource& source, const PlanTransfer& transfer) override;
  void agent_swept(std::uint64_t begun) override;
  void served(const EventSource& source, int origin) override;
  void queue_full(const EventSource& source, int target) override;
  void queue_freed(const EventSource& source, int target) override;
  void use_begun(const EventSource& source, const CollectiveUse& use) override;
  void use_over(const EventSource& source, const CollectiveUse& use) override;
  void wait_begun(const EventSource& source, Wait& wait) override;
  void wait_lasts(const EventSource& source, const Wait& wait) override;
  void wait_ended(const EventSource& source, const Wait& wait) override;

 private:
  struct Hash {
    std::size_t operator()(const CallFrames& frames) const;
  };

  template <typename Record>
  void at_one_time(Record&& record);
  void add(const EventSource& source, RecordEntry entry);
  void add(const EventSource& source, RecordEntry::Kind kind, const OperationEvent& operation);
  void add(const EventSource& source, RecordEntry::Kind kind, std::uint64_t time, int rank,
           const NotifyArg& notify_arg);
  void add(const EventSource& source, RecordEntry::Kind kind, const PlanTransfer& transfer);
  void add(const EventSource& source, RecordEntry::Kind kind, const CollectiveUse& use);
  /// A step that concerns one peer.
  void add(const EventSource& source, RecordEntry::Kind kind, int rank);
  /// `id`: Target::id.
  void add(const EventSource& source, RecordEntry::Kind kind, const Epoch& epoch, int rank,
           std::uint16_t flags = 0, std::uint64_t id = 0);
  void add(const EventSource& source, RecordEntry::Kind kind, const Wait& wait,
           std::uint32_t site = 0);
  ServedIn served_in() const;
  std::uint32_t site();
  void describe_window(std::uint32_t window);
  void write_line(const std::string& line);

  bool operations_ = false;
  RecordFile file_;
  std::string table_folder_;
  bool first_ = false;  // this is rank 0 of MPI_COMM_WORLD
  int names_ = -1;
  bool line_is_cut_ = false;  // the last line of the names file
  std::unordered_map<CallFrames, std::uint32_t, Hash> sites_;
  std::unordered_set<std::uint32_t> windows_;  // those in the names file
  std::uint32_t last_window_ = 0;              // the last of these
  std::uint64_t waits_ = 0;
  // The last recorded value of each counter, by its window and index.
  std::unordered_map<std::uint64_t, std::uint64_t> counted_;
  std::uint64_t waiting_ = 0;      // waits in progress on threads of this process
  std::uint64_t shared_time_ = 0;  // the time of several entries; 0: each reads the clock
};

}  // namespace oriel::boundary
