// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file window.hpp
 * Windows that an object owns: window<T>, dynamic_window and memory handles. Included by oriel.hpp.
 *
 * Owners are move-only and free their window when destroyed. They convert to window_handle and
 * window_view, which are copied like pointers. Freeing is collective: the destructor of the last
 * handle of a window blocks until all ranks free it. An exception that leaves the scope of a window
 * on one rank only makes that rank wait for the others: catch it inside that scope, or not at all.
 *
 * An owner that was default-constructed, moved from or freed has MPI_WIN_NULL. A call on it is
 * MPI_ERR_WIN, which MPI does not raise through a window's error handler: by default the job ends.
 * Any other owner must be destroyed before MPI_Finalize.
 */
#pragma once

#include <mpi.h>
#include <oriel/windows.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <oriel/cpp/datatype.hpp>
#include <oriel/cpp/error.hpp>
#include <oriel/cpp/window_handle.hpp>
#include <oriel/cpp/window_view.hpp>

namespace oriel {

namespace detail {

/** The size of `count` elements in bytes; -1, which MPI refuses on all ranks, if the size exceeds
 *  MPI_Aint. */
template <class T>
MPI_Aint bytes_of(std::size_t count) noexcept {
  return count <= PTRDIFF_MAX / sizeof(T) ? static_cast<MPI_Aint>(count * sizeof(T)) : -1;
}

/** A view that owns its window: move-only; the destructor frees the window. */
template <class View>
class owner : public View {
 public:
  /** No window. */
  owner() noexcept = default;
  owner(owner&& other) noexcept : View(other.release()) {}
  /** Frees the window that the object has, as free() does. */
  owner& operator=(owner&& other) {
    if (this != &other) {
      if (this->native_ != MPI_WIN_NULL) free();
      this->native_ = other.release();
    }
    return *this;
  }
  ~owner() {
    if (this->native_ != MPI_WIN_NULL) check_in_destructor(MPI_Win_free(&this->native_));
  }

  /** MPI_Win_free. Collective: blocks until all ranks have called it. Local for a handle of which
   *  the process has a duplicate, and for a window made from a memory handle. */
  void free() { check(MPI_Win_free(&this->native_)); }
  /** Returns the MPI handle, which the caller must then free. Local. */
  MPI_Win release() noexcept { return std::exchange(this->native_, MPI_WIN_NULL); }

 protected:
  /** Makes MPI return the window's errors, so that they become exceptions. If that fails, the
   *  destructor frees the window, because the delegated constructor has completed. */
  explicit owner(MPI_Win native) : owner() {
    this->native_ = native;
    check(MPI_Win_set_errhandler(native, MPI_ERRORS_RETURN));
  }
  /** ORIEL_Win_dup_with_info. */
  MPI_Win duplicate(MPI_Info info) const {
    MPI_Win copy = MPI_WIN_NULL;
    check(ORIEL_Win_dup_with_info(this->native_, info, &copy));
    return copy;
  }
};

}  // namespace detail

/**
 * A window whose ranks expose elements of T. It returns errors (MPI_ERRORS_RETURN), which the
 * functions throw. An error while a window is made is first passed to the error handler of `comm`,
 * which ends the job unless the program has set MPI_ERRORS_RETURN for `comm`; all ranks get it.
 */
template <element T>
class [[nodiscard]] window : public detail::owner<window_view<T>> {
  using owner = detail::owner<window_view<T>>;

 public:
  /** No window. */
  window() noexcept = default;
  window(window&& other) noexcept
      : owner(std::move(other)), memory_(std::exchange(other.memory_, {})) {}
  /** Frees the window that the object has, as free() does. */
  window& operator=(window&& other) {
    owner::operator=(std::move(other));
    memory_ = std::exchange(other.memory_, {});
    return *this;
  }
  ~window() = default;

  /** MPI_Win_allocate: exposes `count` new elements, whose values are indeterminate. Collective;
   *  blocks. The count may differ between ranks. MPI_ERR_SIZE: it is too large for an address. */
  static window allocate(std::size_t count, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    return make(MPI_Win_allocate, count, comm, info);
  }
  /** MPI_Win_allocate_shared: as allocate, in memory that all ranks of `comm` map. Collective;
   *  blocks. MPI_ERR_RMA_SHARED: the ranks cannot share memory. */
  static window allocate_shared(std::size_t count, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    return make(MPI_Win_allocate_shared, count, comm, info);
  }
  /** MPI_Win_create: exposes memory of the program, which must exist until the window has been
   *  freed. Collective; blocks. */
  static window create(std::span<T> memory, MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    MPI_Win native = MPI_WIN_NULL;
    detail::check(MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size_bytes()),
                                 int{sizeof(T)}, info, comm, &native));
    return window(native, memory);
  }
  /** ORIEL_Win_from_memhandle: a window on the first `count` elements that rank `target` of the
   *  dynamic window `parent` has exposed by a memory handle. `bytes` are those of
   *  memhandle::bytes(). Local. Operations and flushes are permitted in a lock or lock_all epoch of
   *  `parent`, which must be freed later. MPI_ERR_ARG: the bytes are not such a handle. */
  static window from_memhandle(std::span<const std::byte> bytes, std::size_t count, int target,
                               window_handle parent, MPI_Info info = MPI_INFO_NULL) {
    MPI_Win native = MPI_WIN_NULL;
    detail::check(ORIEL_Win_from_memhandle(bytes.data(), detail::bytes_of<T>(count), int{sizeof(T)},
                                           info, target, parent.native(), &native));
    return window(native, {});
  }
  /** ORIEL_Win_dup_with_info: another handle of the same window, with its own info. Local. */
  window dup_with_info(MPI_Info info) const { return window(owner::duplicate(info), memory_); }

  /** The calling rank's memory; empty for a window from a memory handle. */
  std::span<T> memory() const noexcept { return memory_; }
  /** MPI_Win_shared_query: the memory of a rank, for loads and stores. Local. The window must be
   *  one of allocate_shared, or the rank's memory must otherwise be mapped by this process. */
  std::span<T> shared_query(int rank) const {
    MPI_Aint size = 0;
    int disp_unit = 0;
    T* base = nullptr;
    detail::check(MPI_Win_shared_query(this->native_, rank, &size, &disp_unit, &base));
    return {base, static_cast<std::size_t>(size) / sizeof(T)};
  }
  /** MPI_Win_free; see owner::free. The memory of allocate and allocate_shared is freed as well. */
  void free() {
    owner::free();
    memory_ = {};
  }

 private:
  window(MPI_Win native, std::span<T> memory) : owner(native), memory_(memory) {}

  template <class Call>
  static window make(Call allocate, std::size_t count, MPI_Comm comm, MPI_Info info) {
    T* base = nullptr;
    MPI_Win native = MPI_WIN_NULL;
    detail::check(allocate(detail::bytes_of<T>(count), int{sizeof(T)}, info, comm, &base, &native));
    return window(native, {base, count});
  }

  std::span<T> memory_;
};

/** A window to which each rank attaches memory at any time. Operations on elements of T are those
 *  of view<T>(), with addresses of the target as displacements. Errors as in window. */
class [[nodiscard]] dynamic_window : public detail::owner<window_handle> {
 public:
  /** No window. */
  dynamic_window() noexcept = default;
  /** MPI_Win_create_dynamic. Collective; blocks. */
  static dynamic_window create(MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    MPI_Win native = MPI_WIN_NULL;
    detail::check(MPI_Win_create_dynamic(info, comm, &native));
    return dynamic_window(native);
  }
  /** ORIEL_Win_dup_with_info: another handle of the same window, with its own info. Local. */
  dynamic_window dup_with_info(MPI_Info info) const { return dynamic_window(duplicate(info)); }

  /** MPI_Win_attach: exposes memory until detach or the end of the window, and returns its address,
   *  which other ranks use as displacement. Local. MPI_ERR_RMA_ATTACH: it is attached already. */
  template <class T, std::size_t count>
  MPI_Aint attach(std::span<T, count> memory) const {
    detail::check(
        MPI_Win_attach(native_, memory.data(), static_cast<MPI_Aint>(memory.size_bytes())));
    MPI_Aint address = 0;
    detail::check(MPI_Get_address(memory.data(), &address));
    return address;
  }
  /** MPI_Win_detach, of memory that was passed to attach. Local. */
  template <class T, std::size_t count>
  void detach(std::span<T, count> memory) const {
    detail::check(MPI_Win_detach(native_, memory.data()));
  }
  /** Operations on elements of T; displacements are addresses in bytes. */
  template <element T>
  window_view<T> view() const noexcept {
    return window_view<T>(*this);
  }

 private:
  using owner::owner;
};

/** Memory of the calling process that is exposed to the ranks of a dynamic window without a
 *  collective call, as long as the object lives. Move-only. The window must outlive it. */
class [[nodiscard]] memhandle {
 public:
  /** ORIEL_Memhandle_create. Local. MPI_ERR_RMA_FLAVOR: the window is not dynamic. */
  template <class T, std::size_t count>
  memhandle(window_handle parent, std::span<T, count> memory, MPI_Info info = MPI_INFO_NULL)
      : parent_(parent.native()) {
    detail::check(ORIEL_Memhandle_create(memory.data(), static_cast<MPI_Aint>(memory.size_bytes()),
                                         info, parent_, bytes_.data(), &size_));
  }
  memhandle(memhandle&& other) noexcept
      : parent_(std::exchange(other.parent_, MPI_WIN_NULL)),
        size_(std::exchange(other.size_, 0)),
        bytes_(other.bytes_) {}
  memhandle& operator=(memhandle&&) = delete;
  ~memhandle() {
    if (size_ != 0) {
      detail::check_in_destructor(ORIEL_Memhandle_release(bytes_.data(), parent_));
    }
  }

  /** The bytes that the program sends to other ranks, as MPI_BYTE, for window::from_memhandle; at
   * most ORIEL_MAX_MEMHANDLE_SIZE bytes. Empty after release() or a move. */
  std::span<const std::byte> bytes() const noexcept {
    return std::span(bytes_).first(static_cast<std::size_t>(size_));
  }
  /** ORIEL_Memhandle_release: ends the exposure. Local. */
  void release() {
    detail::check(ORIEL_Memhandle_release(bytes_.data(), parent_));
    size_ = 0;
  }

 private:
  MPI_Win parent_;
  int size_ = 0;
  std::array<std::byte, ORIEL_MAX_MEMHANDLE_SIZE> bytes_{};
};

}  // namespace oriel
