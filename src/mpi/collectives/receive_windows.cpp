// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/receive_windows.hpp"

#include <algorithm>

#include "core/collective/packed.hpp"
#include "core/collective/schedule.hpp"
#include "engine/progress/waiting.hpp"
#include "mpi/collectives/leaving_windows.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/mpi_host.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/startup/lifetime.hpp"
#include "mpi/windows/window_maker.hpp"

namespace oriel::mpi {
namespace {

/// The info for a window: no_locks if it is never locked, so that no thread need serve other ranks.
class WindowKeys {
 public:
  explicit WindowKeys(bool locks) {
    if (locks || host_mpi().Info_create(&info_) != MPI_SUCCESS) return;
    host_mpi().Info_set(info_, "no_locks", "true");
  }
  ~WindowKeys() {
    if (info_ != MPI_INFO_NULL) host_mpi().Info_free(&info_);
  }
  WindowKeys(const WindowKeys&) = delete;
  WindowKeys& operator=(const WindowKeys&) = delete;
  MPI_Info info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Locks this rank's part. Returns when all ranks have locked theirs, so no rank puts before.
int lock_own(MPI_Comm communicator, int rank, ReceiveWindow& window) {
  {
    const Guard guard(engine.lock);
    for (ReceiveWindow::Part& part : window.parts()) {
      Window& core = *part.bound->core;
      core.lock(true, rank, Assert(), no_threads);
      sweep_until(
          engine, core.events(), {WaitReason::lock, rank},
          [&] { return core.epochs().try_hold_lock(rank); }, [] { return Failure(); });
    }
  }
  return MpiComm(communicator).barrier();
}

}  // namespace

ReceiveArea area_of(const std::vector<Buffer>& receives, int rank, bool locks) {
  ReceiveArea area;
  area.locks = locks;
  area.offsets.resize(receives.size());
  std::byte* behind = nullptr;
  std::uint64_t packed = 0;
  for (std::size_t from = 0; from < receives.size(); ++from) {
    const std::uint64_t bytes = bytes_in(receives[from]);
    if (bytes == 0 || from == static_cast<std::size_t>(rank)) continue;
    area.offsets[from] = packed;
    packed += bytes;
    std::byte* first = Packed(receives[from]).run();
    if (first == nullptr) {
      area.staged = true;
      continue;
    }
    if (area.base == nullptr || first < area.base) area.base = first;
    if (behind == nullptr || first + bytes > behind) behind = first + bytes;
  }
  if (area.staged) {
    area.base = nullptr;
    area.bytes = packed;
    return area;
  }
  if (behind != nullptr) area.bytes = static_cast<std::uint64_t>(behind - area.base);
  for (std::size_t from = 0; from < receives.size(); ++from) {
    const bool empty = bytes_in(receives[from]) == 0 || from == static_cast<std::size_t>(rank);
    if (empty) continue;
    area.offsets[from] = static_cast<std::uint64_t>(Packed(receives[from]).run() - area.base);
  }
  return area;
}

template <typename Holds>
std::uint64_t ReceiveWindows::bits(Holds&& holds) const {
  std::uint64_t found = 0;
  const std::size_t end = std::min(slots_.size(), view_ + seen_at_once);
  for (std::size_t at = view_; at < end; ++at) {
    const ReceiveWindow* window = slots_[at].get();
    if (window != nullptr && window->idle() && holds(*window)) {
      found |= std::uint64_t{1} << (at - view_);
    }
  }
  return found;
}

std::uint64_t ReceiveWindows::fitting(const ReceiveArea& area) const {
  return bits([&](const ReceiveWindow& window) {
    return window.locks == area.locks && window.staged == area.staged &&
           window.bytes == area.bytes && (area.staged || window.base == area.base);
  });
}

std::uint64_t ReceiveWindows::idle() const {
  return bits([](const ReceiveWindow&) { return true; });
}

ReceiveWindow* ReceiveWindows::acquire(std::uint64_t fitting) {
  if (fitting == 0) return nullptr;
  ReceiveWindow* taken = slots_[view_ + static_cast<std::size_t>(__builtin_ctzll(fitting))].get();
  taken->used = true;
  taken->last_used = ++uses_;
  return taken;
}

void ReceiveWindows::retire_old(std::uint64_t idle) {
  std::vector<std::unique_ptr<ReceiveWindow>*> unused;
  for (; idle != 0; idle &= idle - 1) {
    std::unique_ptr<ReceiveWindow>& slot =
        slots_[view_ + static_cast<std::size_t>(__builtin_ctzll(idle))];
    if (!slot->used) unused.push_back(&slot);  // else the present call has taken it, on all ranks
  }
  std::ranges::sort(unused, {}, [](const auto* slot) { return (*slot)->last_used; });
  for (std::size_t i = 0; i + most_idle < unused.size(); ++i) retire(*unused[i]);
  while (!slots_.empty() && slots_.back() == nullptr) slots_.pop_back();
  view_ += seen_at_once;
  if (view_ >= slots_.size()) view_ = 0;
}

int ReceiveWindows::make(const char* call, MPI_Comm communicator, int rank, const ReceiveArea& area,
                         ReceiveWindow*& made) {
  auto window = std::make_unique<ReceiveWindow>();
  window->locks = area.locks;
  window->staged = area.staged;
  window->base = area.base;
  window->bytes = area.bytes;
  window->used = true;
  if (area.staged) {
    window->staging = std::make_unique_for_overwrite<std::byte[]>(area.bytes);
    window->base = window->staging.get();
  }
  const WindowKeys keys(area.locks);
  for (ReceiveWindow::Part& part : window->parts()) {
    const int code = WindowMaker(call, communicator, keys.info())
                         .create(window->base, static_cast<MPI_Aint>(area.bytes), 1, &part.handle);
    if (code != MPI_SUCCESS) return code;
    lifetime.count_own(1);
    const Guard guard(engine.lock);
    part.bound = runtime.windows.find(handle_key(part.handle));
    part.bound->state->own = true;
  }
  if (area.locks) {
    if (const int code = lock_own(communicator, rank, *window); code != MPI_SUCCESS) return code;
  }
  const Guard guard(engine.lock);
  window->last_used = ++uses_;
  made = window.get();
  const auto empty = std::ranges::find_if(slots_, [](const auto& slot) { return slot == nullptr; });
  if (empty != slots_.end()) {
    *empty = std::move(window);
  } else {
    slots_.push_back(std::move(window));
  }
  return MPI_SUCCESS;
}

void ReceiveWindows::retire(std::unique_ptr<ReceiveWindow>& slot) {
  const std::shared_ptr<ReceiveWindow> left = std::move(slot);
  for (const ReceiveWindow::Part& part : left->parts()) {
    if (left->broken) {
      leaving_windows.keep(part.handle, left);
    } else {
      leaving_windows.add(part.handle, left->locks, left);
    }
  }
}

void ReceiveWindows::retire_unused() {
  orphaned_ = true;
  for (auto& slot : slots_) {
    if (slot != nullptr && !slot->used) retire(slot);
  }
}

void ReceiveWindows::release(ReceiveWindow& window) {
  window.used = false;
  if (!orphaned_) return;
  const auto slot =
      std::ranges::find(slots_, &window, [](const auto& other) { return other.get(); });
  retire(*slot);
}

}  // namespace oriel::mpi
