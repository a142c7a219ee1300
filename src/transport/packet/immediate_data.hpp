// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

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

/// Numbers that stand for short messages between one sender and one receiver. The sender assigns a
/// code, and sends the message once with its code in a packet. That pays because programs notify
/// with the same few tags and lengths again and again. The meaning of a code may change at any
/// time, because packets and immediate data are taken in the order of sending.
struct MessageCodes {
  /// Codes are 1 to `most`.
  static constexpr std::uint32_t most = (1 << ImmediateFormat::code_bits) - 1;
  static constexpr std::size_t longest = 128;
};

/// The codes that a sender has assigned.
class SentCodes {
 public:
  struct Code {
    std::uint32_t number = 0;
    bool known = false;  // the receiver has been sent the message
  };

  static bool fits(std::span<const std::byte> message) {
    return message.size() <= MessageCodes::longest;
  }
  /// The code of a message. A new message gets the number that was assigned longest ago.
  Code code_of(std::span<const std::byte> message) {
    const std::string key(reinterpret_cast<const char*>(message.data()), message.size());
    const auto [entry, added] = numbers_.try_emplace(key, 0);
    if (!added) return {entry->second, true};
    const std::uint32_t number = last_ = last_ % MessageCodes::most + 1;
    if (number > messages_.size()) {
      messages_.push_back(key);
    } else {
      numbers_.erase(messages_[number - 1]);
      messages_[number - 1] = key;
    }
    entry->second = number;
    return {number, false};
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> messages_;  // by number
  std::uint32_t last_ = 0;
};

/// The codes that a receiver has been sent. Everything that has arrived is checked before it is
/// used.
class ReceivedCodes {
 public:
  void keep(std::uint32_t number, std::span<const std::byte> message) {
    if (number == 0 || number > MessageCodes::most || message.size() > MessageCodes::longest) {
      return;
    }
    if (number > messages_.size()) messages_.resize(number);
    messages_[number - 1].assign(message.begin(), message.end());
  }
  /// The message of a code, aligned to 8 bytes and valid until the next keep(). Empty: there is
  /// none.
  std::span<const std::byte> message(std::uint32_t number) const {
    if (number == 0 || number > messages_.size()) return {};
    return messages_[number - 1];
  }

 private:
  std::vector<std::vector<std::byte>> messages_;  // by number
};

}  // namespace oriel
