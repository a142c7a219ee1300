// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/measured_here.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "boundary/host/library_version.hpp"

namespace oriel::boundary {
namespace {

/// Name and version of the MPI in use, as the command `oriel` writes them. They are taken from
/// library_version(), because one library of Oriel's serves several MPIs. Empty: unknown.
std::string mpi_here() {
  struct Banner {
    std::string_view begin;
    const char* name;
  };
  constexpr std::array banners{Banner{"MPICH Version:", "mpich"}, Banner{"Open MPI v", "openmpi"},
                               Banner{"Intel(R) MPI Library", "intel"}};
  const std::string told = library_version();
  for (const Banner& banner : banners) {
    if (!told.starts_with(banner.begin)) continue;
    const std::size_t first = told.find_first_not_of(" \t", banner.begin.size());
    if (first == std::string_view::npos) break;
    const std::size_t end = told.find_first_of(" ,\t\r\n", first);
    return std::string(banner.name) + ' ' + told.substr(first, end - first);
  }
  return {};
}

}  // namespace

MeasuredHere& MeasuredHere::get() {
  static MeasuredHere once;
  return once;
}

MeasuredHere::MeasuredHere() : mpi_(mpi_here()) {}

std::optional<Measured::Line> MeasuredHere::nearest(int ranks, bool several_nodes,
                                                    std::uint64_t longest) const {
  for (const Measured* known : {&trials_, &measured_}) {
    const Measured::Line* line = known->nearest(processor_, mpi_, ranks, several_nodes, longest);
    if (line != nullptr && (known == &measured_ || line->like(longest))) return *line;
  }
  return std::nullopt;
}

void MeasuredHere::learn(Measured::Line line) {
  line.processor = processor_;
  line.mpi = mpi_;
  trials_.add(std::move(line));
}

}  // namespace oriel::boundary
