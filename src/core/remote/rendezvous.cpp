// SPDX-License-Identifier: BSD-3-Clause
// Long operations of remote origins that we, the target, carry out by direct transfers of our own.
#include "core/remote/rendezvous.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "core/remote/server.hpp"

namespace oriel {

/// Its gate is open. The sweep that follows begins to move it.
void Server::begin(const Message& message, const RemoteMemory& registered) {
  Member memory;
  std::byte* place = nullptr;
  if (const Error error = check_request({message, nullptr, {}, 0, message.count}, memory, place);
      error != Error::none) {
    return reply_to(message, error);
  }
  Rendezvous& one = rendezvous_table_.acquire();
  one.server = this;
  one.message = message;
  one.registered = registered;
  one.place = place;
  meeting_.push_back(&one);
  work_.add();
}

/// Gives the network one piece more: between two of them we look for what others want.
bool Server::advance(Rendezvous& one) {
  const bool write = one.message.operation == OperationKind::get;
  const int process = region_.member(one.message.origin).process;
  std::uint64_t space = std::min(one.left(), limits_.direct_fragment);
  bool moved = false;
  while (space != 0) {
    const std::array<TransferRun, 1> run{
        {{one.place + one.begun, one.registered.address + one.begun, space}}};
    const std::uint64_t taken = messages_.transfer(process, write, run, one.registered.key,
                                                   RendezvousTable::token(one), nullptr);
    if (taken == 0) break;
    one.begun += taken;
    space -= taken;
    moved = true;
  }
  return moved;
}

void Server::transferred(Rendezvous& one, const Transfer& transfer) {
  one.over += transfer.bytes;
  one.error = first_of(one.error, transfer.error);
  if (one.finished()) end(one);
}

/// None of its transfers is under way: the origin may have its buffer back, and is told so behind
/// what has been written there.
void Server::end(Rendezvous& one) {
  if (one.error == Error::none && one.message.notifies != NotifyKind::none) notify(one.message);
  reply_to(one.message, one.error);
  std::erase(meeting_, &one);
  work_.remove();
  rendezvous_table_.release(one);
}

}  // namespace oriel
