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
/// to carry out, and as the process hands it back with what it has fetched.
class Errand {
 public:
  /// Of data. Some cache lines: more take longer to travel than a system call, and a half more than
  /// the two of an update.
  static constexpr std::uint64_t most_bytes = 232;
  /// Whether one takes so many bytes; of a compare-and-swap: so long an element.
  static bool takes(std::uint64_t bytes) { return bytes != 0 && bytes <= most_bytes; }
  static bool takes_swap(std::uint64_t element) { return takes(2 * element); }

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

  bool updates() const { return oriel::updates(head_.kind); }
  /// What it is about, in the process that carries it out.
  std::uint64_t address() const { return head_.address; }
  std::uint64_t bytes() const { return head_.bytes; }
  /// Whether it changes what is there.
  bool stores() const { return head_.op != Op::no_op; }

  /// In that process; no update of others may be made there meanwhile (Update).
  void carry_out();
  /// Then: what it has fetched, if it does.
  void give(void* result) const {
    if (fetches(head_.kind)) std::memcpy(result, data_.data(), head_.carried);
  }

 private:
  struct Head {
    std::uint64_t address = 0;
    std::uint16_t bytes = 0;
    std::uint16_t carried = 0;  // of the data
    OperationKind kind = OperationKind::put;
    Op op = Op::replace;
    Basic basic = Basic::none;
    std::uint8_t element = 0;
  };

  Errand(OperationKind kind, const Reduction& reduction, std::uint64_t address, std::uint64_t bytes)
      : head_{.address = address,
              .bytes = static_cast<std::uint16_t>(bytes),
              .kind = kind,
              .op = reduction.op,
              .basic = reduction.basic,
              .element = static_cast<std::uint8_t>(reduction.element)} {}
  void carry(const void* from, std::uint64_t bytes) {
    std::memcpy(data_.data() + head_.carried, from, bytes);
    head_.carried = static_cast<std::uint16_t>(head_.carried + bytes);
  }

  Head head_;
  /// What is put or combined; of a compare-and-swap followed by what is compared. Then what has
  /// been fetched.
  std::array<std::byte, most_bytes> data_;
};

}  // namespace oriel
