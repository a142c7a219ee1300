// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file error.hpp
 * MPI errors as exceptions. Included by oriel.hpp.
 *
 * Destructors that close an epoch, free a window or complete a request may fail as well. If no
 * exception is in flight, such an error ends this process by std::terminate; the launcher then ends
 * the job. If one is in flight, the error of the destructor is dropped. A program that handles
 * these errors calls unlock, free or wait itself before the destructor runs.
 */
#pragma once

#include <mpi.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace oriel {

/** The exception for an MPI call that has failed. what() is the text of MPI_Error_string. */
class error : public std::runtime_error {
 public:
  /** Describes an error code that an MPI or ORIEL_ call has returned. Local; does not block.
   *  Throws std::bad_alloc if there is no memory for the text. */
  explicit error(int code) : std::runtime_error(string_of(code)), code_(code) {
    MPI_Error_class(code, &class_);
  }

  /** The error code that the call has returned. */
  int code() const noexcept { return code_; }
  /** The error class of the code, such as MPI_ERR_RMA_SYNC. */
  int error_class() const noexcept { return class_; }

 private:
  static std::string string_of(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return std::string(text);
  }

  int code_;
  int class_ = MPI_ERR_UNKNOWN;
};

namespace detail {

/** Throws. Out of line and cold: the check of a call is then a compare and a branch not taken. */
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(int code) {
  throw error(code);
}

inline void check(int code) {
  if (code != MPI_SUCCESS) [[unlikely]] {
    fail(code);
  }
}

/** For destructors; see the head of this file. */
[[gnu::cold, gnu::noinline]] inline void fail_in_destructor(int code) noexcept {
  if (std::uncaught_exceptions() == 0) fail(code);
}

inline void check_in_destructor(int code) noexcept {
  if (code != MPI_SUCCESS) [[unlikely]] {
    fail_in_destructor(code);
  }
}

}  // namespace detail
}  // namespace oriel
