// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/origin_rendezvous.hpp"

#include <span>

#include "core/base/pool.hpp"

namespace oriel {

int OriginRendezvous::register_buffer(const Operation& operation) {
  const bool put = operation.kind == OperationKind::put;
  const Buffer& buffer = put ? operation.origin : operation.result;
  return registrations_.register_buffer(region_.member(operation.target).process, !put,
                                        buffer.address, operation.bytes());
}

void OriginRendezvous::transmit(RecordedOperation& recorded, Message message) {
  const Operation& operation = recorded.operation;
  const RemoteMemory& registered = registrations_.memory(recorded.registration);
  message.kind = MessageKind::rendezvous;
  message.word = Pool<RecordedOperation>::token(recorded);
  message.offset = region_.member(operation.target).offset(operation.displacement);
  message.handle_token = operation.handle.token;
  message.handle_slot = operation.handle.slot;
  message.count = operation.bytes();
  message.data = sizeof registered;
  message.notify(operation.notify_arg);
  sender_.send(operation.target, message, std::as_bytes(std::span(&registered, 1)));
  recorded.sent = operation.bytes();
}

}  // namespace oriel
