// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/records.hpp"

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
#include <string>
#include <utility>

#include "core/base/settings.hpp"
#include "engine/engine.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

/// The folder in which the ranks of this run record their waits (ORIEL_REPORT). Creates it if
/// necessary, and reports a failure on standard error. Empty: nothing is recorded.
std::string report_folder() {
  std::string path = setting_text("ORIEL_REPORT");
  if (path.empty() || path == "0") {
    if (setting_bool("ORIEL_TIMELINE")) {
      std::fputs(
          "oriel: ORIEL_TIMELINE: Nothing is recorded, because ORIEL_REPORT is not set; set "
          "ORIEL_REPORT=1, too.\n",
          stderr);
    }
    return {};
  }
  if (path == "1") path = "oriel-report";
  // Each rank tries, without a collective call: perhaps not all ranks have the setting.
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    std::fprintf(stderr, "oriel: ORIEL_REPORT: The folder %s cannot be made (%s).\n", path.c_str(),
                 std::strerror(errno));
    return {};
  }
  return path;
}

/// A line of the report, which python/oriel/hosts/run_statistics.py reads.
void add_line(std::string& report, const char* group, const char* name, std::uint64_t times,
              std::uint64_t amount = 0) {
  if (times == 0) return;
  report += std::string(group) + '\t' + name + '\t' + std::to_string(times) + '\t' +
            std::to_string(amount) + '\n';
}

template <typename Named, typename Counts>
void add_lines(std::string& report, const char* group, const Counts& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    add_line(report, group, name_of(static_cast<Named>(i)), counts[i].times, counts[i].amount);
  }
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

void Records::start(Engine& engine, WorldRank (*find_own_rank)()) {
  Process& process = engine.running()->process;
  writes_statistics_ = run_folder() != nullptr && setting_bool("ORIEL_INFO");
  if (writes_statistics_) counts.listen(process.events());
  trace_file_.start(process.events());
  if (const std::string folder = report_folder(); !folder.empty()) {
    recorder.start(process, folder, find_own_rank());
  }
}

void Records::stop(Engine& engine) {
  if (writes_statistics_) write_statistics(engine);
  recorder.stop();
  disown();
}

void Records::disown() {
  writes_statistics_ = false;
  counts.reset();
  trace_file_.stop();
  recorder.disown();
}

void Records::write_statistics(Engine& engine) const {
  const EventCounts::Counts now = counts.counts();
  std::string report;
  static bool counted = false;  // a process may have several engines, one after the other
  if (!std::exchange(counted, true)) add_line(report, "processes", "with windows", 1);
  add_lines<Protocol>(report, "operations", now.operations);
  add_lines<EpochKind>(report, "epochs", now.epochs);
  add_lines<EpochKind>(report, "deferred", now.deferred);
  add_lines<WaitReason>(report, "waits", now.waits);
  add_lines<CopyMethod>(report, "decisions", now.copies);
  add_line(report, "decisions", "pauses of inlined puts",
           engine.running()->transports.shm().inlining_pauses());
  add_line(report, "decisions", "times that the agent served", engine.agent.served());
  add_line(report, "decisions", "lines for threads given out", engine.line_keeper.given());
  add_line(report, "decisions", "threads without a line", engine.line_keeper.refused());
  add_line(report, "rules", "operations on detached memory", now.detached.times);
  std::string path = std::string(run_folder()) + "/statistics.XXXXXX";
  const int file = own_descriptor(::mkostemp(path.data(), O_CLOEXEC));
  if (file < 0) return;  // the run's folder is on another machine
  [[maybe_unused]] const ssize_t written = ::write(file, report.data(), report.size());
  ::close(file);
}

}  // namespace oriel
