// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "domain.hpp"
#include "link.hpp"
#include "peer.hpp"
#include "queue.hpp"
#include "receives.hpp"
#include "segment.hpp"
#include "vector.hpp"

namespace card {

/// What counters and completion flags tell apart.
enum class Counted : std::uint8_t { send, receive, write, read };
constexpr std::size_t counted_kinds = 4;

/// An operation that is over at a known time.
struct Completion {
  std::uint64_t due = 0;
  std::uint64_t number = 0;  // in the order in which the operations have begun
  Counted counted = Counted::send;
  bool told = false;  // in a queue
  Event event;
};

/// A message that leaves.
struct Outgoing {
  Kind kind = Kind::message;
  Vector bytes;
  fi_addr_t target = FI_ADDR_UNSPEC;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::uint64_t flags = 0;
  void* context = nullptr;
};

class Endpoint : public fid_ep {
 public:
  static int open(fid_domain* domain, fi_info* info, fid_ep** made, void* context);

  /// Tells of what is over, and takes in what has arrived.
  void progress();
  /// Returns whether nothing is under way, and asks to be woken by the next arrival.
  bool may_wait();

  ssize_t send(const Outgoing& message);
  ssize_t receive(Kind kind, const Receive& posted);
  ssize_t look_for(const Receive& wanted);

  /// The peer with this address, or null.
  Peer* peer(fi_addr_t address) const { return addresses_->peer(address); }
  bool full() const { return completions_.size() + fetched_.size() >= most_under_way; }
  Link& link() { return link_; }
  const Address& address() const { return domain_->address(); }
  std::uint64_t transmit_flags() const { return transmit_flags_; }
  std::uint64_t receive_flags() const { return receive_flags_; }
  /// Ends an operation at `due`. An error is told whatever the flags are.
  void finish(std::uint64_t due, Counted counted, std::uint64_t flags, const Event& event);

 private:
  static constexpr std::size_t most_under_way = 1024;

  /// A message that its receiver has to fetch.
  struct Fetched {
    std::uint32_t slot;
    std::uint64_t flags;
    Event event;
    std::vector<std::byte> copy;
  };
  struct Later {
    bool operator()(const Completion& left, const Completion& right) const {
      return left.due != right.due ? left.due > right.due : left.number > right.number;
    }
  };

  Endpoint(Domain& domain, const fi_info& info, void* context);
  ~Endpoint();
  ssize_t send_to_be_fetched(Peer& peer, const Outgoing& message, Event& event);
  Queue* queue(Counted counted) const {
    return counted == Counted::receive ? receive_queue_ : transmit_queue_;
  }
  void tell(const Completion& completion);
  void take_arrivals();
  bool waits_behind_late(const Header& header) const;
  void take_late();
  void accept(const Header& header, const std::byte* payload);
  void deliver(Receive& receive, const Header& header, const std::byte* payload);
  int bind(fid_t object, std::uint64_t flags);
  ssize_t cancel(void* context);

  static int close(fid_t object);
  static int bind_object(fid_t object, fid_t other, std::uint64_t flags);
  static int control(fid_t object, int command, void* argument);
  static ssize_t cancel_operation(fid_t object, void* context);
  static int get_option(fid_t object, int level, int name, void* value, std::size_t* bytes);
  static int set_option(fid_t object, int level, int name, const void* value, std::size_t bytes);
  static int get_name(fid_t object, void* address, std::size_t* bytes);

  static fi_ops objects_;
  static fi_ops_ep options_;
  static fi_ops_cm names_;

  Domain* domain_;
  AddressVector* addresses_ = nullptr;
  Queue* transmit_queue_ = nullptr;
  Queue* receive_queue_ = nullptr;
  bool selects_transmits_ = false;
  bool selects_receives_ = false;
  std::uint64_t transmit_flags_ = 0;
  std::uint64_t receive_flags_ = 0;
  std::array<Counter*, counted_kinds> counters_{};
  std::size_t least_room_ = 64;  // of a buffer for several messages

  Link link_;
  std::uint64_t begun_ = 0;
  std::priority_queue<Completion, std::vector<Completion>, Later> completions_;
  std::vector<Fetched> fetched_;
  std::vector<bool> slots_ = std::vector<bool>(Segment::most_fetched);
  Receives messages_;
  Receives tagged_;
  std::deque<Message> late_;
};

extern fi_ops_msg messages;
extern fi_ops_tagged tagged_messages;
extern fi_ops_rma transfers;
extern fi_ops_atomic atomics;

inline Endpoint& endpoint_of(fid_ep* object) {
  return *static_cast<Endpoint*>(object);
}

}  // namespace card
