// SPDX-License-Identifier: BSD-3-Clause
// A kernel with Yama lets a process copy another one's memory only if that one has permitted it.
// These two calls stand in for it, so that it can be tested on kernels without. Not among the usual
// programs: its driver starts it.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <oriel/oriel.h>

#include "support/program.hpp"
#include "support/window.hpp"

// The library is to find these before the C library's.
#define STAND_IN extern "C" __attribute__((visibility("default")))

namespace {

std::filesystem::path permission_of(pid_t pid) {
  return std::filesystem::path(std::getenv("ORIEL_TEST_PERMISSIONS")) / std::to_string(pid);
}

}  // namespace

STAND_IN int prctl(int option, ...) noexcept {
  std::va_list list;
  va_start(list, option);
  std::array<unsigned long, 4> arguments{};
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  if (option != PR_SET_PTRACER) {
    return static_cast<int>(
        syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]));
  }
  if (arguments[0] == PR_SET_PTRACER_ANY) std::ofstream(permission_of(getpid())) << "any\n";
  return 0;
}

STAND_IN ssize_t process_vm_readv(pid_t pid, const iovec* local, unsigned long local_count,
                                  const iovec* remote, unsigned long remote_count,
                                  unsigned long flags) noexcept {
  if (!std::filesystem::exists(permission_of(pid))) {
    errno = EPERM;
    return -1;
  }
  return syscall(SYS_process_vm_readv, pid, local, local_count, remote, remote_count, flags);
}

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  program.test("private memory", [&] {
    const support::Window<int> window(support::Flavor::create, 10);
    MPI_Info info;
    std::array<char, MPI_MAX_INFO_VAL + 1> paths{};
    int found = 0;
    MPI_Win_get_info(window, &info);
    MPI_Info_get(info, ORIEL_PATHS, MPI_MAX_INFO_VAL, paths.data(), &found);
    MPI_Info_free(&info);
    CHECK(found != 0);
    CHECK(std::strstr(paths.data(), "by process_vm_readv") != nullptr);
  });
}
