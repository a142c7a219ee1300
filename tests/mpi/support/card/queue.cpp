// SPDX-License-Identifier: BSD-3-Clause
#include "queue.hpp"

#include <rdma/fi_errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "endpoint.hpp"
#include "link.hpp"
#include "refuse.hpp"

namespace card {
namespace {

constexpr std::uint64_t ns_per_ms = 1000000;

Queue& queue(fid_cq* object) {
  return *static_cast<Queue*>(object);
}

std::size_t bytes_of(fi_cq_format format) {
  switch (format) {
    case FI_CQ_FORMAT_CONTEXT:
      return sizeof(fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    default:
      return sizeof(fi_cq_tagged_entry);
  }
}

bool too_late(std::uint64_t begun, int timeout) {
  return timeout >= 0 && now() - begun > static_cast<std::uint64_t>(timeout) * ns_per_ms;
}

}  // namespace

fi_ops Queue::objects_{sizeof(fi_ops), Queue::close, refuse, Queue::control,
                       refuse,         refuse,       refuse};
fi_ops_cq Queue::reading_{sizeof(fi_ops_cq), Queue::read, Queue::read_from, Queue::read_error,
                          Queue::wait_read,  refuse,      refuse,           Queue::describe};

int Queue::open(fid_domain* /*domain*/, fi_cq_attr* attributes, fid_cq** made, void* context) {
  if (attributes->wait_obj != FI_WAIT_NONE && attributes->wait_obj != FI_WAIT_UNSPEC &&
      attributes->wait_obj != FI_WAIT_FD) {
    return -FI_ENOSYS;
  }
  auto* opened = new Queue;
  opened->fid = {FI_CLASS_CQ, context, &objects_};
  opened->ops = &reading_;
  opened->entry_bytes_ = bytes_of(attributes->format);
  if (attributes->wait_obj == FI_WAIT_FD) {
    opened->wait_descriptor_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  }
  *made = opened;
  return 0;
}

Queue::~Queue() {
  if (wait_descriptor_ >= 0) ::close(wait_descriptor_);
}

void Queue::add(Endpoint& endpoint) {
  endpoints_.push_back(&endpoint);
}

void Queue::remove(Endpoint& endpoint) {
  std::erase(endpoints_, &endpoint);
}

void Queue::progress() {
  for (Endpoint* endpoint : endpoints_) endpoint->progress();
}

bool Queue::may_wait() {
  std::uint64_t woken = 0;
  while (::read(wait_descriptor_, &woken, sizeof woken) > 0) {
  }
  progress();
  return events_.empty() &&
         std::ranges::all_of(endpoints_, [](Endpoint* each) { return each->may_wait(); });
}

int Queue::close(fid_t object) {
  auto* closed = reinterpret_cast<Queue*>(object);
  if (!closed->endpoints_.empty()) return -FI_EBUSY;
  delete closed;
  return 0;
}

int Queue::control(fid_t object, int command, void* argument) {
  const int descriptor = reinterpret_cast<Queue*>(object)->wait_descriptor_;
  if (command != FI_GETWAIT || descriptor < 0) return -FI_ENOSYS;
  *static_cast<int*>(argument) = descriptor;
  return 0;
}

ssize_t Queue::read(fid_cq* object, void* entries, std::size_t count) {
  return read_from(object, entries, count, nullptr);
}

ssize_t Queue::read_from(fid_cq* object, void* entries, std::size_t count, fi_addr_t* sources) {
  Queue& from = queue(object);
  from.progress();
  std::deque<Event>& events = from.events_;
  if (events.empty()) return -FI_EAGAIN;
  std::size_t read = 0;
  for (; read < count && !events.empty() && events.front().error == 0; ++read) {
    // Entries of the other formats are the first bytes of a tagged one.
    std::memcpy(static_cast<std::byte*>(entries) + read * from.entry_bytes_, &events.front().entry,
                from.entry_bytes_);
    if (sources != nullptr) sources[read] = events.front().source;
    events.pop_front();
  }
  return read != 0 ? static_cast<ssize_t>(read) : -FI_EAVAIL;
}

ssize_t Queue::read_error(fid_cq* object, fi_cq_err_entry* entry, std::uint64_t /*flags*/) {
  std::deque<Event>& events = queue(object).events_;
  if (events.empty() || events.front().error == 0) return -FI_EAGAIN;
  const Event& event = events.front();
  entry->op_context = event.entry.op_context;
  entry->flags = event.entry.flags;
  entry->len = event.entry.len;
  entry->buf = event.entry.buf;
  entry->data = event.entry.data;
  entry->tag = event.entry.tag;
  entry->olen = event.missing;
  entry->err = event.error;
  entry->prov_errno = event.error;
  events.pop_front();
  return 1;
}

ssize_t Queue::wait_read(fid_cq* object, void* entries, std::size_t count,
                         const void* /*condition*/, int timeout) {
  const std::uint64_t begun = now();
  while (true) {
    const ssize_t read = Queue::read(object, entries, count);
    if (read != -FI_EAGAIN || too_late(begun, timeout)) return read;
  }
}

const char* Queue::describe(fid_cq* /*object*/, int code, const void* /*data*/, char* text,
                            std::size_t length) {
  const char* words = std::strerror(code);
  if (text != nullptr && length != 0) {
    std::strncpy(text, words, length - 1);
    text[length - 1] = '\0';
  }
  return words;
}

fi_ops Counter::objects_{sizeof(fi_ops), Counter::close, refuse, refuse, refuse, refuse, refuse};
fi_ops_cntr Counter::counting_{sizeof(fi_ops_cntr),
                               Counter::read,
                               Counter::read_failures,
                               Counter::add_value,
                               Counter::set_value,
                               Counter::wait,
                               refuse,
                               refuse};

int Counter::open(fid_domain* /*domain*/, fi_cntr_attr* /*attributes*/, fid_cntr** made,
                  void* context) {
  auto* opened = new Counter;
  opened->fid = {FI_CLASS_CNTR, context, &objects_};
  opened->ops = &counting_;
  *made = opened;
  return 0;
}

void Counter::add(Endpoint& endpoint) {
  endpoints_.push_back(&endpoint);
}

void Counter::remove(Endpoint& endpoint) {
  std::erase(endpoints_, &endpoint);
}

void Counter::progress() {
  for (Endpoint* endpoint : endpoints_) endpoint->progress();
}

int Counter::close(fid_t object) {
  auto* closed = reinterpret_cast<Counter*>(object);
  if (!closed->endpoints_.empty()) return -FI_EBUSY;
  delete closed;
  return 0;
}

std::uint64_t Counter::read(fid_cntr* object) {
  auto* counter = static_cast<Counter*>(object);
  counter->progress();
  return counter->value_;
}

std::uint64_t Counter::read_failures(fid_cntr* object) {
  return static_cast<Counter*>(object)->failures_;
}

int Counter::add_value(fid_cntr* object, std::uint64_t value) {
  static_cast<Counter*>(object)->value_ += value;
  return 0;
}

int Counter::set_value(fid_cntr* object, std::uint64_t value) {
  static_cast<Counter*>(object)->value_ = value;
  return 0;
}

int Counter::wait(fid_cntr* object, std::uint64_t threshold, int timeout) {
  auto* counter = static_cast<Counter*>(object);
  const std::uint64_t failures = counter->failures_;
  const std::uint64_t begun = now();
  while (read(object) < threshold) {
    if (counter->failures_ != failures) return -FI_EAVAIL;
    if (too_late(begun, timeout)) return -FI_ETIMEDOUT;
  }
  return 0;
}

}  // namespace card
