// SPDX-License-Identifier: BSD-3-Clause
#include "core/epoch/pending_operations.hpp"

#include <utility>

namespace oriel {

RecordedOperation& PendingOperations::record(const Operation& operation, Protocol protocol,
                                             Epoch& epoch, Target& target) {
  RecordedOperation& recorded = pools_.operations.acquire();
  recorded.operation = operation;
  recorded.protocol = protocol;
  recorded.operation.line = nullptr;  // another thread may replay it
  recorded.pending = this;
  recorded.epoch = &epoch;
  recorded.target = &target;
  recorded.number = target.issued;
  ++epoch.attention;
  work_.add();
  return recorded;
}

RecordedOperation* PendingOperations::find(std::uint64_t token) {
  RecordedOperation* recorded = pools_.operations.find(token);
  return recorded != nullptr && recorded->pending == this ? recorded : nullptr;
}

void PendingOperations::add_error(RecordedOperation& recorded, Error error) {
  // The error of an operation is reported with that of its first part. An answer may bring another
  // operation's error.
  const bool answers = recorded.operation.kind == OperationKind::acknowledge;
  if (error == Error::none || (recorded.error != Error::none && !answers)) return;
  Target& target = *recorded.target;
  recorded.error = first_of(recorded.error, error);
  Error& unreported = unreported_error(recorded);
  unreported = first_of(unreported, error);
  recorded.epoch->failed = true;
  // Later operations and flushes take the general path, which reports errors.
  EpochPeer& other = peers_[target.rank];
  if (other.ready.load() == &target) other.ready.store(nullptr);
}

/// Returns where an error of the operation is kept until it is reported: in the oldest pending
/// flush that covers the operation, or else in the target.
Error& PendingOperations::unreported_error(const RecordedOperation& recorded) {
  Target& target = *recorded.target;
  for (FlushWaiter* flush = target.flushes.first(); flush != nullptr;
       flush = FlushQueue::after(*flush)) {
    const bool covered = recorded.age <= flush->recorded && !(flush->local && recorded.copied);
    if (covered) return flush->request->error;
  }
  return recorded.copied ? target.copied_error : target.error;
}

void PendingOperations::conclude(RecordedOperation& recorded) {
  Epoch& epoch = *recorded.epoch;
  Completion* completion = recorded.operation.completion;
  const Error error = recorded.error;
  events_.done(recorded);
  --epoch.attention;
  work_.remove();
  pools_.operations.release(recorded);
  if (completion != nullptr) completion->complete(error);
}

void PendingOperations::append_copied(Target& target, RecordedOperation& recorded) {
  target.copied.append(recorded);
  if (recorded.operation.awaits_answer()) return;
  Completion* const completion = std::exchange(recorded.operation.completion, nullptr);
  if (completion != nullptr) completion->complete(recorded.error);
}

void PendingOperations::cover(Epoch& epoch, Target& target, bool local, Coverage& coverage) {
  Link& link = peers_.link(target.rank);
  if (epoch.active && !target.signaled) link.advance(epoch, target);
  const EpochPeer& other = peers_[target.rank];
  if (other.has_postponed(local)) {
    coverage.error = first_of(coverage.error, link.recall(target.rank));
  }
  coverage.whole &= target.all_finished() && !target.failed() && other.postponed.load() == 0;
  const std::uint64_t finished = local ? target.last_fetch : target.issued;
  // Operations of weak unlocks wait for their locks. In an epoch that is not passive, the target
  // may answer the question before it grants these, so the answer does not cover them.
  const std::uint64_t weak = local || !target.passive ? 0 : other.weak_sent;
  if (finished > target.asked || weak > other.weak_answered) link.ask(epoch, target);
  if (!target.under_way(target.recorded, local) && target.finished >= finished &&
      weak <= other.weak_answered) {
    coverage.error = first_of(coverage.error, target.report_error(local));
    return;
  }
  FlushRequest& request = request_of(coverage);
  request.error = first_of(request.error, target.report_error(local));
  FlushWaiter& waiter = pools_.flush_waiters.acquire();
  waiter.request = &request;
  waiter.recorded = target.recorded;
  waiter.finished = finished;
  waiter.weak = weak;
  waiter.local = local;
  ++request.remaining;
  target.flushes.append(waiter);
}

void PendingOperations::count_notification(RecordedOperation& ended) {
  Target& target = *ended.target;
  ended.counted = true;
  target.count_unanswered(ended.operation.thread);
  for (FlushWaiter* flush = target.flushes.first(); flush != nullptr;
       flush = FlushQueue::after(*flush)) {
    if (!flush->local && flush->recorded >= ended.age) flush->finished = target.issued;
  }
}

bool PendingOperations::flush_unasked(const Target& target) {
  const FlushWaiter* flush = target.flushes.first();
  while (flush != nullptr && flush->finished <= target.asked) flush = FlushQueue::after(*flush);
  if (flush == nullptr) return false;
  const auto notify = [&](const RecordedQueue& queue) {
    for (const RecordedOperation* one = queue.first(); one != nullptr;
         one = RecordedQueue::after(*one)) {
      if (one->age <= flush->recorded && !one->counted && one->operation.notify_arg.wanted()) {
        return true;
      }
    }
    return false;
  };
  return !notify(target.waiting) && !notify(target.moving) && !notify(target.copied);
}

bool PendingOperations::cover_threads(Epoch& epoch, Target& target, ThreadSet threads,
                                      Coverage& coverage) {
  const bool asks = (target.unasked_threads & threads) != 0 || target.asked_alone != 0;
  if (!asks) return true;
  FlushRequest& request = request_of(coverage);
  ++request.remaining;
  if (peers_.link(target.rank).ask_alone(epoch, target, &request)) {
    target.unasked_threads &= ~threads;
    return true;
  }
  if (--request.remaining == 0) release(*std::exchange(coverage.request, nullptr));
  return false;
}

FlushRequest& PendingOperations::request_of(Coverage& coverage) {
  if (coverage.request == nullptr) {
    coverage.request = &pools_.flush_requests.acquire();
    coverage.request->pending = this;
    ++flushes_;
  }
  return *coverage.request;
}

void FlushRequest::complete(Error of_target) {
  error = first_of(error, of_target);
  if (--remaining != 0) return;
  Completion* const told = completion;
  const Error first = error;
  pending->release(*this);
  if (told != nullptr) told->complete(first);
}

Outcome PendingOperations::finish_flush(const Coverage& coverage, Completion* completion) {
  peers_.push(true);
  if (FlushRequest* request = coverage.request) {
    request->completion = completion;
    request->error = first_of(request->error, coverage.error);
    return Outcome::posted();
  }
  if (coverage.error != Error::none) return Outcome::failed(coverage.error);
  order_behind_flush();
  return Outcome::finished();
}

void PendingOperations::satisfy_flushes(Target& target) {
  while (FlushWaiter* waiter = target.flushes.first()) {
    if (target.under_way(waiter->recorded, waiter->local) || target.finished < waiter->finished ||
        peers_[target.rank].weak_answered < waiter->weak) {
      return;
    }
    target.flushes.remove(*waiter);
    FlushRequest& request = *waiter->request;
    pools_.flush_waiters.release(*waiter);
    request.complete(Error::none);
  }
}

void PendingOperations::mark_all_flushed(const Coverage& coverage) {
  if (coverage.request == nullptr && coverage.error == Error::none && coverage.whole &&
      weak_peers_ == 0) {
    // Release, pairs with the acquire in all_flushed(): a thread that finds it set returns from its
    // flush and must see the stores of the operations that this flush has found complete.
    all_flushed_.store(true, std::memory_order_release);
  }
}

}  // namespace oriel
