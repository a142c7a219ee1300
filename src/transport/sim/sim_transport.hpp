// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/shared_words.hpp"
#include "core/transport/transport.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/packet.hpp"
#include "transport/shm/notify_queue.hpp"

namespace oriel {

/// The network between the simulated processes of one program. Packets of one route keep their
/// order; the caller of deliver() chooses how routes interleave. The mutex permits processes to be
/// threads, and costs a scheduler that runs them one by one next to nothing.
class SimNetwork {
 public:
  /// The route from one process to another. Direct transfers use it, too, unless they have a route
  /// of their own (`transfers`), as atomics do.
  struct Route {
    int from = 0;
    int to = 0;
    bool transfers = false;
  };

  /// `immediate`: a packet arrives when it is sent; for processes that are threads.
  SimNetwork(int processes, bool immediate);
  /// Messages::orders_writes() and delivers_writes(), of which at least one is true.
  struct Writes {
    bool ordered = true;
    bool delivered = false;
  };
  static constexpr Writes ordered_writes{true, false};
  static constexpr Writes delivered_writes{false, true};
  static constexpr Writes card_writes{true, true};
  static constexpr std::array all_writes{ordered_writes, delivered_writes, card_writes};
  /// By default, writes are only ordered. Without order, direct transfers have routes of their own,
  /// so packets may overtake them. A write that is not delivered finishes when it is delivered, and
  /// its bytes arrive with the next delivery on its route. To be set before anything is sent.
  void set_writes(const Writes& writes) { writes_ = writes; }
  /// From now on processes carry out about `of_ten` of ten errands of their peers.
  void set_serving(unsigned of_ten) { serving_ = of_ten; }
  unsigned serving() const { return serving_; }
  /// From now on peers can map all memory that a process locates.
  void share_buffers() { buffers_shared_ = true; }
  bool buffers_shared() const { return buffers_shared_; }
  /// From now on direct transfers fail when they arrive.
  void set_failing(bool failing) { failing_ = failing; }
  /// The life of a process as other processes find it. While the process is ending, its memory is
  /// gone, so that transfers and atomics fail, but it still counts as alive. An ended one counts as
  /// ended and sends nothing more.
  enum class Life : std::uint8_t { alive, ending, ended };
  void set_life(int process, Life life);
  /// Returns whether the process counts as alive to `asks`. Otherwise all its packets that `asks`
  /// has not received are dropped, as by a real network.
  bool alive(int asks, int process);
  /// One direct transfer fails, after `others` other ones have arrived.
  void fail_one_after(std::uint64_t others) { failing_after_ = others; }
  /// The maximal bytes of a direct transfer; 0: none is accepted.
  void set_longest_transfer(std::uint64_t bytes) { longest_transfer_ = bytes; }
  std::uint64_t longest_transfer() const { return longest_transfer_; }
  const Writes& writes() const { return writes_; }
  /// From now on writes of up to so many bytes are copied when they begin (Accepted::copied).
  void set_longest_copied(std::uint64_t bytes) { longest_copied_ = bytes; }
  std::uint64_t longest_copied() const { return longest_copied_; }
  /// From now on a route is congested if so many packets, transfers and atomics are in flight from
  /// one process to the other (Messages::congested()).
  void set_congesting(std::size_t in_flight) { congesting_ = in_flight; }
  bool congested(int from, int to);
  /// Sets the bytes of immediate data (default: none), and the order in which a process receives
  /// the arrivals that are waiting: that of arrival, immediate data first, or packets first. To be
  /// set before anything is sent.
  enum class ArrivalOrder : std::uint8_t { in_order, immediate_first, immediate_last };
  void set_immediate_data(std::size_t bytes, ArrivalOrder order) {
    immediate_format_ = ImmediateFormat(bytes);
    arrival_order_ = order;
  }
  const ImmediateFormat& immediate_format() const { return immediate_format_; }

  void send(int from, int to, std::vector<std::byte> packet) {
    send({from, to}, Packet(std::move(packet)));
  }
  /// Returns whether the sends from one process to another are finished: the receiver has received
  /// the packets, or has ended.
  bool finished_sends(int from, int to);
  /// A direct transfer, which takes effect when it is delivered. If writes are not delivered, its
  /// delivery copies the bytes, and the next one on the route stores them at the target.
  struct Direct {
    bool write = false;
    std::uint64_t key = 0;
    std::vector<TransferRun> runs;
    Transfer transfer;
    std::optional<std::uint64_t> immediate;
    std::vector<std::byte> copied;  // the bytes of a write, from its begin or its delivery on
    bool accepted = false;          // a write that has finished and whose bytes have not arrived

    void copy();
  };
  /// Registers memory of a process for reads, or for writes, by others, and returns its key. 0: the
  /// process has `most_registered` registrations already.
  static constexpr std::size_t most_registered = 4;
  std::uint64_t register_buffer(int process, bool to_be_written, const void* memory,
                                std::uint64_t bytes);
  void deregister_buffer(std::uint64_t key);
  /// The number of present registrations.
  std::size_t registered() const;
  /// The number of all registrations so far.
  std::uint64_t registrations_made() const;
  void begin(int from, int to, Direct direct) {
    send({from, to, !writes_.ordered}, Packet(std::move(direct)));
  }
  /// A network atomic: its first delivery reads, its second one writes. In between, no other
  /// network atomic takes effect at the process, but a CPU's may.
  struct Remote {
    Atomic atomic;
    std::byte* where = nullptr;
    Transfer transfer;
    std::vector<std::byte> operands;
    std::vector<std::byte> compare;
    std::vector<std::byte> read;  // empty: not yet
  };
  void begin(int from, int to, Remote remote) { send({from, to, true}, Packet(std::move(remote))); }
  bool finished(int process, Transfer& transfer);
  /// Reports the transfer that was reported last once more, as a faulty provider would.
  void repeat_report(int process);
  /// An arrival at a process: a packet, or immediate data.
  struct Arrival {
    std::vector<std::byte> packet;  // empty: immediate data
    std::uint64_t immediate = 0;
    int from = 0;
  };
  /// Receives the next arrival of `process`. False if there is none.
  bool receive(int process, Arrival& arrival);

  /// The notification queue of a simulated process: that of a real process, but short.
  struct Notifications {
    static constexpr std::size_t most = 8;

    NotifyEnds ends;
    std::vector<NotifyLine> lines{most};
    MailboxClaim claim;
  };
  Notifications& notifications(int process) {
    return *notifications_[static_cast<std::size_t>(process)];
  }

  ThreadLines& threads(int process) { return *threads_[static_cast<std::size_t>(process)]; }

  /// The routes with packets or transfers in flight.
  std::vector<Route> under_way() const;
  /// Delivers the oldest item of a route. False if there is none that can arrive. The bytes of a
  /// write that has finished arrive as well, and do not count as an item.
  bool deliver(const Route& route);

 private:
  using Packet = std::variant<std::vector<std::byte>, Direct, Remote>;
  using Queue = std::deque<Packet>;
  Queue& queue(const Route& route);
  void send(const Route& route, Packet packet);
  /// True if the packet has been handled completely.
  bool arrive(const Route& route, Packet& packet);
  bool permitted(int process, const Direct& direct) const;
  bool carry_out(const Route& route, Direct& direct);
  void store(const Route& route, const Direct& direct);
  void carry_out(int from, const Remote& remote);

  mutable std::mutex mutex_;
  std::size_t processes_;
  bool immediate_;
  Writes writes_;
  bool buffers_shared_ = false;
  unsigned serving_ = 0;
  bool failing_ = false;
  std::optional<std::uint64_t> failing_after_;
  std::uint64_t longest_transfer_ = ~std::uint64_t{0};
  std::uint64_t longest_copied_ = 0;
  std::size_t congesting_ = ~std::size_t{0};
  struct BufferRegistration {
    int process = 0;
    bool to_be_written = false;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::uint64_t, BufferRegistration> registrations_;  // by key
  std::uint64_t keys_ = 0;                                     // the last key
  ImmediateFormat immediate_format_;
  ArrivalOrder arrival_order_ = ArrivalOrder::in_order;
  std::uint64_t moving_ = 0;                    // packets and transfers in flight
  std::vector<Queue> routes_;                   // first those of packets, then those of transfers
  std::vector<std::deque<Arrival>> inboxes_;    // by process
  std::vector<std::deque<Transfer>> finished_;  // by process
  std::vector<Transfer> reported_;              // the transfer reported last, by process
  std::vector<const Remote*> half_done_;        // by process
  std::vector<Life> lives_;                     // by process
  std::set<std::pair<int, int>> lost_;          // to a process, from another one: see alive()
  std::vector<std::unique_ptr<Notifications>> notifications_;  // by process
  std::vector<std::unique_ptr<ThreadLines>> threads_;          // by process
};

inline std::string name_of(const SimNetwork::Writes& writes) {
  return !writes.delivered ? "Ordered" : writes.ordered ? "Card" : "Delivered";
}

/// The transport of one simulated process.
class SimTransport final : public Transport, public NodeServices, public Messages {
 public:
  SimTransport(SimNetwork& network, int self)
      : Transport(*this, *this), network_(network), self_(self) {}

  void send(int process, std::span<const std::byte> header,
            std::span<const std::byte> payload) override;
  void push() override;
  bool congested(int process) const override { return network_.congested(self_, process); }
  std::span<const std::byte> receive() override;
  /// Simulated processes have one address space. A location is an address, in one large extent.
  static ArenaLocation location_of(const void* memory) {
    return {reinterpret_cast<std::uintptr_t>(memory), std::uint64_t{1} << 63};
  }
  /// Private, unless SimNetwork::share_buffers() has been called.
  MemoryRange locate(const void* memory, std::uint64_t bytes) override {
    return {reinterpret_cast<std::uintptr_t>(memory), bytes,
            network_.buffers_shared() ? location_of(memory) : ArenaLocation{}};
  }
  std::byte* share(std::uint64_t bytes, ArenaLocation& location) override;
  void unshare(std::byte* memory) override;
  using NodeServices::map;
  std::byte* map(int, const ArenaLocation& location, std::uint64_t) override {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(location.offset));
  }
  /// Simulated processes map exposed private memory unless set_maps_private() says otherwise.
  std::byte* map_private(int, const MemoryRange& range) override {
    return maps_private_ ? reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(range.address))
                         : nullptr;
  }
  /// Sets whether this process can map exposed private memory of its node peers.
  void set_maps_private(bool maps) { maps_private_ = maps; }
  bool reachable(std::uint64_t, std::uint64_t, bool) override {
    return !std::exchange(unmapped_, unmapped_ || unmaps_soon_);
  }
  Error copy_own(bool write, const Run& run) override;
  Error copy(int process, bool write, std::span<const Run> runs) override;
  bool ask(int process, Errand& errand) override;
  std::optional<Error> carry_out_with(int process, const ChunkedOperation& operation,
                                      ChunkWork& ours) override;
  bool serve(bool) override { return false; }
  const std::atomic<std::uint32_t>& errand_state() const override { return no_errands_; }
  Accepted transfer(int process, bool write, std::span<const TransferRun> runs, std::uint64_t key,
                    std::uint64_t token, Behind* behind) override;
  std::uint64_t atomic(int process, const Atomic& atomic, const RemoteMemory& remote,
                       std::uint64_t token) override;
  bool finished(Transfer& transfer) override { return network_.finished(self_, transfer); }
  bool orders_writes() const override { return network_.writes().ordered; }
  bool delivers_writes() const override { return network_.writes().delivered; }
  int register_buffer(int, bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override {
    registered = {reinterpret_cast<std::uintptr_t>(memory),
                  network_.register_buffer(self_, to_be_written, memory, bytes)};
    return registered.key != 0 ? static_cast<int>(registered.key) : -1;
  }
  void deregister_buffer(int registration) override {
    network_.deregister_buffer(static_cast<std::uint64_t>(registration));
  }
  NotifyOutcome notify(int process, const NotifyRecord& record, const NotifyStore& store) override;
  bool deliver_notification(NotifyReader& reader) override {
    return notifications(self_).deliver(reader, fences_peers());
  }
  bool notifications_due() override { return notifications(self_).due(); }
  bool begin_recall(int process, std::uint32_t window, RecallFor reason) override;
  bool finish_recall(int process, StoreMaker& maker) override;
  const std::atomic<std::uint32_t>& pressed() const override {
    return network_.notifications(self_).ends.pressed;
  }
  ThreadLines& own_threads() override { return network_.threads(self_); }
  std::span<const ThreadLine> threads(int process) override {
    return network_.threads(process).in_use();
  }
  void ring(Doorbell& doorbell) override;
  /// Simulated processes may be threads under ThreadSanitizer, which does not support membarrier.
  bool fences_peers() const override { return false; }
  void fence_peers() override {}
  bool alive(int process) override {
    asked_.insert(process);
    return process != ended_ && network_.alive(self_, process);
  }
  // As in Network:
  bool drained(int process) const;
  bool drained() const;
  void relax() override;
  /// The time advances with each call, by a pseudo-random amount, and with each copy().
  std::uint64_t nanoseconds() override;

  /// Messages and packets sent so far.
  std::uint64_t messages_sent() const { return messages_; }
  std::uint64_t packets() const { return packets_; }
  /// The number of messages sent as immediate data.
  std::uint64_t named() const { return named_; }
  /// The number of pieces of memory that are shared at present.
  std::size_t shared() const { return shared_.size(); }
  /// The number of calls of copy() so far, which are system calls in real transports.
  std::uint64_t copies() const { return copies_.load(std::memory_order_relaxed); }
  /// The number of this process's errands that peers have carried out.
  std::uint64_t errands() const { return errands_.load(std::memory_order_relaxed); }
  /// Sets the time that each copy takes from now on.
  void set_copy_nanoseconds(std::uint64_t nanoseconds) { copy_nanoseconds_ = nanoseconds; }
  /// The next `times` calls of share() find no memory.
  void refuse_to_share(int times) { refused_shares_ = times; }
  /// Sets whether this process finds its own memory unmapped.
  void set_unmapped(bool unmapped) {
    unmapped_ = unmapped;
    unmaps_soon_ = false;
  }
  /// This process finds its own memory once more, and unmapped from then on.
  void unmap_soon() {
    unmapped_ = false;
    unmaps_soon_ = true;
  }
  /// From now on calls of copy() are refused, as a system may do.
  void set_refusing(bool refuses) { refuses_ = refuses; }
  /// From now on `process` counts as ended.
  void set_ended(int process) { ended_ = process; }
  /// The arguments of alive() since the last call.
  std::set<int> collect_asked() { return std::exchange(asked_, {}); }

 private:
  /// The state of the messages to and from one process.
  struct Peer {
    std::vector<std::byte> buffer;
    PacketWriter packet;     // the packet being filled
    std::uint32_t sent = 0;  // number of packets and immediate data sent
    SentCodes sent_codes;
    InOrder<SimNetwork::Arrival> order;  // of the arrivals from the peer
    ReceivedCodes received_codes;
    std::optional<std::uint32_t> self;  // our number at the peer
  };
  void collect(int process, std::span<const std::byte> header, std::span<const std::byte> payload,
               std::uint32_t code);
  void send_packet(int process, Peer& peer);
  std::optional<std::uint64_t> immediate_for(int process, std::span<const std::byte> message);
  bool next_arrival();
  bool due(SimNetwork::Arrival& arrival);
  void begin(SimNetwork::Arrival arrival);
  NotifyQueue notifications(int process) const {
    SimNetwork::Notifications& its = network_.notifications(process);
    return {its.ends, its.lines, static_cast<std::uint64_t>(process)};
  }

  SimNetwork& network_;
  int self_;
  std::uint64_t messages_ = 0;
  std::uint64_t packets_ = 0;
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> errands_{0};
  std::atomic<std::uint32_t> no_errands_{0};  // always 0: ask() carries errands out
  std::uint64_t named_ = 0;
  std::atomic<std::uint64_t> now_{0};  // copy() may be called by any thread
  std::uint64_t copy_nanoseconds_ = 0;
  bool unmapped_ = false;
  bool unmaps_soon_ = false;
  bool refuses_ = false;
  bool maps_private_ = true;
  int refused_shares_ = 0;
  int ended_ = -1;
  std::set<int> asked_;
  std::map<int, Peer> peers_;
  std::map<int, NotifySender> notify_senders_;  // by process
  struct alignas(cache_line) Line {
    std::array<std::byte, cache_line> bytes;
  };
  std::map<std::byte*, std::unique_ptr<Line[]>> shared_;
  std::vector<std::byte> arrived_;
  PacketReader reader_;
  Peer* sender_ = nullptr;                    // of the arrival handled last
  std::span<const std::byte> named_message_;  // the message that immediate data has named
};

}  // namespace oriel
