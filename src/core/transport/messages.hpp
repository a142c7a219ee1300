// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/error.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

/// Memory that a process of another node has exposed to direct transfers, or registered for them.
struct RemoteMemory {
  std::uint64_t address = 0;  // of its first byte, in transfers
  std::uint64_t key = 0;
};

/// One run of a direct transfer.
struct TransferRun {
  std::byte* local = nullptr;
  std::uint64_t remote = 0;  // address, in transfers
  std::uint64_t bytes = 0;
};

/// The part of a direct transfer that the network has accepted.
struct Accepted {
  std::uint64_t bytes = 0;  // of the first runs, completely; 0: none now, try again
  bool copied = false;      // a write: our memory may be reused
};

/// A message without payload that must arrive after the bytes of a write.
struct Behind {
  std::span<const std::byte> message;
  /// Set by transfer(): the message is delivered by the write's network operation.
  bool went = false;
  bool failed = false;  // set by transfer(): the write has failed, so nothing must follow it
};

/// An update of elements that are contiguous at the origin and at the target.
struct Atomic {
  OperationKind kind = OperationKind::accumulate;  // get_accumulate or compare_and_swap
  Op op = Op::replace;
  Basic basic = Basic::none;
  std::uint32_t element = 0;
  std::uint64_t bytes = 0;
  const std::byte* operands = nullptr;  // not with Op::no_op
  const void* compare = nullptr;        // compare_and_swap
  std::byte* fetched = nullptr;         // the old values; null for an accumulate
};

/// A direct transfer or an atomic that is over.
struct Transfer {
  std::uint64_t token = 0;
  std::uint64_t bytes = 0;
  Error error = Error::none;
};

/// Messages between any two processes; direct transfers and network atomics between nodes.
/// Processes are numbered by the creator of the transport. No call waits for another process. Not
/// thread-safe: the owner of the Process serializes the calls.
class Messages {
 public:
  virtual ~Messages() = default;

  /// Sends a message of at least one byte to `process`. It is delivered exactly once, in order per
  /// pair of processes. Messages to one process may be collected until push() and share a packet.
  /// Messages that the peer or the network does not accept now are kept here, and sent by later
  /// calls of push() and receive().
  virtual void send(int process, std::span<const std::byte> header,
                    std::span<const std::byte> payload) = 0;
  /// Sends the collected messages.
  virtual void push() = 0;
  /// Returns whether so many bytes are in flight to the process that further operations should wait
  /// elsewhere if they can.
  virtual bool congested(int process) const = 0;

  /// Returns the next whole message, header and payload contiguous, aligned to 8 bytes and valid
  /// until the next call. Empty: there is none.
  virtual std::span<const std::byte> receive() = 0;

  /// Begins a direct transfer: a read or write of runs of bytes of a process's memory, without a
  /// message. Where the provider emulates transfers, the target's software carries them out.
  /// finished() returns the token. Only used for members with Member::direct, on exposed or
  /// registered memory.
  ///
  /// `behind`: null, or, for a write if orders_writes(), a message. If the network accepts all runs
  /// and can deliver a message with them, `behind->went` is set. The message then arrives in order
  /// with those of send(), after the bytes of this write and of all earlier writes to the process,
  /// and does not arrive if this write fails. Otherwise the caller sends the message. If it does so
  /// at once, the message arrives after these bytes, but also if the write fails. If it waits until
  /// the write has finished, it knows whether the write has failed.
  virtual Accepted transfer(int process, bool write, std::span<const TransferRun> runs,
                            std::uint64_t key, std::uint64_t token, Behind* behind) = 0;
  /// The maximal number of runs in one call.
  static constexpr std::size_t most_runs = 8;
  /// Returns a finished transfer or atomic, if there is one. A read is finished when its bytes have
  /// arrived. A write is finished when our memory may be reused; if delivers_writes(), when its
  /// bytes are in the target's memory.
  virtual bool finished(Transfer& transfer) = 0;
  // A network with direct transfers orders writes, delivers them, or both.
  /// True if a message that is sent to a process after a write arrives after the write's bytes. If
  /// false, a message about the write must not be sent before the write has finished.
  virtual bool orders_writes() const = 0;
  /// True if a write that has finished is in the target's memory. If false, only an answer of the
  /// target to a message behind the write shows that.
  virtual bool delivers_writes() const = 0;
  /// Permits direct transfers of that process to read, or to write, our memory until
  /// deregister_buffer(). Returns the number for that call; -1: the network does not accept the
  /// memory, or does not reach the process.
  virtual int register_buffer(int process, bool to_be_written, void* memory, std::uint64_t bytes,
                              RemoteMemory& registered) = 0;
  /// Ends a registration. Later transfers from or to the memory fail at the process that begins
  /// them.
  virtual void deregister_buffer(int registration) = 0;

  /// Begins a network atomic. finished() returns the token when the atomic has taken effect and
  /// `fetched` has been written. Atomics of one process on one location take effect in the order of
  /// these calls. Returns the number of bytes accepted, whose operands may be reused; 0: none now,
  /// try again. Only used for ops and types of a window's AtomicSet.
  virtual std::uint64_t atomic(int process, const Atomic& atomic, const RemoteMemory& remote,
                               std::uint64_t token) = 0;

  /// False if the process has ended, so it will not continue anything that it had begun. Takes a
  /// system call or two.
  virtual bool alive(int process) = 0;
  /// For a process that is not alive(): a clause that says why it cannot be reached. Empty: it has
  /// ended, as far as the transport knows.
  virtual std::string loss_reason(int /*process*/) const { return {}; }
};

}  // namespace oriel
