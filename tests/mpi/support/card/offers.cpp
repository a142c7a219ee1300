// SPDX-License-Identifier: BSD-3-Clause
#include "offers.hpp"

#include <cstdlib>
#include <cstring>

#include "segment.hpp"
#include "settings.hpp"
#include "vector.hpp"

namespace card {
namespace {

// Later versions of libfabric have fields behind those of the version that is compiled with.
constexpr std::size_t room_for_later_fields = 256;

template <typename Part>
Part* make() {
  return static_cast<Part*>(std::calloc(1, sizeof(Part) + room_for_later_fields));
}

template <typename Part>
void copy(Part* to, const Part* from) {
  if (from != nullptr) std::memcpy(to, from, sizeof(Part));
}

char* copy_text(const char* text) {
  return text != nullptr ? ::strdup(text) : nullptr;
}

constexpr std::uint64_t longest = std::uint64_t{1} << 30;
constexpr std::size_t most_under_way = 1024;

constexpr std::uint64_t transmits =
    FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ | FI_WRITE;
constexpr std::uint64_t receives = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV |
                                   FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV |
                                   FI_DIRECTED_RECV | FI_SOURCE;
constexpr std::uint64_t reaches = FI_LOCAL_COMM | FI_REMOTE_COMM;

constexpr std::uint64_t order_of_messages = FI_ORDER_SAS | FI_ORDER_ATOMIC_RAR |
                                            FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR |
                                            FI_ORDER_ATOMIC_WAW;
constexpr std::uint64_t order_of_writes =
    FI_ORDER_STRICT | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW;

std::uint64_t order() {
  return order_of_messages | (Settings::get().orders_writes ? order_of_writes : 0);
}

int registration_modes() {
  return Settings::get().caller_keys ? FI_MR_ALLOCATED | FI_MR_ENDPOINT
                                     : FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
}

bool within(std::uint64_t asked, std::uint64_t there) {
  return (asked & ~there) == 0;
}

bool accepts(const fi_domain_attr& asked, std::uint64_t caps) {
  // The older names of the modes.
  const bool old_modes = asked.mr_mode == FI_MR_UNSPEC ||
                         (asked.mr_mode == FI_MR_BASIC && !Settings::get().caller_keys);
  // Registrations are bound to an endpoint where a program can do that, and need not be. Messages
  // alone need none.
  const bool registers = caps == 0 || (caps & (FI_RMA | FI_ATOMIC)) != 0;
  const int needed = registers ? registration_modes() & ~FI_MR_ENDPOINT : 0;
  return (old_modes || (needed & ~asked.mr_mode) == 0) && asked.threading != FI_THREAD_SAFE &&
         asked.data_progress != FI_PROGRESS_AUTO && asked.control_progress != FI_PROGRESS_AUTO &&
         asked.cq_data_size <= 8 &&
         (asked.name == nullptr || std::strcmp(asked.name, "card0") == 0);
}

bool accepts(const fi_info& hints) {
  const Settings& settings = Settings::get();
  const fi_fabric_attr* fabric = hints.fabric_attr;
  if (fabric != nullptr && fabric->prov_name != nullptr && settings.name != fabric->prov_name) {
    return false;
  }
  if (!within(hints.caps, transmits | receives | reaches)) return false;
  if (hints.addr_format != FI_FORMAT_UNSPEC) return false;
  if (const fi_ep_attr* endpoint = hints.ep_attr;
      endpoint != nullptr &&
      ((endpoint->type != FI_EP_UNSPEC && endpoint->type != FI_EP_RDM) ||
       endpoint->max_msg_size > longest || endpoint->tx_ctx_cnt > 1 || endpoint->rx_ctx_cnt > 1)) {
    return false;
  }
  if (const fi_tx_attr* transmit = hints.tx_attr;
      transmit != nullptr &&
      (!within(transmit->msg_order, order()) || transmit->inject_size > settings.inject ||
       transmit->iov_limit > Vector::most || transmit->rma_iov_limit > Vector::most)) {
    return false;
  }
  if (hints.rx_attr != nullptr && !within(hints.rx_attr->msg_order, order())) return false;
  return hints.domain_attr == nullptr || accepts(*hints.domain_attr, hints.caps);
}

}  // namespace

fi_info* empty_info() {
  auto* info = make<fi_info>();
  info->tx_attr = make<fi_tx_attr>();
  info->rx_attr = make<fi_rx_attr>();
  info->ep_attr = make<fi_ep_attr>();
  info->domain_attr = make<fi_domain_attr>();
  info->fabric_attr = make<fi_fabric_attr>();
  return info;
}

fi_info* copy_info(const fi_info& info) {
  fi_info* copied = empty_info();
  copied->caps = info.caps;
  copied->mode = info.mode;
  copied->addr_format = info.addr_format;
  copied->src_addrlen = info.src_addrlen;
  if (info.src_addr != nullptr) {
    copied->src_addr = std::calloc(1, info.src_addrlen);
    std::memcpy(copied->src_addr, info.src_addr, info.src_addrlen);
  }
  copy(copied->tx_attr, info.tx_attr);
  copy(copied->rx_attr, info.rx_attr);
  copy(copied->ep_attr, info.ep_attr);
  copy(copied->domain_attr, info.domain_attr);
  copy(copied->fabric_attr, info.fabric_attr);
  copied->domain_attr->name = copy_text(copied->domain_attr->name);
  copied->fabric_attr->name = copy_text(copied->fabric_attr->name);
  copied->fabric_attr->prov_name = copy_text(copied->fabric_attr->prov_name);
  return copied;
}

void free_info(fi_info* info) {
  while (info != nullptr) {
    fi_info* next = info->next;
    if (info->domain_attr != nullptr) std::free(info->domain_attr->name);
    if (info->fabric_attr != nullptr) {
      std::free(info->fabric_attr->name);
      std::free(info->fabric_attr->prov_name);
    }
    std::free(info->src_addr);
    std::free(info->dest_addr);
    std::free(info->tx_attr);
    std::free(info->rx_attr);
    std::free(info->ep_attr);
    std::free(info->domain_attr);
    std::free(info->fabric_attr);
    std::free(info);
    info = next;
  }
}

fi_info* offer(const fi_info* hints) {
  if (hints != nullptr && !accepts(*hints)) return nullptr;
  const Settings& settings = Settings::get();
  const bool asked = hints != nullptr && hints->caps != 0;
  fi_info* info = empty_info();
  info->caps = (asked ? hints->caps : 0) | transmits | receives | reaches;
  info->addr_format = FI_FORMAT_UNSPEC;
  info->src_addrlen = 0;

  fi_tx_attr& transmit = *info->tx_attr;
  transmit.caps = transmits;
  transmit.op_flags = hints != nullptr && hints->tx_attr != nullptr ? hints->tx_attr->op_flags : 0;
  transmit.msg_order = order();
  transmit.inject_size = settings.inject;
  transmit.size = most_under_way;
  transmit.iov_limit = Vector::most;
  transmit.rma_iov_limit = Vector::most;

  fi_rx_attr& receive = *info->rx_attr;
  receive.caps = receives;
  receive.op_flags = hints != nullptr && hints->rx_attr != nullptr ? hints->rx_attr->op_flags : 0;
  receive.msg_order = order();
  receive.size = most_under_way;
  receive.iov_limit = Vector::most;

  fi_ep_attr& endpoint = *info->ep_attr;
  endpoint.type = FI_EP_RDM;
  endpoint.protocol_version = 1;
  endpoint.max_msg_size = longest;
  endpoint.max_order_raw_size = settings.orders_writes ? longest : 0;
  endpoint.max_order_war_size = settings.orders_writes ? longest : 0;
  endpoint.max_order_waw_size = settings.orders_writes ? longest : 0;
  endpoint.mem_tag_format = ~std::uint64_t{0} >> 1;
  endpoint.tx_ctx_cnt = 1;
  endpoint.rx_ctx_cnt = 1;

  fi_domain_attr& domain = *info->domain_attr;
  domain.name = copy_text("card0");
  domain.threading = FI_THREAD_DOMAIN;
  domain.control_progress = FI_PROGRESS_MANUAL;
  domain.data_progress = FI_PROGRESS_MANUAL;
  domain.resource_mgmt = FI_RM_ENABLED;
  domain.av_type = hints != nullptr && hints->domain_attr != nullptr &&
                           hints->domain_attr->av_type != FI_AV_UNSPEC
                       ? hints->domain_attr->av_type
                       : FI_AV_TABLE;
  domain.mr_mode = registration_modes();
  if (hints != nullptr && hints->domain_attr != nullptr) {
    domain.mr_mode &=
        hints->domain_attr->mr_mode | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  }
  domain.mr_key_size = 8;
  domain.cq_data_size = 8;
  domain.cq_cnt = 64;
  domain.ep_cnt = 1;
  domain.tx_ctx_cnt = 1;
  domain.rx_ctx_cnt = 1;
  domain.max_ep_tx_ctx = 1;
  domain.max_ep_rx_ctx = 1;
  domain.cntr_cnt = 64;
  domain.mr_iov_limit = 1;
  domain.mr_cnt = Segment::most_regions;
  domain.caps = reaches;

  fi_fabric_attr& fabric = *info->fabric_attr;
  fabric.name = copy_text("card");
  fabric.prov_name = copy_text(settings.name.c_str());
  fabric.prov_version = FI_VERSION(1, 0);
  fabric.api_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  return info;
}

}  // namespace card
