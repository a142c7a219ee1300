// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/adopted_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "transport/shm/clock.hpp"
#include "transport/shm/frozen_pages.hpp"

namespace oriel {
namespace {

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

std::byte* address(std::uintptr_t number) {
  return reinterpret_cast<std::byte*>(number);
}

/// A number of kilobytes from /proc/self/status or a like file; the sum of all lines of that name.
std::uint64_t kilobytes(std::istream& lines, const std::string& name, std::uintptr_t begin = 0,
                        std::uintptr_t end = 0) {
  std::uint64_t sum = 0;
  bool inside = end == 0;
  for (std::string line; std::getline(lines, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    if (end != 0 && std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) {
      inside = from < end && to > begin;
      if (from >= end) break;
    } else if (inside && line.starts_with(name)) {
      sum += std::strtoull(line.c_str() + name.size(), nullptr, 10);
    }
  }
  return sum;
}

/// Whether shared memory may have huge pages, which the kernel by default denies it.
bool shared_memory_has_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string text;
  std::getline(file, text);
  return !text.empty() && text.find("[never]") == std::string::npos &&
         text.find("[deny]") == std::string::npos;
}

std::uint64_t huge_page() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : std::numeric_limits<std::uint64_t>::max();
}

bool several_memory_nodes() {
  std::ifstream file("/sys/devices/system/node/has_memory");
  std::string text;
  std::getline(file, text);
  return text.find_first_of("-,") != std::string::npos;
}

/// A device may know the program's pages by their physical addresses. The kernel counts what is
/// registered for InfiniBand (VmPin), but not what drivers of accelerators hold.
bool may_hold_pages(const std::string& name) {
  constexpr std::array harmless{"/dev/shm/", "/dev/zero", "/dev/hugepages/", "/dev/infiniband/"};
  return name.starts_with("/dev/") &&
         std::ranges::none_of(harmless, [&](const char* one) { return name.starts_with(one); });
}

/// Nanoseconds per byte of the first touch of fresh memory, page by page; 0: not known.
double touch_ns() {
  constexpr std::size_t pages = 64;
  const std::size_t bytes = pages * page_size();
  void* fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return 0;
  const std::uint64_t start = nanoseconds_now();
  for (std::size_t page = 0; page < pages; ++page) {
    static_cast<volatile std::byte*>(fresh)[page * page_size()] = std::byte{1};
  }
  const std::uint64_t took = nanoseconds_now() - start;
  ::munmap(fresh, bytes);
  return static_cast<double>(took) / static_cast<double>(bytes);
}

/// Whole pages of a range; `end` is not more than `begin`: there is none.
std::pair<std::uintptr_t, std::uintptr_t> whole_pages(const MemoryRange& range) {
  const std::uintptr_t page = page_size();
  return {(range.address + page - 1) / page * page, (range.address + range.bytes) / page * page};
}

/// Puts private memory with the same contents in the place of shared pages, at once.
bool make_private(const SharedPages& shared) {
  const auto& [begin, bytes] = shared.pages;
  void* copy = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  const std::byte* const from = begin;
  shared.for_each_touched([&](std::uint64_t first, std::size_t length) {
    std::memcpy(static_cast<std::byte*>(copy) + first, from + first, length);
    return true;
  });
  // Not by the C library's function: UCX replaces it, and before 1.15 drops the new address.
  if (::syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != -1) {
    return true;
  }
  ::munmap(copy, bytes);
  return false;
}

bool overlap(const MemoryRange& range, std::uintptr_t begin, std::uintptr_t end) {
  return range.address < end && begin < range.address + range.bytes;
}

}  // namespace

std::optional<Adoption> adoption_named(const std::string& name) {
  if (name == "never") return Adoption::never;
  if (name == "auto") return Adoption::automatic;
  if (name == "always") return Adoption::always;
  return std::nullopt;
}

AdoptedMemory::AdoptedMemory(Arena& arena, Adoption when)
    : arena_(arena), when_(when), began_(nanoseconds_now()) {
  if (when != Adoption::never) join();
}

AdoptedMemory::~AdoptedMemory() {
  leave();
  const std::lock_guard guard(mutex_);
  for (Piece& piece : pieces_) piece.uses = 0;
  give_back_unused();
}

MemoryRange AdoptedMemory::adopt(void* memory, std::uint64_t bytes, std::string& why) {
  const MemoryRange range{number(memory), bytes};
  if (when_ == Adoption::never) {
    why = "ORIEL_ADOPT is never";
    return range;
  }
  const std::lock_guard guard(mutex_);
  MemoryRange made = range;
  if (Piece* piece = place(range, why)) {
    ++piece->uses;
    made = part_of(range, *piece);
  }
  use_private(made);
  return made;
}

/// Peers reach what of the range is not in the arena by system calls until it is released.
void AdoptedMemory::use_private(const MemoryRange& range) {
  const auto add = [&](std::uintptr_t begin, std::uint64_t bytes) {
    if (bytes != 0) private_.push_back({begin, bytes});
  };
  if (!range.location.shared()) return add(range.address, range.bytes);
  add(range.address, range.head);
  add(range.address + range.bytes - range.tail, range.tail);
}

void AdoptedMemory::leave_private(std::uintptr_t address, std::uint64_t bytes) {
  const auto same = std::ranges::find_if(private_, [&](const MemoryRange& one) {
    return one.address == address && one.bytes == bytes;
  });
  if (same != private_.end()) private_.erase(same);
}

/// The piece that has pages of the range; null: there is none and can be none.
AdoptedMemory::Piece* AdoptedMemory::place(const MemoryRange& range, std::string& why) {
  give_back_unused();
  const auto [begin, end] = whole_pages(range);
  if (end <= begin) {
    why = "it has no whole page";
    return nullptr;
  }
  if (Piece* known = find(begin, end)) {
    if (!is_there(*known, std::max(begin, known->begin), std::min(end, known->end()))) {
      why = "the program has freed memory of a window that is left";
      return nullptr;
    }
    const MemoryRange part = part_of(range, *known);
    if (part.location.shared()) return known;
    why = "most of it lies outside the part that another window has in shared memory";
    return nullptr;
  }
  Piece piece;
  piece.begin = begin;
  piece.bytes = end - begin;
  if (when_ == Adoption::automatic && !affordable(piece.bytes)) {
    why = "adopting it would take too much of the program's time";
    return nullptr;
  }
  const std::uint64_t start = nanoseconds_now();
  const bool moved = may_adopt(begin, end, why) && move_in(piece, why);
  nanoseconds_ += nanoseconds_now() - start;
  return moved ? &pieces_.emplace_back(piece) : nullptr;
}

AdoptedMemory::Piece* AdoptedMemory::find(std::uintptr_t begin, std::uintptr_t end) {
  const auto found = std::ranges::find_if(
      pieces_, [&](const Piece& piece) { return piece.begin < end && begin < piece.end(); });
  return found == pieces_.end() ? nullptr : &*found;
}

/// The range with those of its bytes as shared part that the piece has.
MemoryRange AdoptedMemory::part_of(const MemoryRange& range, Piece& piece) const {
  const std::uintptr_t first = std::max<std::uintptr_t>(range.address, piece.begin);
  const std::uintptr_t last = std::min<std::uintptr_t>(range.address + range.bytes, piece.end());
  const std::uint64_t head = first - range.address;
  const std::uint64_t tail = range.address + range.bytes - last;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (head > most || tail > most) return range;
  MemoryRange made = range;
  made.head = static_cast<std::uint32_t>(head);
  made.tail = static_cast<std::uint32_t>(tail);
  made.location = piece.location;
  made.location.offset += first - piece.begin;
  return made;
}

bool AdoptedMemory::may_adopt(std::uintptr_t begin, std::uintptr_t end, std::string& why) const {
  const auto mappings = mappings_in(begin, end, "/dev/");
  if (!mappings) {
    why = "the system does not say what is mapped";
    return false;
  }
  const char here = 0;
  const std::uintptr_t stack = number(&here);
  std::uintptr_t covered = begin;
  for (const Mapping& one : *mappings) {
    if (may_hold_pages(one.name)) {
      why = "the process uses a device that may hold pages, " + one.name;
      return false;
    }
    if (one.end <= begin || one.begin >= end) continue;
    if (!one.private_memory()) {
      why = "it is not private memory for data, without a file";
      return false;
    }
    if (one.begin <= stack && stack < one.end) {
      why = "it is the stack of the calling thread";
      return false;
    }
    if (one.begin <= covered) covered = std::min(one.end, end);
  }
  if (covered != end) {
    why = "some of it is not mapped";
    return false;
  }
  if (told_private(begin, end)) {
    why = "peers already reach it as private memory";
    return false;
  }
  std::ifstream status("/proc/self/status");
  const std::uint64_t locked = kilobytes(status, "VmLck:");
  status.clear();
  status.seekg(0);
  if (locked + kilobytes(status, "VmPin:") != 0) {
    why = "the process has memory that is locked, or registered with a device";
    return false;
  }
  if (when_ == Adoption::always) return true;
  if (several_memory_nodes() && !new_pages_lie_where(address(begin), end - begin)) {
    why = "its pages would move to another memory node";
    return false;
  }
  if (end - begin >= huge_page() && !shared_memory_has_huge_pages()) {
    std::ifstream maps("/proc/self/smaps");
    if (kilobytes(maps, "AnonHugePages:", begin, end) != 0) {
      why = "it would lose its huge pages";
      return false;
    }
  }
  return true;
}

/// To adopt memory takes about as long as to touch it for the first time. So all of it may take as
/// long as to touch all of the process's memory once, and besides that a hundredth of the program's
/// time.
bool AdoptedMemory::affordable(std::uint64_t bytes) {
  if (touch_ns_ == 0) touch_ns_ = touch_ns();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double memory = static_cast<double>(usage.ru_maxrss) * 1024;
  const double expected =
      static_cast<double>(nanoseconds_) + static_cast<double>(bytes) * touch_ns_;
  return expected <= memory * touch_ns_ + static_cast<double>(nanoseconds_now() - began_) / 100;
}

/// Moves whole pages into the arena: copied, and mapped where they were.
bool AdoptedMemory::move_in(Piece& piece, std::string& why) {
  std::byte* const from = address(piece.begin);
  piece.in_arena = arena_.allocate(piece.bytes, page_size(), why);
  if (piece.in_arena == nullptr) return false;
  piece.location = arena_.find(piece.in_arena, piece.bytes).value_or(ArenaLocation{});
  const auto move = [&] {
    std::vector<PageRun> runs;
    runs.reserve(piece.bytes / page_size() / 2 + 1);
    std::optional<FrozenPages> frozen;
    if (running_threads() > 1 && !frozen.emplace(from, piece.bytes)) {
      why = "several threads run, and the system does not permit userfaultfd";
      return false;
    }
    // No store to the frozen pages from here: they may be those of the program's allocator.
    if (!touched_runs(from, piece.bytes, runs)) {
      frozen.reset();
      why = "the system does not say which of its pages are in use";
      return false;
    }
    for (const PageRun& run : runs) {
      std::memcpy(piece.in_arena + (run.begin - from), run.begin, run.bytes);
    }
    // By a call that the hosts' caches of registered memory watch.
    if (::mmap(from, piece.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               arena_.descriptor(), static_cast<off_t>(piece.location.offset)) == MAP_FAILED) {
      const int error = errno;
      frozen.reset();
      why = std::string("it cannot be mapped again: ") + std::strerror(error);
      return false;
    }
#ifdef MADV_POPULATE_WRITE
    // Not page by page at the program's next touches; it is as well if the kernel cannot.
    for (const PageRun& run : runs) ::madvise(run.begin, run.bytes, MADV_POPULATE_WRITE);
#endif
    return true;
  };
  if (!move()) {
    arena_.free(piece.in_arena);
    return false;
  }
  // Mapped twice, it would count twice as this process's memory. Nothing of it is lost.
  ::madvise(piece.in_arena, piece.bytes, MADV_DONTNEED);
  if (shared_memory_has_huge_pages()) ::madvise(from, piece.bytes, MADV_HUGEPAGE);
  return true;
}

void AdoptedMemory::release(const MemoryRange& range) {
  const std::lock_guard guard(mutex_);
  if (!range.location.shared()) return leave_private(range.address, range.bytes);
  leave_private(range.address, range.head);
  leave_private(range.address + range.bytes - range.tail, range.tail);
  const auto found = std::ranges::find_if(pieces_, [&](const Piece& piece) {
    return range.location.offset - piece.location.offset < piece.bytes;
  });
  if (found == pieces_.end()) return;
  --found->uses;
  give_back_unused();
}

/// Those of its pages that are still mapped where they were put. Nothing: the kernel does not say.
std::optional<std::vector<SharedPages>> AdoptedMemory::still_there(const Piece& piece) const {
  const auto mappings = mappings_in(piece.begin, piece.end());
  if (!mappings) return std::nullopt;
  std::vector<SharedPages> found;
  const ArenaName file = arena_.name();
  for (const Mapping& one : *mappings) {
    const std::uint64_t offset = piece.location.offset + (one.begin - piece.begin);
    if (!one.shared || one.inode != file.inode || one.device != file.device ||
        one.offset != offset) {
      continue;
    }
    found.push_back({{address(one.begin), one.end - one.begin}, arena_.descriptor(), offset});
  }
  return found;
}

bool AdoptedMemory::is_there(const Piece& piece, std::uintptr_t begin, std::uintptr_t end) const {
  const auto pages_there = still_there(piece);
  if (!pages_there) return false;
  for (const auto& [pages, file, offset] : *pages_there) {
    if (number(pages.begin) <= begin) begin = std::max(begin, number(pages.begin) + pages.bytes);
  }
  return begin >= end;
}

/// Makes the pieces private again that no window uses. A piece stays if a store could be lost by
/// that, until it can be done, or until the program has freed its memory.
void AdoptedMemory::give_back_unused() {
  std::erase_if(pieces_, [&](const Piece& piece) {
    if (piece.uses > 0 || !give_back(piece)) return false;
    arena_.free(piece.in_arena);
    return true;
  });
}

bool AdoptedMemory::give_back(const Piece& piece) {
  const std::uint64_t start = nanoseconds_now();
  const auto pages_there = still_there(piece);
  if (!pages_there) return false;
  for (const SharedPages& shared : *pages_there) {
    const auto& [begin, bytes] = shared.pages;
    if (told_private(number(begin), number(begin) + bytes)) return false;
    std::optional<FrozenPages> frozen;
    if (running_threads() > 1 && !frozen.emplace(begin, bytes)) return false;
    // Drops nothing of shared memory; but the hosts' caches of registered memory watch this call,
    // and not what mremap replaces.
    ::madvise(begin, bytes, MADV_DONTNEED);
    if (!make_private(shared)) return false;
  }
  nanoseconds_ += nanoseconds_now() - start;
  return true;
}

void AdoptedMemory::note_private(const void* memory, std::uint64_t bytes) {
  if (when_ == Adoption::never || bytes == 0) return;
  const std::lock_guard guard(mutex_);
  std::uintptr_t begin = number(memory);
  std::uintptr_t end = begin + bytes;
  auto next = told_private_.upper_bound(end);
  while (next != told_private_.begin() && std::prev(next)->second >= begin) {
    const auto touched = std::prev(next);
    begin = std::min(begin, touched->first);
    end = std::max(end, touched->second);
    next = told_private_.erase(touched);
  }
  told_private_.emplace(begin, end);
}

bool AdoptedMemory::told_private(std::uintptr_t begin, std::uintptr_t end) const {
  const auto after = told_private_.lower_bound(end);
  if (after != told_private_.begin() && std::prev(after)->second > begin) return true;
  return std::ranges::any_of(private_,
                             [&](const MemoryRange& range) { return overlap(range, begin, end); });
}

void AdoptedMemory::before_fork(std::vector<SharedPages>& copied) {
  mutex_.lock();
  for (const Piece& piece : pieces_) {
    const auto pages_there = still_there(piece);
    if (!pages_there) {
      std::fprintf(
          stderr,
          "oriel: a process that forks cannot ask which of its windows' memory is left: "
          "/proc/self/maps cannot be read. The child shares that memory with its parent.\n");
      continue;
    }
    copied.insert(copied.end(), pages_there->begin(), pages_there->end());
  }
}

void AdoptedMemory::after_fork(bool in_child) {
  // The pieces in the arena are the parent's alone from now on.
  if (in_child) pieces_.clear();
  mutex_.unlock();
}

}  // namespace oriel
