// SPDX-License-Identifier: BSD-3-Clause
#include "segment.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace card {
namespace {

constexpr unsigned looks_before_a_yield = 64;
constexpr unsigned looks_before_a_check = 4096;

Segment* map(int descriptor) {
  void* memory =
      ::mmap(nullptr, sizeof(Segment), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory != MAP_FAILED ? static_cast<Segment*>(memory) : nullptr;
}

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

void SharedLock::lock() {
  const std::int32_t self = ::getpid();
  for (unsigned looks = 1;; ++looks) {
    std::int32_t holder = 0;
    if (holder_.compare_exchange_weak(holder, self, std::memory_order_acquire)) return;
    if (looks % looks_before_a_check == 0 && holder != 0 && ::kill(holder, 0) != 0 &&
        errno == ESRCH &&
        holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) {
      return;
    }
    if (looks % looks_before_a_yield == 0) ::sched_yield();
  }
}

bool Ring::put(Header header, const std::byte* payload, std::uint64_t bytes) {
  header.bytes = rounded(sizeof header + bytes);
  producers_.lock();
  const std::uint64_t end = end_.load(std::memory_order_relaxed);
  // One that would reach beyond the last byte begins anew at the first.
  const std::uint64_t left = capacity - end % capacity;
  const std::uint64_t padding = header.bytes > left ? left : 0;
  const std::uint64_t free = capacity - (end - begin_.load(std::memory_order_acquire));
  const bool fits = padding + header.bytes <= free;
  if (fits) {
    if (padding != 0) new (&bytes_[end % capacity]) std::uint64_t[2]{padding, 0};
    std::byte* place = &bytes_[(end + padding) % capacity];
    std::memcpy(place, &header, sizeof header);
    if (bytes != 0) std::memcpy(place + sizeof header, payload, bytes);
    // Pairs with the acquire of front().
    end_.store(end + padding + header.bytes, std::memory_order_release);
    arrivals_.fetch_add(1, std::memory_order_release);
  }
  producers_.unlock();
  return fits;
}

const Header* Ring::front() {
  while (!empty()) {
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    const auto* header = reinterpret_cast<const Header*>(&bytes_[begin % capacity]);
    if (header->kind != Kind::padding) return header;
    pop();
  }
  return nullptr;
}

void Ring::pop() {
  const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, &bytes_[begin % capacity], sizeof bytes);
  begin_.store(begin + bytes, std::memory_order_release);
}

Segment* Segment::create(Address& address) {
  const int descriptor = ::memfd_create("oriel_card", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, sizeof(Segment)) != 0) return nullptr;
  Segment* segment = map(descriptor);
  if (segment == nullptr ||
      ::getrandom(&segment->id, sizeof segment->id, 0) != sizeof segment->id) {
    return nullptr;
  }
  address = {segment->id, ::getpid(), descriptor};
  return segment;
}

Segment* Segment::open(const Address& address) {
  const std::string path =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  Segment* segment = map(descriptor);
  ::close(descriptor);
  if (segment != nullptr && segment->id != address.id) {
    ::munmap(segment, sizeof(Segment));
    return nullptr;
  }
  return segment;
}

}  // namespace card
