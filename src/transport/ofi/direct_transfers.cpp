// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/direct_transfers.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "transport/ofi/fabric_errors.hpp"

namespace oriel {
namespace {

// The limit of direct transfers in flight, to all processes together; and that of short ones, whose
// bytes are copied: 8 MB at most.
constexpr std::size_t most_transfers = 64;
constexpr std::size_t most_short = 1024;
// How often a transfer is begun whose completions report a shortage.
constexpr std::uint8_t most_beginnings = 64;

// The limit of long bounce buffers in use, some 2 MB.
constexpr std::size_t most_bouncing = 8;

}  // namespace

DirectTransfers::DirectTransfers(OfiEndpoint& endpoint, PacketBuffers& buffers, NetworkPeers& peers,
                                 PacketSender& sender)
    : endpoint_(endpoint), buffers_(buffers), peers_(peers), sender_(sender) {}

DirectTransfers::~DirectTransfers() {
  for (DirectTransfer& transfer : all_) close_object(transfer.registration);
}

/// Sets the runs of a transfer to the first of these, as far as the provider's limits go. Returns
/// whether they are all runs completely.
bool DirectTransfers::fill_runs(DirectTransfer& direct, std::span<const TransferRun> runs,
                                std::uint64_t key) const {
  const Fabric& facts = endpoint_.facts();
  const std::size_t most = std::min(runs.size(), facts.runs);
  std::uint64_t cut = 0;  // bytes of the last run that are left over
  direct.bytes = 0;
  for (direct.runs = 0; direct.runs < most && direct.bytes < facts.longest; ++direct.runs) {
    const TransferRun& run = runs[direct.runs];
    const std::uint64_t bytes = std::min(run.bytes, facts.longest - direct.bytes);
    direct.here[direct.runs] = {run.local, bytes};
    direct.there[direct.runs] = {run.remote, bytes, key};
    direct.bytes += bytes;
    cut = run.bytes - bytes;
  }
  return direct.runs == runs.size() && cut == 0;
}

Accepted DirectTransfers::begin(NetworkPeer& to, bool write, std::span<const TransferRun> runs,
                                std::uint64_t key, std::uint64_t token, Behind* behind) {
  if (idle_.empty()) idle_.push_back(&all_.emplace_back());
  DirectTransfer& direct = *idle_.back();
  direct.kind = OperationContext::Kind::transfer;
  direct.process = to.number;
  direct.token = token;
  direct.write = write;
  direct.attempts = 0;
  bool whole = fill_runs(direct, runs, key);
  const auto give_up = [&](Error error) -> Accepted {
    finished_.push({token, direct.bytes, error});
    if (behind != nullptr) behind->failed = true;
    return {direct.bytes};
  };
  if (!to.accepts_packets()) return give_up(Error::peer_lost);
  std::string error;
  PacketBuffer* buffer = copies(direct) ? buffers_.acquire_short(error) : nullptr;
  if (buffer == nullptr && under_way_ - short_ >= most_transfers) return {};
  if (buffer != nullptr) {
    ++short_;
    bounce_runs(direct, *buffer);
  } else if (endpoint_.local_registration() && !register_runs(direct)) {
    // The program may only read its memory, for example.
    if (bouncing_ >= most_bouncing) return {};
    buffer = buffers_.acquire_long(error);
    if (buffer == nullptr) {
      // Transfers under way may hold all memory that this process may lock.
      if (under_way_ != 0) return {};
      return give_up(Error::system);
    }
    direct.long_bounce = true;
    ++bouncing_;
    const std::uint64_t before = direct.bytes;
    bounce_runs(direct, *buffer);
    whole = whole && direct.bytes == before;
  }
  direct.immediate =
      whole && behind != nullptr ? sender_.immediate_for(to, behind->message) : std::nullopt;
  const ssize_t code = issue(direct);
  if (code == 0) {
    idle_.pop_back();
    ++under_way_;
    if (direct.immediate) {
      direct.sequence = ++to.sent;
      ++to.announced;
      ++to.overtaking;
      behind->went = true;
    }
    return {direct.bytes, write && buffer != nullptr};
  }
  release_memory(direct);
  if (meaning_of(code) == FabricError::passing) return {};
  return give_up(error_of(to, code));
}

/// Returns whether the transfer is so short that its bytes are copied. Programs reuse the buffer of
/// a short put at once, because hosts copy it. A copy also takes less time than a registration.
bool DirectTransfers::copies(const DirectTransfer& direct) const {
  return short_ < most_short &&
         direct.bytes <= std::min(PacketBuffers::short_bytes, buffers_.long_bytes()) &&
         (direct.write || endpoint_.local_registration());
}

/// Registers our memory, from the lowest to the highest byte of the runs, for this transfer only:
/// providers that require it cache recent registrations.
bool DirectTransfers::register_runs(DirectTransfer& direct) {
  const auto* begin = static_cast<const std::byte*>(direct.here[0].iov_base);
  const std::byte* end = begin;
  for (const iovec& run : std::span(direct.here).first(direct.runs)) {
    const auto* first = static_cast<const std::byte*>(run.iov_base);
    begin = std::min(begin, first);
    end = std::max(end, first + run.iov_len);
  }
  return endpoint_.register_memory(begin, static_cast<std::uint64_t>(end - begin),
                                   direct.write ? FI_WRITE : FI_READ, direct.registration) == 0;
}

/// Replaces the transfer's own memory by a packet buffer, and cuts the transfer to the buffer's
/// size.
void DirectTransfers::bounce_runs(DirectTransfer& direct, PacketBuffer& buffer) {
  direct.bounce = &buffer;
  std::size_t count = 0;
  const std::size_t most = PacketBuffers::bytes_of(buffer);
  for (direct.bytes = 0; count < direct.runs && direct.bytes < most; ++count) {
    iovec& run = direct.here[count];
    run.iov_len = std::min(run.iov_len, most - direct.bytes);
    direct.there[count].len = run.iov_len;
    if (direct.write) {
      std::memcpy(direct.bounce->data + direct.bytes, run.iov_base, run.iov_len);
    }
    direct.bytes += run.iov_len;
  }
  direct.runs = count;
}

void DirectTransfers::release_memory(DirectTransfer& direct) {
  close_object(direct.registration);
  if (direct.bounce == nullptr) return;
  PacketBuffers::release(*std::exchange(direct.bounce, nullptr));
  --(std::exchange(direct.long_bounce, false) ? bouncing_ : short_);
}

ssize_t DirectTransfers::issue(DirectTransfer& direct) {
  iovec bounce{};
  std::span<const iovec> here = std::span(direct.here).first(direct.runs);
  std::array<void*, Messages::most_runs> descriptors{};
  if (direct.bounce != nullptr) {
    bounce = {direct.bounce->data, direct.bytes};
    here = std::span(&bounce, 1);
    descriptors[0] = direct.bounce->descriptor;
  }
  if (direct.registration != nullptr) descriptors.fill(fi_mr_desc(direct.registration));
  const fi_msg_rma message{here.data(),         descriptors.data(),
                           here.size(),         endpoint_.address_of(direct.process),
                           direct.there.data(), direct.runs,
                           &direct.context,     direct.immediate.value_or(0)};
  if (!direct.write) return fi_readmsg(endpoint_.handle(), &message, FI_COMPLETION);
  const std::uint64_t flags = FI_COMPLETION |
                              (endpoint_.facts().delivers_writes ? FI_DELIVERY_COMPLETE : 0) |
                              (direct.immediate ? FI_REMOTE_CQ_DATA : 0);
  return fi_writemsg(endpoint_.handle(), &message, flags);
}

/// The error of a transfer that has failed with this code.
Error DirectTransfers::error_of(NetworkPeer& to, long code) {
  if (meaning_of(code) != FabricError::peer_gone) return Error::system;
  // If the peer has ended, its last packets may not have been read yet.
  if (!to.ended) to.lose();
  return Error::peer_lost;
}

/// Messages may have been sent behind an ordered write, and must not arrive before its bytes. The
/// receiver holds them back if the write has immediate data, whose number precedes theirs.
bool DirectTransfers::may_repeat(DirectTransfer& direct, long code) const {
  return meaning_of(code) == FabricError::passing && ++direct.attempts < most_beginnings &&
         (!direct.write || !endpoint_.facts().orders_writes || direct.immediate);
}

void DirectTransfers::over(DirectTransfer& transfer, int code) {
  if (code == 0) return finish(transfer, Error::none);
  NetworkPeer& to = *peers_[static_cast<std::size_t>(transfer.process)];
  if (to.accepts_packets() && may_repeat(transfer, code)) {
    failed_.push_back(&transfer);
    return;
  }
  const Error error = error_of(to, code);
  if (transfer.immediate) sender_.fill(to, transfer.sequence);
  finish(transfer, error);
}

void DirectTransfers::repeat() {
  if (failed_.empty()) return;
  for (DirectTransfer* transfer : std::exchange(failed_, {})) {
    const NetworkPeer& to = *peers_[static_cast<std::size_t>(transfer->process)];
    const ssize_t code = to.accepts_packets() ? issue(*transfer) : -FI_ECANCELED;
    if (code == 0) continue;
    if (meaning_of(code) == FabricError::passing) {
      failed_.push_back(transfer);
    } else {
      over(*transfer, static_cast<int>(code));
    }
  }
}

void DirectTransfers::finish(DirectTransfer& direct, Error error) {
  if (direct.bounce != nullptr && !direct.write && error == Error::none) {
    const std::byte* from = direct.bounce->data;
    for (const iovec& run : std::span(direct.here).first(direct.runs)) {
      std::memcpy(run.iov_base, from, run.iov_len);
      from += run.iov_len;
    }
  }
  release_memory(direct);
  if (direct.immediate) --peers_[static_cast<std::size_t>(direct.process)]->announced;
  --under_way_;
  finished_.push({direct.token, direct.bytes, error});
  idle_.push_back(&direct);
}

}  // namespace oriel
