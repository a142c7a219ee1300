// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace oriel {

/// A libfabric operation in flight. libfabric returns the context with the completion.
struct OperationContext {
  enum class Kind : std::uint8_t { receive, send, transfer, atomic };
  fi_context2 context{};  // first: the completion's pointer is that of the OperationContext
  Kind kind = Kind::receive;
  std::uint8_t attempts = 0;  // how often the provider has refused it
  int process = -1;           // not for a receive
  std::uint64_t bytes = 0;
};

}  // namespace oriel
