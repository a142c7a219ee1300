// SPDX-License-Identifier: BSD-3-Clause
// A libfabric with the manners of other networks than the one at hand. Oriel's calls are passed on
// to the real library, except for what ORIEL_TEST_FABRIC names, one or several with commas:
//
//     acknowledged_by_software  ends a send when the peer's process has looked at the network
//     again                     is busy more often than not (FI_EAGAIN)
//     any_order                 reports completions in any order
//     card                      has the name of a provider whose card carries out writes and reads
//     echoed_immediate          shows immediate data to the origin too, when the write is over
//     failing_registration      fails to register memory every other time, but for packets
//     ignores_order             promises no order although it is asked to, and keeps none
//     late_delivery             keeps no order, and reports late that a write is delivered
//     late_receives             reports some packets and immediate data later than those behind
//     limited_registration      registers little memory at a time
//     local_registration        wants a registration of our own memory too (FI_MR_LOCAL)
//     looks_only                moves bytes only when the target's process looks at the network
//     no_immediate              has no immediate data
//     no_inject                 injects nothing
//     no_registration           takes no memory to be written and read by others
//     no_wait                   has no descriptor to sleep on
//     offsets                   counts remote addresses from the beginning of the memory
//     old_library               is of version 1.11, and refuses a newer program
//     opaque_32, opaque_100     has addresses of an unknown kind, of so many bytes
//     passing_errors            has no memory now and then (FI_ENOMEM)
//     provider_keys             chooses keys, when a registration is bound and enabled
//     read_only_origin          takes no memory that is only read as a source of writes
//     send_error                fails to send after a while
//     several_cards             has four: one is down, and one is of another subnet
//     short_immediate           has 4 bytes of immediate data
//     small_limits              injects 16 bytes, takes one part at a time, and 64 KiB of it
//     unordered_writes          lets messages overtake slow writes (no FI_ORDER_SAW)
//
// Each says on stderr when it first makes a difference: a run in which it did not has tested
// nothing.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstdint>

#include "atomics.hpp"
#include "completions.hpp"
#include "manners.hpp"
#include "memory.hpp"
#include "messages.hpp"
#include "offers.hpp"
#include "peers.hpp"
#include "transfers.hpp"

namespace awkward {
namespace {

using EndpointTable = Table<fi_ops, fid_ep>;
using DomainTable = Table<fi_ops_domain, fid_domain>;
using FabricTable = Table<fi_ops_fabric, fid_fabric>;

template <typename Call>
int with_real_offer(const fi_info* offer, Call call) {
  fi_info* copy = real_offer(offer);
  const int code = call(copy);
  real(fi_freeinfo, "fi_freeinfo")(copy);
  return code;
}

int bind_endpoint(fid* object, fid* bound, std::uint64_t flags) {
  const auto* endpoint = reinterpret_cast<fid_ep*>(object);
  if (bound->fclass == FI_CLASS_AV) bind_addresses(endpoint, bound);
  if (bound->fclass == FI_CLASS_CQ) bind_queue(endpoint, bound);
  return EndpointTable::provider(object->ops).bind(object, bound, flags);
}

int close_endpoint(fid* object) {
  end_looks(reinterpret_cast<fid_ep*>(object));
  return EndpointTable::provider(object->ops).close(object);
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** made, void* context) {
  const int code = with_real_offer(info, [&](fi_info* offered) {
    return DomainTable::provider(domain->ops).endpoint(domain, offered, made, context);
  });
  if (code != 0) return code;
  fid_ep& endpoint = **made;
  fi_ops& functions = EndpointTable::replace(endpoint.fid.ops);
  functions.bind = bind_endpoint;
  functions.close = close_endpoint;
  play_addresses(endpoint);
  play_messages(endpoint);
  if (endpoint.rma != nullptr) play_transfers(endpoint);
  if (endpoint.atomic != nullptr) play_atomics(endpoint);
  return 0;
}

int open_addresses(fid_domain* domain, fi_av_attr* attributes, fid_av** made, void* context) {
  const int code = DomainTable::provider(domain->ops).av_open(domain, attributes, made, context);
  if (code == 0) play_addresses(**made);
  return code;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** made, void* context) {
  const int code = with_real_offer(info, [&](fi_info* offered) {
    return FabricTable::provider(fabric->ops).domain(fabric, offered, made, context);
  });
  if (code != 0) return code;
  play_memory(**made);
  fi_ops_domain& functions = DomainTable::replace((*made)->ops);
  functions.av_open = open_addresses;
  functions.endpoint = open_endpoint;
  play_queues(**made);
  return 0;
}

int try_wait(fid_fabric* fabric, fid** objects, int count) {
  if (transfers_wait()) return -FI_EAGAIN;
  for (int i = 0; i < count; ++i) {
    if (anything_kept(objects[i])) return -FI_EAGAIN;
  }
  return FabricTable::provider(fabric->ops).trywait(fabric, objects, count);
}

}  // namespace
}  // namespace awkward

extern "C" {

int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, fi_info** info) {
  return awkward::list_offers(version, node, service, flags, hints, info);
}

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** made, void* context) {
  fi_fabric_attr copy = awkward::real_fabric(*attributes);
  const int code = awkward::real(fi_fabric, "fi_fabric")(&copy, made, context);
  if (code != 0) return code;
  fi_ops_fabric& functions = awkward::FabricTable::replace((*made)->ops);
  functions.domain = awkward::open_domain;
  functions.trywait = awkward::try_wait;
  return 0;
}

void fi_freeinfo(fi_info* info) {
  awkward::real(fi_freeinfo, "fi_freeinfo")(info);
}

fi_info* fi_dupinfo(const fi_info* info) {
  return awkward::real(fi_dupinfo, "fi_dupinfo")(info);
}

const char* fi_strerror(int error) {
  return awkward::real(fi_strerror, "fi_strerror")(error);
}

std::uint32_t fi_version() {
  return awkward::has("old_library") ? FI_VERSION(1, 11)
                                     : awkward::real(fi_version, "fi_version")();
}

}  // extern "C"
