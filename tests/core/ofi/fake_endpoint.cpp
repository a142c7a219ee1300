// SPDX-License-Identifier: BSD-3-Clause
#include "ofi/fake_endpoint.hpp"

#include <rdma/fi_errno.h>

#include <cstring>
#include <string>

namespace oriel::ofi_test {
namespace {

int next(std::deque<int>& codes) {
  if (codes.empty()) return 0;
  const int code = codes.front();
  codes.pop_front();
  return code;
}

struct Registration {
  fid_mr object;
  FakeEndpoint* self;
  std::size_t bytes;
};

int close_registration(fid* object) {
  auto* registration = reinterpret_cast<Registration*>(object);
  --registration->self->registered;
  registration->self->registered_bytes -= registration->bytes;
  delete registration;
  return 0;
}

fi_ops registration_functions{};

}  // namespace

/// The endpoint's object is the first member of the object that names us.
FakeEndpoint& FakeEndpoint::of(fid_ep* endpoint) {
  return *reinterpret_cast<decltype(FakeEndpoint::object_)*>(endpoint)->self;
}
FakeEndpoint& FakeEndpoint::of(fid_cq* queue) {
  return *reinterpret_cast<decltype(FakeEndpoint::reporter_)*>(queue)->self;
}

FakeEndpoint::FakeEndpoint() {
  functions_.strerror = [](int code) { return static_cast<const char*>(std::strerror(code)); };
  library_ = &functions_;
  fabric_attributes_.prov_name = provider_;
  sending_.iov_limit = sending_.rma_iov_limit = 4;
  attributes_.tx_attr = &sending_;
  attributes_.domain_attr = &domain_attributes_;
  attributes_.fabric_attr = &fabric_attributes_;
  info_ = &attributes_;
  facts_.longest_message = std::uint64_t{1} << 30;

  table_functions_.insert = [](fid_av*, const void*, std::size_t, fi_addr_t* address, std::uint64_t,
                               void*) {
    *address = 0;
    return 1;
  };
  table_.ops = &table_functions_;
  addresses_ = &table_;

  messages_.send = [](fid_ep* endpoint, const void* bytes, std::size_t count, void*, fi_addr_t,
                      void* context) -> ssize_t {
    FakeEndpoint& fake = of(endpoint);
    if (const int code = next(fake.send_codes); code != 0) return code;
    const auto* begin = static_cast<const std::byte*>(bytes);
    auto* operation = static_cast<OperationContext*>(context);
    fake.sent.push_back({{begin, begin + count}, static_cast<PacketBuffer*>(operation)});
    return 0;
  };
  messages_.inject = [](fid_ep* endpoint, const void* bytes, std::size_t count,
                        fi_addr_t) -> ssize_t {
    const auto* begin = static_cast<const std::byte*>(bytes);
    of(endpoint).sent.push_back({{begin, begin + count}});
    return 0;
  };
  messages_.recv = [](fid_ep* endpoint, void* memory, std::size_t, void*, fi_addr_t,
                      void* context) -> ssize_t {
    FakeEndpoint& fake = of(endpoint);
    if (const int code = next(fake.receive_codes); code != 0) return code;
    auto* operation = static_cast<OperationContext*>(context);
    fake.posted.push_back({static_cast<PacketBuffer*>(operation), static_cast<std::byte*>(memory)});
    return 0;
  };
  const auto move = [](fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags,
                       bool write) -> ssize_t {
    FakeEndpoint& fake = of(endpoint);
    if (const int code = next(fake.transfer_codes); code != 0) return code;
    fake.moved.push_back({static_cast<OperationContext*>(message->context), write, flags,
                          message->data, message->msg_iov[0], message->rma_iov[0]});
    return 0;
  };
  static const auto moving = move;
  transfers_.writemsg = [](fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
    return moving(endpoint, message, flags, true);
  };
  transfers_.readmsg = [](fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
    return moving(endpoint, message, flags, false);
  };
  object_.endpoint.msg = &messages_;
  object_.endpoint.rma = &transfers_;
  object_.self = this;
  endpoint_ = &object_.endpoint;

  registration_functions.close = close_registration;
  registering_.reg = [](fid* domain, const void*, std::size_t bytes, std::uint64_t, std::uint64_t,
                        std::uint64_t, std::uint64_t, fid_mr** made, void*) {
    FakeEndpoint& fake = *reinterpret_cast<decltype(FakeEndpoint::registrar_)*>(domain)->self;
    if (const int code = next(fake.register_codes); code != 0) return code;
    auto* registration = new Registration{};
    registration->object.fid.ops = &registration_functions;
    registration->self = &fake;
    registration->bytes = bytes;
    ++fake.registered;
    fake.registered_bytes += bytes;
    *made = &registration->object;
    return 0;
  };
  registrar_.domain.mr = &registering_;
  registrar_.self = this;
  domain_ = &registrar_.domain;

  completing_.read = [](fid_cq* queue, void* entries, std::size_t most) -> ssize_t {
    FakeEndpoint& fake = of(queue);
    if (!fake.failures.empty()) return -FI_EAVAIL;
    if (fake.completions.empty()) return fake.queue_code;
    std::size_t count = 0;
    for (; count < most && !fake.completions.empty(); ++count) {
      static_cast<fi_cq_data_entry*>(entries)[count] = fake.completions.front();
      fake.completions.pop_front();
    }
    return static_cast<ssize_t>(count);
  };
  completing_.readerr = [](fid_cq* queue, fi_cq_err_entry* entry, std::uint64_t) -> ssize_t {
    FakeEndpoint& fake = of(queue);
    *entry = fake.failures.front();
    fake.failures.pop_front();
    return entry->err != 0 ? 1 : -FI_EAGAIN;
  };
  reporter_.queue.ops = &completing_;
  reporter_.self = this;
  completions_ = &reporter_.queue;
}

FakeEndpoint::~FakeEndpoint() {
  endpoint_ = nullptr;
  addresses_ = nullptr;
  completions_ = nullptr;
  domain_ = nullptr;
  info_ = nullptr;
}

NetworkName FakeEndpoint::attach(std::uint64_t id) {
  NetworkName name;
  name.endpoint.id = id;
  std::string error;
  attach_endpoint(name.endpoint, error);
  return name;
}

}  // namespace oriel::ofi_test
