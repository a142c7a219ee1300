// SPDX-License-Identifier: BSD-3-Clause
#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#include <memory>
#include <string>
#include <utility>

#include "core/base/settings.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/offers.hpp"
#include "transport/ofi/ofi_atomics.hpp"
#include "transport/ofi/ofi_networks.hpp"
#include "transport/ofi/operation_context.hpp"

namespace oriel {
namespace {

/// Network atomics through an endpoint of their own, because the messages' endpoint has none
/// (Fabric::atomics).
class AtomicEndpoint final : private OfiEndpoint, public OfiAtomics {
 public:
  AtomicEndpoint() : OfiAtomics(static_cast<OfiEndpoint&>(*this)) {}
  ~AtomicEndpoint() override { close_endpoint(); }

  /// Opens an endpoint beside that of the messages, which is at this card.
  bool open(const Card& card);
  void progress() override;

 private:
  bool choose(const Card& card);
};

bool AtomicEndpoint::choose(const Card& card) {
  const Offers offers(*library_,
                      {setting_text("ORIEL_OFI_PROVIDER"), FI_ATOMIC, FI_ORDER_ATOMIC_RAR});
  const fi_info* offer = closest_offer(offers.usable(), card);
  if (offer == nullptr) return false;
  info_ = library_->dupinfo(offer);
  facts_ = fabric_of(*info_, false);
  return true;
}

bool AtomicEndpoint::open(const Card& card) {
  std::string ignored;  // network atomics are optional
  library_ = Libfabric::load(ignored);
  return library_ != nullptr && choose(card) && open_endpoint(ignored) && OfiAtomics::open();
}

void AtomicEndpoint::progress() {
  read_completions([this](const fi_cq_data_entry& entry, int code) {
    if (entry.op_context == nullptr) return;
    over(static_cast<FetchingAtomic&>(*static_cast<OperationContext*>(entry.op_context)), code);
  });
}

}  // namespace

std::unique_ptr<AtomicNetwork> OfiNetworks::open_atomics() {
  if (card_ == nullptr) return nullptr;
  auto made = std::make_unique<AtomicEndpoint>();
  return made->open(*card_) ? std::move(made) : nullptr;
}

}  // namespace oriel
