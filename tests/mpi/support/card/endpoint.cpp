// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "refuse.hpp"
#include "settings.hpp"

namespace card {

fi_ops Endpoint::objects_{
    sizeof(fi_ops), Endpoint::close, Endpoint::bind_object, Endpoint::control, refuse,
    refuse,         refuse};
fi_ops_ep Endpoint::options_{sizeof(fi_ops_ep),
                             Endpoint::cancel_operation,
                             Endpoint::get_option,
                             Endpoint::set_option,
                             refuse,
                             refuse,
                             refuse,
                             refuse};
fi_ops_cm Endpoint::names_{sizeof(fi_ops_cm),
                           refuse,
                           Endpoint::get_name,
                           refuse,
                           refuse,
                           refuse,
                           refuse,
                           refuse,
                           refuse,
                           refuse};

Endpoint::Endpoint(Domain& domain, const fi_info& info, void* context)
    : domain_(&domain),
      transmit_flags_(info.tx_attr != nullptr ? info.tx_attr->op_flags : 0),
      receive_flags_(info.rx_attr != nullptr ? info.rx_attr->op_flags : 0) {
  fid = {FI_CLASS_EP, context, &objects_};
  ops = &options_;
  cm = &names_;
  msg = &messages;
  rma = &transfers;
  tagged = &tagged_messages;
  atomic = &atomics;
  collective = nullptr;
}

Endpoint::~Endpoint() {
  if (transmit_queue_ != nullptr) transmit_queue_->remove(*this);
  if (receive_queue_ != nullptr && receive_queue_ != transmit_queue_) {
    receive_queue_->remove(*this);
  }
  for (Counter* counter : counters_) {
    if (counter != nullptr) counter->remove(*this);
  }
  domain_->free_endpoint();
}

int Endpoint::open(fid_domain* domain, fi_info* info, fid_ep** made, void* context) {
  auto& owner = *static_cast<Domain*>(domain);
  if (!owner.take_endpoint()) return -FI_ENOSPC;
  *made = new Endpoint(owner, *info, context);
  return 0;
}

int Endpoint::close(fid_t object) {
  delete reinterpret_cast<Endpoint*>(object);
  return 0;
}

int Endpoint::bind_object(fid_t object, fid_t other, std::uint64_t flags) {
  return reinterpret_cast<Endpoint*>(object)->bind(other, flags);
}

int Endpoint::bind(fid_t object, std::uint64_t flags) {
  if (object->fclass == FI_CLASS_AV) {
    addresses_ = reinterpret_cast<AddressVector*>(object);
    return 0;
  }
  if (object->fclass == FI_CLASS_CQ) {
    auto* bound = reinterpret_cast<Queue*>(object);
    const bool selects = (flags & FI_SELECTIVE_COMPLETION) != 0;
    if (bound != transmit_queue_ && bound != receive_queue_) bound->add(*this);
    if ((flags & FI_TRANSMIT) != 0) {
      transmit_queue_ = bound;
      selects_transmits_ = selects;
    }
    if ((flags & FI_RECV) != 0) {
      receive_queue_ = bound;
      selects_receives_ = selects;
      domain_->segment().wake_up = bound->wait_descriptor() + 1;
    }
    return 0;
  }
  if (object->fclass != FI_CLASS_CNTR) return -FI_EINVAL;
  auto* bound = reinterpret_cast<Counter*>(object);
  bound->add(*this);
  constexpr std::array<std::uint64_t, counted_kinds> kinds{FI_SEND, FI_RECV, FI_WRITE, FI_READ};
  for (std::size_t i = 0; i < counted_kinds; ++i) {
    if ((flags & kinds[i]) != 0) counters_[i] = bound;
  }
  return 0;
}

int Endpoint::control(fid_t object, int command, void* argument) {
  auto* of = reinterpret_cast<Endpoint*>(object);
  if (command == FI_ENABLE) return of->addresses_ != nullptr ? 0 : -FI_ENOAV;
  if (command == FI_GETWAIT && of->receive_queue_ != nullptr) {
    *static_cast<int*>(argument) = of->receive_queue_->wait_descriptor();
    return 0;
  }
  return -FI_ENOSYS;
}

int Endpoint::get_option(fid_t object, int /*level*/, int name, void* value, std::size_t* bytes) {
  if (name != FI_OPT_MIN_MULTI_RECV || *bytes < sizeof(std::size_t)) return -FI_ENOPROTOOPT;
  std::memcpy(value, &reinterpret_cast<Endpoint*>(object)->least_room_, sizeof(std::size_t));
  return 0;
}

int Endpoint::set_option(fid_t object, int /*level*/, int name, const void* value,
                         std::size_t bytes) {
  if (name != FI_OPT_MIN_MULTI_RECV || bytes != sizeof(std::size_t)) return -FI_ENOPROTOOPT;
  std::memcpy(&reinterpret_cast<Endpoint*>(object)->least_room_, value, bytes);
  return 0;
}

int Endpoint::get_name(fid_t object, void* address, std::size_t* bytes) {
  const Address& own = reinterpret_cast<Endpoint*>(object)->address();
  const std::size_t room = std::exchange(*bytes, sizeof own);
  if (room < sizeof own) return -FI_ETOOSMALL;
  std::memcpy(address, &own, sizeof own);
  return 0;
}

ssize_t Endpoint::cancel_operation(fid_t object, void* context) {
  return reinterpret_cast<Endpoint*>(object)->cancel(context);
}

ssize_t Endpoint::cancel(void* context) {
  for (Receives* receives : {&messages_, &tagged_}) {
    const auto found = std::ranges::find(receives->posted, context, &Receive::context);
    if (found == receives->posted.end()) continue;
    Event event;
    event.entry.op_context = context;
    event.entry.flags = FI_RECV | (receives == &tagged_ ? FI_TAGGED : FI_MSG);
    event.error = FI_ECANCELED;
    receives->posted.erase(found);
    finish(0, Counted::receive, FI_COMPLETION, event);
    return 0;
  }
  return -FI_ENOENT;
}

void Endpoint::finish(std::uint64_t due, Counted counted, std::uint64_t flags, const Event& event) {
  const bool selects = counted == Counted::receive ? selects_receives_ : selects_transmits_;
  const bool told =
      event.error != 0 || (flags & FI_COMPLETION) != 0 || (!selects && (flags & FI_INJECT) == 0);
  completions_.push({due, ++begun_, counted, told, event});
}

void Endpoint::tell(const Completion& completion) {
  const bool failed = completion.event.error != 0;
  Counter* counter = counters_[static_cast<std::size_t>(completion.counted)];
  if (counter != nullptr) counter->count(failed);
  Queue* into = queue(completion.counted);
  if (completion.told && into != nullptr) into->push(completion.event);
}

void Endpoint::progress() {
  take_late();
  take_arrivals();
  for (std::size_t i = 0; i < fetched_.size();) {
    std::atomic<std::uint64_t>& time = domain_->segment().fetched[fetched_[i].slot];
    const std::uint64_t due = time.exchange(0, std::memory_order_acquire);
    if (due == 0) {
      ++i;
      continue;
    }
    slots_[fetched_[i].slot] = false;
    finish(due, Counted::send, fetched_[i].flags, fetched_[i].event);
    fetched_.erase(fetched_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (completions_.empty()) return;
  const std::uint64_t time = now();
  while (!completions_.empty() && completions_.top().due <= time) {
    const Completion completion = completions_.top();
    completions_.pop();
    tell(completion);
  }
}

bool Endpoint::may_wait() {
  if (!completions_.empty() || !fetched_.empty() || !late_.empty()) return false;
  Segment& segment = domain_->segment();
  segment.sleeping.store(1);
  // Pairs with the fence of Peer::put(): one of the two sees what the other has stored.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (segment.ring.empty()) return true;
  segment.sleeping.store(0);
  return false;
}

bool Endpoint::waits_behind_late(const Header& header) const {
  return std::ranges::any_of(
      late_, [&](const Message& early) { return early.header.origin.id == header.origin.id; });
}

void Endpoint::take_arrivals() {
  Ring& ring = domain_->segment().ring;
  while (const Header* header = ring.front()) {
    const auto* payload = reinterpret_cast<const std::byte*>(header) + sizeof *header;
    const std::uint64_t time = now();
    if (header->due > time + 2 * latency() || waits_behind_late(*header)) {
      late_.emplace_back(*header, payload);
    } else if (header->due > time) {
      return;
    } else {
      accept(*header, payload);
    }
    ring.pop();
  }
}

void Endpoint::take_late() {
  if (late_.empty()) return;
  const std::uint64_t time = now();
  std::vector<std::uint64_t> waiting;  // origins
  for (auto each = late_.begin(); each != late_.end();) {
    const std::uint64_t origin = each->header.origin.id;
    if (each->header.due > time || std::ranges::find(waiting, origin) != waiting.end()) {
      waiting.push_back(origin);
      ++each;
      continue;
    }
    const Message message = std::move(*each);
    each = late_.erase(each);
    accept(message.header, message.payload.data());
  }
}

void Endpoint::accept(const Header& header, const std::byte* payload) {
  if (header.kind == Kind::written) {
    Event event;
    event.entry.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
    event.entry.len = header.length;
    event.entry.data = header.data;
    event.source = addresses_->find(header.origin.id);
    if (receive_queue_ != nullptr) receive_queue_->push(event);
    return;
  }
  Receives& receives = header.kind == Kind::tagged ? tagged_ : messages_;
  const auto found = receives.find_receive(header);
  if (found == receives.posted.end()) {
    receives.unexpected.emplace_back(header, payload);
    return;
  }
  deliver(*found, header, payload);
  const bool kept = (found->flags & FI_MULTI_RECV) != 0;
  if (!kept) receives.posted.erase(found);
}

/// Takes the flag for several messages from a receive whose buffer has no more room.
void Endpoint::deliver(Receive& receive, const Header& header, const std::byte* payload) {
  const bool several = (receive.flags & FI_MULTI_RECV) != 0;
  const Vector room = receive.room.part(receive.used, header.length);
  const std::size_t length = room.bytes();
  std::uint64_t due = 0;
  Event event;
  event.entry.op_context = receive.context;
  event.entry.flags = FI_RECV | (header.kind == Kind::tagged ? FI_TAGGED : FI_MSG) |
                      (header.has_data ? FI_REMOTE_CQ_DATA : 0);
  event.entry.len = length;
  event.entry.buf = room.count != 0
                        ? room.runs[0].iov_base
                        : (receive.room.count != 0 ? receive.room.runs[0].iov_base : nullptr);
  event.entry.data = header.data;
  event.entry.tag = header.tag;
  event.source = addresses_->find(header.origin.id);
  if (length < header.length) {
    event.error = FI_ETRUNC;
    event.missing = header.length - length;
  }
  if (header.fetch == 0) {
    room.copy_from(payload);
  } else if (Peer* origin = Peer::find(header.origin)) {
    const int code = origin->read(room.runs.data(), room.count, header.fetch, length);
    if (code != 0) event.error = -code;
    due = link_.fetched(length);
    origin->segment().fetched[header.slot].store(due, std::memory_order_release);
  } else {
    event.error = FI_ETIMEDOUT;
  }
  if (several) {
    // The program has the buffer again when its last message is told.
    receive.due = due = std::max(receive.due, due);
    receive.used += length;
    if (receive.room.bytes() - receive.used < least_room_) {
      event.entry.flags |= FI_MULTI_RECV;
      receive.flags &= ~FI_MULTI_RECV;
    }
  }
  const std::uint64_t flags = receive.flags | (several ? FI_COMPLETION : 0);
  finish(due, Counted::receive, flags, event);
}

ssize_t Endpoint::receive(Kind kind, const Receive& posted) {
  Receives& receives = kind == Kind::tagged ? tagged_ : messages_;
  Receive receive = posted;
  while (true) {
    const auto found = receives.find_message(receive);
    if (found == receives.unexpected.end()) break;
    const Message message = std::move(*found);
    receives.unexpected.erase(found);
    if ((receive.flags & FI_DISCARD) != 0) receive.room = Vector();
    deliver(receive, message.header, message.payload.data());
    if ((receive.flags & FI_MULTI_RECV) == 0) return 0;
  }
  if ((receive.flags & FI_CLAIM) != 0) return -FI_EINVAL;
  receives.posted.push_back(receive);
  return 0;
}

ssize_t Endpoint::look_for(const Receive& wanted) {
  progress();
  const auto found = tagged_.find_message(wanted);
  Event event;
  event.entry.op_context = wanted.context;
  event.entry.flags = FI_RECV | FI_TAGGED;
  event.entry.tag = wanted.tag;
  if (found == tagged_.unexpected.end()) {
    event.error = FI_ENOMSG;
  } else {
    event.entry.flags |= found->header.has_data ? FI_REMOTE_CQ_DATA : 0;
    event.entry.len = found->header.length;
    event.entry.data = found->header.data;
    event.entry.tag = found->header.tag;
    event.source = addresses_->find(found->header.origin.id);
    if ((wanted.flags & FI_CLAIM) != 0) found->claim = wanted.context;
    if ((wanted.flags & FI_DISCARD) != 0) tagged_.unexpected.erase(found);
  }
  finish(0, Counted::receive, FI_COMPLETION, event);
  return 0;
}

ssize_t Endpoint::send(const Outgoing& message) {
  Peer* to = peer(message.target);
  if (to == nullptr) return -FI_EINVAL;
  if (full()) return -FI_EAGAIN;
  Event event;
  event.entry.op_context = message.context;
  event.entry.flags = FI_SEND | (message.kind == Kind::tagged ? FI_TAGGED : FI_MSG);
  const std::uint64_t length = message.bytes.bytes();
  if (length > Settings::get().eager && (message.flags & FI_INJECT) == 0) {
    return send_to_be_fetched(*to, message, event);
  }
  std::vector<std::byte> gathered;
  const auto* payload = static_cast<const std::byte*>(message.bytes.runs[0].iov_base);
  if (message.bytes.count > 1) {
    gathered.resize(length);
    message.bytes.copy_to(gathered.data());
    payload = gathered.data();
  }
  Link link = link_;
  Header header;
  header.kind = message.kind;
  header.origin = address();
  header.due = link.sent(length);
  header.length = length;
  header.tag = message.tag;
  header.data = message.data;
  header.has_data = (message.flags & FI_REMOTE_CQ_DATA) != 0;
  if (!to->put(header, payload, length)) return -FI_EAGAIN;
  link_ = link;
  finish(header.due + latency(), Counted::send, message.flags, event);
  return 0;
}

ssize_t Endpoint::send_to_be_fetched(Peer& to, const Outgoing& message, Event& event) {
  const auto free = std::ranges::find(slots_, false);
  if (free == slots_.end()) return -FI_EAGAIN;
  Fetched fetched{static_cast<std::uint32_t>(free - slots_.begin()), message.flags, event, {}};
  const std::uint64_t length = message.bytes.bytes();
  Link link = link_;
  Header header;
  header.kind = message.kind;
  header.slot = fetched.slot;
  header.origin = address();
  header.due = link.sent(0);
  header.length = length;
  header.fetch = reinterpret_cast<std::uintptr_t>(message.bytes.runs[0].iov_base);
  header.tag = message.tag;
  header.data = message.data;
  header.has_data = (message.flags & FI_REMOTE_CQ_DATA) != 0;
  if (message.bytes.count > 1) {
    fetched.copy.resize(length);
    message.bytes.copy_to(fetched.copy.data());
    header.fetch = reinterpret_cast<std::uintptr_t>(fetched.copy.data());
  }
  domain_->segment().fetched[fetched.slot].store(0, std::memory_order_relaxed);
  if (!to.put(header, nullptr, 0)) return -FI_EAGAIN;
  link_ = link;
  *free = true;
  fetched_.push_back(std::move(fetched));
  return 0;
}

}  // namespace card
