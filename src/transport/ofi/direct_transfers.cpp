// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/direct_transfers.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace oriel {
namespace {

// The limit of direct transfers in flight, to all processes together.
constexpr std::size_t most_transfers = 64;

/// Our memory from the lowest to the highest byte of these runs.
std::pair<const std::byte*, const std::byte*> extent_of(std::span<const TransferRun> runs) {
  const std::byte* begin = runs.front().local;
  const std::byte* end = begin;
  for (const TransferRun& run : runs) {
    begin = std::min<const std::byte*>(begin, run.local);
    end = std::max<const std::byte*>(end, run.local + run.bytes);
  }
  return {begin, end};
}

}  // namespace

DirectTransfers::DirectTransfers(OfiEndpoint& endpoint, PacketSender& sender,
                                 PacketReceiver& receiver)
    : endpoint_(endpoint), sender_(sender), receiver_(receiver) {}

DirectTransfers::~DirectTransfers() {
  for (DirectTransfer& transfer : all_) close_object(transfer.registration);
}

void DirectTransfers::set_limits(std::uint64_t longest, bool ordered) {
  longest_ = longest;
  ordered_ = ordered;
}

std::uint64_t DirectTransfers::begin(NetworkPeer& to, bool write, std::span<const TransferRun> runs,
                                     std::uint64_t key, std::uint64_t token, Behind* behind) {
  if (under_way_ >= most_transfers) return 0;
  if (idle_.empty()) idle_.push_back(&all_.emplace_back());
  DirectTransfer& direct = *idle_.back();
  direct.kind = OperationContext::Kind::transfer;
  direct.process = to.number;
  direct.token = token;
  direct.bytes = 0;
  std::array<iovec, Messages::most_runs> here;
  std::array<fi_rma_iov, Messages::most_runs> there;
  std::array<void*, Messages::most_runs> descriptors{};
  const fi_tx_attr& limits = *endpoint_.info().tx_attr;
  const std::size_t most =
      std::min({runs.size(), Messages::most_runs, limits.iov_limit, limits.rma_iov_limit});
  std::size_t count = 0;
  std::uint64_t cut = 0;  // bytes of the last run that are left over
  for (; count < most && direct.bytes < longest_; ++count) {
    const TransferRun& run = runs[count];
    const std::uint64_t bytes = std::min(run.bytes, longest_ - direct.bytes);
    here[count] = {run.local, bytes};
    there[count] = {run.remote, bytes, key};
    direct.bytes += bytes;
    cut = run.bytes - bytes;
  }
  if (count < runs.size() || cut != 0) behind = nullptr;
  const auto give_up = [&](Error error) {
    finished_.push_back({token, direct.bytes, error});
    return direct.bytes;
  };
  if (!to.accepts_packets()) return give_up(Error::peer_lost);
  if (endpoint_.local_registration()) {
    // For this transfer only: providers that require it cache recent registrations.
    const auto [begin, end] = extent_of(runs.first(count));
    if (endpoint_.register_memory(begin, static_cast<std::uint64_t>(end - begin),
                                  write ? FI_WRITE : FI_READ, direct.registration) != 0) {
      return give_up(Error::system);
    }
    descriptors.fill(fi_mr_desc(direct.registration));
  }
  const auto immediate =
      behind == nullptr ? std::nullopt : sender_.immediate_for(to, behind->message);
  const fi_msg_rma message{here.data(),     descriptors.data(),
                           count,           endpoint_.address_of(to.number),
                           there.data(),    count,
                           &direct.context, immediate.value_or(0)};
  const std::uint64_t flags =
      FI_COMPLETION | (ordered_ ? 0 : FI_DELIVERY_COMPLETE) | (immediate ? FI_REMOTE_CQ_DATA : 0);
  const ssize_t code = write ? fi_writemsg(endpoint_.handle(), &message, flags)
                             : fi_readmsg(endpoint_.handle(), &message, FI_COMPLETION);
  if (code == 0) {
    idle_.pop_back();
    ++under_way_;
    if (immediate) {
      ++to.sent;
      behind->went = true;
    }
    return direct.bytes;
  }
  close_object(direct.registration);
  if (code == -FI_EAGAIN) return 0;
  receiver_.lose(to);
  return give_up(Error::peer_lost);
}

void DirectTransfers::over(DirectTransfer& transfer, Error error) {
  close_object(transfer.registration);
  --under_way_;
  finished_.push_back({transfer.token, transfer.bytes, error});
  idle_.push_back(&transfer);
}

bool DirectTransfers::finished(Transfer& transfer) {
  if (finished_.empty()) return false;
  transfer = finished_.front();
  finished_.pop_front();
  return true;
}

}  // namespace oriel
