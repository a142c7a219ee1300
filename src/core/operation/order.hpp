// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "core/operation/operation.hpp"

namespace oriel {

/// Before an ordered operation on mapped memory (Q2): what this thread has stored and loaded for
/// the operations before it comes first for everybody. Only a load may overtake an earlier store on
/// x86-64, where the other fence costs nothing; an update that is made alone loads and stores.
inline void order_before(OperationKind kind) {
  if (fetches(kind)) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_acq_rel);
  }
}

/// Behind a flush that has found nothing to wait for: the stores of the operations before it come
/// before whatever the program stores from now on to tell others, in any order it likes.
inline void order_behind_flush() {
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace oriel
