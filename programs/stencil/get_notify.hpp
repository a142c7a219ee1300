// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "bench/notify_api.hpp"
#include "bench/window.hpp"
#include "domain.hpp"
#include "slots.hpp"

namespace stencil {

/// By notified gets: each value stays at its producer until the consumer fetches it to where it
/// wants it. The producer announces a value by a notified put of no elements, and the get notifies
/// the producer that the value's slot is free. docs/examples.md explains it.
class GetNotify {
 public:
  GetNotify(const Domain& domain, bench::Memory memory)
      : domain_(domain),
        window_(memory, sizeof(Buffer)),
        buffer_(*static_cast<Buffer*>(window_.base())) {
    oriel_.init(window_.handle(), domain.left(), ready_tag, 1, &ready_);
    oriel_.init(window_.handle(), domain.right(), free_tag, 1, &free_);
  }
  ~GetNotify() {
    MPI_Request_free(&ready_);
    MPI_Request_free(&free_);
  }
  GetNotify(const GetNotify&) = delete;
  GetNotify& operator=(const GetNotify&) = delete;

  void begin(std::int64_t) {}
  double receive(int) {
    wait(ready_);
    double value = 0;
    oriel_.get(&value, 1, MPI_DOUBLE, domain_.left(), place(received_), 1, MPI_DOUBLE,
               window_.handle(), free_tag);
    MPI_Win_flush_local(domain_.left(), window_.handle());
    ++received_;
    return value;
  }
  void send(int, const double* value) {
    // The values before have left their slots free in the same order, the oldest one this slot.
    if (sent_ >= slots) wait(free_);
    buffer_[sent_ % slots].value = *value;
    oriel_.put(nullptr, 0, MPI_DOUBLE, domain_.right(), 0, 0, MPI_DOUBLE, window_.handle(),
               ready_tag);
    ++sent_;
  }
  void end() {}

 private:
  static constexpr int ready_tag = 0;
  static constexpr int free_tag = 1;
  /// So many values may be ahead of their consumer.
  static constexpr std::int64_t slots = 64;
  using Buffer = std::array<Slot, slots>;

  static MPI_Aint place(std::int64_t number) {
    return Slots::of_value(static_cast<int>(number % slots));
  }
  static void wait(MPI_Request& request) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  const bench::NotifyApi oriel_;
  const Domain& domain_;
  bench::Window window_;
  Buffer& buffer_;
  MPI_Request ready_ = MPI_REQUEST_NULL;
  MPI_Request free_ = MPI_REQUEST_NULL;
  std::int64_t sent_ = 0;
  std::int64_t received_ = 0;
};

}  // namespace stencil
