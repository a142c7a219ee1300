// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "counts.hpp"
#include "peer.hpp"
#include "segment.hpp"

namespace card {

/// Addresses are numbers of peers, in the order of insertion.
class AddressVector : public fid_av {
 public:
  static int open(fid_domain* domain, fi_av_attr* attributes, fid_av** made, void* context);

  Peer* peer(fi_addr_t address) const {
    return address < peers_.size() ? peers_[address] : nullptr;
  }
  /// The number of the peer with this id, or FI_ADDR_NOTAVAIL.
  fi_addr_t find(std::uint64_t id) const {
    const auto found = numbers_.find(id);
    return found != numbers_.end() ? found->second : FI_ADDR_NOTAVAIL;
  }

 private:
  AddressVector() = default;
  static int close(fid_t object);
  static int insert(fid_av* object, const void* addresses, std::size_t count, fi_addr_t* numbers,
                    std::uint64_t flags, void* context);
  static int remove(fid_av* object, fi_addr_t* numbers, std::size_t count, std::uint64_t flags);
  static int look_up(fid_av* object, fi_addr_t number, void* address, std::size_t* bytes);
  static const char* describe(fid_av* object, const void* address, char* text, std::size_t* length);

  static fi_ops objects_;
  static fi_ops_av addressing_;

  std::vector<Peer*> peers_;
  std::unordered_map<std::uint64_t, fi_addr_t> numbers_;
};

/// A domain with its one endpoint and its registrations.
class Domain : public fid_domain {
 public:
  static int open(fid_fabric* fabric, fi_info* info, fid_domain** made, void* context);

  /// The counts of all domains of this process together.
  static Counts counts();

  const Address& address() const { return address_; }
  Segment& segment() { return *segment_; }
  int add_region(const void* memory, std::uint64_t bytes, std::uint64_t access,
                 std::uint64_t wanted_key, std::uint64_t& key);
  void remove_region(std::uint64_t key);
  bool take_endpoint() { return !std::exchange(has_endpoint_, true); }
  void free_endpoint() { has_endpoint_ = false; }

 private:
  Domain() = default;
  static int close(fid_t object);

  static fi_ops objects_;
  static fi_ops_domain opening_;
  static fi_ops_mr registering_;

  Address address_;
  Segment* segment_ = nullptr;
  bool has_endpoint_ = false;
  std::uint64_t registrations_ = 0;  // so far
};

}  // namespace card
