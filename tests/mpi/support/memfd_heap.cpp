// SPDX-License-Identifier: BSD-3-Clause
// A heap in a file without a name (memfd), for programs that run with the stand-in for libxpmem
// (tests/core/support/xpmem_stand_in.cpp): it can map what a program has from malloc, and nothing
// else. Freed blocks are used again; nothing is returned to the system.
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t heap_bytes = std::size_t{1} << 34;
constexpr std::size_t least_block = 64;

/// In front of each piece of memory that was handed out.
struct Header {
  std::byte* block;
  std::size_t bytes;  // of the block, a power of two
};

struct Free {
  Free* next;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::byte* heap = nullptr;
std::size_t used = 0;
std::array<Free*, 64> freed{};

bool make_heap() {
  const int file = ::memfd_create("heap", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, heap_bytes) != 0) return false;
  // The descriptor stays open: peers find the file by it. Programs use the lowest numbers.
  constexpr int high = 500;
  const int kept = ::dup2(file, high);
  ::close(file);
  void* mapped =
      ::mmap(nullptr, heap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, kept, 0);
  if (mapped == MAP_FAILED) return false;
  heap = static_cast<std::byte*>(mapped);
  return true;
}

std::byte* take_block(std::size_t bytes) {
  Free*& first = freed[static_cast<std::size_t>(std::countr_zero(bytes))];
  if (first != nullptr) {
    auto* block = reinterpret_cast<std::byte*>(first);
    first = first->next;
    return block;
  }
  if (heap == nullptr && !make_heap()) return nullptr;
  if (bytes > heap_bytes - used) return nullptr;
  std::byte* block = heap + used;
  used += bytes;
  return block;
}

void* take(std::size_t bytes, std::size_t alignment) {
  if (bytes > heap_bytes / 4 || alignment > heap_bytes / 4) {
    errno = ENOMEM;
    return nullptr;
  }
  if (alignment < sizeof(Header)) alignment = sizeof(Header);
  std::size_t whole = std::bit_ceil(bytes + sizeof(Header) + alignment);
  if (whole < least_block) whole = least_block;
  ::pthread_mutex_lock(&mutex);
  std::byte* block = take_block(whole);
  ::pthread_mutex_unlock(&mutex);
  if (block == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(Header);
  const auto place = (first + alignment - 1) & ~(alignment - 1);
  auto* memory = reinterpret_cast<std::byte*>(place);
  reinterpret_cast<Header*>(memory)[-1] = {block, whole};
  return memory;
}

Header& header_of(void* memory) {
  return static_cast<Header*>(memory)[-1];
}

/// False of memory that the loader has allocated before.
bool ours(const void* memory) {
  const auto* place = static_cast<const std::byte*>(memory);
  return heap != nullptr && place >= heap && place < heap + heap_bytes;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  return take(bytes, 0);
}

void free(void* memory) {
  if (!ours(memory)) return;
  const Header header = header_of(memory);
  auto* block = reinterpret_cast<Free*>(header.block);
  ::pthread_mutex_lock(&mutex);
  Free*& first = freed[static_cast<std::size_t>(std::countr_zero(header.bytes))];
  block->next = first;
  first = block;
  ::pthread_mutex_unlock(&mutex);
}

void* calloc(std::size_t count, std::size_t each) {
  std::size_t bytes = 0;
  void* memory = __builtin_mul_overflow(count, each, &bytes) ? nullptr : take(bytes, 0);
  return memory != nullptr ? std::memset(memory, 0, bytes) : nullptr;
}

std::size_t malloc_usable_size(void* memory) {
  if (!ours(memory)) return 0;
  const Header& header = header_of(memory);
  return static_cast<std::size_t>(header.block + header.bytes - static_cast<std::byte*>(memory));
}

void* realloc(void* memory, std::size_t bytes) {
  const std::size_t before = malloc_usable_size(memory);
  if (memory != nullptr && bytes != 0 && bytes <= before) return memory;
  void* moved = bytes != 0 || memory == nullptr ? take(bytes, 0) : nullptr;
  if (moved == nullptr && bytes != 0) return nullptr;
  if (moved != nullptr) std::memcpy(moved, memory, before < bytes ? before : bytes);
  free(memory);
  return moved;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return take(bytes, alignment);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return take(bytes, alignment);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = take(bytes, alignment);
  return *memory != nullptr ? 0 : ENOMEM;
}
void* valloc(std::size_t bytes) {
  return take(bytes, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}
}
