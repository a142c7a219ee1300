// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/atomics/network_atomics.hpp"
#include "core/base/limits.hpp"
#include "core/epoch/link.hpp"
#include "core/epoch/pending_operations.hpp"
#include "core/region/peer.hpp"
#include "core/region/region.hpp"
#include "core/remote/buffer_registrations.hpp"
#include "core/remote/counted_fence.hpp"
#include "core/remote/layout_cache.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"
#include "core/remote/server.hpp"

namespace oriel {

/// The link of remote ranks: which messages are sent, when, and how answers are handled.
///
/// The origin does not ask whether a target is available: the target holds back messages that
/// arrive too early, up to Limits::ahead bytes. Everything that one process sends another arrives
/// in order. So messages are acknowledged only where MPI requires it: a flush or an unlock asks
/// once, and the reply to a fetching operation answers for all operations before it (S4).
class RemoteTargets final : public Link {
 public:
  RemoteTargets(EpochState& state, Peers& peers, Region& region, Messages& messages,
                const Limits& limits, LayoutCaches& layouts, Sender& sender, Server& server,
                CountedFence& fence, NetworkAtomics& atomics);

  void expose(int origin, std::uint64_t id, bool no_check) override;
  Outcome issue(const Operation& operation, Epoch& epoch, Target& target) override;
  bool advance(Epoch& epoch, Target& target) override;
  void transferred(RecordedOperation& recorded, const Transfer& transfer) override;
  void ask(Epoch& epoch, Target& target) override;
  bool ask_alone(Epoch& epoch, Target& target, Completion* completion) override;
  bool try_acquire(Epoch& epoch, Target& target) override { return acquire(epoch, target); }
  bool behind_another(const Target& target) override {
    return target.access == Target::Access::requested && !lock_granted(target.rank, target.id - 1);
  }
  void push(bool urgent) override { sender_.push(urgent); }

  /// Receive messages of a target. False if the message is invalid; nothing has been changed then.
  bool receive_word(const Message& message);
  bool receive_reply(const Message& message, std::span<const std::byte> payload);

 private:
  // remote_targets.cpp: when messages may be sent to a target, and its answers.
  bool lock_granted(int rank, std::uint64_t request);
  bool acquire(Epoch& epoch, Target& target);
  void release_ahead(int rank);
  void move_get_last(Target& target);
  bool reserve(Epoch& epoch, Target& target, std::uint64_t bytes);
  bool prepare_transfer(Epoch& epoch, Target& target);
  bool end_access(Epoch& epoch, Target& target);
  Message of_lock(MessageKind kind, const Epoch& epoch) const;
  bool asks_at_end(const Epoch& epoch, const Target& target) const;
  void send_unlock(Epoch& epoch, Target& target);
  RecordedOperation& question(Epoch& epoch, Target& target);
  void send_question(RecordedOperation& question);
  /// For an operation whose bytes have been sent and whose request waits until they are at the
  /// target: replaces the operation by the question for them. False if no question is needed.
  bool ask_behind(RecordedOperation& recorded);
  /// True if the end of the operation at this rank shows that it is complete at the target: that of
  /// a read, of a delivered write, of an atomic and of a rendezvous. Such operations are not
  /// counted in Target::issued, and no question follows them. Their notifications are counted.
  bool completes_here(OperationKind kind, Protocol protocol) const;
  /// True if a question must follow this operation, which is a direct transfer.
  bool asks_behind(const Operation& operation) const {
    return operation.awaits_answer() && !completes_here(operation.kind, Protocol::direct);
  }
  /// True if the notification of a direct transfer is sent behind its bytes, before the transfer
  /// has ended.
  bool notifies_at_once(const Operation& operation) const {
    return operation.kind == OperationKind::put && operation.notify_arg.wanted() &&
           messages_.orders_writes();
  }
  static void mark_asked(RecordedOperation& question, EpochPeer& peer);
  void mark_open(const RecordedOperation& answered);
  bool receive_end(RecordedOperation& recorded, const Message& message);

  // transmission.cpp: how an operation is sent.
  bool transmit(RecordedOperation& recorded);
  bool one_update(const Operation& operation) const;
  bool transmit_by_messages(RecordedOperation& recorded);
  bool transmit_now(const Operation& operation, Epoch& epoch, Target& target);
  Message request(const Operation& operation, const Epoch& epoch, const Target& target) const;
  void send_fragment(Message message, const Operation& operation, std::uint64_t first,
                     std::uint64_t bytes);
  void describe(const Layout& layout, int rank);
  void send_notification(RecordedOperation& recorded);
  Accepted transfer_with_notification(const Operation& put, std::uint64_t token,
                                      std::span<const TransferRun> runs, std::uint64_t bytes);
  bool transfers_now(const Operation& operation, Epoch& epoch, Target& target);
  bool transmit_directly(RecordedOperation& recorded);
  static void put_under_way(RecordedOperation& recorded);
  int register_buffer(const Operation& operation);
  void send_rendezvous(RecordedOperation& recorded, Message message);

  EpochState& state_;
  Peers& peers_;
  Region& region_;
  Messages& messages_;
  const Limits& limits_;
  LayoutCaches& layouts_;
  Sender& sender_;
  Server& server_;
  CountedFence& fence_;
  NetworkAtomics& atomics_;
  BufferRegistrations registrations_;  // of rendezvous
  std::vector<std::byte> scratch_;     // payload being packed
};

}  // namespace oriel
