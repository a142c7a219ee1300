// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "core/base/settings.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {

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

void TraceFile::on(const Event& event, const EventSource& source) {
  constexpr std::uint64_t second = 1'000'000'000;
  std::array<char, 256> line;
  const int head = std::snprintf(line.data(), line.size(), "%llu.%09llu pid=%d window=%u rank=%d ",
                                 static_cast<unsigned long long>(event.time / second),
                                 static_cast<unsigned long long>(event.time % second), ::getpid(),
                                 event.window, source.rank);
  const auto begin = static_cast<std::size_t>(head);
  const int text = write_text(event, line.data() + begin, line.size() - begin);
  const std::size_t end = std::min(begin + static_cast<std::size_t>(text), line.size() - 1);
  line[end] = '\n';
  // One call for each line: lines of several processes do not mix. A full disk is not an error.
  [[maybe_unused]] const ssize_t written = ::write(file_, line.data(), end + 1);
}

}  // namespace oriel
