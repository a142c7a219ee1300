// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace card {

class Endpoint;

/// What a queue tells.
struct Event {
  fi_cq_tagged_entry entry{};
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  int error = 0;            // libfabric's code, positive
  std::size_t missing = 0;  // bytes for which a receive had no room
};

/// A completion queue. Reading it lets its endpoints progress.
class Queue : public fid_cq {
 public:
  static int open(fid_domain* domain, fi_cq_attr* attributes, fid_cq** made, void* context);

  void add(Endpoint& endpoint);
  void remove(Endpoint& endpoint);
  void push(const Event& event) { events_.push_back(event); }
  int wait_descriptor() const { return wait_descriptor_; }
  /// Returns whether the wait descriptor tells of the next event.
  bool may_wait();

 private:
  Queue() = default;
  ~Queue();
  void progress();
  static int close(fid_t object);
  static int control(fid_t object, int command, void* argument);
  static ssize_t read(fid_cq* object, void* entries, std::size_t count);
  static ssize_t read_from(fid_cq* object, void* entries, std::size_t count, fi_addr_t* sources);
  static ssize_t read_error(fid_cq* object, fi_cq_err_entry* entry, std::uint64_t flags);
  static ssize_t wait_read(fid_cq* object, void* entries, std::size_t count, const void* condition,
                           int timeout);
  static const char* describe(fid_cq* object, int code, const void* data, char* text,
                              std::size_t length);

  static fi_ops objects_;
  static fi_ops_cq reading_;

  std::size_t entry_bytes_ = 0;
  int wait_descriptor_ = -1;
  std::vector<Endpoint*> endpoints_;
  std::deque<Event> events_;
};

/// A counter of completions. Reading it lets its endpoints progress.
class Counter : public fid_cntr {
 public:
  static int open(fid_domain* domain, fi_cntr_attr* attributes, fid_cntr** made, void* context);

  void add(Endpoint& endpoint);
  void remove(Endpoint& endpoint);
  void count(bool failed) { ++(failed ? failures_ : value_); }

 private:
  Counter() = default;
  void progress();
  static int close(fid_t object);
  static std::uint64_t read(fid_cntr* object);
  static std::uint64_t read_failures(fid_cntr* object);
  static int add_value(fid_cntr* object, std::uint64_t value);
  static int set_value(fid_cntr* object, std::uint64_t value);
  static int wait(fid_cntr* object, std::uint64_t threshold, int timeout);

  static fi_ops objects_;
  static fi_ops_cntr counting_;

  std::uint64_t value_ = 0;
  std::uint64_t failures_ = 0;
  std::vector<Endpoint*> endpoints_;
};

}  // namespace card
