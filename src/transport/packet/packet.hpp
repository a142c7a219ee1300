// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace oriel {

/// The header of a packet: messages from one process to another that are sent together (S7). Behind
/// the header follow the messages, each behind its length and padded to 8 bytes.
struct PacketHeader {
  static constexpr std::uint32_t magic_value = 0x0e1e17ad;

  std::uint32_t magic = magic_value;
  std::uint32_t bytes = 0;     // of the packet, header included
  std::uint64_t source = 0;    // the sender's id
  std::uint32_t sequence = 0;  // number among this sender's packets to this receiver, from 1; wraps
  // For ImmediateData: the receiver's number at the sender, and the number of the receiver's last
  // packet, or immediate data, that the sender has taken.
  std::uint32_t receiver = 0;
  std::uint32_t taken = 0;
  std::uint32_t reserved = 0;
};
static_assert(std::is_trivially_copyable_v<PacketHeader> && sizeof(PacketHeader) == 32);

/// Writes messages into a buffer that the caller owns.
class PacketWriter {
 public:
  /// The word before a message has its code from this bit on, and its length below.
  static constexpr int code_shift = 32;
  /// The bit of that word which says that the message continues in the sender's next packet.
  static constexpr std::uint64_t continues_bit = std::uint64_t{1} << 31;

  PacketWriter() = default;
  explicit PacketWriter(std::span<std::byte> buffer) : buffer_(buffer) {}

  bool empty() const { return used_ <= sizeof(PacketHeader); }
  std::size_t used() const { return used_; }
  static constexpr std::size_t space_for(std::size_t message) {
    return sizeof(std::uint64_t) + (message + 7) / 8 * 8;
  }
  bool fits(std::size_t message) const { return space_for(message) <= buffer_.size() - used_; }
  /// The bytes of the longest message that fits. The buffer must have space for the word before it.
  std::size_t space_left() const {
    return (buffer_.size() - used_) / 8 * 8 - sizeof(std::uint64_t);
  }

  /// `code`: not 0 if the receiver shall keep the message under this code; see MessageCodes.
  /// `continues`: these are not the last bytes of the message.
  void add(std::span<const std::byte> header, std::span<const std::byte> payload,
           std::uint32_t code = 0, bool continues = false) {
    const std::uint64_t bytes = header.size() + payload.size();
    const std::uint64_t prefix =
        std::uint64_t{code} << code_shift | (continues ? continues_bit : 0) | bytes;
    std::byte* to = buffer_.data() + used_;
    std::memcpy(to, &prefix, sizeof prefix);
    std::memcpy(to + sizeof bytes, header.data(), header.size());
    if (!payload.empty()) {
      std::memcpy(to + sizeof bytes + header.size(), payload.data(), payload.size());
    }
    const std::size_t space = space_for(bytes);
    std::memset(to + sizeof bytes + bytes, 0, space - sizeof bytes - bytes);
    used_ += space;
  }

  /// Continues the packet in another buffer, which is at least as long.
  void move_to(std::span<std::byte> buffer) {
    std::memcpy(buffer.data(), buffer_.data(), used_);
    buffer_ = buffer;
  }

  /// Completes the header and returns the packet, ready to be sent.
  std::span<const std::byte> close(std::uint64_t source, std::uint32_t sequence,
                                   std::uint32_t receiver, std::uint32_t taken = 0) {
    PacketHeader header;
    header.bytes = static_cast<std::uint32_t>(used_);
    header.source = source;
    header.sequence = sequence;
    header.receiver = receiver;
    header.taken = taken;
    std::memcpy(buffer_.data(), &header, sizeof header);
    return buffer_.first(used_);
  }

 private:
  std::span<std::byte> buffer_;
  std::size_t used_ = sizeof(PacketHeader);
};

/// Reads the messages of a packet. Everything that has arrived is checked before it is used.
class PacketReader {
 public:
  PacketReader() = default;
  /// `packet` is aligned to 8 bytes, and must outlive this object.
  explicit PacketReader(std::span<const std::byte> packet) {
    PacketHeader header;
    if (packet.size() < sizeof header) return;
    std::memcpy(&header, packet.data(), sizeof header);
    if (header.magic != PacketHeader::magic_value || header.bytes != packet.size()) return;
    header_ = header;
    rest_ = packet.subspan(sizeof header);
  }

  bool valid() const { return header_.bytes != 0; }
  std::uint64_t source() const { return header_.source; }
  std::uint32_t sequence() const { return header_.sequence; }
  std::uint32_t receiver() const { return header_.receiver; }
  std::uint32_t taken() const { return header_.taken; }
  /// The next message; empty at the end, and if the next bytes are not a valid message.
  std::span<const std::byte> next() {
    std::uint64_t prefix = 0;
    if (rest_.size() < sizeof prefix) return {};
    std::memcpy(&prefix, rest_.data(), sizeof prefix);
    const std::uint64_t bytes = prefix & (PacketWriter::continues_bit - 1);
    continues_ = (prefix & PacketWriter::continues_bit) != 0;
    code_ = static_cast<std::uint32_t>(prefix >> PacketWriter::code_shift);
    if (bytes > rest_.size() || PacketWriter::space_for(bytes) > rest_.size()) {
      rest_ = {};
      return {};
    }
    const auto message = rest_.subspan(sizeof prefix, bytes);
    rest_ = rest_.subspan(PacketWriter::space_for(bytes));
    return message;
  }
  /// The code of the message that next() has returned. Not 0: the message must be kept under it.
  std::uint32_t code() const { return code_; }
  /// Returns whether more bytes of that message follow in the sender's next packet.
  bool continues() const { return continues_; }

 private:
  PacketHeader header_;  // of no bytes: the packet is not valid
  std::uint32_t code_ = 0;
  bool continues_ = false;
  std::span<const std::byte> rest_;
};

/// Restores the order of items that one sender has numbered from 1. The numbers wrap.
template <typename Item>
class InOrder {
 public:
  enum class Turn : std::uint8_t {
    now,    // the item is the next one
    later,  // the item is kept until its turn
    never   // the item has arrived before, or its number is invalid
  };

  /// Offers an item. It counts as taken if its turn is `now`, is moved from if its turn is `later`,
  /// and is left alone if its turn is `never`.
  Turn offer(std::uint32_t sequence, Item& item) {
    const std::uint32_t ahead = sequence - taken_;  // very large for an old number
    if (ahead == 1) {
      ++taken_;
      return Turn::now;
    }
    if (ahead == 0 || ahead > most_ahead ||
        std::ranges::find(early_, sequence, &Early::sequence) != early_.end()) {
      return Turn::never;
    }
    early_.push_back({sequence, std::move(item)});
    return Turn::later;
  }
  /// The kept item whose turn it is, if any.
  std::optional<Item> next() {
    const auto found = std::ranges::find(early_, taken_ + 1, &Early::sequence);
    if (found == early_.end()) return std::nullopt;
    ++taken_;
    std::optional<Item> item(std::move(found->item));
    early_.erase(found);
    return item;
  }
  /// Removes and returns all kept items.
  std::vector<Item> drop() {
    std::vector<Item> dropped;
    for (Early& early : std::exchange(early_, {})) dropped.push_back(std::move(early.item));
    return dropped;
  }
  /// The last number taken.
  std::uint32_t taken() const { return taken_; }

 private:
  /// Few items ever arrive before one that was sent earlier. This also limits the memory that
  /// invalid items can take.
  static constexpr std::uint32_t most_ahead = 512;

  struct Early {
    std::uint32_t sequence;
    Item item;
  };

  std::uint32_t taken_ = 0;
  std::vector<Early> early_;
};

}  // namespace oriel
