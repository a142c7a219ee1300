// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// Thresholds at which another protocol is chosen, and bounds on what may be in flight. Tests make
/// them small.
struct Limits {
  /// Longer operations are divided into fragments of this size, which are sent, carried out and
  /// answered one after the other: a pipeline, and no queue needs space for more.
  std::uint64_t fragment = std::uint64_t{256} * 1024;
  /// Bytes that an origin may send to a target that may have to hold them back: 64 KB and the
  /// headers of the messages. Short operations thus do not wait for grants, and no target has to
  /// keep more than this for each origin and window.
  std::uint64_t ahead = std::uint64_t{68} * 1024;
  /// Longer puts and gets are direct transfers if the target's memory is exposed to them and the
  /// runs of both sides have `direct_run` bytes on average. Once their epoch is being closed, they
  /// go in fragments of `direct_fragment`.
  std::uint64_t direct = std::uint64_t{128} * 1024;
  std::uint64_t direct_run = std::uint64_t{16} * 1024;
  std::uint64_t direct_fragment = std::uint64_t{1024} * 1024;
  /// A put or get of `direct_from` to `direct` bytes is a direct transfer if, in addition, its
  /// target is known to be available. An operation of up to `few_runs` runs at each side needs no
  /// long runs.
  std::uint64_t direct_from = std::uint64_t{128} * 1024 + 1;
  std::uint64_t few_runs = 0;
  /// A notified put of up to this length is a message all the same. The target's software reads its
  /// notification in any case, and a message has the bytes and the notification in one packet. A
  /// write has a notification behind it. Copying 4 KB at both ends takes 1 us, at
  /// some 8 GB/s. A write with its notification took 0.9 us longer than a message on the stand-in
  /// for a card.
  std::uint64_t notified = std::uint64_t{4} * 1024;
  /// Up to this many ranks of a node announce a fence to each other individually, which takes the
  /// fewest steps. If there are more, a FenceTree counts them, so that the stores of a rank grow
  /// with the logarithm of their number.
  int announced_each = 16;
  /// Bytes of a fetching operation that may be requested before the first of them have arrived.
  std::uint64_t under_way = 4 * fragment;
  /// Messages of plans (core/collective) between mapped ranks. A message of up to `staged` bytes
  /// may be copied twice, through cells, instead of once by a system call. If the receiver's buffer
  /// is mapped, the limit is `staged_mapped`, a page: copying a page takes as long as two cache
  /// lines travel. Messages longer than `staged_surely`, a page, try both in their first uses
  /// (CopyTrial), because the system copies whole pages. Messages longer than `staged` are known to
  /// be faster by one system call (see PlanRegistry::set_copies).
  ///
  /// A cell holds a fragment of up to `staged_fragment` bytes. If both ranks make progress at the
  /// same time (`staged_pipelines`), a transfer has up to `staged_cells` cells, and longer messages
  /// use them in turn. Otherwise it has a cell for each fragment of the message, up to
  /// `staged_whole`, and longer messages are copied once. The cells of one rank's plan take up to
  /// `staged_bytes`; if whole messages have to fit, up to the larger of that and the rank's part of
  /// `staged_node_bytes`, which the ranks of a node share.
  std::uint64_t staged = std::uint64_t{64} * 1024;
  std::uint64_t staged_surely = std::uint64_t{4} * 1024;
  std::uint64_t staged_mapped = std::uint64_t{4} * 1024;
  std::uint64_t staged_fragment = std::uint64_t{32} * 1024;
  std::uint64_t staged_cells = 8;
  std::uint64_t staged_whole = 128;
  std::uint64_t staged_bytes = std::uint64_t{4} * 1024 * 1024;
  std::uint64_t staged_node_bytes = std::uint64_t{64} * 1024 * 1024;
  bool staged_pipelines = true;
  /// If the receiver sends nothing back (Schedule::one_way), a sender may be this many uses ahead
  /// with messages of up to `staged_surely` bytes. Their cells take up to `ahead_bytes` for one
  /// rank's plan, but each message has at least two: ranks that share a processor then switch that
  /// much less often. A page holds 64 cells of the shortest messages.
  std::uint64_t ahead_uses = 64;
  std::uint64_t ahead_bytes = std::uint64_t{64} * 1024;
  /// Bytes that one side of a long transfer moves before it checks whether the other side takes
  /// part. It is longer where a system call takes as long as copying more.
  std::uint64_t shared_fragment = std::uint64_t{64} * 1024;
  /// A reduction is not divided among the ranks of a node into smaller parts. Equal on all ranks.
  std::uint64_t slice = std::uint64_t{8} * 1024;
  /// Messages of up to this length are sent to another node before their receiver is known to be
  /// ready.
  std::uint64_t eager = std::uint64_t{64} * 1024;
  /// If an exchange gathers blocks, blocks of up to this length between two nodes travel in one
  /// message. That saves each block a message of its own, some 0.5 us at its two ranks, and costs
  /// four more copies on the nodes, at some 8 GB/s.
  std::uint64_t gathered = std::uint64_t{1024};

  /// Sets the limits for the network. If a card carries out direct transfers, puts and gets of
  /// every length may be direct transfers.
  ///
  /// The card takes a request for each run, because cards' requests have one remote run each. A
  /// request is assumed to take 0.2 us of the origin; that has not been measured on a card. Runs of
  /// 1 KB then move 5 GB/s, as packing does. 64 shorter runs take 13 us, which is less than a
  /// message takes if the target's software has to wake up.
  ///
  /// A longer put or get than `direct` waits until its target is available, a round trip of 4 us at
  /// most on a card. A message is copied at both ends instead, at some 8 GB/s: 16 KB in that time.
  void set_by_card(bool card) {
    const Limits usual;
    direct_from = card ? 1 : usual.direct_from;
    direct = card ? std::uint64_t{16} * 1024 : usual.direct;
    direct_run = card ? 1024 : usual.direct_run;
    few_runs = card ? 64 : usual.few_runs;
  }
};

}  // namespace oriel
