// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/record_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "transport/shm/clock.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

/// Writing zeros at once costs half as much as the page faults of the first stores to each page.
bool write_zeros(int file, std::size_t first, std::size_t bytes) {
  static constexpr std::array<char, std::size_t{64} << 10> zeros{};
  for (std::size_t written = 0; written < bytes;) {
    const std::size_t length = std::min(zeros.size(), bytes - written);
    const ssize_t now = ::pwrite(file, zeros.data(), length, static_cast<off_t>(first + written));
    if (now < 0 && errno != EINTR) return false;
    if (now > 0) written += static_cast<std::size_t>(now);
  }
  return true;
}

/// Maps `bytes` of the file, which are allocated on the disk first: a store to a page without space
/// on the disk would end the program by a signal. Null: failure, and errno has the reason.
void* map(int file, std::size_t first, std::size_t bytes) {
  if (!within_file_limit(first + bytes)) {
    errno = EFBIG;
    return nullptr;
  }
  const auto begin = static_cast<off_t>(first);
  do {
    errno = ::posix_fallocate(file, begin, static_cast<off_t>(bytes));
  } while (errno == EINTR);
  if (errno != 0 || !write_zeros(file, first, bytes)) return nullptr;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, begin);
  return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

bool RecordFile::open(const std::string& path, const RecordHead& head, std::string& error) {
  file_ = own_descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  void* memory = file_ >= 0 ? map(file_, 0, RecordHead::bytes) : nullptr;
  if (memory == nullptr) {
    error =
        "The file " + path + " cannot be made (" + std::strerror(errno) + "): nothing is recorded.";
    if (file_ >= 0) ::unlink(path.c_str());
    close();
    return false;
  }
  head_ = new (memory) RecordHead;
  head_->rank = head.rank;
  head_->ranks = head.ranks;
  head_->pid = head.pid;
  head_->begun = head.begun;
  head_->boot = head.boot;
  head_->host = head.host;
  return true;
}

bool RecordFile::map_next_piece() {
  if (head_ == nullptr) return false;
  if (begin_ != nullptr) ::munmap(begin_, piece);
  begin_ = next_ = end_ = nullptr;
  void* memory = full_ ? nullptr : map(file_, mapped_, piece);
  if (memory == nullptr) {
    full_ = true;  // events after a gap would look like a complete record
    lose();
    return false;
  }
  mapped_ += piece;
  begin_ = next_ = static_cast<Event*>(memory);
  end_ = begin_ + events_of_piece;
  return true;
}

void RecordFile::mark_end() {
  if (head_ != nullptr) head_->ended = nanoseconds_now();
}

void RecordFile::close() {
  mark_end();
  if (head_ != nullptr) ::munmap(head_, RecordHead::bytes);
  const std::size_t unused = static_cast<std::size_t>(end_ - next_) * sizeof(Event);
  if (begin_ != nullptr) ::munmap(begin_, piece);
  if (file_ >= 0) {
    [[maybe_unused]] const int cut = ::ftruncate(file_, static_cast<off_t>(mapped_ - unused));
    ::close(file_);
  }
  file_ = -1;
  head_ = nullptr;
  begin_ = next_ = end_ = nullptr;
  mapped_ = RecordHead::bytes;
  full_ = false;
}

}  // namespace oriel
