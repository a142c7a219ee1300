// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "core/base/settings.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

/// A question moves no bytes and has no datatype: 0.
unsigned long long bytes_of(const Operation& operation) {
  return operation.kind == OperationKind::acknowledge ? 0 : operation.bytes();
}

}  // namespace

void TraceFile::start(Events& events) {
  const char* path = setting_text("ORIEL_TRACE");
  if (*path == '\0') return;
  // A pipe could block the program, or end it by a signal.
  file_ =
      own_descriptor(::open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666));
  struct stat status{};
  if (file_ < 0 || ::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    std::fprintf(stderr,
                 "oriel: ORIEL_TRACE: The file %s cannot be opened (%s): nothing is traced.\n",
                 path, file_ < 0 ? std::strerror(errno) : "no regular file");
    stop();
    return;
  }
  events.add(*this);
}

void TraceFile::stop() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void TraceFile::write(const EventSource& source, const char* format, ...) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  std::array<char, 256> line;
  int length = std::snprintf(line.data(), line.size(), "%lld.%09ld pid=%d window=%u rank=%d ",
                             static_cast<long long>(now.tv_sec), now.tv_nsec, ::getpid(),
                             source.window, source.rank);
  std::va_list arguments;
  va_start(arguments, format);
  const auto begun = static_cast<std::size_t>(length);
  length += std::vsnprintf(line.data() + begun, line.size() - begun, format, arguments);
  va_end(arguments);
  const std::size_t end = std::min<std::size_t>(length, line.size() - 1);
  line[end] = '\n';
  // One call for each line: lines of several processes do not mix. A full disk is not an error.
  [[maybe_unused]] const ssize_t written = ::write(file_, line.data(), end + 1);
}

void TraceFile::epoch(const EventSource& source, EpochStep step, const Epoch& epoch) {
  write(source, "epoch_%s kind=%s epoch=%llu target=%d", name_of(step), name_of(epoch.kind),
        static_cast<unsigned long long>(epoch.opened_at),
        epoch.targets != nullptr && epoch.targets->next == nullptr ? epoch.targets->rank : -1);
}

void TraceFile::told(const EventSource& source, const Epoch& epoch, const Target& target) {
  write(source, "target_told kind=%s epoch=%llu target=%d", name_of(epoch.kind),
        static_cast<unsigned long long>(epoch.opened_at), target.rank);
}

void TraceFile::free_lock_acquired(const EventSource& source, const Epoch& epoch) {
  expand_acquisition(source, epoch);
}

void TraceFile::free_lock_released(const EventSource& source, const Epoch& epoch) {
  expand_release(source, epoch);
}

void TraceFile::issued(const EventSource& source, const Operation& operation, Protocol protocol) {
  write(source, "operation_issued kind=%s target=%d bytes=%llu protocol=\"%s\"",
        name_of(operation.kind), operation.target, bytes_of(operation), name_of(protocol));
}

void TraceFile::done(const EventSource& source, const RecordedOperation& recorded) {
  write(source, "operation_done kind=%s target=%d bytes=%llu protocol=\"%s\"%s",
        name_of(recorded.operation.kind), recorded.operation.target, bytes_of(recorded.operation),
        name_of(recorded.protocol), recorded.error == Error::none ? "" : " failed");
}

void TraceFile::wait_begun(const EventSource& source, Wait& wait) {
  write(source, "wait_begun for=%s target=%d", name_of(wait.reason), wait.rank);
}

void TraceFile::wait_ended(const EventSource& source, const Wait& wait) {
  write(source, "wait_ended for=%s target=%d", name_of(wait.reason), wait.rank);
}

void TraceFile::served(const EventSource& source, int origin) {
  write(source, "served origin=%d", origin);
}

void TraceFile::queue_full(const EventSource& source, int target) {
  write(source, "queue_full target=%d", target);
}

void TraceFile::queue_freed(const EventSource& source, int target) {
  write(source, "queue_freed target=%d", target);
}

void TraceFile::use_begun(const EventSource& source, const CollectiveUse& use) {
  write_use(source, "use_begun", use);
}

void TraceFile::use_over(const EventSource& source, const CollectiveUse& use) {
  write_use(source, "use_over", use);
}

void TraceFile::write_use(const EventSource& source, const char* step, const CollectiveUse& use) {
  write(source, "%s collective=%llu use=%llu", step,
        static_cast<unsigned long long>(use.collective), static_cast<unsigned long long>(use.use));
}

void TraceFile::copy_chosen(const EventSource& source, CopyMethod method) {
  write(source, "copy_chosen choice=\"%s\"", name_of(method));
}

}  // namespace oriel
