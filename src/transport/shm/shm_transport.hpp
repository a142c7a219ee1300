// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/published.hpp"
#include "core/transport/node_services.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/errand_cell.hpp"
#include "transport/shm/mailbox.hpp"
#include "transport/shm/process_block.hpp"
#include "transport/shm/xpmem.hpp"

namespace oriel {

/// An array that grows at its end and whose elements never move. While a thread that holds a lock
/// appends, other threads may use the elements that they know of.
template <typename T>
class GrowingArray {
 public:
  std::size_t size() const { return size_.load(); }
  bool empty() const { return size() == 0; }
  T& operator[](std::size_t index) { return *element(index); }
  T& front() { return *element(0); }
  const T& front() const { return *const_cast<GrowingArray&>(*this).element(0); }

  void push_back(T value) {
    const std::size_t index = size();
    auto& segment = segments_[segment_of(index)];
    if (segment == nullptr) {
      segment = std::make_unique<std::unique_ptr<T>[]>(std::max(index, first));
    }
    element(index) = std::make_unique<T>(std::move(value));
    size_.store(index + 1);
  }

 private:
  // Each segment but the first is as long as all segments before it together.
  static constexpr std::size_t first = 16;
  static constexpr std::size_t most_segments = 28;

  static std::size_t segment_of(std::size_t index) {
    return static_cast<std::size_t>(std::bit_width(index / first));
  }
  std::unique_ptr<T>& element(std::size_t index) {
    const std::size_t segment = segment_of(index);
    return segments_[segment][segment == 0 ? index : index - (first << (segment - 1))];
  }

  std::array<std::unique_ptr<std::unique_ptr<T>[]>, most_segments> segments_;
  Published<std::size_t> size_;
};

/// Checks whether this process may load or store an address: private memory that a peer names may
/// belong to a device, be protected, or be unmapped. Keeps the answers of the kernel for the pages
/// checked last. Used by any thread.
class ReachablePages {
 public:
  bool contain(std::uint64_t address, std::uint64_t bytes, bool stored);
  /// The kernel's answer now. It is not kept: the program may protect or unmap the memory.
  static bool reachable_now(std::uint64_t address, std::uint64_t bytes, bool stored);
  /// Discards the kept answers, because the program may have mapped other memory.
  void forget();

 private:
  static constexpr std::size_t most_kept = 1024;

  Published<std::uint64_t>& kept(std::uint64_t page);
  bool knows(std::uint64_t page, bool stored);

  // An entry of kept_ is the page's address with these bits.
  static constexpr std::uint64_t loadable = 1;
  static constexpr std::uint64_t storable = 2;
  std::array<Published<std::uint64_t>, most_kept> kept_;
};

/// The transport between processes of one node. Messages are sent through the receiver's mailbox, a
/// process sleeps on its own doorbell, the kernel copies private memory. Not thread-safe, except
/// where NodeServices says so.
class ShmTransport final : public NodeServices {
 public:
  /// `rank`: see ProcessBlock. On failure returns null and sets `error` to a sentence.
  static std::unique_ptr<ShmTransport> create(Arena& arena, std::string& error, int rank = -1);
  ~ShmTransport() override;

  /// The name of this process, by which peers attach to it, or of a process that this one has
  /// attached to.
  const ProcessName& name(int process = 0) { return peer(process).name; }
  /// Attaches to a process and returns its number, which does not change. If that is not possible,
  /// returns a negative number and sets `error` to a sentence.
  int attach(const ProcessName& name, std::string& error);
  static constexpr int unreachable = -1;
  static constexpr int incompatible = -2;  // the process runs another version of this library
  int self() const { return 0; }
  /// Maps memory of the process's arena and returns its address. On failure returns null and sets
  /// `error` to a sentence.
  std::byte* at(int process, const ArenaLocation& location, std::uint64_t bytes,
                std::string& error);
  int processes() const { return static_cast<int>(peers_.size()); }

  Doorbell& doorbell(int process) { return peer(process).block->doorbell; }
  WaitSign& wait_sign(int process) { return peer(process).block->wait_sign; }
  CallCounts& calls(int process) { return peer(process).block->calls; }
  int rank_of(int process) { return peer(process).block->rank; }
  /// The number of the process whose name has this id; `unreachable`: none is attached.
  int find(std::uint64_t id) const {
    const auto known = numbers_.find(id);
    return known != numbers_.end() ? known->second : unreachable;
  }
  /// False if the process has ended. Messages that wait for it are then discarded.
  bool alive(int process) override;
  /// Permits node peers to copy() our private memory if the kernel requires that (Yama). Must be
  /// called before the memory is announced to them.
  void permit_vm();
  /// True if copy() works with the process. Tested by reading a word of its private memory when it
  /// was attached.
  bool vm_allowed(int process) { return peer(process).vm_allowed; }
  /// True if there are more processes than processors that they may run on: a process that spins
  /// then keeps others from running.
  bool crowded() const { return crowded_.load(); }
  /// True if messages wait here because a mailbox was full. A peer that frees space does not ring.
  bool backlogged() const { return !backlogs_.empty(); }
  bool backlogged(int process) const { return backlogs_.contains(process); }
  /// The number of messages that have waited so far.
  std::uint64_t delayed() const { return delayed_; }

  // As Messages defines them; messages are not collected.
  void send(int process, std::span<const std::byte> header, std::span<const std::byte> payload);
  bool congested(int process) const;
  std::span<const std::byte> receive();
  MemoryRange locate(const void* memory, std::uint64_t bytes) override;
  /// Ends the use that locate() began. Without this call, the use ends when the memory is freed.
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
  std::byte* map_private(int process, const MemoryRange& range) override;
  bool reachable(std::uint64_t address, std::uint64_t bytes, bool stores) override {
    return ReachablePages::reachable_now(address, bytes, stores);
  }
  Error copy_own(bool write, const Run& run) override;
  Error copy(int process, bool write, std::span<const Run> runs) override;
  bool ask(int process, Errand& errand) override;
  std::optional<Error> carry_out_with(int process, const ChunkedOperation& operation,
                                      ChunkWork& ours) override;
  bool serve(bool waits) override;
  const std::atomic<std::uint32_t>& errand_state() const override {
    return peers_.front().block->errand.state;
  }
  NotifyOutcome notify(int process, const NotifyRecord& record, const NotifyStore& store) override;
  bool deliver_notification(NotifyReader& reader) override;
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
  /// True if every attached process has registered for expedited membarriers.
  bool fences_peers() const override { return fenced_; }
  void fence_peers() override;
  void relax() override;
  std::uint64_t nanoseconds() override;

  /// How many times inlining has paused, for all peers: see NotifySender.
  std::uint64_t inlining_pauses();

 private:
  /// The part of a message that is not yet in a mailbox.
  struct Outgoing {
    std::span<const std::byte> header, payload;
    std::uint64_t total;

    std::uint64_t unsent() const { return header.size() + payload.size(); }
  };
  /// The rest of a message whose receiver's mailbox is full.
  struct Waiting {
    std::vector<std::byte> rest;
    std::uint64_t sent = 0;   // bytes of `rest`
    std::uint64_t total = 0;  // bytes of the message
  };
  struct Peer {
    ProcessName name;
    PeerArena arena;  // not used for this process
    ProcessBlock* block;
    bool vm_allowed = false;
    NotifySender notify_sender = {};  // for its notification queue
    ErrandSender errand_sender = {};
    std::unique_ptr<PeerSpace> space;  // null: none of its private memory is mapped yet
  };
  /// The received part of a message that is longer than a fragment.
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
    // The complement of the mailbox's number, which is random.
    return {peer.block->notify, {peer.block->lines(), ProcessBlock::notify_lines}, ~peer.name.id};
  }
  bool try_vm(int process);
  Xpmem* xpmem();
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
  bool assemble(const Mailbox& box, const Mailbox::Fragment& fragment);
  template <typename Box>
  bool skip_dead_producer(Box& box, std::uint64_t& stalled_since);

  Arena& arena_;
  std::int32_t pid_ = 0;
  std::uint64_t id_ = 0;
  std::uint64_t probe_ = 0;  // the word that peers read to test copy()
  bool vm_ = true;
  bool vm_permitted_ = false;
  bool fenced_ = true;
  cpu_set_t processors_ = {};  // on which any of the attached processes may run
  Published<bool> crowded_;
  std::unique_ptr<Xpmem> xpmem_;  // null: not loaded yet, or there is none
  bool xpmem_tried_ = false;
  ReachablePages reachable_;
  std::vector<std::byte> operands_;  // of a chunk that is combined; used by its thread
  Published<unsigned> served_;       // successive calls of serve() that found an errand, up to two
  Published<std::uint64_t> copy_time_;  // the shortest time of a short copy(), nanoseconds
  std::uint32_t relaxed_ = 0;
  std::uint64_t mailbox_stalled_since_ = 0;              // nanoseconds; zero: not stalled
  std::uint64_t notify_stalled_since_ = 0;               // nanoseconds; zero: not stalled
  unsigned empty_calls_ = 0;                             // checks in a row without a notification
  std::int32_t dead_producer_ = 0;                       // pid of the dead process found last
  GrowingArray<Peer> peers_;                             // the first is this process
  std::unordered_map<std::uint64_t, int> numbers_;       // by ProcessName::id
  std::map<int, std::deque<Waiting>> backlogs_;          // by process; none is empty
  std::uint64_t delayed_ = 0;                            // messages added to backlogs_ so far
  std::vector<std::byte> message_;                       // the message received last
  std::unordered_map<std::uint64_t, Partial> partials_;  // by sender's id
};

}  // namespace oriel
