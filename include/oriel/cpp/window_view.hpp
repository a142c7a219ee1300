// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file window_view.hpp
 * The operations on a window, with typed buffers and displacements. Included by oriel.hpp.
 */
#pragma once

#include <mpi.h>
#include <oriel/notify.h>
#include <oriel/notify_counters.h>
#include <oriel/remote_completion.h>

#include <functional>
#include <memory>

#include <oriel/cpp/buffer.hpp>
#include <oriel/cpp/datatype.hpp>
#include <oriel/cpp/error.hpp>
#include <oriel/cpp/request.hpp>
#include <oriel/cpp/window_handle.hpp>

namespace oriel {

/**
 * The operations on a window of elements of T, with the arguments of C in its order: the origin's
 * buffer, the target's rank and displacement, the op. Counts are those of the buffer. Displacements
 * are in the window's displacement units: elements of T on a window<T>, bytes from MPI_BOTTOM on a
 * dynamic window.
 *
 * No operation blocks. Operations without a notification must be called in an epoch. A buffer may
 * be used again after a flush, the end of the epoch, or a wait for the operation's request.
 * Requests of rrput, rraccumulate and rrget_accumulate complete when the operation is complete at
 * the target as well.
 *
 * Errors are those of the C functions; MPI_ERR_RMA_SYNC: no epoch covers the target.
 */
template <element T>
class window_view : public window_handle {
 public:
  using value_type = T;
  using window_handle::window_handle;
  /** Operations on elements of T on a window of any type. */
  explicit window_view(window_handle window) noexcept : window_handle(window) {}

  /** MPI_Put: writes the buffer to the target. */
  void put(buffer<const T> origin, int target, MPI_Aint disp) const {
    issue(MPI_Put, origin, target, disp, native_);
  }
  /** MPI_Get: reads as many elements as the buffer has from the target. */
  void get(buffer<T> origin, int target, MPI_Aint disp) const {
    issue(MPI_Get, origin, target, disp, native_);
  }
  /** MPI_Accumulate: combines the buffer into the target's elements by `op`, such as MPI_SUM. */
  void accumulate(buffer<const T> origin, int target, MPI_Aint disp, MPI_Op op) const {
    issue(MPI_Accumulate, origin, target, disp, op, native_);
  }
  /** MPI_Get_accumulate: as accumulate, and the old values arrive in `result`, which has as many
   *  elements as the origin's buffer; otherwise MPI_ERR_COUNT, and nothing is started. With
   *  MPI_NO_OP, which reads as many elements as `result` has, the origin's buffer is `{}`. */
  void get_accumulate(buffer<const T> origin, buffer<T> result, int target, MPI_Aint disp,
                      MPI_Op op) const {
    fetch(MPI_Get_accumulate, origin, result, target, disp, op, native_);
  }
  /** MPI_Fetch_and_op on one element: the old value arrives in `result`. */
  void fetch_and_op(std::reference_wrapper<const T> origin, T& result, int target, MPI_Aint disp,
                    MPI_Op op) const {
    detail::check(
        MPI_Fetch_and_op(pointer(origin), pointer(result), type(), target, disp, op, native_));
  }
  /** MPI_Compare_and_swap on one element: writes `origin` if the old value, which arrives in
   *  `result`, equals `compare`. T must be an integer, bool or std::byte. */
  void compare_and_swap(std::reference_wrapper<const T> origin,
                        std::reference_wrapper<const T> compare, T& result, int target,
                        MPI_Aint disp) const {
    detail::check(MPI_Compare_and_swap(pointer(origin), pointer(compare), pointer(result), type(),
                                       target, disp, native_));
  }

  /** MPI_Rput: put with a request. */
  request rput(buffer<const T> origin, int target, MPI_Aint disp) const {
    return issue_r(MPI_Rput, origin, target, disp, native_);
  }
  /** MPI_Rget: get with a request, which completes when the data has arrived. */
  request rget(buffer<T> origin, int target, MPI_Aint disp) const {
    return issue_r(MPI_Rget, origin, target, disp, native_);
  }
  /** MPI_Raccumulate: accumulate with a request. */
  request raccumulate(buffer<const T> origin, int target, MPI_Aint disp, MPI_Op op) const {
    return issue_r(MPI_Raccumulate, origin, target, disp, op, native_);
  }
  /** MPI_Rget_accumulate: get_accumulate with a request. */
  request rget_accumulate(buffer<const T> origin, buffer<T> result, int target, MPI_Aint disp,
                          MPI_Op op) const {
    return fetch_r(MPI_Rget_accumulate, origin, result, target, disp, op, native_);
  }
  /** ORIEL_Rrput: put whose request completes when the data is in the target's memory. */
  request rrput(buffer<const T> origin, int target, MPI_Aint disp) const {
    return issue_r(ORIEL_Rrput, origin, target, disp, native_);
  }
  /** ORIEL_Rraccumulate: accumulate whose request completes when the target is updated. */
  request rraccumulate(buffer<const T> origin, int target, MPI_Aint disp, MPI_Op op) const {
    return issue_r(ORIEL_Rraccumulate, origin, target, disp, op, native_);
  }
  /** ORIEL_Rrget_accumulate: get_accumulate whose request completes when the old values have
   *  arrived and the target is updated. */
  request rrget_accumulate(buffer<const T> origin, buffer<T> result, int target, MPI_Aint disp,
                           MPI_Op op) const {
    return fetch_r(ORIEL_Rrget_accumulate, origin, result, target, disp, op, native_);
  }

  /* Notified access by tags (oriel/notify.h). The target is notified with `tag` when the operation
   * has taken effect there. No epoch is needed. A buffer `{}` only notifies. The completion of a
   * request does not mean that the notification has arrived. MPI_ERR_TAG: the tag is negative. */

  /** ORIEL_Put_notify: the data is visible when the target has been notified. */
  void put_notify(buffer<const T> origin, int target, MPI_Aint disp, int tag) const {
    issue(ORIEL_Put_notify, origin, target, disp, native_, tag);
  }
  /** ORIEL_Get_notify: the target may overwrite the memory when it has been notified. */
  void get_notify(buffer<T> origin, int target, MPI_Aint disp, int tag) const {
    issue(ORIEL_Get_notify, origin, target, disp, native_, tag);
  }
  /** ORIEL_Accumulate_notify: accumulate that notifies. */
  void accumulate_notify(buffer<const T> origin, int target, MPI_Aint disp, MPI_Op op,
                         int tag) const {
    issue(ORIEL_Accumulate_notify, origin, target, disp, op, native_, tag);
  }
  /** ORIEL_Get_accumulate_notify: get_accumulate that notifies. */
  void get_accumulate_notify(buffer<const T> origin, buffer<T> result, int target, MPI_Aint disp,
                             MPI_Op op, int tag) const {
    fetch(ORIEL_Get_accumulate_notify, origin, result, target, disp, op, native_, tag);
  }
  /** ORIEL_Fetch_and_op_notify: fetch_and_op that notifies. */
  void fetch_and_op_notify(std::reference_wrapper<const T> origin, T& result, int target,
                           MPI_Aint disp, MPI_Op op, int tag) const {
    detail::check(ORIEL_Fetch_and_op_notify(pointer(origin), pointer(result), type(), target, disp,
                                            op, native_, tag));
  }
  /** ORIEL_Compare_and_swap_notify: compare_and_swap that notifies, also if the comparison fails.
   */
  void compare_and_swap_notify(std::reference_wrapper<const T> origin,
                               std::reference_wrapper<const T> compare, T& result, int target,
                               MPI_Aint disp, int tag) const {
    detail::check(ORIEL_Compare_and_swap_notify(pointer(origin), pointer(compare), pointer(result),
                                                type(), target, disp, native_, tag));
  }
  /** ORIEL_Rput_notify: put_notify with a request. */
  request rput_notify(buffer<const T> origin, int target, MPI_Aint disp, int tag) const {
    return issue_r(ORIEL_Rput_notify, origin, target, disp, native_, tag);
  }
  /** ORIEL_Rget_notify: get_notify with a request. */
  request rget_notify(buffer<T> origin, int target, MPI_Aint disp, int tag) const {
    return issue_r(ORIEL_Rget_notify, origin, target, disp, native_, tag);
  }
  /** ORIEL_Raccumulate_notify: accumulate_notify with a request. */
  request raccumulate_notify(buffer<const T> origin, int target, MPI_Aint disp, MPI_Op op,
                             int tag) const {
    return issue_r(ORIEL_Raccumulate_notify, origin, target, disp, op, native_, tag);
  }
  /** ORIEL_Rget_accumulate_notify: get_accumulate_notify with a request. */
  request rget_accumulate_notify(buffer<const T> origin, buffer<T> result, int target,
                                 MPI_Aint disp, MPI_Op op, int tag) const {
    return fetch_r(ORIEL_Rget_accumulate_notify, origin, result, target, disp, op, native_, tag);
  }

  /* Notified access by counters (oriel/notify_counters.h). The target's counter `notification_idx`
   * is incremented when the operation has taken effect there. No epoch is needed.
   * ORIEL_ERR_RMA_NOTIFICATION: the target has no such counter. */

  /** ORIEL_Put_notify_counter: put that counts. */
  void put_notify_counter(buffer<const T> origin, int target, MPI_Aint disp,
                          int notification_idx) const {
    issue(ORIEL_Put_notify_counter, origin, target, disp, notification_idx, native_);
  }
  /** ORIEL_Get_notify_counter: get that counts. */
  void get_notify_counter(buffer<T> origin, int target, MPI_Aint disp, int notification_idx) const {
    issue(ORIEL_Get_notify_counter, origin, target, disp, notification_idx, native_);
  }
  /** ORIEL_Accumulate_notify_counter: accumulate that counts. */
  void accumulate_notify_counter(buffer<const T> origin, int target, MPI_Aint disp, MPI_Op op,
                                 int notification_idx) const {
    issue(ORIEL_Accumulate_notify_counter, origin, target, disp, op, notification_idx, native_);
  }
  /** ORIEL_Get_accumulate_notify_counter: get_accumulate that counts, also with MPI_NO_OP. */
  void get_accumulate_notify_counter(buffer<const T> origin, buffer<T> result, int target,
                                     MPI_Aint disp, MPI_Op op, int notification_idx) const {
    fetch(ORIEL_Get_accumulate_notify_counter, origin, result, target, disp, op, notification_idx,
          native_);
  }
  /** ORIEL_Rput_notify_counter: put_notify_counter with a request. */
  request rput_notify_counter(buffer<const T> origin, int target, MPI_Aint disp,
                              int notification_idx) const {
    return issue_r(ORIEL_Rput_notify_counter, origin, target, disp, notification_idx, native_);
  }
  /** ORIEL_Rget_notify_counter: get_notify_counter with a request. */
  request rget_notify_counter(buffer<T> origin, int target, MPI_Aint disp,
                              int notification_idx) const {
    return issue_r(ORIEL_Rget_notify_counter, origin, target, disp, notification_idx, native_);
  }
  /** ORIEL_Raccumulate_notify_counter: accumulate_notify_counter with a request. */
  request raccumulate_notify_counter(buffer<const T> origin, int target, MPI_Aint disp, MPI_Op op,
                                     int notification_idx) const {
    return issue_r(ORIEL_Raccumulate_notify_counter, origin, target, disp, op, notification_idx,
                   native_);
  }
  /** ORIEL_Rget_accumulate_notify_counter: get_accumulate_notify_counter with a request. */
  request rget_accumulate_notify_counter(buffer<const T> origin, buffer<T> result, int target,
                                         MPI_Aint disp, MPI_Op op, int notification_idx) const {
    return fetch_r(ORIEL_Rget_accumulate_notify_counter, origin, result, target, disp, op,
                   notification_idx, native_);
  }

 private:
  static MPI_Datatype type() noexcept { return datatype<T>::get(); }
  static const T* pointer(std::reference_wrapper<const T> variable) noexcept {
    return std::addressof(variable.get());
  }
  static T* pointer(T& variable) noexcept { return std::addressof(variable); }

  /* Calls of C functions; `rest`: the arguments after the target's datatype. Always inlined,
   * because the function would otherwise be called through a pointer. */
  template <class Call, class Buffer, class... Rest>
  [[gnu::always_inline]] static void issue(Call call, Buffer origin, int target, MPI_Aint disp,
                                           Rest... rest) {
    detail::check(
        call(origin.data(), origin.count(), type(), target, disp, origin.count(), type(), rest...));
  }
  template <class Call, class Buffer, class... Rest>
  [[gnu::always_inline]] static request issue_r(Call call, Buffer origin, int target, MPI_Aint disp,
                                                Rest... rest) {
    MPI_Request native = MPI_REQUEST_NULL;
    issue(call, origin, target, disp, rest..., &native);
    return request(native);
  }
  template <class Call, class... Rest>
  [[gnu::always_inline]] static void fetch(Call call, buffer<const T> origin, buffer<T> result,
                                           int target, MPI_Aint disp, MPI_Op op, Rest... rest) {
    if (origin.count() != result.count() && op != MPI_NO_OP) [[unlikely]] {
      detail::fail(MPI_ERR_COUNT);
    }
    detail::check(call(origin.data(), origin.count(), type(), result.data(), result.count(), type(),
                       target, disp, result.count(), type(), op, rest...));
  }
  template <class Call, class... Rest>
  [[gnu::always_inline]] static request fetch_r(Call call, buffer<const T> origin, buffer<T> result,
                                                int target, MPI_Aint disp, Rest... rest) {
    MPI_Request native = MPI_REQUEST_NULL;
    fetch(call, origin, result, target, disp, rest..., &native);
    return request(native);
  }
};

}  // namespace oriel
