// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The C++ bindings that some hosts still pull in have nothing that these tests use.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>

namespace support {

/// The test that runs now, for the sentence of a failure or a timeout.
inline const char*& current_test() {
  static const char* name = "start-up";
  return name;
}

[[noreturn]] inline void fail(const char* file, int line, const std::string& sentence) {
  int has_world = 0;
  int rank = -1;
  PMPI_Initialized(&has_world);
  if (has_world) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "FAILED: rank %d, test '%s', %s:%d: %s\n", rank, current_test(), file, line,
               sentence.c_str());
  std::fflush(stderr);
  if (has_world) PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

template <class T>
std::string shown(const T& value) {
  std::ostringstream text;
  if constexpr (std::is_enum_v<T>) {
    text << static_cast<long>(value);
  } else {
    text << +value;
  }
  return text.str();
}
inline std::string shown(const std::string& value) {
  return '"' + value + '"';
}

template <class A, class B>
void check_equal(const char* file, int line, const char* text, const A& actual, const B& expected) {
  if (actual == expected) return;
  fail(file, line,
       std::string(text) + " should be " + shown(expected) + " but is " + shown(actual) + ".");
}

/// The class of an MPI error code, because the numbers of codes are the host's own affair.
inline int error_class(int code) {
  int result = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &result);
  return result;
}

inline std::string class_name(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

inline void check_class(const char* file, int line, const char* call, int code, int expected) {
  if (error_class(code) == expected) return;
  fail(file, line,
       std::string(call) + " should raise class [" + class_name(expected) + "] but returned [" +
           class_name(code) + "].");
}

}  // namespace support

#define CHECK(condition) \
  ((condition) ? void() : support::fail(__FILE__, __LINE__, #condition " does not hold."))
#define CHECK_EQUAL(actual, ...) \
  support::check_equal(__FILE__, __LINE__, #actual, actual, __VA_ARGS__)
#define CHECK_CLASS(call, expected) support::check_class(__FILE__, __LINE__, #call, call, expected)
