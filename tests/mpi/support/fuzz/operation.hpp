// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "support/fuzz/calls.hpp"
#include "support/fuzz/subject.hpp"

namespace fuzz {

enum class Kind { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };
constexpr const char* name_of(Kind kind) {
  constexpr const char* names[] = {"MPI_Put",          "MPI_Get",
                                   "MPI_Accumulate",   "MPI_Get_accumulate",
                                   "MPI_Fetch_and_op", "MPI_Compare_and_swap"};
  return names[static_cast<int>(kind)];
}
constexpr bool fetches(Kind kind) {
  return kind != Kind::put && kind != Kind::accumulate;
}
constexpr bool updates(Kind kind) {
  return kind != Kind::put && kind != Kind::get;
}
constexpr bool single(Kind kind) {
  return kind == Kind::fetch_and_op || kind == Kind::compare_and_swap;
}

enum class Op { replace, no_op, sum, prod, min, max, band, bor, bxor, land, lor, lxor };
constexpr int ops = 12;
inline MPI_Op handle_of(Op op) {
  const MPI_Op handles[ops] = {MPI_REPLACE, MPI_NO_OP, MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,
                               MPI_BAND,    MPI_BOR,   MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  return handles[static_cast<int>(op)];
}

/// The model's arithmetic, on the bytes of one element.
inline std::uint64_t reduced(Op op, const Element& element, std::uint64_t there,
                             std::uint64_t given) {
  const auto value = [&](std::uint64_t bits) {
    const int unused = 64 - 8 * element.bytes;
    return static_cast<std::int64_t>(bits << unused) >> unused;
  };
  const bool less =
      element.is_signed ? value(given) < value(there) : given < there;  // unused bytes are 0
  switch (op) {
    case Op::replace:
      return given;
    case Op::no_op:
      return there;
    case Op::sum:
      return there + given;
    case Op::prod:
      return there * given;
    case Op::min:
      return less ? given : there;
    case Op::max:
      return less ? there : given;
    case Op::band:
      return there & given;
    case Op::bor:
      return there | given;
    case Op::bxor:
      return there ^ given;
    case Op::land:
      return there != 0 && given != 0 ? 1 : 0;
    case Op::lor:
      return there != 0 || given != 0 ? 1 : 0;
    case Op::lxor:
      return (there != 0) != (given != 0) ? 1 : 0;
  }
  return 0;
}

/// The arguments of any operation, as MPI takes them.
struct Arguments {
  Kind kind = Kind::put;
  const void* origin = nullptr;
  MPI_Count origin_count = 0;
  MPI_Datatype origin_type = MPI_DATATYPE_NULL;
  const void* compare = nullptr;
  void* result = nullptr;
  MPI_Count result_count = 0;
  MPI_Datatype result_type = MPI_DATATYPE_NULL;
  int rank = 0;
  MPI_Aint displacement = 0;
  MPI_Count target_count = 0;
  MPI_Datatype target_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Win win = MPI_WIN_NULL;
  bool with_request = false;
  MPI_Request* request = nullptr;
  bool large = false;  // the call with large counts, where the host has it
  bool notifies = false;
  int tag = 0;       // of the notification
  int counter = -1;  // which it increments instead; -1: none

  int call() const {
    if (counter >= 0) return call_counted();
    if (notifies) return large && !single(kind) ? call_notified_large() : call_notified();
#if MPI_VERSION >= 4
    if (large && !single(kind)) return call_large();
#endif
    const auto from = static_cast<int>(origin_count);
    const auto into = static_cast<int>(result_count);
    const auto there = static_cast<int>(target_count);
    switch (kind) {
      case Kind::put:
        return with_request ? MPI_Rput(origin, from, origin_type, rank, displacement, there,
                                       target_type, win, request)
                            : MPI_Put(origin, from, origin_type, rank, displacement, there,
                                      target_type, win);
      case Kind::get:
        return with_request ? MPI_Rget(result, into, result_type, rank, displacement, there,
                                       target_type, win, request)
                            : MPI_Get(result, into, result_type, rank, displacement, there,
                                      target_type, win);
      case Kind::accumulate:
        return with_request ? MPI_Raccumulate(origin, from, origin_type, rank, displacement, there,
                                              target_type, op, win, request)
                            : MPI_Accumulate(origin, from, origin_type, rank, displacement, there,
                                             target_type, op, win);
      case Kind::get_accumulate:
        return with_request
                   ? MPI_Rget_accumulate(origin, from, origin_type, result, into, result_type, rank,
                                         displacement, there, target_type, op, win, request)
                   : MPI_Get_accumulate(origin, from, origin_type, result, into, result_type, rank,
                                        displacement, there, target_type, op, win);
      case Kind::fetch_and_op:
        return MPI_Fetch_and_op(origin, result, target_type, rank, displacement, op, win);
      case Kind::compare_and_swap:
        return MPI_Compare_and_swap(origin, compare, result, target_type, rank, displacement, win);
    }
    return MPI_SUCCESS;
  }

  std::string text() const {
    return std::string(name_of(kind)) + (with_request ? " with a request" : "") +
           (counter >= 0 ? ", counter " + std::to_string(counter)
            : notifies   ? ", tag " + std::to_string(tag)
                         : "") +
           (large ? ", large counts" : "") + ", rank " + std::to_string(rank) + ", displacement " +
           std::to_string(displacement) + ", counts " + std::to_string(origin_count) + "/" +
           std::to_string(result_count) + "/" + std::to_string(target_count);
  }

 private:
  /// No operation on a single element increments a counter. All counts are small.
  int call_counted() const {
    const support::Counters& calls = counters();
    const auto from = static_cast<int>(origin_count);
    const auto into = static_cast<int>(result_count);
    const auto there = static_cast<int>(target_count);
    const auto put = [&](auto* call, auto... requests) {
      return call(origin, from, origin_type, rank, displacement, there, target_type, counter, win,
                  requests...);
    };
    const auto get = [&](auto* call, auto... requests) {
      return call(result, into, result_type, rank, displacement, there, target_type, counter, win,
                  requests...);
    };
    const auto accumulate = [&](auto* call, auto... requests) {
      return call(origin, from, origin_type, rank, displacement, there, target_type, op, counter,
                  win, requests...);
    };
    const auto get_accumulate = [&](auto* call, auto... requests) {
      return call(origin, from, origin_type, result, into, result_type, rank, displacement, there,
                  target_type, op, counter, win, requests...);
    };
    switch (kind) {
      case Kind::put:
        if (with_request) {
          return large ? put(calls.Rput_notify_counter_c, request)
                       : put(calls.Rput_notify_counter, request);
        }
        return large ? put(calls.Put_notify_counter_c) : put(calls.Put_notify_counter);
      case Kind::get:
        if (with_request) {
          return large ? get(calls.Rget_notify_counter_c, request)
                       : get(calls.Rget_notify_counter, request);
        }
        return large ? get(calls.Get_notify_counter_c) : get(calls.Get_notify_counter);
      case Kind::accumulate:
        if (with_request) {
          return large ? accumulate(calls.Raccumulate_notify_counter_c, request)
                       : accumulate(calls.Raccumulate_notify_counter, request);
        }
        return large ? accumulate(calls.Accumulate_notify_counter_c)
                     : accumulate(calls.Accumulate_notify_counter);
      default:
        if (with_request) {
          return large ? get_accumulate(calls.Rget_accumulate_notify_counter_c, request)
                       : get_accumulate(calls.Rget_accumulate_notify_counter, request);
        }
        return large ? get_accumulate(calls.Get_accumulate_notify_counter_c)
                     : get_accumulate(calls.Get_accumulate_notify_counter);
    }
  }
  int call_notified() const {
    const support::Notified& calls = notified();
    const auto from = static_cast<int>(origin_count);
    const auto into = static_cast<int>(result_count);
    const auto there = static_cast<int>(target_count);
    switch (kind) {
      case Kind::put:
        return with_request ? calls.Rput_notify(origin, from, origin_type, rank, displacement,
                                                there, target_type, win, tag, request)
                            : calls.Put_notify(origin, from, origin_type, rank, displacement, there,
                                               target_type, win, tag);
      case Kind::get:
        return with_request ? calls.Rget_notify(result, into, result_type, rank, displacement,
                                                there, target_type, win, tag, request)
                            : calls.Get_notify(result, into, result_type, rank, displacement, there,
                                               target_type, win, tag);
      case Kind::accumulate:
        return with_request
                   ? calls.Raccumulate_notify(origin, from, origin_type, rank, displacement, there,
                                              target_type, op, win, tag, request)
                   : calls.Accumulate_notify(origin, from, origin_type, rank, displacement, there,
                                             target_type, op, win, tag);
      case Kind::get_accumulate:
        return with_request ? calls.Rget_accumulate_notify(origin, from, origin_type, result, into,
                                                           result_type, rank, displacement, there,
                                                           target_type, op, win, tag, request)
                            : calls.Get_accumulate_notify(origin, from, origin_type, result, into,
                                                          result_type, rank, displacement, there,
                                                          target_type, op, win, tag);
      case Kind::fetch_and_op:
        return calls.Fetch_and_op_notify(origin, result, target_type, rank, displacement, op, win,
                                         tag);
      case Kind::compare_and_swap:
        return calls.Compare_and_swap_notify(origin, compare, result, target_type, rank,
                                             displacement, win, tag);
    }
    return MPI_SUCCESS;
  }
  int call_notified_large() const {
    const support::Notified& calls = notified();
    switch (kind) {
      case Kind::put:
        return with_request
                   ? calls.Rput_notify_c(origin, origin_count, origin_type, rank, displacement,
                                         target_count, target_type, win, tag, request)
                   : calls.Put_notify_c(origin, origin_count, origin_type, rank, displacement,
                                        target_count, target_type, win, tag);
      case Kind::get:
        return with_request
                   ? calls.Rget_notify_c(result, result_count, result_type, rank, displacement,
                                         target_count, target_type, win, tag, request)
                   : calls.Get_notify_c(result, result_count, result_type, rank, displacement,
                                        target_count, target_type, win, tag);
      case Kind::accumulate:
        return with_request ? calls.Raccumulate_notify_c(origin, origin_count, origin_type, rank,
                                                         displacement, target_count, target_type,
                                                         op, win, tag, request)
                            : calls.Accumulate_notify_c(origin, origin_count, origin_type, rank,
                                                        displacement, target_count, target_type, op,
                                                        win, tag);
      default:
        return with_request
                   ? calls.Rget_accumulate_notify_c(
                         origin, origin_count, origin_type, result, result_count, result_type, rank,
                         displacement, target_count, target_type, op, win, tag, request)
                   : calls.Get_accumulate_notify_c(origin, origin_count, origin_type, result,
                                                   result_count, result_type, rank, displacement,
                                                   target_count, target_type, op, win, tag);
    }
  }
#if MPI_VERSION >= 4
  int call_large() const {
    switch (kind) {
      case Kind::put:
        return with_request ? MPI_Rput_c(origin, origin_count, origin_type, rank, displacement,
                                         target_count, target_type, win, request)
                            : MPI_Put_c(origin, origin_count, origin_type, rank, displacement,
                                        target_count, target_type, win);
      case Kind::get:
        return with_request ? MPI_Rget_c(result, result_count, result_type, rank, displacement,
                                         target_count, target_type, win, request)
                            : MPI_Get_c(result, result_count, result_type, rank, displacement,
                                        target_count, target_type, win);
      case Kind::accumulate:
        return with_request
                   ? MPI_Raccumulate_c(origin, origin_count, origin_type, rank, displacement,
                                       target_count, target_type, op, win, request)
                   : MPI_Accumulate_c(origin, origin_count, origin_type, rank, displacement,
                                      target_count, target_type, op, win);
      default:
        return with_request ? MPI_Rget_accumulate_c(origin, origin_count, origin_type, result,
                                                    result_count, result_type, rank, displacement,
                                                    target_count, target_type, op, win, request)
                            : MPI_Get_accumulate_c(origin, origin_count, origin_type, result,
                                                   result_count, result_type, rank, displacement,
                                                   target_count, target_type, op, win);
    }
  }
#endif
};

/// A valid operation, as all ranks know it.
struct Plan {
  Kind kind = Kind::put;
  int target = 0;  // MPI_PROC_NULL: nothing is moved
  Items origin;
  Items result;
  Items there;
  Op op = Op::replace;
  MPI_Aint start = 0;         // of `there`, in bytes from the beginning of the target's memory
  MPI_Aint displacement = 0;  // the same in units
  std::uint64_t data = 0;     // a seed
  bool compare_equal = false;
  bool exact = true;  // what it fetches is known
  bool with_request = false;
  bool large = false;
  bool notifies = false;
  int tag = 0;           // of the notification
  int counter = -1;      // which it increments instead; -1: none
  bool outside = false;  // of all epochs
  bool origin_at_bottom = false;
  bool result_at_bottom = false;
  bool no_origin = false;  // MPI_NO_OP reads none

  /// The i-th element that the origin gives.
  std::uint64_t given(int i) const {
    Random random{data, static_cast<std::uint64_t>(i)};
    const std::uint64_t bits = random.next();
    // Small numbers too, that are equal to others.
    return mask((bits & 3) == 0 ? (bits >> 2) & 3 : bits >> 2);
  }
  std::uint64_t mask(std::uint64_t bits) const {
    const int bytes = there.bytes();
    return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
  }
};

/// Carries it out on the model of the target's memory. Returns what was there before, and what a
/// compare_and_swap compares with.
struct Effect {
  std::vector<std::uint64_t> before;
  std::uint64_t compare = 0;
};
inline Effect carry_out(const Plan& plan, std::vector<std::byte>& memory) {
  Effect effect;
  if (plan.target == MPI_PROC_NULL) return effect;
  const bool reads_all = plan.kind == Kind::get || plan.no_origin;
  const int total = reads_all ? plan.there.total() : plan.origin.total();
  const auto bytes = static_cast<std::size_t>(plan.there.bytes());
  const Element& element = elements()[static_cast<std::size_t>(plan.there.element())];
  for (int i = 0; i < total; ++i) {
    std::byte* place = memory.data() + plan.start + plan.there.place(i);
    std::uint64_t there = 0;
    std::memcpy(&there, place, bytes);
    effect.before.push_back(there);
    const std::uint64_t given = plan.given(i);
    std::uint64_t next = there;
    switch (plan.kind) {
      case Kind::put:
        next = given;
        break;
      case Kind::get:
        break;
      case Kind::compare_and_swap:
        effect.compare = plan.compare_equal ? there : plan.mask(given * 7 + 1);
        if (effect.compare == there) next = given;
        break;
      default:
        next = reduced(plan.op, element, there, given);
    }
    std::memcpy(place, &next, bytes);
  }
  return effect;
}

/// Memory for the items of a call, with guards around them and between them.
class Local {
 public:
  explicit Local(const Items& items, bool at_bottom) : items_(items), at_bottom_(at_bottom) {
    const long low = items.low();
    origin_ = guard - low + (low % 8 + 8) % 8;  // aligned as the elements are
    bytes_.assign(static_cast<std::size_t>(origin_ + items.high() + guard), std::byte{0xa5});
    type_ = items.make();
    if (!at_bottom_) return;
    const int length = items.count();
    MPI_Aint address = 0;
    MPI_Get_address(base(), &address);
    MPI_Datatype absolute = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(1, &length, &address, type_, &absolute);
    MPI_Type_commit(&absolute);
    items.free(type_);
    type_ = absolute;
  }
  ~Local() {
    if (type_ != MPI_DATATYPE_NULL) free_type();
  }
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;

  void set(int i, std::uint64_t value) {
    std::memcpy(base() + items_.place(i), &value, static_cast<std::size_t>(items_.bytes()));
  }
  std::uint64_t get(int i) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + origin_ + items_.place(i),
                static_cast<std::size_t>(items_.bytes()));
    return value;
  }
  void* address() { return at_bottom_ ? MPI_BOTTOM : base(); }
  MPI_Count count() const { return at_bottom_ ? 1 : items_.count(); }
  MPI_Datatype type() const { return type_; }
  /// Types may be freed while the operation is pending.
  void free_type() {
    if (at_bottom_) {
      MPI_Type_free(&type_);
    } else {
      items_.free(type_);
    }
    type_ = MPI_DATATYPE_NULL;
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  int total() const { return items_.total(); }

 private:
  static constexpr long guard = 64;
  std::byte* base() { return bytes_.data() + origin_; }

  Items items_;
  bool at_bottom_;
  long origin_ = 0;
  std::vector<std::byte> bytes_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// An operation of this rank, from its call until its buffers are its own again.
class Pending {
 public:
  Pending(const Plan& plan, Effect effect) : plan_(plan), effect_(std::move(effect)) {
    const bool reads = plan.kind != Kind::get && !plan.no_origin;
    if (reads) {
      origin_.emplace(plan.origin, plan.origin_at_bottom);
      for (int i = 0; i < plan.origin.total(); ++i) origin_->set(i, plan.given(i));
      origin_before_ = origin_->bytes();
    }
    if (fetches(plan.kind)) {
      result_.emplace(plan.result, plan.result_at_bottom);
      result_before_ = result_->bytes();
    }
  }

  void call(const Subject& subject) {
    const MPI_Datatype there = plan_.there.make();
    Arguments call;
    call.kind = plan_.kind;
    if (origin_) {
      call.origin = origin_->address();
      call.origin_count = origin_->count();
      call.origin_type = origin_->type();
    } else {
      call.origin_type = there;
    }
    if (result_) {
      call.result = result_->address();
      call.result_count = result_->count();
      call.result_type = result_->type();
    }
    call.compare = &effect_.compare;
    call.rank = plan_.target;
    call.displacement = plan_.target == MPI_PROC_NULL
                            ? plan_.displacement
                            : subject.displacement(plan_.target, plan_.displacement);
    call.target_count = plan_.there.count();
    call.target_type = there;
    call.op = handle_of(plan_.op);
    call.win = subject.win;
    call.with_request = plan_.with_request;
    call.request = &request_;
    call.large = plan_.large;
    call.notifies = plan_.notifies;
    call.tag = plan_.tag;
    call.counter = plan_.counter;
    note(name_of(plan_.kind), subject.number());
    expect(call.call(), MPI_SUCCESS, [&] { return subject.describe(call.text().c_str()); });
    plan_.there.free(there);
    if (origin_) origin_->free_type();
    if (result_) result_->free_type();
  }

  int target() const { return plan_.target; }
  bool outside() const { return plan_.outside; }
  MPI_Request& request() { return request_; }

  /// It is locally complete: what it fetched is there, nothing else has been written, and its
  /// memory is used again.
  void finish(const Subject& subject) {
    const auto wrong = [&](const char* what) {
      support::fail(__FILE__, __LINE__,
                    subject.describe(name_of(plan_.kind)) + ", target " +
                        std::to_string(plan_.target) + ", " + std::to_string(plan_.there.total()) +
                        " elements of " + std::to_string(plan_.there.bytes()) + " bytes at byte " +
                        std::to_string(plan_.start) + ", op " +
                        std::to_string(static_cast<int>(plan_.op)) + ": " + what);
    };
    if (origin_) {
      if (origin_->bytes() != origin_before_) wrong("the origin's buffer has been written.");
      std::ranges::fill(origin_->bytes(), std::byte{0xee});
    }
    if (!result_) return;
    for (std::size_t index = 0; index < effect_.before.size(); ++index) {
      const int i = static_cast<int>(index);
      if (plan_.exact && result_->get(i) != effect_.before[index]) {
        wrong(("element " + std::to_string(i) + " of the result should be " +
               std::to_string(effect_.before[index]) + " but is " +
               std::to_string(result_->get(i)) + ".")
                  .c_str());
      }
      result_->set(i, 0xa5a5a5a5a5a5a5a5);
    }
    if (result_->bytes() != result_before_) wrong("memory outside the result has been written.");
    std::ranges::fill(result_->bytes(), std::byte{0xee});
  }

 private:
  Plan plan_;
  Effect effect_;
  std::optional<Local> origin_;
  std::optional<Local> result_;
  std::vector<std::byte> origin_before_;
  std::vector<std::byte> result_before_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace fuzz
