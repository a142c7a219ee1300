// SPDX-License-Identifier: BSD-3-Clause
// G2 to G7 at random: RMA calls with valid and wrong arguments on several windows of all kinds at a
// time. A valid call does what a plain model says; a wrong one returns an error of the standard's
// class, and moves nothing.
//
// Arguments: the seed (1), and how many calls all ranks make together (20000). A failure prints the
// seed and the round: `fuzz SEED` repeats it on the same number of ranks and nodes. With
// ORIEL_TEST_LONG most windows and operations are long.
//
// A round opens epochs on some windows, of another kind on each; the ranks then make calls on all
// of these in any order, and close them. All ranks draw what all of them do from one seed, and
// carry it out on the model: memory of every rank. Within a round each part of a rank's memory
// belongs to one origin, but for one part in which all accumulate with one commutative op on
// integers, so that the result does not depend on who is first. Operations of one origin that MPI
// does not order do not overlap. Wrong calls are drawn by each rank alone.
//
// Calls that open, close and flush epochs are blocking or nonblocking (E2); the requests of the
// latter complete at any later time of the round. Operations of some windows notify their targets,
// also outside epochs, or increment their counters. Each target knows its notifications, takes them
// at the end of the round, and compares its counters. Some unlocks are weak; later ones complete
// their operations before the end of the round. Reorder keys change between rounds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/fuzz/calls.hpp"
#include "support/fuzz/faults.hpp"
#include "support/fuzz/notifications.hpp"
#include "support/fuzz/operation.hpp"
#include "support/fuzz/subject.hpp"
#include "support/number.hpp"
#include "support/program.hpp"

namespace {

using fuzz::Effect;
using fuzz::expect;
using fuzz::Faults;
using fuzz::Items;
using fuzz::Kind;
using fuzz::nonblocking;
using fuzz::note;
using fuzz::Notifications;
using fuzz::Op;
using fuzz::Pending;
using fuzz::Plan;
using fuzz::Random;
using fuzz::Subject;
using support::Program;

constexpr int windows = 5;

using Operations = std::vector<std::unique_ptr<Pending>>;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// A window and what is done with it in a round.
struct Use {
  enum Epoch { fence, pscw, lock, lock_all };

  Subject* subject = nullptr;
  Epoch epoch = fence;
  bool only_shared = false;
  bool no_check = false;
  bool opening_precedes = true;
  bool closing_succeeds = false;
  bool tested = false;
  bool nonblocking = false;               // some calls are
  bool notifying = false;                 // some operations are
  bool weak = false;                      // lock_all: the unlock is; lock: some are
  std::vector<std::vector<bool>> access;  // pscw: by origin and target
  // Of each target: where the parts of the origins begin, and the common part, which ends it.
  std::vector<std::vector<std::pair<long, long>>> parts;
  std::vector<std::pair<long, long>> common;
  int common_element = 0;
  Op common_op = Op::sum;
  Operations pending;
  Notifications notifications;  // to this rank

  bool passive() const { return epoch == lock || epoch == lock_all; }
  template <class Body>
  void check(int code, const char* call, Body&& changed) {
    expect(code, MPI_SUCCESS, [&] { return subject->describe(call); });
    changed(subject->state);
  }
};

struct Step {
  enum Kind {
    operation,
    lock,
    unlock,
    flush,
    flush_local,
    flush_all,
    flush_local_all,
    iflush,
    iflush_local,
    iflush_all,
    iflush_local_all,
    wait,
    fault
  };
  Kind kind = operation;
  Use* use = nullptr;
  Subject* subject = nullptr;  // of a fault: any window
  int target = 0;
  bool exclusive = false;
  int assertion = 0;
  Plan plan{};
  Effect effect{};
};

/// A nonblocking call that closes or flushes an epoch, and the operations that it completes.
struct PendingCall {
  const Use* use = nullptr;
  MPI_Request request = MPI_REQUEST_NULL;
  Operations operations;
  bool ends_access = false;  // of the others to this rank's memory
};

/// The operations of one origin on a target that may not be complete there yet.
struct Touched {
  const Use* use;
  int target;
  long low;
  long high;
  enum Manner { read, written, updated } manner;
  int element;
  bool outside = false;  // of all epochs
  /// Its lock epoch is closed, but it may not be complete. Operations of later epochs come after
  /// it.
  bool closed = false;
};

class Fuzz {
 public:
  Fuzz(const Program& program, std::uint64_t seed, long calls)
      : program_(program),
        calls_(calls),
        same_{seed, 1},
        own_{seed, 2, static_cast<std::uint64_t>(program.rank())},
        faults_(program, Random{seed, 3, static_cast<std::uint64_t>(program.rank())}) {
    fuzz::where().seed = seed;
    fuzz::name_crashes();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < windows; ++i) make_window();
  }

  void run() {
    for (long& round = fuzz::where().round; planned_ < calls_; ++round) {
      if (round % 64 == 0) support::limit_time();
      one_round();
      if (same_.chance(15)) change_windows();
    }
    while (!subjects_.empty()) {
      subjects_.front()->free();
      subjects_.erase(subjects_.begin());
    }
  }
  long refused() const { return faults_.count(); }

 private:
  // ---- windows

  void make_window() {
    subjects_.push_back(std::make_unique<Subject>(same_, program_, made_++));
    // The host may have given the handle again.
    faults_.forget_freed();
    planned_ += program_.size();
  }
  void change_windows() {
    const int what = same_.below(4);
    const std::size_t index = same_.below(subjects_.size());
    Subject& subject = *subjects_[index];
    planned_ += program_.size();
    if (what == 0) {
      const MPI_Win old = subject.win;
      // A freed window's handle is kept for a while where it has no name.
      const bool unnamed = subject.free();
      subjects_.erase(subjects_.begin() + static_cast<long>(index));
      if (unnamed) {
        faults_.note_freed(old);
        for (int i = own_.below(4); i > 0; --i) faults_.one(*subjects_[0]);
      }
      make_window();
    } else if (what == 1) {
      refuse_window();
    } else if (what == 2) {
      subject.attach_again();
      support::barrier();
    } else {
      ask(subject);
    }
  }
  /// Making a window is collective: where one rank's arguments are wrong, no rank gets one.
  void refuse_window() {
    const int bad = same_.below(program_.size());
    const bool mine = bad == program_.rank();
    const int how = same_.below(6);
    std::int64_t memory[2] = {5, 5};
    void* base = memory;
    MPI_Win win = MPI_WIN_NULL;
    const MPI_Comm world = MPI_COMM_WORLD;
    const MPI_Info none = MPI_INFO_NULL;
    note("refuse_window", how);
    int code = MPI_SUCCESS;
    int expected = MPI_ERR_ARG;
    switch (how) {
      case 0:
        code = MPI_Win_create(memory, mine ? -8 : 16, 1, none, world, &win);
        expected = MPI_ERR_SIZE;
        break;
      case 1:
        code = MPI_Win_create(mine ? nullptr : memory, 16, 1, none, world, &win);
        break;
      case 2:
        code = MPI_Win_allocate(mine ? -1 : 16, 1, none, world, &base, &win);
        expected = MPI_ERR_SIZE;
        break;
      case 3:
        code = MPI_Win_allocate(16, 1, none, world, &base, mine ? nullptr : &win);
        break;
      case 4:
        code = MPI_Win_create_dynamic(none, world, mine ? nullptr : &win);
        break;
      default:
        code = MPI_Win_create(memory, 16, 1, none, MPI_COMM_NULL, &win);
        expected = MPI_ERR_COMM;
    }
    expect(code, expected, [&] { return "making a window, way " + std::to_string(how); });
    CHECK(win == MPI_WIN_NULL && base == memory && memory[0] == 5 && memory[1] == 5);
  }
  /// Queries of a window, and names, attributes and info keys that the program sets.
  void ask(Subject& subject) {
    const auto right = [&](int code, const char* call) {
      expect(code, MPI_SUCCESS, [&] { return subject.describe(call); });
    };
    switch (same_.below(6)) {
      case 0: {
        const std::string name = "window " + std::to_string(subject.number());
        subject.name(name);
        char found[MPI_MAX_OBJECT_NAME] = "";
        int length = 0;
        right(MPI_Win_get_name(subject.win, found, &length), "MPI_Win_get_name");
        CHECK_EQUAL(std::string(found), name);
        break;
      }
      case 1: {
        note("MPI_Win_set_attr", subject.number());
        const int key = fuzz::window_keyval();
        right(MPI_Win_set_attr(subject.win, key, &subject.attribute), "MPI_Win_set_attr");
        if (subject.has_attribute) --subject.attribute.deleted;  // the former one
        subject.has_attribute = true;
        fuzz::Attribute* found = nullptr;
        int flag = 0;
        right(MPI_Win_get_attr(subject.win, key, static_cast<void*>(&found), &flag),
              "MPI_Win_get_attr");
        CHECK(flag != 0 && found == &subject.attribute);
        if (!same_.chance(30)) break;
        right(MPI_Win_delete_attr(subject.win, key), "MPI_Win_delete_attr");
        --subject.attribute.deleted;
        subject.has_attribute = false;
        CHECK_EQUAL(subject.attribute.deleted, 0);
        break;
      }
      case 2: {
        MPI_Info info = MPI_INFO_NULL;
        note("MPI_Win_get_info", subject.number());
        right(MPI_Win_get_info(subject.win, &info), "MPI_Win_get_info");
        right(MPI_Win_set_info(subject.win, info), "MPI_Win_set_info");
        MPI_Info_free(&info);
        break;
      }
      case 3: {
        MPI_Group group = MPI_GROUP_NULL;
        int size = 0;
        int rank = 0;
        note("MPI_Win_get_group", subject.number());
        right(MPI_Win_get_group(subject.win, &group), "MPI_Win_get_group");
        MPI_Group_size(group, &size);
        MPI_Group_rank(group, &rank);
        MPI_Group_free(&group);
        CHECK(size == subject.ranks() && rank == subject.rank);
        break;
      }
      case 4:
        set_reorder(subject);
        break;
      default:
        query(subject);
    }
  }
  void set_reorder(Subject& subject) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    subject.reorders = false;
    for (const char* key :
         {ORIEL_ACCESS_AFTER_ACCESS_REORDER, ORIEL_ACCESS_AFTER_EXPOSURE_REORDER,
          ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER, ORIEL_EXPOSURE_AFTER_ACCESS_REORDER}) {
      const bool set = same_.chance(50);
      subject.reorders |= set;
      MPI_Info_set(info, key, set ? "1" : "0");
    }
    note("MPI_Win_set_info", subject.number());
    expect(MPI_Win_set_info(subject.win, info), MPI_SUCCESS,
           [&] { return subject.describe("MPI_Win_set_info"); });
    MPI_Info_free(&info);
  }
  /// Memory of another rank by loads, where it can be had.
  void query(const Subject& subject) {
    if (subject.flavor == fuzz::Flavor::dynamic) return;
    const int of = same_.below(subject.ranks());
    MPI_Aint size = 0;
    int unit = 0;
    const std::byte* base = nullptr;
    note("MPI_Win_shared_query", subject.number());
    expect(MPI_Win_shared_query(subject.win, of, &size, &unit, static_cast<void*>(&base)),
           MPI_SUCCESS, [&] { return subject.describe("MPI_Win_shared_query"); });
    CHECK_EQUAL(unit, static_cast<int>(subject.unit(of)));
    if (subject.flavor == fuzz::Flavor::shared) CHECK_EQUAL(size, MPI_Aint{subject.size(of)});
    CHECK(size == 0 || size == subject.size(of));
    for (long i = 0; i < size; ++i) CHECK(base[i] == subject.model[at(of)][at(int(i))]);
    support::barrier();
  }

  // ---- a round

  void one_round() {
    choose();
    touched_.clear();
    const int segments = 1 + same_.below(3);
    // Rank by rank: no other rank's operation changes what one of them finds in its parts.
    std::vector<std::vector<Step>> own(at(segments));
    for (int rank = 0; rank < program_.size(); ++rank) {
      touched_.clear();
      for (int segment = 0; segment < segments; ++segment) {
        steps_.clear();
        if (segment != 0) completed_by_fence();
        plan(rank);
        if (rank == program_.rank()) own[at(segment)] = std::move(steps_);
      }
    }
    for (Use& use : uses_) use.notifications.prepare(*use.subject, own_);
    open();
    for (int segment = 0; segment < segments; ++segment) {
      if (segment != 0) fences(0);
      for (Step& step : own[at(segment)]) carry_out(step);
    }
    close();
    await_calls();
    for (Use& use : uses_) use.notifications.take(*use.subject, own_);
    for (Use& use : uses_) {
      if (use.epoch == Use::lock && own_.chance(50)) look_locked(use);
    }
    support::barrier();
    for (const auto& subject : subjects_) subject->check_memory();
    for (const Use& use : uses_) {
      Notifications::expect_none(*use.subject);
      use.subject->check_counters(own_);
    }
    support::barrier();
  }

  void choose() {
    uses_.clear();
    std::vector<Subject*> candidates;
    for (const auto& subject : subjects_) candidates.push_back(subject.get());
    const int count = 1 + same_.below(3);
    for (int i = 0; i < count; ++i) {
      const std::size_t index = same_.below(candidates.size());
      uses_.emplace_back();
      Use& use = uses_.back();
      use.subject = candidates[index];
      candidates.erase(candidates.begin() + static_cast<long>(index));
      use.epoch = static_cast<Use::Epoch>(same_.below(4));
      use.only_shared = same_.chance(40);
      use.no_check = same_.chance(20);
      use.opening_precedes = same_.chance(60);
      use.closing_succeeds = same_.chance(50);
      use.tested = same_.chance(40);
      use.nonblocking = same_.chance(50);
      use.notifying = same_.chance(50);
      use.weak = same_.chance(30);
      use.common_element = same_.below(fuzz::integers);
      constexpr Op commutative[] = {Op::sum,  Op::prod, Op::min, Op::max,
                                    Op::band, Op::bor,  Op::bxor};
      use.common_op = commutative[same_.below(7)];
      divide(use);
    }
  }
  void divide(Use& use) {
    const int ranks = program_.size();
    const int density = same_.below(101);
    for (int i = 0; i < ranks; ++i) {
      use.access.emplace_back();
      for (int j = 0; j < ranks; ++j) use.access.back().push_back(same_.chance(density));
    }
    for (int target = 0; target < ranks; ++target) {
      const long size = use.subject->size(target);
      std::vector<long> cuts{0, size};
      // Now and then one origin alone has all.
      const bool alone = same_.chance(25);
      for (int i = 0; i < ranks; ++i) cuts.push_back(alone ? 0 : same_.below(size / 8 + 1) * 8);
      std::ranges::sort(cuts);
      std::vector<std::pair<long, long>> parts;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) parts.emplace_back(cuts[i], cuts[i + 1]);
      for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[same_.below(i)]);
      use.common.push_back(parts.back());
      parts.pop_back();
      use.parts.push_back(std::move(parts));
    }
  }

  // ---- what a rank does, as all know it

  void plan(int rank) {
    const int count = same_.below(14);
    for (int i = 0; i < count; ++i) {
      if (same_.chance(50)) {
        Step fault;
        fault.kind = Step::fault;
        fault.subject = subjects_[same_.below(subjects_.size())].get();
        push(std::move(fault));
      }
      Use& use = uses_[same_.below(uses_.size())];
      if (use.epoch != Use::lock) {
        plan_operation(use, rank, -1);
      } else if (use.notifying && same_.chance(25)) {
        plan_outside(use, rank);
      } else {
        plan_locks(use, rank);
      }
      if (same_.chance(8)) {
        Step wait;
        wait.kind = Step::wait;
        push(std::move(wait));
      }
    }
    // A usual unlock completes the operations of weak ones.
    for (const auto& [use, target] : std::exchange(weak_, {})) {
      for (const Step::Kind kind : {Step::lock, Step::unlock}) {
        Step step;
        step.kind = kind;
        step.use = use;
        step.target = target;
        push(std::move(step));
      }
    }
    for (Use* use : std::exchange(outside_, {})) {
      Step flush;
      flush.kind = use->nonblocking && same_.chance(50) ? Step::iflush_all : Step::flush_all;
      flush.use = use;
      push(std::move(flush));
    }
  }
  /// An operation that no epoch covers, which notifies.
  void plan_outside(Use& use, int rank) {
    const int target = same_.below(program_.size());
    if (!plan_operation(use, rank, target, true)) return;
    outside_.insert(&use);
    if (same_.chance(40)) plan_flush(use, target);
  }
  void push(Step step) {
    ++planned_;
    steps_.push_back(std::move(step));
  }
  /// Locks of one or two targets: several only where all are shared, and by rank.
  void plan_locks(Use& use, int rank) {
    std::vector<int> targets{same_.below(program_.size())};
    if (use.only_shared && same_.chance(40)) {
      const int second = same_.below(program_.size());
      if (second != targets[0]) targets.push_back(second);
    }
    std::ranges::sort(targets);
    for (const int target : targets) {
      Step lock;
      lock.kind = Step::lock;
      lock.use = &use;
      lock.target = target;
      lock.exclusive = !use.only_shared && same_.chance(60);
      lock.assertion = use.only_shared && use.no_check ? MPI_MODE_NOCHECK : 0;
      const bool weak = use.weak && same_.chance(60);
      if (weak) lock.assertion |= ORIEL_MODE_WEAK_UNLOCK;
      push(std::move(lock));
      weak ? void(weak_.insert({&use, target})) : void(weak_.erase({&use, target}));
    }
    for (int count = same_.below(6); count > 0; --count) {
      if (same_.chance(40)) {
        Step fault;
        fault.kind = Step::fault;
        fault.subject = use.subject;
        push(std::move(fault));
      }
      Use& other = uses_[same_.below(uses_.size())];
      if (other.epoch != Use::lock) {
        plan_operation(other, rank, -1);
      } else {
        plan_operation(use, rank, targets[same_.below(targets.size())]);
      }
    }
    for (const int target : targets) {
      Step unlock;
      unlock.kind = Step::unlock;
      unlock.use = &use;
      unlock.target = target;
      push(std::move(unlock));
      for (Touched& one : touched_) {
        one.closed |= one.use == &use && one.target == target && !one.outside;
      }
    }
  }
  /// By a flush, which does not cover epochs that are closed.
  void completed(const Use& use, int target) {
    std::erase_if(touched_, [&](const Touched& one) {
      return one.use == &use && (target < 0 || one.target == target) && !one.closed;
    });
  }
  void completed_by_fence() {
    std::erase_if(touched_, [](const Touched& one) { return one.use->epoch == Use::fence; });
  }
  void plan_flush(Use& use, int target) {
    Step flush;
    flush.use = &use;
    flush.target = target;
    constexpr Step::Kind kinds[] = {Step::flush, Step::flush, Step::flush_all, Step::flush_local,
                                    Step::flush_local_all};
    flush.kind = kinds[same_.below(5)];
    if (use.nonblocking && same_.chance(50)) {
      flush.kind = static_cast<Step::Kind>(flush.kind + Step::iflush - Step::flush);
    }
    if (flush.kind == Step::flush) completed(use, target);
    if (flush.kind == Step::flush_all) completed(use, -1);
    push(std::move(flush));
  }

  /// `outside`: of all epochs. Returns whether the target is concerned.
  bool plan_operation(Use& use, int world_rank, int target, bool outside = false) {
    const int origin = use.subject->other_name(world_rank);
    if (target < 0) {
      std::vector<int> targets;
      for (int i = 0; i < program_.size(); ++i) {
        if (use.epoch != Use::pscw || use.access[at(origin)][at(i)]) targets.push_back(i);
      }
      if (targets.empty()) return false;
      target = targets[same_.below(targets.size())];
    }
    if (use.passive() && !outside && same_.chance(15)) plan_flush(use, target);
    Step step;
    step.use = &use;
    step.target = target;
    Plan& plan = step.plan;
    if (!draw(use, origin, target, outside, plan)) return false;
    plan.outside = outside;
    plan.notifies = outside || (use.notifying && same_.chance(40));
    if (plan.notifies && !fuzz::single(plan.kind) && same_.chance(40)) {
      plan.counter = use.subject->draw_counter(same_, target);
    }
    plan.tag = same_.chance(80) ? same_.below(4) : ORIEL_NOTIFY_TAG_UB - same_.below(2);
    plan.with_request =
        !fuzz::single(plan.kind) && same_.chance(30) && (!plan.notifies || use.passive());
    step.effect = fuzz::carry_out(plan, use.subject->model[at(target)]);
    if (target == use.subject->rank && plan.target != MPI_PROC_NULL) {
      if (plan.kind != Kind::get) use.notifications.overwrite(origin, plan);
      if (plan.counter >= 0) {
        use.subject->count(plan.counter);
      } else if (plan.notifies) {
        use.notifications.expect_from(origin, plan, step.effect.before.size());
      }
    }
    const bool concerned = plan.target != MPI_PROC_NULL;
    push(std::move(step));
    return concerned;
  }

  /// A valid operation that conflicts with none before it. False: none has been found.
  bool draw(Use& use, int origin, int target, bool outside, Plan& plan) {
    const Subject& subject = *use.subject;
    plan.target = target;
    plan.data = same_.next();
    plan.large = same_.chance(25);
    plan.origin_at_bottom = same_.chance(8);
    plan.result_at_bottom = same_.chance(8);
    plan.compare_equal = same_.chance(60);
    const bool common = same_.chance(25);
    const auto [low, high] = common ? use.common[at(target)] : use.parts[at(target)][at(origin)];
    plan.exact = !common;
    plan.kind = static_cast<Kind>(common ? 2 + same_.below(3) : same_.below(6));
    const int element =
        common ? use.common_element : same_.below(static_cast<int>(fuzz::elements().size()));
    const fuzz::Element& kind_of = fuzz::elements()[at(element)];
    plan.op = common ? use.common_op : static_cast<Op>(same_.below(fuzz::ops));
    if (common && plan.kind != Kind::accumulate && same_.chance(20)) plan.op = Op::no_op;
    if (!kind_of.arithmetic && plan.op != Op::no_op) plan.op = Op::replace;
    if (plan.kind == Kind::accumulate && plan.op == Op::no_op) plan.op = Op::replace;
    if (plan.kind == Kind::put || plan.kind == Kind::get) plan.op = Op::replace;
    if (plan.kind == Kind::compare_and_swap && !kind_of.arithmetic) plan.kind = Kind::get;
    if (plan.kind == Kind::compare_and_swap) plan.op = Op::replace;
    const long room = (high - low) / kind_of.bytes;
    const bool single = fuzz::single(plan.kind);
    // Some operations take more than one message; of long ones most do.
    const bool long_ones = fuzz::long_ones();
    const long wanted = same_.chance(long_ones ? 50 : 10)
                            ? same_.chance(long_ones ? 80 : 30) ? 200'000 : 5'000
                            : 40;
    const int most = static_cast<int>(std::min(room, wanted));
    const int total = single ? 1 : same_.below(most + 1);
    if (total > room) return false;
    plan.there = single ? Items::one(element) : Items(same_, element, total);
    // Data that are shorter than the buffer that they go to: no more than these are moved.
    const bool shorter = total > 1 && plan.kind != Kind::get_accumulate && same_.chance(8);
    const int origin_total = shorter ? 1 + same_.below(total - 1) : total;
    const int result_total = shorter ? total + 1 + same_.below(5) : total;
    plan.origin = single ? Items::one(element) : Items(same_, element, origin_total);
    plan.result = single ? Items::one(element) : Items(same_, element, result_total);
    if (single) plan.origin_at_bottom = plan.result_at_bottom = false;
    plan.no_origin = plan.op == Op::no_op && same_.chance(50);
    if (same_.chance(3)) {
      plan.target = MPI_PROC_NULL;
      plan.displacement = same_.below(1000);
      return true;
    }
    // Elements of updates at multiples of their size.
    const long unit = subject.unit(target);
    const long first = std::max(0L, low - plan.there.low());
    const long last = high - plan.there.high();
    const long least = (first + unit - 1) / unit;
    const long greatest = last < 0 ? -1 : last / unit;
    if (least > greatest) return false;
    for (int tries = 0; tries < 8; ++tries) {
      const bool end = same_.chance(15);
      const long displacement = end ? greatest - tries : least + same_.below(greatest - least + 1);
      if (displacement < least) return false;
      plan.displacement = displacement;
      plan.start = displacement * unit;
      if (fuzz::updates(plan.kind) && plan.start % kind_of.bytes != 0) continue;
      return common || total == 0 || orderly(use, target, outside, plan);
    }
    return false;
  }
  bool orderly(const Use& use, int target, bool outside, const Plan& plan) {
    Touched now{&use,
                target,
                plan.start + plan.there.low(),
                plan.start + plan.there.high(),
                plan.kind == Kind::get     ? Touched::read
                : fuzz::updates(plan.kind) ? Touched::updated
                                           : Touched::written,
                plan.there.element(),
                outside};
    for (const Touched& one : touched_) {
      if (one.use != &use || one.target != target || one.high <= now.low || now.high <= one.low) {
        continue;
      }
      if (one.manner == Touched::read && now.manner == Touched::read) continue;
      if (one.closed && !outside && !use.subject->reorders) continue;
      const bool ordered = one.manner == Touched::updated && now.manner == Touched::updated &&
                           one.element == now.element && one.outside == outside;
      if (!ordered) return false;
    }
    touched_.push_back(now);
    return true;
  }

  // ---- this rank's part

  std::vector<int> partners(const Use& use, bool of_origin) const {
    std::vector<int> ranks;
    const auto own = at(use.subject->rank);
    for (int i = 0; i < program_.size(); ++i) {
      if (of_origin ? use.access[own][at(i)] : use.access[at(i)][own]) ranks.push_back(i);
    }
    return ranks;
  }
  template <class Body>
  void with_group(const Use& use, const std::vector<int>& ranks, Body&& body) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Win_get_group(use.subject->win, &all);
    std::vector<int> shuffled = ranks;
    for (std::size_t i = shuffled.size(); i > 1; --i) {
      std::swap(shuffled[i - 1], shuffled[own_.below(i)]);
    }
    MPI_Group_incl(all, static_cast<int>(shuffled.size()), shuffled.data(), &some);
    body(some);
    if (some != MPI_GROUP_EMPTY) MPI_Group_free(&some);
    MPI_Group_free(&all);
  }

  void open() {
    stray_faults();
    for (Use& use : uses_) {
      // An epoch of an earlier fence would cover operations that are planned outside all epochs.
      if (use.epoch == Use::lock && use.notifying && use.subject->state.fence) look_locked(use);
    }
    fences(1);
    bool unchecked = false;
    for (Use& use : uses_) {
      if (use.epoch != Use::pscw) continue;
      unchecked |= use.no_check;
      with_group(use, partners(use, false), [&](MPI_Group group) {
        const int given = (use.no_check ? MPI_MODE_NOCHECK : 0) | MPI_MODE_NOSTORE;
        open(
            use, "post", [&](MPI_Win win) { return MPI_Win_post(group, given, win); },
            [&](MPI_Win win, MPI_Request* request) {
              return nonblocking().Win_ipost(group, given, win, request);
            },
            [](fuzz::State& state) { state.exposure = true, state.retire_fence(); });
      });
    }
    if (unchecked) support::barrier();
    for (Use& use : uses_) {
      if (use.epoch != Use::pscw) continue;
      const std::vector<int> targets = partners(use, true);
      with_group(use, targets, [&](MPI_Group group) {
        const int given = use.no_check ? MPI_MODE_NOCHECK : 0;
        open(
            use, "start", [&](MPI_Win win) { return MPI_Win_start(group, given, win); },
            [&](MPI_Win win, MPI_Request* request) {
              return nonblocking().Win_istart(group, given, win, request);
            },
            [&](fuzz::State& state) { state.access = true, state.started = targets; });
      });
    }
    for (Use& use : uses_) {
      if (use.epoch != Use::lock_all) continue;
      lock_all(use,
               (use.no_check ? MPI_MODE_NOCHECK : 0) | (use.weak ? ORIEL_MODE_WEAK_UNLOCK : 0));
    }
  }
  /// The opening ones of a round (1), between its segments (0), the closing ones (-1).
  void fences(int which) {
    for (Use& use : uses_) {
      if (use.epoch != Use::fence) continue;
      int assertion = which == 0 ? 0 : MPI_MODE_NOSTORE;
      if (which > 0 && !use.opening_precedes) assertion |= MPI_MODE_NOPRECEDE;
      if (which < 0 && !use.closing_succeeds) assertion |= MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT;
      end(
          use, -1, "fence", [&](MPI_Win win) { return MPI_Win_fence(assertion, win); },
          [&](MPI_Win win, MPI_Request* request) {
            return nonblocking().Win_ifence(assertion, win, request);
          },
          [&](fuzz::State& state) {
            state.fence = (assertion & MPI_MODE_NOSUCCEED) == 0;
            state.fence_used = false;
          },
          which < 0);
    }
  }
  void close() {
    for (Use& use : uses_) {
      if (use.epoch != Use::lock_all) continue;
      unlock_all(use);
      if (!use.weak) continue;
      // A usual unlock completes the operations of the weak one.
      lock_all(use, 0);
      unlock_all(use);
    }
    for (Use& use : uses_) {
      if (use.epoch != Use::pscw) continue;
      end(
          use, -1, "complete", [](MPI_Win win) { return MPI_Win_complete(win); },
          [](MPI_Win win, MPI_Request* request) {
            return nonblocking().Win_icomplete(win, request);
          },
          [](fuzz::State& state) { state.access = false, state.started.clear(); });
    }
    stray_faults();
    for (Use& use : uses_) {
      if (use.epoch != Use::pscw) continue;
      if (use.tested) {
        note("MPI_Win_test", use.subject->number());
        for (int flag = 0; flag == 0;) {
          use.check(MPI_Win_test(use.subject->win, &flag), "MPI_Win_test", [](fuzz::State&) {});
        }
        use.subject->state.exposure = false;
        use.subject->check_memory();
      } else {
        end(
            use, no_target, "wait", [](MPI_Win win) { return MPI_Win_wait(win); },
            [](MPI_Win win, MPI_Request* request) { return nonblocking().Win_iwait(win, request); },
            [](fuzz::State& state) { state.exposure = false; }, true);
      }
    }
    fences(-1);
    stray_faults();
  }

  // ---- blocking calls and their nonblocking forms

  static constexpr int no_target = -2;  // of the targets, beside all of them (-1)

  static const char* name_of(const char* prefix, const char* call) {
    // Kept for as long as support::current_test() may name it.
    static std::set<std::string> names;
    return names.insert(std::string(prefix) + call).first->c_str();
  }
  /// A call that opens an epoch.
  template <class Blocking, class Posted, class Changed>
  void open(Use& use, const char* name, Blocking&& blocking, Posted&& posted, Changed&& changed) {
    const Subject& subject = *use.subject;
    if (!use.nonblocking || own_.chance(40)) {
      const char* call = name_of("MPI_Win_", name);
      note(call, subject.number());
      return use.check(blocking(subject.win), call, changed);
    }
    const char* call = name_of("ORIEL_Win_i", name);
    note(call, subject.number());
    MPI_Request request = MPI_REQUEST_NULL;
    use.check(posted(subject.win, &request), call, changed);
    int flag = 0;
    expect(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS, [] { return "MPI_Test"; });
    CHECK(flag != 0);
  }
  /// A call that completes the operations to the target, or to all. `ends_access`: of the others to
  /// this rank's memory.
  template <class Blocking, class Posted, class Changed>
  void end(Use& use, int target, const char* name, Blocking&& blocking, Posted&& posted,
           Changed&& changed, bool ends_access = false) {
    if (!use.nonblocking || own_.chance(40)) {
      const char* call = name_of("MPI_Win_", name);
      note(call, use.subject->number());
      use.check(blocking(use.subject->win), call, changed);
      finish(use, completed_by(closing, use, target));
      if (ends_access) use.subject->check_memory();
      return;
    }
    post(use, completed_by(closing, use, target), name, posted, changed, ends_access);
  }
  template <class Posted, class Changed>
  void post(Use& use, Operations operations, const char* name, Posted&& posted, Changed&& changed,
            bool ends_access = false) {
    PendingCall pending{&use, MPI_REQUEST_NULL, std::move(operations), ends_access};
    const char* call = name_of("ORIEL_Win_i", name);
    note(call, use.subject->number());
    use.check(posted(use.subject->win, &pending.request), call, changed);
    calls_under_way_.push_back(std::move(pending));
  }
  void conclude(PendingCall& pending) {
    finish(*pending.use, pending.operations);
    if (pending.ends_access) pending.use->subject->check_memory();
  }
  void await(PendingCall& pending) {
    wait(*pending.use, pending.request);
    CHECK(pending.request == MPI_REQUEST_NULL);
    conclude(pending);
  }
  /// Some of the calls that are under way, in any order. Not within a lock epoch: a fence may wait
  /// for a rank that waits for that lock.
  void await_some() {
    for (std::size_t i = calls_under_way_.size(); i > 0; --i) {
      if (own_.chance(70)) continue;
      PendingCall pending = std::move(calls_under_way_[i - 1]);
      calls_under_way_.erase(calls_under_way_.begin() + static_cast<long>(i - 1));
      await(pending);
    }
  }
  /// All of them, one by one or together.
  void await_calls() {
    if (own_.chance(50)) {
      for (PendingCall& pending : calls_under_way_) await(pending);
    } else {
      std::vector<MPI_Request> requests;
      for (const PendingCall& pending : calls_under_way_) requests.push_back(pending.request);
      note("MPI_Waitall", 0);
      expect(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
             MPI_SUCCESS, [] { return "MPI_Waitall"; });
      for (PendingCall& pending : calls_under_way_) conclude(pending);
    }
    calls_under_way_.clear();
  }

  /// Own memory within a lock of one's own.
  void look_locked(Use& use) {
    note("MPI_Win_lock", use.subject->number());
    const MPI_Win win = use.subject->win;
    use.check(MPI_Win_lock(MPI_LOCK_SHARED, use.subject->rank, 0, win), "MPI_Win_lock",
              [](fuzz::State& state) { state.retire_fence(); });
    use.check(MPI_Win_sync(win), "MPI_Win_sync", [](fuzz::State&) {});
    use.check(MPI_Win_unlock(use.subject->rank, win), "MPI_Win_unlock", [](fuzz::State&) {});
  }
  void stray_faults() {
    for (int i = own_.below(5); i > 0; --i) faults_.one(*subjects_[own_.below(subjects_.size())]);
  }

  enum Completing { closing, flushing };
  /// Takes the operations to the target, or to all (-1), that a call of this kind completes. Those
  /// outside epochs are completed by flushes.
  static Operations completed_by(Completing kind, Use& use, int target) {
    Operations taken;
    for (std::unique_ptr<Pending>& one : use.pending) {
      if (target != -1 && one->target() != target) continue;
      if (kind == flushing || !one->outside()) taken.push_back(std::move(one));
    }
    std::erase(use.pending, nullptr);
    return taken;
  }
  /// The operations are locally complete.
  void finish(const Use& use, const Operations& operations) {
    for (const std::unique_ptr<Pending>& one : operations) {
      if (one->request() != MPI_REQUEST_NULL) wait(use, one->request());
      one->finish(*use.subject);
    }
  }
  void wait(const Use& use, MPI_Request& request) {
    note("MPI_Wait", use.subject->number());
    if (own_.chance(30)) {
      int flag = 0;
      while (flag == 0) {
        expect(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS,
               [] { return "MPI_Test"; });
      }
      return;
    }
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, [] { return "MPI_Wait"; });
  }
  /// For some of the requests that are active.
  void wait_for_some() {
    await_some();
    for (Use& use : uses_) {
      for (std::unique_ptr<Pending>& one : use.pending) {
        if (one->request() == MPI_REQUEST_NULL || own_.chance(30)) continue;
        wait(use, one->request());
        one->finish(*use.subject);
        one.reset();
      }
      std::erase(use.pending, nullptr);
    }
  }

  void carry_out(Step& step) {
    Use* use = step.use;
    const MPI_Win win = use != nullptr ? use->subject->win : MPI_WIN_NULL;
    const auto flushed = [&](const char* call, int code, int target) {
      use->check(code, call, [](fuzz::State&) {});
      finish(*use, completed_by(flushing, *use, target));
    };
    const auto flush_later = [&](const char* call, int target, auto&& posted) {
      post(*use, completed_by(flushing, *use, target), call, posted, [](fuzz::State&) {});
    };
    switch (step.kind) {
      case Step::operation: {
        auto pending = std::make_unique<Pending>(step.plan, std::move(step.effect));
        pending->call(*use->subject);
        if (use->epoch == Use::fence && step.plan.target != MPI_PROC_NULL)
          use->subject->state.fence_used = true;
        if (step.plan.notifies && step.plan.target != MPI_PROC_NULL &&
            !use->subject->state.covers(step.target))
          use->subject->state.notified.insert(step.target);
        use->pending.push_back(std::move(pending));
        break;
      }
      case Step::lock:
        lock(step);
        break;
      case Step::unlock:
        end(
            *use, step.target, "unlock",
            [&](MPI_Win locked) { return MPI_Win_unlock(step.target, locked); },
            [&](MPI_Win locked, MPI_Request* request) {
              return nonblocking().Win_iunlock(step.target, locked, request);
            },
            [&](fuzz::State& state) { state.locked.erase(step.target); });
        break;
      case Step::flush:
        note("MPI_Win_flush", use->subject->number());
        flushed("MPI_Win_flush", MPI_Win_flush(step.target, win), step.target);
        break;
      case Step::flush_local:
        note("MPI_Win_flush_local", use->subject->number());
        flushed("MPI_Win_flush_local", MPI_Win_flush_local(step.target, win), step.target);
        break;
      case Step::flush_all:
        note("MPI_Win_flush_all", use->subject->number());
        flushed("MPI_Win_flush_all", MPI_Win_flush_all(win), -1);
        break;
      case Step::flush_local_all:
        note("MPI_Win_flush_local_all", use->subject->number());
        flushed("MPI_Win_flush_local_all", MPI_Win_flush_local_all(win), -1);
        break;
      case Step::iflush:
        flush_later("flush", step.target, [&](MPI_Win flushed_win, MPI_Request* request) {
          return nonblocking().Win_iflush(step.target, flushed_win, request);
        });
        break;
      case Step::iflush_local:
        flush_later("flush_local", step.target, [&](MPI_Win flushed_win, MPI_Request* request) {
          return nonblocking().Win_iflush_local(step.target, flushed_win, request);
        });
        break;
      case Step::iflush_all:
        flush_later("flush_all", -1, nonblocking().Win_iflush_all);
        break;
      case Step::iflush_local_all:
        flush_later("flush_local_all", -1, nonblocking().Win_iflush_local_all);
        break;
      case Step::wait:
        wait_for_some();
        break;
      case Step::fault:
        faults_.one(*step.subject);
        break;
    }
  }

  void lock(const Step& step) {
    const int type = step.exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    open(
        *step.use, "lock",
        [&](MPI_Win win) { return MPI_Win_lock(type, step.target, step.assertion, win); },
        [&](MPI_Win win, MPI_Request* request) {
          return nonblocking().Win_ilock(type, step.target, step.assertion, win, request);
        },
        [&](fuzz::State& state) {
          state.locked.insert(step.target);
          state.retire_fence();
        });
  }

  void lock_all(Use& use, int assertion) {
    open(
        use, "lock_all", [&](MPI_Win win) { return MPI_Win_lock_all(assertion, win); },
        [&](MPI_Win win, MPI_Request* request) {
          return nonblocking().Win_ilock_all(assertion, win, request);
        },
        [](fuzz::State& state) { state.lock_all = true, state.retire_fence(); });
  }
  void unlock_all(Use& use) {
    end(
        use, -1, "unlock_all", [](MPI_Win win) { return MPI_Win_unlock_all(win); },
        [](MPI_Win win, MPI_Request* request) {
          return nonblocking().Win_iunlock_all(win, request);
        },
        [](fuzz::State& state) { state.lock_all = false; });
  }

  const Program& program_;
  const long calls_;
  long planned_ = 0;
  int made_ = 0;
  Random same_;  // draws the same on all ranks
  Random own_;
  Faults faults_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  std::vector<Use> uses_;
  std::vector<Step> steps_;
  std::vector<Touched> touched_;
  std::set<Use*> outside_;  // on which the rank that is planned has operations outside epochs
  // Targets at which the rank that is planned has operations of weak unlocks.
  std::set<std::pair<Use*, int>> weak_;
  std::vector<PendingCall> calls_under_way_;
};

}  // namespace

int main(int argc, char** argv) {
  const long seed = support::number(argc, argv, 1, 1);
  const long calls = support::number(argc, argv, 2, 20000);
  argv[1] = nullptr;  // no names of tests
  Program program(1, argv);
  if (program.host_only()) return 0;  // hosts crash for much of this
  program.test("fuzz", [&] {
    const auto fuzz = std::make_unique<Fuzz>(program, static_cast<std::uint64_t>(seed), calls);
    fuzz->run();
    long own[2] = {fuzz::where().calls, fuzz->refused()};
    long all[2] = {0, 0};
    MPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (program.rank() == 0) {
      std::printf("ok: %ld calls, %ld of them refused, in %ld rounds from seed %ld\n", all[0],
                  all[1], fuzz::where().round, seed);
    }
  });
}
