// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/operation/operation.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// A part of an operation whose bytes are in one run on both sides.
struct Chunk {
  std::uint64_t first = 0;  // from its start
  std::uint64_t bytes = 0;
};

/// An operation on a few bytes of a process's private memory as its origin hands it to the process
/// to carry out, and as the process hands it back with what it has fetched; or a few puts, or gets,
/// in a row; or a long operation in chunks, of which the process carries out some and the origin
/// the others, each by system calls on the other's memory.
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

  /// Whether so many bytes of a put or get, or of an accumulate, make two chunks. Shorter chunks
  /// take about as long as the fixed part of the system calls that each needs.
  static bool parts_move(std::uint64_t bytes) { return bytes >= 2 * least_moved; }
  static bool parts_update(std::uint64_t bytes) { return bytes >= 2 * least_updated; }
  /// Of a chunk of an accumulate, which is combined in a near cache.
  static constexpr std::uint64_t most_updated = std::uint64_t{64} * 1024;

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

  /// A put (`write`) or get in chunks.
  static Errand move_in_chunks(bool write, std::uint64_t address, const void* origin,
                               std::uint64_t bytes) {
    const std::uint64_t chunk = a_quarter(bytes, least_moved, most_moved);
    Errand made = write ? put(address, origin, 0) : get(address, 0);
    made.part({reinterpret_cast<std::uintptr_t>(origin), bytes, chunk, 0});
    return made;
  }
  static Errand accumulate_in_chunks(const Reduction& reduction, std::uint64_t address,
                                     const void* origin, std::uint64_t bytes) {
    const std::uint64_t chunk = a_quarter(bytes, least_updated, most_updated);
    Errand made(OperationKind::accumulate, reduction, address, 0);
    made.part(
        {reinterpret_cast<std::uintptr_t>(origin), bytes, chunk - chunk % reduction.element, 0});
    return made;
  }
  bool in_chunks() const { return head_.chunked; }
  std::uint32_t chunks() const {
    const Parts parts = this->parts();
    return static_cast<std::uint32_t>((parts.bytes + parts.chunk - 1) / parts.chunk);
  }
  Chunk chunk(std::uint32_t number) const {
    const Parts parts = this->parts();
    const std::uint64_t first = number * parts.chunk;
    return {first, std::min(parts.chunk, parts.bytes - first)};
  }
  /// Of its origin, which is to set it.
  std::int32_t pid() const { return parts().pid; }
  void set_pid(std::int32_t pid) {
    Parts parts = this->parts();
    parts.pid = pid;
    head_.carried = 0;
    part(parts);
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
  /// Likewise a chunk, by transfer(write, here, there, bytes) into (`write`) or out of the origin's
  /// memory. False: that has failed, and an accumulate has changed nothing. `space`: of
  /// most_updated bytes.
  template <typename Transfer>
  bool carry_out(const Chunk& chunk, std::byte* space, Transfer&& transfer) const {
    auto* const here =
        reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(head_.address + chunk.first));
    const std::uint64_t there = parts().origin + chunk.first;
    if (!updates(head_.kind)) {
      return transfer(head_.kind == OperationKind::get, here, there, chunk.bytes);
    }
    if (!transfer(false, space, there, chunk.bytes)) return false;
    reduce_plain({head_.op, head_.basic, head_.element}, here, space, nullptr,
                 chunk.bytes / head_.element);
    return true;
  }
  /// Whether the process that carries out a chunk loads and stores it: else the kernel does.
  bool combines() const { return updates(head_.kind); }
  std::uint64_t address() const { return head_.address; }
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
    bool chunked = false;
  };
  /// What the data are of an operation in chunks.
  struct Parts {
    std::uint64_t origin;  // address in its process
    std::uint64_t bytes;
    std::uint64_t chunk;  // bytes of each but the last
    std::int32_t pid;
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
  /// Chunks of a fourth: who comes late, or is slow, takes fewer.
  static std::uint64_t a_quarter(std::uint64_t bytes, std::uint64_t least, std::uint64_t most) {
    constexpr std::uint64_t page = 4096;
    return std::clamp((bytes / 4 + page - 1) / page * page, least, most);
  }
  Parts parts() const {
    Parts parts;
    std::memcpy(&parts, data_.data(), sizeof parts);
    return parts;
  }
  void part(const Parts& parts) {
    head_.chunked = true;
    carry(&parts, sizeof parts);
  }
  void carry(const void* from, std::uint64_t bytes) {
    std::memcpy(data_.data() + head_.carried, from, bytes);
    head_.carried = static_cast<std::uint16_t>(head_.carried + bytes);
  }

  static constexpr std::uint64_t least_moved = std::uint64_t{32} * 1024;
  static constexpr std::uint64_t most_moved = std::uint64_t{256} * 1024;
  static constexpr std::uint64_t least_updated = std::uint64_t{8} * 1024;

  Head head_;
  /// The operand; of a compare-and-swap, behind it the value to compare; of a row its entries. Then
  /// the values that have been fetched.
  std::array<std::byte, most_bytes> data_;
};

}  // namespace oriel
