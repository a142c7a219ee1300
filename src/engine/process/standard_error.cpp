// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/standard_error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>

namespace oriel {

const StandardError standard_error;

StandardError::File StandardError::current() {
  struct stat file{};
  return ::fstat(STDERR_FILENO, &file) == 0 ? File{file.st_dev, file.st_ino} : File{};
}

StandardError::StandardError() : file_(current()) {}

void StandardError::say(std::string_view text) const {
  if (current() != file_) return;
  sigset_t pipe;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ::sigpending(&pending);
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0 && errno == EPIPE &&
      ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec now{};
    ::sigtimedwait(&pipe, nullptr, &now);  // removes the SIGPIPE of this write
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::string printable(std::string name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    // U+0080 to U+009F, in UTF-8.
    const bool control =
        byte == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (control) {
      name.replace(i, 2, " ");
    } else if (byte < ' ' || byte == 0x7f) {
      name[i] = ' ';
    }
  }
  return name;
}

}  // namespace oriel
