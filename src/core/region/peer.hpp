// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "core/base/error.hpp"
#include "core/epoch/epoch_peer.hpp"
#include "core/region/aggregation.hpp"
#include "core/region/member.hpp"

namespace oriel {

/// All that a window keeps of one rank, in one record: first what its epochs see. Zero bytes are a
/// valid object for a rank that has not been used.
struct Peer : EpochPeer {
  const Member* member = nullptr;      // covered by `ready`: the owner of the memory
  Aggregation* aggregation = nullptr;  // null if empty, unless it has failed

  // Used by RemoteTargets, for messages from this process to the peer:
  std::uint64_t lock_requests = 0;
  std::uint64_t ahead_access = 0;  // the last access, lock request and fence epoch of `ahead`
  std::uint64_t ahead_lock = 0;
  std::uint64_t ahead_fence = 0;
  std::uint64_t fence_answered = 0;  // the last fence that the rank has ended, by its answers
  std::uint32_t ahead = 0;           // bytes that the rank may have to hold back
  bool ahead_unchecked = false;      // some are of NOCHECK locks: only an answer releases them

  // Used by Server, for requests of the peer to this process:
  bool standing = false;          // it is in our lock queue, represented by this rank
  bool holding = false;           // it has requested or holds our lock
  bool exclusive = false;         // that lock is exclusive
  std::uint64_t lock_grants = 0;  // the number of its lock requests that have been granted
  std::uint32_t held = 0;         // 1 + the index of its messages that are held back; 0: none
  // Errors of its operations that had no reply: of the notified epoch, and of others.
  Error notified_failed = Error::none;
  Error failed = Error::none;
};

/// The ranks of a window.
class Peers {
 public:
  /// `mapped_ranks`: in ascending order.
  Peers(int ranks, std::span<const int> mapped_ranks) : records_(ranks, mapped_ranks) {}

  bool valid(int rank) const { return records_.valid(rank); }
  Peer& operator[](int rank) { return static_cast<Peer&>(records_[rank]); }
  const Peer& operator[](int rank) const { return static_cast<const Peer&>(records_[rank]); }
  EpochPeers& for_epochs() { return records_; }

 private:
  static_assert(sizeof(Peer) == EpochPeers::record_bytes);

  EpochPeers records_;
};

}  // namespace oriel
