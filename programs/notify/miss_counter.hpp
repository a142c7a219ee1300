// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace notify {

/// One of the processor's counters, of this thread outside the kernel.
class MissCounter {
 public:
  MissCounter(std::uint32_t type, std::uint64_t event) {
    perf_event_attr wanted{};
    wanted.size = sizeof(wanted);
    wanted.type = type;
    wanted.config = event;
    wanted.disabled = 1;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    file_ = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
    if (file_ < 0) error_ = errno;
  }
  ~MissCounter() {
    if (file_ >= 0) ::close(file_);
  }
  MissCounter(const MissCounter&) = delete;
  MissCounter& operator=(const MissCounter&) = delete;

  bool usable() const { return file_ >= 0; }
  /// Why it is not.
  std::string reason() const {
    if (error_ == EACCES || error_ == EPERM) {
      return "this user may not read the processor's counters; as root, write 2 or less to "
             "/proc/sys/kernel/perf_event_paranoid";
    }
    if (error_ == ENOENT || error_ == ENODEV || error_ == EOPNOTSUPP) {
      return "this processor or virtual machine has no such counter";
    }
    return std::string("perf_event_open failed: ") + std::strerror(error_);
  }

  template <typename Call>
  std::uint64_t count(Call&& call) const {
    ::ioctl(file_, PERF_EVENT_IOC_RESET, 0);
    ::ioctl(file_, PERF_EVENT_IOC_ENABLE, 0);
    call();
    ::ioctl(file_, PERF_EVENT_IOC_DISABLE, 0);
    std::uint64_t found = 0;
    if (::read(file_, &found, sizeof(found)) != sizeof(found)) return 0;
    return found;
  }

 private:
  int file_ = -1;
  int error_ = 0;
};

}  // namespace notify
