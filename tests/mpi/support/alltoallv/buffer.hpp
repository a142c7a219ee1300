// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/stress/random.hpp"

namespace alltoallv {

/// Where a buffer comes from.
enum class Memory { malloc, alloc_mem, unaligned };

constexpr Memory memory_of(int number) {
  return static_cast<Memory>(number % 3);
}

/// Bytes around an address that is passed to a call: so many before it and after it, and some more
/// on both sides that nobody may touch.
class Buffer {
 public:
  Buffer(Memory kind, std::size_t before, std::size_t after)
      : size_(before + after + 2 * guard), address_(guard + before), kind_(kind) {
    const std::size_t shift = kind == Memory::unaligned ? 1 : 0;
    if (kind == Memory::alloc_mem) {
      MPI_Alloc_mem(static_cast<MPI_Aint>(size_), MPI_INFO_NULL, &memory_);
    } else {
      memory_ = std::malloc(size_ + shift);
    }
    CHECK(memory_ != nullptr);
    data_ = static_cast<char*>(memory_) + shift;
  }
  /// In memory of somebody else.
  Buffer(char* lent, std::size_t before, std::size_t after)
      : size_(before + after + 2 * guard), address_(guard + before), data_(lent) {}
  ~Buffer() {
    if (memory_ == nullptr) return;
    kind_ == Memory::alloc_mem ? static_cast<void>(MPI_Free_mem(memory_)) : std::free(memory_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// What is passed to a call.
  char* address() const { return data_ + address_; }
  char* data() const { return data_; }
  std::size_t size() const { return size_; }

  void fill(std::initializer_list<std::uint64_t> seeds) {
    stress::Random random(seeds);
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= size_; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random.next();
      std::memcpy(data_ + at, &word, sizeof word);
    }
    const std::uint64_t word = random.next();
    std::memcpy(data_ + at, &word, size_ - at);
  }
  void copy_from(const Buffer& other) { std::memcpy(data_, other.data_, size_); }

  /// Sentence of the first byte that differs from those of another one; empty if none does.
  std::string difference(const Buffer& expected) const {
    if (std::memcmp(data_, expected.data_, size_) == 0) return "";
    std::size_t at = 0;
    while (data_[at] == expected.data_[at]) ++at;
    std::size_t wrong = 0;
    for (std::size_t i = at; i < size_; ++i) wrong += data_[i] != expected.data_[i] ? 1 : 0;
    const auto number = [](char byte) {
      return std::to_string(static_cast<int>(static_cast<unsigned char>(byte)));
    };
    return std::to_string(wrong) + " of " + std::to_string(size_) +
           " bytes are not what they should be. The first one is that " +
           std::to_string(static_cast<long>(at) - static_cast<long>(address_)) +
           " behind the address passed: " + number(data_[at]) + " instead of " +
           number(expected.data_[at]) + '.';
  }

 private:
  static constexpr std::size_t guard = 64;

  std::size_t size_;
  std::size_t address_;
  Memory kind_ = Memory::malloc;
  void* memory_ = nullptr;
  char* data_ = nullptr;
};

}  // namespace alltoallv
