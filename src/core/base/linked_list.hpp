// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

namespace oriel {

/// The links of an object in one list.
template <typename T>
struct Links {
  T* previous = nullptr;
  T* next = nullptr;
};

/// A list of objects, linked through one of their members. Zero bytes are an empty list.
template <typename T, Links<T> T::* links>
class LinkedList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  T* last() const { return last_; }
  static T* after(const T& object) { return (object.*links).next; }

  void append(T& object) {
    object.*links = {last_, nullptr};
    (last_ != nullptr ? (last_->*links).next : first_) = &object;
    last_ = &object;
  }
  void prepend(T& object) {
    object.*links = {nullptr, first_};
    (first_ != nullptr ? (first_->*links).previous : last_) = &object;
    first_ = &object;
  }
  /// Inserts an object behind the last one for which precedes() is true, or first.
  template <typename Precedes>
  void insert(T& object, Precedes&& precedes) {
    T* previous = last_;
    while (previous != nullptr && !precedes(*previous)) previous = (previous->*links).previous;
    if (previous == last_) return append(object);
    if (previous == nullptr) return prepend(object);
    T* const next = (previous->*links).next;
    object.*links = {previous, next};
    (previous->*links).next = (next->*links).previous = &object;
  }
  void remove(T& object) {
    const Links<T> its = std::exchange(object.*links, {});
    (its.previous != nullptr ? (its.previous->*links).next : first_) = its.next;
    (its.next != nullptr ? (its.next->*links).previous : last_) = its.previous;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace oriel
