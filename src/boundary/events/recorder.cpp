// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/events/recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/base/settings.hpp"
#include "engine/process/printable.hpp"
#include "engine/record/report_folder.hpp"
#include "transport/shm/clock.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel::boundary {
namespace {

/// The handle of the window with this process's number; null: there is none, or the window is still
/// being made. With the process lock.
const WindowHandle* numbered_window(std::uint32_t number) {
  for (const auto& [window, owned] : runtime.owned_handles) {
    if (window->core->id() == number) return window;
  }
  return nullptr;
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
std::string ranges(const std::vector<int>& ranks) {
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

/// True for a spawned process: its MPI_COMM_WORLD is another one, which may record to the same
/// folder.
bool spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

/// The ranks in MPI_COMM_WORLD of the window's ranks, in the window's order. Empty: there is no
/// such communicator, or some of the ranks are not in it.
std::vector<int> world_ranks(const WindowHandle& window) {
  if (!world_exists() || spawned()) return {};
  const auto count = static_cast<std::size_t>(window.core->ranks());
  std::vector<int> own(count);
  std::vector<int> world(count, MPI_UNDEFINED);
  for (std::size_t rank = 0; rank < count; ++rank) own[rank] = static_cast<int>(rank);
  MPI_Group all = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  const int code = PMPI_Group_translate_ranks(window.state->group, static_cast<int>(count),
                                              own.data(), all, world.data());
  host_mpi().Group_free(&all);
  for (const int rank : world) {
    if (code != MPI_SUCCESS || rank == MPI_UNDEFINED) return {};
  }
  return world;
}

}  // namespace

std::size_t Recorder::Hash::operator()(const CallFrames& frames) const {
  std::size_t hash = frames.call;
  for (const std::uintptr_t caller : frames.callers) hash = hash * 0x9e3779b97f4a7c15 + caller;
  return hash;
}

void Recorder::start(Events& events) {
  const std::string folder = report_folder();
  if (folder.empty()) return;
  RecordHead head;
  if (world_exists() && !spawned()) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &head.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &head.ranks);
  }
  head.pid = ::getpid();
  head.begun = nanoseconds_now();
  read_into(head.boot, "/proc/sys/kernel/random/boot_id");
  append_clock_offset(head.boot);
  ::gethostname(head.host.data(), head.host.size() - 1);
  std::string base = folder + (head.rank >= 0 ? "/rank-" + std::to_string(head.rank)
                                              : "/process-" + std::to_string(head.pid));
  static int engines = 0;  // of this process, one after another
  if (engines++ != 0) base += "-" + std::to_string(engines);
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
  events.add(*this, operations_ ? HotPaths::operations : HotPaths::locks);
}

void Recorder::stop() {
  file_.close();
  if (names_ >= 0) ::close(names_);
  names_ = -1;
  sites_.clear();
  windows_.clear();
  last_window_ = 0;
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
    // In calls of the program only: other steps may run on the agent, which must not call the host.
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

/// A window that is still being made is described at a later event.
void Recorder::describe_window(std::uint32_t number) {
  if (number == last_window_ || number == 0) return;
  last_window_ = number;
  if (windows_.contains(number)) return;
  const WindowHandle* window = numbered_window(number);
  if (window == nullptr) {
    last_window_ = 0;
    return;
  }
  windows_.insert(number);
  // The number of the window on its rank 0 is known to all ranks, and so identifies the window.
  write_line("window\t" + std::to_string(number) + "\t" + std::to_string(window->core->rank()) +
             "\t" + std::to_string(window->core->look(0).window) + "\t" +
             ranges(world_ranks(*window)) + "\t" + printable(window->user_state.name));
}

void Recorder::write_line(const std::string& line) {
  // The previous line may be cut off, because the disk was full.
  const std::string whole = (line_is_cut_ ? "\n" : "") + line + '\n';
  const ssize_t written = ::write(names_, whole.data(), whole.size());
  line_is_cut_ = written != static_cast<ssize_t>(whole.size());
  if (line_is_cut_) file_.lose();
}

}  // namespace oriel::boundary
