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
  // Host names alone repeat (containers, "localhost"); the boot id alone is the same in containers
  // and network namespaces of one kernel, which are nodes of their own to the host MPI.
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  // Processes are found by their ids, which mean something within one PID namespace only.
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
