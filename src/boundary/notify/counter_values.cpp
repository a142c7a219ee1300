// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/notify/counter_values.hpp"

#include "boundary/operations/operations.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/runtime/unsupported_window.hpp"
#include "engine/progress/waiting.hpp"

namespace oriel::boundary {
namespace {

Failure check_own_counter(const WindowHandle& window, int index) {
  if (window.view.has_value()) {
    return {MPI_ERR_RMA_FLAVOR, "a window made from a memory handle has no notification counters"};
  }
  return check_counter(window, window.core->rank(), index);
}

/// For a program that polls: lets other processes run, and reports a rank that has ended.
Failure nothing_new(const WindowHandle& window) {
  let_others_run(engine);
  const int lost = time_to_check_peers() ? window.core->epochs().lost_source(-1) : -1;
  return lost < 0 ? EngineFailure() : lost_rank(*window.core, lost);
}

}  // namespace

Failure get_number(const WindowHandle& window, int rank, int* number) {
  if (const Failure bad = check_outputs(number)) return bad;
  if (!valid_rank(window, rank)) return {MPI_ERR_RANK, "the rank is not in the window's group"};
  *number = static_cast<int>(window.core->notifications().counters().count(rank));
  return {};
}

Failure get_value(WindowHandle& window, int index, MPI_Count* value) {
  if (const Failure bad = check_outputs(value)) return bad;
  if (const Failure bad = check_own_counter(window, index)) return bad;
  Counters& counters = window.core->notifications().counters();
  std::uint64_t now = counters.mine_at(index).value();
  bool news = counters.news(index, now);
  if (!news) {
    // Programs poll in a loop: sweep, so that other pending operations advance meanwhile.
    sweep_pending(engine);
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

Failure reset_value(WindowHandle& window, int index, MPI_Count* value) {
  if (const Failure bad = check_outputs(value)) return bad;
  if (const Failure bad = check_own_counter(window, index)) return bad;
  sweep_pending(engine);
  *value = static_cast<MPI_Count>(window.core->exchange_counter(index, 0));
  return *value != 0 ? Failure() : nothing_new(window);
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

}  // namespace oriel::boundary
