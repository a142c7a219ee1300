// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/base/pool.hpp"
#include "core/base/work_list.hpp"
#include "core/epoch/events.hpp"
#include "core/notify/notifications.hpp"
#include "core/region/peer.hpp"
#include "core/region/region.hpp"
#include "core/remote/layout_cache.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// A message that the target holds back until its gate is open.
struct HeldMessage {
  Message message;
  LayoutRef layout;  // the target's datatype, if it is not one run of bytes
  std::vector<std::byte> payload;
};

class Server;

/// A long put or get that its target carries out by direct transfers of its own, between its memory
/// and the origin's registered buffer.
struct Rendezvous {
  Server* server = nullptr;
  Message message;
  RemoteMemory registered;
  std::byte* first_byte = nullptr;  // of its first byte in our memory, or in `copy`
  std::byte* detached = nullptr;    // of its first byte in our memory, if that is detached
  std::vector<std::byte> copy;      // what is transferred in place of detached memory
  std::uint64_t begun = 0;          // bytes of the transfers that have begun
  std::uint64_t over = 0;           // bytes of the transfers that are over
  Error error = Error::none;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    begun = over = 0;
    error = Error::none;
    detached = nullptr;
    copy = {};
  }

  std::uint64_t remaining() const { return error == Error::none ? message.count - begun : 0; }
  bool finished() const { return remaining() == 0 && over == begun; }
};

/// The rendezvous of a process at which it is the target. The tokens of their transfers differ from
/// those of operations and plans.
using RendezvousTable = Pool<Rendezvous, std::uint64_t{1} << 31>;

/// Handles messages of remote origins at the target: holds them back until their gates are open,
/// carries them out in the order of arrival, and replies where a reply is wanted. Every field of a
/// message is checked before it is used.
class Server {
 public:
  Server(SweepWork& work, Peers& peers, Region& region, Messages& messages, const Limits& limits,
         LayoutCaches& layouts, RendezvousTable& rendezvous_table, Sender& sender,
         Notifications& notifications, const WindowEvents& events);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Called when an exposure to the origin has been opened: carries out the messages of the origin
  /// whose gates are open.
  void release(int origin);
  /// Called when the fence epoch opened by fence call `call` is active: operations of that epoch
  /// may be carried out.
  void open_fence(std::uint64_t call) {
    fence_opened_ = call;
    release_all();
  }
  /// Called when this rank has ended the closing fence: lock requests of origins that had ended it
  /// earlier may be carried out.
  void end_fence(std::uint64_t call) {
    fence_ended_ = call;
    release_all();
  }
  /// Advances rendezvous and the locks that remote origins wait for. True if anything moved.
  bool sweep();

  /// Receives a lock, an unlock, an operation or a notification. False if the message is invalid;
  /// nothing has been changed then.
  bool receive(const Message& message, std::span<const std::byte> payload);
  /// Receives a description of a datatype, or a piece of it, which later operations use. False if
  /// the message is invalid.
  bool receive_layout(const Message& message, std::span<const std::byte> payload);
  /// Called when a direct transfer of a rendezvous is over.
  void transferred(Rendezvous& one, const Transfer& transfer);

 private:
  /// The messages of one origin that are held back, in the order of arrival.
  struct Held {
    std::deque<HeldMessage> lock, other;
  };
  /// The data that have arrived of an operation whose messages take effect together (Assembly).
  struct Assembled {
    int origin = 0;
    std::uint64_t token = 0;
    std::vector<std::byte> data;
  };
  /// The request of one message, or of all messages of an operation together.
  struct Request {
    const Message& message;
    const Layout* layout;
    std::span<const std::byte> payload;
    std::uint64_t first;  // bytes of the operation before this request
    std::uint64_t bytes;  // of the target's memory
  };

  bool gate_open(const Message& message);
  /// The errors of an origin's operations that had no reply.
  Error& failed(int origin, Gate gate) {
    Peer& peer = peers_[origin];
    return gate == Gate::open ? peer.notified_failed : peer.failed;
  }
  void release_all();
  bool sweep_standing();
  void carry_out(const Message& message, std::span<const std::byte> payload, const Layout* layout);
  void lock(const Message& message);
  void unlock(const Message& message);
  void grant(int origin);
  void reply_to(const Message& message, Error error, std::span<const std::byte> fetched = {});
  void reply_to(const Request& request, Error error, std::span<const std::byte> fetched);
  void serve(const Message& message, std::span<const std::byte> payload, const Layout* layout);
  void serve(const Request& request);
  std::vector<Assembled>::iterator keep(const Message& message, std::span<const std::byte> payload);
  void notify(const Message& message);
  Error check_request(const Request& request, Member& memory, std::byte*& start);
  Error check_window(const Request& request, std::uint64_t size);
  Error check_pieces(const Request& request, Member& memory);
  Error check_detached(const Request& request, std::byte* start);
  Error serve_run(const Message& message, const Member& memory, std::byte* where,
                  const std::byte* operands, std::byte* fetched, std::uint64_t bytes);
  // rendezvous.cpp
  void begin(const Message& message, const RemoteMemory& registered);
  bool advance(Rendezvous& one);
  void end(Rendezvous& one);
  const Member& self() { return region_.member(region_.rank()); }

  SweepWork& work_;
  Peers& peers_;
  Region& region_;
  Messages& messages_;
  const Limits& limits_;
  LayoutCaches& layouts_;
  RendezvousTable& rendezvous_table_;
  Sender& sender_;
  Notifications& notifications_;
  const WindowEvents& events_;
  std::uint64_t fence_opened_ = 0;
  std::uint64_t fence_ended_ = 0;
  std::vector<std::unique_ptr<Held>> held_;  // of early_
  std::vector<int> early_;                   // the origins that have sent a message too early
  std::uint64_t waiting_ = 0;                // messages held back
  std::vector<int> standing_;                // remote origins in our lock queue
  std::vector<Rendezvous*> meeting_;         // rendezvous that are not over
  std::vector<Assembled> assembled_;
  std::vector<std::byte> scratch_;  // results being fetched
};

}  // namespace oriel
