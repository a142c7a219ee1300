// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/auto_choice.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "boundary/host/host.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/base/settings.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"

namespace oriel::boundary {
namespace {

/// How the command calls the MPI that this process has, by what the MPI says of itself: one library
/// of ours serves several.
std::string mpi_here() {
  struct Banner {
    std::string_view begin;
    const char* name;
  };
  constexpr std::array banners{Banner{"MPICH Version:", "mpich"}, Banner{"Open MPI v", "openmpi"},
                               Banner{"Intel(R) MPI Library", "intel"}};
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  const std::string_view told(text.data());
  for (const Banner& banner : banners) {
    if (!told.starts_with(banner.begin)) continue;
    const std::size_t first = told.find_first_not_of(" \t", banner.begin.size());
    if (first == std::string_view::npos) break;
    const std::size_t end = told.find_first_of(" ,\t\r\n", first);
    return std::string(banner.name) + ' ' + std::string(told.substr(first, end - first));
  }
  return {};
}

/// What was measured, read when it is first needed.
struct MeasuredHere {
  Measured measured = Measured::read(measured_path());
  std::string processor = processor_model();
  std::string mpi = mpi_here();
};

const MeasuredHere& measured_here() {
  static const MeasuredHere once;
  return once;
}

}  // namespace

PlanTerms AutoChoice::terms(bool host_takes) {
  PlanTerms terms;
  terms.bound = !host_takes;
  if (rank_ != 0) return terms;
  measured_here();
  terms.choose = [this](std::uint64_t longest) {
    return static_cast<std::uint8_t>(choose(longest));
  };
  return terms;
}

Algorithm AutoChoice::made_by(const Plan& plan, const char* call) const {
  const auto chosen = static_cast<Measured::Choice>(plan.choice());
  if (rank_ == 0 && setting_bool("ORIEL_INFO")) report(chosen, call);
  switch (chosen) {
    case Measured::Choice::two_sided:
      return Algorithm::two_sided;
    case Measured::Choice::notified_hierarchy:
      return Algorithm::notified_hierarchy;
    case Measured::Choice::notified:
      break;
  }
  return Algorithm::notified;
}

Measured::Choice AutoChoice::choose(std::uint64_t longest) {
  asked_ = true;
  longest_ = longest;
  const MeasuredHere& here = measured_here();
  if (here.measured.lines().empty()) return Measured::Choice::notified;
  line_ = here.measured.nearest(here.processor, here.mpi, ranks_, several_nodes(), longest);
  if (line_ == nullptr) return Measured::Choice::notified;
  return line_->fastest(gathers_anywhere(NodeMap(rank_, plans_.core().nodes())));
}

bool AutoChoice::several_nodes() const {
  const Window& window = *plans_.window().core;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (window.look(rank).process >= CompositeTransport::first_elsewhere) return true;
  }
  return false;
}

void AutoChoice::report(Measured::Choice chosen, const char* call) const {
  std::string why = "the MPI library's own call does not take such large counts";
  if (asked_) {
    why = "at most " + std::to_string(longest_) + " bytes to each other one; ";
    if (line_ != nullptr) {
      std::array<char, 256> text{};
      std::snprintf(text.data(), text.size(),
                    "measured with %d ranks on %d node%s and %llu bytes: notified %.3g us, "
                    "two_sided %.3g us",
                    line_->ranks, line_->nodes, line_->nodes == 1 ? "" : "s",
                    static_cast<unsigned long long>(line_->bytes), line_->notified,
                    line_->two_sided);
      why += text.data();
      if (line_->notified_hierarchy > 0) {
        std::snprintf(text.data(), text.size(), ", notified_hierarchy %.3g us",
                      line_->notified_hierarchy);
        why += text.data();
      }
    } else {
      why += "nothing like it was measured with " + measured_here().mpi + " on this processor";
    }
  }
  std::fprintf(stderr, "oriel: %s, %d ranks: auto is %s: %s\n", call, ranks_, name_of(chosen),
               why.c_str());
}

}  // namespace oriel::boundary
