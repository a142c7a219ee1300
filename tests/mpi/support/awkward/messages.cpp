// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"

#include <rdma/fi_errno.h>

#include "completions.hpp"
#include "manners.hpp"
#include "memory.hpp"
#include "peers.hpp"
#include "transfers.hpp"

namespace awkward {
namespace {

constexpr int sends_before_the_error = 20;

using MessageTable = Table<fi_ops_msg, fid_ep>;

/// Sends a packet by `how`, unless something is in the way.
template <typename How>
ssize_t send_by(std::size_t bytes, How&& how) {
  static int sends = 0;
  if (has("small_limits") && bytes > longest) refuse("a message is too long");
  if (const int code = passing_refusal(); code != 0) return code;
  if (has("send_error") && sends == sends_before_the_error) {
    met("send_error");
    return -FI_EIO;
  }
  const ssize_t code = how();
  if (code == 0) ++sends;
  return code;
}

ssize_t send_packet(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* descriptor,
                    fi_addr_t target, void* context) {
  return send_by(bytes, [&]() -> ssize_t {
    if (fails_later(endpoint, context, FI_MSG | FI_SEND)) return 0;
    void* registered = descriptor_of(buffer, bytes, descriptor, FI_SEND);
    const ssize_t code = MessageTable::provider(endpoint->msg)
                             .send(endpoint, buffer, bytes, registered, target, context);
    if (code == 0 && has("acknowledged_by_software")) {
      expect(context, {.acknowledged_by = &looks_of(endpoint, target)});
    }
    return code;
  });
}

ssize_t inject_packet(fid_ep* endpoint, const void* buffer, std::size_t bytes, fi_addr_t target) {
  if (has("no_inject") || (has("small_limits") && bytes > 16)) refuse("too long to be injected");
  return send_by(bytes, [&] {
    return MessageTable::provider(endpoint->msg).inject(endpoint, buffer, bytes, target);
  });
}

ssize_t receive_packet(fid_ep* endpoint, void* buffer, std::size_t bytes, void* descriptor,
                       fi_addr_t source, void* context) {
  if (const int code = passing_refusal(); code != 0) return code;
  descriptor = descriptor_of(buffer, bytes, descriptor, FI_RECV);
  return MessageTable::provider(endpoint->msg)
      .recv(endpoint, buffer, bytes, descriptor, source, context);
}

ssize_t receive_packet_message(fid_ep* endpoint, const fi_msg* message, std::uint64_t flags) {
  if (message->iov_count != 1) refuse("a receive into several parts is not played");
  if (const int code = passing_refusal(); code != 0) return code;
  fi_msg copy = *message;
  void* descriptor = message->desc != nullptr ? message->desc[0] : nullptr;
  descriptor =
      descriptor_of(message->msg_iov->iov_base, message->msg_iov->iov_len, descriptor, FI_RECV);
  copy.desc = &descriptor;
  return MessageTable::provider(endpoint->msg).recvmsg(endpoint, &copy, flags);
}

ssize_t send_packet_message(fid_ep* endpoint, const fi_msg* message, std::uint64_t flags) {
  if (message->iov_count != 1 || (flags & ~std::uint64_t{FI_COMPLETION}) != 0) {
    refuse("fi_sendmsg with these arguments is not played");
  }
  return send_packet(endpoint, message->msg_iov->iov_base, message->msg_iov->iov_len,
                     message->desc != nullptr ? message->desc[0] : nullptr, message->addr,
                     message->context);
}

}  // namespace

void play_messages(fid_ep& endpoint) {
  fi_ops_msg& functions = MessageTable::replace(endpoint.msg);
  functions.send = send_packet;
  functions.inject = inject_packet;
  functions.recv = receive_packet;
  functions.recvmsg = receive_packet_message;
  functions.sendmsg = send_packet_message;
}

}  // namespace awkward
