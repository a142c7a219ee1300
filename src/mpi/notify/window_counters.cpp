// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/notify/window_counters.hpp"

#include <oriel/notify_counters.h>
#include <oriel/profiling.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/notify/counters.hpp"
#include "core/remote/exchange.hpp"
#include "engine/progress/waiting.hpp"
#include "mpi/info/window_info.hpp"
#include "mpi/operations/operations.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"
#include "transport/shm/arena.hpp"

namespace oriel::mpi {
namespace {

Failure check_own_counter(const WindowHandle& window, int index) {
  if (window.view.has_value()) {
    return {MPI_ERR_RMA_FLAVOR, "a window made from a memory handle has no notification counters"};
  }
  return check_counter(window, window.core->rank(), index);
}

/// For a program that polls: lets other processes run, and reports a rank that has ended.
Failure nothing_new(const WindowHandle& window) {
  const bool checks = engine.running()->pace.end_vain_poll(engine.lock);
  const int lost = checks ? window.core->epochs().lost_source(-1) : -1;
  return lost < 0 ? EngineFailure() : lost_rank(*window.core, lost);
}

Failure get_number(const WindowHandle& window, int rank, int* number) {
  if (const Failure bad = check_outputs(number)) return bad;
  if (!valid_rank(window, rank)) return {MPI_ERR_RANK, "the rank is not in the window's group"};
  *number = static_cast<int>(window.core->notifications().counters().count(rank));
  return {};
}

Failure reset_value(WindowHandle& window, int index, MPI_Count* value) {
  if (const Failure bad = check_outputs(value)) return bad;
  if (const Failure bad = check_own_counter(window, index)) return bad;
  engine.sweep_in_passing(Passing::polls);
  *value = static_cast<MPI_Count>(window.core->exchange_counter(index, 0));
  return *value != 0 ? Failure() : nothing_new(window);
}

template <typename Ours>
int dispatch_counters(const char* call, MPI_Win win, Ours&& ours) {
  return dispatch_call(call, win, ours, [&] { return no_counters(call, win); });
}

/// Gives a window new notification counters. Every rank takes the same steps, so that all fail
/// together and none hangs.
class CounterMaker {
 public:
  explicit CounterMaker(WindowHandle& window) : window_(window) {}

  Failure make(int number, MPI_Info info) {
    if (window_.view.has_value()) {
      return {MPI_ERR_RMA_FLAVOR,
              "a window made from a memory handle has no notification counters"};
    }
    if (window_.core->epochs().open_epoch()) {
      give_up(MPI_ERR_RMA_SYNC, "an epoch is open; close it before the number of counters is set");
    }
    // No rank enters the fence before all ranks can.
    if (const Failure bad = exchange()) return bad;
    finish_operations();
    if (number < 0) {
      give_up(MPI_ERR_ARG, "the number of counters is negative");
    } else if (number > window_.info.most_counters()) {
      give_up(MPI_ERR_ARG,
              "the number of counters is above the window's mpi_assert_max_num_notify, " +
                  std::to_string(window_.info.most_counters()));
    } else {
      allocate_memory(static_cast<std::uint32_t>(number));
    }
    if (const Failure bad = exchange()) return bad;
    if (asserts(info, ORIEL_ASSERT_SAME_NUM_NOTIFICATIONS)) check_same();
    map_rows();
    // A rank that has seen all ranks enter the third round may increment the new counters.
    Notifications& notifications = window_.core->notifications();
    const int rank = window_.core->rank();
    Counters& counters = notifications.counters();
    Counters made(rank, std::move(rows_), std::shared_ptr<void>(std::move(memory_)));
    notifications.thresholds().set_suspended(true);
    Counters replaced = std::exchange(counters, std::move(made));
    const Failure bad = exchange();
    if (bad) std::swap(counters, replaced);
    notifications.thresholds().set_suspended(false);
    if (bad) return bad;
    // No rank accesses the old counters any more: report the increments that they hold.
    for (std::uint32_t i = 0; i < replaced.count(rank); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      notifications.count(index, replaced.mine_at(index).value(), 0);
    }
    return {};
  }

 private:
  /// The words that each rank sends to all others.
  struct Part {
    ArenaLocation location;
    std::uint32_t count = 0;
    int error_class = MPI_SUCCESS;
  };

  void give_up(int error_class, std::string reason) {
    if (mine_.error_class != MPI_SUCCESS) return;
    mine_.error_class = error_class;
    reason_ = std::move(reason);
    if (reason_.ends_with('.')) reason_.pop_back();  // it becomes a part of a sentence
  }

  /// Completes all operations that may increment the old counters. If an operation failed, this
  /// rank reports the error, and the other ranks receive it in the next round.
  void finish_operations() {
    const auto finish = [&](auto&& start) {
      if (const Failure bad = block(engine, *window_.core, {WaitReason::window}, start))
        give_up(bad.error_class, bad.reason);
    };
    Window& core = *window_.core;
    finish([&](Completion* completion) { return core.epochs().flush_notified(completion); });
    Assert last;
    last.no_succeed = true;
    finish([&](Completion* completion) { return core.epochs().fence(last, true, completion); });
  }

  void allocate_memory(std::uint32_t number) {
    if (number == 0) return;
    std::string error;
    const std::uint64_t bytes = CounterRow::bytes(number);
    memory_ = {engine.arena.allocate(bytes, alignof(Counter), error), {&engine.arena}};
    if (memory_ == nullptr) return give_up(MPI_ERR_NO_MEM, error);
    mine_.location = engine.running()->transports.node().locate(memory_.get(), bytes).location;
    mine_.count = number;
  }

  /// One exchange among all ranks. Fails if it has failed on any rank.
  Failure exchange() {
    Window& core = *window_.core;
    core.begin_exchange({mine_.location.offset, mine_.location.extent_bytes, mine_.count,
                         static_cast<std::uint64_t>(mine_.error_class)});
    if (const Failure lost = wait_until(engine, *window_.core, {WaitReason::window},
                                        [&] { return core.exchange().over(); }))
      return lost;
    for (int rank = 0; rank < core.ranks(); ++rank) {
      const int error_class = part_of(rank).error_class;
      if (error_class == MPI_SUCCESS) continue;
      if (mine_.error_class != MPI_SUCCESS) return said(mine_.error_class, reason_);
      return said(error_class,
                  "rank " + std::to_string(rank) + " could not take part; it says why");
    }
    return {};
  }

  Part part_of(int rank) const {
    const Exchange::Words& words = window_.core->exchange().of(rank);
    return {{words[0], words[1]}, static_cast<std::uint32_t>(words[2]), static_cast<int>(words[3])};
  }

  /// Checks the assertion that all ranks give the same number.
  void check_same() {
    for (int rank = 0; rank < window_.core->ranks(); ++rank) {
      const std::uint32_t count = part_of(rank).count;
      if (count == mine_.count) continue;
      return give_up(MPI_ERR_ARG, ORIEL_ASSERT_SAME_NUM_NOTIFICATIONS " is true, but rank " +
                                      std::to_string(rank) + " sets " + std::to_string(count) +
                                      " counters, and this rank " + std::to_string(mine_.count));
    }
  }

  void map_rows() {
    Window& core = *window_.core;
    ShmTransport& node = engine.running()->transports.shm();
    rows_.resize(static_cast<std::size_t>(core.ranks()));
    for (int rank = 0; rank < core.ranks(); ++rank) {
      const Part part = part_of(rank);
      CounterRow& row = rows_[static_cast<std::size_t>(rank)];
      row.count = part.count;
      const Member& member = core.member(rank);
      if (part.count == 0 || member.control == nullptr) continue;
      std::string error;
      std::byte* first =
          node.at(member.process, part.location, CounterRow::bytes(part.count), error);
      if (first == nullptr) {
        give_up(MPI_ERR_OTHER, "rank " + std::to_string(rank) + " cannot be reached: " + error);
      }
      row.first = reinterpret_cast<Counter*>(first);
    }
  }

  WindowHandle& window_;
  Part mine_;
  std::string reason_;
  ArenaPiece memory_;
  std::vector<CounterRow> rows_;
};

}  // namespace

Failure set_number(WindowHandle& window, int number, MPI_Info info) {
  return CounterMaker(window).make(number, info);
}

Failure get_value(WindowHandle& window, int index, MPI_Count* value) {
  if (const Failure bad = check_outputs(value)) return bad;
  if (const Failure bad = check_own_counter(window, index)) return bad;
  Counters& counters = window.core->notifications().counters();
  std::uint64_t now = counters.mine_at(index).value();
  bool news = counters.news(index, now);
  if (!news) {
    // Programs poll in a loop: sweep, so that other pending operations advance meanwhile.
    engine.sweep_in_passing(Passing::polls);
    now = counters.mine_at(index).value();
    news = counters.news(index, now);
  }
  const Failure lost = news ? Failure() : nothing_new(window);
  if (lost) now = counters.mine_at(index).value();  // increments made before its end
  window.core->notifications().count(index, now, now);
  *value = static_cast<MPI_Count>(now);
  return lost && !counters.news(index, now) ? lost : Failure();
}

Failure set_value(WindowHandle& window, int index, MPI_Count value) {
  if (const Failure bad = check_own_counter(window, index)) return bad;
  if (value < 0) return {MPI_ERR_ARG, "the value of a counter is negative"};
  window.core->exchange_counter(index, static_cast<std::uint64_t>(value));
  return {};
}

Failure await_value(WindowHandle& window, int index, MPI_Count threshold, PendingRequest& request,
                    bool& posted) {
  if (const Failure bad = check_own_counter(window, index)) return bad;
  if (threshold <= 0) return {};
  const Outcome outcome = window.core->await(index, static_cast<std::uint64_t>(threshold), request);
  posted = !outcome.done;
  request.await_anybody();
  return {};
}

int no_counters(const char* call, MPI_Win handle) {
  return unsupported_window(call, handle, lacking::notification_counters,
                            MPI_ERR_UNSUPPORTED_OPERATION);
}

}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_CALL(Err_rma_notification)(void) {
  return err_rma_notification();
}

ORIEL_CALL(Win_set_num_notify)(MPI_Win win, MPI_Info info, int num) {
  return dispatch_counters("ORIEL_Win_set_num_notify", win,
                           [&](WindowHandle& window) { return set_number(window, num, info); });
}

ORIEL_CALL(Win_get_num_notify)(MPI_Win win, int rank, int* num) {
  return dispatch_counters("ORIEL_Win_get_num_notify", win,
                           [&](WindowHandle& window) { return get_number(window, rank, num); });
}

ORIEL_CALL(Win_get_notify_value)(MPI_Win win, int index, MPI_Count* value) {
  return dispatch_counters("ORIEL_Win_get_notify_value", win,
                           [&](WindowHandle& window) { return get_value(window, index, value); });
}

ORIEL_CALL(Win_set_notify_value)(MPI_Win win, int index, MPI_Count value) {
  return dispatch_counters("ORIEL_Win_set_notify_value", win,
                           [&](WindowHandle& window) { return set_value(window, index, value); });
}

ORIEL_CALL(Win_reset_notify_value)(MPI_Win win, int index, MPI_Count* value) {
  return dispatch_counters("ORIEL_Win_reset_notify_value", win,
                           [&](WindowHandle& window) { return reset_value(window, index, value); });
}

ORIEL_CALL(Win_get_notify_request)
(MPI_Win win, int index, MPI_Count threshold, MPI_Request* request) {
  constexpr const char* call = "ORIEL_Win_get_notify_request";
  return request_value(call, win, index, threshold, request,
                       [&] { return no_counters(call, win); });
}
