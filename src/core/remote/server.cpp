// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/server.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/lock/lock_line.hpp"
#include "core/operation/address.hpp"

namespace oriel {
namespace {

// The maximal number of messages of one origin that are held back. No valid origin sends so many
// ahead; the limit bounds the memory that invalid messages can occupy.
constexpr std::size_t most_held = 65536;
constexpr std::uint32_t largest_element = 64;

/// Bytes of the target's memory that the message concerns.
std::uint64_t bytes_of(const Message& message) {
  if (message.kind == MessageKind::rendezvous) return message.count;
  return std::max(message.data, message.fetched);
}

std::uint64_t compare_bytes(const Message& message) {
  return message.operation == OperationKind::compare_and_swap ? message.element : 0;
}

/// Returns whether the fields of the message are consistent.
bool plausible(const Message& message, std::size_t payload) {
  if (message.notifies > NotifyKind::counter || message.notify_number < 0) return false;
  if (message.assembly != Assembly::none &&
      (message.kind != MessageKind::operation || message.assembly > Assembly::complete ||
       !reduces(message.operation) || message.count == 0 ||
       (message.assembly == Assembly::more && message.data == 0))) {
    return false;
  }
  if (message.kind == MessageKind::notify) {
    return payload == 0 && message.notifies != NotifyKind::none && message.gate != Gate::none &&
           message.gate <= Gate::open;
  }
  if (message.kind == MessageKind::rendezvous) {
    return message.gate != Gate::none && message.gate <= Gate::open &&
           payload == sizeof(RemoteMemory) && message.data == payload && message.count != 0 &&
           message.first == 0 && message.layout == 0 &&
           (message.operation == OperationKind::put || message.operation == OperationKind::get);
  }
  if (message.kind != MessageKind::operation) {
    return payload == 0 && message.gate == Gate::lock &&
           (message.exclusive == 0 || message.joins == 0);
  }
  if (message.gate == Gate::none || message.gate > Gate::open ||
      payload != compare_bytes(message) + message.data || message.op > Op::maxloc ||
      message.basic > Basic::other || message.fetched > Message::most_data) {
    return false;
  }
  switch (message.operation) {
    case OperationKind::put:
      return message.fetched == 0;
    case OperationKind::get:
      return message.data == 0;
    case OperationKind::accumulate:
    case OperationKind::get_accumulate:
      return message.element != 0 && message.element <= largest_element &&
             message.data % message.element == 0 && message.fetched % message.element == 0 &&
             (message.data == 0 ? message.op == Op::no_op : message.op != Op::no_op) &&
             (message.operation == OperationKind::accumulate
                  ? message.fetched == 0
                  : message.data == 0 || message.data == message.fetched);
    case OperationKind::compare_and_swap:
      return message.element != 0 && message.element <= 16 && message.data == message.element &&
             message.fetched == message.element && message.layout == 0;
    case OperationKind::acknowledge:
      return message.data == 0 && message.fetched == 0 && message.acknowledge != 0;
  }
  return false;
}

/// Returns whether the sums of the datatype's lengths and offsets cannot overflow.
bool measurable(std::span<const Block> blocks, std::int64_t extent) {
  constexpr std::int64_t far = std::int64_t{1} << 60;
  const auto near = [](std::int64_t distance) { return distance > -far && distance < far; };
  std::uint64_t total = 0;
  for (const Block& block : blocks) {
    if (!near(block.offset) || block.length >= far) return false;
    total += block.length;
    if (total >= far) return false;
  }
  return near(extent);
}

/// Returns whether the bytes of a request lie within `count` elements of the layout.
bool within_elements(const Layout& layout, std::uint64_t count, std::uint64_t first,
                     std::uint64_t bytes) {
  std::uint64_t total = 0;
  return layout.size() != 0 && !__builtin_mul_overflow(count, layout.size(), &total) &&
         within(first, bytes, total);
}

Reduction reduction_of(const Message& message) {
  return {message.op, message.basic, message.element};
}

}  // namespace

Server::Server(SweepWork& work, Peers& peers, Region& region, Messages& messages,
               const Limits& limits, LayoutCaches& layouts, RendezvousTable& rendezvous_table,
               Sender& sender, Notifications& notifications, const WindowEvents& events)
    : work_(work),
      peers_(peers),
      region_(region),
      messages_(messages),
      limits_(limits),
      layouts_(layouts),
      rendezvous_table_(rendezvous_table),
      sender_(sender),
      notifications_(notifications),
      events_(events) {}

/// Rendezvous that are not over have lost their origins.
Server::~Server() {
  for (Rendezvous* one : meeting_) rendezvous_table_.release(*one);
}

bool Server::gate_open(const Message& message) {
  const Peer& origin = peers_[message.origin];
  switch (message.gate) {
    case Gate::none:  // plausible() refuses it
      break;
    case Gate::exposure:
      return origin.exposures >= message.stamp;
    case Gate::fence:
      return fence_opened_ >= message.stamp;
    case Gate::lock:
      return !origin.standing && fence_ended_ >= message.stamp;
    case Gate::open:
      return true;
  }
  return false;
}

bool Server::receive(const Message& message, std::span<const std::byte> payload) {
  if (!plausible(message, payload.size()) ||
      (message.notifies == NotifyKind::counter &&
       !notifications_.counters().mine(message.notify_number))) {
    return false;
  }
  if (message.kind == MessageKind::rendezvous && !region_.member(message.origin).direct) {
    return false;
  }
  Peer& origin = peers_[message.origin];
  LayoutRef layout;
  if (message.layout != 0) {
    layout = layouts_.known[region_.member(message.origin).process].find(message.layout);
    if (!layout) return false;
  }
  // Messages with the gate of a lock are carried out in their order.
  const bool behind =
      message.gate == Gate::lock && origin.held != 0 && !held_[origin.held - 1]->lock.empty();
  if (!behind && gate_open(message)) {
    carry_out(message, payload, layout.get());
    return true;
  }
  if (origin.held == 0) {
    held_.push_back(std::make_unique<Held>());
    early_.push_back(message.origin);
    origin.held = static_cast<std::uint32_t>(held_.size());
  }
  Held& held_back = *held_[origin.held - 1];
  std::deque<HeldMessage>& queue = message.gate == Gate::lock ? held_back.lock : held_back.other;
  if (queue.size() >= most_held) return false;
  queue.push_back({message, std::move(layout), {payload.begin(), payload.end()}});
  ++waiting_;
  return true;
}

void Server::release(int rank) {
  if (waiting_ == 0) return;
  const std::uint32_t number = peers_[rank].held;
  if (number == 0) return;
  Held& held_back = *held_[number - 1];
  // With the reorder keys messages for a later exposure may be in front of those for an earlier
  // one.
  const auto let_go = [this](std::deque<HeldMessage>& queue, std::size_t index) {
    const HeldMessage held = std::move(queue[index]);
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
    --waiting_;
    carry_out(held.message, held.payload, held.layout.get());
  };
  std::deque<HeldMessage>& others = held_back.other;
  for (std::size_t i = 0; i < others.size();) {
    gate_open(others[i].message) ? let_go(others, i) : void(++i);
  }
  std::deque<HeldMessage>& locks = held_back.lock;
  while (!locks.empty() && gate_open(locks.front().message)) let_go(locks, 0);
}

void Server::release_all() {
  if (waiting_ == 0) return;
  for (const int origin : early_) release(origin);
}

void Server::grant(int origin) {
  sender_.send_word(origin, MessageKind::lock_granted, ++peers_[origin].lock_grants);
}

bool Server::sweep() {
  bool moved = sweep_standing();
  for (Rendezvous* one : meeting_) moved |= advance(*one);
  return moved;
}

bool Server::sweep_standing() {
  bool moved = false;
  for (std::size_t i = 0; i < standing_.size();) {
    const int origin = standing_[i];
    const LockNode& node = region_.mine().nodes()[origin];
    if (node.state.load(std::memory_order_acquire) == LockNode::waiting) {
      ++i;
      continue;
    }
    standing_[i] = standing_.back();
    standing_.pop_back();
    work_.remove();
    peers_[origin].standing = false;
    grant(origin);
    release(origin);
    moved = true;
  }
  return moved;
}

void Server::carry_out(const Message& message, std::span<const std::byte> payload,
                       const Layout* layout) {
  switch (message.kind) {
    case MessageKind::lock:
      return lock(message);
    case MessageKind::unlock:
      return unlock(message);
    case MessageKind::notify:
      return notify(message);
    case MessageKind::rendezvous: {
      RemoteMemory registered;
      std::memcpy(&registered, payload.data(), sizeof registered);
      return begin(message, registered);
    }
    default:
      return serve(message, payload, layout);
  }
}

void Server::lock(const Message& message) {
  Peer& origin = peers_[message.origin];
  if (origin.holding) return;
  origin.holding = true;
  origin.exclusive = message.exclusive != 0;
  if (region_.lock_line(region_.rank())
          .acquire(message.origin, origin.exclusive, message.joins != 0)) {
    return grant(message.origin);
  }
  origin.standing = true;
  standing_.push_back(message.origin);
  work_.add();
}

void Server::unlock(const Message& message) {
  Peer& origin = peers_[message.origin];
  if (!origin.holding) return;
  origin.holding = false;
  region_.release_lock(region_.rank(), message.origin, origin.exclusive);
  if (message.acknowledge != 0) reply_to(message, Error::none);
}

/// Checks whether the whole operation can be carried out. Sets `start` to the address of its
/// displacement and `memory` to the memory that contains it.
Error Server::check_request(const Request& request, Member& memory, std::byte*& start) {
  const Message& message = request.message;
  if (reduces(message.operation) && !valid(reduction_of(message))) return Error::operation;
  const HandleName handle{message.handle_token, message.handle_slot};
  // Without a layout the offset is that of this message, not of the operation.
  const auto offset = static_cast<std::int64_t>(
      request.layout != nullptr ? message.offset : message.offset - message.first + request.first);
  memory = self();
  if (!region_.dynamic()) {
    if (handle.given()) return Error::range;
  } else if (handle.given()) {
    if (region_.find_handle(region_.rank(), handle, memory) == nullptr) return Error::range;
  } else {
    memory.base = nullptr;  // displacements are addresses
    start = at(memory.base, offset);
    if (const Error error = check_pieces(request, memory); error != Error::none) return error;
    return memory.detached ? check_detached(request, start) : Error::none;
  }
  start = at(memory.base, offset);
  return check_window(request, memory.size);
}

/// Checks an operation on memory of `size` bytes.
Error Server::check_window(const Request& request, std::uint64_t size) {
  const Message& message = request.message;
  if (request.layout == nullptr) {
    const std::uint64_t offset = message.offset - message.first + request.first;
    return within(offset, request.bytes, size) ? Error::none : Error::range;
  }
  const auto start = static_cast<std::int64_t>(message.offset);
  return start >= 0 &&
                 within_elements(*request.layout, message.count, request.first, request.bytes) &&
                 request.layout->within(message.count, start, size)
             ? Error::none
             : Error::range;
}

/// Checks the whole operation, of which the message may be a piece, against the pieces.
Error Server::check_pieces(const Request& request, Member& memory) {
  const Message& message = request.message;
  const std::uint64_t element = std::max<std::uint64_t>(message.element, 1);
  if (request.layout == nullptr) {
    if (!within(request.first, request.bytes, message.count)) return Error::range;
    return region_.check_pieces(message.offset - message.first, message.count, element, memory);
  }
  if (!within_elements(*request.layout, message.count, request.first, request.bytes)) {
    return Error::range;
  }
  for (BlockCursor cursor(*request.layout, message.count); !cursor.finished();
       cursor.advance(cursor.run())) {
    const std::uint64_t address = message.offset + static_cast<std::uint64_t>(cursor.offset());
    if (const Error error = region_.check_pieces(address, cursor.run(), element, memory);
        error != Error::none) {
      return error;
    }
  }
  return Error::none;
}

/// Checks that the program has not unmapped the bytes of a request, some of which it has detached.
Error Server::check_detached(const Request& request, std::byte* start) {
  const OperationKind kind = request.message.operation;
  const bool stores = kind != OperationKind::get;
  bool reachable = true;
  if (request.layout == nullptr) {
    reachable = region_.reachable(start, request.bytes, stores);
  } else {
    BlockCursor cursor(*request.layout, request.message.count);
    cursor.skip(request.first);
    for_each_run(cursor, request.bytes, [&](std::int64_t offset, std::uint64_t run) {
      reachable = reachable && region_.reachable(at(start, offset), run, stores);
    });
  }
  if (!reachable) return Error::range;
  if (request.first == 0) {
    events_.report(
        {.rank = region_.rank(), .kind = EventKind::detached_accessed, .detail = detail_of(kind)});
  }
  return Error::none;
}

Error Server::serve_run(const Message& message, const Member& memory, std::byte* where,
                        const std::byte* operands, std::byte* fetched, std::uint64_t bytes) {
  switch (message.operation) {
    case OperationKind::put:
      if (memory.detached) {
        return region_.copy_detached(true, where, const_cast<std::byte*>(operands), bytes);
      }
      std::memcpy(where, operands, bytes);
      break;
    case OperationKind::get:
      if (memory.detached) return region_.copy_detached(false, where, fetched, bytes);
      std::memcpy(fetched, where, bytes);
      break;
    case OperationKind::accumulate:
    case OperationKind::get_accumulate:
      return region_.reduce(reduction_of(message), memory, where, operands, fetched,
                            bytes / message.element);
    case OperationKind::compare_and_swap:
      return region_.compare_swap(message.element, memory, where, operands + message.element,
                                  operands, fetched);
    case OperationKind::acknowledge:
      break;
  }
  return Error::none;
}

/// Appends the message's data to the data that its operation's earlier messages have brought.
std::vector<Server::Assembled>::iterator Server::keep(const Message& message,
                                                      std::span<const std::byte> payload) {
  auto kept = std::ranges::find_if(assembled_, [&](const Assembled& one) {
    return one.origin == message.origin && one.token == message.word;
  });
  if (kept == assembled_.end()) {
    kept = assembled_.insert(kept, Assembled{message.origin, message.word, {}});
  }
  kept->data.insert(kept->data.end(), payload.begin(), payload.end());
  return kept;
}

void Server::serve(const Message& message, std::span<const std::byte> payload,
                   const Layout* layout) {
  if (message.assembly == Assembly::none) {
    return serve({message, layout, payload, message.first, bytes_of(message)});
  }
  const auto kept = keep(message, payload);
  if (message.assembly == Assembly::more) return;
  const std::vector<std::byte> data = std::move(kept->data);
  assembled_.erase(kept);
  const std::uint64_t bytes = message.count * (layout == nullptr ? 1 : layout->size());
  serve({message, layout, data, 0, bytes});
}

void Server::serve(const Request& request) {
  // Full fence: the stores of earlier operations are visible before this one loads or stores (Q2).
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Message& message = request.message;
  Member memory;
  std::byte* start = nullptr;
  Error error = check_request(request, memory, start);
  const std::uint64_t bytes = request.bytes;
  // The data must be as long as the operation, also if they were assembled from several messages.
  if (message.data != 0 && request.payload.size() != compare_bytes(message) + bytes) {
    error = first_of(error, Error::range);
  }
  std::span<const std::byte> fetched;
  if (error == Error::none && bytes != 0) {
    const std::byte* operands = message.data != 0 ? request.payload.data() : nullptr;
    if (request.layout == nullptr && message.operation == OperationKind::get && !memory.detached) {
      fetched = {start, bytes};
    } else {
      const std::uint64_t result = message.fetched != 0 ? bytes : 0;
      scratch_.resize(std::max<std::size_t>(scratch_.size(), result));
      std::byte* into = result != 0 ? scratch_.data() : nullptr;
      fetched = {into, result};
      if (request.layout == nullptr) {
        error = serve_run(message, memory, start, operands, into, bytes);
      } else {
        BlockCursor cursor(*request.layout, message.count);
        cursor.skip(request.first);
        if (reduces(message.operation)) {
          error =
              region_.reduce(reduction_of(message), memory, start, cursor, bytes, operands, into);
        } else {
          for_each_run(cursor, bytes, [&](std::int64_t offset, std::uint64_t run) {
            const Error one = serve_run(message, memory, at(start, offset), operands, into, run);
            error = first_of(error, one);
            if (operands != nullptr) operands += run;
            if (into != nullptr) into += run;
          });
        }
      }
    }
  }
  if (message.notifies != NotifyKind::none && error == Error::none) notify(message);
  if (message.acknowledge == 0 && !fetches(message.operation)) {
    // The operation has no reply; the next reply to the origin reports the error.
    Error& first = failed(message.origin, message.gate);
    first = first_of(first, error);
    return;
  }
  if (error != Error::none) fetched = {};
  reply_to(request, error, fetched);
}

/// Sends one reply for each message that the operation would have taken without assembly.
void Server::reply_to(const Request& request, Error error, std::span<const std::byte> fetched) {
  if (request.message.assembly == Assembly::none) {
    return reply_to(request.message, error, fetched);
  }
  for (std::uint64_t done = 0; done < request.bytes;) {
    const std::uint64_t bytes = std::min(request.bytes - done, limits_.fragment);
    Message piece = request.message;
    piece.first = done;
    piece.fetched = static_cast<std::uint32_t>(bytes);
    reply_to(piece, error, fetched.empty() ? fetched : fetched.subspan(done, bytes));
    done += bytes;
  }
}

void Server::notify(const Message& message) {
  if (message.notifies == NotifyKind::counter) {
    notifications_.counters().mine_at(message.notify_number).add();
  } else {
    notifications_.arrive({message.origin, message.notify_number, message.notified_bytes});
  }
}

void Server::reply_to(const Message& message, Error error, std::span<const std::byte> fetched) {
  Message reply;
  reply.kind = MessageKind::reply;
  reply.word = message.word;
  reply.first = message.first;
  reply.fetched = message.fetched;
  reply.data = static_cast<std::uint32_t>(fetched.size());
  // A reply also reports an earlier error of an operation without a reply. On a dynamic window only
  // the reply to a question does so: an origin cannot know that memory is not attached, and the
  // reply to another operation completes the request of that operation only.
  const bool asked = message.operation == OperationKind::acknowledge || message.acknowledge != 0;
  reply.error = error;
  if (error == Error::none && (asked || !region_.dynamic())) {
    reply.error = std::exchange(failed(message.origin, message.gate), Error::none);
  }
  sender_.send(message.origin, reply, fetched);
}

bool Server::receive_layout(const Message& message, std::span<const std::byte> payload) {
  if (payload.empty() || payload.size() != message.data || payload.size() % sizeof(Block) != 0 ||
      message.layout == 0 || message.basic > Basic::other) {
    return false;
  }
  LayoutCache& cache = layouts_.known[region_.member(message.origin).process];
  if (message.first != cache.partial.size()) return false;
  cache.partial.resize(cache.partial.size() + payload.size() / sizeof(Block));
  std::memcpy(cache.partial.data() + message.first, payload.data(), payload.size());
  if (message.last == 0) return true;
  if (!measurable(cache.partial, message.extent)) {
    cache.partial.clear();
    return false;
  }
  cache.insert(message.layout, LayoutRef(new Layout(cache.partial, message.extent, message.basic)));
  cache.partial.clear();
  return true;
}

}  // namespace oriel
