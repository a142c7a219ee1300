// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bench/notify_api.hpp"
#include "channel.hpp"
#include "counter_api.hpp"
#include "payload.hpp"

namespace notify {

/// Whoever acts gets the payload that the other one has laid into its own window, and who then lays
/// the next one there.
class Get {
 public:
  explicit Get(const Channel& channel)
      : channel_(channel), incoming_(channel.size()), count_(static_cast<int>(channel.size())) {
    stamp(channel_.own_part(), 0);
  }

  void issue() {
    MPI_Get(incoming_.data(), count_, MPI_INT64_T, channel_.partner(), 0, count_, MPI_INT64_T,
            channel_.win());
  }
  void issue(const bench::NotifyApi& api, int tag) {
    api.get(incoming_.data(), count_, MPI_INT64_T, channel_.partner(), 0, count_, MPI_INT64_T,
            channel_.win(), tag);
  }
  void issue(const CounterApi& api, int counter) {
    api.get(incoming_.data(), count_, MPI_INT64_T, channel_.partner(), 0, count_, MPI_INT64_T,
            counter, channel_.win());
  }

  void prepare_batch(std::int64_t batch) { fill(channel_.own_part(), channel_.job().rank, batch); }
  void before_act(std::int64_t) {}
  void after_act(std::int64_t round) { expect_stamp(incoming_, round); }
  void after_wait(std::int64_t round) { stamp(channel_.own_part(), round + 1); }

  std::span<const Word> incoming() const { return incoming_; }

 private:
  const Channel& channel_;
  std::vector<Word> incoming_;
  int count_;
};

}  // namespace notify
