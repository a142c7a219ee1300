// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/error.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

/// Memory that a process of another node has exposed or lent to direct transfers.
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

/// A message without payload that is to arrive when the bytes of a write have.
struct Behind {
  std::span<const std::byte> message;
  /// It goes with the write, by the same operation of the network.
  bool went = false;
};

/// An update of elements that lie in one run, at the target as well as here.
struct Atomic {
  OperationKind kind = OperationKind::accumulate;  // get_accumulate or compare_and_swap
  Op op = Op::replace;
  Basic basic = Basic::none;
  std::uint32_t element = 0;
  std::uint64_t bytes = 0;
  const std::byte* operands = nullptr;  // not with Op::no_op
  const void* compare = nullptr;        // compare_and_swap
  std::byte* fetched = nullptr;         // the old values; not of an accumulate
};

/// A direct transfer or an atomic that is over.
struct Transfer {
  std::uint64_t token = 0;
  std::uint64_t bytes = 0;
  Error error = Error::none;
};

/// Messages between any two processes; direct transfers and the network's atomics between nodes.
/// Processes are numbered by the creator of the transport. No call waits for anybody. Not
/// thread-safe: the owner of the Process serializes.
class Messages {
 public:
  virtual ~Messages() = default;

  /// Hands over a message of at least one byte for `process`: delivered exactly once, in order per
  /// pair of processes. Messages to one process may be collected until push() and travel together.
  /// What the peer or the network does not take waits here and goes out in later calls of push()
  /// and receive().
  virtual void send(int process, std::span<const std::byte> header,
                    std::span<const std::byte> payload) = 0;
  /// Lets go of what send() has collected.
  virtual void push() = 0;
  /// So much waits for the process that no operation should be added if it can wait elsewhere.
  virtual bool congested(int process) const = 0;

  /// Takes the next whole message in, header and payload in one piece, aligned to 8 bytes: valid
  /// until the next call. Empty: there is none.
  virtual std::span<const std::byte> receive() = 0;

  /// Begins to move runs of bytes between our memory and a process's, without a copy and without
  /// its processor; finished() returns the token. How many bytes it took, the first runs as a
  /// whole; 0: not now, try again. Only used for members with Member::direct, and with what they
  /// lend.
  ///
  /// `behind`, of a write where orders_writes(), or null: goes with it if it takes all of the runs
  /// and the network can. Then it arrives among the messages of send(), in its place, after the
  /// bytes of this write and of all before it to the process; and not if this write fails. What
  /// does not go is for the caller to send: at once, and it arrives after these bytes, or perhaps
  /// without them where the write fails; or when the write is finished and has not failed.
  virtual std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                                 std::uint64_t key, std::uint64_t token, Behind* behind) = 0;
  /// Most runs in one call.
  static constexpr std::size_t most_runs = 8;
  /// A read is finished when its bytes are here, a write when our memory may be reused; where
  /// writes are not ordered, when its bytes are there.
  virtual bool finished(Transfer& transfer) = 0;
  /// What is sent to a process after a write arrives after its bytes. If not, whoever tells it of
  /// the write has to wait until that is finished.
  virtual bool orders_writes() const = 0;
  /// Lets direct transfers of that process read, or write, memory of ours until
  /// deregister_buffer(). The number to take it back by; -1: the network does not take the memory,
  /// or does not lead to the process.
  virtual int register_buffer(int process, bool to_be_written, void* memory, std::uint64_t bytes,
                              RemoteMemory& registered) = 0;
  /// From now on transfers from or to it fail at whoever begins them.
  virtual void deregister_buffer(int registration) = 0;

  /// Begins an atomic by the transport's own means; finished() returns the token when it has taken
  /// place and `fetched` is there. Of one process's atomics on one location each takes place after
  /// those begun before. How many bytes it took, whose operands may be reused; 0: not now, try
  /// again. Only used for what a window's AtomicSet has.
  virtual std::uint64_t atomic(int process, const Atomic& atomic, const RemoteMemory& remote,
                               std::uint64_t token) = 0;

  /// False: the process has ended, so nothing will come of what it had begun. A system call or two.
  virtual bool alive(int process) = 0;
};

}  // namespace oriel
