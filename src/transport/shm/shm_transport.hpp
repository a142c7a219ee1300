// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/growing_array.hpp"
#include "core/base/published.hpp"
#include "core/transport/node_services.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/errand_sender.hpp"
#include "transport/shm/mailbox.hpp"
#include "transport/shm/process_block.hpp"
#include "transport/shm/reachable_pages.hpp"

namespace oriel {

/// Processes on one node. Messages go through the receiver's mailbox, sleepers wait on their own
/// doorbell, private memory is copied by the kernel. Not thread-safe, as Transport says.
class ShmTransport final : public NodeServices {
 public:
  /// `rank`: see ProcessBlock. Null on failure, and `error` is a sentence.
  static std::unique_ptr<ShmTransport> create(Arena& arena, std::string& error, int rank = -1);
  ~ShmTransport() override;

  /// For peers to attach to; of a process that we have attached to, what it gave us.
  const ProcessName& name(int process = 0) { return peer(process).name; }
  /// Number of the process of that name, whom we can send to from now on: always the same number
  /// for the same process. Negative when it is not to be reached from here, and `error` is a
  /// sentence.
  int attach(const ProcessName& name, std::string& error);
  static constexpr int unreachable = -1;
  static constexpr int incompatible = -2;  // it runs another version of this library
  int self() const { return 0; }
  /// The piece of the process's arena, mapped. Null on failure, and `error` is a sentence.
  std::byte* at(int process, const ArenaLocation& location, std::uint64_t bytes,
                std::string& error);
  int processes() const { return static_cast<int>(peers_.size()); }

  Doorbell& doorbell(int process) { return peer(process).block->doorbell; }
  WaitSign& wait_sign(int process) { return peer(process).block->wait_sign; }
  CallCounts& calls(int process) { return peer(process).block->calls; }
  int rank_of(int process) { return peer(process).block->rank; }
  /// The process whose name has this id; unreachable: it is none that we know.
  int find(std::uint64_t id) const {
    const auto known = numbers_.find(id);
    return known != numbers_.end() ? known->second : unreachable;
  }
  /// False once the process has ended. What it has not fetched is then thrown away.
  bool alive(int process) override;
  /// Lets node peers copy() our private memory where the kernel wants to be asked first (Yama); to
  /// be called before it is announced to them.
  void permit_vm();
  /// Whether copy() may be used with the process: tried by reading a word of its private memory
  /// when it was attached.
  bool vm_allowed(int process) { return peer(process).vm_allowed; }
  /// More processes than processors they may run on: who spins keeps others from running.
  bool crowded() const { return crowded_.load(); }
  /// Messages wait here because a mailbox was full. Nobody rings when it no longer is.
  bool backlogged() const { return !backlogs_.empty(); }
  /// How many have so far.
  std::uint64_t delayed() const { return delayed_; }

  // As Messages has them, one by one: nothing is collected.
  void send(int process, std::span<const std::byte> header, std::span<const std::byte> payload);
  bool congested(int process) const;
  std::span<const std::byte> receive();
  MemoryRange locate(const void* memory, std::uint64_t bytes) override;
  /// Ends the use that locate() began, which else ends when the memory is freed.
  void release(const MemoryRange& range) {
    if (range.location.shared()) arena_.end_use(range.location);
  }
  std::byte* share(std::uint64_t bytes, ArenaLocation& location) override;
  void unshare(std::byte* memory) override { arena_.free(memory); }
  using NodeServices::map;
  std::byte* map(int process, const ArenaLocation& location, std::uint64_t bytes) override {
    std::string error;
    return at(process, location, bytes, error);
  }
  Error copy(int process, bool write, std::span<const Run> runs) override;
  bool ask(int process, Errand& errand) override;
  std::optional<Error> carry_out_with(int process, const ChunkedOperation& operation,
                                      ChunkWork& ours) override;
  bool serve(bool waits) override;
  const std::atomic<std::uint32_t>& errand_state() const override {
    return peers_.front().block->errand.state;
  }
  NotifyOutcome notify(int process, const NotifyRecord& record, const NotifyStore& store) override;
  bool take_notification(NotifyReader& reader) override;
  bool notifications_due() override { return notifications(peers_.front()).due(); }
  bool begin_recall(int process, std::uint32_t window, RecallFor reason) override;
  bool finish_recall(int process, StoreMaker& maker) override;
  const std::atomic<std::uint32_t>& pressed() const override {
    return peers_.front().block->notify.pressed;
  }
  ThreadLines& own_threads() override { return *peers_.front().block->threads(); }
  std::span<const ThreadLine> threads(int process) override {
    return peer(process).block->threads()->in_use();
  }
  void ring(Doorbell& doorbell) override;
  /// Every process here has registered for expedited membarriers.
  bool fences_peers() const override { return fenced_; }
  void fence_peers() override;
  void relax() override;
  std::uint64_t nanoseconds() override;

  /// How often inlined puts have been given up for a while, for all peers: see NotifySender.
  std::uint64_t inlining_pauses();

 private:
  /// A message on its way into a mailbox: what is not yet in there.
  struct Outgoing {
    std::span<const std::byte> header, payload;
    std::uint64_t total;

    std::uint64_t left() const { return header.size() + payload.size(); }
  };
  /// The rest of a message whose receiver's mailbox is full.
  struct Waiting {
    std::vector<std::byte> rest;
    std::uint64_t sent = 0;   // of the rest
    std::uint64_t total = 0;  // of the message
  };
  struct Peer {
    ProcessName name;
    PeerArena arena;  // not our own
    ProcessBlock* block;
    bool vm_allowed = false;
    NotifySender notify_sender = {};  // to its notifications
    ErrandSender errand_sender = {};
  };
  /// What has come of a message that is longer than a fragment.
  struct Partial {
    std::vector<std::byte> bytes;
    std::uint64_t received = 0;
  };

  explicit ShmTransport(Arena& arena) : arena_(arena) {}
  Peer& peer(int process) { return peers_[static_cast<std::size_t>(process)]; }
  int add(const ProcessName& name, PeerArena arena, ProcessBlock* block);
  Mailbox mailbox(Peer& peer) const {
    return {peer.block->mailbox, {peer.block->cells(), ProcessBlock::mailbox_cells}, peer.name.id};
  }
  NotifyQueue notifications(Peer& peer) const {
    // Next to the mailbox's number, which is random.
    return {peer.block->notify, {peer.block->lines(), ProcessBlock::notify_lines}, ~peer.name.id};
  }
  bool try_vm(int process);
  bool claim_cell(Peer& owner) const;
  bool owner_draws(const ErrandCell& cell, std::uint64_t patience);
  bool serve_one();
  bool serve_chunks();
  bool serve_chunk(bool only_stored);
  bool carry_out(const ChunkedOperation& operation, const Chunk& chunk, std::int32_t origin);
  template <typename Over>
  bool await_owner(const Peer& owner, Over&& over);
  bool await_answer(const Peer& owner, std::uint64_t patience);
  bool push(Peer& to, Outgoing& message);
  bool push_backlog(Peer& to, std::deque<Waiting>& backlog);
  bool take(const Mailbox& box, const Mailbox::Fragment& fragment);
  template <typename Box>
  bool look_after_stall(Box& box, std::uint64_t& stalled_since);

  Arena& arena_;
  std::int32_t pid_ = 0;
  std::uint64_t id_ = 0;
  std::uint64_t probe_ = 0;  // what peers try to read
  bool vm_ = true;
  bool vm_permitted_ = false;
  bool fenced_ = true;
  cpu_set_t processors_ = {};  // of all processes here together
  Published<bool> crowded_;
  ReachablePages reachable_;
  std::vector<std::byte> operands_;  // of a chunk that we combine; of the thread that has taken it
  Published<unsigned> served_;       // errands that one look after the other has found, up to two
  Published<std::uint64_t> copy_time_;  // of a few bytes, nanoseconds: the shortest seen
  std::uint32_t relaxed_ = 0;
  std::uint64_t mailbox_stalled_since_ = 0;              // nanoseconds; zero: not stalled
  std::uint64_t notify_stalled_since_ = 0;               // likewise
  unsigned quiet_looks_ = 0;                             // for notifications, in a row
  std::int32_t dead_producer_ = 0;                       // pid of the one found out last
  GrowingArray<Peer> peers_;                             // the first is this process
  std::unordered_map<std::uint64_t, int> numbers_;       // by ProcessName::id
  std::map<int, std::deque<Waiting>> backlogs_;          // by process; none is empty
  std::uint64_t delayed_ = 0;                            // messages that went there
  std::vector<std::byte> message_;                       // the one received last
  std::unordered_map<std::uint64_t, Partial> partials_;  // by sender's id
};

}  // namespace oriel
