// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

#include "core/base/settings.hpp"
#include "engine/process/standard_error.hpp"
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

/// True if the library prints the table at the end of the run: the setting does not name a folder.
/// A caller that names one, such as `oriel run --report`, can read the records there.
bool table_at_end() {
  return std::strcmp(setting_text("ORIEL_REPORT"), "1") == 0;
}

void read_into(std::array<char, 64>& words, const char* path) {
  const int file = own_descriptor(::open(path, O_RDONLY | O_CLOEXEC));
  if (file < 0) return;
  const ssize_t length = ::read(file, words.data(), words.size() - 1);
  words[length > 0 ? static_cast<std::size_t>(length) - 1 : 0] = '\0';  // not the newline
  ::close(file);
}

/// In a time namespace, the clock of one machine has another offset.
void append_clock_offset(std::array<char, 64>& boot) {
  std::ifstream offsets("/proc/self/timens_offsets");
  std::string clock;
  long long seconds = 0;
  long long nanoseconds = 0;
  while (offsets >> clock >> seconds >> nanoseconds) {
    if (clock != "monotonic" || (seconds == 0 && nanoseconds == 0)) continue;
    const std::size_t length = std::strlen(boot.data());
    std::snprintf(boot.data() + length, boot.size() - length, "%+lld.%lld", seconds, nanoseconds);
  }
}

/// Ranks as `oriel report` reads them: 0-3,7.
std::string ranges(std::span<const int> ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[first]);
    if (last != first) text += "-" + std::to_string(ranks[last]);
    first = last + 1;
  }
  return text;
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

void RecordFile::mark_end(const HostTime& host_time) {
  if (head_ == nullptr) return;
  head_->in_host = host_time.nanoseconds();
  head_->ended = nanoseconds_now();
}

void RecordFile::finish(const HostTime& host_time) {
  mark_end(host_time);
  const std::size_t unused = static_cast<std::size_t>(end_ - next_) * sizeof(Event);
  if (file_ >= 0) {
    [[maybe_unused]] const int cut = ::ftruncate(file_, static_cast<off_t>(mapped_ - unused));
  }
}

void RecordFile::close() {
  if (head_ != nullptr) ::munmap(head_, RecordHead::bytes);
  if (begin_ != nullptr) ::munmap(begin_, piece);
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  head_ = nullptr;
  begin_ = next_ = end_ = nullptr;
  mapped_ = RecordHead::bytes;
  full_ = false;
}

std::size_t Recorder::Hash::operator()(const CallFrames& frames) const {
  std::size_t hash = frames.call;
  for (const std::uintptr_t caller : frames.callers) hash = hash * 0x9e3779b97f4a7c15 + caller;
  return hash;
}

void Recorder::start(Process& process, const std::string& folder, const WorldRank& own) {
  RecordHead head;
  head.rank = own.rank;
  head.ranks = own.ranks;
  head.pid = ::getpid();
  head.begun = nanoseconds_now();
  read_into(head.boot, "/proc/sys/kernel/random/boot_id");
  append_clock_offset(head.boot);
  ::gethostname(head.host.data(), head.host.size() - 1);
  std::string base = folder + (head.rank >= 0 ? "/rank-" + std::to_string(head.rank)
                                              : "/process-" + std::to_string(head.pid));
  if (engines_++ != 0) base += "-" + std::to_string(engines_);
  std::string error;
  if (file_.open(base + ".record", head, error)) {
    names_ = own_descriptor(::open((base + ".names").c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  }
  if (names_ < 0) {
    if (error.empty()) error = "The file " + base + ".names cannot be made: nothing is recorded.";
    std::fprintf(stderr, "oriel: ORIEL_REPORT: %s\n", error.c_str());
    stop();
    return;
  }
  if (table_at_end()) {
    char* const absolute = ::realpath(folder.c_str(), nullptr);
    if (absolute != nullptr) table_folder_ = absolute;
    std::free(absolute);
  }
  first_ = head.rank == 0;
  operations_ = setting_bool("ORIEL_TIMELINE");
  process_ = &process;
  host_time.begin();
  process.events().add(*this, operations_ ? HotPaths::operations : HotPaths::locks);
}

void Recorder::stop() {
  file_.finish(host_time);
  disown();
  sites_.clear();
  new_windows_.clear();
}

void Recorder::disown() {
  host_time.end();
  file_.close();
  if (names_ >= 0) ::close(names_);
  names_ = -1;
  table_folder_.clear();
  first_ = false;
}

void Recorder::on(const Event& event, const EventSource&) {
  if (!operations_ && of_timeline(event.kind)) return;
  switch (event.kind) {
    case EventKind::wait_begun: {
      describe_window(event.window);
      Event begun = event;
      begun.id = site();
      file_.add(begun);
      return;
    }
    case EventKind::epoch_opened:
    case EventKind::epoch_renewing:
    case EventKind::use_begun:
      describe_window(event.window);
      break;
    default:
      break;
  }
  file_.add(event);
}

std::uint32_t Recorder::site() {
  const CallFrames frames = CallFrames::of_this_thread();
  const auto number = static_cast<std::uint32_t>(sites_.size() + 1);
  const auto [known, unseen] = sites_.try_emplace(frames, number);
  if (unseen) {
    const CallSite site(frames);
    std::string line = "site\t" + std::to_string(number) + "\t" + site.call;
    for (const CodePlace& caller : site.callers) {
      char offset[32];
      std::snprintf(offset, sizeof offset, "%" PRIx64, caller.offset);
      line += "\t" + std::string(offset) + "\t" + printable(caller.function) + "\t" +
              printable(caller.file);
    }
    write_line(line);
  }
  return known->second;
}

void Recorder::add_window(std::uint32_t number, std::span<const int> world_ranks) {
  new_windows_.emplace(number, ranges(world_ranks));
}

/// A window that is still being made is described at a later event, and the program names a window
/// before its first epoch.
void Recorder::describe_window(std::uint32_t number) {
  const auto found = new_windows_.find(number);
  const Window* window = found != new_windows_.end() ? process_->find_window(number) : nullptr;
  if (window == nullptr) return;
  // The number of the window on its rank 0 is known to all ranks, and so identifies the window.
  write_line("window\t" + std::to_string(number) + "\t" + std::to_string(window->rank()) + "\t" +
             std::to_string(window->read_member(0).window) + "\t" + found->second + "\t" +
             printable(window->name()));
  new_windows_.erase(found);
}

void Recorder::write_line(const std::string& line) {
  // The previous line may be cut off, because the disk was full.
  const std::string whole = (line_is_cut_ ? "\n" : "") + line + '\n';
  const ssize_t written = ::write(names_, whole.data(), whole.size());
  line_is_cut_ = written != static_cast<ssize_t>(whole.size());
  if (line_is_cut_) file_.lose();
}

}  // namespace oriel
