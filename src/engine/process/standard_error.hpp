// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <string_view>

namespace oriel {

/// Standard error, as the process had it when this object was made.
class StandardError {
 public:
  StandardError();

  /// Writes by one system call; nothing if the program has put another file in the place, which may
  /// be its data. It does not end by SIGPIPE because nobody reads what Oriel says. May be called by
  /// a signal handler.
  void say(std::string_view text) const;

 private:
  struct File {
    dev_t device = 0;
    ino_t number = 0;

    bool operator==(const File&) const = default;
  };

  static File current();

  File file_;
};

/// As the program was started with.
extern const StandardError standard_error;

}  // namespace oriel
