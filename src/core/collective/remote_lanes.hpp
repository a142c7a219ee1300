// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/limits.hpp"
#include "core/collective/packed.hpp"
#include "core/collective/plan_fault.hpp"
#include "core/collective/plan_progress.hpp"
#include "core/collective/plan_write.hpp"
#include "core/collective/schedule.hpp"
#include "core/region/region.hpp"
#include "core/remote/buffer_registrations.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"

namespace oriel {

/// A plan's transfers from and to remote ranks. A short one is a message, sent when its receiver
/// has begun the use before, so that no receiver keeps more than one ahead of time. A long one goes
/// when its receiver has begun this use: by a direct write and a message that says that it is
/// there, or in messages. That a rank has begun a use is told by its first short message of it, or
/// by one of its own.
class RemoteLanes {
 public:
  /// `sender`: null where all ranks are mapped.
  RemoteLanes(Region& region, Messages& messages, const Limits& limits, Sender* sender,
              PlanWrites& writes, std::uint64_t plan, const Schedule& schedule,
              PlanProgress& progress);
  ~RemoteLanes();
  RemoteLanes(const RemoteLanes&) = delete;
  RemoteLanes& operator=(const RemoteLanes&) = delete;

  /// What is kept of each transfer.
  static constexpr std::uint64_t bytes_of_send() { return sizeof(Send); }
  static constexpr std::uint64_t bytes_of_receive() { return sizeof(Receive); }

  // While the plan is made.
  /// Tells the senders what there is space for, and where.
  void send_spaces();
  /// Likewise of a receiver of ours, once its message has come.
  PlanFault take_space(const Message& message, std::span<const std::byte> payload);
  /// All ranks have agreed. What nobody has told of there is no space for.
  PlanFault check() const;
  void finalize();
  void count_receives(std::vector<std::uint32_t>& by_step) const;

  // In each use.
  void start();
  void begin_sends(int step);
  bool advance();
  /// False: no such message can be.
  bool take_started(const Message& message);
  bool take_bytes(const Message& message, std::span<const std::byte> payload);
  void written(PlanWrite& write, const Transfer& transfer);
  int lost_peer() const;
  void abandon();

 private:
  struct Peer {
    int rank = 0;
    std::uint64_t started = 0;  // the last use that it has begun, as far as we have heard
    bool receives = false;      // something from it
    bool hears = false;         // by a short message in step 0
  };
  struct Send {
    Packed packed;
    std::size_t peer = 0;
    int step = 0;
    // As its receiver has told us:
    std::uint64_t space = 0;
    std::uint32_t number = 0;  // of the receive there
    bool direct = false;
    RemoteMemory memory;
    std::uint64_t sent = 0;  // in this use
    bool stale = false;      // in this use: what would be sent is not what it should be
    PlanWrite* write = nullptr;
  };
  struct Receive {
    Packed packed;
    std::size_t peer = 0;
    int step = 0;
    std::uint64_t use = 0;         // the last one that is over
    std::vector<std::byte> early;  // of the next use
    Error early_error = Error::none;
    bool ahead = false;  // it is there
    int registration = -1;
  };

  std::size_t peer_of(int rank);
  Peer* find_peer(int rank);
  bool eager(const Send& send) const { return send.packed.bytes() <= limits_.eager; }
  Message header(const Send& send) const;
  bool push(Send& send);
  bool push_by_messages(Send& send);
  bool push_directly(Send& send);
  bool push_stale(Send& send);
  void arrived(Receive& receive, Error error);

  Region& region_;
  Messages& messages_;
  const Limits& limits_;
  Sender* sender_;
  PlanWrites& writes_;
  std::uint64_t plan_;
  PlanProgress& progress_;
  BufferRegistrations registrations_;
  std::vector<Peer> peers_;             // by rank
  std::vector<Send> sends_;             // by step
  std::vector<std::uint32_t> by_peer_;  // of sends_, while the plan is made
  std::vector<Receive> receives_;
  std::size_t next_send_ = 0;           // of the next step, in this use
  std::vector<std::uint32_t> sending_;  // of sends_: begun and not over
  std::vector<std::byte> scratch_;
};

}  // namespace oriel
