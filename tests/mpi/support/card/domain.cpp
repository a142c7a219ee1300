// SPDX-License-Identifier: BSD-3-Clause
#include "domain.hpp"

#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "endpoint.hpp"
#include "queue.hpp"
#include "refuse.hpp"
#include "settings.hpp"

namespace card {
namespace {

// Those of this process that are open. A program may leave some open when it ends.
std::mutex domains_mutex;
auto& domains = *new std::set<Domain*>;

/// A registration of memory.
class Registration : public fid_mr {
 public:
  static int open(fid_t domain, const void* memory, std::size_t bytes, std::uint64_t access,
                  std::uint64_t /*offset*/, std::uint64_t wanted_key, std::uint64_t /*flags*/,
                  fid_mr** made, void* context) {
    auto* opened = new Registration;
    opened->domain_ = reinterpret_cast<Domain*>(domain);
    const int code = opened->domain_->add_region(memory, bytes, access, wanted_key, opened->key);
    if (code != 0) {
      delete opened;
      return code;
    }
    opened->fid = {FI_CLASS_MR, context, &objects};
    opened->mem_desc = opened;
    *made = opened;
    return 0;
  }
  static int open_vector(fid_t domain, const iovec* runs, std::size_t count, std::uint64_t access,
                         std::uint64_t offset, std::uint64_t wanted_key, std::uint64_t flags,
                         fid_mr** made, void* context) {
    if (count != 1) return -FI_EINVAL;
    return open(domain, runs->iov_base, runs->iov_len, access, offset, wanted_key, flags, made,
                context);
  }
  static int open_attributes(fid_t domain, const fi_mr_attr* attributes, std::uint64_t flags,
                             fid_mr** made) {
    return open_vector(domain, attributes->mr_iov, attributes->iov_count, attributes->access,
                       attributes->offset, attributes->requested_key, flags, made,
                       attributes->context);
  }

 private:
  static int close(fid_t object) {
    auto* closed = reinterpret_cast<Registration*>(object);
    closed->domain_->remove_region(closed->key);
    delete closed;
    return 0;
  }
  static int accept_binding(fid_t /*object*/, fid_t /*other*/, std::uint64_t /*flags*/) {
    return 0;
  }
  static int control(fid_t /*object*/, int command, void* /*argument*/) {
    return command == FI_ENABLE ? 0 : -FI_ENOSYS;
  }

  static inline fi_ops objects{sizeof(fi_ops), close,  accept_binding, control,
                               refuse,         refuse, refuse};
  Domain* domain_ = nullptr;
};

}  // namespace

fi_ops AddressVector::objects_{sizeof(fi_ops), AddressVector::close, refuse, refuse, refuse, refuse,
                               refuse};
fi_ops_av AddressVector::addressing_{
    sizeof(fi_ops_av),      AddressVector::insert,   refuse, refuse, AddressVector::remove,
    AddressVector::look_up, AddressVector::describe, refuse};

int AddressVector::open(fid_domain* /*domain*/, fi_av_attr* attributes, fid_av** made,
                        void* context) {
  if (attributes->name != nullptr) return -FI_ENOSYS;
  auto* opened = new AddressVector;
  opened->fid = {FI_CLASS_AV, context, &objects_};
  opened->ops = &addressing_;
  *made = opened;
  return 0;
}

int AddressVector::close(fid_t object) {
  delete reinterpret_cast<AddressVector*>(object);
  return 0;
}

int AddressVector::insert(fid_av* object, const void* addresses, std::size_t count,
                          fi_addr_t* numbers, std::uint64_t /*flags*/, void* /*context*/) {
  auto* into = static_cast<AddressVector*>(object);
  int inserted = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Address address;
    std::memcpy(&address, static_cast<const std::byte*>(addresses) + i * sizeof address,
                sizeof address);
    Peer* peer = Peer::find(address);
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    if (peer != nullptr) {
      number = into->numbers_.try_emplace(address.id, into->peers_.size()).first->second;
      if (number == into->peers_.size()) into->peers_.push_back(peer);
      ++inserted;
    }
    if (numbers != nullptr) numbers[i] = number;
  }
  return inserted;
}

int AddressVector::remove(fid_av* object, fi_addr_t* numbers, std::size_t count,
                          std::uint64_t /*flags*/) {
  auto* from = static_cast<AddressVector*>(object);
  for (std::size_t i = 0; i < count; ++i) {
    Peer* peer = from->peer(numbers[i]);
    if (peer == nullptr) return -FI_EINVAL;
    from->numbers_.erase(peer->address().id);
    from->peers_[numbers[i]] = nullptr;
  }
  return 0;
}

int AddressVector::look_up(fid_av* object, fi_addr_t number, void* address, std::size_t* bytes) {
  Peer* peer = static_cast<AddressVector*>(object)->peer(number);
  if (peer == nullptr) return -FI_EINVAL;
  std::memcpy(address, &peer->address(), std::min(*bytes, sizeof(Address)));
  *bytes = sizeof(Address);
  return 0;
}

const char* AddressVector::describe(fid_av* /*object*/, const void* address, char* text,
                                    std::size_t* length) {
  Address told;
  std::memcpy(&told, address, sizeof told);
  const int needed = std::snprintf(text, *length, "card://%d/%d", told.process, told.descriptor);
  *length = static_cast<std::size_t>(needed) + 1;
  return text;
}

fi_ops Domain::objects_{sizeof(fi_ops), Domain::close, refuse, refuse, refuse, refuse, refuse};
fi_ops_domain Domain::opening_{sizeof(fi_ops_domain),
                               AddressVector::open,
                               Queue::open,
                               Endpoint::open,
                               refuse,
                               Counter::open,
                               refuse,
                               refuse,
                               refuse,
                               refuse,
                               refuse,
                               refuse};
fi_ops_mr Domain::registering_{sizeof(fi_ops_mr), Registration::open, Registration::open_vector,
                               Registration::open_attributes};

int Domain::open(fid_fabric* /*fabric*/, fi_info* /*info*/, fid_domain** made, void* context) {
  auto* opened = new Domain;
  opened->segment_ = Segment::create(opened->address_);
  if (opened->segment_ == nullptr) {
    delete opened;
    return -FI_ENOMEM;
  }
  opened->fid = {FI_CLASS_DOMAIN, context, &objects_};
  opened->ops = &opening_;
  opened->mr = &registering_;
  const std::lock_guard<std::mutex> held(domains_mutex);
  domains.insert(opened);
  *made = opened;
  return 0;
}

Counts Domain::counts() {
  const std::lock_guard<std::mutex> held(domains_mutex);
  Counts counts{};
  for (const Domain* domain : domains) {
    if (domain->has_endpoint_) ++counts.endpoints;
    counts.arrivals += domain->segment_->ring.arrivals();
    counts.registrations += static_cast<std::uint64_t>(std::ranges::count_if(
        domain->segment_->regions, [](const Region& region) { return region.key.load() != 0; }));
  }
  return counts;
}

int Domain::close(fid_t object) {
  auto* closed = reinterpret_cast<Domain*>(object);
  if (closed->has_endpoint_) return -FI_EBUSY;
  const std::lock_guard<std::mutex> held(domains_mutex);
  domains.erase(closed);
  ::munmap(closed->segment_, sizeof(Segment));
  ::close(closed->address_.descriptor);
  delete closed;
  return 0;
}

int Domain::add_region(const void* memory, std::uint64_t bytes, std::uint64_t access,
                       std::uint64_t wanted_key, std::uint64_t& key) {
  const bool callers = Settings::get().caller_keys;
  const std::uint64_t used = segment_->regions_used.load(std::memory_order_relaxed);
  std::uint64_t free = used;
  for (std::uint64_t i = 0; i < used; ++i) {
    const std::uint64_t taken = segment_->regions[i].key.load(std::memory_order_relaxed);
    if (callers && taken == (wanted_key | Region::live_bit)) return -FI_ENOKEY;
    if (taken == 0) free = std::min(free, i);
  }
  if (free == Segment::most_regions) return -FI_ENOSPC;
  key = callers ? wanted_key : ++registrations_ << 16 | free;
  Region& region = segment_->regions[free];
  region.begin = reinterpret_cast<std::uintptr_t>(memory);
  region.bytes = bytes;
  region.address = callers ? 0 : region.begin;
  region.access = access;
  // Pairs with the acquire of Peer::resolve().
  region.key.store(key | Region::live_bit, std::memory_order_release);
  segment_->regions_used.store(std::max(used, free + 1), std::memory_order_release);
  return 0;
}

void Domain::remove_region(std::uint64_t key) {
  for (Region& region : segment_->regions) {
    std::uint64_t taken = key | Region::live_bit;
    if (region.key.compare_exchange_strong(taken, 0)) return;
  }
}

}  // namespace card
