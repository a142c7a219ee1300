// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace oriel {

/// One event of a record. python/oriel/wait_states/record.py reads it.
struct RecordEntry {
  enum class Kind : std::uint8_t {
    end,  // the end of the record: entries that have not been written are zero
    epoch_opened,
    epoch_deferred,
    epoch_activated,
    epoch_closed,
    epoch_completed,
    epoch_renewing,
    epoch_renewed,
    granted,
    told,
    wait_begun,
    wait_lasts,
    wait_ended,
    // With ORIEL_TIMELINE:
    operation_issued,
    operation_done,  // reported if the operation completes later than its call, or took long
    notification_sent,
    notification_matched,
    notification_counted,  // a counter was read and has grown since the last entry
    transfer_begun,        // a send of a persistent collective begins
    transfer_ended,        // a send or a receive ends
    agent_swept,
    // In every record:
    served,      // messages of a remote origin were carried out
    queue_full,  // the notification queue of the target is full
    queue_freed,
    use_begun,  // a use of a persistent collective begins
    use_over,
    answered  // an operation with its own request, or a question to a remote target
  };

  std::uint64_t time = 0;  // nanoseconds of CLOCK_MONOTONIC
  /// Fence: the number of the call. Another epoch: the number of its opening. Wait: its own number,
  /// because waits of several threads overlap. Operation, notification, transfer: bytes. Counter:
  /// its increase. Sweep of the agent: its duration in nanoseconds. Use: the number of its
  /// collective.
  std::uint64_t number = 0;
  std::uint32_t window = 0;
  std::int32_t rank = -1;  // the peer concerned; -1: several, or none
  /// Wait: the number of the call site; 0: not known. Grant, or end at one target: the number of
  /// the access or exposure, equal at both ranks. Operation: its own number, which its two events
  /// share. Notification: the tag, or the index of the counter. Transfer: the number of the
  /// collective, equal on all ranks of the window. Use: its own number.
  std::uint32_t site = 0;
  Kind kind = Kind::end;
  /// EpochKind, WaitReason, OperationKind, NotifyKind or ServedIn. Transfer: 0: sent, 1: received.
  std::uint8_t detail = 0;
  std::uint16_t flags = 0;  // see Recorder; operation: its Protocol; transfer: its step
};
static_assert(sizeof(RecordEntry) == 32 && std::is_trivially_copyable_v<RecordEntry>);

/// The place in which a rank has served an origin: a call that does not wait, one that waits, or
/// the progress agent.
enum class ServedIn : std::uint8_t { call, wait, agent };

/// The beginning of a record file.
struct RecordHead {
  static constexpr std::size_t bytes = 4096;

  std::array<char, 8> magic{'o', 'r', 'i', 'e', 'l', 'r', 'e', 'c'};
  std::uint32_t version = 3;  // raised if an entry gets another kind or meaning
  std::uint32_t entry_bytes = sizeof(RecordEntry);
  std::int32_t rank = -1;  // in MPI_COMM_WORLD; -1 here and below: there is none
  std::int32_t ranks = -1;
  std::int32_t pid = 0;
  std::uint32_t padding = 0;
  std::uint64_t begun = 0;             // on the clock of RecordEntry::time
  std::uint64_t ended = 0;             // 0: the process has not ended its MPI
  std::atomic<std::uint64_t> lost{0};  // entries and names without space on the disk
  std::array<char, 64> boot{};         // boot id and clock offset; equal: one clock
  std::array<char, 64> host{};
};

/// A file of entries, mapped piece by piece. The kernel writes the pages, so a stored entry reaches
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
  void add(const RecordEntry& entry) {
    if (next_ == end_ && !map_next_piece()) [[unlikely]]
      return;
    *next_++ = entry;
  }
  /// Sets the time at which the process has ended its MPI, in the head; close() sets it again.
  void mark_end();
  /// Counts an entry or a name that there was no space for.
  void lose() {
    if (head_ != nullptr) head_->lost.fetch_add(1, std::memory_order_relaxed);
  }
  void close();

 private:
  static constexpr std::size_t piece = std::size_t{1} << 20;  // bytes
  static constexpr std::size_t entries_of_piece = piece / sizeof(RecordEntry);

  bool map_next_piece();

  int file_ = -1;
  RecordHead* head_ = nullptr;
  RecordEntry* begin_ = nullptr;  // the start of the mapped piece
  RecordEntry* next_ = nullptr;
  RecordEntry* end_ = nullptr;
  std::size_t mapped_ = RecordHead::bytes;  // the end of the mapped piece, in bytes of the file
  bool full_ = false;
};

}  // namespace oriel
