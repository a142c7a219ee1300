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
#include <utility>
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

using Kind = RecordEntry::Kind;

constexpr Kind kind_of(EpochStep step) {
  switch (step) {
    case EpochStep::opened:
      return Kind::epoch_opened;
    case EpochStep::deferred:
      return Kind::epoch_deferred;
    case EpochStep::activated:
      return Kind::epoch_activated;
    case EpochStep::closed:
      return Kind::epoch_closed;
    case EpochStep::completed:
      return Kind::epoch_completed;
    case EpochStep::renewing:
      return Kind::epoch_renewing;
    case EpochStep::renewed:
      return Kind::epoch_renewed;
  }
  return Kind::end;
}

/// Equal on all ranks, because they make the same calls. A fence epoch has the number of the call
/// that closes or renews it, or else of the call that opened it.
std::uint64_t number_of(const Epoch& epoch) {
  if (epoch.kind != EpochKind::fence) return epoch.opened_at;
  return epoch.closing_call != 0 ? epoch.closing_call : epoch.call;
}

bool has_operations(const Target& target) {
  return target.issued != 0 || target.used.load();
}

bool has_operations(const Epoch& epoch) {
  for (const Target& target : epoch) {
    if (has_operations(target)) return true;
  }
  return false;
}

/// Events of the general path have no time; they are recorded when they are reported.
OperationEvent event_of(const Operation& operation, Protocol protocol) {
  return {operation.kind,       operation.target, operation.bytes(), protocol,
          operation.notify_arg, operation.number, engine.clock.now()};
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
  counted_.clear();
  last_window_ = 0;
  waiting_ = 0;
  table_folder_.clear();
  first_ = false;
}

void Recorder::add(const EventSource& source, RecordEntry entry) {
  entry.time = shared_time_ != 0 ? shared_time_ : engine.clock.now();
  entry.window = source.window;
  file_.add(entry);
}

void Recorder::add(const EventSource& source, Kind kind, const Epoch& epoch, int rank,
                   std::uint16_t flags, std::uint64_t id) {
  RecordEntry entry;
  entry.kind = kind;
  entry.number = number_of(epoch);
  entry.rank = rank;
  entry.site = static_cast<std::uint32_t>(id);
  entry.detail = static_cast<std::uint8_t>(epoch.kind);
  entry.flags = flags;
  if (epoch.exclusive) entry.flags |= exclusive;
  add(source, entry);
}

void Recorder::epoch(const EventSource& source, EpochStep step, const Epoch& epoch) {
  // In calls of the program only: other steps may run on the agent, which must not call the host.
  if (step == EpochStep::opened || step == EpochStep::renewing) describe_window(source.window);
  const bool one = epoch.targets != nullptr && epoch.targets->next == nullptr;
  const bool ends = step == EpochStep::closed || step == EpochStep::renewing;
  add(source, kind_of(step), epoch, one ? epoch.targets->rank : -1,
      ends && has_operations(epoch) ? used : 0);
}

void Recorder::told(const EventSource& source, const Epoch& epoch, const Target& target) {
  add(source, Kind::told, epoch, target.rank, has_operations(target) ? used : 0, target.id);
}

void Recorder::granted(const EventSource& source, const Epoch& epoch, const Target& target) {
  add(source, Kind::granted, epoch, target.rank, 0, target.id);
}

/// Records several steps of one call, between which no other step happens, with one time: reading
/// the clock takes longer than writing an entry.
template <typename Record>
void Recorder::at_one_time(Record&& record) {
  shared_time_ = engine.clock.now();
  record();
  shared_time_ = 0;
}

void Recorder::free_lock_acquired(const EventSource& source, const Epoch& epoch) {
  at_one_time([&] { expand_acquisition(source, epoch); });
}

void Recorder::free_lock_released(const EventSource& source, const Epoch& epoch) {
  at_one_time([&] { expand_release(source, epoch); });
}

void Recorder::issued(const EventSource& source, const Operation& operation, Protocol protocol) {
  if (!operations_) return;
  add(source, Kind::operation_issued, event_of(operation, protocol));
}

void Recorder::done(const EventSource& source, const RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  const bool question = operation.kind == OperationKind::acknowledge;
  if (question || operation.completion != nullptr) {
    RecordEntry entry;
    entry.kind = Kind::answered;
    entry.rank = operation.target;
    entry.detail = static_cast<std::uint8_t>(operation.kind);
    add(source, entry);
  }
  // A question is not an operation of the program.
  if (!operations_ || question) return;
  add(source, Kind::operation_done, event_of(operation, recorded.protocol));
}

void Recorder::carried_out(const EventSource& source, const OperationEvent& operation) {
  constexpr std::uint64_t long_one = std::uint64_t{16} * 1024;  // takes a microsecond
  add(source, Kind::operation_issued, operation);
  if (operation.bytes < long_one) return;
  OperationEvent ended = operation;
  ended.time = engine.clock.now();
  add(source, Kind::operation_done, ended);
}

void Recorder::matched(const EventSource& source, const Notification& notification) {
  add(source, Kind::notification_matched, engine.clock.now(), notification.source,
      {NotifyKind::tag, notification.tag, notification.bytes});
}

/// Programs poll counters: only a changed value is recorded.
void Recorder::counted(const EventSource& source, std::int32_t counter, std::uint64_t value,
                       std::uint64_t after) {
  if (!operations_) return;
  const auto index = static_cast<std::uint32_t>(counter);
  const std::uint64_t known =
      std::exchange(counted_[std::uint64_t{source.window} << 32 | index], after);
  if (value == known) return;
  add(source, Kind::notification_counted, engine.clock.now(), -1,
      {NotifyKind::counter, counter, value - known});
}

void Recorder::transfer_begun(const EventSource& source, const PlanTransfer& transfer) {
  add(source, Kind::transfer_begun, transfer);
}

void Recorder::transfer_ended(const EventSource& source, const PlanTransfer& transfer) {
  add(source, Kind::transfer_ended, transfer);
}

void Recorder::add(const EventSource& source, Kind kind, const PlanTransfer& transfer) {
  if (!operations_) return;
  RecordEntry entry;
  entry.number = transfer.bytes;
  entry.rank = transfer.rank;
  entry.site = static_cast<std::uint32_t>(transfer.collective);
  entry.kind = kind;
  entry.detail = transfer.sent ? 0 : 1;
  entry.flags = static_cast<std::uint16_t>(transfer.step);
  add(source, entry);
}

void Recorder::agent_swept(std::uint64_t begun) {
  if (!operations_) return;
  file_.add({.time = begun, .number = engine.clock.now() - begun, .kind = Kind::agent_swept});
}

void Recorder::served(const EventSource& source, int origin) {
  RecordEntry entry;
  entry.kind = Kind::served;
  entry.rank = origin;
  entry.detail = static_cast<std::uint8_t>(served_in());
  add(source, entry);
}

ServedIn Recorder::served_in() const {
  if (engine.agent.sweeping()) return ServedIn::agent;
  return waiting_ != 0 ? ServedIn::wait : ServedIn::call;
}

void Recorder::queue_full(const EventSource& source, int target) {
  add(source, Kind::queue_full, target);
}

void Recorder::queue_freed(const EventSource& source, int target) {
  add(source, Kind::queue_freed, target);
}

void Recorder::add(const EventSource& source, Kind kind, int rank) {
  RecordEntry entry;
  entry.kind = kind;
  entry.rank = rank;
  add(source, entry);
}

void Recorder::use_begun(const EventSource& source, const CollectiveUse& use) {
  describe_window(source.window);
  add(source, Kind::use_begun, use);
}

void Recorder::use_over(const EventSource& source, const CollectiveUse& use) {
  add(source, Kind::use_over, use);
}

void Recorder::add(const EventSource& source, Kind kind, const CollectiveUse& use) {
  RecordEntry entry;
  entry.kind = kind;
  entry.number = use.collective;
  entry.site = static_cast<std::uint32_t>(use.use);
  add(source, entry);
}

/// An operation, and the notification that it requests.
void Recorder::add(const EventSource& source, Kind kind, const OperationEvent& operation) {
  file_.add({.time = operation.time,
             .number = operation.bytes,
             .window = source.window,
             .rank = operation.target,
             .site = operation.number,
             .kind = kind,
             .detail = static_cast<std::uint8_t>(operation.kind),
             .flags = static_cast<std::uint16_t>(operation.protocol)});
  if (kind == Kind::operation_issued && operation.notify_arg.wanted()) {
    add(source, Kind::notification_sent, operation.time, operation.target, operation.notify_arg);
  }
}

void Recorder::add(const EventSource& source, Kind kind, std::uint64_t time, int rank,
                   const NotifyArg& notify_arg) {
  file_.add({.time = time,
             .number = notify_arg.bytes,
             .window = source.window,
             .rank = rank,
             .site = static_cast<std::uint32_t>(notify_arg.number),
             .kind = kind,
             .detail = static_cast<std::uint8_t>(notify_arg.kind)});
}

void Recorder::add(const EventSource& source, Kind kind, const Wait& wait, std::uint32_t site) {
  RecordEntry entry;
  entry.kind = kind;
  entry.number = wait.number;
  entry.rank = wait.rank;
  entry.detail = static_cast<std::uint8_t>(wait.reason);
  entry.site = site;
  add(source, entry);
}

void Recorder::wait_begun(const EventSource& source, Wait& wait) {
  describe_window(source.window);
  wait.number = ++waits_;
  ++waiting_;
  add(source, Kind::wait_begun, wait, site());
}

void Recorder::wait_lasts(const EventSource& source, const Wait& wait) {
  add(source, Kind::wait_lasts, wait);
}

void Recorder::wait_ended(const EventSource& source, const Wait& wait) {
  --waiting_;
  add(source, Kind::wait_ended, wait);
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
