// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <errno.h>
#include <mpi.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

/// A launcher may end a job that is aborted before it has read what the ranks have said. At most a
/// second, if nobody reads.
inline void wait_until_read(int pipe) {
  int unread = 0;
  for (int looks = 0; looks < 100; ++looks) {
    if (ioctl(pipe, FIONREAD, &unread) != 0 || unread == 0) return;
    usleep(10'000);
  }
}

/// Ends the whole job with a sentence: the other ranks may be waiting for this one.
[[noreturn]] inline void fail(const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, sentence.c_str());
  wait_until_read(STDERR_FILENO);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace bench
