// SPDX-License-Identifier: BSD-3-Clause
#include "completions.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "transfers.hpp"

namespace awkward {
namespace {

constexpr auto delay_of_a_delivery = std::chrono::milliseconds(5);
// The peer may be in the middle of a look when its message arrives: the one after it sees it.
constexpr std::uint64_t looks_to_acknowledge = 2;

using QueueTable = Table<fi_ops_cq, fid_cq>;
using DomainTable = Table<fi_ops_domain, fid_domain>;

struct Completion {
  fi_cq_data_entry entry;
  int error = 0;
  int looks = 0;  // so many looks of this process come before it
  Clock::time_point time{};
  const Looks* peer = nullptr;
  std::uint64_t peer_looks = 0;

  bool is_due() {
    if (looks > 0) --looks;
    return looks == 0 && time <= Clock::now() && (peer == nullptr || peer->load() >= peer_looks);
  }
};

struct Queue {
  std::deque<Completion> kept;
  std::deque<Completion> failed;  // to be told of by fi_cq_readerr
};

std::map<const fid*, Queue>& queues() {
  static std::map<const fid*, Queue> all;
  return all;
}
std::map<const fid_ep*, const fid*>& queue_of() {
  static std::map<const fid_ep*, const fid*> bound;
  return bound;
}
std::map<void*, Fate>& fates() {
  static std::map<void*, Fate> by_context;
  return by_context;
}
std::uint64_t last_immediate = 0;

/// Keeps a completion of the real provider's until its time.
void keep(Queue& queue, const fi_cq_data_entry& entry) {
  Completion one{entry};
  const bool received = (entry.flags & (FI_RECV | FI_REMOTE_CQ_DATA)) != 0;
  if (const auto found = fates().find(entry.op_context);
      entry.op_context != nullptr && !received && found != fates().end()) {
    const Fate fate = found->second;
    fates().erase(found);
    if (fate.ours) return end_copy(entry.op_context);
    if (fate.late) one.time = Clock::now() + delay_of_a_delivery;
    if (fate.acknowledged_by != nullptr) {
      one.peer = fate.acknowledged_by;
      one.peer_looks = one.peer->load() + looks_to_acknowledge;
    }
  }
  if (has("echoed_immediate") && last_immediate != 0 && (entry.flags & FI_WRITE) != 0) {
    met("echoed_immediate");
    one.entry.flags |= FI_REMOTE_CQ_DATA;
    one.entry.data = last_immediate;
  }
  if (has("any_order") || (has("late_receives") && received)) one.looks = chance(25) ? 4 : 1;
  queue.kept.push_back(one);
}

/// Returns whether an earlier completion of the same buffer is still kept: the one that gives a
/// buffer of several messages back is the last of them.
bool is_behind(const std::deque<Completion>& kept, std::size_t index) {
  const fi_cq_data_entry& entry = kept[index].entry;
  if ((entry.flags & FI_MULTI_RECV) == 0) return false;
  return std::any_of(kept.begin(), kept.end(), [&](const Completion& other) {
    return &other != &kept[index] && other.entry.op_context == entry.op_context;
  });
}

ssize_t tell(Queue& queue, fi_cq_data_entry* entries, std::size_t room) {
  std::size_t told = 0;
  for (std::size_t i = 0; i < queue.kept.size() && told < room;) {
    Completion& one = queue.kept[i];
    if (!one.is_due() || is_behind(queue.kept, i)) {
      ++i;
      continue;
    }
    if (i > 0 && has("any_order")) met("any_order");
    if (i > 0 && has("late_receives")) met("late_receives");
    if (one.time != Clock::time_point{}) met("late_delivery");
    if (one.peer != nullptr) met("acknowledged_by_software");
    if (one.error != 0) {
      queue.failed.push_back(one);
    } else {
      entries[told++] = one.entry;
    }
    queue.kept.erase(queue.kept.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (told != 0) return static_cast<ssize_t>(told);
  return queue.failed.empty() ? -FI_EAGAIN : -FI_EAVAIL;
}

ssize_t read_queue(fid_cq* object, void* entries, std::size_t room) {
  count_look();
  begin_transfers();
  Queue& queue = queues()[&object->fid];
  std::array<fi_cq_data_entry, 16> found;
  const ssize_t count =
      QueueTable::provider(object->ops).read(object, found.data(), std::min(room, found.size()));
  for (ssize_t i = 0; i < count; ++i) keep(queue, found[static_cast<std::size_t>(i)]);
  const ssize_t told = tell(queue, static_cast<fi_cq_data_entry*>(entries), room);
  return told == -FI_EAGAIN && count < 0 ? count : told;
}

ssize_t read_error(fid_cq* object, fi_cq_err_entry* entry, std::uint64_t flags) {
  Queue& queue = queues()[&object->fid];
  if (queue.failed.empty()) {
    return QueueTable::provider(object->ops).readerr(object, entry, flags);
  }
  const Completion one = queue.failed.front();
  queue.failed.pop_front();
  entry->op_context = one.entry.op_context;
  entry->flags = one.entry.flags;
  entry->err = one.error;
  entry->prov_errno = one.error;
  return 1;
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** made, void* context) {
  if (has("no_wait") && attributes->wait_obj != FI_WAIT_NONE) {
    met("no_wait");
    return -FI_ENOSYS;
  }
  if (attributes->format != FI_CQ_FORMAT_DATA) refuse("entries of an unknown kind");
  const int code = DomainTable::provider(domain->ops).cq_open(domain, attributes, made, context);
  if (code != 0) return code;
  fi_ops_cq& functions = QueueTable::replace((*made)->ops);
  functions.read = read_queue;
  functions.readerr = read_error;
  queues()[&(*made)->fid] = {};
  return 0;
}

}  // namespace

void expect(void* context, const Fate& fate) {
  fates()[context] = fate;
}

void complete(const fid_ep* endpoint, void* context, std::uint64_t flags, int error) {
  Completion one{};
  one.entry.op_context = context;
  one.entry.flags = flags;
  one.error = error;
  queues()[queue_of().at(endpoint)].kept.push_back(one);
}

void echo(std::uint64_t immediate) {
  last_immediate = immediate;
}

void bind_queue(const fid_ep* endpoint, const fid* queue) {
  queue_of()[endpoint] = queue;
}

bool anything_kept(const fid* queue) {
  const auto found = queues().find(queue);
  return found != queues().end() && (!found->second.kept.empty() || !found->second.failed.empty());
}

void play_queues(fid_domain& domain) {
  DomainTable::replace(domain.ops).cq_open = open_queue;
}

}  // namespace awkward
