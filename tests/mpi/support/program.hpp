// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "support/check.hpp"
#include "support/time_limit.hpp"

namespace support {

/// One self-checking MPI program: initializes MPI, runs its tests one by one on all ranks, and says
/// at the end how many ran. Arguments are parts of names: only tests with one of them run.
///
/// Environment: ORIEL_TEST_HOST_ONLY=1 runs on the host MPI alone, without what only Oriel
/// promises; ORIEL_TEST_VERBOSE=1 names every test as it starts.
class Program {
 public:
  Program(int argc, char** argv, int thread_level = MPI_THREAD_SINGLE) {
    MPI_Init_thread(&argc, &argv, thread_level, &thread_level_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    arguments_ = argv + 1;
    host_only_ = set("ORIEL_TEST_HOST_ONLY");
    verbose_ = set("ORIEL_TEST_VERBOSE");
    if (!host_only_ && dlsym(RTLD_DEFAULT, "ORIEL_Get_version") == nullptr) {
      fail(__FILE__, __LINE__,
           "Oriel is not in this process; preload its library, or set ORIEL_TEST_HOST_ONLY=1.");
    }
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    host_ = std::strstr(version, "Open MPI") ? "openmpi"
            : std::strstr(version, "Intel")  ? "intel"
                                             : "mpich";
    limit_time();
  }

  ~Program() {
    current_test() = "finalize";
    MPI_Finalize();
    if (rank_ == 0) std::printf("ok: %d tests on %d ranks, %d skipped\n", count_, size_, skipped_);
  }

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int right() const { return (rank_ + 1) % size_; }
  int left() const { return (rank_ + size_ - 1) % size_; }
  int thread_level() const { return thread_level_; }
  bool host_only() const { return host_only_; }
  const std::string& host() const { return host_; }

  template <class Body>
  void test(const char* name, Body&& body) {
    if (!selected(name)) return;
    current_test() = name;
    if (verbose_ && rank_ == 0) std::fprintf(stderr, "test %s\n", name);
    body();
    ++count_;
  }

  /// A test of something that these hosts' own RMA gets wrong; `why` is a known bug or a promise
  /// that only Oriel makes. Skipped when the host runs alone.
  template <class Body>
  void test_unless_host(const char* hosts, const char* why, const char* name, Body&& body) {
    const bool wrong =
        host_only_ && (std::strcmp(hosts, "any") == 0 || std::strstr(hosts, host_.c_str()));
    wrong ? skip(why, name) : test(name, body);
  }

 private:
  static bool set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && std::strcmp(value, "0") != 0;
  }
  void skip(const char* why, const char* name) {
    if (!selected(name)) return;
    if (verbose_ && rank_ == 0) std::fprintf(stderr, "skip %s: %s\n", name, why);
    ++skipped_;
  }
  bool selected(const char* name) const {
    if (*arguments_ == nullptr) return true;
    for (char** part = arguments_; *part != nullptr; ++part) {
      if (std::strstr(name, *part)) return true;
    }
    return false;
  }

  int rank_ = 0;
  int size_ = 0;
  int thread_level_ = MPI_THREAD_SINGLE;
  char** arguments_ = nullptr;
  bool host_only_ = false;
  bool verbose_ = false;
  std::string host_;
  int count_ = 0;
  int skipped_ = 0;
};

inline void barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Real work, not sleep: the processor stays busy outside MPI.
inline void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

}  // namespace support
