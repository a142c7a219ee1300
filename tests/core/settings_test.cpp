// SPDX-License-Identifier: BSD-3-Clause
// G1: a program with more rights than its caller does not do what the caller's environment says:
// settings name libraries that are loaded, and files that are written.
#include "core/base/settings.hpp"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <string>

#include "engine/tuning/exchange_times.hpp"
#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Child;
using shm_test::Environment;

bool privileged() {
  return ::getauxval(AT_SECURE) != 0;
}

TEST(Settings, AreReadFromTheEnvironment) {
  const Environment library("ORIEL_OFI_LIBRARY", "/a/library.so");
  const Environment stall("ORIEL_STALL", "7");
  const Environment vm("ORIEL_VM", "0");
  const Environment cache("XDG_CACHE_HOME", "/a/cache");
  EXPECT_STREQ(setting_text("ORIEL_OFI_LIBRARY"), privileged() ? "" : "/a/library.so");
  EXPECT_EQ(setting_int("ORIEL_STALL"), privileged() ? 30 : 7);
  EXPECT_EQ(setting_bool("ORIEL_VM"), privileged());
  EXPECT_EQ(ExchangeTimes::path(), privileged() ? "" : "/a/cache/oriel/alltoallv");
}

TEST(Settings, OfAPrivilegedProgramAreNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give up the rights of a caller";
  EXPECT_EQ(Child([] {
              // As for a program that is setuid root: the kernel compares the users at exec.
              constexpr uid_t caller = 65534;
              if (::setresuid(caller, 0, 0) != 0) return 2;
              ::execl("/proc/self/exe", "core_tests",
                      "--gtest_filter=Settings.AreReadFromTheEnvironment",
                      static_cast<char*>(nullptr));
              return 3;
            }).join(),
            0);
}

}  // namespace
}  // namespace oriel
