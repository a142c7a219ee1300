// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/transport/transport.hpp"
#include "transport/ofi/endpoint_name.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/node_addresses.hpp"

namespace oriel {

/// A reliable endpoint of libfabric with its objects; a base class.
class OfiEndpoint {
 public:
  OfiEndpoint(const OfiEndpoint&) = delete;
  OfiEndpoint& operator=(const OfiEndpoint&) = delete;

  fid_ep* handle() const { return endpoint_; }
  const Fabric& facts() const { return facts_; }
  const EndpointName& own_name() const { return own_name_; }
  /// Returns whether the provider requires that our memory is registered (FI_MR_LOCAL).
  bool local_registration() const { return local_registration_; }
  /// The number of the process with this id; -1 if it has not been attached.
  int number_of(std::uint64_t id) const;
  fi_addr_t address_of(int number) const { return peers_[static_cast<std::size_t>(number)]; }
  int register_memory(const void* memory, std::uint64_t bytes, std::uint64_t access, fid_mr*& made);
  /// The number of the process whose endpoint has this name. Processes are numbered from 0 in the
  /// order in which they are attached; attaching one again returns its number. -1 if it cannot be
  /// reached; `error` is a sentence then.
  int attach_endpoint(const EndpointName& name, std::string& error);
  /// Registers memory for access by other processes; `access` has libfabric's flags. Returns its
  /// number, or -1.
  int expose_memory(void* memory, std::uint64_t bytes, std::uint64_t access, RemoteMemory& exposed);
  void withdraw_memory(int exposure);
  /// Returns whether nothing has arrived that the wait descriptor would not report.
  bool quiet();
  int wait_descriptor() const { return wait_descriptor_; }
  /// The clause that the provider refused a step: "to send a packet", for example.
  std::string refusal(const std::string& step, long code) const;
  /// Sets `error` to a sentence about a step in opening the endpoint. Returns false.
  bool fail(std::string& error, const char* step, long code) const;

 protected:
  OfiEndpoint() = default;
  ~OfiEndpoint();

  /// Opens the endpoint that `info_` describes.
  bool open_endpoint(std::string& error);
  /// Closes the endpoint, so that memory that it uses can be freed.
  void close_endpoint();
  /// Takes completions from the queue, and calls `over` with each one and its code: libfabric's, or
  /// 0. The entry of a completion with an error has only its context. Returns libfabric's code if
  /// the queue has reported nothing, else 0.
  template <typename Over>
  long read_completions(const Over& over);
  /// The addresses of this process's lifeline.
  NodeAddresses lifeline_addresses() const;

  const Libfabric* library_ = nullptr;
  fi_info* info_ = nullptr;
  Fabric facts_;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  int wait_descriptor_ = -1;  // readable if something may have arrived; -1: none
  bool local_registration_ = false;
  EndpointName own_name_;

 private:
  bool read_own_name(std::string& error);

  std::vector<fi_addr_t> peers_;
  std::unordered_map<std::uint64_t, int> numbers_;  // by EndpointName::id
  std::vector<fid_mr*> exposures_;                  // by number; null: the number is free
  std::uint64_t registrations_ = 0;                 // number of registrations so far
};

template <typename Over>
long OfiEndpoint::read_completions(const Over& over) {
  std::array<fi_cq_data_entry, 16> entries;
  const long count = fi_cq_read(completions_, entries.data(), entries.size());
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry failed{};
    if (fi_cq_readerr(completions_, &failed, 0) > 0) over({failed.op_context}, failed.err);
    return 0;
  }
  for (long i = 0; i < count; ++i) over(entries[static_cast<std::size_t>(i)], 0);
  return std::min(count, 0L);
}

/// Closes an object of libfabric.
template <typename Object>
void close_object(Object*& object) {
  if (object != nullptr) fi_close(&object->fid);
  object = nullptr;
}

}  // namespace oriel
