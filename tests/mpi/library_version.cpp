// SPDX-License-Identifier: BSD-3-Clause
// MPI_Get_library_version before and after MPI_Init. Prints its text and the MPI library's own,
// each within brackets. Not a test by itself: its driver compares them.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "support/program.hpp"

namespace {

using Function = int(char*, int*);

std::string text_of(Function* function) {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, 'x');
  int length = 0;
  CHECK_EQUAL(function(text.data(), &length), MPI_SUCCESS);
  // Open MPI counts the null byte at the end, too.
  const auto counted = static_cast<std::size_t>(length);
  CHECK(counted == std::strlen(text.c_str()) || counted == std::strlen(text.c_str()) + 1);
  return text.c_str();
}

/// The function of the library that has MPI_Comm_size, which Oriel does not define.
Function* of_host() {
  Dl_info found{};
  dladdr(dlsym(RTLD_DEFAULT, "MPI_Comm_size"), &found);
  void* library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, "PMPI_Get_library_version"));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string before = text_of(MPI_Get_library_version);
  support::Program program(argc, argv);
  CHECK_EQUAL(text_of(MPI_Get_library_version), before);
  CHECK_EQUAL(text_of(PMPI_Get_library_version), before);
  std::printf("[%s] [%s]\n", before.c_str(), text_of(of_host()).c_str());
  return 0;
}
