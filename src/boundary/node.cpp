// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/node.hpp"

#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

namespace oriel::boundary {
namespace {

Node find_node() {
  Node node;
  ::gethostname(node.name.data(), node.name.size() - 1);
  // Host names alone repeat (containers, "localhost"); the boot id alone is the same in containers
  // and network namespaces of one kernel, which are nodes of their own to the host MPI.
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  node.id = std::hash<std::string>()(boot + "/" + node.name.data());
  return node;
}

}  // namespace

const Node& Node::here() {
  static const Node node = find_node();
  return node;
}

}  // namespace oriel::boundary
