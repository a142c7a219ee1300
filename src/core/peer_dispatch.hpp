// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/atomics/network_atomics.hpp"
#include "core/base/limits.hpp"
#include "core/collective/plan_write.hpp"
#include "core/epoch/epoch_state.hpp"
#include "core/epoch/peer_interface.hpp"
#include "core/mapped/fence_words.hpp"
#include "core/mapped/mapped_targets.hpp"
#include "core/mapped/notifier.hpp"
#include "core/notify/notifications.hpp"
#include "core/region/region.hpp"
#include "core/remote/barrier.hpp"
#include "core/remote/exchange.hpp"
#include "core/remote/layout_cache.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"
#include "core/remote/rendezvous.hpp"
#include "core/select_protocol.hpp"

namespace oriel {

/// The objects that a process has for all its windows with remote ranks.
struct RemoteResources {
  RemoteResources(Messages& messages, const Limits& chosen);
  ~RemoteResources();

  Outbox outbox;
  LayoutCaches layouts;
  RendezvousTable rendezvous_table;
  PlanWrites plan_writes;
  Limits limits;
};

/// One window's access to its ranks. For epochs, the only place that distinguishes mapped and
/// remote ranks.
class PeerDispatch final : public PeerInterface {
 public:
  /// `remote`: some ranks of the window are remote to each other; the same on all ranks.
  PeerDispatch(EpochState& state, Region& region, Transport& transport, RemoteResources& resources,
               Notifications& notifications, bool remote);
  ~PeerDispatch();

  // Steps.
  void expose(int origin, std::uint64_t id, bool no_check) override;
  bool completed_by(int origin, std::uint64_t id) override;
  void open_fence(std::uint64_t call, bool announce) override;
  bool end_fence(Epoch& epoch) override;
  /// Advances what other ranks have requested of us, and sends aggregated operations. True if
  /// anything moved.
  bool sweep();
  void push(bool urgent) override;
  bool behind_another(const Epoch& epoch) override;

  // Targets.
  Error check(const Operation& operation, const char*& reason) override {
    return region_.check(operation, reason);
  }
  Outcome issue(const Operation& operation, Epoch& epoch, Target& target) override;
  bool advance(Epoch& epoch, Target& target) override;
  void ask(Epoch& epoch, Target& target) override;
  bool ask_alone(Epoch& epoch, Target& target, Completion* completion) override;
  Error recall(int target) override { return mapped_.recall(target, RecallFor::completion); }
  void recall_all(Epoch& epoch) override { mapped_.recall_all(epoch); }
  void leave_piggyback(Epoch& epoch) override;
  bool try_acquire(Epoch& epoch, Target& target) override;
  bool loadable(int target) override {
    const Member& member = region_.member(target);
    // This rank can load and store the pieces that it has attached to a dynamic window.
    return (member.base != nullptr && member.size != 0) ||
           (region_.dynamic() && target == region_.rank());
  }
  void make_ready(Target& target) override { mapped_.make_ready(target); }
  bool remote(int target) override { return !region_.mapped(target); }
  void transferred(RecordedOperation& recorded, const Transfer& transfer) override;
  bool alive(int rank) override { return region_.alive(rank); }
  bool outside_fence(int rank, std::uint64_t closing_call) override {
    return remote_ == nullptr && !fences_.announced(rank, closing_call);
  }
  int lock_holder(int target) override {
    return region_.mapped(target) ? region_.lock_line(target).exclusive_holder() : -1;
  }

  bool aggregate(int target, bool write, std::uint64_t address, void* local, std::uint64_t bytes) {
    return mapped_.aggregate(target, write, address, local, bytes);
  }

  /// Takes a message of a remote rank. False if the message is invalid; nothing has been changed
  /// then.
  bool deliver(const Message& message, std::span<const std::byte> payload);
  Protocol protocol(const Operation& operation) {
    return select_protocol(operation, region_, resources_.limits);
  }
  /// Returns whether some ranks are remote to each other.
  bool remote() const { return remote_ != nullptr; }

  /// After the last fence of the window. True if no rank stores to or reads our words any more.
  bool leave() { return fences_.leave(); }

  Exchange& exchange() { return exchange_; }
  Barrier& barrier() { return barrier_; }
  /// The window's messages; null if all ranks are mapped.
  Sender* sender();
  Notifier& notifier() { return notifier_; }

  // The light epoch: a free lock, acquired while nothing else is pending.
  /// Acquires the lock of a mapped target if no other rank's lock conflicts with it.
  bool try_lock(int target, bool exclusive) {
    return region_.mapped(target) && fences_.ended_by(target) && region_.atomics().empty() &&
           region_.lock_line(target).try_acquire(region_.rank(), exclusive);
  }
  void unlock(int target, bool exclusive) { region_.give_back(target, region_.rank(), exclusive); }

 private:
  struct Remote;  // the objects that a window needs for remote ranks only

  EpochPeers& peers_;
  FailureReason& reason_;
  PendingOperations& pending_;
  const WindowEvents& events_;
  Region& region_;
  RemoteResources& resources_;
  FenceWords fences_;
  NetworkAtomics atomics_;
  Notifier notifier_;
  MappedTargets mapped_;
  std::unique_ptr<Remote> remote_;
  Exchange exchange_;
  Barrier barrier_;
};

}  // namespace oriel
