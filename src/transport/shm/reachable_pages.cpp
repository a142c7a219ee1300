// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/shm_transport.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "core/operation/address.hpp"
#include "transport/shm/arena_file.hpp"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace oriel {
namespace {

bool readable(std::uint64_t page) {
  std::byte byte{};
  const iovec here{&byte, 1};
  const iovec there{reinterpret_cast<void*>(page), 1};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == 1;
}

/// Faults the pages in, as the access itself would. False if that is not possible.
bool populate(std::uint64_t first, std::uint64_t bytes, bool stored) {
  const int advice = stored ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  while (::madvise(reinterpret_cast<void*>(first), bytes, advice) != 0) {
    if (errno != EINTR && errno != EAGAIN) return false;
  }
  return true;
}

/// True if the kernel can populate pages (Linux 5.14 or later). Older kernels can only be asked
/// whether a page can be loaded.
bool populates() {
  static std::uint64_t ours = 0;
  static const bool does = populate(
      round_down(reinterpret_cast<std::uintptr_t>(&ours), page_size()), page_size(), false);
  return does;
}

/// True if these pages can be accessed.
bool reach(std::uint64_t first, std::uint64_t bytes, bool stored) {
  if (populates()) return populate(first, bytes, stored);
  for (std::uint64_t page = first; page < first + bytes; page += page_size()) {
    if (!readable(page)) return false;
  }
  return true;
}

}  // namespace

bool ReachablePages::contain(std::uint64_t address, std::uint64_t bytes, bool stored) {
  std::uint64_t page = round_down(address, page_size());
  const std::uint64_t end = address + bytes;
  while (page < end && knows(page, stored)) page += page_size();
  if (page >= end) return true;
  if (!reach(page, round_up(end - page, page_size()), stored)) return false;
  for (; page < end; page += page_size()) {
    kept(page).store(page | loadable | (stored ? storable : 0));
  }
  return true;
}

bool ReachablePages::reachable_now(std::uint64_t address, std::uint64_t bytes, bool stored) {
  const std::uint64_t first = round_down(address, page_size());
  return reach(first, round_up(address + bytes - first, page_size()), stored);
}

void ReachablePages::forget() {
  for (Published<std::uint64_t>& page : kept_) page.store(0);
}

Published<std::uint64_t>& ReachablePages::kept(std::uint64_t page) {
  return kept_[page / page_size() % most_kept];
}

bool ReachablePages::knows(std::uint64_t page, bool stored) {
  const std::uint64_t known = kept(page).load();
  return known == (page | loadable | storable) || (!stored && known == (page | loadable));
}

}  // namespace oriel
