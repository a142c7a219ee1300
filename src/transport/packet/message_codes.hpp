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

/// Numbers that stand for short messages, between one sender and one receiver. The sender gives
/// them out; the message itself goes ahead once, in a packet. Programs notify with the same few
/// tags and lengths again and again. What a code means may be changed at any time, because packets
/// and immediate data are taken in the order of sending.
struct MessageCodes {
  /// Codes are 1 to `most`.
  static constexpr std::uint32_t most = (1 << ImmediateFormat::code_bits) - 1;
  static constexpr std::size_t longest = 128;
};

/// What the sender knows.
class CodesGiven {
 public:
  struct Code {
    std::uint32_t number = 0;
    bool known = false;  // to the receiver
  };

  static bool takes(std::span<const std::byte> message) {
    return message.size() <= MessageCodes::longest;
  }
  /// One that is new gets the number that was given longest ago.
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

/// What the receiver knows. Nothing of what has arrived is believed without a look.
class CodesHeard {
 public:
  void keep(std::uint32_t number, std::span<const std::byte> message) {
    if (number == 0 || number > MessageCodes::most || message.size() > MessageCodes::longest) {
      return;
    }
    if (number > messages_.size()) messages_.resize(number);
    messages_[number - 1].assign(message.begin(), message.end());
  }
  /// Aligned to 8 bytes; valid until the next keep(). Empty: there is none.
  std::span<const std::byte> message(std::uint32_t number) const {
    if (number == 0 || number > messages_.size()) return {};
    return messages_[number - 1];
  }

 private:
  std::vector<std::vector<std::byte>> messages_;  // by number
};

}  // namespace oriel
