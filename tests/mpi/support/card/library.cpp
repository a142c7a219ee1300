// SPDX-License-Identifier: BSD-3-Clause
// A libfabric with one provider, a stand-in for a card: it carries out writes, reads and atomics at
// the target without the target's software, for processes of one machine. Its times are those that
// ORIEL_TEST_CARD gives (settings.hpp).
//
// The parts:
//
//     offers     what the card is: fi_getinfo
//     domain     registrations and addresses
//     endpoint   messages, and when operations are over; messages, transfers and atomics are its
//                tables
//     queue      completion queues and counters
//     peer       another endpoint, and the memory of its process
//     segment    what an endpoint shows to its peers: registrations, and a ring of messages
//     link       the model of time
//
// Programs of their own: traffic.cpp tests the messages, times.cpp measures the card alone.
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstdint>
#include <cstring>

#include "counts.hpp"
#include "domain.hpp"
#include "offers.hpp"
#include "queue.hpp"
#include "refuse.hpp"

namespace card {
namespace {

int try_wait(fid_fabric* /*fabric*/, fid** objects, int count) {
  for (int i = 0; i < count; ++i) {
    if (objects[i]->fclass != FI_CLASS_CQ) return -FI_ENOSYS;
    if (!reinterpret_cast<Queue*>(objects[i])->may_wait()) return -FI_EAGAIN;
  }
  return 0;
}

int close_fabric(fid_t object) {
  delete reinterpret_cast<fid_fabric*>(object);
  return 0;
}

fi_ops objects{sizeof(fi_ops), close_fabric, refuse, refuse, refuse, refuse, refuse};
fi_ops_fabric opening{
    sizeof(fi_ops_fabric), Domain::open, refuse, refuse, refuse, try_wait, refuse};

}  // namespace
}  // namespace card

extern "C" {

int fi_getinfo(std::uint32_t /*version*/, const char* /*node*/, const char* /*service*/,
               std::uint64_t /*flags*/, const fi_info* hints, fi_info** info) {
  *info = card::offer(hints);
  return *info != nullptr ? 0 : -FI_ENODATA;
}

void fi_freeinfo(fi_info* info) {
  card::free_info(info);
}

fi_info* fi_dupinfo(const fi_info* info) {
  return info != nullptr ? card::copy_info(*info) : card::empty_info();
}

int fi_fabric(fi_fabric_attr* /*attributes*/, fid_fabric** made, void* context) {
  *made = new fid_fabric{{FI_CLASS_FABRIC, context, &card::objects},
                         &card::opening,
                         FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)};
  return 0;
}

int fi_open(std::uint32_t /*version*/, const char* /*name*/, void* /*attributes*/,
            std::size_t /*bytes*/, std::uint64_t /*flags*/, fid** /*made*/, void* /*context*/) {
  return -FI_ENOSYS;
}

const char* fi_strerror(int error) {
  return std::strerror(error < 0 ? -error : error);
}

card::Counts card_counts() {
  return card::Domain::counts();
}

std::uint32_t fi_version() {
  // Later than any whose structures it does not have; the newer fields are zero.
  return FI_VERSION(2, 5);
}

}  // extern "C"
