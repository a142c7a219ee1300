// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engine.hpp"

#include <utility>

#include "transport/ofi/tcp_socket.hpp"

namespace oriel {

Running::Running(std::unique_ptr<ShmTransport> node, Networks& networks, Host& of)
    : transports(std::move(node), networks),
      process(transports, transports.shm().self()),
      host(of),
      calls(transports.shm().calls(transports.shm().self())) {}

bool Engine::start(Host& host, Networks& networks, int rank, std::string& error) {
  auto transport = ShmTransport::create(arena, error, rank);
  if (transport == nullptr) return false;
  line_keeper.start(transport->own_threads());
  running_.store(new Running(std::move(transport), networks, host), std::memory_order_release);
  if (spare_flag_ == nullptr) take_spare_flag();
  return true;
}

std::unique_ptr<Running> Engine::stop() {
  line_keeper.stop();
  return std::unique_ptr<Running>(running_.exchange(nullptr, std::memory_order_relaxed));
}

void Engine::disown() {
  close_sockets_of_parent();
  running_.store(nullptr, std::memory_order_relaxed);
  line_keeper.disown();
  records.disown();
}

void Engine::serialize_threads() {
  lock.enable();
}

void Engine::end_host_interval() {
  if (Running* now = running(); now != nullptr) now->pace.end_host_interval();
}

void Engine::take_spare_flag() {
  if (free_flags_.empty()) free_flags_.push_back(&flags_.emplace_back());
  spare_flag_ = free_flags_.back();
  free_flags_.pop_back();
  *spare_flag_ = Flag();
}

}  // namespace oriel
