// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "transport/packet/immediate_data.hpp"

namespace oriel {

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
class CodesGiven {
 public:
  struct Code {
    std::uint32_t number = 0;
    bool known = false;  // the receiver has been sent the message
  };

  static bool takes(std::span<const std::byte> message) {
    return message.size() <= MessageCodes::longest;
  }
  /// The code of a message. A new message gets the number that was assigned longest ago.
  Code code_of(std::span<const std::byte> message) {
    const std::string key(reinterpret_cast<const char*>(message.data()), message.size());
    const auto [place, added] = numbers_.try_emplace(key, 0);
    if (!added) return {place->second, true};
    const std::uint32_t number = last_ = last_ % MessageCodes::most + 1;
    if (number > messages_.size()) {
      messages_.push_back(key);
    } else {
      numbers_.erase(messages_[number - 1]);
      messages_[number - 1] = key;
    }
    place->second = number;
    return {number, false};
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> messages_;  // by number
  std::uint32_t last_ = 0;
};

/// The codes that a receiver has been sent. Everything that has arrived is checked before it is
/// used.
class CodesHeard {
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
