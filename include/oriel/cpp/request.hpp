// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file request.hpp
 * Requests as move-only objects. Included by oriel.hpp.
 *
 * A request that has completed, has been moved from or was default-constructed is empty. An object
 * must be destroyed before MPI_Finalize, unless it is empty. Errors of wait and test are those of
 * MPI_Wait: the error of the operation or the epoch that the request stands for.
 */
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <utility>

#include <oriel/cpp/datatype.hpp>
#include <oriel/cpp/error.hpp>

namespace oriel {

/** The MPI_Status of a completed request or of a probe: origin, tag and size of a notification. */
class status {
 public:
  /** MPI_SOURCE: the rank that has issued the operation. */
  int source() const noexcept { return native_.MPI_SOURCE; }
  /** MPI_TAG. */
  int tag() const noexcept { return native_.MPI_TAG; }
  /** MPI_Get_count: the size in elements of T; MPI_UNDEFINED if it is not a whole number of them.
   *  Local; does not block. */
  template <element T>
  int get_count() const {
    int count = 0;
    detail::check(MPI_Get_count(&native_, datatype<T>::get(), &count));
    return count;
  }
  /** The MPI object, for C calls that fill or read it. */
  MPI_Status* native() noexcept { return &native_; }

 private:
  MPI_Status native_{};
};

namespace detail {

inline int complete_request(MPI_Request* request) {
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}
inline int free_request(MPI_Request* request) {
  return MPI_Request_free(request);
}

/** A move-only request. The destructor of an object that is not empty calls Dispose. */
template <int (*Dispose)(MPI_Request*)>
class owned_request {
 public:
  owned_request() noexcept = default;
  /** Takes over a request of a C call. */
  explicit owned_request(MPI_Request native) noexcept : native_(native) {}
  owned_request(owned_request&& other) noexcept : native_(other.release()) {}
  /** Calls Dispose for the request that the object has, as the destructor does, and throws its
   *  error. */
  owned_request& operator=(owned_request&& other) {
    if (this != &other) {
      if (*this) check(Dispose(&native_));
      native_ = other.release();
    }
    return *this;
  }
  ~owned_request() {
    if (*this) [[unlikely]] {
      check_in_destructor(Dispose(&native_));
    }
  }

  /** True unless the object is empty. */
  explicit operator bool() const noexcept { return native_ != MPI_REQUEST_NULL; }
  /** The MPI handle, which the object keeps: for C calls, such as MPI_Waitany, that may set it to
   *  MPI_REQUEST_NULL. */
  MPI_Request* native() noexcept { return &native_; }
  /** Returns the MPI handle, which the caller then owns; the object is empty. */
  MPI_Request release() noexcept { return std::exchange(native_, MPI_REQUEST_NULL); }

 protected:
  status wait_status() {
    status result;
    check(MPI_Wait(&native_, result.native()));
    return result;
  }
  std::optional<status> test_status() {
    status result;
    int flag = 0;
    check(MPI_Test(&native_, &flag, result.native()));
    return flag != 0 ? std::optional<status>(result) : std::nullopt;
  }

 private:
  MPI_Request native_ = MPI_REQUEST_NULL;
};

}  // namespace detail

/**
 * The request of a nonblocking operation, flush or closing call. The destructor waits, also while
 * an exception unwinds: a buffer that is declared before the request is not freed while MPI uses
 * it, and MPI forbids MPI_Request_free for requests of operations.
 */
class [[nodiscard]] request : public detail::owned_request<detail::complete_request> {
 public:
  using owned_request::owned_request;

  /** MPI_Wait: blocks until the request has completed. Returns at once if the object is empty. */
  void wait() { detail::check(MPI_Wait(native(), MPI_STATUS_IGNORE)); }
  /** MPI_Test: true if the request has completed, or the object is empty. Does not block. */
  bool test() {
    int flag = 0;
    detail::check(MPI_Test(native(), &flag, MPI_STATUS_IGNORE));
    return flag != 0;
  }
};

/** Waits for each of the requests. Blocks. Throws the first error; requests after the one that has
 *  failed may be pending then. */
inline void wait_all(std::span<request> requests) {
  for (request& each : requests) each.wait();
}

}  // namespace oriel
