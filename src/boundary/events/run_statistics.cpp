// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/events/run_statistics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "boundary/process/run_folder.hpp"
#include "boundary/progress/progress.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/base/settings.hpp"
#include "transport/shm/clock.hpp"

namespace oriel::boundary {
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

void RunStatistics::start(Events& events) {
  counting_ = run_folder() != nullptr && setting_bool("ORIEL_INFO");
  if (counting_) events.add(*this);
}

void RunStatistics::report() {
  if (!counting_) return;
  std::string report;
  static bool counted = false;  // a process may have several engines, one after the other
  if (!std::exchange(counted, true)) add_line(report, "processes", "with windows", 1);
  add_lines<Protocol>(report, "operations", counts_.operations);
  add_lines<EpochKind>(report, "epochs", counts_.epochs);
  add_lines<EpochKind>(report, "deferred", counts_.deferred);
  add_lines<WaitReason>(report, "waits", counts_.waits);
  add_lines<CopyMethod>(report, "decisions", counts_.copies);
  add_line(report, "decisions", "pauses of inlined puts",
           runtime.engine()->transports.shm().inlining_pauses());
  add_line(report, "decisions", "times that the agent served", progress.agent.served());
  add_line(report, "decisions", "lines for threads given out", runtime.line_keeper.given());
  add_line(report, "decisions", "threads without a line", runtime.line_keeper.refused());
  counting_ = false;
  counts_ = {};
  std::string path = std::string(run_folder()) + "/statistics.XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return;  // the run's folder is another machine's
  [[maybe_unused]] const ssize_t written = ::write(file, report.data(), report.size());
  ::close(file);
}

void RunStatistics::epoch(const EventSource&, EpochStep step, const Epoch& epoch) {
  const auto kind = static_cast<std::size_t>(epoch.kind);
  if (step == EpochStep::opened || step == EpochStep::renewed) ++counts_.epochs[kind].times;
  if (step == EpochStep::deferred) ++counts_.deferred[kind].times;
}

void RunStatistics::issued(const EventSource&, const Operation& operation, Protocol protocol) {
  Count& count = counts_.operations[static_cast<std::size_t>(protocol)];
  ++count.times;
  count.amount += operation.bytes();
}

void RunStatistics::wait_begun(const EventSource&, Wait& wait) {
  wait.begun = nanoseconds_now();
}

void RunStatistics::wait_ended(const EventSource&, const Wait& wait) {
  Count& count = counts_.waits[static_cast<std::size_t>(wait.reason)];
  ++count.times;
  count.amount += nanoseconds_now() - wait.begun;
}

void RunStatistics::copy_chosen(const EventSource&, CopyMethod method) {
  ++counts_.copies[static_cast<std::size_t>(method)].times;
}

}  // namespace oriel::boundary
