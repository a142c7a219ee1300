// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/longest_transfer.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace oriel {
namespace {

constexpr std::uint64_t longest_at_a_pace = std::uint64_t{128} * 1024;

bool by_tcp(const fi_info& provider) {
  const std::string_view name = provider.fabric_attr->prov_name;
  return name.find("tcp") != std::string_view::npos ||
         name.find("sockets") != std::string_view::npos;
}

bool tcp_has_a_pace() {
  std::ifstream setting("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  return setting >> name && name.starts_with("bbr");
}

}  // namespace

std::uint64_t longest_transfer(const fi_info& provider) {
  const std::uint64_t taken = provider.ep_attr->max_msg_size;
  const std::uint64_t longest = taken != 0 ? taken : std::numeric_limits<std::uint64_t>::max();
  return by_tcp(provider) && tcp_has_a_pace() ? std::min(longest, longest_at_a_pace) : longest;
}

}  // namespace oriel
