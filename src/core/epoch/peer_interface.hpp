// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/epoch/epoch.hpp"

namespace oriel {

struct Transfer;

/// How a window's epochs reach other ranks: all that they know of how bytes move and of who is
/// mapped and who is not. No call but recall() and recall_all() waits.
class PeerInterface {
 public:
  // Steps.
  /// Tells `origin` that our exposure number `id` to it is open. `no_check`: it counts on that.
  virtual void expose(int origin, std::uint64_t id, bool no_check) = 0;
  /// The origin has completed its access number `id` to us: its operations are in our memory.
  virtual bool completed_by(int origin, std::uint64_t id) = 0;
  /// A fence epoch opened by fence call `call` is active. `announce`: no closing fence has said so.
  virtual void open_fence(std::uint64_t call, bool announce) = 0;
  /// Carries a closing fence on, whose epoch is closed or to be renewed; true when it is over.
  virtual bool end_fence(Epoch& epoch) = 0;
  /// Carries on what others have asked of us; true if anything moved.
  virtual bool sweep() = 0;
  /// Lets go of what waits for more to travel with; `urgent`: also if somebody sweeps soon.
  virtual void push(bool urgent) = 0;

  // Targets. The epoch is active where nothing else is said.
  /// Whether the operation stays within its target's memory; else `reason` is half a sentence.
  virtual Error check(const Operation& operation, const char*& reason) = 0;
  /// Carries an operation out or records it; the epoch may be deferred.
  virtual Outcome issue(const Operation& operation, Epoch& epoch, Target& target) = 0;
  /// Asks for the target, carries on what is recorded for it, and when the epoch is closed and all
  /// is done tells it so (Target::told). True if anything moved.
  virtual bool advance(Epoch& epoch, Target& target) = 0;
  /// A flush or an unlock needs an answer for all operations issued so far. The epoch may be
  /// deferred.
  virtual void ask(Epoch& epoch, Target& target) = 0;
  /// The same for a thread of which nothing is recorded: tells the completion, and satisfies no
  /// other flush. False: it has to wait as all do.
  virtual bool ask_alone(Epoch& epoch, Target& target, Completion* completion) = 0;
  /// Operations that may have been left for the mapped target (Left) have taken place when this
  /// returns.
  virtual Error recall(int target) = 0;
  /// The same of all targets of an epoch, by one fence. Errors are noted.
  virtual void recall_all(Epoch& epoch) = 0;
  /// A closed lock epoch still waits for its lock: what it holds may travel with the request (S4).
  virtual void leave_piggyback(Epoch& epoch) = 0;
  /// Whether this is a lock epoch whose target has not granted an earlier lock of this rank. The
  /// target would hold back what the epoch sends, so it need not be sent at once.
  virtual bool behind_another(const Epoch& epoch) = 0;
  /// Looks whether the target of a locally complete epoch has been exposed. False: it may still
  /// hold operations back.
  virtual bool try_acquire(Epoch& epoch, Target& target) = 0;
  /// Operations of the open epoch may go straight to the memory of the mapped target, whose lock is
  /// held, if there is a way.
  virtual void make_ready(Target& target) = 0;
  /// Its memory lies in our address space, for loads and stores of the program's own.
  virtual bool loadable(int target) = 0;
  /// Operations travel to the target in messages, and only its answer tells that they are complete.
  virtual bool remote(int target) = 0;

  /// A direct transfer or an atomic of this operation is over.
  virtual void transferred(RecordedOperation& recorded, const Transfer& transfer) = 0;

  /// False: the rank's process has ended or cannot be reached.
  virtual bool alive(int rank) = 0;
  /// Known not to have entered the closing fence of this number.
  virtual bool outside_fence(int rank, std::uint64_t closing_call) = 0;
  /// The rank that holds the target's lock exclusively now; -1: none, or it is not known.
  virtual int lock_holder(int target) = 0;

 protected:
  ~PeerInterface() = default;
};

}  // namespace oriel
