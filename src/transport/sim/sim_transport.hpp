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
#include <utility>
#include <variant>
#include <vector>

#include "core/base/cache_line.hpp"
#include "core/transport/transport.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/in_order.hpp"
#include "transport/packet/message_codes.hpp"
#include "transport/packet/packet.hpp"
#include "transport/shm/notify_queue.hpp"

namespace oriel {

/// The packets between the simulated processes of one program. In order on each route; how the
/// routes interleave is the choice of whoever calls deliver(). The mutex lets the processes be
/// threads; a scheduler that runs them one by one pays next to nothing for it.
class SimNetwork {
 public:
  /// The way from one process to another; of direct transfers too, unless they go by their own
  /// one, as atomics do.
  struct Route {
    int from = 0;
    int to = 0;
    bool transfers = false;
  };

  /// `immediate`: a packet sent has arrived; for processes that are threads.
  SimNetwork(int processes, bool immediate);
  /// False: direct transfers have routes of their own, so that packets may overtake them. True
  /// until it is said otherwise, which is before anything is sent.
  void set_orders_writes(bool orders) { orders_writes_ = orders; }
  /// How often processes carry out what their peers ask them to from now on, of ten times.
  void set_serving(unsigned of_ten) { serving_ = of_ten; }
  unsigned serving() const { return serving_; }
  /// Peers can map whatever memory a process locates from now on.
  void share_buffers() { buffers_shared_ = true; }
  bool buffers_shared() const { return buffers_shared_; }
  /// Direct transfers that arrive from now on fail.
  void set_failing(bool failing) { failing_ = failing; }
  /// One does, when so many others have arrived.
  void fail_one_after(std::uint64_t others) { failing_after_ = others; }
  /// A direct transfer takes no more bytes.
  void set_longest_transfer(std::uint64_t bytes) { longest_transfer_ = bytes; }
  std::uint64_t longest_transfer() const { return longest_transfer_; }
  bool orders_writes() const { return orders_writes_; }
  /// Bytes of immediate data, which like packets a process is told of in the order in which they
  /// have come, or else before all packets or after them. None until it is said otherwise, which
  /// is before anything is sent.
  enum class Telling : std::uint8_t { in_order, immediate_first, immediate_last };
  void set_immediate_data(std::size_t bytes, Telling telling) {
    immediate_format_ = ImmediateFormat(bytes);
    telling_ = telling;
  }
  const ImmediateFormat& immediate_format() const { return immediate_format_; }

  void send(int from, int to, std::vector<std::byte> packet) {
    send({from, to}, Packet(std::move(packet)));
  }
  /// A direct transfer: takes place when it is delivered.
  struct Direct {
    bool write = false;
    std::uint64_t key = 0;
    std::vector<TransferRun> runs;
    Transfer transfer;
    std::optional<std::uint64_t> immediate;
  };
  /// Memory of a process that others may read, or write: its key. 0: it lends no more than `most`
  /// at a time.
  static constexpr std::size_t most_registered = 4;
  std::uint64_t register_buffer(int process, bool to_be_written, const void* memory,
                                std::uint64_t bytes);
  void deregister_buffer(std::uint64_t key);
  /// Registrations that have not been taken back,
  std::size_t registered() const;
  /// and all there have been.
  std::uint64_t registrations_made() const;
  void begin(int from, int to, Direct direct) {
    send({from, to, !orders_writes_}, Packet(std::move(direct)));
  }
  /// An atomic of the network: reads when it is delivered and writes when it is delivered once
  /// more. No other atomic of the network comes to the process in between, but a CPU may.
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
  /// As a provider would tell that tells twice: the transfer that was told last is told again.
  void repeat_report(int process);
  /// What has come to a process: a packet, or immediate data.
  struct Arrival {
    std::vector<std::byte> packet;  // empty: immediate data
    std::uint64_t immediate = 0;
  };
  /// Takes the next that `process` is told of.
  bool receive(int process, Arrival& arrival);

  /// What notifies a process: the queue that real ones have, but short.
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

  /// CompositeTransport with something under way.
  std::vector<Route> under_way() const;
  /// Lets what is oldest on a route arrive; false if there is nothing that can.
  bool deliver(const Route& route);

 private:
  using Packet = std::variant<std::vector<std::byte>, Direct, Remote>;
  using Queue = std::deque<Packet>;
  Queue& queue(const Route& route);
  void send(const Route& route, Packet packet);
  /// True when it is over.
  bool arrive(const Route& route, Packet& packet);
  bool permitted(int process, const Direct& direct) const;
  void carry_out(const Route& route, Direct direct);
  void carry_out(int from, const Remote& remote);

  mutable std::mutex mutex_;
  std::size_t processes_;
  bool immediate_;
  bool orders_writes_ = true;
  bool buffers_shared_ = false;
  unsigned serving_ = 0;
  bool failing_ = false;
  std::optional<std::uint64_t> failing_after_;
  std::uint64_t longest_transfer_ = ~std::uint64_t{0};
  struct BufferRegistration {
    int process = 0;
    bool to_be_written = false;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::uint64_t, BufferRegistration> registrations_;  // by key
  std::uint64_t keys_ = 0;                                     // given out
  ImmediateFormat immediate_format_;
  Telling telling_ = Telling::in_order;
  std::uint64_t moving_ = 0;                    // packets and transfers under way
  std::vector<Queue> routes_;                   // those of packets, then those of transfers
  std::vector<std::deque<Arrival>> inboxes_;    // by process
  std::vector<std::deque<Transfer>> finished_;  // by process
  std::vector<Transfer> told_;                  // the last of these, by process
  std::vector<const Remote*> half_done_;        // by process
  std::vector<std::unique_ptr<Notifications>> notifications_;  // by process
  std::vector<std::unique_ptr<ThreadLines>> threads_;          // likewise
};

/// Transport of one simulated process.
class SimTransport final : public Transport, public NodeServices, public Messages {
 public:
  SimTransport(SimNetwork& network, int self)
      : Transport(*this, *this), network_(network), self_(self) {}

  void send(int process, std::span<const std::byte> header,
            std::span<const std::byte> payload) override;
  void push() override;
  bool congested(int) const override { return false; }
  std::span<const std::byte> receive() override;
  /// Simulated processes have one address space: a location is an address, in one large extent.
  static ArenaLocation location_of(const void* memory) {
    return {reinterpret_cast<std::uintptr_t>(memory), std::uint64_t{1} << 63};
  }
  /// Private, but where SimNetwork::share_buffers() says otherwise.
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
  Error copy(int process, bool write, std::span<const Run> runs) override;
  bool ask(int process, Errand& errand) override;
  std::optional<Error> carry_out_with(int process, const ChunkedOperation& operation,
                                      ChunkWork& ours) override;
  bool serve(bool) override { return false; }
  const std::atomic<std::uint32_t>& errand_state() const override { return no_errands_; }
  std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                         std::uint64_t key, std::uint64_t token, Behind* behind) override;
  std::uint64_t atomic(int process, const Atomic& atomic, const RemoteMemory& remote,
                       std::uint64_t token) override;
  bool finished(Transfer& transfer) override { return network_.finished(self_, transfer); }
  bool orders_writes() const override { return network_.orders_writes(); }
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
  bool take_notification(NotifyReader& reader) override {
    return notifications(self_).take(reader, fences_peers());
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
  /// Simulated processes may be threads under ThreadSanitizer, which knows no membarrier.
  bool fences_peers() const override { return false; }
  void fence_peers() override {}
  bool alive(int process) override {
    asked_.insert(process);
    return process != ended_;
  }
  void relax() override;
  /// Time passes by looks at it, some by chance, and by what copy() takes.
  std::uint64_t nanoseconds() override;

  /// Messages and packets sent so far.
  std::uint64_t messages_sent() const { return messages_; }
  std::uint64_t packets() const { return packets_; }
  /// Messages that went as immediate data.
  std::uint64_t named() const { return named_; }
  /// Pieces of memory that are shared, and have not been taken back.
  std::size_t shared() const { return shared_.size(); }
  /// Calls of copy() so far, which are system calls elsewhere.
  std::uint64_t copies() const { return copies_.load(std::memory_order_relaxed); }
  /// Errands of ours that peers have carried out.
  std::uint64_t errands() const { return errands_.load(std::memory_order_relaxed); }
  /// The time that each copy takes from now on.
  void set_copy_nanoseconds(std::uint64_t nanoseconds) { copy_nanoseconds_ = nanoseconds; }
  /// There is no memory for the next `times` calls of share().
  void refuse_to_share(int times) { refused_shares_ = times; }
  /// Calls of copy() from now on are refused, as the system may.
  void set_refusing(bool refuses) { refuses_ = refuses; }
  /// Whether this process lives is known from now on: not.
  void set_ended(int process) { ended_ = process; }
  /// The processes that were asked after since the last call.
  std::set<int> take_asked() { return std::exchange(asked_, {}); }

 private:
  /// What is exchanged with one process.
  struct Peer {
    std::vector<std::byte> buffer;
    PacketWriter packet;     // being collected
    std::uint32_t sent = 0;  // packets, and immediate data in the place of one
    CodesGiven codes_given;
    InOrder<SimNetwork::Arrival> order;  // of what it has sent us
    CodesHeard codes_heard;
    std::optional<std::uint32_t> self;  // our number there
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
  std::atomic<std::uint32_t> no_errands_{0};  // they are carried out where they are asked for
  std::uint64_t named_ = 0;
  std::atomic<std::uint64_t> now_{0};  // copy() may be called by any thread
  std::uint64_t copy_nanoseconds_ = 0;
  bool refuses_ = false;
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
  Peer* sender_ = nullptr;                    // of what was begun last
  std::span<const std::byte> named_message_;  // by immediate data
};

}  // namespace oriel
