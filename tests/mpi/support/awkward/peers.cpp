// SPDX-License-Identifier: BSD-3-Clause
#include "peers.hpp"

#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "manners.hpp"

namespace awkward {
namespace {

using NameTable = Table<fi_ops_cm, fid_ep>;
using AddressTable = Table<fi_ops_av, fid_av>;

static_assert(Looks::is_always_lock_free);

/// A count of looks in a file that is named by the address of the process's endpoint.
struct SharedLooks {
  std::string file;
  Looks* looks = nullptr;
};

/// By the endpoint: two of one process are two files.
std::map<const fid_ep*, SharedLooks>& own_looks() {
  static std::map<const fid_ep*, SharedLooks> own;
  return own;
}
using Peers = std::map<fi_addr_t, const Looks*>;
/// By the address vector.
std::map<const fid*, Peers>& peers() {
  static std::map<const fid*, Peers> all;
  return all;
}
std::map<const fid_ep*, const fid*>& address_vectors() {
  static std::map<const fid_ep*, const fid*> bound;
  return bound;
}

bool looks_matter() {
  return has("acknowledged_by_software") || has("looks_only");
}

SharedLooks open_looks(std::string_view address, int flags) {
  std::string name = "/oriel-awkward-";
  for (const unsigned char byte : address) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", byte);
    name += two.data();
  }
  const int file = ::shm_open(name.c_str(), flags | O_RDWR, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Looks)) != 0) refuse("no shared word can be made");
  void* memory = ::mmap(nullptr, sizeof(Looks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) refuse("no shared word can be mapped");
  ::close(file);
  return {name, static_cast<Looks*>(memory)};
}

std::size_t opaque_bytes() {
  return has("opaque_32") ? 32 : has("opaque_100") ? 100 : 0;
}

/// Says the real address, or one of as many bytes as the manner asks for: these begin with the
/// length of the real one.
int tell_name(fid_t endpoint, void* address, std::size_t* bytes) {
  std::array<char, 256> own{};
  std::size_t length = own.size();
  const int code = NameTable::provider(reinterpret_cast<fid_ep*>(endpoint)->cm)
                       .getname(endpoint, own.data(), &length);
  if (code != 0) return code;
  if (looks_matter()) {
    const auto* key = reinterpret_cast<const fid_ep*>(endpoint);
    if (!own_looks().contains(key)) {
      own_looks()[key] = open_looks({own.data(), length}, O_CREAT | O_TRUNC);
    }
  }
  const std::size_t room = *bytes;
  const std::size_t wrapped = opaque_bytes();
  *bytes = wrapped != 0 ? wrapped : length;
  if (*bytes > room) return -FI_ETOOSMALL;
  if (wrapped == 0) {
    std::memcpy(address, own.data(), length);
    return 0;
  }
  met(has("opaque_32") ? "opaque_32" : "opaque_100");
  if (length >= wrapped) refuse("the real address is longer than the opaque one");
  auto* told = static_cast<char*>(address);
  std::memset(told, 0xa5, wrapped);
  told[0] = static_cast<char>(length);
  std::memcpy(told + 1, own.data(), length);
  return 0;
}

int insert(fid_av* addresses, const void* address, std::size_t count, fi_addr_t* numbers,
           std::uint64_t flags, void* context) {
  if (count != 1) refuse("several addresses at a time are not played");
  const auto* told = static_cast<const char*>(address);
  std::string_view real_address(told, 0);
  const void* passed = address;
  if (opaque_bytes() != 0) {
    real_address = {told + 1, static_cast<std::size_t>(told[0])};
    passed = real_address.data();
  }
  const int inserted =
      AddressTable::provider(addresses->ops).insert(addresses, passed, 1, numbers, flags, context);
  if (inserted != 1 || !looks_matter()) return inserted;
  std::array<char, 256> found{};
  std::size_t length = found.size();
  if (fi_av_lookup(addresses, *numbers, found.data(), &length) != 0) refuse("an address is lost");
  peers()[&addresses->fid][*numbers] = open_looks({found.data(), length}, 0).looks;
  return inserted;
}

}  // namespace

void count_look() {
  for (const auto& [endpoint, own] : own_looks()) own.looks->fetch_add(1);
}

const Looks& looks_of(const fid_ep* endpoint, fi_addr_t address) {
  return *peers().at(address_vectors().at(endpoint)).at(address);
}

void play_addresses(fid_ep& endpoint) {
  NameTable::replace(endpoint.cm).getname = tell_name;
}

void play_addresses(fid_av& addresses) {
  AddressTable::replace(addresses.ops).insert = insert;
}

void bind_addresses(const fid_ep* endpoint, const fid* addresses) {
  address_vectors()[endpoint] = addresses;
}

void end_looks(const fid_ep* endpoint) {
  const auto found = own_looks().find(endpoint);
  if (found == own_looks().end()) return;
  ::shm_unlink(found->second.file.c_str());
  own_looks().erase(found);
}

}  // namespace awkward
