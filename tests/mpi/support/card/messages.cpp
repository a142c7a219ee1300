// SPDX-License-Identifier: BSD-3-Clause
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "endpoint.hpp"

namespace card {
namespace {

/// Flags of a call without flags: those of the endpoint.
std::uint64_t usual(fid_ep* endpoint, std::uint64_t also = 0) {
  return endpoint_of(endpoint).transmit_flags() | also;
}

constexpr std::uint64_t injected = FI_INJECT;

ssize_t post(fid_ep* endpoint, Kind kind, const Vector& bytes, fi_addr_t target, std::uint64_t tag,
             std::uint64_t data, std::uint64_t flags, void* context) {
  return endpoint_of(endpoint).send({kind, bytes, target, tag, data, flags, context});
}

ssize_t await(fid_ep* object, Kind kind, const Vector& room, fi_addr_t source, std::uint64_t tag,
              std::uint64_t ignore, std::uint64_t flags, void* context) {
  Endpoint& endpoint = endpoint_of(object);
  std::uint64_t origin = Receive::any_origin;
  if (source != FI_ADDR_UNSPEC) {
    const Peer* peer = endpoint.peer(source);
    if (peer == nullptr) return -FI_EINVAL;
    origin = peer->address().id;
  }
  const Receive receive{room, 0, 0, origin, tag, ignore, flags, context};
  return (flags & FI_PEEK) != 0 ? endpoint.look_for(receive) : endpoint.receive(kind, receive);
}

ssize_t recv(fid_ep* endpoint, void* buffer, std::size_t bytes, void* /*descriptor*/,
             fi_addr_t source, void* context) {
  return await(endpoint, Kind::message, {buffer, bytes}, source, 0, 0,
               endpoint_of(endpoint).receive_flags(), context);
}

ssize_t recvv(fid_ep* endpoint, const iovec* runs, void** /*descriptors*/, std::size_t count,
              fi_addr_t source, void* context) {
  return await(endpoint, Kind::message, {runs, count}, source, 0, 0,
               endpoint_of(endpoint).receive_flags(), context);
}

ssize_t recvmsg(fid_ep* endpoint, const fi_msg* message, std::uint64_t flags) {
  return await(endpoint, Kind::message, {message->msg_iov, message->iov_count}, message->addr, 0, 0,
               flags, message->context);
}

ssize_t send(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* /*descriptor*/,
             fi_addr_t target, void* context) {
  return post(endpoint, Kind::message, {buffer, bytes}, target, 0, 0, usual(endpoint), context);
}

ssize_t sendv(fid_ep* endpoint, const iovec* runs, void** /*descriptors*/, std::size_t count,
              fi_addr_t target, void* context) {
  return post(endpoint, Kind::message, {runs, count}, target, 0, 0, usual(endpoint), context);
}

ssize_t sendmsg(fid_ep* endpoint, const fi_msg* message, std::uint64_t flags) {
  return post(endpoint, Kind::message, {message->msg_iov, message->iov_count}, message->addr, 0,
              message->data, flags, message->context);
}

ssize_t inject(fid_ep* endpoint, const void* buffer, std::size_t bytes, fi_addr_t target) {
  return post(endpoint, Kind::message, {buffer, bytes}, target, 0, 0, injected, nullptr);
}

ssize_t senddata(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* /*descriptor*/,
                 std::uint64_t data, fi_addr_t target, void* context) {
  return post(endpoint, Kind::message, {buffer, bytes}, target, 0, data,
              usual(endpoint, FI_REMOTE_CQ_DATA), context);
}

ssize_t injectdata(fid_ep* endpoint, const void* buffer, std::size_t bytes, std::uint64_t data,
                   fi_addr_t target) {
  return post(endpoint, Kind::message, {buffer, bytes}, target, 0, data,
              injected | FI_REMOTE_CQ_DATA, nullptr);
}

ssize_t trecv(fid_ep* endpoint, void* buffer, std::size_t bytes, void* /*descriptor*/,
              fi_addr_t source, std::uint64_t tag, std::uint64_t ignore, void* context) {
  return await(endpoint, Kind::tagged, {buffer, bytes}, source, tag, ignore,
               endpoint_of(endpoint).receive_flags(), context);
}

ssize_t trecvv(fid_ep* endpoint, const iovec* runs, void** /*descriptors*/, std::size_t count,
               fi_addr_t source, std::uint64_t tag, std::uint64_t ignore, void* context) {
  return await(endpoint, Kind::tagged, {runs, count}, source, tag, ignore,
               endpoint_of(endpoint).receive_flags(), context);
}

ssize_t trecvmsg(fid_ep* endpoint, const fi_msg_tagged* message, std::uint64_t flags) {
  return await(endpoint, Kind::tagged, {message->msg_iov, message->iov_count}, message->addr,
               message->tag, message->ignore, flags, message->context);
}

ssize_t tsend(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* /*descriptor*/,
              fi_addr_t target, std::uint64_t tag, void* context) {
  return post(endpoint, Kind::tagged, {buffer, bytes}, target, tag, 0, usual(endpoint), context);
}

ssize_t tsendv(fid_ep* endpoint, const iovec* runs, void** /*descriptors*/, std::size_t count,
               fi_addr_t target, std::uint64_t tag, void* context) {
  return post(endpoint, Kind::tagged, {runs, count}, target, tag, 0, usual(endpoint), context);
}

ssize_t tsendmsg(fid_ep* endpoint, const fi_msg_tagged* message, std::uint64_t flags) {
  return post(endpoint, Kind::tagged, {message->msg_iov, message->iov_count}, message->addr,
              message->tag, message->data, flags, message->context);
}

ssize_t tinject(fid_ep* endpoint, const void* buffer, std::size_t bytes, fi_addr_t target,
                std::uint64_t tag) {
  return post(endpoint, Kind::tagged, {buffer, bytes}, target, tag, 0, injected, nullptr);
}

ssize_t tsenddata(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* /*descriptor*/,
                  std::uint64_t data, fi_addr_t target, std::uint64_t tag, void* context) {
  return post(endpoint, Kind::tagged, {buffer, bytes}, target, tag, data,
              usual(endpoint, FI_REMOTE_CQ_DATA), context);
}

ssize_t tinjectdata(fid_ep* endpoint, const void* buffer, std::size_t bytes, std::uint64_t data,
                    fi_addr_t target, std::uint64_t tag) {
  return post(endpoint, Kind::tagged, {buffer, bytes}, target, tag, data,
              injected | FI_REMOTE_CQ_DATA, nullptr);
}

}  // namespace

fi_ops_msg messages{sizeof(fi_ops_msg), recv,      recvv, recvmsg, send, sendv, sendmsg, inject,
                    senddata,           injectdata};
fi_ops_tagged tagged_messages{sizeof(fi_ops_tagged),
                              trecv,
                              trecvv,
                              trecvmsg,
                              tsend,
                              tsendv,
                              tsendmsg,
                              tinject,
                              tsenddata,
                              tinjectdata};

}  // namespace card
