// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace card {

[[noreturn]] inline void fail(const char* sentence, long value) {
  std::fprintf(stderr, "FAILED: %s: %ld\n", sentence, value);
  std::_Exit(1);
}

inline void expect(bool holds, const char* sentence, long value = 0) {
  if (!holds) fail(sentence, value);
}

inline void call(ssize_t code) {
  expect(code == 0, "a call of libfabric", code);
}

using Name = std::array<char, 64>;

/// An endpoint on the card with one completion queue, of a program without an MPI.
struct Opened {
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* addresses = nullptr;
  fid_cq* queue = nullptr;
  fid_ep* endpoint = nullptr;
  Name name{};
  bool virtual_addresses = false;  // of registrations; false: offsets

  explicit Opened(std::uint64_t capabilities) {
    fi_info* hints = fi_allocinfo();
    hints->caps = capabilities;
    hints->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
    fi_info* info = nullptr;
    call(fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints, &info));
    virtual_addresses = (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    call(fi_fabric(info->fabric_attr, &fabric, nullptr));
    call(fi_domain(fabric, info, &domain, nullptr));
    fi_av_attr vector{};
    call(fi_av_open(domain, &vector, &addresses, nullptr));
    fi_cq_attr tagged{};
    tagged.format = FI_CQ_FORMAT_TAGGED;
    call(fi_cq_open(domain, &tagged, &queue, nullptr));
    call(fi_endpoint(domain, info, &endpoint, nullptr));
    call(fi_ep_bind(endpoint, &addresses->fid, 0));
    call(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV));
    call(fi_enable(endpoint));
    std::size_t bytes = name.size();
    call(fi_getname(&endpoint->fid, name.data(), &bytes));
    fi_freeinfo(info);
    fi_freeinfo(hints);
  }

  void insert(const Name& peer) {
    expect(fi_av_insert(addresses, peer.data(), 1, nullptr, 0, nullptr) == 1, "an address");
  }
};

}  // namespace card
