// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "support/check.hpp"

namespace support {

/// A rank whose work lasts until the test ends it (tests/mpi/paced_run.py). It makes empty files in
/// the folder ORIEL_TEST_PACE: work-RANK-NUMBER, which the test removes to end the work, and
/// calling-RANK-NUMBER and called-RANK-NUMBER before and behind a call that the test awaits.
class Paced {
 public:
  /// Whether the variable is set; else work takes the time that the program is given.
  static bool wanted() { return std::getenv("ORIEL_TEST_PACE") != nullptr; }

  explicit Paced(int rank)
      : folder_(std::getenv("ORIEL_TEST_PACE")), rank_("-" + std::to_string(rank) + "-") {}

  void work() {
    const std::string file = make("work", ++works_);
    while (access(file.c_str(), F_OK) == 0) usleep(1000);
  }

  template <typename Call>
  void call(Call&& call) {
    make("calling", ++calls_);
    call();
    make("called", calls_);
  }

 private:
  std::string make(const char* what, int number) const {
    const std::string file = folder_ + "/" + what + rank_ + std::to_string(number);
    const int made = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    CHECK(made >= 0);
    close(made);
    return file;
  }

  std::string folder_;
  std::string rank_;
  int works_ = 0;
  int calls_ = 0;
};

}  // namespace support
