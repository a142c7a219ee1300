// SPDX-License-Identifier: BSD-3-Clause
#include "transfers.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <list>
#include <memory>
#include <numeric>
#include <vector>

#include "completions.hpp"
#include "manners.hpp"
#include "memory.hpp"
#include "peers.hpp"

namespace awkward {
namespace {

constexpr auto length_of_a_write = std::chrono::milliseconds(2);

using TransferTable = Table<fi_ops_rma, fid_ep>;

/// A transfer with arrays of its own.
struct Transfer {
  fi_context2 own_context{};  // first: of a completion that is ours
  fid_ep* endpoint = nullptr;
  bool write = false;
  fi_msg_rma message{};
  std::vector<iovec> local;
  std::vector<fi_rma_iov> remote;
  std::vector<void*> descriptors;
  std::uint64_t flags = 0;
  Clock::time_point begun = Clock::now();
  const Looks* peer = nullptr;  // the transfer waits for a look of this one
  std::uint64_t peer_looks = 0;
  std::vector<char> bytes;  // a copy of what is written

  /// Copies what is written, so that the caller's memory and context are free.
  void copy() {
    for (const iovec& part : local) {
      const auto* begin = static_cast<const char*>(part.iov_base);
      bytes.insert(bytes.end(), begin, begin + part.iov_len);
    }
    local = {{bytes.data(), bytes.size()}};
    descriptors = {nullptr};
    message.iov_count = 1;
    message.context = &own_context;
  }
  bool is_due() const {
    if (peer != nullptr) return peer->load() > peer_looks;
    return Clock::now() - begun > length_of_a_write;
  }
  ssize_t begin() {
    message.msg_iov = local.data();
    message.rma_iov = remote.data();
    message.desc = descriptors.data();
    const fi_ops_rma& provider = TransferTable::provider(endpoint->rma);
    return (write ? provider.writemsg : provider.readmsg)(endpoint, &message, flags);
  }
};

using Transfers = std::list<std::unique_ptr<Transfer>>;
Transfers waiting;
Transfers copied;  // begun, and their completions are ours

std::unique_ptr<Transfer> make(fid_ep* endpoint, bool write, const fi_msg_rma& given,
                               std::uint64_t flags) {
  auto made = std::make_unique<Transfer>();
  made->endpoint = endpoint;
  made->write = write;
  made->message = given;
  made->flags = flags;
  made->local.assign(given.msg_iov, given.msg_iov + given.iov_count);
  made->remote.assign(given.rma_iov, given.rma_iov + given.rma_iov_count);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < made->local.size(); ++i) {
    const iovec& part = made->local[i];
    bytes += part.iov_len;
    void* told = given.desc != nullptr ? given.desc[i] : nullptr;
    made->descriptors.push_back(
        (flags & FI_INJECT) != 0
            ? told
            : descriptor_of(part.iov_base, part.iov_len, told, write ? FI_WRITE : FI_READ));
  }
  if (made->local.size() > 1 || made->remote.size() > 1) {
    if (has("small_limits")) refuse("a transfer has several parts");
    met("a vector");
  }
  if (has("small_limits") && bytes > longest) refuse("a transfer is too long");
  if ((flags & FI_INJECT) != 0 && (has("no_inject") || (has("small_limits") && bytes > 16))) {
    refuse("too long to be injected");
  }
  return made;
}

/// Makes the transfer wait for its time if the manner says so. Returns whether it waits.
bool postpone(std::unique_ptr<Transfer>& one) {
  const bool delivery = (one->flags & FI_DELIVERY_COMPLETE) != 0;
  if (has("looks_only")) {
    if (one->write && !delivery) refuse("nothing tells when the write is at its target");
    met("looks_only");
    one->peer = &looks_of(one->endpoint, one->message.addr);
    one->peer_looks = one->peer->load();
  } else if (one->write && has("unordered_writes")) {
    if (!delivery) refuse("nothing tells when the write is at its target");
    met("unordered_writes");
  } else if (one->write && has("ignores_order")) {
    met("ignores_order");
    if (!delivery) {
      if ((one->flags & FI_INJECT) == 0) {
        complete(one->endpoint, one->message.context, FI_RMA | FI_WRITE, 0);
      }
      one->flags &= ~std::uint64_t{FI_INJECT};
      one->copy();
    }
  } else {
    return false;
  }
  waiting.push_back(std::move(one));
  return true;
}

ssize_t transfer(fid_ep* endpoint, bool write, const fi_msg_rma& message, std::uint64_t flags) {
  if (const int code = passing_refusal(); code != 0) return code;
  auto one = make(endpoint, write, message, flags);
  if ((flags & FI_REMOTE_CQ_DATA) != 0) {
    if (has("no_immediate")) refuse("there is no immediate data");
    met("immediate data");
    echo(message.data);
    if (has("short_immediate")) {
      if (message.data >> 32 != 0) refuse("immediate data of more than 4 bytes");
      met("short_immediate");
    }
  }
  // Where a provider keeps messages behind writes, none arrives behind a write that has failed, and
  // the connection ends.
  if ((flags & FI_INJECT) == 0 && (!write || keeps_no_order()) &&
      fails_later(endpoint, message.context, FI_RMA | (write ? FI_WRITE : FI_READ))) {
    return 0;
  }
  if (postpone(one)) return 0;
  if (has("late_delivery") && write && (flags & FI_INJECT) == 0) {
    expect(message.context, {.late = true});
  }
  return one->begin();
}

ssize_t write_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  return transfer(endpoint, true, *message, flags);
}
ssize_t read_message(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  return transfer(endpoint, false, *message, flags);
}

/// Makes a message of the arguments of the short calls.
ssize_t transfer_part(fid_ep* endpoint, bool write, void* memory, std::size_t bytes,
                      void* descriptor, fi_addr_t peer, std::uint64_t address, std::uint64_t key,
                      std::uint64_t data, void* context, std::uint64_t flags) {
  const iovec local{memory, bytes};
  const fi_rma_iov remote{address, bytes, key};
  return transfer(endpoint, write, {&local, &descriptor, 1, peer, &remote, 1, context, data},
                  flags);
}
ssize_t read_part(fid_ep* endpoint, void* memory, std::size_t bytes, void* descriptor,
                  fi_addr_t peer, std::uint64_t address, std::uint64_t key, void* context) {
  return transfer_part(endpoint, false, memory, bytes, descriptor, peer, address, key, 0, context,
                       FI_COMPLETION);
}
ssize_t write_part(fid_ep* endpoint, const void* memory, std::size_t bytes, void* descriptor,
                   fi_addr_t peer, std::uint64_t address, std::uint64_t key, void* context) {
  return transfer_part(endpoint, true, const_cast<void*>(memory), bytes, descriptor, peer, address,
                       key, 0, context, FI_COMPLETION);
}
ssize_t write_part_with_data(fid_ep* endpoint, const void* memory, std::size_t bytes,
                             void* descriptor, std::uint64_t data, fi_addr_t peer,
                             std::uint64_t address, std::uint64_t key, void* context) {
  return transfer_part(endpoint, true, const_cast<void*>(memory), bytes, descriptor, peer, address,
                       key, data, context, FI_COMPLETION | FI_REMOTE_CQ_DATA);
}

/// The real provider injects by functions of its own: these report no completion.
bool injects_at_once() {
  return !has("ignores_order") && !has("looks_only") && !has("unordered_writes");
}
ssize_t inject_part(fid_ep* endpoint, const void* memory, std::size_t bytes, fi_addr_t peer,
                    std::uint64_t address, std::uint64_t key) {
  if (injects_at_once()) {
    if (const int code = passing_refusal(); code != 0) return code;
    return TransferTable::provider(endpoint->rma)
        .inject(endpoint, memory, bytes, peer, address, key);
  }
  return transfer_part(endpoint, true, const_cast<void*>(memory), bytes, nullptr, peer, address,
                       key, 0, nullptr, FI_INJECT);
}
ssize_t inject_part_with_data(fid_ep* endpoint, const void* memory, std::size_t bytes,
                              std::uint64_t data, fi_addr_t peer, std::uint64_t address,
                              std::uint64_t key) {
  if (injects_at_once()) {
    if (const int code = passing_refusal(); code != 0) return code;
    met("immediate data");
    return TransferTable::provider(endpoint->rma)
        .injectdata(endpoint, memory, bytes, data, peer, address, key);
  }
  return transfer_part(endpoint, true, const_cast<void*>(memory), bytes, nullptr, peer, address,
                       key, data, nullptr, FI_INJECT | FI_REMOTE_CQ_DATA);
}

}  // namespace

int passing_refusal() {
  if (has("again") && chance(60)) {
    met("again");
    return -FI_EAGAIN;
  }
  if (has("passing_errors") && chance(20)) {
    met("passing_errors");
    return -FI_ENOMEM;
  }
  return 0;
}

bool fails_later(const fid_ep* endpoint, void* context, std::uint64_t flags) {
  if (!has("passing_errors") || !chance(10)) return false;
  met("passing_errors of a completion");
  complete(endpoint, context, flags, FI_ENOMEM);
  return true;
}

void begin_transfers() {
  for (auto each = waiting.begin(); each != waiting.end();) {
    Transfer& one = **each;
    if (!one.is_due()) {
      ++each;
      continue;
    }
    const ssize_t code = one.begin();
    if (code == -FI_EAGAIN) return;
    const bool copy = one.message.context == &one.own_context;
    if (code != 0) {
      if (copy) refuse("the real provider fails to write a copy");
      complete(one.endpoint, one.message.context, FI_RMA, static_cast<int>(-code));
    }
    if (copy) {
      expect(&one.own_context, {.ours = true});
      copied.push_back(std::move(*each));
    }
    each = waiting.erase(each);
  }
}

bool transfers_wait() {
  return !waiting.empty();
}

void end_copy(void* context) {
  copied.remove_if([&](const auto& one) { return &one->own_context == context; });
}

void play_transfers(fid_ep& endpoint) {
  fi_ops_rma& functions = TransferTable::replace(endpoint.rma);
  functions.readmsg = read_message;
  functions.writemsg = write_message;
  functions.read = read_part;
  functions.write = write_part;
  functions.writedata = write_part_with_data;
  functions.inject = inject_part;
  functions.injectdata = inject_part_with_data;
}

}  // namespace awkward
