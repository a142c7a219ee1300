// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bench/epoch_api.hpp"
#include "bench/epochs.hpp"
#include "bench/group.hpp"
#include "bench/window.hpp"
#include "channel.hpp"
#include "job.hpp"
#include "put.hpp"

// How much of an epoch computation hides (section VIII-A of "Nonblocking epochs in MPI one-sided
// communication"), by kind of epoch: how the origin opens and closes one, what the target does
// meanwhile, and how it reads what was put.
namespace notify {

class LockEpoch {
 public:
  static constexpr std::string_view name = "lock";
  static constexpr std::string_view nonblocking_name = "ilock";

  LockEpoch(const Channel& channel, const bench::Epochs& epochs)
      : channel_(channel), epochs_(epochs) {}
  void open() { epochs_.lock(channel_.partner()); }
  MPI_Request close() { return epochs_.unlock(channel_.partner()); }
  void serve() {}
  template <typename Look>
  void read(Look&& look) {
    const bench::OwnPart mine(channel_.win(), channel_.job().rank);
    look();
  }
  void finish() {}

 private:
  const Channel& channel_;
  const bench::Epochs& epochs_;
};

/// Each fence closes one epoch and opens the next one.
class FenceEpoch {
 public:
  static constexpr std::string_view name = "fence";
  static constexpr std::string_view nonblocking_name = "ifence";

  FenceEpoch(const Channel&, const bench::Epochs& epochs) : epochs_(epochs) {
    bench::Epochs::finish(epochs_.fence(MPI_MODE_NOPRECEDE));
  }
  void open() {}
  MPI_Request close() { return epochs_.fence(0); }
  void serve() { bench::Epochs::finish(epochs_.fence(0)); }
  template <typename Look>
  void read(Look&& look) {
    look();
  }
  void finish() { bench::Epochs::finish(epochs_.fence(MPI_MODE_NOSUCCEED)); }

 private:
  const bench::Epochs& epochs_;
};

class StartEpoch {
 public:
  static constexpr std::string_view name = "pscw";
  static constexpr std::string_view nonblocking_name = "ipscw";

  StartEpoch(const Channel& channel, const bench::Epochs& epochs)
      : epochs_(epochs), partner_({channel.partner()}) {}
  void open() { epochs_.start(partner_.handle()); }
  MPI_Request close() { return epochs_.complete(); }
  void serve() {
    epochs_.post(partner_.handle());
    bench::Epochs::finish(epochs_.wait());
  }
  template <typename Look>
  void read(Look&& look) {
    look();
  }
  void finish() {}

 private:
  const bench::Epochs& epochs_;
  bench::Group partner_;
};

/// A put in an epoch. The computation follows the put in a blocking epoch, which is closed after
/// it. A nonblocking epoch is closed before the computation and waited for after it.
template <typename Epoch, bench::Mode mode>
class OverlappedEpoch {
 public:
  static constexpr std::string_view name =
      mode == bench::Mode::blocking ? Epoch::name : Epoch::nonblocking_name;

  OverlappedEpoch(const Job& job, std::size_t bytes)
      : channel_(job, bytes), epochs_(channel_.win(), mode, api_), put_(channel_) {
    MPI_Barrier(MPI_COMM_WORLD);  // the put's constructor has stored into the window
    epoch_.emplace(channel_, epochs_);
  }
  void prepare(std::int64_t round) { put_.before_act(round); }
  void start() {
    epoch_->open();
    put_.issue();
    if (mode == bench::Mode::nonblocking) closed_ = epoch_->close();
  }
  void complete() {
    if (mode == bench::Mode::blocking) closed_ = epoch_->close();
    bench::Epochs::finish(closed_);
  }
  void serve() { epoch_->serve(); }
  void expect(std::int64_t round) {
    epoch_->read([&] { put_.after_wait(round); });
  }
  void finish() { epoch_->finish(); }

 private:
  bench::EpochApi api_;
  Channel channel_;
  bench::Epochs epochs_;
  Put put_;
  std::optional<Epoch> epoch_;
  MPI_Request closed_ = MPI_REQUEST_NULL;
};

}  // namespace notify
