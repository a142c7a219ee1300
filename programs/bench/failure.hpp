// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <errno.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

/// Ends the whole job with a sentence: the other ranks may be waiting for this one.
[[noreturn]] inline void fail(const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, sentence.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace bench
