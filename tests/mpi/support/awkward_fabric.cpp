// SPDX-License-Identifier: BSD-3-Clause
// A libfabric with the manners of other networks than the one at hand. What Oriel calls is passed
// on to the real library, except for what ORIEL_TEST_FABRIC names, one or several with commas:
//
//     no_registration     takes no memory to be written and read by others
//     local_registration  wants a registration of our own memory too (FI_MR_LOCAL)
//     unordered_writes    lets messages overtake writes (no FI_ORDER_SAW), and writes take long
//     late_receives       tells of some packets and immediate data later than of those behind them
//     short_immediate     has 4 bytes of immediate data
//     no_immediate        has none
//     echoed_immediate    shows it to the origin too, when the write is over (as sockets does)
//     again               is busy more often than not (FI_EAGAIN)
//     no_wait             has no descriptor to sleep on
//     send_error          fails to send after a while
//
// Each says on stderr when it first makes a difference: a run in which it did not has tested
// nothing.
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int sends_before_the_error = 20;
constexpr auto length_of_a_write = std::chrono::milliseconds(2);

bool has(const char* manner) {
  static const char* named = std::getenv("ORIEL_TEST_FABRIC");
  return named != nullptr && std::strstr(named, manner) != nullptr;
}

void met(const std::string& manner) {
  static std::set<std::string> said;
  if (said.insert(manner).second) std::fprintf(stderr, "fabric: %s\n", manner.c_str());
}

[[noreturn]] void refuse(const char* sentence) {
  std::fprintf(stderr, "fabric: refused: %s\n", sentence);
  std::abort();
}

/// The one that the host has loaded, else the system's.
template <typename Function>
Function* real(Function* /*of this type*/, const char* name) {
  static void* library = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(::dlerror());
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// The provider's table of functions, and ours that takes its place in the object.
template <typename Functions>
struct Table {
  static inline Functions* provider = nullptr;
  static inline Functions ours{};

  static Functions& replace(Functions*& table) {
    provider = table;
    std::memcpy(&ours, table, std::min(table->size, sizeof ours));
    ours.size = std::min(table->size, sizeof ours);
    table = &ours;
    return ours;
  }
};

bool busy() {
  static std::minstd_rand random;
  if (!has("again") || random() % 10 < 4) return false;
  met("again");
  return true;
}

/// What FI_MR_LOCAL wants: live registrations, which are their own descriptors here.
struct Registration {
  const char* begin;
  std::size_t bytes;
  std::uint64_t access;
  void* descriptor;  // the provider's
};
std::map<void*, Registration> registrations;

void* descriptor_of(const void* buffer, std::size_t bytes, void* descriptor, std::uint64_t access) {
  if (!has("local_registration")) return descriptor;
  const auto found = registrations.find(descriptor);
  if (found == registrations.end()) refuse("memory is not registered");
  const Registration& registration = found->second;
  const auto* begin = static_cast<const char*>(buffer);
  if (begin < registration.begin || begin + bytes > registration.begin + registration.bytes ||
      (registration.access & access) == 0) {
    refuse("memory is registered at another place, or for another purpose");
  }
  met(access == FI_WRITE  ? "local_registration of a write"
      : access == FI_READ ? "local_registration of a read"
                          : "local_registration");
  return registration.descriptor;
}

int close_registration(fid* object) {
  auto* registration = reinterpret_cast<fid_mr*>(object);
  const auto found = registrations.find(registration);
  registration->mem_desc = found->second.descriptor;
  registrations.erase(found);
  return Table<fi_ops>::provider->close(object);
}

int register_memory(fid* domain, const void* memory, std::size_t bytes, std::uint64_t access,
                    std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** made,
                    void* context) {
  if (has("no_registration") && (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0) {
    met("no_registration");
    return -FI_ENOMEM;
  }
  const int code = Table<fi_ops_mr>::provider->reg(domain, memory, bytes, access, offset, key,
                                                   flags, made, context);
  if (code != 0 || !has("local_registration")) return code;
  registrations[*made] = {static_cast<const char*>(memory), bytes, access, (*made)->mem_desc};
  (*made)->mem_desc = *made;
  Table<fi_ops>::replace((*made)->fid.ops).close = close_registration;
  return 0;
}

/// Sends a packet by `how`, unless something is in the way.
template <typename How>
ssize_t send_by(How&& how) {
  static int sends = 0;
  if (busy()) return -FI_EAGAIN;
  if (has("send_error") && sends == sends_before_the_error) {
    met("send_error");
    return -FI_EIO;
  }
  const ssize_t code = how();
  if (code == 0) ++sends;
  return code;
}

ssize_t send(fid_ep* endpoint, const void* buffer, std::size_t bytes, void* descriptor,
             fi_addr_t target, void* context) {
  return send_by([&] {
    void* registered = descriptor_of(buffer, bytes, descriptor, FI_SEND);
    return Table<fi_ops_msg>::provider->send(endpoint, buffer, bytes, registered, target, context);
  });
}

ssize_t inject(fid_ep* endpoint, const void* buffer, std::size_t bytes, fi_addr_t target) {
  return send_by(
      [&] { return Table<fi_ops_msg>::provider->inject(endpoint, buffer, bytes, target); });
}

ssize_t receive(fid_ep* endpoint, void* buffer, std::size_t bytes, void* descriptor,
                fi_addr_t source, void* context) {
  if (busy()) return -FI_EAGAIN;
  descriptor = descriptor_of(buffer, bytes, descriptor, FI_RECV);
  return Table<fi_ops_msg>::provider->recv(endpoint, buffer, bytes, descriptor, source, context);
}

/// A message of its own, in which the provider's descriptor can be put.
struct Transfer {
  fi_msg_rma message;
  std::vector<iovec> local;
  std::vector<fi_rma_iov> remote;
  std::vector<void*> descriptors;
  std::uint64_t flags;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  Transfer(const fi_msg_rma& given, std::uint64_t access, std::uint64_t given_flags)
      : message(given),
        local(given.msg_iov, given.msg_iov + given.iov_count),
        remote(given.rma_iov, given.rma_iov + given.rma_iov_count),
        flags(given_flags) {
    if (local.size() > 1) met("a vector");
    for (std::size_t i = 0; i < local.size(); ++i) {
      void* told = given.desc != nullptr ? given.desc[i] : nullptr;
      descriptors.push_back(descriptor_of(local[i].iov_base, local[i].iov_len, told, access));
    }
  }
  const fi_msg_rma* fill() {
    message.msg_iov = local.data();
    message.rma_iov = remote.data();
    message.desc = descriptors.data();
    return &message;
  }
};

ssize_t read(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  if (busy()) return -FI_EAGAIN;
  Transfer one(*message, FI_READ, flags);
  return Table<fi_ops_rma>::provider->readmsg(endpoint, one.fill(), flags);
}

std::uint64_t last_immediate = 0;
fid_ep* writer = nullptr;
std::deque<Transfer> writes;  // begun, and kept for a while

ssize_t write(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
  if (busy()) return -FI_EAGAIN;
  Transfer one(*message, FI_WRITE, flags);
  if ((flags & FI_REMOTE_CQ_DATA) != 0) {
    if (has("no_immediate")) refuse("there is no immediate data");
    met("immediate data");
    last_immediate = message->data;
    if (has("short_immediate")) {
      if (message->data >> 32 != 0) refuse("immediate data of more than 4 bytes");
      met("short_immediate");
    }
  }
  if (!has("unordered_writes")) {
    return Table<fi_ops_rma>::provider->writemsg(endpoint, one.fill(), flags);
  }
  if ((flags & FI_DELIVERY_COMPLETE) == 0) refuse("nothing tells when the write is at its target");
  met("unordered_writes");
  writer = endpoint;
  writes.push_back(one);
  return 0;
}

/// A completion that is told of late.
struct LateReceive {
  fi_cq_data_entry entry;
  int looks;  // until then
};
std::vector<LateReceive> late_receives;

/// Keeps some of the receives among the entries back, and adds those kept back long enough. How
/// many entries there are then.
std::size_t delay_receives(fi_cq_data_entry* entries, std::size_t used, std::size_t room) {
  static std::minstd_rand random;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < used; ++i) {
    const bool received = (entries[i].flags & (FI_RECV | FI_REMOTE_CQ_DATA)) != 0;
    if (received && random() % 4 == 0) {
      late_receives.push_back({entries[i], 3});
    } else {
      if (received && !late_receives.empty()) met("late_receives");
      entries[kept++] = entries[i];
    }
  }
  for (std::size_t i = 0; i < late_receives.size() && kept < room;) {
    if (--late_receives[i].looks > 0) {
      ++i;
      continue;
    }
    entries[kept++] = late_receives[i].entry;
    late_receives.erase(late_receives.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return kept;
}

ssize_t read_queue(fid_cq* queue, void* entries, std::size_t count) {
  const auto now = std::chrono::steady_clock::now();
  while (!writes.empty() && now - writes.front().begun > length_of_a_write) {
    Transfer& one = writes.front();
    if (Table<fi_ops_rma>::provider->writemsg(writer, one.fill(), one.flags) != 0) break;
    writes.pop_front();
  }
  const ssize_t read = Table<fi_ops_cq>::provider->read(queue, entries, count);
  for (ssize_t i = 0; has("echoed_immediate") && last_immediate != 0 && i < read; ++i) {
    fi_cq_data_entry& entry = static_cast<fi_cq_data_entry*>(entries)[i];
    if ((entry.flags & FI_WRITE) == 0) continue;
    met("echoed_immediate");
    entry.flags |= FI_REMOTE_CQ_DATA;
    entry.data = last_immediate;
  }
  if (!has("late_receives")) return read;
  const auto used = static_cast<std::size_t>(std::max<ssize_t>(read, 0));
  const std::size_t told = delay_receives(static_cast<fi_cq_data_entry*>(entries), used, count);
  if (told != 0) return static_cast<ssize_t>(told);
  return read < 0 ? read : -FI_EAGAIN;
}

int try_wait(fid_fabric* fabric, fid** objects, int count) {
  if (!writes.empty() || !late_receives.empty()) return -FI_EAGAIN;
  return Table<fi_ops_fabric>::provider->trywait(fabric, objects, count);
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** made, void* context) {
  if (has("no_wait") && attributes->wait_obj != FI_WAIT_NONE) {
    met("no_wait");
    return -FI_ENOSYS;
  }
  if (attributes->format != FI_CQ_FORMAT_DATA) refuse("entries of an unknown kind");
  const int code = Table<fi_ops_domain>::provider->cq_open(domain, attributes, made, context);
  if (code == 0) Table<fi_ops_cq>::replace((*made)->ops).read = read_queue;
  return code;
}

/// As the real library offered it.
template <typename Call>
int with_real_info(const fi_info* info, Call call) {
  fi_info* copy = real(fi_dupinfo, "fi_dupinfo")(info);
  if (has("local_registration")) copy->domain_attr->mr_mode &= ~FI_MR_LOCAL;
  const int code = call(copy);
  real(fi_freeinfo, "fi_freeinfo")(copy);
  return code;
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** made, void* context) {
  const int code = with_real_info(info, [&](fi_info* offered) {
    return Table<fi_ops_domain>::provider->endpoint(domain, offered, made, context);
  });
  if (code != 0) return code;
  fi_ops_msg& messages = Table<fi_ops_msg>::replace((*made)->msg);
  messages.send = send;
  messages.inject = inject;
  messages.recv = receive;
  if ((*made)->rma == nullptr) return 0;
  fi_ops_rma& transfers = Table<fi_ops_rma>::replace((*made)->rma);
  transfers.readmsg = read;
  transfers.writemsg = write;
  return 0;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** made, void* context) {
  const int code = with_real_info(info, [&](fi_info* offered) {
    return Table<fi_ops_fabric>::provider->domain(fabric, offered, made, context);
  });
  if (code != 0) return code;
  Table<fi_ops_mr>::replace((*made)->mr).reg = register_memory;
  fi_ops_domain& opening = Table<fi_ops_domain>::replace((*made)->ops);
  opening.cq_open = open_queue;
  opening.endpoint = open_endpoint;
  return 0;
}

}  // namespace

extern "C" {

int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, fi_info** info) {
  if (has("local_registration") && (hints->domain_attr->mr_mode & FI_MR_LOCAL) == 0) {
    return -FI_ENODATA;
  }
  if (has("unordered_writes") && (hints->tx_attr->msg_order & FI_ORDER_SAW) != 0) {
    return -FI_ENODATA;
  }
  const int code = real(fi_getinfo, "fi_getinfo")(version, node, service, flags, hints, info);
  for (fi_info* one = code == 0 ? *info : nullptr; one != nullptr; one = one->next) {
    if (has("local_registration")) one->domain_attr->mr_mode |= FI_MR_LOCAL;
    if (has("unordered_writes")) {
      one->tx_attr->msg_order &= ~FI_ORDER_SAW;
      one->rx_attr->msg_order &= ~FI_ORDER_SAW;
    }
    if (has("short_immediate")) one->domain_attr->cq_data_size = 4;
    if (has("no_immediate")) {
      met("no_immediate");
      one->domain_attr->cq_data_size = 0;
    }
  }
  return code;
}

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** made, void* context) {
  const int code = real(fi_fabric, "fi_fabric")(attributes, made, context);
  if (code != 0) return code;
  fi_ops_fabric& opening = Table<fi_ops_fabric>::replace((*made)->ops);
  opening.domain = open_domain;
  opening.trywait = try_wait;
  return 0;
}

void fi_freeinfo(fi_info* info) {
  real(fi_freeinfo, "fi_freeinfo")(info);
}

fi_info* fi_dupinfo(const fi_info* info) {
  return real(fi_dupinfo, "fi_dupinfo")(info);
}

const char* fi_strerror(int error) {
  return real(fi_strerror, "fi_strerror")(error);
}

std::uint32_t fi_version() {
  return real(fi_version, "fi_version")();
}

}  // extern "C"
