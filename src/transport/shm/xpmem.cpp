// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/xpmem.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iterator>
#include <string>

#include "core/base/settings.hpp"
#include "core/operation/address.hpp"
#include "transport/shm/arena_file.hpp"
#include "transport/shm/descriptors.hpp"
#include "transport/shm/dynamic_library.hpp"

namespace oriel {
namespace {

constexpr const char* xpmem_library = "libxpmem.so.0";
constexpr const char* xpmem_device = "/dev/xpmem";

// Constants of xpmem.h.
constexpr std::size_t all_addresses = ~std::size_t{0};
constexpr int read_and_write = 2;
constexpr int permit_mode = 1;

// Mappings of all peers' memory: a quarter of those that Linux permits a process.
constexpr std::size_t most_mappings = 16'384;

// Mappings begin and end at multiples of this, so that near ranges share one.
constexpr std::uint64_t block_bytes = std::uint64_t{8} << 20;

/// True if a load from the address succeeds. The kernel loads a set of signals from there, and then
/// refuses the call, which names no way to use the set.
bool loadable(const std::byte* address) {
  constexpr int no_way = -1;
  constexpr std::uint64_t set_bytes = 8;
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  ::syscall(SYS_rt_sigprocmask, no_way, round_down(number, set_bytes), nullptr, set_bytes);
  return errno == EINVAL;
}

}  // namespace

bool Xpmem::find(void* library, Functions& functions) {
  return find_function(library, "xpmem_version", functions.version) &&
         find_function(library, "xpmem_make", functions.make) &&
         find_function(library, "xpmem_remove", functions.remove) &&
         find_function(library, "xpmem_get", functions.get) &&
         find_function(library, "xpmem_release", functions.release) &&
         find_function(library, "xpmem_attach", functions.attach) &&
         find_function(library, "xpmem_detach", functions.detach);
}

std::unique_ptr<Xpmem> Xpmem::load() {
  const std::string named = setting_text("ORIEL_XPMEM");
  if (named == "0" || (named.empty() && ::access(xpmem_device, R_OK | W_OK) != 0)) return nullptr;
  occupy_standard_descriptors();  // libxpmem opens the device
  void* library = ::dlopen(named.empty() ? xpmem_library : named.c_str(), RTLD_NOW | RTLD_LOCAL);
  Functions functions;
  if (library == nullptr || !find(library, functions) || functions.version() < 0) return nullptr;
  // Only processes of this user may map the memory.
  void* const mode = reinterpret_cast<void*>(0600);
  const std::int64_t space = functions.make(nullptr, all_addresses, permit_mode, mode);
  return space > 0 ? std::unique_ptr<Xpmem>(new Xpmem(functions, space)) : nullptr;
}

Xpmem::~Xpmem() {
  functions_.remove(space_);
}

Xpmem::Permit Xpmem::get(std::uint64_t space) const {
  return functions_.get(static_cast<std::int64_t>(space), read_and_write, permit_mode, nullptr);
}

std::byte* Xpmem::map(Permit permit, std::uint64_t address, std::uint64_t bytes) {
  if (mappings_ == most_mappings) return nullptr;
  void* mapping = functions_.attach({permit, static_cast<off_t>(address)}, bytes, nullptr);
  if (reinterpret_cast<std::intptr_t>(mapping) == -1) return nullptr;
  ++mappings_;
  return static_cast<std::byte*>(mapping);
}

void Xpmem::unmap(std::byte* mapping) {
  --mappings_;
  functions_.detach(mapping);
}

PeerSpace::PeerSpace(Xpmem& xpmem, std::uint64_t space)
    : xpmem_(xpmem), permit_(xpmem.get(space)) {}

PeerSpace::~PeerSpace() {
  for (std::byte* mapping : all_) xpmem_.unmap(mapping);
  if (permit_ > 0) xpmem_.release(permit_);
}

std::byte* PeerSpace::at(std::uint64_t address, std::uint64_t bytes) {
  if (permit_ <= 0) return nullptr;
  const std::uint64_t end = address + bytes;
  const auto after = mappings_.upper_bound(address);
  if (after != mappings_.begin()) {
    const auto& [begin, known] = *std::prev(after);
    if (end - begin <= known.bytes) return known.data + (address - begin);
  }
  std::uint64_t begin = round_down(address, block_bytes);
  Mapping made = map(begin, round_up(end, block_bytes), address);
  if (made.data == nullptr) {
    // A block may contain addresses that no process has.
    begin = round_down(address, page_size());
    made = map(begin, round_up(end, page_size()), address);
  }
  if (made.data == nullptr) return nullptr;
  auto covered = mappings_.lower_bound(begin);
  while (covered != mappings_.end() &&
         covered->first + covered->second.bytes <= begin + made.bytes) {
    covered = mappings_.erase(covered);
  }
  mappings_.emplace(begin, made);
  return made.data + (address - begin);
}

/// Maps the addresses from `begin` to `end`. No data: that is not possible, or the byte at `used`
/// cannot be loaded there.
PeerSpace::Mapping PeerSpace::map(std::uint64_t begin, std::uint64_t end, std::uint64_t used) {
  std::byte* const data = xpmem_.map(permit_, begin, end - begin);
  if (data == nullptr) return {};
  if (!loadable(data + (used - begin))) {
    xpmem_.unmap(data);
    return {};
  }
  all_.push_back(data);
  return {end - begin, data};
}

}  // namespace oriel
