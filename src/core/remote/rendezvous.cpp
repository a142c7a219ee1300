// SPDX-License-Identifier: BSD-3-Clause
// The Server's part in rendezvous: long operations of remote origins that the target carries out by
// direct transfers of its own.
#include "core/remote/server.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace oriel {

/// Starts a rendezvous whose gate is open. The next sweep begins its transfers.
void Server::begin(const Message& message, const RemoteMemory& registered) {
  Member memory;
  std::byte* first_byte = nullptr;
  if (const Error error =
          check_request({message, nullptr, {}, 0, message.count}, memory, first_byte);
      error != Error::none) {
    return reply_to(message, error);
  }
  std::vector<std::byte> copy;
  if (memory.detached) {
    copy.resize(message.count);
    if (message.operation == OperationKind::get) {
      const Error error = region_.copy_detached(false, first_byte, copy.data(), message.count);
      if (error != Error::none) return reply_to(message, error);
    }
  }
  Rendezvous& one = rendezvous_table_.acquire();
  one.server = this;
  one.message = message;
  one.registered = registered;
  one.first_byte = first_byte;
  if (memory.detached) {
    one.detached = first_byte;
    one.copy = std::move(copy);
    one.first_byte = one.copy.data();
  }
  meeting_.push_back(&one);
  work_.add();
}

/// Gives the network one more piece. Between two pieces the process handles other messages.
bool Server::advance(Rendezvous& one) {
  const bool write = one.message.operation == OperationKind::get;
  const int process = region_.member(one.message.origin).process;
  std::uint64_t space = std::min(one.remaining(), limits_.direct_fragment);
  bool moved = false;
  while (space != 0) {
    const std::array<TransferRun, 1> run{
        {{one.first_byte + one.begun, one.registered.address + one.begun, space}}};
    const std::uint64_t accepted =
        messages_
            .transfer(process, write, run, one.registered.key, RendezvousTable::token(one), nullptr)
            .bytes;
    if (accepted == 0) break;
    one.begun += accepted;
    space -= accepted;
    moved = true;
  }
  return moved;
}

void Server::transferred(Rendezvous& one, const Transfer& transfer) {
  one.over += transfer.bytes;
  one.error = first_of(one.error, transfer.error);
  if (one.finished()) end(one);
}

/// Ends a rendezvous of which no transfer is in flight. The reply arrives behind the written bytes,
/// and permits the origin to reuse its buffer.
void Server::end(Rendezvous& one) {
  if (one.detached != nullptr && one.error == Error::none &&
      one.message.operation != OperationKind::get) {
    one.error = region_.copy_detached(true, one.detached, one.first_byte, one.message.count);
  }
  if (one.error == Error::none && one.message.notifies != NotifyKind::none) notify(one.message);
  reply_to(one.message, one.error);
  std::erase(meeting_, &one);
  work_.remove();
  rendezvous_table_.release(one);
}

}  // namespace oriel
