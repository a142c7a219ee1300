// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel {

/// The few bytes that a provider delivers with a write, when the write's bytes have arrived. They
/// name a message that the target has been sent before, and take that message's place in the order
/// of the sender's packets. The provider does not report the sender, so they contain the sender's
/// number at the receiver. The sender learns this number from the first packet that it receives
/// from there.
struct ImmediateData {
  std::uint32_t sender = 0;
  std::uint32_t sequence = 0;  // among the packets; only as many low bits as fit
  std::uint32_t code = 0;      // see MessageCodes; not 0
};

/// The encoding of ImmediateData in 4 or in 8 bytes.
class ImmediateFormat {
 public:
  static constexpr int code_bits = 10;

  /// `bytes`: what the provider delivers with a write; fewer than 4 are not used.
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
  /// The complete number with these low bits: the first one from `taken` + 1 on.
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
