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
#include "core/base/zero_array.hpp"
#include "core/epoch/sweep_work.hpp"
#include "core/notify/notifications.hpp"
#include "core/region/region.hpp"
#include "core/remote/layout_cache.hpp"
#include "core/remote/message.hpp"
#include "core/remote/rendezvous.hpp"
#include "core/remote/sender.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// A message that the target holds back until its gate is open.
struct HeldMessage {
  Message message;
  LayoutRef layout;  // the target's datatype, if it is not one run of bytes
  std::vector<std::byte> payload;
};

/// Handles messages of remote origins at the target: holds them back until their gates are open,
/// carries them out in the order of arrival, and replies where a reply is wanted. Every field of a
/// message is checked before it is used.
class Server {
 public:
  Server(SweepWork& work, Region& region, Messages& messages, const Limits& limits,
         LayoutCaches& layouts, RendezvousTable& rendezvous_table, Sender& sender,
         Notifications& notifications);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Called when this rank's exposure number `id` to the origin has been opened.
  void expose(int origin, std::uint64_t id);
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

  /// Takes a lock, an unlock, an operation or a notification. False if the message is invalid;
  /// nothing has been changed then.
  bool take(const Message& message, std::span<const std::byte> payload);
  /// Takes a description of a datatype, or a piece of it, which later operations use. False if the
  /// message is invalid.
  bool take_layout(const Message& message, std::span<const std::byte> payload);
  /// Called when a direct transfer of a rendezvous is over.
  void transferred(Rendezvous& one, const Transfer& transfer);

 private:
  /// The messages of one origin that are held back, in the order of arrival.
  struct Held {
    std::deque<HeldMessage> lock, other;
  };
  /// One origin. All bytes zero: no message of it has arrived.
  struct Origin {
    Held* held = nullptr;           // in held_
    std::uint64_t exposures = 0;    // opened to the origin
    std::uint64_t lock_grants = 0;  // the number of its lock requests that have been granted
    // Errors of its operations that had no reply: of the notified epoch, and of others.
    Error notified_failed = Error::none;
    Error failed = Error::none;
    bool standing = false;   // the origin is in our lock queue, represented by this rank
    bool holding = false;    // the origin has requested or holds our lock
    bool exclusive = false;  // that lock is exclusive

    Error& failed_with(Gate gate) { return gate == Gate::open ? notified_failed : failed; }
  };

  /// The data that have arrived of an operation whose messages take place together (Assembly).
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
  void release_all();
  bool sweep_standing();
  void carry_out(const Message& message, std::span<const std::byte> payload, const Layout* layout);
  void lock(const Message& message);
  void unlock(const Message& message);
  void release(int origin);
  void grant(int origin);
  void reply_to(const Message& message, Error error, std::span<const std::byte> fetched = {});
  void reply_to(const Request& request, Error error, std::span<const std::byte> fetched);
  void serve(const Message& message, std::span<const std::byte> payload, const Layout* layout);
  void serve(const Request& request);
  std::vector<Assembled>::iterator keep(const Message& message, std::span<const std::byte> payload);
  void notify(const Message& message);
  Error check_request(const Request& request, Member& memory, std::byte*& start);
  Error check_window(const Request& request, std::uint64_t size);
  Error check_attached(const Request& request, bool& some_private);
  Error serve_run(const Message& message, const Member& memory, std::byte* where,
                  const std::byte* operands, std::byte* fetched, std::uint64_t bytes);
  // rendezvous.cpp
  void begin(const Message& message, const RemoteMemory& registered);
  bool advance(Rendezvous& one);
  void end(Rendezvous& one);
  const Member& self() { return region_.member(region_.rank()); }

  SweepWork& work_;
  Region& region_;
  Messages& messages_;
  const Limits& limits_;
  LayoutCaches& layouts_;
  RendezvousTable& rendezvous_table_;
  Sender& sender_;
  Notifications& notifications_;
  std::uint64_t fence_opened_ = 0;
  std::uint64_t fence_ended_ = 0;
  ZeroArray<Origin> origins_;
  std::vector<std::unique_ptr<Held>> held_;  // of origins that have sent a message too early
  std::vector<int> early_;                   // these origins
  std::uint64_t waiting_ = 0;                // messages held back
  std::vector<int> standing_;                // remote origins in our lock queue
  std::vector<Rendezvous*> meeting_;         // rendezvous that are not over
  std::vector<Assembled> assembled_;
  std::vector<std::byte> scratch_;  // results being fetched
};

}  // namespace oriel
