// SPDX-License-Identifier: BSD-3-Clause
#include "core/window.hpp"

#include <utility>

#include "core/process.hpp"

namespace oriel {
namespace {

EpochsSpec epochs_spec(const WindowSpec& window, const Limits& limits) {
  const Region& region = *window.region;
  EpochsSpec spec;
  spec.rank = region.rank();
  spec.ranks = region.ranks();
  spec.reorder = window.reorder;
  spec.no_locks = window.no_locks;
  spec.shared = window.shared;
  spec.counted_fences = window.remote || FenceWords::counted(region, limits.told_each);
  spec.renewed_fences = !window.remote;
  return spec;
}

}  // namespace

Window::Window(Process& process, WindowSpec spec)
    : Epochs(epochs_spec(spec, process.remote().limits), peer_dispatch_, process.pools(),
             process.at_work()),
      process_(process),
      id_(spec.id),
      region_(std::move(spec.region)),
      notifications_(process.listeners()),
      peer_dispatch_(*this, *region_, process.transport(), process.remote(), notifications_,
                     spec.remote) {
  if (remote()) process_.serve(true);
}

Window::~Window() {
  if (remote()) process_.serve(false);
}

Error Window::attach(const Piece& piece) {
  const char* reason = "";
  const Error error = region_->own_pieces().attach(piece, reason);
  return error == Error::none ? error : fail(error, reason);
}

Error Window::detach(std::uint64_t address) {
  const char* reason = "";
  const Error error = region_->own_pieces().detach(address, reason);
  return error == Error::none ? error : fail(error, reason);
}

Error Window::create_handle(const Piece& piece, HandleName& name) {
  const char* reason = "";
  const Error error = region_->own_handles().create(piece, name, reason);
  return error == Error::none ? error : fail(error, reason);
}

Error Window::release_handle(const HandleName& name) {
  return region_->own_handles().release(name);
}

Error Window::open_handle(HandleView& view) {
  return region_->mapped(view.target) ? region_->open_handle(view) : Error::none;
}

bool Window::intrinsic(OpSet op, const Reduction& reduction, std::uint64_t count) const {
  if (region_->atomics().has(op, reduction.basic)) return true;
  if (remote() || dynamic()) return false;  // nobody knows what will be attached
  for (int rank = 0; rank < ranks(); ++rank) {
    const Member target = look(rank);
    if (target.size != 0 && !region_->by_cpu_atomics(reduction, target, target.base, true, count)) {
      return false;
    }
  }
  return true;
}

bool Window::reduce_private(ThreadLine* thread, int target, std::int64_t displacement,
                            const Reduction& reduction, const void* origin, void* fetched,
                            std::uint64_t count) const {
  const PrivateRun run = private_run(target, displacement, count * reduction.element, 0);
  if (run.open == nullptr || !region_->reduce_private(thread, reduction, *peer(target).member,
                                                      run.address, origin, fetched, count)) {
    return false;
  }
  mark(run.open->used);
  return true;
}

bool Window::compare_swap_private(ThreadLine* thread, int target, std::int64_t displacement,
                                  const Reduction& reduction, const void* origin,
                                  const void* compare, void* result) const {
  const PrivateRun run = private_run(target, displacement, reduction.element, 0);
  if (run.open == nullptr ||
      !region_->compare_swap_private(thread, reduction.element, *peer(target).member, run.address,
                                     origin, compare, result)) {
    return false;
  }
  mark(run.open->used);
  return true;
}

Outcome Window::await(std::int32_t counter, std::uint64_t value, Completion& completion) {
  if (notifications_.counters().mine_at(counter).value() >= value) return Outcome::finished();
  notifications_.thresholds().add(counter, value, completion);
  add_work();
  return Outcome::posted();
}

std::uint64_t Window::exchange_counter(std::int32_t counter, std::uint64_t value) {
  const std::uint64_t before = notifications_.counters().mine_at(counter).exchange(value);
  for (auto reached = notifications_.thresholds().pass(counter, before); reached != 0; --reached) {
    remove_work();
  }
  return before;
}

Error Window::lock(bool exclusive, int target, Assert assertion) {
  if (assertion.no_check || !valid_rank(target) || !may_lock_lightly(target) ||
      !peer_dispatch_.try_lock(target, exclusive)) {
    return open_lock(exclusive, target, assertion);
  }
  peer_dispatch_.make_ready(open_lightly(exclusive, target));
  return Error::none;
}

Outcome Window::unlock(int target, Completion* completion) {
  if (!valid_rank(target) || !locked_lightly(target)) return close_lock(target, completion);
  peer_dispatch_.unlock(target, close_lightly(target));
  return Outcome::finished();
}

}  // namespace oriel
