// SPDX-License-Identifier: BSD-3-Clause
#include "core/peer_dispatch.hpp"

#include <atomic>

#include "core/epoch/done_word.hpp"
#include "core/remote/counted_fence.hpp"
#include "core/remote/remote_targets.hpp"
#include "core/remote/sender.hpp"
#include "core/remote/server.hpp"

namespace oriel {

RemoteResources::RemoteResources(Messages& messages, const Limits& chosen)
    : outbox(messages), limits(chosen) {}

RemoteResources::~RemoteResources() = default;

struct PeerDispatch::Remote {
  Remote(EpochState& state, Region& region, Messages& messages, RemoteResources& resources,
         FenceWords& words, NetworkAtomics& atomics, Notifications& notifications)
      : sender(region, resources.outbox),
        fence(region, sender, words),
        targets(state, region, messages, resources.limits, resources.layouts, sender, fence,
                atomics),
        server(state.work, region, messages, resources.limits, resources.layouts,
               resources.rendezvous_table, sender, fence, notifications) {}

  Sender sender;
  CountedFence fence;
  RemoteTargets targets;
  Server server;
};

PeerDispatch::PeerDispatch(EpochState& state, Region& region, Transport& transport,
                           RemoteResources& resources, Notifications& notifications, bool remote)
    : peers_(state.peers),
      reason_(state.reason),
      pending_(state.pending),
      events_(state.events),
      region_(region),
      resources_(resources),
      fences_(region, resources.limits.announced_each),
      atomics_(pending_, region, transport.messages()),
      notifier_(state, region, notifications.counters()),
      mapped_(state, region, fences_, atomics_, notifier_, resources.limits),
      remote_(remote ? std::make_unique<Remote>(state, region, transport.messages(), resources,
                                                fences_, atomics_, notifications)
                     : nullptr),
      exchange_(region, sender()),
      barrier_(region, sender()) {}

PeerDispatch::~PeerDispatch() = default;

bool PeerDispatch::sweep() {
  bool moved = remote_ != nullptr && remote_->server.sweep();
  return mapped_.push_aggregations() || moved;
}

Sender* PeerDispatch::sender() {
  return remote_ != nullptr ? &remote_->sender : nullptr;
}

void PeerDispatch::expose(int origin, std::uint64_t id, bool no_check) {
  if (region_.mapped(origin)) {
    // NOCHECK saves a message, not this store: the origin needs it if its epoch has been deferred.
    mapped_.expose(origin, id);
    return;
  }
  if (!no_check) remote_->sender.send_word(origin, MessageKind::granted, id);
  remote_->server.expose(origin, id);
}

bool PeerDispatch::completed_by(int origin, std::uint64_t id) {
  // Acquire pairs with the origin's release: its stores to our memory are visible.
  return DoneWord(region_.slot_from(origin).done.load(std::memory_order_acquire)).covers(id);
}

void PeerDispatch::open_fence(std::uint64_t call, bool announce) {
  if (announce) fences_.announce(call);
  if (remote_ == nullptr) return;
  remote_->fence.open(call);
  remote_->server.release_all();
}

bool PeerDispatch::end_fence(Epoch& epoch) {
  if (remote_ == nullptr) {
    // A renewed epoch keeps its targets.
    const bool done = !epoch.closed || (epoch.untold == 0 && epoch.attention == 0);
    return done && fences_.advance_closing(epoch);
  }
  if (!remote_->fence.advance(epoch)) return false;
  // Carries out lock requests of origins that had ended this fence earlier.
  remote_->server.release_all();
  return true;
}

void PeerDispatch::push(bool urgent) {
  if (remote_ != nullptr && (urgent || !resources_.outbox.swept_soon())) resources_.outbox.push();
}

bool PeerDispatch::behind_another(const Epoch& epoch) {
  return remote_ != nullptr && epoch.kind == EpochKind::lock && !region_.mapped(epoch.one.rank) &&
         remote_->targets.behind_another(epoch.one);
}

Outcome PeerDispatch::issue(const Operation& operation, Epoch& epoch, Target& target) {
  const Protocol chosen = protocol(operation);
  switch (chosen) {
    case Protocol::stored:
    case Protocol::system_call:
      events_.issued(operation, chosen);
      return mapped_.issue(operation, chosen, epoch, target);
    case Protocol::message:
    case Protocol::direct:
    case Protocol::rendezvous:
      return remote_->targets.issue(operation, chosen, epoch, target);
    case Protocol::network_atomic:
      break;
  }
  events_.issued(operation, chosen);
  // The other protocols keep the order by themselves: remote targets have nothing inlined, and
  // mapped ones call keep_order() when they carry out an operation.
  if (const Error error = mapped_.keep_order(target.rank); error != Error::none) {
    return Outcome::failed(error);
  }
  const char* reason = "";
  if (const Error error = atomics_.record(operation, epoch, target, reason); error != Error::none) {
    return Outcome::failed(reason_.fail(error, reason));
  }
  if (epoch.active) advance(epoch, target);
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

bool PeerDispatch::advance(Epoch& epoch, Target& target) {
  return region_.mapped(target.rank) ? mapped_.advance(epoch, target)
                                     : remote_->targets.advance(epoch, target);
}

void PeerDispatch::ask(Epoch& epoch, Target& target) {
  if (!region_.mapped(target.rank)) remote_->targets.ask(epoch, target);
}

bool PeerDispatch::ask_alone(Epoch& epoch, Target& target, Completion* completion) {
  return !region_.mapped(target.rank) && remote_->targets.ask_alone(epoch, target, completion);
}

void PeerDispatch::leave_piggyback(Epoch& epoch) {
  if (region_.mapped(epoch.one.rank)) mapped_.leave_piggyback(epoch);
}

bool PeerDispatch::try_acquire(Epoch& epoch, Target& target) {
  return region_.mapped(target.rank) || remote_->targets.try_acquire(epoch, target);
}

void PeerDispatch::transferred(RecordedOperation& recorded, const Transfer& transfer) {
  Target& target = *recorded.target;
  recorded.received += transfer.bytes;
  pending_.note(recorded, transfer.error);
  const bool over = recorded.received == recorded.operation.bytes();
  if (recorded.protocol == Protocol::direct) {
    DirectTransfers::note_end(recorded, over);
  } else if (over) {
    --target.counted_apart;
  }
  if (over) {
    target.moving.remove(recorded);
    if (recorded.operation.notify_arg.wanted() && recorded.error == Error::none) {
      Epoch& epoch = *recorded.epoch;
      recorded.state = RecordedOperation::State::notifying;
      target.waiting.insert(recorded);
      if (region_.mapped(target.rank)) mapped_.hold_notification(recorded);
      advance(epoch, target);
    } else if (!region_.mapped(target.rank) && remote_->targets.ask_behind(recorded)) {
      target.waiting.insert(recorded);
      advance(*recorded.epoch, target);
    } else {
      pending_.conclude(recorded);
    }
  }
  pending_.satisfy_flushes(target);
}

bool PeerDispatch::deliver(const Message& message, std::span<const std::byte> payload) {
  if (!peers_.valid(message.origin) || remote_ == nullptr) return false;
  // The only message that mapped peers, too, send each other.
  if (message.kind == MessageKind::count) return remote_->fence.take_count(message, payload);
  if (region_.mapped(message.origin)) return false;
  switch (message.kind) {
    case MessageKind::granted:
    case MessageKind::lock_granted:
    case MessageKind::done:
      return remote_->targets.take_word(message);
    case MessageKind::lock:
    case MessageKind::unlock:
    case MessageKind::operation:
    case MessageKind::notify:
    case MessageKind::rendezvous:
      return remote_->server.take(message, payload);
    case MessageKind::reply:
      return remote_->targets.take_reply(message, payload);
    case MessageKind::mark:
      return remote_->fence.take_mark(message);
    case MessageKind::layout:
      return remote_->server.take_layout(message, payload);
    case MessageKind::exchange:
      return exchange_.take(message, payload);
    case MessageKind::barrier:
      return barrier_.take(message);
    case MessageKind::plan_space:  // of the window's plan registry
    case MessageKind::plan_started:
    case MessageKind::plan_bytes:
    case MessageKind::count:
      break;
  }
  return false;
}

}  // namespace oriel
