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

/// Records what a process waits for, and what of its epochs others may wait for, in two files of
/// the folder that ORIEL_REPORT names (B1): events in `rank-N.record`, and what their numbers mean
/// in `rank-N.names`. Windows and call sites are written there when they first occur.
class Recorder final : public EventSink {
 public:
  // RecordEntry::flags
  // Of an epoch that ends, or of its end at one target: it has operations.
  static constexpr std::uint16_t used = 1;
  static constexpr std::uint16_t exclusive = 2;  // of a lock epoch

  /// Records, if the setting asks for it. If the files cannot be made, a sentence on standard error
  /// says so.
  void start(Events& events);
  /// The process is about to end its MPI.
  void mark_end() { file_.mark_end(); }
  void stop();

  /// Of a process that records: the folder, if the library itself prints the table of the run, or
  /// empty. At the end of MPI rank 0 does that, at an abort the rank that calls it.
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
  /// A step that concerns a peer.
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
  bool first_ = false;  // rank 0 of MPI_COMM_WORLD
  int names_ = -1;
  bool line_is_cut_ = false;  // the last one of the names
  std::unordered_map<CallFrames, std::uint32_t, Hash> sites_;
  std::unordered_set<std::uint32_t> windows_;  // that have been described
  std::uint32_t last_window_ = 0;              // of these
  std::uint64_t waits_ = 0;
  // The value of each counter that has been recorded last, by its window and index.
  std::unordered_map<std::uint64_t, std::uint64_t> counted_;
  std::uint64_t waiting_ = 0;      // threads of ours
  std::uint64_t shared_time_ = 0;  // of several entries; 0: each has its own
};

}  // namespace oriel::boundary
