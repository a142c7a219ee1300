// SPDX-License-Identifier: BSD-3-Clause
#include "core/window.hpp"

#include <utility>

#include "core/collective/plan_registry.hpp"
#include "core/process.hpp"
#include "core/remote/counted_fence.hpp"
#include "core/remote/outbox.hpp"
#include "core/remote/remote_targets.hpp"
#include "core/remote/server.hpp"

namespace oriel {
namespace {

EpochsSpec epochs_spec(const WindowSpec& window, Region& region) {
  return {.rank = region.rank(),
          .reorder = window.reorder,
          .no_locks = window.no_locks,
          .shared = window.shared,
          .slots = region.mine().slots(),
          .alive = [&region](int rank) { return region.alive(rank); },
          .check = [&region](const Operation& operation,
                             FailureReason& reason) { return region.check(operation, reason); }};
}

}  // namespace

struct Window::Remote {
  Remote(EpochState& state, Peers& peers, Region& region, Messages& messages,
         RemoteResources& resources, FenceWords& words, NetworkAtomics& atomics,
         Notifications& notifications)
      : sender(region, resources.outbox),
        server(state.work, peers, region, messages, resources.limits, resources.layouts,
               resources.rendezvous_table, sender, notifications, state.events),
        fence(region, sender, words, server),
        targets(state, peers, region, messages, resources.limits, resources.layouts, sender, server,
                fence, atomics) {}

  Sender sender;
  Server server;
  CountedFence fence;
  RemoteTargets targets;
};

Window::Window(Process& process, WindowSpec spec)
    : SweepWork(process.at_work()),
      process_(process),
      id_(spec.id),
      region_(std::move(spec.region), process.transport()),
      peers_(region_.ranks(), region_.mapped_ranks()),
      state_({process.events(), {id_, region_.rank()}}, peers_.for_epochs(), process.pools(),
             process.lock_order(), *this),
      notifications_(process.listeners(),
                     state_.events.all_operations() ? &state_.events : nullptr),
      fence_words_(region_, process.remote().limits.announced_each),
      atomics_(state_, region_, process.transport().messages()),
      mapped_(state_, peers_, region_, fence_words_, atomics_, notifications_.counters(),
              process.remote().limits),
      remote_(spec.remote ? std::make_unique<Remote>(
                                state_, peers_, region_, process.transport().messages(),
                                process.remote(), fence_words_, atomics_, notifications_)
                          : nullptr),
      exchange_(region_, sender()),
      barrier_(region_, sender()),
      epochs_(epochs_spec(spec, region_), state_, choose_fence(), process.pools()) {
  state_.peers.set_links(mapped_, remote() ? &remote_->targets : nullptr);
  if (remote()) process_.serve(true);
}

Window::~Window() {
  if (remote()) process_.serve(false);
}

Fence& Window::choose_fence() {
  if (remote()) return remote_->fence;
  return fence_words_;
}

Sender* Window::sender() {
  return remote() ? &remote_->sender : nullptr;
}

Protocol Window::protocol(const Operation& operation) {
  const Limits& limits = process_.remote().limits;
  return select_protocol(operation, region_, limits, operation.bytes() >= limits.direct_from);
}

PlanRegistry& Window::plan_registry() {
  if (plan_registry_ == nullptr) {
    RemoteResources& resources = process_.remote();
    plan_registry_ = std::make_unique<PlanRegistry>(
        state_.work, PlanResources{state_.events, region_, process_.transport(), resources.limits,
                                   sender(), resources.plan_writes, exchange_});
  }
  return *plan_registry_;
}

bool Window::deliver(const Message& message, std::span<const std::byte> payload) {
  if (!valid_rank(message.origin) || !remote()) return false;
  // Only messages of fences are sent between mapped ranks, too.
  switch (message.kind) {
    case MessageKind::count:
      return remote_->fence.receive_count(message, payload);
    case MessageKind::late_query:
      return remote_->fence.late_ranks().receive_query(message);
    case MessageKind::late_ranks:
      return remote_->fence.late_ranks().receive_report(message, payload);
    default:
      break;
  }
  if (region_.mapped(message.origin)) return false;
  switch (message.kind) {
    case MessageKind::granted:
    case MessageKind::lock_granted:
    case MessageKind::done:
      return remote_->targets.receive_word(message);
    case MessageKind::lock:
    case MessageKind::unlock:
    case MessageKind::operation:
    case MessageKind::notify:
    case MessageKind::rendezvous:
      return remote_->server.receive(message, payload);
    case MessageKind::reply:
      return remote_->targets.receive_reply(message, payload);
    case MessageKind::mark:
      return remote_->fence.receive_mark(message);
    case MessageKind::layout:
      return remote_->server.receive_layout(message, payload);
    case MessageKind::exchange:
      return exchange_.receive(message, payload);
    case MessageKind::plan_space:
    case MessageKind::plan_started:
    case MessageKind::plan_bytes:
      return plan_registry().receive(message, payload);
    case MessageKind::barrier:
      return barrier_.receive(message);
    default:
      return false;
  }
}

bool Window::sweep() {
  bool moved = remote() && remote_->server.sweep();
  moved |= mapped_.push_aggregations();
  if (plan_registry_ != nullptr) moved |= plan_registry_->sweep();
  for (std::size_t reached = notifications_.complete_thresholds(); reached != 0; --reached) {
    state_.work.remove();
    moved = true;
  }
  return epochs_.sweep() || moved;
}

Error Window::attach(const MemoryRange& piece) {
  return region_.own_pieces().attach(piece, state_.reason);
}

Error Window::detach(std::uint64_t address) {
  return region_.own_pieces().detach(address, state_.reason);
}

Error Window::create_handle(const MemoryRange& memory, HandleName& name) {
  return region_.own_handles().create(memory, name, state_.reason);
}

Error Window::release_handle(const HandleName& name) {
  return region_.own_handles().release(name);
}

Error Window::open_handle(HandleView& view) {
  return region_.mapped(view.target) ? region_.open_handle(view) : Error::none;
}

bool Window::intrinsic(OpSet op, const Reduction& reduction, std::uint64_t count) const {
  if (region_.atomics().has(op, reduction.basic)) return true;
  if (remote() || dynamic()) return false;  // memory that is not mapped may be attached later
  for (int rank = 0; rank < ranks(); ++rank) {
    const Member target = read_member(rank);
    if (target.size != 0 &&
        !(target.loadable() &&
          region_.by_cpu_atomics(reduction, target, target.base, true, count))) {
      return false;
    }
  }
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
  for (auto reached = notifications_.thresholds().complete_up_to(counter, before); reached != 0;
       --reached) {
    state_.work.remove();
  }
  return before;
}

bool Window::try_lock(bool exclusive, int target, Assert assertion) {
  if (assertion.no_check || !valid_rank(target) || !epochs_.may_open_hot_lock(target) ||
      !mapped_.try_lock(target, exclusive)) {
    return false;
  }
  mapped_.make_ready(epochs_.open_hot_lock(exclusive, target));
  return true;
}

Outcome Window::unlock(int target, Completion* completion) {
  if (!valid_rank(target) || !epochs_.has_hot_lock(target))
    return epochs_.close_lock(target, completion);
  const Error error = peer(target).postponed.load() != 0 ? mapped_.recall(target) : Error::none;
  const bool exclusive = epochs_.close_hot_lock(target);
  region_.release_lock(target, rank(), exclusive);
  return error == Error::none ? Outcome::finished() : Outcome::failed(error);
}

bool Window::try_lock_all(Assert assertion) {
  const bool own = region_.loadable(rank());
  if (assertion.no_check || assertion.weak_unlock || !epochs_.may_open_hot_lock_all() ||
      (own && !mapped_.try_lock(rank(), false))) {
    return false;
  }
  epochs_.open_hot_lock_all(own, assertion.nonblocking);
  return true;
}

bool Window::try_touch(int target) {
  if (!valid_rank(target) || !epochs_.may_add_hot_target(target) ||
      !(epochs_.holds_own_lock(target) || mapped_.try_lock(target, false))) {
    return false;
  }
  mapped_.make_ready(epochs_.add_hot_target(target));
  return true;
}

Outcome Window::unlock_all(Completion* completion) {
  if (!epochs_.may_close_hot_lock_all()) return epochs_.close_lock_all(completion);
  epochs_.close_hot_lock_all([this](int target) { region_.release_lock(target, rank(), false); });
  return Outcome::finished();
}

}  // namespace oriel
