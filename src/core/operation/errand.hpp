// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/operation/operation.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// An operation of a few bytes on a process's private memory, or a row of puts or gets. The origin
/// hands it to the process, which carries it out and hands it back with the fetched values.
class Errand {
 public:
  /// Bytes of data in an errand: some cache lines.
  static constexpr std::uint64_t most_bytes = 992;
  /// True if an errand may be a put or get of this many bytes. A longer one takes about as long as
  /// the system call that it saves.
  static bool fits_move(std::uint64_t bytes) { return bytes != 0 && bytes <= 40; }
  /// True if an errand may be an update of this many bytes, which saves two system calls, or a
  /// compare-and-swap of an element of this size: of any that MPI has.
  static bool fits_update(std::uint64_t bytes) { return bytes != 0 && bytes <= most_bytes; }
  static bool fits_swap(std::uint64_t element) { return element <= 32; }

  Errand() {}  // NOLINT(modernize-use-equals-default): the data stay as they are
  Errand(const Errand& other) { *this = other; }
  /// Copies only the used part of the data.
  Errand& operator=(const Errand& other) {
    head_ = other.head_;
    std::memcpy(data_.data(), other.data_.data(), head_.carried);
    return *this;
  }

  static Errand put(std::uint64_t address, const void* origin, std::uint64_t bytes) {
    Errand made(OperationKind::put, {Op::replace}, address, bytes);
    made.carry(origin, bytes);
    return made;
  }
  static Errand get(std::uint64_t address, std::uint64_t bytes) {
    return {OperationKind::get, {Op::no_op}, address, bytes};
  }
  /// `origin` is not read if the op has no operand: the program's pointer may then be invalid.
  static Errand update(const Reduction& reduction, std::uint64_t address, const void* origin,
                       bool fetches, std::uint64_t bytes) {
    Errand made(fetches ? OperationKind::get_accumulate : OperationKind::accumulate, reduction,
                address, bytes);
    if (reduction.op != Op::no_op) made.carry(origin, bytes);
    return made;
  }
  static Errand compare_swap(std::uint32_t element, std::uint64_t address, const void* origin,
                             const void* compare) {
    Errand made(OperationKind::compare_and_swap, {Op::replace, Basic::other, element}, address,
                element);
    made.carry(origin, element);
    made.carry(compare, element);
    return made;
  }

  /// An empty row of puts or gets.
  static Errand row(bool write) {
    return {
        write ? OperationKind::put : OperationKind::get, {write ? Op::replace : Op::no_op}, 0, 0};
  }
  /// Adds a put or get to a row. False if there is no space for it or for its fetched bytes.
  bool add(std::uint64_t address, const void* origin, std::uint64_t bytes) {
    const bool put = head_.kind == OperationKind::put;
    const Entry entry{address, static_cast<std::uint16_t>(bytes)};
    if (bytes > most_bytes || head_.carried + sizeof entry + (put ? bytes : 0) > most_bytes ||
        head_.bytes + bytes > most_bytes) {
      return false;
    }
    carry(&entry, sizeof entry);
    if (put) carry(origin, bytes);
    head_.bytes = static_cast<std::uint16_t>(head_.bytes + bytes);
    ++head_.entries;
    return true;
  }

  /// About how many system calls the errand saves.
  unsigned saves() const { return updates(head_.kind) ? 2 : 1 + head_.entries / 4; }
  /// Calls visit(address, bytes) for each range of memory that the errand accesses, in the process
  /// that carries it out, until one call returns false. True if none has.
  template <typename Visit>
  bool all_of(Visit&& visit) {
    return head_.entries == 0 ? visit(head_.address, head_.bytes)
                              : for_each_entry([&](const Entry& entry, std::byte*) {
                                  return visit(entry.address, entry.bytes);
                                });
  }
  /// True if the errand changes memory.
  bool stores() const { return head_.op != Op::no_op; }

  /// Called in the process that owns the memory. Other updates of it must be excluded (Update).
  void carry_out();
  /// Called after carry_out(): copies the fetched values, if the operation fetches.
  void copy_fetched(void* result) const {
    if (fetches(head_.kind)) std::memcpy(result, data_.data(), head_.carried);
  }
  const std::byte* fetched() const { return data_.data(); }

 private:
  struct Head {
    std::uint64_t address = 0;  // unless a row
    std::uint16_t bytes = 0;
    std::uint16_t carried = 0;  // bytes used in data_
    std::uint16_t entries = 0;  // of a row; else 0
    OperationKind kind = OperationKind::put;
    Op op = Op::replace;
    Basic basic = Basic::none;
    std::uint8_t element = 0;
  };
  /// An entry of a row in the data. A put's bytes follow it.
  struct [[gnu::packed]] Entry {
    std::uint64_t address;
    std::uint16_t bytes;
  };

  Errand(OperationKind kind, const Reduction& reduction, std::uint64_t address, std::uint64_t bytes)
      : head_{.address = address,
              .bytes = static_cast<std::uint16_t>(bytes),
              .kind = kind,
              .op = reduction.op,
              .basic = reduction.basic,
              .element = static_cast<std::uint8_t>(reduction.element)} {}
  /// Calls visit(entry, bytes of a put) for each entry until one call returns false. True if none
  /// has.
  template <typename Visit>
  bool for_each_entry(Visit&& visit) {
    std::byte* next = data_.data();
    for (unsigned i = 0; i < head_.entries; ++i) {
      Entry entry;
      std::memcpy(&entry, next, sizeof entry);
      next += sizeof entry;
      if (!visit(entry, next)) return false;
      if (head_.kind == OperationKind::put) next += entry.bytes;
    }
    return true;
  }
  void carry_out_row();
  void carry(const void* from, std::uint64_t bytes) {
    std::memcpy(data_.data() + head_.carried, from, bytes);
    head_.carried = static_cast<std::uint16_t>(head_.carried + bytes);
  }

  Head head_;
  /// The operand; for a compare-and-swap also the value to compare, behind it; for a row its
  /// entries. After carry_out() the fetched values.
  std::array<std::byte, most_bytes> data_;
};

}  // namespace oriel
