// SPDX-License-Identifier: BSD-3-Clause
#include "peer.hpp"

#include <rdma/fi_errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

namespace card {

Peer* Peer::find(const Address& address) {
  static std::mutex mutex;
  static std::map<std::uint64_t, std::unique_ptr<Peer>> known;
  const std::lock_guard<std::mutex> held(mutex);
  std::unique_ptr<Peer>& peer = known[address.id];
  if (peer == nullptr) {
    Segment* segment = Segment::open(address);
    if (segment == nullptr) return nullptr;
    peer = std::make_unique<Peer>(address, segment);
  }
  return peer.get();
}

int Peer::copy(bool write, const iovec* local, std::size_t count, std::uint64_t remote,
               std::uint64_t bytes) const {
  if (address_.process == ::getpid()) {
    auto* place = reinterpret_cast<std::byte*>(remote);
    for (std::size_t i = 0; i < count; ++i) {
      if (write) {
        std::memcpy(place, local[i].iov_base, local[i].iov_len);
      } else {
        std::memcpy(local[i].iov_base, place, local[i].iov_len);
      }
      place += local[i].iov_len;
    }
    return 0;
  }
  const iovec there{reinterpret_cast<void*>(remote), bytes};
  const auto call = write ? ::process_vm_writev : ::process_vm_readv;
  const ssize_t done = call(address_.process, local, count, &there, 1, 0);
  if (done == static_cast<ssize_t>(bytes)) return 0;
  return done < 0 && errno == ESRCH ? -FI_ETIMEDOUT : -FI_EIO;
}

int Peer::write(const iovec* local, std::size_t count, std::uint64_t remote, std::uint64_t bytes) {
  return copy(true, local, count, remote, bytes);
}

int Peer::read(const iovec* local, std::size_t count, std::uint64_t remote, std::uint64_t bytes) {
  return copy(false, local, count, remote, bytes);
}

int Peer::resolve(std::uint64_t key, std::uint64_t address, std::uint64_t bytes,
                  std::uint64_t access, std::uint64_t& place) const {
  const std::uint64_t used = segment_->regions_used.load(std::memory_order_acquire);
  for (std::uint64_t i = 0; i < used; ++i) {
    const Region& region = segment_->regions[i];
    // Pairs with the release of the registration.
    if (region.key.load(std::memory_order_acquire) != (key | Region::live_bit)) continue;
    if ((region.access & access) != access || address < region.address || bytes > region.bytes ||
        address - region.address > region.bytes - bytes) {
      return -FI_EACCES;
    }
    place = region.begin + (address - region.address);
    return 0;
  }
  return -FI_EKEYREJECTED;
}

bool Peer::put(const Header& header, const std::byte* payload, std::uint64_t bytes) {
  if (!segment_->ring.put(header, payload, bytes)) return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (segment_->sleeping.load(std::memory_order_relaxed) != 0 &&
      segment_->sleeping.exchange(0) != 0) {
    wake();
  }
  return true;
}

void Peer::wake() {
  if (wake_up_ < 0) {
    const auto process = static_cast<int>(::syscall(SYS_pidfd_open, address_.process, 0));
    if (process < 0) return;
    wake_up_ =
        static_cast<int>(::syscall(SYS_pidfd_getfd, process, segment_->wake_up.load() - 1, 0));
    ::close(process);
  }
  const std::uint64_t one = 1;
  if (wake_up_ >= 0 && ::write(wake_up_, &one, sizeof one) < 0) wake_up_ = -1;
}

}  // namespace card
