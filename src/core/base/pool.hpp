// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace oriel {

/// Objects of one kind that are acquired and released on hot paths. They are made in blocks, live
/// as long as the pool, and keep the capacity that their members have grown. T has a `pool_index`,
/// which the pool sets once, a `generation`, which it counts, and a `reset()`, which acquire()
/// calls. `mark` is 0, or a bit that no index reaches: tokens of pools with different marks differ.
template <typename T, std::uint64_t mark = 0>
class Pool {
  static_assert(mark == 0 || (mark >= std::uint64_t{1} << 30 && mark <= std::uint64_t{1} << 31));

 public:
  T& acquire() {
    if (free_.empty()) grow();
    T& object = *free_.back();
    free_.pop_back();
    object.reset();
    ++object.generation;
    return object;
  }

  void release(T& object) {
    ++object.generation;
    free_.push_back(&object);
  }

  /// Identifies the object while it is in use; never 0. A token that arrives late, or that was
  /// never given out, does not identify a later use of the object.
  static std::uint64_t token(const T& object) {
    return std::uint64_t{object.generation} << 32 | mark | object.pool_index;
  }
  /// The object in use that has this token, or null.
  T* find(std::uint64_t token) {
    const std::uint64_t index = (token & 0xffffffff) ^ mark;
    if (index >= blocks_.size() * block) return nullptr;
    T& object = (*blocks_[index / block])[index % block];
    return in_use(object) && object.generation == token >> 32 ? &object : nullptr;
  }

 private:
  static constexpr std::size_t block = 64;

  /// acquire() and release() each add 1 to the generation.
  static bool in_use(const T& object) { return object.generation % 2 != 0; }

  void grow() {
    auto added = std::make_unique<std::array<T, block>>();
    const std::size_t first = blocks_.size() * block;
    // Space for every object, so that release() never allocates. It is doubled, because growing by
    // one block at a time would copy the list for each block of a million epochs.
    if (free_.capacity() < first + block) free_.reserve(2 * (first + block));
    for (std::size_t i = block; i-- > 0;) {
      (*added)[i].pool_index = static_cast<std::uint32_t>(first + i);
      free_.push_back(&(*added)[i]);
    }
    blocks_.push_back(std::move(added));
  }

  std::vector<std::unique_ptr<std::array<T, block>>> blocks_;
  std::vector<T*> free_;
};

}  // namespace oriel
