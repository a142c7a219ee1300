// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/numbered.hpp"
#include "core/transport/transport.hpp"
#include "transport/ofi/endpoint_name.hpp"
#include "transport/ofi/libfabric.hpp"

namespace oriel {

/// A reliable endpoint of libfabric with what belongs to it: for whoever derives from it.
class OfiEndpoint {
 public:
  OfiEndpoint(const OfiEndpoint&) = delete;
  OfiEndpoint& operator=(const OfiEndpoint&) = delete;

 protected:
  OfiEndpoint() = default;
  ~OfiEndpoint();

  /// The best of what libfabric offers for the hints, which it takes, that reaches other nodes: of
  /// this provider, of any if empty. Null if nothing does, and `code` says why.
  fi_info* best_offer(fi_info* hints, const std::string& provider, int& code) const;
  /// Of `info_`.
  bool open_endpoint(std::string& error);
  /// So that memory that it uses may be given back.
  void close_endpoint();
  bool fail(std::string& error, const char* step, long code) const;

  /// Number of the process that has an endpoint of this name, the same every time: processes are
  /// numbered from 0 in the order in which they are attached. -1 where it cannot be reached, and
  /// `error` is a sentence.
  int attach_endpoint(const EndpointName& name, std::string& error);
  /// -1: it was not attached.
  int number_of(std::uint64_t id) const;
  fi_addr_t address_of(int number) const { return peers_[static_cast<std::size_t>(number)]; }

  int register_memory(const void* memory, std::uint64_t bytes, std::uint64_t access, fid_mr*& made);
  /// Registers memory for access by others, of kinds that libfabric has flags for. Its number, or
  /// -1.
  int expose_memory(void* memory, std::uint64_t bytes, std::uint64_t access, RemoteMemory& exposed);
  void withdraw_memory(int exposure);

  /// Nothing has come that the wait descriptor would not tell of.
  bool quiet();

  const Libfabric* library_ = nullptr;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  int wait_descriptor_ = -1;  // readable when something may have come; -1: there is none
  bool local_registration_ = false;
  EndpointName own_name_;

 private:
  bool take_name(std::string& error);

  std::vector<fi_addr_t> peers_;
  std::unordered_map<std::uint64_t, int> numbers_;  // by EndpointName::id
  Numbered<fid_mr*> exposures_;
  std::uint64_t registrations_ = 0;  // there have been
};

/// Closes what libfabric has made.
template <typename Object>
void close_object(Object*& object) {
  if (object != nullptr) fi_close(&object->fid);
  object = nullptr;
}

}  // namespace oriel
