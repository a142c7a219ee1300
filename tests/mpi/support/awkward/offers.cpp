// SPDX-License-Identifier: BSD-3-Clause
#include "offers.hpp"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "manners.hpp"
#include "memory.hpp"
#include "transfers.hpp"

namespace awkward {
namespace {

constexpr std::uint64_t orders_of_writes = FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_RMA_WAW;
constexpr std::uint32_t old_version = FI_VERSION(1, 11);
constexpr std::array cards{"down", "elsewhere", "0", "1"};
constexpr const char* card_provider = "cxi";

/// The real library's offers. An offer's handle is the number of its original, counted from 1.
std::vector<fi_info*>& originals() {
  static std::vector<fi_info*> all;
  return all;
}
std::map<std::string, std::string>& fabrics() {
  static std::map<std::string, std::string> real_names;
  return real_names;
}

void rename(char*& text, const std::string& name) {
  std::free(text);
  text = ::strdup(name.c_str());
}

int free_card(fid* object) {
  auto* card = reinterpret_cast<fid_nic*>(object);
  std::free(card->bus_attr);
  std::free(card->link_attr);
  std::free(card);
  return 0;
}

int copy_card(fid* object, int command, void* copy);

/// A card with a link in this state, on PCI. The real library copies and frees it.
fid_nic* make_card(fi_link_state state) {
  static fi_ops functions{sizeof functions, free_card, nullptr, copy_card,
                          nullptr,          nullptr,   nullptr};
  auto* card = static_cast<fid_nic*>(std::calloc(1, sizeof(fid_nic)));
  card->fid.fclass = FI_CLASS_NIC;
  card->fid.ops = &functions;
  card->bus_attr = static_cast<fi_bus_attr*>(std::calloc(1, sizeof(fi_bus_attr)));
  card->bus_attr->bus_type = FI_BUS_PCI;
  card->link_attr = static_cast<fi_link_attr*>(std::calloc(1, sizeof(fi_link_attr)));
  card->link_attr->state = state;
  return card;
}

int copy_card(fid* object, int command, void* copy) {
  if (command != FI_DUP) return -FI_ENOSYS;
  *static_cast<fid_nic**>(copy) = make_card(reinterpret_cast<fid_nic*>(object)->link_attr->state);
  return 0;
}

/// Copies of the offer, one for each card.
std::vector<fi_info*> on_cards(const fi_info& offer) {
  std::vector<fi_info*> all;
  for (const std::string_view card : cards) {
    fi_info* copy = real(fi_dupinfo, "fi_dupinfo")(&offer);
    rename(copy->domain_attr->name, copy->domain_attr->name + ("-" + std::string(card)));
    if (copy->nic != nullptr) fi_close(&copy->nic->fid);
    copy->nic = make_card(card == "down" ? FI_LINK_DOWN : FI_LINK_UP);
    if (card == "elsewhere") {
      std::array<char, 256> node{};
      ::gethostname(node.data(), node.size() - 1);
      const std::string name = std::string("subnet of ") + node.data();
      fabrics()[name] = copy->fabric_attr->name;
      rename(copy->fabric_attr->name, name);
    }
    all.push_back(copy);
  }
  return all;
}

void forget_orders(fi_info& offer) {
  offer.tx_attr->msg_order &= ~orders_of_writes;
  offer.rx_attr->msg_order &= ~orders_of_writes;
  offer.ep_attr->max_order_waw_size = 0;
}

void limit(fi_info& offer) {
  if (has("no_inject")) {
    met("no_inject");
    offer.tx_attr->inject_size = 0;
  }
  if (!has("small_limits")) return;
  met("small_limits");
  offer.tx_attr->inject_size = 16;
  offer.tx_attr->iov_limit = offer.tx_attr->rma_iov_limit = offer.rx_attr->iov_limit = 1;
  offer.ep_attr->max_msg_size = longest;
}

void change(fi_info& offer) {
  fi_domain_attr& domain = *offer.domain_attr;
  if (has("card") && std::string_view(offer.fabric_attr->prov_name) == "tcp") {
    met("card");
    rename(offer.fabric_attr->prov_name, card_provider);
  }
  if (needs_local_registration()) domain.mr_mode |= FI_MR_LOCAL;
  if (keeps_no_order()) forget_orders(offer);
  if (has("looks_only")) domain.data_progress = FI_PROGRESS_MANUAL;
  if (has("short_immediate")) domain.cq_data_size = 4;
  if (has("no_immediate")) {
    met("no_immediate");
    domain.cq_data_size = 0;
  }
  if (has("provider_keys")) domain.mr_mode |= FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  if (has("offsets")) {
    if ((domain.mr_mode & FI_MR_VIRT_ADDR) != 0) refuse("the real provider has addresses only");
    met("offsets");
  }
  if (has("opaque_32") || has("opaque_100")) {
    offer.addr_format = FI_ADDR_STR + 1000;  // unknown to all
    std::free(offer.src_addr);
    offer.src_addr = nullptr;
    offer.src_addrlen = 0;
  }
  limit(offer);
}

/// Returns whether the provider that is played has what the hints require.
bool provides(const fi_info& hints) {
  const std::uint64_t order = hints.tx_attr->msg_order & orders_of_writes;
  const int modes = hints.domain_attr->mr_mode;
  constexpr int key_modes = FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  return (!needs_local_registration() || (modes & FI_MR_LOCAL) != 0) &&
         (!keeps_no_order() || has("ignores_order") || order == 0) &&
         (!has("provider_keys") || (modes & key_modes) == key_modes);
}

}  // namespace

int list_offers(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                const fi_info* hints, fi_info** offers) {
  if (has("old_library") && FI_VERSION_LT(old_version, version)) return -FI_ENOSYS;
  fi_info* asked = hints != nullptr ? real(fi_dupinfo, "fi_dupinfo")(hints) : nullptr;
  std::string card;
  if (asked != nullptr) {
    if (!provides(*hints)) return -FI_ENODATA;
    asked->handle = nullptr;
    if (has("offsets")) asked->domain_attr->mr_mode &= ~FI_MR_VIRT_ADDR;
    if (has("several_cards") && asked->domain_attr->name != nullptr) {
      card = asked->domain_attr->name;
      rename(asked->domain_attr->name, card.substr(0, card.rfind('-')));
    }
  }
  const auto free_offers = real(fi_freeinfo, "fi_freeinfo");
  fi_info* found = nullptr;
  const int code = real(fi_getinfo, "fi_getinfo")(version, node, service, flags, asked, &found);
  if (asked != nullptr) free_offers(asked);
  if (code != 0) return code;
  if (has("old_library")) met("old_library");
  fi_info** end = offers;
  *end = nullptr;
  for (const fi_info* one = found; one != nullptr; one = one->next) {
    originals().push_back(real(fi_dupinfo, "fi_dupinfo")(one));
    const auto number = reinterpret_cast<fid_t>(originals().size());
    std::vector<fi_info*> made{real(fi_dupinfo, "fi_dupinfo")(one)};
    change(*made[0]);
    made[0]->handle = number;
    if (has("several_cards")) {
      const std::vector<fi_info*> all = on_cards(*made[0]);
      free_offers(made[0]);
      made.clear();
      for (fi_info* each : all) {
        if (card.empty() || card == each->domain_attr->name) {
          made.push_back(each);
        } else {
          free_offers(each);
        }
      }
    }
    for (fi_info* each : made) {
      *end = each;
      end = &each->next;
    }
  }
  free_offers(found);
  return *offers != nullptr ? 0 : -FI_ENODATA;
}

fi_info* real_offer(const fi_info* offer) {
  const auto number = reinterpret_cast<std::uintptr_t>(offer->handle);
  if (number == 0 || number > originals().size()) refuse("an offer that was never made");
  const std::string_view domain = offer->domain_attr->name;
  if (has("several_cards")) {
    if (domain.ends_with("-down")) refuse("the card's link is down");
    if (domain.ends_with("-elsewhere")) refuse("the card is of another subnet");
    met("several_cards " + std::string(domain.substr(domain.rfind('-') + 1)));
    met("several_cards");
  }
  fi_info* copy = real(fi_dupinfo, "fi_dupinfo")(originals()[number - 1]);
  copy->tx_attr->op_flags = offer->tx_attr->op_flags;
  copy->tx_attr->size = std::min(copy->tx_attr->size, offer->tx_attr->size);
  copy->rx_attr->size = std::min(copy->rx_attr->size, offer->rx_attr->size);
  return copy;
}

fi_fabric_attr real_fabric(const fi_fabric_attr& offered) {
  static char tcp[] = "tcp";
  fi_fabric_attr found = offered;
  const auto known = fabrics().find(offered.name);
  if (known != fabrics().end()) found.name = known->second.data();
  if (has("card") && std::string_view(offered.prov_name) == card_provider) found.prov_name = tcp;
  return found;
}

}  // namespace awkward
