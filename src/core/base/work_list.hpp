// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/published.hpp"

namespace oriel {

/// The objects of one kind that have work, linked through themselves, so that a sweep visits only
/// these. T derives from WorkList<T>::Listed. Any thread may call size() and empty(); all other
/// calls are serialized by a lock.
template <typename T>
class WorkList {
 public:
  class Listed {
    friend class WorkList;
    T* previous_ = nullptr;
    T* next_ = nullptr;
  };

  std::size_t size() const { return size_.load(); }
  bool empty() const { return size() == 0; }

  /// A walk that has begun does not visit the object.
  void add(T& object) {
    Listed& added = object;
    added.previous_ = nullptr;
    added.next_ = first_;
    if (first_ != nullptr) static_cast<Listed&>(*first_).previous_ = &object;
    first_ = &object;
    size_.store(size() + 1);
  }

  void remove(T& object) {
    const Listed& removed = object;
    if (next_ == &object) next_ = removed.next_;
    (removed.previous_ != nullptr ? static_cast<Listed&>(*removed.previous_).next_ : first_) =
        removed.next_;
    if (removed.next_ != nullptr) {
      static_cast<Listed&>(*removed.next_).previous_ = removed.previous_;
    }
    size_.store(size() - 1);
  }

  /// Calls visit(object) for each object. Objects may be added and removed meanwhile. One walk at a
  /// time.
  template <typename Visit>
  void walk(Visit&& visit) {
    for (T* object = first_; object != nullptr; object = next_) {
      next_ = static_cast<Listed&>(*object).next_;
      visit(*object);
    }
  }

 private:
  T* first_ = nullptr;
  T* next_ = nullptr;  // the object that the walk visits next
  Published<std::size_t> size_;
};

class SweepWork;
using WindowsAtWork = WorkList<SweepWork>;

/// Counts the things of one window that only a sweep can finish: an epoch that is deferred, closed
/// or being renewed, a recorded operation, an aggregation, a lock that has been requested or comes
/// after others (LockOrder), a remote origin's lock request or rendezvous, a request for a counter
/// (Thresholds), the use of a plan. While there are any, the process sweeps the window. Window
/// derives from this class.
class SweepWork : public WindowsAtWork::Listed {
 public:
  explicit SweepWork(WindowsAtWork& at_work) : at_work_(at_work) {}
  ~SweepWork() {
    if (things_ != 0) at_work_.remove(*this);
  }
  SweepWork(const SweepWork&) = delete;
  SweepWork& operator=(const SweepWork&) = delete;

  void add() {
    if (things_++ == 0) at_work_.add(*this);
  }
  void remove() {
    if (--things_ == 0) at_work_.remove(*this);
  }

 private:
  WindowsAtWork& at_work_;
  std::uint64_t things_ = 0;
};

}  // namespace oriel
