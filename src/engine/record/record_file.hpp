// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/epoch/event.hpp"

namespace oriel {

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
  /// Sets the time at which the process has ended its MPI, in the head; close() sets it again.
  void mark_end();
  /// Counts an event or a name that there was no space for.
  void lose() {
    if (head_ != nullptr) head_->lost.fetch_add(1, std::memory_order_relaxed);
  }
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

}  // namespace oriel
