// SPDX-License-Identifier: BSD-3-Clause
// The environment variables by which libfabric's providers take less memory.
#include "transport/ofi/provider_settings.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "shm_processes.hpp"

namespace oriel {
namespace {

constexpr const char* variables[] = {"FI_UNIVERSE_SIZE", "FI_TCP_MAX_RX_SIZE",
                                     "FI_OFI_RXM_MSG_RX_SIZE", "FI_OFI_RXM_USE_SRX"};

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

class ProviderSettings : public ::testing::Test {
 protected:
  ProviderSettings() { unset(); }
  ~ProviderSettings() override { unset(); }
  static void unset() {
    for (const char* variable : variables) ::unsetenv(variable);
  }
  static void* loaded(int flags) { return ::dlopen("libfabric.so.1", RTLD_LAZY | flags); }
};

TEST_F(ProviderSettings, FollowTheNumberOfRanksUnlessTheyAreSet) {
  if (loaded(RTLD_NOLOAD) != nullptr) {
    // Another test has loaded libfabric for good, so a process of its own carries out this one.
    constexpr const char* alone = "ORIEL_TEST_ALONE";
    ASSERT_EQ(std::getenv(alone), nullptr) << "libfabric is loaded from the beginning";
    shm_test::Child child([] {
      ::setenv(alone, "1", 1);
      ::execl("/proc/self/exe", "core_tests",
              "--gtest_filter=ProviderSettings.FollowTheNumberOfRanksUnlessTheyAreSet",
              static_cast<char*>(nullptr));
      return 3;
    });
    EXPECT_EQ(child.join(), 0);
    return;
  }
  ::setenv("FI_TCP_MAX_RX_SIZE", "4096", 1);
  limit_provider_memory(8);
  EXPECT_EQ(value_of("FI_UNIVERSE_SIZE"), "8");
  EXPECT_EQ(value_of("FI_TCP_MAX_RX_SIZE"), "4096");
  EXPECT_EQ(value_of("FI_OFI_RXM_USE_SRX"), "");
  unset();
  limit_provider_memory(1000);
  EXPECT_EQ(value_of("FI_UNIVERSE_SIZE"), "1000");
  EXPECT_EQ(value_of("FI_OFI_RXM_USE_SRX"), "1");
}

// The MPI library has loaded it for its own endpoints.
TEST_F(ProviderSettings, StayIfLibfabricIsLoaded) {
  if (loaded(0) == nullptr) GTEST_SKIP() << "there is no libfabric";
  limit_provider_memory(1000);
  for (const char* variable : variables) EXPECT_EQ(value_of(variable), "") << variable;
}

}  // namespace
}  // namespace oriel
