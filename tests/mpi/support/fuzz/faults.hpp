// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "support/fuzz/operation.hpp"

namespace fuzz {

/// Calls that have to fail, on this rank alone: each returns an error of the standard's class, and
/// moves nothing.
///
/// Calls that are left out:
/// - Null buffers of datatypes that begin behind their address: that is how MPI_BOTTOM looks.
/// - A target count that is too large beside a valid origin count: Oriel moves what the origin has,
///   as of a message.
/// - On hosts whose handles are pointers: handles of other objects and of freed datatypes. These
///   hosts read what is behind the pointer, which may be anything.
/// - MPI_PROC_NULL with a lock: no-ops, where the standard is silent about what may be open.
class Faults {
 public:
  Faults(const support::Program& program, Random random) : program_(program), random_(random) {
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &user_op_);
    MPI_Type_contiguous(1, MPI_INT, &uncommitted_);
    MPI_Type_contiguous(1, MPI_INT, &derived_);
    MPI_Type_commit(&derived_);
    MPI_Type_vector(2, 1, 3, MPI_INT, &holes_);
    MPI_Type_commit(&holes_);
  }
  ~Faults() {
    MPI_Op_free(&user_op_);
    for (MPI_Datatype* type : {&uncommitted_, &derived_, &holes_}) MPI_Type_free(type);
  }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// A window that has just been freed and had no name. Its handle is used until the host gives it
  /// again.
  void note_freed(MPI_Win freed) { freed_ = freed; }
  void forget_freed() { freed_ = MPI_WIN_NULL; }

  void one(Subject& subject) {
    subject_ = &subject;
    const int kind = random_.below(10);
    if (kind < 5) return operation();
    if (kind < 8) return synchronization();
    if (kind < 9) return question();
    no_window();
  }
  long count() const { return count_; }

 private:
  // ---- operations

  enum Fault {
    bad_rank,
    negative_count,
    huge_counts,
    truncated,
    negative_displacement,
    beyond,
    null_type,
    uncommitted_type,
    null_buffer,
    bad_op,
    wrong_type,
    split_element,
    no_epoch,
    no_request,
    bad_tag,
    active_request,
    faults
  };

  struct Try {
    Arguments call;
    std::array<std::int64_t, 8> origin{};
    std::array<std::int64_t, 8> result{};
    std::int64_t compare = 3;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype there = MPI_DATATYPE_NULL;  // to be freed, if `release`
    bool release = false;
  };

  /// One that would be valid in an epoch: one or two integers of 4 or 8 bytes.
  bool make(Try& made, bool covered) {
    const Subject& subject = *subject_;
    std::vector<int> targets;
    for (int i = 0; i < subject.ranks(); ++i) {
      if (subject.size(i) >= 16 && subject.state.covers(i) == covered) targets.push_back(i);
    }
    if (targets.empty()) return false;
    Arguments& call = made.call;
    call.kind = static_cast<Kind>(random_.below(6));
    call.rank = target_ = targets[random_.below(targets.size())];
    bytes_ = random_.chance(50) ? 4 : 8;
    call.target_type = bytes_ == 4 ? MPI_INT32_T : MPI_INT64_T;
    const int count = single(call.kind) ? 1 : 1 + random_.below(2);
    made.origin.fill(0x1122334455667788);
    made.result.fill(0x0fedcba987654321);
    call.origin = made.origin.data();
    call.result = made.result.data();
    call.compare = &made.compare;
    call.origin_type = call.result_type = call.target_type;
    call.origin_count = call.result_count = call.target_count = count;
    call.op = random_.chance(50) ? MPI_SUM : MPI_REPLACE;
    call.win = subject.win;
    call.large = random_.chance(30);
    call.with_request =
        !single(call.kind) && subject.state.passive_to(call.rank) && random_.chance(40);
    call.request = &made.request;
    // Notified operations need no epoch.
    call.notifies = covered && random_.chance(20) &&
                    (!call.with_request || subject.state.passive_to(call.rank));
    call.tag = random_.below(4);
    start_ =
        random_.below((subject.size(call.rank) - bytes_ * count) / subject.unit(call.rank) + 1);
    call.displacement = subject.displacement(call.rank, start_);
    return true;
  }

  void operation() {
    Try made;
    const bool covered = random_.chance(80);
    if (!make(made, covered)) return;
    int classes[2] = {MPI_SUCCESS, MPI_SUCCESS};  // either of them
    const int wanted = random_.below(int{faults});
    bool at_flush = false;
    if (!inject(static_cast<Fault>(wanted), covered, made, classes, at_flush)) return;
    bool several = false;
    if (random_.chance(10) && !at_flush) {
      int others[2];
      bool later = false;
      const auto second = static_cast<Fault>(random_.below(int{wrong_type}));
      // The second one may undo the first one where both change the same argument.
      if (second != wanted && wanted < wrong_type && independent(wanted, second)) {
        several = inject(second, covered, made, others, later);
      }
    }
    Arguments& call = made.call;
    ++count_;
    note(name_of(call.kind), subject_->number());
    const auto text = [&] {
      return subject_->describe((call.text() + ", fault " + std::to_string(wanted)).c_str());
    };
    const Try before = made;
    int code = call.call();
    if (code == MPI_SUCCESS && at_flush) {
      if (made.request != MPI_REQUEST_NULL) MPI_Wait(&made.request, MPI_STATUS_IGNORE);
      code = MPI_Win_flush(call.rank, subject_->win);
    }
    if (made.release) MPI_Type_free(&made.there);
    const int found = support::error_class(code);
    if (several ? code == MPI_SUCCESS : found != classes[0] && found != classes[1]) {
      expect(code, several ? MPI_ERR_OTHER : classes[0], text);
    }
    if (made.origin != before.origin || made.result != before.result ||
        made.compare != before.compare || (made.request != MPI_REQUEST_NULL && !at_flush)) {
      support::fail(__FILE__, __LINE__, text() + " has failed, but written something.");
    }
  }

  static bool independent(int one, int other) {
    const auto group = [](int fault) {
      switch (fault) {
        case negative_count:
        case huge_counts:
        case truncated:
          return 1;
        case bad_rank:
        case negative_displacement:
        case beyond:
          return 2;
        case null_type:
        case uncommitted_type:
        case null_buffer:
        case bad_op:
          return 3;
        default:
          return 4;
      }
    };
    return group(one) != group(other) && one != huge_counts && other != huge_counts &&
           one != null_buffer && other != null_buffer && one != beyond && other != beyond;
  }

  bool inject(Fault fault, bool covered, Try& made, int (&classes)[2], bool& at_flush) {
    Arguments& call = made.call;
    const Subject& subject = *subject_;
    const auto is = [&](int one) {
      classes[0] = classes[1] = one;
      return true;
    };
    const bool reads = call.kind != Kind::get;
    const bool one = single(call.kind);
    const bool dynamic = subject.flavor == Flavor::dynamic;
    const long size = subject.size(target_);
    const long unit = subject.unit(target_);
    constexpr int most = std::numeric_limits<int>::max();
    switch (fault) {
      case bad_rank: {
        const int ranks[] = {
            subject.ranks(), subject.ranks() + 1000, most, -most - 1, -77, MPI_ANY_SOURCE,
            MPI_ROOT};
        call.rank = ranks[random_.below(7)];
        return call.rank != MPI_PROC_NULL && is(MPI_ERR_RANK);
      }
      case negative_count: {
        if (one) return false;
        const MPI_Count counts[] = {-1, -2, -most, MPI_Count{-most} - 1};
        const MPI_Count count = counts[random_.below(4)];
        const int where = random_.below(3);
        if (where == 0 && reads) {
          call.origin_count = count;
        } else if (where == 1 && fetches(call.kind)) {
          call.result_count = count;
        } else {
          call.target_count = count;
          if (random_.chance(50)) {
            call.origin_count = call.result_count = count;
          }
        }
        return is(MPI_ERR_COUNT);
      }
      case huge_counts: {
        // On a dynamic window what lies behind may be another rank's to look up.
        if (one || !covered || dynamic) return false;
        MPI_Count count = most - random_.below(3);
#if MPI_VERSION >= 4
        const MPI_Count counts[] = {MPI_Count{1} << 31, MPI_Count{1} << 32, MPI_Count{1} << 60,
                                    MPI_Count{1} << 61, std::numeric_limits<MPI_Count>::max()};
        if (call.large) count = counts[random_.below(5)];
#endif
        call.origin_count = call.result_count = call.target_count = count;
        classes[0] = classes[1] = MPI_ERR_RMA_RANGE;
        if (random_.chance(30)) {
          call.origin_type = call.result_type = call.target_type = holes_;
        } else if (bytes_ == 4 && !fetches(call.kind) && random_.chance(30)) {
          // The data may end within an element, which lies behind very many.
          call.target_type = holes_;
          classes[1] = MPI_ERR_TYPE;
        }
        return true;
      }
      case truncated:
        if (one) return false;
        if (reads && !updates(call.kind)) {
          call.origin_count = call.target_count + 1 + random_.below(3);
        } else if (fetches(call.kind)) {
          call.target_count = call.result_count + 1 + random_.below(3);
          if (call.kind == Kind::get_accumulate) call.origin_count = call.target_count;
        } else {
          return false;
        }
        return is(MPI_ERR_TRUNCATE);
      case negative_displacement: {
        if (dynamic) return false;
        const MPI_Aint places[] = {-1, -8, -(MPI_Aint{1} << 31), -(MPI_Aint{1} << 61),
                                   std::numeric_limits<MPI_Aint>::min()};
        call.displacement = places[random_.below(5)];
        classes[0] = MPI_ERR_DISP;
        classes[1] = MPI_ERR_RMA_RANGE;
        return true;
      }
      case beyond: {
        if (!covered) return false;
        const long needed = bytes_ * static_cast<long>(call.target_count);
        if (dynamic) {
          // Another node says it later: where it can be asked at once. The last element half
          // outside, one outside, and no address of the program's at all.
          if (!subject.state.passive_to(call.rank)) return false;
          const long places[] = {size - needed + 1, size, -1, size + 128};
          call.displacement = random_.chance(20)
                                  ? MPI_Aint{8} * random_.below(100)
                                  : subject.displacement(target_, places[random_.below(4)]);
          at_flush = true;
          return is(MPI_ERR_RMA_RANGE);
        }
        if (!one && bytes_ == 4 && random_.chance(50)) {
          // Starts before the window, or ends behind it, by as little as the unit permits.
          const int total = 1 + random_.below(12);
          const Items items(random_, int32, total);
          made.there = items.make();
          made.release = !items.predefined();
          call.target_type = made.there;
          call.target_count = items.count();
          call.origin_count = call.result_count = total;
          const long low = items.low();
          const long high = items.high();
          const bool early = low < 0 && random_.chance(60);
          call.displacement = early         ? (-low - 1) / unit
                              : size < high ? 0
                                            : (size - high) / unit + 1;
          return is(MPI_ERR_RMA_RANGE);
        }
        const MPI_Aint least = (size - needed) / unit + 1;
        const MPI_Aint places[] = {least,
                                   least,
                                   least + random_.below(10),
                                   size,
                                   MPI_Aint{most} + random_.below(2),
                                   MPI_Aint{1} << 32,
                                   MPI_Aint{1} << 40,
                                   MPI_Aint{1} << 60,
                                   MPI_Aint{1} << 61,
                                   MPI_Aint{1} << 62,
                                   std::numeric_limits<MPI_Aint>::max() - random_.below(16)};
        call.displacement = std::max(least, places[random_.below(11)]);
        return is(MPI_ERR_RMA_RANGE);
      }
      case null_type:
      case uncommitted_type: {
        const MPI_Datatype bad = fault == null_type ? MPI_DATATYPE_NULL : uncommitted_;
        const int where = random_.below(3);
        if (where == 0 && reads && !one) {
          call.origin_type = bad;
        } else if (where == 1 && fetches(call.kind) && !one) {
          call.result_type = bad;
        } else {
          call.target_type = bad;
        }
        return is(MPI_ERR_TYPE);
      }
      case null_buffer: {
        const int where = random_.below(3);
        if (where == 0 && call.kind == Kind::compare_and_swap) {
          call.compare = nullptr;
        } else if (where < 2 && reads) {
          call.origin = nullptr;
        } else if (fetches(call.kind)) {
          call.result = nullptr;
        } else {
          return false;
        }
        return is(one ? MPI_ERR_ARG : MPI_ERR_BUFFER);
      }
      case bad_op:
        if (!updates(call.kind) || call.kind == Kind::compare_and_swap) return false;
        switch (random_.below(4)) {
          case 0:
            call.op = MPI_OP_NULL;
            break;
          case 1:
            call.op = user_op_;
            break;
          case 2:
            call.op = MPI_MAXLOC;
            break;
          default:
            if (call.kind != Kind::accumulate) return false;
            call.op = MPI_NO_OP;
        }
        return is(MPI_ERR_OP);
      case wrong_type:
        if (one) {
          call.target_type =
              random_.chance(50) && call.kind == Kind::compare_and_swap ? MPI_DOUBLE : derived_;
          if (call.target_type == MPI_DOUBLE && bytes_ == 4) return false;
        } else if (call.kind == Kind::accumulate) {
          call.origin_type = bytes_ == 4 ? MPI_UINT32_T : MPI_DOUBLE;
        } else {
          return false;
        }
        return is(MPI_ERR_TYPE);
      case split_element:
        if (call.kind != Kind::put) return false;
        call.origin_type = MPI_BYTE;
        call.origin_count = bytes_ * static_cast<int>(call.target_count) - 1 - random_.below(3);
        return is(MPI_ERR_TYPE);
      case no_epoch:
        call.with_request = call.with_request || (!one && random_.chance(20));
        return !covered && is(MPI_ERR_RMA_SYNC);
      case no_request:
        if (one || !subject.state.passive_to(call.rank)) return false;
        call.with_request = true;
        call.request = nullptr;
        return is(MPI_ERR_ARG);
      case bad_tag:
        if (!call.notifies) return false;
        call.tag = random_.chance(50) ? -1 : std::numeric_limits<int>::min();
        return is(MPI_ERR_TAG);
      case active_request:
        if (one || !covered || subject.state.passive_to(call.rank)) return false;
        call.notifies = call.with_request = true;
        return is(MPI_ERR_RMA_SYNC);
      case faults:
        break;
    }
    return false;
  }

  // ---- synchronization

  static constexpr int int32 = 2;  // its place in elements()
  static constexpr int any_error = -1;

  void fails(const char* call, int code, int expected) {
    ++count_;
    if (expected == any_error && code != MPI_SUCCESS) return;
    expect(code, expected == any_error ? MPI_ERR_OTHER : expected,
           [&] { return subject_->describe(call); });
  }
#define FAULT(expected, name, ...)         \
  (note("MPI_" #name, subject_->number()), \
   fails("MPI_" #name "(" #__VA_ARGS__ ")", MPI_##name(__VA_ARGS__), expected))
// Of a call on a window, or of its nonblocking form.
#define EITHER_FAULT(expected, name, ...)                                              \
  (random_.chance(60) ? FAULT(expected, Win_##name, __VA_ARGS__)                       \
                      : (note("ORIEL_Win_i" #name, subject_->number()),                \
                         fails_later(                                                  \
                             "ORIEL_Win_i" #name "(" #__VA_ARGS__ ")",                 \
                             [&](MPI_Request* request) {                               \
                               return nonblocking().Win_i##name(__VA_ARGS__, request); \
                             },                                                        \
                             expected)))

  template <class Posted>
  void fails_later(const char* call, Posted&& posted, int expected) {
    MPI_Request request = MPI_REQUEST_NULL;
    fails(call, posted(&request), expected);
    CHECK(request == MPI_REQUEST_NULL);
  }

  int bad_rank_value() {
    const int ranks[] = {subject_->ranks(), std::numeric_limits<int>::max(),
                         std::numeric_limits<int>::min(), -77};
    return ranks[random_.below(4)];
  }

  /// Synchronization calls that are wrong in any state, and those that are wrong in this one.
  void synchronization() {
    const Subject& subject = *subject_;
    const State& state = subject.state;
    MPI_Win win = subject.win;
    const int target = random_.below(subject.ranks());
    const int bad = bad_rank_value();
    const int asserts[] = {1 << 30, 1 << 29, -1, std::numeric_limits<int>::min(), 1 << 22};
    const int assertion = asserts[random_.below(5)];
    const int lock_types[] = {12345, -1, 0x7fffffff};
    int lock_type = lock_types[random_.below(3)];
    int flag = 77;
    const bool fenced = state.fence && !state.fence_used;
    const bool access = state.access || state.lock_all || !state.locked.empty();
    switch (random_.below(26)) {
      case 0:
        return EITHER_FAULT(MPI_ERR_LOCKTYPE, lock, lock_type, target, 0, win);
      case 1:
        return EITHER_FAULT(MPI_ERR_ASSERT, lock, MPI_LOCK_SHARED, target, assertion, win);
      case 2:
        return EITHER_FAULT(MPI_ERR_ASSERT, lock_all, assertion, win);
      case 3:
        return EITHER_FAULT(MPI_ERR_ASSERT, fence, assertion, win);
      case 4:
        return EITHER_FAULT(MPI_ERR_GROUP, post, MPI_GROUP_NULL, 0, win);
      case 5:
        return EITHER_FAULT(MPI_ERR_GROUP, start, MPI_GROUP_NULL, 0, win);
      case 6:
        return with_self([&](MPI_Group self) {
          random_.chance(50) ? EITHER_FAULT(MPI_ERR_ASSERT, post, self, assertion, win)
                             : EITHER_FAULT(MPI_ERR_ASSERT, start, self, assertion, win);
        });
      case 7:
        if (!state.idle()) break;
        return EITHER_FAULT(MPI_ERR_RANK, lock, MPI_LOCK_EXCLUSIVE, bad, 0, win);
      case 8:
        return EITHER_FAULT(MPI_ERR_RANK, unlock, bad, win);
      case 9:
        return EITHER_FAULT(MPI_ERR_RANK, flush, bad, win);
      case 10:
        return EITHER_FAULT(MPI_ERR_RANK, flush_local, bad, win);
      case 11:
        if (state.locked.contains(target)) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, unlock, target, win);
      case 12:
        if (state.lock_all) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, unlock_all, win);
      case 13:
        if (state.may_flush(target)) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, flush, target, win);
      case 14:
        if (state.may_flush(target)) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, flush_local, target, win);
      case 15:
        if (state.may_flush_all()) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, flush_all, win);
      case 16:
        if (state.may_flush_all()) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, flush_local_all, win);
      case 17:
        if (state.access) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, complete, win);
      case 18:
        if (state.exposure) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, wait, win);
      case 19:
        if (state.exposure) {
          return FAULT(MPI_ERR_ARG, Win_test, win, nullptr);
        }
        FAULT(MPI_ERR_RMA_SYNC, Win_test, win, &flag);
        CHECK_EQUAL(flag, 77);
        return;
      case 20:
        if (!state.exposure && !state.fence_used) break;
        return with_self(
            [&](MPI_Group self) { EITHER_FAULT(MPI_ERR_RMA_SYNC, post, self, 0, win); });
      case 21:
        if (!access && !state.fence_used) break;
        return with_self(
            [&](MPI_Group self) { EITHER_FAULT(MPI_ERR_RMA_SYNC, start, self, 0, win); });
      case 22: {
        const bool locked = state.locked.contains(target);
        if (!state.access && !state.lock_all && !state.fence_used && !locked) break;
        lock_type = random_.chance(50) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, lock, lock_type, target, 0, win);
      }
      case 23:
        if (!access && !state.fence_used) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, lock_all, 0, win);
      case 24:
        if (access || state.exposure) {
          return EITHER_FAULT(MPI_ERR_RMA_SYNC, fence, fenced ? 0 : MPI_MODE_NOSTORE, win);
        }
        if (!state.fence_used) break;
        return EITHER_FAULT(MPI_ERR_RMA_SYNC, fence, MPI_MODE_NOPRECEDE, win);
      default: {
        if (state.idle()) break;
        MPI_Win handle = win;
        FAULT(MPI_ERR_RMA_SYNC, Win_free, &handle);
        CHECK(handle == win);
        return;
      }
    }
  }

  template <class Body>
  void with_self(Body&& body) {
    MPI_Group all = MPI_GROUP_NULL, self = MPI_GROUP_NULL;
    MPI_Win_get_group(subject_->win, &all);
    MPI_Group_incl(all, 1, &subject_->rank, &self);
    body(self);
    MPI_Group_free(&self);
    MPI_Group_free(&all);
  }

  // ---- what is asked of a window, and attached to it

  void question() {
    MPI_Win win = subject_->win;
    const int bad = bad_rank_value();
    const bool dynamic = subject_->flavor == Flavor::dynamic;
    MPI_Aint size = 77;
    int unit = 77;
    int flag = 77;
    void* base = &flag;
    char other[16] = {};
    switch (random_.below(11)) {
      case 0:
        FAULT(dynamic ? MPI_ERR_RMA_FLAVOR : MPI_ERR_RANK, Win_shared_query, win, bad, &size, &unit,
              &base);
        CHECK(size == 77 && unit == 77 && base == &flag);
        return;
      case 1:
        return FAULT(MPI_ERR_ARG, Win_shared_query, win, 0, nullptr, &unit, &base);
      case 2:
        return FAULT(MPI_ERR_ARG, Win_get_attr, win, MPI_WIN_BASE, nullptr, &flag);
      case 3:
        return FAULT(MPI_ERR_ARG, Win_get_attr, win, MPI_WIN_SIZE, &base, nullptr);
      case 4:
        return FAULT(MPI_ERR_ARG, Win_get_group, win, nullptr);
      case 5:
        return FAULT(MPI_ERR_ARG, Win_get_info, win, nullptr);
      case 6:
        return FAULT(MPI_ERR_INFO, Win_set_info, win, MPI_INFO_NULL);
      case 7:
        // The host's own answer, which on Open MPI is MPI_ERR_OTHER.
        return FAULT(any_error, Win_set_attr, win, MPI_KEYVAL_INVALID, nullptr);
      case 8:
        if (!dynamic) return FAULT(MPI_ERR_RMA_FLAVOR, Win_attach, win, other, sizeof other);
        return random_.chance(50) ? FAULT(MPI_ERR_ARG, Win_attach, win, nullptr, 8)
                                  : FAULT(MPI_ERR_SIZE, Win_attach, win, other, -1);
      case 9:
        return FAULT(dynamic ? MPI_ERR_BASE : MPI_ERR_RMA_FLAVOR, Win_detach, win, other);
      default:
        if (!dynamic || subject_->size(subject_->rank) < 2) return;
        return FAULT(MPI_ERR_RMA_ATTACH, Win_attach, win,
                     static_cast<std::byte*>(subject_->base) + 1, 1);
    }
  }

  // ---- no window at all

  /// The handle of something else, or one that no host gives, where handles are numbers.
  template <class Win, class Comm>
  Win foreign() {
    if constexpr (std::is_integral_v<Win> && std::is_integral_v<Comm>) {
      return random_.chance(50) ? Comm{MPI_COMM_WORLD} : Win{0x5abcdef0};
    } else {
      return MPI_WIN_NULL;
    }
  }
  void no_window() {
    MPI_Win win = MPI_WIN_NULL;
    const int kind = random_.below(4);
    if (kind >= 2 && freed_ != MPI_WIN_NULL) win = freed_;
    if (kind == 1) win = foreign<MPI_Win, MPI_Comm>();
    std::int64_t value = 1;
    std::int64_t result = 2;
    int flag = 77;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (random_.below(14)) {
      case 0:
        return FAULT(MPI_ERR_WIN, Put, &value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
      case 1:
        return FAULT(MPI_ERR_WIN, Get, &result, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
      case 2:
        return FAULT(MPI_ERR_WIN, Fetch_and_op, &value, &result, MPI_INT64_T, 0, 0, MPI_SUM, win);
      case 3:
        return FAULT(MPI_ERR_WIN, Rput, &value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win,
                     &request);
      case 4:
        return FAULT(MPI_ERR_WIN, Win_fence, 0, win);
      case 5:
        return FAULT(MPI_ERR_WIN, Win_lock, MPI_LOCK_SHARED, 0, 0, win);
      case 6:
        return FAULT(MPI_ERR_WIN, Win_lock_all, 0, win);
      case 7:
        return FAULT(MPI_ERR_WIN, Win_unlock, 0, win);
      case 8:
        return FAULT(MPI_ERR_WIN, Win_flush, 0, win);
      case 9:
        return FAULT(MPI_ERR_WIN, Win_flush_all, win);
      case 10:
        return FAULT(MPI_ERR_WIN, Win_complete, win);
      case 11:
        return FAULT(MPI_ERR_WIN, Win_test, win, &flag);
      case 12:
        return FAULT(MPI_ERR_WIN, Win_sync, win);
      default: {
        MPI_Win handle = win;
        return FAULT(MPI_ERR_WIN, Win_free, &handle);
      }
    }
  }
#undef EITHER_FAULT
#undef FAULT

  const support::Program& program_;
  Random random_;
  Subject* subject_ = nullptr;
  MPI_Op user_op_ = MPI_OP_NULL;
  MPI_Datatype uncommitted_ = MPI_DATATYPE_NULL;
  MPI_Datatype derived_ = MPI_DATATYPE_NULL;
  MPI_Datatype holes_ = MPI_DATATYPE_NULL;
  MPI_Win freed_ = MPI_WIN_NULL;
  int target_ = 0;
  int bytes_ = 4;
  MPI_Aint start_ = 0;
  long count_ = 0;
};

}  // namespace fuzz
