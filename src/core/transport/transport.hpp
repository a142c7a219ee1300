// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/transport/messages.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The ways in which a process reaches other processes. A window maps its ranks to process numbers,
/// which are the same for both ways.
class Transport {
 public:
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  NodeServices& node() const { return node_; }
  Messages& messages() const { return messages_; }

 protected:
  Transport(NodeServices& node, Messages& messages) : node_(node), messages_(messages) {}
  ~Transport() = default;

 private:
  NodeServices& node_;
  Messages& messages_;
};

}  // namespace oriel
