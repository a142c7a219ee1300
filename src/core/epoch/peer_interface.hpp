// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/epoch/epoch.hpp"

namespace oriel {

struct Transfer;

/// How a window's epochs reach other ranks. It hides how bytes move and which ranks are mapped.
/// Only recall() and recall_all() wait.
class PeerInterface {
 public:
  // Steps.
  /// Tells `origin` that our exposure number `id` to it is open. `no_check`: the origin relies on
  /// that.
  virtual void expose(int origin, std::uint64_t id, bool no_check) = 0;
  /// True if the origin has completed its access number `id` to us: its operations are in our
  /// memory.
  virtual bool completed_by(int origin, std::uint64_t id) = 0;
  /// Called when a fence epoch, opened by fence call `call`, is active. `announce`: no closing
  /// fence has announced that call.
  virtual void open_fence(std::uint64_t call, bool announce) = 0;
  /// Advances a closing fence, whose epoch is closed or to be renewed; true when the fence is over.
  virtual bool end_fence(Epoch& epoch) = 0;
  /// Sends messages that wait to be sent with others; `urgent`: even if a sweep follows soon.
  virtual void push(bool urgent) = 0;

  // Targets. The epoch is active unless stated otherwise.
  /// Checks that the operation stays within its target's memory; else `reason` is half a sentence.
  virtual Error check(const Operation& operation, const char*& reason) = 0;
  /// Carries an operation out or records it; the epoch may be deferred.
  virtual Outcome issue(const Operation& operation, Epoch& epoch, Target& target) = 0;
  /// Acquires the target and advances the operations recorded for it. When the epoch is closed and
  /// all operations are done, tells the target (Target::told). True if anything moved.
  virtual bool advance(Epoch& epoch, Target& target) = 0;
  /// Sends the target a question about all operations issued so far, for a flush or an unlock. The
  /// epoch may be deferred.
  virtual void ask(Epoch& epoch, Target& target) = 0;
  /// Sends a question for a thread without recorded operations: the answer calls `completion` and
  /// satisfies no other flush. False: the flush has to wait as one of all threads does.
  virtual bool ask_alone(Epoch& epoch, Target& target, Completion* completion) = 0;
  /// Returns when operations that may have been left for the mapped target (Left) have taken
  /// effect.
  virtual Error recall(int target) = 0;
  /// Recalls at all targets of an epoch, with one fence. Errors are noted at the targets.
  virtual void recall_all(Epoch& epoch) = 0;
  /// Called when a closed lock epoch still waits for its lock: its operation may travel with the
  /// request (S4).
  virtual void leave_piggyback(Epoch& epoch) = 0;
  /// True for a lock epoch whose target has not granted an earlier lock of this rank. The target
  /// would hold back the messages of the epoch, so they need not be sent at once.
  virtual bool behind_another(const Epoch& epoch) = 0;
  /// Checks whether the target of a locally complete epoch has been exposed. False: it may still
  /// hold operations back.
  virtual bool try_acquire(Epoch& epoch, Target& target) = 0;
  /// Lets operations of the open epoch access the memory of the mapped target directly, if
  /// possible. Its lock is held.
  virtual void make_ready(Target& target) = 0;
  /// True if the target's memory is in our address space, for loads and stores of the program.
  virtual bool loadable(int target) = 0;
  /// True if operations travel to the target in messages and only its answer reports their
  /// completion.
  virtual bool remote(int target) = 0;

  /// Called when a direct transfer or an atomic of this operation has ended.
  virtual void transferred(RecordedOperation& recorded, const Transfer& transfer) = 0;

  /// False: the rank's process has ended or cannot be reached.
  virtual bool alive(int rank) = 0;
  /// True if the rank is known not to have entered the closing fence of this number.
  virtual bool outside_fence(int rank, std::uint64_t closing_call) = 0;
  /// The rank that holds the target's lock exclusively now; -1: none, or unknown.
  virtual int lock_holder(int target) = 0;

 protected:
  ~PeerInterface() = default;
};

}  // namespace oriel
