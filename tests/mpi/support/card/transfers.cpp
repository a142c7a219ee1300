// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads: the origin's call moves the bytes at once, and tells of it when a card would
// have moved them. So the bytes of a write may be seen before their time.
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "endpoint.hpp"

namespace card {
namespace {

struct Transfer {
  bool write;
  Vector local;
  const fi_rma_iov* remote;
  std::size_t remote_count;
  fi_addr_t target;
  std::uint64_t data;
  std::uint64_t flags;
  void* context;
};

/// Moves the bytes. 0, or libfabric's code.
int move(Peer& peer, const Transfer& transfer) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < transfer.remote_count; ++i) {
    const fi_rma_iov& there = transfer.remote[i];
    std::uint64_t place = 0;
    int code = peer.resolve(there.key, there.addr, there.len,
                            transfer.write ? FI_REMOTE_WRITE : FI_REMOTE_READ, place);
    if (code != 0) return code;
    const Vector here = transfer.local.part(offset, there.len);
    if (here.bytes() != there.len) return -FI_EINVAL;
    if (there.len != 0) {
      code = transfer.write ? peer.write(here.runs.data(), here.count, place, there.len)
                            : peer.read(here.runs.data(), here.count, place, there.len);
    }
    if (code != 0) return code;
    offset += there.len;
  }
  return offset == transfer.local.bytes() ? 0 : -FI_EINVAL;
}

ssize_t begin(fid_ep* object, const Transfer& transfer) {
  Endpoint& endpoint = endpoint_of(object);
  Peer* peer = endpoint.peer(transfer.target);
  if (peer == nullptr) return -FI_EINVAL;
  if (endpoint.full()) return -FI_EAGAIN;
  const std::uint64_t bytes = transfer.local.bytes();
  Link link = endpoint.link();
  const std::uint64_t due = transfer.write ? link.sent(bytes) : link.fetched(bytes);
  const int code = move(*peer, transfer);
  if (code == 0 && (transfer.flags & FI_REMOTE_CQ_DATA) != 0) {
    Header header;
    header.kind = Kind::written;
    header.origin = endpoint.address();
    header.due = due;
    header.length = bytes;
    header.data = transfer.data;
    // The caller writes the bytes again.
    if (!peer->put(header, nullptr, 0)) return -FI_EAGAIN;
  }
  endpoint.link() = link;
  Event event;
  event.entry.op_context = transfer.context;
  event.entry.flags = FI_RMA | (transfer.write ? FI_WRITE : FI_READ);
  event.error = -code;
  endpoint.finish(transfer.write ? due + latency() : due,
                  transfer.write ? Counted::write : Counted::read, transfer.flags, event);
  return 0;
}

ssize_t begin_one(fid_ep* endpoint, bool write, const Vector& local, fi_addr_t target,
                  std::uint64_t address, std::uint64_t key, std::uint64_t data, std::uint64_t flags,
                  void* context) {
  const fi_rma_iov remote{address, local.bytes(), key};
  return begin(endpoint, {write, local, &remote, 1, target, data, flags, context});
}

ssize_t begin_message(fid_ep* endpoint, bool write, const fi_msg_rma* message,
                      std::uint64_t flags) {
  return begin(endpoint, {write,
                          {message->msg_iov, message->iov_count},
                          message->rma_iov,
                          message->rma_iov_count,
                          message->addr,
                          message->data,
                          flags,
                          message->context});
}

std::uint64_t usual(fid_ep* endpoint) {
  return endpoint_of(endpoint).transmit_flags();
}

ssize_t read(fid_ep* endpoint, void* buffer, std::size_t bytes, void* /*descriptor*/,
             fi_addr_t source, std::uint64_t address, std::uint64_t key, void* context) {
  return begin_one(endpoint, false, {buffer, bytes}, source, address, key, 0, usual(endpoint),
                   context);
}

ssize_t readv(fid_ep* endpoint, const iovec* runs, void** /*descriptors*/, std::size_t count,
              fi_addr_t source, std::uint64_t address, std::uint64_t key, void* context) {
  return begin_one(endpoint, false, {runs, count}, source, address, key, 0, usual(endpoint),
                   context);
}

ssize_t readmsg(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  return begin_message(endpoint, false, message, flags);
}

ssize_t write(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* /*descriptor*/,
              fi_addr_t target, std::uint64_t address, std::uint64_t key, void* context) {
  return begin_one(endpoint, true, {buffer, bytes}, target, address, key, 0, usual(endpoint),
                   context);
}

ssize_t writev(fid_ep* endpoint, const iovec* runs, void** /*descriptors*/, std::size_t count,
               fi_addr_t target, std::uint64_t address, std::uint64_t key, void* context) {
  return begin_one(endpoint, true, {runs, count}, target, address, key, 0, usual(endpoint),
                   context);
}

ssize_t writemsg(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  return begin_message(endpoint, true, message, flags);
}

ssize_t inject(fid_ep* endpoint, const void* buffer, std::size_t bytes, fi_addr_t target,
               std::uint64_t address, std::uint64_t key) {
  return begin_one(endpoint, true, {buffer, bytes}, target, address, key, 0, FI_INJECT, nullptr);
}

ssize_t writedata(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* /*descriptor*/,
                  std::uint64_t data, fi_addr_t target, std::uint64_t address, std::uint64_t key,
                  void* context) {
  return begin_one(endpoint, true, {buffer, bytes}, target, address, key, data,
                   usual(endpoint) | FI_REMOTE_CQ_DATA, context);
}

ssize_t injectdata(fid_ep* endpoint, const void* buffer, std::size_t bytes, std::uint64_t data,
                   fi_addr_t target, std::uint64_t address, std::uint64_t key) {
  return begin_one(endpoint, true, {buffer, bytes}, target, address, key, data,
                   FI_INJECT | FI_REMOTE_CQ_DATA, nullptr);
}

}  // namespace

fi_ops_rma transfers{sizeof(fi_ops_rma), read,   readv,     readmsg,   write, writev,
                     writemsg,           inject, writedata, injectdata};

}  // namespace card
