// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel {

/// The few bytes that a provider carries with a write and shows the target's process when the
/// write's bytes are there. They name a message that the target has been sent before, and take its
/// place among the sender's packets. Nobody says whom they come from, so they do: by the number
/// that the sender has at the receiver, which it knows from the first packet that comes from there.
struct ImmediateData {
  std::uint32_t sender = 0;
  std::uint32_t sequence = 0;  // among the packets; as many low bits of it as there is space for
  std::uint32_t code = 0;      // see MessageCodes; not 0
};

/// How that is written in 4 bytes, or in 8.
class ImmediateFormat {
 public:
  static constexpr int code_bits = 10;

  /// `bytes` of a provider: with fewer than 4 there is no immediate data.
  explicit ImmediateFormat(std::size_t bytes = 0)
      : sender_bits_(bytes >= 8 ? 32 : 12),
        sequence_bits_(bytes >= 8 ? 22 : 10),
        usable_(bytes >= 4) {}

  bool usable() const { return usable_; }
  bool names(std::uint32_t sender) const { return sender < std::uint64_t{1} << sender_bits_; }

  std::uint64_t pack(const ImmediateData& data) const {
    return (std::uint64_t{data.sender} << sequence_bits_ | (data.sequence & sequence_mask()))
               << code_bits |
           data.code;
  }
  ImmediateData unpack(std::uint64_t packed) const {
    constexpr std::uint64_t code_mask = (1 << code_bits) - 1;
    return {static_cast<std::uint32_t>(packed >> (code_bits + sequence_bits_)),
            static_cast<std::uint32_t>(packed >> code_bits) & sequence_mask(),
            static_cast<std::uint32_t>(packed & code_mask)};
  }
  /// The whole number whose low bits these are, and that is the next after `taken` or not far
  /// behind it.
  std::uint32_t sequence_after(std::uint32_t taken, std::uint32_t low) const {
    const std::uint32_t next = taken + 1;
    return next + ((low - next) & sequence_mask());
  }

 private:
  std::uint32_t sequence_mask() const { return (std::uint32_t{1} << sequence_bits_) - 1; }

  int sender_bits_;
  int sequence_bits_;
  bool usable_;
};

}  // namespace oriel
