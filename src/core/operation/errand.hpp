// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/operation/operation.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// An operation on a few bytes of a process's private memory as its origin hands it to the process
/// to carry out, and as the process hands it back with what it has fetched; or a few puts, or gets,
/// in a row.
class Errand {
 public:
  /// Of data: some cache lines.
  static constexpr std::uint64_t most_bytes = 992;
  /// Whether one takes a put or get of so many bytes. More take about as long as the system call
  /// that they save.
  static bool takes_move(std::uint64_t bytes) { return bytes != 0 && bytes <= 40; }
  /// Likewise an update, which takes two of these, and a compare-and-swap of so long an element: of
  /// any that MPI has.
  static bool takes_update(std::uint64_t bytes) { return bytes != 0 && bytes <= most_bytes; }
  static bool takes_swap(std::uint64_t element) { return element <= 32; }

  Errand() {}  // NOLINT(modernize-use-equals-default): the data stay as they are
  Errand(const Errand& other) { *this = other; }
  /// Only the data that it carries.
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
  /// `origin` null: the op reads none.
  static Errand update(const Reduction& reduction, std::uint64_t address, const void* origin,
                       bool fetches, std::uint64_t bytes) {
    Errand made(fetches ? OperationKind::get_accumulate : OperationKind::accumulate, reduction,
                address, bytes);
    if (origin != nullptr) made.carry(origin, bytes);
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

  /// Puts in a row, or gets; none yet.
  static Errand row(bool write) {
    return {
        write ? OperationKind::put : OperationKind::get, {write ? Op::replace : Op::no_op}, 0, 0};
  }
  /// Adds one to a row. False: there is no space for it, or for its answer.
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

  /// System calls that it saves, about.
  unsigned saves() const { return updates(head_.kind) ? 2 : 1 + head_.entries / 4; }
  /// visit(address, bytes) of all that it is about, in the process that carries it out.
  template <typename Visit>
  bool all_of(Visit&& visit) {
    return head_.entries == 0 ? visit(head_.address, head_.bytes)
                              : for_each_entry([&](const Entry& entry, std::byte*) {
                                  return visit(entry.address, entry.bytes);
                                });
  }
  /// Whether it changes what is there.
  bool stores() const { return head_.op != Op::no_op; }

  /// In that process; no update of others may be made there meanwhile (Update).
  void carry_out();
  /// Then: the values that it has fetched, if it does.
  void give(void* result) const {
    if (fetches(head_.kind)) std::memcpy(result, data_.data(), head_.carried);
  }
  const std::byte* fetched() const { return data_.data(); }

 private:
  struct Head {
    std::uint64_t address = 0;  // of no row
    std::uint16_t bytes = 0;
    std::uint16_t carried = 0;  // of the data
    std::uint16_t entries = 0;  // of a row
    OperationKind kind = OperationKind::put;
    Op op = Op::replace;
    Basic basic = Basic::none;
    std::uint8_t element = 0;
  };
  /// Of a row, as the data have it: a put's bytes follow.
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
  /// visit(entry, its bytes) until that is false.
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
  /// The operand; of a compare-and-swap, behind it the value to compare; of a row its entries. Then
  /// the values that have been fetched.
  std::array<std::byte, most_bytes> data_;
};

}  // namespace oriel
