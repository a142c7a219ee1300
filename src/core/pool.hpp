// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace oriel {

/// Objects of one kind that come and go on hot paths: made in chunks, never freed before the pool,
/// reused with whatever capacity their members have grown. T has a `pool_index` that the pool sets
/// once and a `reset()` that the pool calls before it hands the object out.
template <typename T>
class Pool {
 public:
  T& acquire() {
    if (free_.empty()) grow();
    T& object = *free_.back();
    free_.pop_back();
    object.reset();
    object.in_use = true;
    return object;
  }

  void release(T& object) {
    object.in_use = false;
    free_.push_back(&object);
  }

  /// The object in use with this index, or null: indices come back in messages.
  T* find(std::uint64_t index) {
    if (index >= chunks_.size() * chunk) return nullptr;
    T& object = (*chunks_[index / chunk])[index % chunk];
    return object.in_use ? &object : nullptr;
  }

 private:
  static constexpr std::size_t chunk = 64;

  void grow() {
    auto added = std::make_unique<std::array<T, chunk>>();
    const std::size_t first = chunks_.size() * chunk;
    // Room for every object there is, so that release() never allocates. Doubled, because growing
    // by one chunk at a time would copy the list for each of a million epochs' chunks.
    if (free_.capacity() < first + chunk) free_.reserve(2 * (first + chunk));
    for (std::size_t i = chunk; i-- > 0;) {
      (*added)[i].pool_index = static_cast<std::uint32_t>(first + i);
      free_.push_back(&(*added)[i]);
    }
    chunks_.push_back(std::move(added));
  }

  std::vector<std::unique_ptr<std::array<T, chunk>>> chunks_;
  std::vector<T*> free_;
};

}  // namespace oriel
