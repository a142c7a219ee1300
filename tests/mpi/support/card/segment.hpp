// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace card {

/// An endpoint's address: its segment is a descriptor of its process.
struct Address {
  std::uint64_t id = 0;  // drawn by lot
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
};

/// A registration, as the cards of peers see it.
struct Region {
  std::atomic<std::uint64_t> key;  // live_bit and the key; 0: none
  std::uint64_t begin;             // in the process's memory
  std::uint64_t bytes;
  std::uint64_t address;  // what peers call the first byte
  std::uint64_t access;

  static constexpr std::uint64_t live_bit = std::uint64_t{1} << 63;
};

/// A lock between processes. Of a process that has ended it is taken away.
class SharedLock {
 public:
  void lock();
  void unlock() { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::int32_t> holder_;
};

enum class Kind : std::uint32_t { padding, message, tagged, written };

/// What stands before the bytes of a message in a ring.
struct Header {
  std::uint64_t bytes = 0;  // in the ring, with the header
  Kind kind = Kind::padding;
  std::uint32_t slot = 0;  // of the origin's acknowledgements, if the message is to be fetched
  Address origin;
  std::uint64_t due = 0;
  std::uint64_t length = 0;  // of the message
  std::uint64_t fetch = 0;   // 0: the bytes follow; else their place in the origin's memory
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  bool has_data = false;
};

/// Messages to one endpoint: any process puts them in, the endpoint's process takes them out.
class Ring {
 public:
  /// Returns whether there was room.
  bool put(Header header, const std::byte* payload, std::uint64_t bytes);
  /// The first message, or null.
  const Header* front();
  void pop();
  /// How many have been put in so far.
  std::uint64_t arrivals() const { return arrivals_.load(std::memory_order_acquire); }
  bool empty() const {
    return begin_.load(std::memory_order_relaxed) == end_.load(std::memory_order_acquire);
  }

 private:
  static constexpr std::uint64_t capacity = std::uint64_t{1} << 20;

  SharedLock producers_;
  std::atomic<std::uint64_t> arrivals_;
  alignas(64) std::atomic<std::uint64_t> end_;
  alignas(64) std::atomic<std::uint64_t> begin_;
  alignas(64) std::array<std::byte, capacity> bytes_;
};

/// What the cards of peers see of one domain and its endpoint: a memory file, zero at first.
struct Segment {
  static constexpr std::size_t most_regions = 4096;
  static constexpr std::size_t most_fetched = 1024;

  std::uint64_t id;
  SharedLock atomics;                   // held while an atomic reads and writes memory
  std::atomic<std::uint32_t> sleeping;  // the endpoint's process waits for its wake-up descriptor
  std::atomic<std::int32_t> wake_up;    // this descriptor and 1; 0: none
  std::atomic<std::uint64_t> regions_used;
  std::array<Region, most_regions> regions;
  /// The times at which messages of the endpoint have been fetched; 0: not yet.
  std::array<std::atomic<std::uint64_t>, most_fetched> fetched;
  Ring ring;

  /// A new one of this process. Null if there is none to be had.
  static Segment* create(Address& address);
  /// Another process's, or null.
  static Segment* open(const Address& address);
};

}  // namespace card
