// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/standard_error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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

}  // namespace oriel
