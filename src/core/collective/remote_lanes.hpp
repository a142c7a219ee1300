// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/base/pool.hpp"
#include "core/collective/packed.hpp"
#include "core/collective/plan_progress.hpp"
#include "core/collective/schedule.hpp"
#include "core/region/region.hpp"
#include "core/remote/buffer_registrations.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"

namespace oriel {

class RemoteLanes;

/// A direct write of a plan that is in flight.
struct PlanWrite {
  RemoteLanes* lanes = nullptr;
  std::uint32_t send = 0;   // index of the send in the lanes
  std::uint64_t begun = 0;  // bytes of the transfers that have begun
  std::uint64_t over = 0;   // bytes of the transfers that are over
  bool announced = false;   // its notification has been sent with the last transfer
  Error error = Error::none;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    begun = over = 0;
    announced = false;
    error = Error::none;
  }
};

/// The direct writes of all plans of a process. The tokens of their transfers differ from those of
/// operations and rendezvous.
using PlanWrites = Pool<PlanWrite, std::uint64_t{1} << 30>;

/// A plan's transfers from and to remote ranks. A short transfer is one message, sent when its
/// receiver has begun the previous use, so a receiver keeps at most one such message ahead of time.
/// A long transfer starts when its receiver has begun this use: a direct write and a message that
/// announces its end, or several messages. A rank announces that it has begun a use by its first
/// short message of that use, or by a message of its own.
class RemoteLanes {
 public:
  /// `sender`: null if all ranks are mapped.
  RemoteLanes(Region& region, Messages& messages, const Limits& limits, Sender* sender,
              PlanWrites& writes, const Schedule& schedule, PlanProgress& progress);
  ~RemoteLanes();
  RemoteLanes(const RemoteLanes&) = delete;
  RemoteLanes& operator=(const RemoteLanes&) = delete;

  /// Bytes that this object keeps of each transfer.
  static constexpr std::uint64_t bytes_of_send() { return sizeof(Send); }
  static constexpr std::uint64_t bytes_of_receive() { return sizeof(Receive); }

  // While the plan is made.
  /// Sends each sender the space and, of a long one's buffer, the address of its transfers.
  void send_spaces();
  /// Stores the space that a receiver has sent.
  PlanFault receive_space(const Message& message, std::span<const std::byte> payload);
  /// Called when all senders' spaces have arrived. Sending to a receiver that has announced no
  /// space is a fault.
  PlanFault check() const;
  void finalize();
  void count_receives(std::vector<std::uint32_t>& by_step) const;

  // In each use.
  void start();
  void begin_sends(int step);
  bool advance();
  /// False if the message is invalid.
  bool receive_started(const Message& message);
  bool receive_bytes(const Message& message, std::span<const std::byte> payload);
  void written(PlanWrite& write, const Transfer& transfer);
  int lost_peer() const;
  void abandon();

 private:
  struct Peer {
    int rank = 0;
    std::uint64_t started = 0;  // the last use that the peer has announced as begun
    bool receives = false;      // this rank receives from the peer
    bool hears = false;         // this rank sends the peer a short message in step 0
  };
  struct Send {
    Packed packed;
    std::size_t peer = 0;
    int step = 0;
    // Announced by the receiver:
    std::uint64_t space = 0;
    std::uint32_t number = 0;  // index of the receive at the receiver
    bool direct = false;
    RemoteMemory memory;
    std::uint64_t sent = 0;  // in this use
    bool stale = false;      // in this use: the data are invalid
    PlanWrite* write = nullptr;
  };
  struct Receive {
    Packed packed;
    std::size_t peer = 0;
    int step = 0;
    std::uint64_t use = 0;         // the last use whose data have arrived
    std::vector<std::byte> early;  // data of the next use
    Error early_error = Error::none;
    bool ahead = false;  // `early` has arrived
    int registration = -1;
  };

  std::size_t peer_of(int rank);
  Peer* find_peer(int rank);
  bool eager(const Send& send) const { return send.packed.bytes() <= limits_.eager; }
  Message header(const Send& send) const;
  bool push(Send& send);
  bool push_by_messages(Send& send);
  void push_directly(Send& send);
  void push_stale(Send& send);
  void arrived(Receive& receive, Error error);

  Region& region_;
  Messages& messages_;
  const Limits& limits_;
  Sender* sender_;
  PlanWrites& writes_;
  PlanProgress& progress_;
  BufferRegistrations registrations_;
  std::vector<Peer> peers_;             // by rank
  std::vector<Send> sends_;             // by step
  std::vector<std::uint32_t> by_peer_;  // indices of sends_, while the plan is made
  std::vector<Receive> receives_;
  std::size_t next_send_ = 0;           // index of the next send to begin in this use
  std::vector<std::uint32_t> sending_;  // indices of sends_ that have begun and are not over
  std::vector<std::byte> scratch_;
};

}  // namespace oriel
