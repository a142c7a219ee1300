// SPDX-License-Identifier: BSD-3-Clause
// B2, B4: a process that only computes lives; one that has ended does not.
#include "transport/ofi/lifeline.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Child;
using shm_test::Pipe;

constexpr int timeout_s = 5;

std::span<const std::byte> loopback() {
  static sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return std::as_bytes(std::span(&place, 1));
}

using Address = std::array<std::byte, sizeof(sockaddr_in)>;

Address address_of(const Lifeline& lifeline) {
  Address address{};
  EXPECT_EQ(lifeline.address().size(), address.size());
  std::memcpy(address.data(), lifeline.address().data(), address.size());
  return address;
}

TEST(Lifeline, EndsWithItsProcess) {
  Pipe to_parent;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    const Lifeline lifeline(loopback(), timeout_s);
    to_parent.put(address_of(lifeline));
    while (true) ::pause();
  }
  const auto address = to_parent.get<Address>();
  Lifeline::Watch watch;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(watch.alive(address, timeout_s)) << "it lives, and answers nothing by itself";
    ::usleep(500);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  int looks = 0;
  while (watch.alive(address, timeout_s)) {
    ASSERT_LT(++looks, 10'000);
    ::usleep(1000);
  }
  // Nobody listens there any more.
  Lifeline::Watch late;
  looks = 0;
  while (late.alive(address, timeout_s)) {
    ASSERT_LT(++looks, 10'000);
    ::usleep(1000);
  }
}

// Without an address nobody is ever found dead.
TEST(Lifeline, WithoutAnAddress) {
  const Lifeline none(std::span<const std::byte>(), timeout_s);
  EXPECT_TRUE(none.address().empty());
  Lifeline::Watch watch;
  EXPECT_TRUE(watch.alive({}, timeout_s));
}

}  // namespace
}  // namespace oriel
