// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/handle_values.hpp"

#include <cstddef>

#include "mpi/host/fortran_layer.hpp"

namespace oriel::mpi {
namespace {

#if ORIEL_HOST_WINDOWS_ARE_POINTERS

/// An address for each handle. The bytes are not used.
alignas(std::max_align_t) char addresses[HandleValues::most][alignof(std::max_align_t)];

#else

/// In the standard ABI, the numbers have a pointer type.
template <typename Handle>
Handle to_handle(std::uint32_t number) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(std::uintptr_t{number});
  } else {
    return static_cast<Handle>(number);
  }
}

#endif

}  // namespace

std::optional<MPI_Win> HandleValues::allocate() {
  if (free_.size() > min_free || (next_ == most && !free_.empty())) {
    const std::uint32_t oldest = free_.front();
    free_.pop_front();
    return handle_of(oldest);
  }
  if (next_ == most) return std::nullopt;
  return handle_of(next_++);
}

#if ORIEL_HOST_WINDOWS_ARE_POINTERS

std::uint32_t HandleValues::number_of(MPI_Win handle) {
  const auto distance = static_cast<std::uintptr_t>(handle_key(handle)) -
                        reinterpret_cast<std::uintptr_t>(&addresses[0][0]);
  return distance < sizeof addresses ? static_cast<std::uint32_t>(distance / sizeof addresses[0])
                                     : most;
}

MPI_Win HandleValues::handle_of(std::uint32_t number) {
  return reinterpret_cast<MPI_Win>(&addresses[number][0]);
}

#else

std::uint32_t HandleValues::number_of(MPI_Win handle) {
  const std::uint64_t key = handle_key(handle);
  return key >> 32 == 0 ? static_cast<std::uint32_t>(key) - first_number : most;
}

MPI_Win HandleValues::handle_of(std::uint32_t number) {
  return to_handle<MPI_Win>(first_number + number);
}

#endif

}  // namespace oriel::mpi

using namespace oriel::mpi;

// Conversions of window handles between C and Fortran, if they are functions: the host's would
// access a window that the host does not know.
// NOLINTBEGIN(bugprone-macro-parentheses): declarators take none
#define ORIEL_WIN_CONVERSIONS(to, from)                                                          \
  ORIEL_DEFINE_BOTH(to, P##to)(MPI_Win win) {                                                    \
    static auto* const host =                                                                    \
        host_function<decltype(P##to)>("P" #to, __builtin_return_address(0));                    \
    return HandleValues::contains(win) ? HandleValues::to_fortran(win) : host(win);              \
  }                                                                                              \
  ORIEL_DEFINE_BOTH_RETURNING(MPI_Win, from, P##from)(int win) {                                 \
    static auto* const host =                                                                    \
        host_function<decltype(P##from)>("P" #from, __builtin_return_address(0));                \
    return HandleValues::contains_in_fortran(win) ? HandleValues::from_fortran(win) : host(win); \
  }
// NOLINTEND(bugprone-macro-parentheses)
ORIEL_HOST_WIN_CONVERSIONS(ORIEL_WIN_CONVERSIONS)
