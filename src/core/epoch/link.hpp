// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/epoch/epoch.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// How a window's epochs reach its mapped ranks, by stores (MappedTargets), or its remote ranks, by
/// messages (RemoteTargets). EpochPeers::link() chooses the link of a rank when the rank is first
/// used. Only recall() and recall_all() wait.
///
/// Unless stated otherwise, the epoch is active, and `target` is one of its targets.
class Link {
 public:
  /// True if operations travel in messages and only the target's answer reports their completion.
  bool remote() const { return remote_; }

  /// Tells `origin` that our exposure number `id` to it is open. `no_check`: the origin does not
  /// check that.
  virtual void expose(int origin, std::uint64_t id, bool no_check) = 0;
  /// Carries an operation out or records it, by the protocol of select_protocol(). The epoch may be
  /// deferred.
  virtual Outcome issue(const Operation& operation, Epoch& epoch, Target& target) = 0;
  /// Acquires the target and advances the operations recorded for it. When the epoch is closed and
  /// all operations are done, tells the target (Target::signaled). True if anything moved.
  virtual bool advance(Epoch& epoch, Target& target) = 0;
  /// Called when a direct transfer or an atomic of this operation has ended.
  virtual void transferred(RecordedOperation& recorded, const Transfer& transfer) = 0;

  // Remote ranks.
  /// Sends the target a question about all operations issued so far, for a flush or an unlock. The
  /// epoch may be deferred.
  virtual void ask(Epoch& /*epoch*/, Target& /*target*/) {}
  /// Sends a question for a thread that has operations to the target and no recorded ones. So the
  /// epoch is active: in a deferred epoch, all operations are recorded. The answer calls
  /// `completion` and satisfies no other flush. False: no question has been sent; the flush must be
  /// one of all threads.
  virtual bool ask_alone(Epoch& /*epoch*/, Target& /*target*/, Completion* /*completion*/) {
    return false;
  }
  /// Checks whether the target of a locally complete epoch has been exposed. False: it may still
  /// hold operations back.
  virtual bool try_acquire(Epoch& /*epoch*/, Target& /*target*/) { return true; }
  /// True if the target has not granted an earlier lock request of this rank. The target would hold
  /// back the messages of the epoch, so they need not be sent at once.
  virtual bool behind_another(const Target& /*target*/) { return false; }
  /// Sends messages that wait to be sent with others; `urgent`: even if a sweep follows soon.
  virtual void push(bool /*urgent*/) {}

  // Mapped ranks.
  /// Returns when postponed operations to the rank (Postponed) have taken effect.
  virtual Error recall(int /*rank*/) { return Error::none; }
  /// recall() of all targets of an epoch that have this link, with one fence for all. Stores errors
  /// in Target::error.
  virtual void recall_all(Epoch& /*epoch*/) {}
  /// Called when a closed lock epoch still waits for its lock: its operation may travel with the
  /// request (S4).
  virtual void attach_piggyback(Epoch& /*epoch*/) {}
  /// Lets operations of the open epoch access the target's memory directly, if possible. The
  /// target's lock is held.
  virtual void make_ready(Target& /*target*/) {}
  /// True if the rank's memory is in our address space, for loads and stores of the program.
  virtual bool loadable(int /*rank*/) { return false; }
  /// The rank that holds this rank's lock exclusively now; -1: none, or unknown.
  virtual int lock_holder(int /*rank*/) { return -1; }

 protected:
  explicit Link(bool remote) : remote_(remote) {}
  ~Link() = default;

 private:
  bool remote_;
};

}  // namespace oriel
