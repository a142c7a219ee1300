// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace oriel {

// The MPI library of this process, as the engine sees it. The MPI layer implements these interfaces
// by MPI calls (MpiHost, MpiComm), tests by memory that simulated ranks share. Calls are made
// without the process lock, because the host may call Oriel; those that are also made with it say
// so.

class Host {
 public:
  /// Lets the host advance its own traffic on all communicators. Does not wait.
  virtual void advance() = 0;
  /// Returns whether the host's waits sweep. Otherwise a rank that waits in the host serves other
  /// ranks only by the agent.
  virtual bool waits_sweep() const = 0;

 protected:
  ~Host() = default;
};

/// The result of a collective of the host. 0: success. Otherwise the host has raised the error, and
/// the engine returns the code to the MPI layer unread.
using HostCode = int;

enum class HostOp : std::uint8_t { min, max, sum };

/// A communicator of the host, for the collectives by which windows are made. All ranks make the
/// same calls in the same order. barrier(), allgather() and broadcast() wait until the other ranks
/// have made the call. They sweep meanwhile, because another rank may be waiting for this one in an
/// epoch before it makes the call, and they yield the processor.
class HostComm {
 public:
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// Called before the first of the collectives that make a window. If some rank runs without
  /// Oriel, and would never take part, ends the job with a sentence that names `call`.
  [[nodiscard]] virtual HostCode take_roll_call(const char* call) = 0;
  [[nodiscard]] virtual HostCode barrier() = 0;
  /// Gathers `bytes` bytes at `own` of every rank into `all`, ordered by rank, on all ranks.
  [[nodiscard]] virtual HostCode allgather(const void* own, std::size_t bytes, void* all) = 0;
  [[nodiscard]] virtual HostCode broadcast(void* buffer, std::size_t bytes, int root) = 0;
  /// Replaces each word by the result of `op` on this word of all ranks. On some hosts this call
  /// neither sweeps nor yields, so another call must precede it: assemble(), if no other does.
  [[nodiscard]] virtual HostCode allreduce(std::span<std::uint64_t> words, HostOp op) = 0;
  /// A barrier() on hosts whose allreduce() does not sweep; otherwise does nothing.
  [[nodiscard]] virtual HostCode assemble() = 0;

  // Also called with the process lock:
  /// Returns whether note_known_peers() has been called on this communicator, or on one that it
  /// duplicates, by this process, whose ProcessName has the id `own_id`.
  virtual bool knows_peers(std::uint64_t own_id) const = 0;
  /// Called on all ranks, when each can map the memory of all others of its node, copy their
  /// private memory, and send to other nodes, if there are any. If every rank knows its peers,
  /// making a window cannot fail after its memory has been announced.
  virtual void note_known_peers(std::uint64_t own_id) = 0;

 protected:
  ~HostComm() = default;
};

}  // namespace oriel
