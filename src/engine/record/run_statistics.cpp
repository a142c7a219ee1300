// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/run_statistics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include "core/base/settings.hpp"
#include "engine/engine.hpp"
#include "engine/process/run_folder.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

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

void RunStatistics::start(Events& events, EventCounts& counts) {
  counting_ = run_folder() != nullptr && setting_bool("ORIEL_INFO");
  if (counting_) counts.listen(events);
}

void RunStatistics::report(Engine& engine, const EventCounts& events) {
  if (!counting_) return;
  const EventCounts::Counts counts = events.counts();
  std::string report;
  static bool counted = false;  // a process may have several engines, one after the other
  if (!std::exchange(counted, true)) add_line(report, "processes", "with windows", 1);
  add_lines<Protocol>(report, "operations", counts.operations);
  add_lines<EpochKind>(report, "epochs", counts.epochs);
  add_lines<EpochKind>(report, "deferred", counts.deferred);
  add_lines<WaitReason>(report, "waits", counts.waits);
  add_lines<CopyMethod>(report, "decisions", counts.copies);
  add_line(report, "decisions", "pauses of inlined puts",
           engine.running()->transports.shm().inlining_pauses());
  add_line(report, "decisions", "times that the agent served", engine.agent.served());
  add_line(report, "decisions", "lines for threads given out", engine.line_keeper.given());
  add_line(report, "decisions", "threads without a line", engine.line_keeper.refused());
  counting_ = false;
  std::string path = std::string(run_folder()) + "/statistics.XXXXXX";
  const int file = own_descriptor(::mkostemp(path.data(), O_CLOEXEC));
  if (file < 0) return;  // the run's folder is on another machine
  [[maybe_unused]] const ssize_t written = ::write(file, report.data(), report.size());
  ::close(file);
}

}  // namespace oriel
