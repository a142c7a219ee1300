// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel {

struct Epoch;

/// The links of an epoch in one list.
struct EpochLinks {
  Epoch* previous = nullptr;
  Epoch* next = nullptr;
};

/// A list of epochs, linked through one of their members. Zero bytes are an empty list.
template <EpochLinks Epoch::* links>
class EpochList {
 public:
  bool empty() const { return first_ == nullptr; }
  Epoch* first() const { return first_; }
  Epoch* last() const { return last_; }
  static Epoch* after(const Epoch& epoch) { return (epoch.*links).next; }
  static Epoch* before(const Epoch& epoch) { return (epoch.*links).previous; }

  void append(Epoch& epoch) {
    epoch.*links = {last_, nullptr};
    (last_ != nullptr ? (last_->*links).next : first_) = &epoch;
    last_ = &epoch;
  }
  void prepend(Epoch& epoch) {
    epoch.*links = {nullptr, first_};
    (first_ != nullptr ? (first_->*links).previous : last_) = &epoch;
    first_ = &epoch;
  }
  /// Inserts an epoch behind `previous`, which is in the list, or first if `previous` is null.
  void insert(Epoch& epoch, Epoch* previous) {
    if (previous == last_) return append(epoch);
    if (previous == nullptr) return prepend(epoch);
    Epoch* const next = (previous->*links).next;
    epoch.*links = {previous, next};
    (previous->*links).next = (next->*links).previous = &epoch;
  }
  void remove(Epoch& epoch) {
    const EpochLinks& place = epoch.*links;
    (place.previous != nullptr ? (place.previous->*links).next : first_) = place.next;
    (place.next != nullptr ? (place.next->*links).previous : last_) = place.previous;
  }

 private:
  Epoch* first_ = nullptr;
  Epoch* last_ = nullptr;
};

}  // namespace oriel
