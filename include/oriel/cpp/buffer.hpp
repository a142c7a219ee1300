// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file buffer.hpp
 * The origin's buffers of operations. Included by oriel.hpp.
 */
#pragma once

#include <mpi.h>

#include <climits>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>

#include <oriel/cpp/error.hpp>

namespace oriel {

namespace detail {

/** A count as MPI takes it. Throws error (MPI_ERR_COUNT) above INT_MAX. */
inline int count_of(std::size_t count) {
  if (count > static_cast<std::size_t>(INT_MAX)) [[unlikely]] {
    fail(MPI_ERR_COUNT);
  }
  return static_cast<int>(count);
}

}  // namespace detail

/**
 * The origin's buffer of an operation: nothing, one variable, or a contiguous range, such as a
 * vector, a span or an array. T is const where the operation only reads it. The buffer refers to
 * the program's memory, which must not be changed before the operation is complete at the origin,
 * by a flush, the end of the epoch or a wait. Temporaries are therefore refused by the compiler.
 */
template <class T>
class buffer {
 public:
  /** No element. */
  buffer() noexcept = default;
  /** One element. */
  buffer(T& variable) noexcept : data_(std::addressof(variable)), count_(1) {}
  buffer(T&&) = delete;
  /** The elements of a range. Throws error (MPI_ERR_COUNT) if there are more than INT_MAX. */
  template <class Range>
    requires std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                 std::ranges::borrowed_range<Range> &&
                 std::convertible_to<
                     std::remove_reference_t<std::ranges::range_reference_t<Range>> (*)[], T (*)[]>
  buffer(Range&& range)
      : data_(std::ranges::data(range)), count_(detail::count_of(std::ranges::size(range))) {}

  T* data() const noexcept { return data_; }
  /** The number of elements. */
  int count() const noexcept { return count_; }

 private:
  T* data_ = nullptr;
  int count_ = 0;
};

}  // namespace oriel
