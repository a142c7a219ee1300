// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <rdma/fi_errno.h>

#include <map>

#include "manners.hpp"

namespace awkward {
namespace {

// More than what packets need, fewer than what windows and origins of the tests need.
constexpr std::size_t most_registrations = 6;

/// A live registration.
struct Registration {
  const char* begin;
  std::size_t bytes;
  std::uint64_t access;
  void* descriptor;   // the provider's
  std::uint64_t key;  // not said before the registration is enabled
  bool bound = false;
};

std::map<void*, Registration>& registrations() {
  static std::map<void*, Registration> live;
  return live;
}

using MemoryTable = Table<fi_ops_mr, fid_domain>;
using RegistrationTable = Table<fi_ops, Registration>;

int close_registration(fid* object) {
  auto* registration = reinterpret_cast<fid_mr*>(object);
  const auto found = registrations().find(registration);
  registration->mem_desc = found->second.descriptor;
  registration->key = found->second.key;
  registrations().erase(found);
  return RegistrationTable::provider(object->ops).close(object);
}

int bind_registration(fid* object, fid* /*endpoint*/, std::uint64_t /*flags*/) {
  registrations().at(object).bound = true;
  return 0;
}

int control_registration(fid* object, int command, void* /*argument*/) {
  if (command != FI_ENABLE) refuse("a registration does not know this command");
  const Registration& registration = registrations().at(object);
  if (!registration.bound) refuse("a registration is enabled that is bound to no endpoint");
  reinterpret_cast<fid_mr*>(object)->key = registration.key;
  met("provider_keys");
  return 0;
}

/// Returns why the provider does not take the memory; 0: it does.
int refusal(std::uint64_t access) {
  static unsigned asked = 0;
  if (has("no_registration") && (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0) {
    met("no_registration");
    return -FI_ENOMEM;
  }
  if (has("read_only_origin") && access == FI_WRITE) {
    met("read_only_origin");
    return -FI_EFAULT;
  }
  const bool packets = (access & FI_SEND) != 0;
  if (has("failing_registration") && !packets && ++asked % 2 == 0) {
    met("failing_registration");
    return -FI_ENOMEM;
  }
  if (has("limited_registration") && registrations().size() >= most_registrations) {
    met("limited_registration");
    return -FI_ENOSPC;
  }
  return 0;
}

int register_memory(fid* domain, const void* memory, std::size_t bytes, std::uint64_t access,
                    std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** made,
                    void* context) {
  if (const int code = refusal(access); code != 0) return code;
  const int code = MemoryTable::provider(reinterpret_cast<fid_domain*>(domain)->mr)
                       .reg(domain, memory, bytes, access, offset, key, flags, made, context);
  if (code != 0) return code;
  fid_mr& registration = **made;
  registrations()[*made] = {static_cast<const char*>(memory), bytes, access, registration.mem_desc,
                            registration.key};
  fi_ops& functions = RegistrationTable::replace(registration.fid.ops);
  functions.close = close_registration;
  if (needs_local_registration()) registration.mem_desc = *made;
  if (has("provider_keys")) {
    registration.key = FI_KEY_NOTAVAIL;
    functions.bind = bind_registration;
    functions.control = control_registration;
  }
  return 0;
}

int register_vector(fid* /*domain*/, const iovec* /*memory*/, std::size_t /*count*/,
                    std::uint64_t /*access*/, std::uint64_t /*offset*/, std::uint64_t /*key*/,
                    std::uint64_t /*flags*/, fid_mr** /*made*/, void* /*context*/) {
  refuse("fi_mr_regv is not played");
}

int register_by_attributes(fid* domain, const fi_mr_attr* attributes, std::uint64_t flags,
                           fid_mr** made) {
  if (attributes->iov_count != 1) refuse("a registration of several parts is not played");
  return register_memory(domain, attributes->mr_iov->iov_base, attributes->mr_iov->iov_len,
                         attributes->access, attributes->offset, attributes->requested_key, flags,
                         made, attributes->context);
}

}  // namespace

bool needs_local_registration() {
  return has("local_registration") || has("read_only_origin") || has("failing_registration") ||
         has("limited_registration");
}

void* descriptor_of(const void* memory, std::size_t bytes, void* descriptor, std::uint64_t access) {
  if (!needs_local_registration()) return descriptor;
  const auto found = registrations().find(descriptor);
  if (found == registrations().end()) refuse("memory is not registered");
  const Registration& registration = found->second;
  const auto* begin = static_cast<const char*>(memory);
  if (begin < registration.begin || begin + bytes > registration.begin + registration.bytes ||
      (registration.access & access) == 0) {
    refuse("memory is registered at another place, or for another purpose");
  }
  met(access == FI_WRITE  ? "local_registration of a write"
      : access == FI_READ ? "local_registration of a read"
                          : "local_registration");
  return registration.descriptor;
}

void play_memory(fid_domain& domain) {
  fi_ops_mr& functions = MemoryTable::replace(domain.mr);
  functions.reg = register_memory;
  functions.regv = register_vector;
  functions.regattr = register_by_attributes;
}

}  // namespace awkward
