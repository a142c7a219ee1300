// SPDX-License-Identifier: BSD-3-Clause
#include "core/notify/matcher.hpp"

#include <utility>

namespace oriel {

bool Matcher::start(NotifyRequest& request, const NotificationSink* sink) {
  request.matched_ = 0;
  const NotifyPattern& pattern = request.pattern();
  for (Kept* kept = kept_ != 0 ? oldest(pattern) : nullptr;
       kept != nullptr && !request.complete();) {
    Kept* behind = pattern.exact() ? kept->next_in_bin : KeptList::after(*kept);
    request.count_match(kept->notification);
    if (sink != nullptr) sink->matched(kept->notification);
    let_go(*kept);
    kept = request.complete() ? nullptr : match_from(behind, pattern);
  }
  if (request.complete()) return true;
  activate(request);
  return false;
}

bool Matcher::arrive(const Notification& notification, const NotificationSink* sink) {
  NotifyRequest* request = active_ != 0 ? first_match(notification) : nullptr;
  if (request == nullptr) {
    keep(notification);
    return false;
  }
  if (sink != nullptr) sink->matched(notification);
  if (!request->count_match(notification)) return false;
  stop(*request);
  return true;
}

const Notification* Matcher::find_kept(const NotifyPattern& pattern) const {
  const Kept* kept = kept_ != 0 ? oldest(pattern) : nullptr;
  return kept != nullptr ? &kept->notification : nullptr;
}

NotifyRequest* Matcher::first_match(const Notification& notification) {
  if (!spread_) {
    for (std::size_t i = 0; i < active_; ++i) {
      if (few_patterns_[i].matches(notification)) return few_[i];
    }
    return nullptr;
  }
  const Bin* bin = exact_ != 0 ? find_bin({notification.source, notification.tag}) : nullptr;
  NotifyRequest* exact = bin != nullptr ? bin->requests.first() : nullptr;
  for (NotifyRequest* wild = wildcards_.first(); wild != nullptr;
       wild = RequestList::after(*wild)) {
    if (exact != nullptr && exact->started_ < wild->started_) break;
    if (wild->pattern().matches(notification)) return wild;
  }
  return exact;
}

void Matcher::activate(NotifyRequest& request) {
  request.active_ = true;
  request.started_ = ++starts_;
  if (!spread_ && active_ == few) spread();
  if (spread_) {
    file(request);
  } else {
    few_[active_] = &request;
    few_patterns_[active_] = request.pattern();
  }
  ++active_;
}

void Matcher::stop(NotifyRequest& request) {
  request.active_ = false;
  --active_;
  if (!spread_) {
    std::size_t i = 0;
    while (few_[i] != &request) ++i;
    for (; i < active_; ++i) {
      few_[i] = few_[i + 1];
      few_patterns_[i] = few_patterns_[i + 1];
    }
    return;
  }
  if (request.pattern().exact()) {
    --exact_;
    Bin& bin = *find_bin(request.pattern());
    bin.requests.remove(request);
    drop_if_empty(bin);
  } else {
    wildcards_.remove(request);
  }
  // The bins are kept until no request is active: a program whose requests are about `few` would
  // otherwise switch back and forth.
  if (active_ == 0) spread_ = false;
}

void Matcher::spread() {
  spread_ = true;
  for (NotifyRequest* request : few_) file(*request);
}

void Matcher::file(NotifyRequest& request) {
  if (!request.pattern().exact()) return wildcards_.append(request);
  ++exact_;
  bin(request.pattern()).requests.append(request);
}

void Matcher::keep(const Notification& notification) {
  Kept& kept = kept_pool_.acquire();
  kept.notification = notification;
  kept_by_arrival_.append(kept);
  Bin& its = bin({notification.source, notification.tag});
  (its.last != nullptr ? its.last->next_in_bin : its.first) = &kept;
  its.last = &kept;
  ++kept_;
}

Matcher::Kept* Matcher::oldest(const NotifyPattern& pattern) const {
  if (pattern.exact()) {
    const Bin* bin = find_bin(pattern);
    return bin != nullptr ? bin->first : nullptr;
  }
  return match_from(kept_by_arrival_.first(), pattern);
}

Matcher::Kept* Matcher::match_from(Kept* kept, const NotifyPattern& pattern) {
  while (kept != nullptr && !pattern.matches(kept->notification)) kept = KeptList::after(*kept);
  return kept;
}

void Matcher::let_go(Kept& kept) {
  kept_by_arrival_.remove(kept);
  Bin& its = *find_bin({kept.notification.source, kept.notification.tag});
  its.first = kept.next_in_bin;
  if (its.first == nullptr) its.last = nullptr;
  drop_if_empty(its);
  kept_pool_.release(kept);
  --kept_;
}

std::size_t Matcher::bucket(const NotifyPattern& key) const {
  const std::uint64_t both = std::uint64_t{static_cast<std::uint32_t>(key.source)} << 32 |
                             static_cast<std::uint32_t>(key.tag);
  // Programs count sources and tags from zero; the high half of the product depends on all bits.
  std::uint64_t mixed = both * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 32;
  return mixed & (buckets_.size() - 1);
}

Matcher::Bin* Matcher::find_bin(const NotifyPattern& key) const {
  Bin* bin = buckets_[bucket(key)];
  while (bin != nullptr && (bin->key.tag != key.tag || bin->key.source != key.source)) {
    bin = bin->next;
  }
  return bin;
}

Matcher::Bin& Matcher::bin(const NotifyPattern& key) {
  if (Bin* known = find_bin(key)) return *known;
  if (bins_ == buckets_.size()) grow();
  Bin& made = bin_pool_.acquire();
  made.key = key;
  Bin*& first = buckets_[bucket(key)];
  made.next = first;
  first = &made;
  ++bins_;
  return made;
}

void Matcher::drop_if_empty(Bin& bin) {
  if (!bin.empty()) return;
  Bin** link = &buckets_[bucket(bin.key)];
  while (*link != &bin) link = &(*link)->next;
  *link = bin.next;
  bin_pool_.release(bin);
  --bins_;
}

void Matcher::grow() {
  const std::vector<Bin*> old =
      std::exchange(buckets_, std::vector<Bin*>(2 * buckets_.size(), nullptr));
  for (Bin* chain : old) {
    while (chain != nullptr) {
      Bin& moved = *chain;
      chain = moved.next;
      Bin*& first = buckets_[bucket(moved.key)];
      moved.next = first;
      first = &moved;
    }
  }
}

}  // namespace oriel
