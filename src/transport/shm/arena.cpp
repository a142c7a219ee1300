// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/arena.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "core/operation/address.hpp"

namespace oriel {
namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
constexpr std::uint64_t least_extent = 16 * mebi;
constexpr std::uint64_t least_growth = mebi;

int page_order() {
  return std::countr_zero(page_size());
}

std::byte* reserve(std::uint64_t bytes) {
  void* data =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

}  // namespace

std::uint64_t Arena::usual_extent() {
  constexpr std::uint64_t most = std::uint64_t{1} << 36;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  return std::bit_floor(std::clamp<std::uint64_t>(limit.rlim_cur / 1024, least_extent, most));
}

Arena::Arena(std::uint64_t first_extent) : next_extent_(first_extent), free_(page_order()) {
  // Before the first piece: another thread may be within a fork when that is allocated.
  watch_forks();
}

Arena::~Arena() {
  unwatch_forks();
  for (const Extent& extent : extents_) ::munmap(extent.data, extent.bytes);
}

bool Arena::ours() const {
  return file_.name().pid == ::getpid();
}

std::byte* Arena::allocate(std::uint64_t bytes, std::uint64_t alignment, std::string& error) {
  const int order = Buddies::order_of(std::max<std::uint64_t>(bytes, alignment));
  if (order >= Buddies::largest) {
    error = "Cannot allocate " + std::to_string(bytes) + " bytes: more than an address can say.";
    return nullptr;
  }
  if (!file_ && !file_.create(error)) return nullptr;
  if (!ours()) {
    error = "A child of an MPI process has no memory to share; only its parent may call MPI.";
    return nullptr;
  }
  std::optional<std::uint64_t> block = free_.allocate(order);
  if (!block.has_value() && add_extent(order, error)) block = free_.allocate(order);
  if (!block.has_value()) return nullptr;
  if (!prepare(*block, bytes)) {
    error =
        sentence("Cannot share " + std::to_string(bytes) + " bytes", errno, file_.advice(errno));
    free_.free(*block, order);
    return nullptr;
  }
  const std::lock_guard guard(mutex_);
  pieces_.emplace(*block, Piece{bytes, order});
  return at({*block, 0});
}

std::byte* Arena::allocate_for_program(std::uint64_t bytes, std::uint64_t alignment,
                                       std::string& error) {
  std::byte* const memory = allocate(bytes, alignment, error);
  if (memory == nullptr) return nullptr;
  const std::lock_guard guard(mutex_);
  piece_at(memory)->second.of_program = true;
  return memory;
}

void Arena::count_use(const ArenaLocation& location, int change) {
  // The program may have freed the memory before the window that uses it.
  const auto after = pieces_.upper_bound(location.offset);
  if (after == pieces_.begin()) return;
  auto& [begin, piece] = *std::prev(after);
  if (location.offset - begin >= piece.bytes) return;
  const std::lock_guard guard(mutex_);
  piece.uses = std::max(piece.uses + change, 0);
}

/// Reserves address space for one more extent, with space for a piece of that order.
bool Arena::add_extent(int order, std::string& error) {
  const std::uint64_t least = std::uint64_t{1} << order;
  std::uint64_t bytes = std::max(next_extent_, least);
  // The extent must lie at a multiple of its size in the address space, too: its pieces are then
  // aligned as in the file. Therefore reserves twice as much and unmaps the rest.
  auto* reserved = reserve(2 * bytes);
  while (reserved == nullptr && bytes > least) reserved = reserve(2 * (bytes /= 2));
  if (reserved == nullptr) {
    error = sentence("Cannot reserve " + std::to_string(least) + " bytes of address space", errno,
                     "See `ulimit -v`.");
    return false;
  }
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(reserved) & (bytes - 1);
  if (before != 0) ::munmap(reserved, before);
  if (before != bytes) ::munmap(reserved + before + bytes, bytes - before);
  const std::uint64_t end = extents_.empty() ? 0 : extents_.back().begin + extents_.back().bytes;
  const std::uint64_t begin = round_up(end, bytes);
  extents_.push_back({begin, bytes, reserved + before, 0});
  free_.free(begin, std::countr_zero(bytes));
  next_extent_ = 2 * bytes;
  return true;
}

/// Maps the file at a range. On failure returns false and sets errno.
bool Arena::prepare(std::uint64_t offset, std::uint64_t bytes) {
  Extent& extent = extent_at(offset);
  const std::uint64_t end =
      offset + round_up(std::max<std::uint64_t>(bytes, 1), page_size()) - extent.begin;
  if (end > extent.grown) {
    // The file grows in large steps; adjacent ones are one mapping of the kernel's.
    const std::uint64_t grown = std::min(extent.bytes, std::max(least_growth, std::bit_ceil(end)));
    if (!file_.grow(extent.begin + grown) ||
        ::mmap(extent.data + extent.grown, grown - extent.grown, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED, file_.descriptor(),
               static_cast<off_t>(extent.begin + extent.grown)) == MAP_FAILED) {
      return false;
    }
    extent.grown = grown;
  }
  const std::uint64_t first_page = round_down(offset, page_size());
  return file_.back(first_page,
                    round_up(offset + std::max<std::uint64_t>(bytes, 1), page_size()) - first_page);
}

std::uint64_t Arena::bytes_at(const void* pointer) {
  const auto found = piece_at(pointer);
  return found == pieces_.end() ? 0 : found->second.bytes;
}

bool Arena::remove(void* pointer, bool reuse) {
  const auto found = piece_at(pointer);
  if (found == pieces_.end()) return false;
  if (ours()) {
    clear(static_cast<std::byte*>(pointer), found->second);
    if (reuse) free_.free(found->first, found->second.order);
  }
  const std::lock_guard guard(mutex_);
  pieces_.erase(found);
  return true;
}

/// Zeroes a piece without touching pages that have never been touched.
void Arena::clear(std::byte* data, const Piece& piece) const {
  if (piece.order < page_order()) {
    std::memset(data, 0, piece.bytes);
    return;
  }
  // The hosts' caches of registered memory intercept madvise.
  const std::uint64_t bytes = round_up(piece.bytes, page_size());
  if (::madvise(data, bytes, MADV_REMOVE) != 0) std::memset(data, 0, bytes);
}

std::optional<ArenaLocation> Arena::find(const void* address, std::uint64_t bytes) const {
  const Extent* extent = extent_of(address);
  if (extent == nullptr) return std::nullopt;
  const std::uint64_t offset =
      extent->begin +
      static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - extent->data);
  const auto after = pieces_.upper_bound(offset);
  if (after == pieces_.begin()) return std::nullopt;
  const auto& [begin, piece] = *std::prev(after);
  const std::uint64_t inside = offset - begin;
  if (inside > piece.bytes || bytes > piece.bytes - inside) return std::nullopt;
  return ArenaLocation{offset, extent->bytes};
}

std::uint64_t Arena::allocated() const {
  std::uint64_t bytes = 0;
  for (const auto& [begin, piece] : pieces_) bytes += piece.bytes;
  return bytes;
}

std::byte* Arena::at(const ArenaLocation& location) {
  const Extent& extent = extent_at(location.offset);
  return extent.data + (location.offset - extent.begin);
}

Arena::Extent& Arena::extent_at(std::uint64_t offset) {
  return *std::prev(std::ranges::upper_bound(extents_, offset, {}, &Extent::begin));
}

const Arena::Extent* Arena::extent_of(const void* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const auto found = std::ranges::find_if(extents_, [&](const Extent& extent) {
    return number - reinterpret_cast<std::uintptr_t>(extent.data) < extent.bytes;
  });
  return found == extents_.end() ? nullptr : &*found;
}

Arena::Pieces::iterator Arena::piece_at(const void* address) {
  const Extent* extent = extent_of(address);
  if (extent == nullptr) return pieces_.end();
  return pieces_.find(extent->begin + static_cast<std::uint64_t>(
                                          static_cast<const std::byte*>(address) - extent->data));
}

PeerArena::~PeerArena() {
  for (const Extent& extent : extents_) ::munmap(extent.data, extent.bytes);
}

std::byte* PeerArena::at(const ArenaLocation& location, std::uint64_t bytes, std::string& error) {
  for (const Extent& extent : extents_) {
    if (extent.begin == location.extent()) return extent.data + (location.offset - extent.begin);
  }
  ArenaFile file;
  if (!file.open(name_, error)) return nullptr;
  if (location.offset > file.bytes() || bytes > file.bytes() - location.offset) {
    error = "The shared memory of process " + std::to_string(name_.pid) + " has " +
            std::to_string(file.bytes()) + " bytes, less than it announced.";
    return nullptr;
  }
  void* data = ::mmap(nullptr, location.extent_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                      file.descriptor(), static_cast<off_t>(location.extent()));
  if (data == MAP_FAILED) {
    error = sentence("Cannot map the shared memory of process " + std::to_string(name_.pid), errno,
                     "See `ulimit -v`.");
    return nullptr;
  }
  // The owner's core dump contains this memory; a dump of this process would read the whole
  // reservation.
  ::madvise(data, location.extent_bytes, MADV_DONTDUMP);
  extents_.push_back({location.extent(), location.extent_bytes, static_cast<std::byte*>(data)});
  return extents_.back().data + (location.offset - location.extent());
}

}  // namespace oriel
