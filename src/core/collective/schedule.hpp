// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "core/operation/operation.hpp"

namespace oriel {

/// A user-defined op: a function on elements whose meaning only the program knows.
class OwnOp {
 public:
  OwnOp() = default;
  virtual ~OwnOp() = default;
  OwnOp(const OwnOp&) = delete;
  OwnOp& operator=(const OwnOp&) = delete;

  virtual bool commutes() const = 0;
  /// Returns whether the present sweep may call the function: false on a thread that the program
  /// does not know.
  virtual bool callable() const = 0;
  /// into[i] = from[i] op into[i], for `count` elements in a row.
  virtual void combine(const void* from, void* into, std::uint64_t count) = 0;
};

/// Consecutive bytes of a buffer, numbered in the order in which they are sent: all of them or
/// some.
struct Stretch : Buffer {
  Stretch() = default;
  Stretch(const Buffer& whole) : Buffer(whole) {}
  Stretch(const Buffer& whole, std::uint64_t from, std::uint64_t how_many)
      : Buffer(whole), first(from), bytes(how_many) {}

  std::uint64_t first = 0;
  std::uint64_t bytes = ~std::uint64_t{0};  // at most as many as the buffer has
};

/// The sends, receives, copies and combinations of one rank in a persistent collective. A rank's
/// k-th send to another rank matches that rank's k-th receive from it. So both ranks list their
/// transfers in one order, including those of no bytes, except at the end of the list. A send may
/// have fewer bytes than its receive has space for, or none. A receive with space must have a send.
///
/// Steps order transfers, copies and combinations that depend on each other. When a step begins,
/// its copies are made, then its combinations, and then its sends begin (in step 0 the sends begin
/// first). The next step begins when all receives of this and earlier steps have arrived. A receive
/// of any step may arrive from the start on, so its memory must not be used before it has arrived.
/// Copies of the step `before_all` are made before any receive can arrive.
struct Schedule {
  static constexpr int before_all = -1;

  struct Send {
    int to = 0;  // rank; not our own
    Stretch from;
    int step = 0;
  };
  struct Receive {
    int from = 0;  // rank; not our own
    Stretch into;
    int step = 0;
  };
  struct Copy {
    Stretch from;
    Stretch into;
    int step = 0;
  };
  /// into[i] = into[i] op from[i], for `count` elements in a row. With an own op it is from[i] op
  /// into[i], as MPI's functions compute.
  struct Combination {
    const void* from = nullptr;
    void* into = nullptr;
    std::uint64_t count = 0;
    Reduction reduction;
    int step = 0;
  };

  std::vector<Send> sends;                // by step
  std::vector<Receive> receives;          // those from one rank in the order of its sends
  std::vector<Copy> copies;               // by step
  std::vector<Combination> combinations;  // by step
  /// If set, carries out all combinations, instead of their reductions.
  std::shared_ptr<OwnOp> own_op;
  /// A rank may forward data of others, so a receive may depend on any rank: if any rank has ended,
  /// a pending use fails, also when this rank does not receive from that rank.
  bool needs_all = false;
  /// Some ranks only send and wait for no other rank: they may be several uses ahead of the others.
  bool one_way = false;

  int last_step() const {
    int last = 0;
    for (const Send& send : sends) last = std::max(last, send.step);
    for (const Receive& receive : receives) last = std::max(last, receive.step);
    for (const Copy& copy : copies) last = std::max(last, copy.step);
    for (const Combination& combination : combinations) last = std::max(last, combination.step);
    return last;
  }
};

/// The memory that a schedule uses besides the program's buffers.
struct ScheduleMemory {
  std::unique_ptr<std::byte[]> scratch;
  std::unique_ptr<std::byte[]> packed;  // vectors without the gaps of their datatype
};

/// A schedule and its memory, which must live as long as the schedule's plan.
struct MadeSchedule {
  Schedule schedule;
  ScheduleMemory memory;
  std::uint64_t scratch_bytes = 0;

  /// Allocates `scratch` for `parts` parts of `bytes` bytes. Throws std::bad_alloc if that fails.
  std::byte* allocate_scratch(std::uint64_t bytes, std::uint64_t parts = 1) {
    if (__builtin_mul_overflow(bytes, parts, &scratch_bytes)) throw std::bad_alloc();
    memory.scratch.reset(new std::byte[scratch_bytes]);
    return memory.scratch.get();
  }
};

inline std::uint64_t bytes_in(const Buffer& buffer) {
  return buffer.layout ? buffer.count * buffer.layout->size() : 0;
}

/// The parts, one after the other, as one buffer.
Buffer together(std::span<const Stretch> parts);
/// The buffers with these numbers, one after the other, as one buffer.
Buffer together(std::span<const Buffer> buffers, std::span<const int> numbers);

}  // namespace oriel
