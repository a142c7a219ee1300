// SPDX-License-Identifier: BSD-3-Clause
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/settings.hpp"
#include "core/base/steps.hpp"
#include "core/remote/message.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/lifeline.hpp"
#include "transport/ofi/network.hpp"
#include "transport/packet/immediate_data.hpp"
#include "transport/packet/packet.hpp"
#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

// Any message fits into a packet of its own.
constexpr std::size_t packet_bytes = std::size_t{258} * 1024;
static_assert(packet_bytes >= sizeof(PacketHeader) + PacketWriter::space_for(Message::most_bytes));
constexpr std::size_t buffers_per_slab = 16;
constexpr std::size_t posted_receives = 16;
// Operations wait while so many packets to one process, or so many bytes of them, are in flight:
// enough to keep the network busy for a round trip.
constexpr std::size_t most_under_way = 32;
constexpr std::uint64_t most_bytes_under_way = 4 * packet_bytes;
// The limit of direct transfers in flight, to all processes together.
constexpr std::size_t most_transfers = 64;
constexpr std::size_t most_completions = 16;
// The maximal bytes of a direct transfer over a TCP with pacing.
constexpr std::uint64_t longest_at_a_pace = std::uint64_t{128} * 1024;
/// Our memory from the lowest to the highest byte of these runs.
std::pair<const std::byte*, const std::byte*> extent_of(std::span<const TransferRun> runs) {
  const std::byte* begin = runs.front().local;
  const std::byte* end = begin;
  for (const TransferRun& run : runs) {
    begin = std::min<const std::byte*>(begin, run.local);
    end = std::max<const std::byte*>(end, run.local + run.bytes);
  }
  return {begin, end};
}

bool by_tcp(const fi_info& provider) {
  const std::string_view name = provider.fabric_attr->prov_name;
  return name.find("tcp") != std::string_view::npos ||
         name.find("sockets") != std::string_view::npos;
}

bool tcp_has_a_pace() {
  std::ifstream setting("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  return setting >> name && name.starts_with("bbr");
}

/// The maximal bytes of a direct transfer by this provider: as many as it accepts, but fewer over a
/// TCP with pacing (BBR). BBR's estimate of the bandwidth is too low if much data queues in a
/// socket, and has no effect on data that is sent at once: 1 MB in such parts takes half the time.
/// Any other TCP takes two thirds of the time if it gets much data at once.
std::uint64_t longest_transfer(const fi_info& provider) {
  const std::uint64_t accepted = provider.ep_attr->max_msg_size;
  const std::uint64_t longest =
      accepted != 0 ? accepted : std::numeric_limits<std::uint64_t>::max();
  return by_tcp(provider) && tcp_has_a_pace() ? std::min(longest, longest_at_a_pace) : longest;
}

/// Returns whether immediate data arrives after the bytes of its write and of all earlier writes.
bool reports_written(const fi_info& provider, std::uint64_t longest) {
  // The provider keeps the order of writes of at most max_order_waw_size bytes.
  return (provider.tx_attr->msg_order & FI_ORDER_WAW) != 0 &&
         provider.ep_attr->max_order_waw_size >= longest;
}

}  // namespace

/// The network to processes on other nodes by libfabric: one reliable endpoint, messages in
/// packets.
///
/// The steps of a message:
/// 1. send() copies it into the open packet of its receiver.
/// 2. push(), or a full packet, sends the packet: one fi_send, or for a short packet one fi_inject,
///    which reports no completion.
/// 3. The receiver's progress puts the packet into one of its posted buffers.
/// 4. The messages are taken out one by one, and the buffer is posted again.
/// The provider keeps the order of packets between two endpoints (FI_ORDER_SAS), in which they are
/// put into buffers. It may report a long packet later than a short one behind it, which then waits
/// here. It holds packets back if the receiver has no buffer left (FI_RM_ENABLED).
///
/// A message behind a write is sent with it as immediate data (FI_REMOTE_CQ_DATA), which has a
/// number among the packets like a packet. So the time at which the provider reports it does not
/// matter, and no provider reports it if the write has failed. The message is sent in a packet
/// instead if the provider has no immediate data or keeps no order between writes (FI_ORDER_WAW),
/// or if the receiver has not yet sent a packet, which contains our number there.
///
/// By FI_ORDER_SAW a message that is sent after a write has finished without an error finds the
/// write's bytes at the target. No failure of the write is reported later, as providers promise for
/// reliable endpoints: connection-oriented ones (tcp, verbs) end the connection at a write that the
/// target refuses, with everything behind it. All others finish a write when the target's side has
/// accepted it (FI_TRANSMIT_COMPLETE), or, if they keep no order, when its bytes have arrived
/// (FI_DELIVERY_COMPLETE).
class OfiNetwork final : public Network, private OfiEndpoint {
 public:
  OfiNetwork() = default;
  ~OfiNetwork() override;

  bool open(std::string& error);

  const NetworkName& name() const override { return name_; }
  std::string description() const override;
  int attach(const NetworkName& name, std::string& error) override;

  void send(int process, std::span<const std::byte> header,
            std::span<const std::byte> payload) override;
  void push() override;
  bool congested(int process) const override;
  std::span<const std::byte> receive() override;
  bool alive(int process) override;
  void watch(const NetworkName& name) override { lifeline_->watch(name.lifeline); }
  std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                         std::uint64_t key, std::uint64_t token, Behind* behind) override;
  bool finished(Transfer& transfer) override;
  bool orders_writes() const override { return orders_writes_; }
  bool transferring() const override { return transfers_under_way_ + registered_ != 0; }
  bool direct() const override { return direct_; }
  int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override;
  void deregister_buffer(int registration) override;
  int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) override;
  void withdraw(int exposure) override { withdraw_memory(exposure); }
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_wait() override { return arrived_.empty() && quiet(); }
  bool drained() override;
  std::uint64_t delayed() const override { return delayed_; }

 private:
  /// A libfabric operation in flight. libfabric returns the context with the completion.
  struct Work {
    enum class Kind : std::uint8_t { receive, send, transfer };
    fi_context2 context{};  // first: the completion's pointer is that of the Work
    Kind kind = Kind::receive;
    int process = -1;  // not for a receive
    std::uint64_t bytes = 0;
  };
  /// A buffer of one packet, being sent or posted to receive.
  struct Buffer : Work {
    std::byte* data = nullptr;
    void* descriptor = nullptr;  // of its memory registration, if the provider requires one
  };
  /// An arrival: a packet, or immediate data.
  struct Arrival {
    Buffer* packet = nullptr;  // null: immediate data
    std::uint64_t data = 0;
  };
  struct DirectTransfer : Work {
    std::uint64_t token = 0;
    fid_mr* registration = nullptr;  // of our memory, if the provider requires one
  };
  /// The capabilities requested of a provider, besides reliable messages in order.
  struct Wish {
    std::string provider;  // empty: any
    std::uint64_t capabilities = 0;
    std::uint64_t order = 0;
    std::uint64_t operation_flags = 0;
  };
  struct Slab;
  struct Peer {
    NetworkName name;
    int number = 0;
    Buffer* open = nullptr;  // the packet being filled
    PacketWriter packet;
    std::uint32_t sent = 0;             // number of packets and immediate data sent
    InOrder<Arrival> order;             // of the arrivals from the peer
    SentCodes sent_codes;               // for messages behind our writes
    ReceivedCodes received_codes;       // for messages behind the peer's writes
    std::optional<std::uint32_t> self;  // our number at the peer
    std::uint32_t overtaking = 0;       // number of immediate data since no packet was in flight
    std::deque<Buffer*> backlog;        // closed packets that the provider did not accept
    std::size_t under_way = 0;          // packets
    std::uint64_t bytes_under_way = 0;  // bytes of these packets
    bool injected = false;              // a packet has been injected since an empty packet was sent
    bool listed = false;                // the peer is in open_
    bool ended = false;  // nothing is sent to it any more; arrivals from it are still taken
    bool lost = false;   // arrivals from it are dropped, too

    bool accepts_packets() const { return !ended && !lost; }
  };

  bool choose(std::string& error);
  fi_info* offers(const Wish& wish, int& code) const;
  bool choose_direct();
  Buffer* acquire_buffer();
  bool add_buffers(std::string& error);
  bool post(Buffer& buffer);
  bool open_packet(Peer& peer);
  void close_packet(Peer& peer);
  bool inject(Peer& peer, Buffer& buffer);
  bool hand_over(Peer& peer, Buffer& buffer);
  void collect(Peer& to, std::span<const std::byte> header, std::span<const std::byte> payload,
               std::uint32_t code);
  std::optional<std::uint64_t> immediate_for(Peer& to, std::span<const std::byte> message);
  void push_backlog(Peer& peer);
  void progress();
  void done(Work& work, std::uint64_t bytes, Error error);
  void failed(const struct fi_cq_err_entry& entry);
  bool next_packet();
  bool due(Arrival& arrived);
  Peer* sender_of(const Arrival& arrived, std::uint32_t& sequence);
  void begin(const Arrival& arrived);
  bool next_early();
  void forget(const Arrival& arrived);
  void mark_ended_peers();
  void lose(Peer& gone);
  Peer& peer(int process) { return *peers_[static_cast<std::size_t>(process)]; }

  /// Half of the numbers that InOrder keeps.
  static constexpr std::uint32_t most_overtaking = 256;

  bool direct_ = false;  // the provider has direct transfers
  bool orders_writes_ = false;
  ImmediateFormat immediate_;  // for messages behind writes
  std::uint64_t longest_transfer_ = 0;

  NetworkName name_;
  std::unique_ptr<Lifeline> lifeline_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<int> open_;  // processes with an open packet
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<Buffer*> free_;
  unsigned polls_ = 0;           // number of calls of progress()
  bool polled_ = false;          // receive() has polled the provider since it last returned nothing
  std::deque<Arrival> arrived_;  // arrivals not yet handled
  std::vector<Buffer*> unposted_;
  Buffer* current_ = nullptr;  // the packet whose messages are being taken out
  Peer* sender_ = nullptr;     // the sender of the packet or immediate data handled last
  PacketReader reader_;
  std::span<const std::byte> named_;      // the message that immediate data has named
  std::deque<DirectTransfer> transfers_;  // all that have ever been used
  std::vector<DirectTransfer*> idle_transfers_;
  std::deque<Transfer> finished_;
  std::size_t transfers_under_way_ = 0;
  std::size_t registered_ = 0;
  std::size_t under_way_ = 0;        // packets in flight
  std::size_t backlogged_ = 0;       // packets in all backlogs
  std::uint64_t checked_ended_ = 0;  // nanoseconds
  std::uint64_t delayed_ = 0;        // packets that were backlogged
};

/// Buffers that are registered together.
struct OfiNetwork::Slab {
  std::unique_ptr<std::byte[]> memory;
  fid_mr* registration = nullptr;
  std::array<Buffer, buffers_per_slab> buffers;

  ~Slab() { close_object(registration); }
};

std::unique_ptr<Network> OfiFabric::open_network(std::string& error) {
  auto made = std::make_unique<OfiNetwork>();
  return made->open(error) ? std::move(made) : nullptr;
}

OfiNetwork::~OfiNetwork() {
  close_endpoint();
  for (DirectTransfer& transfer : transfers_) close_object(transfer.registration);
}

bool OfiNetwork::open(std::string& error) {
  library_ = Libfabric::load(error);
  if (library_ == nullptr || !choose(error) || !open_endpoint(error)) return false;
  longest_transfer_ = longest_transfer(*info_);
  if (orders_writes_ && reports_written(*info_, longest_transfer_)) {
    immediate_ = ImmediateFormat(info_->domain_attr->cq_data_size);
  }
  name_.endpoint = own_name_;
  lifeline_ =
      std::make_unique<Lifeline>(std::span(own_name_.address).first(own_name_.address_bytes),
                                 static_cast<int>(setting_int("ORIEL_PEER_TIMEOUT")));
  name_.lifeline = lifeline_->name();
  for (std::size_t i = 0; i < posted_receives; ++i) {
    Buffer* buffer = acquire_buffer();
    if (buffer == nullptr || !post(*buffer)) {
      error = "the provider took no buffers to receive into";
      return false;
    }
  }
  return true;
}

fi_info* OfiNetwork::offers(const Wish& wish, int& code) const {
  fi_info* hints = library_->dupinfo(nullptr);
  hints->caps = FI_MSG | wish.capabilities;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS | wish.order;
  hints->tx_attr->op_flags = wish.operation_flags;
  return best_offer(hints, wish.provider, code);
}

bool OfiNetwork::choose_direct() {
  int code = 0;
  // libfabric lists the fastest provider first. Its speed matters more than its capabilities.
  fi_info* fastest = offers({setting_text("ORIEL_OFI_PROVIDER"), FI_RMA, 0, 0}, code);
  if (fastest == nullptr) return false;
  const std::string provider = fastest->fabric_attr->prov_name;
  library_->freeinfo(fastest);
  info_ = offers({provider, FI_RMA, FI_ORDER_SAW | FI_ORDER_WAW, 0}, code);
  if (info_ == nullptr) info_ = offers({provider, FI_RMA, FI_ORDER_SAW, 0}, code);
  orders_writes_ = info_ != nullptr;
  if (orders_writes_) return true;
  info_ = offers({provider, FI_RMA, 0, FI_DELIVERY_COMPLETE}, code);
  if (info_ == nullptr) return false;
  info_->tx_attr->op_flags = 0;  // transfer() sets the flag for writes only
  return true;
}

bool OfiNetwork::choose(std::string& error) {
  direct_ = setting_bool("ORIEL_OFI_DIRECT") && choose_direct();
  if (direct_) return true;
  int code = 0;
  const std::string wanted = setting_text("ORIEL_OFI_PROVIDER");
  info_ = offers({wanted, 0, 0, 0}, code);
  if (info_ != nullptr) return true;
  error = "libfabric (" + library_->path + ") offers no provider " +
          (!wanted.empty() ? "named " + wanted + " " : std::string()) +
          "with reliable messages that reaches other nodes" +
          (code != 0 ? ": " + library_->describe(code) : std::string()) +
          "; `fi_info -t FI_EP_RDM` lists what there is, ORIEL_OFI_PROVIDER chooses";
  return false;
}

bool OfiNetwork::add_buffers(std::string& error) {
  auto slab = std::make_unique<Slab>();
  slab->memory.reset(new std::byte[packet_bytes * buffers_per_slab]);
  void* descriptor = nullptr;
  if (local_registration_) {
    const int code = register_memory(slab->memory.get(), packet_bytes * buffers_per_slab,
                                     FI_SEND | FI_RECV, slab->registration);
    if (code != 0) return fail(error, "to register memory", code);
    descriptor = fi_mr_desc(slab->registration);
  }
  for (std::size_t i = 0; i < buffers_per_slab; ++i) {
    Buffer& buffer = slab->buffers[i];
    buffer.data = slab->memory.get() + i * packet_bytes;
    buffer.descriptor = descriptor;
    free_.push_back(&buffer);
  }
  slabs_.push_back(std::move(slab));
  return true;
}

OfiNetwork::Buffer* OfiNetwork::acquire_buffer() {
  std::string error;
  if (free_.empty() && !add_buffers(error)) return nullptr;
  Buffer* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

bool OfiNetwork::post(Buffer& buffer) {
  buffer.kind = Work::Kind::receive;
  const ssize_t code = fi_recv(endpoint_, buffer.data, packet_bytes, buffer.descriptor,
                               FI_ADDR_UNSPEC, &buffer.context);
  if (code == 0) return true;
  if (code == -FI_EAGAIN) {
    unposted_.push_back(&buffer);
    return true;
  }
  return false;
}

std::string OfiNetwork::description() const {
  const std::uint32_t version = library_->version();
  return std::string(info_->fabric_attr->prov_name) + " of libfabric " +
         std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version)) + " (" +
         library_->path + "), " + (direct_ ? "with" : "without") + " direct transfers, " +
         std::to_string(info_->domain_attr->cq_data_size) + " bytes of immediate data" +
         (direct_ && !immediate_.usable() ? " (not used)" : "");
}

int OfiNetwork::attach(const NetworkName& name, std::string& error) {
  const int number = attach_endpoint(name.endpoint, error);
  if (number != static_cast<int>(peers_.size())) return number;
  auto added = std::make_unique<Peer>();
  added->name = name;
  added->number = number;
  peers_.push_back(std::move(added));
  return number;
}

void OfiNetwork::send(int process, std::span<const std::byte> header,
                      std::span<const std::byte> payload) {
  Peer& to = peer(process);
  // If the process has ended, alive() reports that to the caller that waits.
  if (to.accepts_packets()) collect(to, header, payload, 0);
}

void OfiNetwork::collect(Peer& to, std::span<const std::byte> header,
                         std::span<const std::byte> payload, std::uint32_t code) {
  if (to.open != nullptr && !to.packet.fits(header.size() + payload.size())) close_packet(to);
  if (to.open == nullptr && !open_packet(to)) {
    lose(to);
    return;
  }
  if (!to.listed) open_.push_back(to.number);
  to.listed = true;
  to.packet.add(header, payload, code);
}

bool OfiNetwork::open_packet(Peer& to) {
  to.open = acquire_buffer();
  if (to.open == nullptr) return false;
  to.packet = PacketWriter(std::span(to.open->data, packet_bytes));
  return true;
}

void OfiNetwork::close_packet(Peer& to) {
  Buffer& buffer = *to.open;
  to.open = nullptr;
  if (!to.accepts_packets()) {  // the peer may have been lost since the packet was opened
    free_.push_back(&buffer);
    return;
  }
  const bool empty = to.packet.empty();
  const auto number = static_cast<std::uint32_t>(to.number);
  buffer.bytes = to.packet.close(own_name_.id, ++to.sent, number).size();
  buffer.kind = Work::Kind::send;
  buffer.process = to.number;
  if (to.backlog.empty() && ((!empty && inject(to, buffer)) || hand_over(to, buffer))) return;
  to.backlog.push_back(&buffer);
  ++backlogged_;
  ++delayed_;
}

bool OfiNetwork::inject(Peer& to, Buffer& buffer) {
  if (buffer.bytes > info_->tx_attr->inject_size ||
      fi_inject(endpoint_, buffer.data, buffer.bytes, address_of(to.number)) != 0) {
    return false;
  }
  free_.push_back(&buffer);
  to.injected = true;
  return true;
}

bool OfiNetwork::hand_over(Peer& to, Buffer& buffer) {
  const ssize_t code = fi_send(endpoint_, buffer.data, buffer.bytes, buffer.descriptor,
                               address_of(to.number), &buffer.context);
  if (code == -FI_EAGAIN) return false;
  if (code != 0) {
    lose(to);
    free_.push_back(&buffer);
    return true;
  }
  ++under_way_;
  ++to.under_way;
  to.bytes_under_way += buffer.bytes;
  return true;
}

bool OfiNetwork::drained() {
  for (const auto& to : peers_) {
    // No completion is reported for injected packets, but one is for an empty packet behind them.
    const bool injected = std::exchange(to->injected, false);
    if (!injected || !to->accepts_packets() || to->open != nullptr) continue;
    if (open_packet(*to)) close_packet(*to);
  }
  if (backlogged_ == 0) {
    checked_ended_ = 0;
  } else {
    mark_ended_peers();
  }
  return open_.empty() && under_way_ == 0 && backlogged_ == 0;
}

/// A peer may end after its last message. The provider then retries forever. Nothing is sent to
/// that peer any more, but its packets may not have been read yet.
void OfiNetwork::mark_ended_peers() {
  const std::uint64_t now = nanoseconds_now();
  if (checked_ended_ == 0) checked_ended_ = now;
  if (now - checked_ended_ < peer_check_interval) return;
  checked_ended_ = now;
  for (const auto& to : peers_) {
    if (to->backlog.empty() || lifeline_->alive(to->name.lifeline)) continue;
    to->ended = true;
    push_backlog(*to);
  }
}

void OfiNetwork::push_backlog(Peer& to) {
  while (!to.backlog.empty()) {
    if (to.accepts_packets() && !hand_over(to, *to.backlog.front())) return;
    if (!to.accepts_packets()) free_.push_back(to.backlog.front());
    to.backlog.pop_front();
    --backlogged_;
  }
}

void OfiNetwork::push() {
  for (const int process : open_) {
    Peer& to = peer(process);
    to.listed = false;
    if (to.open != nullptr) close_packet(to);
  }
  open_.clear();
}

bool OfiNetwork::congested(int process) const {
  const Peer& to = *peers_[static_cast<std::size_t>(process)];
  return !to.backlog.empty() || to.under_way >= most_under_way ||
         to.bytes_under_way >= most_bytes_under_way;
}

void OfiNetwork::progress() {
  // A rank that waits also passes on losses that are reported to it. Most calls of Lifeline::poll()
  // only read the clock.
  if (++polls_ % steps::polls_per_host_interval == 0) lifeline_->poll();
  std::array<fi_cq_data_entry, most_completions> entries;
  const ssize_t count = fi_cq_read(completions_, entries.data(), entries.size());
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry entry{};
    if (fi_cq_readerr(completions_, &entry, 0) > 0) failed(entry);
  }
  for (ssize_t i = 0; i < count; ++i) {
    const fi_cq_data_entry& entry = entries[static_cast<std::size_t>(i)];
    // The flag alone is not enough: the provider sockets also sets it at the origin, when our write
    // is over. Completions of other processes' writes have no context, because FI_RX_CQ_DATA is not
    // used.
    if (entry.op_context != nullptr) {
      done(*static_cast<Work*>(entry.op_context), entry.len, Error::none);
    } else if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
      arrived_.push_back({nullptr, entry.data});
    }
  }
  for (std::size_t i = unposted_.size(); i > 0; --i) {
    Buffer* buffer = unposted_.back();
    unposted_.pop_back();
    if (!post(*buffer) || unposted_.size() >= i) break;
  }
  if (backlogged_ == 0) return;
  for (const auto& to : peers_) push_backlog(*to);
}

void OfiNetwork::done(Work& work, std::uint64_t bytes, Error error) {
  if (error != Error::none && work.process >= 0 && work.kind != Work::Kind::receive) {
    lose(peer(work.process));
  }
  switch (work.kind) {
    case Work::Kind::receive:
      work.bytes = bytes;
      arrived_.push_back({static_cast<Buffer*>(&work)});
      break;
    case Work::Kind::send: {
      Peer& to = peer(work.process);
      --under_way_;
      --to.under_way;
      to.bytes_under_way -= work.bytes;
      free_.push_back(static_cast<Buffer*>(&work));
      break;
    }
    case Work::Kind::transfer: {
      auto& direct = static_cast<DirectTransfer&>(work);
      close_object(direct.registration);
      --transfers_under_way_;
      finished_.push_back({direct.token, direct.bytes, error});
      idle_transfers_.push_back(&direct);
      break;
    }
  }
}

void OfiNetwork::failed(const fi_cq_err_entry& entry) {
  auto* work = static_cast<Work*>(entry.op_context);
  if (work == nullptr) return;
  if (work->kind != Work::Kind::receive) return done(*work, 0, Error::peer_lost);
  // The packet was too long, for example: the buffer is posted for the next packet, unless the
  // endpoint is being closed (FI_ECANCELED).
  if (entry.err != FI_ECANCELED) post(*static_cast<Buffer*>(work));
}

/// Immediate data that stand for the message: its code, and the next number in our order to the
/// process. Nothing if the message must be sent in a packet. That is also the case if many
/// immediate data have been sent while earlier packets may not have arrived, because the receiver
/// can restore the order of a limited number only.
std::optional<std::uint64_t> OfiNetwork::immediate_for(Peer& to,
                                                       std::span<const std::byte> message) {
  if (!immediate_.usable() || !to.self || !immediate_.names(*to.self) ||
      !SentCodes::fits(message)) {
    return std::nullopt;
  }
  const SentCodes::Code code = to.sent_codes.code_of(message);
  if (!code.known) collect(to, message, {}, code.number);
  // The packet's number comes before that of the immediate data.
  if (to.open != nullptr) close_packet(to);
  if (to.under_way == 0 && to.backlog.empty()) to.overtaking = 0;
  if (!to.backlog.empty() || ++to.overtaking > most_overtaking) return std::nullopt;
  return immediate_.pack({*to.self, to.sent + 1, code.number});
}

std::uint64_t OfiNetwork::transfer(int process, bool write, std::span<const TransferRun> runs,
                                   std::uint64_t key, std::uint64_t token, Behind* behind) {
  Peer& to = peer(process);
  if (transfers_under_way_ >= most_transfers) return 0;
  if (idle_transfers_.empty()) idle_transfers_.push_back(&transfers_.emplace_back());
  DirectTransfer& direct = *idle_transfers_.back();
  direct.kind = Work::Kind::transfer;
  direct.process = process;
  direct.token = token;
  direct.bytes = 0;
  std::array<iovec, Messages::most_runs> here;
  std::array<fi_rma_iov, Messages::most_runs> there;
  std::array<void*, Messages::most_runs> descriptors{};
  const std::size_t most = std::min(
      {runs.size(), Messages::most_runs, info_->tx_attr->iov_limit, info_->tx_attr->rma_iov_limit});
  std::size_t count = 0;
  std::uint64_t cut = 0;  // bytes of the last run that are left over
  for (; count < most && direct.bytes < longest_transfer_; ++count) {
    const TransferRun& run = runs[count];
    const std::uint64_t bytes = std::min(run.bytes, longest_transfer_ - direct.bytes);
    here[count] = {run.local, bytes};
    there[count] = {run.remote, bytes, key};
    direct.bytes += bytes;
    cut = run.bytes - bytes;
  }
  if (count < runs.size() || cut != 0) behind = nullptr;
  const auto give_up = [&](Error error) {
    finished_.push_back({token, direct.bytes, error});
    return direct.bytes;
  };
  if (!to.accepts_packets()) return give_up(Error::peer_lost);
  if (local_registration_) {
    // For this transfer only: providers that require it cache recent registrations.
    const auto [begin, end] = extent_of(runs.first(count));
    if (register_memory(begin, static_cast<std::uint64_t>(end - begin), write ? FI_WRITE : FI_READ,
                        direct.registration) != 0) {
      return give_up(Error::system);
    }
    descriptors.fill(fi_mr_desc(direct.registration));
  }
  const auto immediate = behind == nullptr ? std::nullopt : immediate_for(to, behind->message);
  const fi_msg_rma message{here.data(),           descriptors.data(),   count,
                           address_of(to.number), there.data(),         count,
                           &direct.context,       immediate.value_or(0)};
  const std::uint64_t flags = FI_COMPLETION | (orders_writes_ ? 0 : FI_DELIVERY_COMPLETE) |
                              (immediate ? FI_REMOTE_CQ_DATA : 0);
  const ssize_t code = write ? fi_writemsg(endpoint_, &message, flags)
                             : fi_readmsg(endpoint_, &message, FI_COMPLETION);
  if (code == 0) {
    idle_transfers_.pop_back();
    ++transfers_under_way_;
    if (immediate) {
      ++to.sent;
      behind->went = true;
    }
    return direct.bytes;
  }
  close_object(direct.registration);
  if (code == -FI_EAGAIN) return 0;
  lose(to);
  return give_up(Error::peer_lost);
}

bool OfiNetwork::finished(Transfer& transfer) {
  if (finished_.empty()) return false;
  transfer = finished_.front();
  finished_.pop_front();
  return true;
}

int OfiNetwork::expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) {
  return direct_ && bytes != 0
             ? expose_memory(memory, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, exposed)
             : -1;
}

/// Registers for the requested access only, because memory that the program only reads may be
/// read-only.
int OfiNetwork::register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                                RemoteMemory& registered) {
  if (!direct_) return -1;
  const int registration =
      expose_memory(memory, bytes, to_be_written ? FI_REMOTE_WRITE : FI_REMOTE_READ, registered);
  if (registration >= 0) ++registered_;
  return registration;
}

void OfiNetwork::deregister_buffer(int registration) {
  withdraw_memory(registration);
  --registered_;
}

bool OfiNetwork::next_packet() {
  if (current_ != nullptr) post(*std::exchange(current_, nullptr));
  if (next_early()) return true;
  if (arrived_.empty() && !polled_) progress();
  // Polling takes a system call or two, so arrivals are answered before the next poll.
  polled_ = false;
  while (!polled_ && !arrived_.empty()) {
    Arrival arrived = arrived_.front();
    arrived_.pop_front();
    polled_ = due(arrived);
  }
  return polled_;
}

/// The sender of an arrival, and its number in the sender's order. Null: not of this job.
OfiNetwork::Peer* OfiNetwork::sender_of(const Arrival& arrived, std::uint32_t& sequence) {
  if (arrived.packet == nullptr) {
    const ImmediateData data = immediate_.unpack(arrived.data);
    if (!immediate_.usable() || data.sender >= peers_.size()) return nullptr;
    Peer& from = *peers_[data.sender];
    sequence = immediate_.sequence_after(from.order.taken(), data.sequence);
    return &from;
  }
  const PacketReader packet({arrived.packet->data, arrived.packet->bytes});
  const int from = packet.valid() ? number_of(packet.source()) : -1;
  sequence = packet.sequence();
  return from >= 0 ? &peer(from) : nullptr;
}

/// Begins to handle an arrival if it is its sender's next one. Returns whether it has begun.
bool OfiNetwork::due(Arrival& arrived) {
  std::uint32_t sequence = 0;
  if (Peer* from = sender_of(arrived, sequence)) {
    sender_ = from;
    switch (from->lost ? InOrder<Arrival>::Turn::never : from->order.offer(sequence, arrived)) {
      case InOrder<Arrival>::Turn::now:
        begin(arrived);
        return true;
      case InOrder<Arrival>::Turn::later:
        return false;
      case InOrder<Arrival>::Turn::never:
        break;
    }
  }
  // Not of this job, or a number that has been received already or is invalid.
  forget(arrived);
  return false;
}

void OfiNetwork::begin(const Arrival& arrived) {
  if (arrived.packet == nullptr) {
    named_ = sender_->received_codes.message(immediate_.unpack(arrived.data).code);
    return;
  }
  current_ = arrived.packet;
  reader_ = PacketReader({current_->data, current_->bytes});
  sender_->self = reader_.receiver();
}

void OfiNetwork::forget(const Arrival& arrived) {
  if (arrived.packet != nullptr) post(*arrived.packet);
}

/// Begins to handle a kept arrival if it is now its sender's next one.
bool OfiNetwork::next_early() {
  if (sender_ == nullptr) return false;
  const auto next = sender_->order.next();
  if (next) begin(*next);
  return next.has_value();
}

std::span<const std::byte> OfiNetwork::receive() {
  while (true) {
    if (const auto named = std::exchange(named_, {}); !named.empty()) return named;
    if (const auto message = reader_.next(); !message.empty()) {
      if (reader_.code() == 0) return message;
      sender_->received_codes.keep(reader_.code(), message);
    } else if (!next_packet()) {
      return {};
    }
  }
}

/// Marks a peer as lost, and drops its arrivals that wait for their turn.
void OfiNetwork::lose(Peer& gone) {
  gone.lost = true;
  for (const Arrival& early : gone.order.drop()) forget(early);
}

bool OfiNetwork::alive(int process) {
  Peer& asked = peer(process);
  if (!asked.lost && !lifeline_->alive(asked.name.lifeline)) lose(asked);
  return !asked.lost;
}

}  // namespace oriel
