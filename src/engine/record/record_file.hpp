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
    end,  // of the record: memory that nothing has been written to
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
    operation_done,  // where that is later, or tells how long a long one took
    notification_sent,
    notification_matched,
    notification_counted,  // a counter has been looked at, and has more than before
    transfer_begun,        // a send of a persistent collective
    transfer_ended,        // a send or a receive
    agent_swept,
    // Of any record:
    served,      // messages of a remote origin have been carried out
    queue_full,  // the target's, for notifications
    queue_freed,
    use_begun,  // of a persistent collective
    use_over,
    answered  // an operation with a request of its own, or a question to a remote target
  };

  std::uint64_t time = 0;  // nanoseconds of CLOCK_MONOTONIC
  /// Of a fence the number of the call, of another epoch that of its opening; of a wait its own:
  /// those of several threads overlap; of an operation, a notification or a transfer its bytes; of
  /// a counter how many more it has; of a sweep of the agent's the nanoseconds that it took; of a
  /// use that of its collective.
  std::uint64_t number = 0;
  std::uint32_t window = 0;
  std::int32_t rank = -1;  // the peer concerned; -1: several, or none
  /// Of a wait the number of the call site, 0: not known; of a grant, or of the end at one target,
  /// that of the access or exposure, which is the same at both; of an operation its own, which its
  /// two events have in common; of a notification its tag, or the index of its counter; of a
  /// transfer the number of the collective, the same on all ranks of the window; of a use its own.
  std::uint32_t site = 0;
  Kind kind = Kind::end;
  /// EpochKind, WaitReason, OperationKind, NotifyKind or ServedIn; of a transfer 0: sent, 1:
  /// received.
  std::uint8_t detail = 0;
  std::uint16_t flags = 0;  // see Recorder; of an operation its Protocol; of a transfer its step
};
static_assert(sizeof(RecordEntry) == 32 && std::is_trivially_copyable_v<RecordEntry>);

/// Where a rank has served an origin: in a call that does not wait, in one that waits, or in the
/// progress agent.
enum class ServedIn : std::uint8_t { call, wait, agent };

/// The beginning of a record file.
struct RecordHead {
  static constexpr std::size_t bytes = 4096;

  std::array<char, 8> magic{'o', 'r', 'i', 'e', 'l', 'r', 'e', 'c'};
  std::uint32_t version = 2;  // the next one with another kind or meaning of an entry
  std::uint32_t entry_bytes = sizeof(RecordEntry);
  std::int32_t rank = -1;  // in MPI_COMM_WORLD, and how many it has; -1: there is none
  std::int32_t ranks = -1;
  std::int32_t pid = 0;
  std::uint32_t padding = 0;
  std::uint64_t begun = 0;             // as RecordEntry::time
  std::uint64_t ended = 0;             // 0: the process has not ended its MPI
  std::atomic<std::uint64_t> lost{0};  // entries, and names, for want of space on the disk
  std::array<char, 64> boot{};         // whose clock: the machine, since it has been started
  std::array<char, 64> host{};
};

/// A file of entries, mapped piece by piece. An entry that has been stored is in the file whatever
/// becomes of the process: the kernel writes the pages. One writer at a time.
class RecordFile {
 public:
  // Not closed where it is destroyed: the child of a fork, or a process that ends without its MPI,
  // leaves the file as it is.
  RecordFile() = default;
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// False, and `error` is a sentence, if it cannot be made. A file of that name is an error.
  bool open(const std::string& path, const RecordHead& head, std::string& error);
  bool is_open() const { return head_ != nullptr; }
  void add(const RecordEntry& entry) {
    if (next_ == end_ && !map_next_piece()) [[unlikely]]
      return;
    *next_++ = entry;
  }
  /// The head says from now on that the process has ended its MPI: now, unless close() comes later.
  void mark_end();
  /// There is no space for something that belongs to the record.
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
  RecordEntry* begin_ = nullptr;  // of the piece that is mapped
  RecordEntry* next_ = nullptr;
  RecordEntry* end_ = nullptr;
  std::size_t mapped_ = RecordHead::bytes;  // bytes of the file up to the end of that piece
  bool full_ = false;
};

}  // namespace oriel
