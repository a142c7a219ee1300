// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/shm/shm_transport.hpp"

namespace oriel::shm_test {

using Bytes = std::vector<std::byte>;

/// So many bytes, which differ from one another and from those of another seed.
inline Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(seed + i * 13);
  return made;
}

/// Pages of a memfd, which stays open.
inline std::byte* file_pages(std::uint64_t bytes) {
  const int file = ::memfd_create("pages", 0);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return made != MAP_FAILED ? static_cast<std::byte*>(made) : nullptr;
}

/// A process of a test: ends with the value of the body, by an alarm if that hangs, and is killed
/// with the object if nobody joined it.
class Child {
 public:
  template <typename Body>
  explicit Child(Body&& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::alarm(60);
    ::_exit(body());
  }
  ~Child() {
    if (pid_ > 0) {
      kill();
      join();
    }
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  void kill() const { ::kill(pid_, SIGKILL); }

  /// Its exit value, or minus the signal that ended it.
  int join() {
    int status = 0;
    if (::waitpid(std::exchange(pid_, -1), &status, 0) < 0) return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

/// A transport with an arena of its own; small ones, because a sanitizer leaves little address
/// space.
class OwnTransport {
 public:
  static constexpr std::uint64_t extent = std::uint64_t{1} << 24;

  OwnTransport() = default;
  explicit OwnTransport(std::string& error)
      : arena_(std::make_unique<Arena>(extent)), made_(ShmTransport::create(*arena_, error)) {}
  OwnTransport(OwnTransport&&) = default;
  OwnTransport& operator=(OwnTransport&& other) noexcept {
    made_ = std::move(other.made_);  // a transport ends before its arena
    arena_ = std::move(other.arena_);
    return *this;
  }

  explicit operator bool() const { return made_ != nullptr; }
  ShmTransport* operator->() const { return made_.get(); }
  ShmTransport& operator*() const { return *made_; }

 private:
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<ShmTransport> made_;
};

/// A pipe for one plain value after the other.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;

  template <typename T>
  void put(const T& value) {
    if (::write(ends_[1], &value, sizeof value) != sizeof value) std::abort();
  }
  template <typename T>
  T get() {
    T value;
    if (::read(ends_[0], &value, sizeof value) != sizeof value) std::abort();
    return value;
  }

 private:
  int ends_[2];
};

/// An environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;

 private:
  const char* name_;
};

/// The calling thread runs on the first or second processor that it may run on, for as long as this
/// lives: those who ask and those who answer have to run at the same time.
class OnProcessor {
 public:
  static bool are_two() {
    cpu_set_t all;
    ::sched_getaffinity(0, sizeof all, &all);
    return CPU_COUNT(&all) >= 2;
  }
  explicit OnProcessor(int which) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_) || which-- != 0) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ::sched_setaffinity(0, sizeof one, &one);
    }
  }
  ~OnProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OnProcessor(const OnProcessor&) = delete;

 private:
  cpu_set_t before_;
};

/// Ends a test that hangs: its process, so that the runner reports it.
class ShmTest : public ::testing::Test {
 protected:
  ShmTest() { ::alarm(120); }
  ~ShmTest() override { ::alarm(0); }
};

}  // namespace oriel::shm_test
