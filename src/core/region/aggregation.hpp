// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "core/base/error.hpp"
#include "core/operation/errand.hpp"
#include "core/region/private_copy.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// Short puts, or short gets, of one rank's private memory that have been issued in a row and are
/// carried out together, in order: by errands or one system call. The bytes of puts are copied, so
/// the program may reuse its buffers.
class Aggregation {
 public:
  /// The most bytes of one put or get: copying more costs more than a share of a system call.
  static constexpr std::uint64_t most_bytes = 1024;

  bool empty() const { return count_ == 0; }
  bool accepts(bool write, std::uint64_t bytes) const {
    return empty() || (write == write_ && count_ < most_runs && bytes <= data_.size() - used_);
  }
  void add(bool write, std::uint64_t remote, void* local, std::uint64_t bytes) {
    write_ = write;
    if (write) {
      std::byte* const kept = data_.data() + used_;
      std::memcpy(kept, local, bytes);
      used_ += bytes;
      local = kept;
    }
    runs_[count_++] = {local, remote, bytes};
  }
  /// Carries out the operations. Keeps the first error since collect_error().
  void push(NodeServices& services, int process) {
    std::span<const Run> remaining(runs_.data(), std::exchange(count_, 0));
    used_ = 0;
    while (remaining.size() > 1) {
      const std::size_t carried_out = ask(services, process, remaining);
      if (carried_out == 0) break;
      remaining = remaining.subspan(carried_out);
    }
    if (remaining.empty()) return;
    error_ = first_of(error_, copy_private(services, process, write_, remaining));
  }
  bool failed() const { return error_ != Error::none; }
  Error collect_error() { return std::exchange(error_, Error::none); }

 private:
  static constexpr std::size_t most_kept = 16384;
  /// An errand with fewer runs saves less of the system call than its bytes cost.
  static constexpr std::size_t least_asked = 8;

  /// Asks the process to carry out the first runs. Returns how many it has carried out.
  std::size_t ask(NodeServices& services, int process, std::span<const Run> runs) const {
    Errand errand = Errand::row(write_);
    std::size_t count = 0;
    while (count < runs.size() &&
           errand.add(runs[count].remote, runs[count].local, runs[count].bytes)) {
      ++count;
    }
    if (count < std::min(runs.size(), least_asked) || !services.ask(process, errand)) return 0;
    const std::byte* fetched = errand.fetched();
    for (const Run& run : runs.first(write_ ? 0 : count)) {
      std::memcpy(run.local, fetched, run.bytes);
      fetched += run.bytes;
    }
    return count;
  }

  std::array<Run, most_runs> runs_;
  std::size_t count_ = 0;
  std::size_t used_ = 0;  // bytes of data_
  bool write_ = false;
  Error error_ = Error::none;
  std::array<std::byte, most_kept> data_;
};

}  // namespace oriel
