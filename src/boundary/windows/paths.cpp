// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/paths.hpp"
#include "boundary/host/host_mpi.hpp"

#include <oriel/oriel.h>

#include <memory>

#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
namespace {

std::string path_to(const Member& member) {
  switch (member.path) {
    case Path::mapped:
      return "mapped";
    case Path::vm:
      return "by process_vm_readv";
    case Path::served:
      break;
  }
  if (member.process < Routes::first_elsewhere) return "by messages";
  return std::string("over ") + runtime.engine()->routes.network()->name().endpoint.provider.data();
}

}  // namespace

std::string describe_paths(const Window& window) {
  std::string text;
  for (int first = 0; first < window.ranks();) {
    const std::string path = path_to(window.look(first));
    int last = first;
    while (last + 1 < window.ranks() && path_to(window.look(last + 1)) == path) ++last;
    text += first == 0 ? "rank" : ", rank";
    if (last != first) text += "s";
    text += ' ' + std::to_string(first);
    if (last != first) text += " to " + std::to_string(last);
    text += ' ' + path;
    first = last + 1;
  }
  return text;
}

std::string describe_network() {
  if (const Network* open = runtime.engine()->routes.network()) return open->description();
  std::string error;
  const std::unique_ptr<Network> tried = Network::open(error);
  return tried != nullptr ? tried->description() : error;
}

int write_paths(const Window& window, MPI_Info info) {
  std::string paths = describe_paths(window);
  if (paths.size() >= MPI_MAX_INFO_VAL) {
    paths.resize(MPI_MAX_INFO_VAL - 4);
    paths += "...";
  }
  return host_mpi().Info_set(info, ORIEL_PATHS, paths.c_str());
}

}  // namespace oriel::boundary
