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

/// Whoever acts puts its payload into the window of the other one, who looks at it there.
class Put {
 public:
  explicit Put(const Channel& channel)
      : channel_(channel), outgoing_(channel.size()), count_(static_cast<int>(channel.size())) {
    stamp(incoming(), -1);
  }

  void issue() {
    MPI_Put(outgoing_.data(), count_, MPI_INT64_T, channel_.partner(), 0, count_, MPI_INT64_T,
            channel_.win());
  }
  void issue(const bench::NotifyApi& api, int tag) {
    api.put(outgoing_.data(), count_, MPI_INT64_T, channel_.partner(), 0, count_, MPI_INT64_T,
            channel_.win(), tag);
  }
  void issue(const CounterApi& api, int counter) {
    api.put(outgoing_.data(), count_, MPI_INT64_T, channel_.partner(), 0, count_, MPI_INT64_T,
            counter, channel_.win());
  }

  void prepare_batch(std::int64_t batch) { fill(outgoing_, channel_.job().rank, batch); }
  void before_act(std::int64_t round) { stamp(outgoing_, round); }
  void after_act(std::int64_t) {}
  void after_wait(std::int64_t round) { expect_stamp(incoming(), round); }

  /// What the other rank's payload of a round is written to.
  std::span<Word> incoming() const { return channel_.own_part(); }

 private:
  const Channel& channel_;
  std::vector<Word> outgoing_;
  int count_;
};

}  // namespace notify
