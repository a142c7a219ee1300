// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace oriel {

/// Standard error as it was when this object was made.
class StandardError {
 public:
  StandardError();

  /// Writes `text` by one system call. Writes nothing if the program has put another file in the
  /// place of standard error: that file may be its data. The process does not get SIGPIPE if the
  /// reader has closed the pipe. May be called by a signal handler.
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

/// Standard error as it was at the start of the program.
extern const StandardError standard_error;

/// `name` with spaces in place of characters that end a line or a field, or control a terminal: a
/// program may give a window any name.
std::string printable(std::string name);

}  // namespace oriel
