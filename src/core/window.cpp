// SPDX-License-Identifier: BSD-3-Clause
#include "core/window.hpp"

#include <utility>

#include "core/collective/plan_registry.hpp"
#include "core/process.hpp"

namespace oriel {
namespace {

EpochsSpec epochs_spec(const WindowSpec& window, const Region& region, const Limits& limits) {
  EpochsSpec spec;
  spec.rank = region.rank();
  spec.reorder = window.reorder;
  spec.no_locks = window.no_locks;
  spec.shared = window.shared;
  spec.counted_fences = window.remote || FenceWords::counted(region, limits.announced_each);
  spec.renewed_fences = !window.remote;
  return spec;
}

}  // namespace

Window::Window(Process& process, WindowSpec spec)
    : SweepWork(process.at_work()),
      process_(process),
      id_(spec.id),
      region_(std::move(spec.region)),
      state_({process.events(), {id_, region_->rank()}}, region_->ranks(), process.pools(),
             process.lock_order(), peer_dispatch_, *this),
      epochs_(epochs_spec(spec, *region_, process.remote().limits), state_, peer_dispatch_,
              process.pools()),
      notifications_(process.listeners(),
                     state_.events.all_operations() ? &state_.events : nullptr),
      peer_dispatch_(state_, *region_, process.transport(), process.remote(), notifications_,
                     spec.remote) {
  if (remote()) process_.serve(true);
}

Window::~Window() {
  if (remote()) process_.serve(false);
}

PlanRegistry& Window::plan_registry() {
  if (plan_registry_ == nullptr) {
    RemoteResources& resources = process_.remote();
    plan_registry_ = std::make_unique<PlanRegistry>(
        state_.work, state_.events, *region_, process_.transport(), resources.limits,
        resources.outbox, peer_dispatch_.sender(), resources.plan_writes, exchange());
  }
  return *plan_registry_;
}

bool Window::deliver(const Message& message, std::span<const std::byte> payload) {
  switch (message.kind) {
    case MessageKind::plan_space:
    case MessageKind::plan_started:
    case MessageKind::plan_bytes:
      return valid_rank(message.origin) && !region_->mapped(message.origin) &&
             plan_registry().take(message, payload);
    default:
      return peer_dispatch_.deliver(message, payload);
  }
}

bool Window::sweep() {
  bool moved = peer_dispatch_.sweep();
  if (plan_registry_ != nullptr) moved |= plan_registry_->sweep();
  for (std::size_t reached = notifications_.look_at_counters(); reached != 0; --reached) {
    state_.work.remove();
    moved = true;
  }
  return epochs_.sweep() || moved;
}

Error Window::attach(const MemoryRange& piece) {
  const char* reason = "";
  const Error error = region_->own_pieces().attach(piece, reason);
  return error == Error::none ? error : state_.reason.fail(error, reason);
}

Error Window::detach(std::uint64_t address) {
  const char* reason = "";
  const Error error = region_->own_pieces().detach(address, reason);
  return error == Error::none ? error : state_.reason.fail(error, reason);
}

Error Window::create_handle(const MemoryRange& memory, HandleName& name) {
  const char* reason = "";
  const Error error = region_->own_handles().create(memory, name, reason);
  return error == Error::none ? error : state_.reason.fail(error, reason);
}

Error Window::release_handle(const HandleName& name) {
  return region_->own_handles().release(name);
}

Error Window::open_handle(HandleView& view) {
  return region_->mapped(view.target) ? region_->open_handle(view) : Error::none;
}

bool Window::intrinsic(OpSet op, const Reduction& reduction, std::uint64_t count) const {
  if (region_->atomics().has(op, reduction.basic)) return true;
  if (remote() || dynamic()) return false;  // memory that is not mapped may be attached later
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
  const PrivateRun run = private_run(target, displacement, count * reduction.element, 0, 0);
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
  const PrivateRun run = private_run(target, displacement, reduction.element, 0, 0);
  if (run.open == nullptr ||
      !region_->compare_swap_private(thread, reduction.element, *peer(target).member, run.address,
                                     origin, compare, result)) {
    return false;
  }
  mark(run.open->used);
  return true;
}

Outcome Window::await(std::int32_t counter, std::uint64_t value, Completion& completion) {
  const std::uint64_t now = notifications_.counters().mine_at(counter).value();
  if (now >= value) {
    notifications_.count(counter, now, now);
    return Outcome::finished();
  }
  notifications_.thresholds().add(counter, value, completion);
  state_.work.add();
  return Outcome::posted();
}

std::uint64_t Window::exchange_counter(std::int32_t counter, std::uint64_t value) {
  const std::uint64_t before = notifications_.counters().mine_at(counter).exchange(value);
  notifications_.count(counter, before, value);
  for (auto reached = notifications_.thresholds().pass(counter, before); reached != 0; --reached) {
    state_.work.remove();
  }
  return before;
}

bool Window::try_lock(bool exclusive, int target, Assert assertion) {
  if (assertion.no_check || !valid_rank(target) || !epochs_.may_lock_lightly(target) ||
      !peer_dispatch_.try_lock(target, exclusive)) {
    return false;
  }
  peer_dispatch_.make_ready(epochs_.open_lightly(exclusive, target));
  return true;
}

Outcome Window::unlock(int target, Completion* completion) {
  if (!valid_rank(target) || !epochs_.locked_lightly(target))
    return epochs_.close_lock(target, completion);
  const Error error = peer(target).left.load() != 0 ? peer_dispatch_.recall(target) : Error::none;
  peer_dispatch_.unlock(target, epochs_.close_lightly(target));
  return error == Error::none ? Outcome::finished() : Outcome::failed(error);
}

bool Window::try_lock_all(Assert assertion) {
  const bool own = peer_dispatch_.loadable(rank());
  if (assertion.no_check || assertion.weak_unlock || !epochs_.may_lock_all_lightly() ||
      (own && !peer_dispatch_.try_lock(rank(), false))) {
    return false;
  }
  epochs_.open_all_lightly(own);
  return true;
}

bool Window::try_touch(int target) {
  if (!valid_rank(target) || !epochs_.may_touch_lightly(target) ||
      !(epochs_.holds_lightly(target) || peer_dispatch_.try_lock(target, false))) {
    return false;
  }
  peer_dispatch_.make_ready(epochs_.touch_lightly(target));
  return true;
}

Outcome Window::unlock_all(Completion* completion) {
  if (!epochs_.may_unlock_all_lightly()) return epochs_.close_lock_all(completion);
  epochs_.close_all_lightly([this](int target) { peer_dispatch_.unlock(target, false); });
  return Outcome::finished();
}

}  // namespace oriel
