// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/node.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>

namespace oriel {
namespace {

Node find_node() {
  Node node;
  ::gethostname(node.name.data(), node.name.size() - 1);
  // Host names alone are not unique (containers, "localhost"). The boot id alone is equal in all
  // containers and network namespaces of one kernel, which are different nodes to the host MPI.
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  // Processes refer to each other by process id, which is valid within one PID namespace only.
  std::error_code none;
  const std::string pids = std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
  node.id = std::hash<std::string>()(boot + "/" + node.name.data() + "/" + pids);
  return node;
}

}  // namespace

const Node& Node::here() {
  static const Node node = find_node();
  return node;
}

}  // namespace oriel
