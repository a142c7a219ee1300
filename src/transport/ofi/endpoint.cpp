// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/endpoint.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace oriel {

OfiEndpoint::~OfiEndpoint() {
  close_endpoint();
  close_object(domain_);
  close_object(fabric_);
  if (info_ != nullptr) library_->freeinfo(info_);
}

void OfiEndpoint::close_endpoint() {
  close_object(endpoint_);
  close_object(completions_);
  close_object(addresses_);
  for (fid_mr*& exposure : exposures_) close_object(exposure);
}

std::string OfiEndpoint::refusal(const std::string& step, long code) const {
  return std::string("libfabric's provider ") +
         (info_ != nullptr ? info_->fabric_attr->prov_name : "") + " refused " + step + ": " +
         library_->describe(code);
}

bool OfiEndpoint::fail(std::string& error, const char* step, long code) const {
  error = refusal(step, code) + "; choose another one with ORIEL_OFI_PROVIDER";
  return false;
}

bool OfiEndpoint::open_endpoint(std::string& error) {
  const auto refused = [&](int code, const char* step) {
    if (code == 0) return false;
    // The domain is abandoned: tcp of libfabric 2.5 frees a part of it twice when it is closed
    // after the provider could not open an endpoint for want of descriptors.
    domain_ = nullptr;
    return !fail(error, step, code);
  };
  if (refused(library_->fabric(info_->fabric_attr, &fabric_, nullptr), "to open the fabric") ||
      refused(fi_domain(fabric_, info_, &domain_, nullptr), "to open the domain")) {
    return false;
  }
  fi_av_attr av{};
  av.type = info_->domain_attr->av_type;
  if (refused(fi_av_open(domain_, &av, &addresses_, nullptr), "an address vector")) return false;
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_DATA;
  cq.wait_obj = FI_WAIT_FD;
  cq.size = 4096;
  if (facts_.signals_arrivals && fi_cq_open(domain_, &cq, &completions_, nullptr) == 0) {
    fi_control(&completions_->fid, FI_GETWAIT, &wait_descriptor_);
  } else {
    cq.wait_obj = FI_WAIT_NONE;
    if (refused(fi_cq_open(domain_, &cq, &completions_, nullptr), "a completion queue")) {
      return false;
    }
  }
  if (refused(fi_endpoint(domain_, info_, &endpoint_, nullptr), "an endpoint") ||
      refused(fi_ep_bind(endpoint_, &addresses_->fid, 0), "to bind the address vector") ||
      refused(fi_ep_bind(endpoint_, &completions_->fid, FI_TRANSMIT | FI_RECV),
              "to bind the completion queue") ||
      refused(fi_enable(endpoint_), "to enable the endpoint")) {
    return false;
  }
  local_registration_ = (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  return read_own_name(error);
}

bool OfiEndpoint::read_own_name(std::string& error) {
  if (::getrandom(&own_name_.id, sizeof own_name_.id, 0) != sizeof own_name_.id) {
    error = "no random id for this process could be drawn";
    return false;
  }
  std::strncpy(own_name_.provider.data(), info_->fabric_attr->prov_name,
               own_name_.provider.size() - 1);
  std::size_t length = own_name_.address.size();
  const int code = fi_getname(&endpoint_->fid, own_name_.address.data(), &length);
  if (code == -FI_ETOOSMALL) {
    error = std::string("an address of libfabric's provider ") + own_name_.provider.data() +
            " has " + std::to_string(length) + " bytes, and Oriel takes at most " +
            std::to_string(own_name_.address.size()) +
            "; choose another one with ORIEL_OFI_PROVIDER";
    return false;
  }
  if (code != 0) return fail(error, "to tell the address of the endpoint", code);
  own_name_.address_bytes = static_cast<std::uint32_t>(length);
  return true;
}

NodeAddresses OfiEndpoint::lifeline_addresses() const {
  NodeAddresses own;
  // Only the kernel's IP sends TCP wherever it sends the endpoint's messages. verbs has IP
  // addresses, too, but a firewall that refuses TCP does not see its messages.
  if (facts_.kernel_ip && has_ip_address(*info_)) {
    own = addresses_of_endpoint(std::span(own_name_.address).first(own_name_.address_bytes));
  }
  return own.all.empty() ? addresses_of_node() : own;
}

int OfiEndpoint::attach_endpoint(const EndpointName& name, std::string& error) {
  if (const int known = number_of(name.id); known >= 0) return known;
  if (name.provider != own_name_.provider) {
    error = std::string("it uses libfabric's provider ") + name.provider.data() + ", this one " +
            own_name_.provider.data() + "; set ORIEL_OFI_PROVIDER alike on all nodes";
    return -1;
  }
  fi_addr_t address = FI_ADDR_UNSPEC;
  if (fi_av_insert(addresses_, name.address.data(), 1, &address, 0, nullptr) != 1) {
    error = "libfabric did not take its address";
    return -1;
  }
  const int number = static_cast<int>(peers_.size());
  peers_.push_back(address);
  numbers_.emplace(name.id, number);
  return number;
}

int OfiEndpoint::number_of(std::uint64_t id) const {
  const auto known = numbers_.find(id);
  return known != numbers_.end() ? known->second : -1;
}

int OfiEndpoint::register_memory(const void* memory, std::uint64_t bytes, std::uint64_t access,
                                 fid_mr*& made) {
  // A key of its own, for providers that let the caller choose keys.
  int code = fi_mr_reg(domain_, memory, bytes, access, 0, ++registrations_, 0, &made, nullptr);
  if (code != 0 || (info_->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return code;
  code = fi_mr_bind(made, &endpoint_->fid, 0);
  if (code == 0) code = fi_mr_enable(made);
  if (code != 0) close_object(made);
  return code;
}

int OfiEndpoint::expose_memory(void* memory, std::uint64_t bytes, std::uint64_t access,
                               RemoteMemory& exposed) {
  fid_mr* made = nullptr;
  if (register_memory(memory, bytes, access, made) != 0) return -1;
  const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  exposed.address = by_address ? reinterpret_cast<std::uintptr_t>(memory) : 0;
  exposed.key = fi_mr_key(made);
  if (exposed.key == FI_KEY_NOTAVAIL) {
    close_object(made);
    return -1;
  }
  auto free = std::ranges::find(exposures_, nullptr);
  if (free == exposures_.end()) free = exposures_.insert(free, nullptr);
  *free = made;
  return static_cast<int>(free - exposures_.begin());
}

void OfiEndpoint::withdraw_memory(int exposure) {
  close_object(exposures_[static_cast<std::size_t>(exposure)]);
}

bool OfiEndpoint::quiet() {
  fid* queue = &completions_->fid;
  return fi_trywait(fabric_, &queue, 1) == FI_SUCCESS;
}

}  // namespace oriel
