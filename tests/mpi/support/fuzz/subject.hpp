// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/fuzz/calls.hpp"
#include "support/fuzz/types.hpp"
#include "support/fuzz/where.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace fuzz {

enum class Flavor { create, allocate, shared, dynamic };
constexpr const char* name_of(Flavor flavor) {
  constexpr const char* names[] = {"create", "allocate", "allocate_shared", "create_dynamic"};
  return names[static_cast<int>(flavor)];
}

/// The epochs that this rank has open on a window.
struct State {
  bool fence = false;       // operations are permitted since a fence
  bool fence_used = false;  // and there have been some
  bool access = false;
  std::vector<int> started;
  bool exposure = false;
  bool lock_all = false;
  std::set<int> locked;
  std::set<int> notified;  // targets of operations outside epochs, which a flush may name for ever

  /// Neither an access epoch nor an exposure epoch, but for a fence without operations.
  bool idle() const { return !fence_used && !access && !exposure && !lock_all && locked.empty(); }
  bool passive_to(int target) const { return lock_all || locked.contains(target); }
  bool may_flush(int target) const { return passive_to(target) || notified.contains(target); }
  bool may_flush_all() const { return lock_all || !locked.empty() || !notified.empty(); }
  bool covers(int target) const {
    return fence || passive_to(target) || std::ranges::find(started, target) != started.end();
  }
  void retire_fence() { fence = false; }
};

/// An attribute of a window, and how often its delete callback has been called.
struct Attribute {
  long value = 0;
  int deleted = 0;
};

inline int window_keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Win_create_keyval(
        MPI_WIN_NULL_COPY_FN,
        [](MPI_Win, int, void* value, void*) -> int {
          ++static_cast<Attribute*>(value)->deleted;
          return MPI_SUCCESS;
        },
        &made, nullptr);
    return made;
  }();
  return key;
}

/// A window, and a model of the memory that every rank gives to it.
class Subject {
 public:
  /// Collective; `same` is the same on all ranks.
  Subject(Random& same, const support::Program& program, int number)
      : number_(number), ranks_(program.size()) {
    const bool node = support::one_node();
    const int kinds[] = {0, 0, 1, 1, node ? 2 : 0, 3};
    flavor = static_cast<Flavor>(kinds[same.below(6)]);
    reversed_ = same.chance(30);
    rank = reversed_ ? ranks_ - 1 - program.rank() : program.rank();
    const bool same_size = same.chance(30);
    const bool same_unit = same.chance(40);
    const bool large = same.chance(long_ones() ? 70 : 12);
    for (int i = 0; i < ranks_; ++i) {
      const long size = random_size(same, large);
      constexpr int units[] = {1, 1, 1, 2, 4, 8, 8, 3, 12, 64, 1000};
      const int unit = units[same.below(11)];
      model.emplace_back(static_cast<std::size_t>(same_size && i > 0 ? sizes_[0] : size));
      sizes_.push_back(static_cast<long>(model.back().size()));
      units_.push_back(flavor == Flavor::dynamic ? 1 : same_unit && i > 0 ? units_[0] : unit);
    }
    MPI_Info info = make_info(same, same_size, same_unit);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    make(info, comm);
    MPI_Comm_free(&comm);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    expect(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN), MPI_SUCCESS,
           [] { return "MPI_Win_set_errhandler"; });
    const std::uint64_t content = same.next();
    for (int i = 0; i < ranks_; ++i) {
      Random bytes{content, static_cast<std::uint64_t>(i)};
      for (std::byte& one : model[at(i)]) one = static_cast<std::byte>(bytes.next());
    }
    if (size(rank) != 0) std::memcpy(base, model[at(rank)].data(), model[at(rank)].size());
    addresses_.resize(at(ranks_));
    MPI_Aint own = 0;
    MPI_Get_address(base, &own);
    std::vector<MPI_Aint> by_world(at(ranks_));
    MPI_Allgather(&own, 1, MPI_AINT, by_world.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks_; ++i) addresses_[at(i)] = by_world[at(other_name(i))];
    check_facts();
    make_counters(same);
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  /// Collective. Whether its handle may be used afterwards to see what a freed one gives.
  bool free() {
    if (flavor == Flavor::dynamic && size(rank) != 0 && number_ % 2 == 0) detach();
    note("MPI_Win_free", number_);
    const int before = attribute.deleted;
    expect(MPI_Win_free(&win), MPI_SUCCESS, [&] { return describe("MPI_Win_free"); });
    CHECK(win == MPI_WIN_NULL);
    CHECK_EQUAL(attribute.deleted, before + (has_attribute ? 1 : 0));
    check_guards();
    return !named_;
  }

  /// Own memory against the model, and what surrounds it.
  void check_memory() const {
    const std::vector<std::byte>& expected = model[at(rank)];
    if (!expected.empty() && std::memcmp(base, expected.data(), expected.size()) != 0) {
      std::size_t i = 0;
      const auto* own = static_cast<const std::byte*>(base);
      while (own[i] == expected[i]) ++i;
      std::size_t wrong = 0;
      for (std::size_t j = i; j < expected.size(); ++j) wrong += own[j] != expected[j] ? 1 : 0;
      support::fail(__FILE__, __LINE__,
                    describe("memory") + ": byte " + std::to_string(i) + " of " +
                        std::to_string(expected.size()) + " should be " +
                        std::to_string(static_cast<int>(expected[i])) + " but is " +
                        std::to_string(static_cast<int>(own[i])) + "; " + std::to_string(wrong) +
                        " bytes differ.");
    }
    check_guards();
  }

  /// Draws a counter of the rank; -1: it has none.
  int draw_counter(Random& same, int of) const {
    return counters_[at(of)] == 0 ? -1 : same.below(counters_[at(of)]);
  }
  /// An operation to this rank increments the counter.
  void count(int counter) { ++counts_[at(counter)]; }
  /// Makes a request for the final value of some counters of this rank.
  std::vector<MPI_Request> await_counters(Random& random) const {
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (!random.chance(30)) continue;
      note("ORIEL_Win_get_notify_request", number_);
      expect(counters().Win_get_notify_request(win, static_cast<int>(i), counts_[i],
                                               &requests.emplace_back(MPI_REQUEST_NULL)),
             MPI_SUCCESS, [&] { return describe("ORIEL_Win_get_notify_request"); });
    }
    return requests;
  }
  /// All operations to this rank have taken effect. Some counters begin anew.
  void check_counters(Random& random) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const bool resets = random.chance(10);
      const auto call =
          resets ? counters().Win_reset_notify_value : counters().Win_get_notify_value;
      const char* name = resets ? "ORIEL_Win_reset_notify_value" : "ORIEL_Win_get_notify_value";
      MPI_Count value = -1;
      note(name, number_);
      expect(call(win, static_cast<int>(i), &value), MPI_SUCCESS, [&] { return describe(name); });
      CHECK_EQUAL(value, counts_[i]);
      if (resets) counts_[i] = 0;
    }
  }

  int number() const { return number_; }
  int ranks() const { return ranks_; }
  long size(int of) const { return sizes_[at(of)]; }
  long unit(int of) const { return units_[at(of)]; }
  /// A rank of the window in the world, and the other way round.
  int other_name(int of) const { return reversed_ ? ranks_ - 1 - of : of; }
  /// The displacement that reaches this one, in units, from the beginning of the rank's memory.
  MPI_Aint displacement(int target, MPI_Aint from_start) const {
    return flavor == Flavor::dynamic ? MPI_Aint_add(addresses_[at(target)], from_start)
                                     : from_start;
  }
  void name(const std::string& given) {
    named_ = true;
    note("MPI_Win_set_name", number_);
    expect(MPI_Win_set_name(win, given.c_str()), MPI_SUCCESS, [] { return "MPI_Win_set_name"; });
  }
  std::string describe(const char* call) const {
    return std::string(call) + " on window " + std::to_string(number_) + " (" + name_of(flavor) +
           ", " + std::to_string(size(rank)) + " bytes on rank " + std::to_string(rank) + ")";
  }
  /// Takes the memory of a dynamic window out of it and puts it back.
  void attach_again() {
    if (flavor != Flavor::dynamic || size(rank) == 0) return;
    detach();
    attach();
  }

  Flavor flavor = Flavor::create;
  MPI_Win win = MPI_WIN_NULL;
  int rank = 0;
  void* base = nullptr;
  State state;
  Attribute attribute;
  bool has_attribute = false;
  std::vector<std::vector<std::byte>> model;  // of each rank of the window
  bool reorders = false;                      // some reorder keys are set

 private:
  static constexpr std::size_t guard = 256;
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  long random_size(Random& same, bool large) const {
    const long draws[] = {
        0,   8, 64, same.below(200L), 8 * same.below(64L), same.below(3000L), 8 * same.below(400L),
        4096};
    long size = draws[same.below(8)];
    if (large) size = 4096 * (1 + same.below(same.chance(30) ? 300L : 40L));
    // Contiguous memory of all ranks: what is behind an odd size would not be aligned.
    return flavor == Flavor::shared ? size / 8 * 8 : size;
  }
  void make_counters(Random& same) {
    counters_.resize(at(ranks_));
    if (same.chance(40)) return;
    for (int& its : counters_) its = same.below(4);
    counts_.resize(at(counters_[at(rank)]));
    note("ORIEL_Win_set_num_notify", number_);
    expect(counters().Win_set_num_notify(win, MPI_INFO_NULL, counters_[at(rank)]), MPI_SUCCESS,
           [&] { return describe("ORIEL_Win_set_num_notify"); });
  }
  MPI_Info make_info(Random& same, bool same_size, bool same_unit) const {
    if (same.chance(50)) return MPI_INFO_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    if (same_size && same.chance(50)) MPI_Info_set(info, "same_size", "true");
    if (same_unit && same.chance(50)) MPI_Info_set(info, "same_disp_unit", "true");
    if (same.chance(30)) MPI_Info_set(info, "alloc_shared_noncontig", "true");
    if (same.chance(30)) MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
    if (same.chance(30)) MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
    if (same.chance(30)) MPI_Info_set(info, "no_such_key", "at all");
    return info;
  }
  /// Own memory with guards around it; every second one begins at a page.
  void* guarded(std::size_t bytes) {
    const std::size_t page = support::page_bytes();
    start_ = number_ % 2 == 0 ? page : guard;
    bytes_ = bytes;
    total_ = (start_ + bytes + guard + page - 1) / page * page;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, total_)));
    std::memset(memory_.get(), 0x5a, total_);
    return memory_.get() + start_;
  }
  void check_guards() const {
    if (memory_ == nullptr) return;
    const auto clean = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (memory_[i] != std::byte{0x5a}) {
          support::fail(__FILE__, __LINE__,
                        describe("memory") + ": a byte outside of it has been written, at " +
                            std::to_string(static_cast<long>(i) - static_cast<long>(start_)) + ".");
        }
      }
    };
    clean(start_ - guard, start_);
    clean(start_ + bytes_, start_ + bytes_ + guard);
  }
  void make(MPI_Info info, MPI_Comm comm) {
    const auto bytes = static_cast<MPI_Aint>(size(rank));
    const int disp_unit = static_cast<int>(unit(rank));
    note(name_of(flavor), number_);
    int code = MPI_SUCCESS;
    switch (flavor) {
      case Flavor::create:
        base = guarded(model[at(rank)].size());
        code = MPI_Win_create(base, bytes, disp_unit, info, comm, &win);
        break;
      case Flavor::allocate:
        code = MPI_Win_allocate(bytes, disp_unit, info, comm, &base, &win);
        break;
      case Flavor::shared:
        code = MPI_Win_allocate_shared(bytes, disp_unit, info, comm, &base, &win);
        break;
      case Flavor::dynamic:
        base = guarded(model[at(rank)].size());
        code = MPI_Win_create_dynamic(info, comm, &win);
        break;
    }
    expect(code, MPI_SUCCESS, [&] { return describe("making"); });
    if (flavor == Flavor::dynamic && bytes != 0) attach();
  }
  void attach() {
    note("MPI_Win_attach", number_);
    expect(MPI_Win_attach(win, base, static_cast<MPI_Aint>(size(rank))), MPI_SUCCESS,
           [&] { return describe("MPI_Win_attach"); });
  }
  void detach() {
    note("MPI_Win_detach", number_);
    expect(MPI_Win_detach(win, base), MPI_SUCCESS, [&] { return describe("MPI_Win_detach"); });
  }
  void check_facts() const {
    const auto number = [&](int key, auto value) {
      decltype(value)* found = nullptr;
      int flag = 0;
      expect(MPI_Win_get_attr(win, key, static_cast<void*>(&found), &flag), MPI_SUCCESS,
             [&] { return describe("MPI_Win_get_attr"); });
      CHECK(flag != 0);
      return *found;
    };
    const bool dynamic = flavor == Flavor::dynamic;
    CHECK_EQUAL(number(MPI_WIN_SIZE, MPI_Aint{0}), MPI_Aint{dynamic ? 0 : size(rank)});
    CHECK_EQUAL(number(MPI_WIN_DISP_UNIT, 0), static_cast<int>(unit(rank)));
    constexpr int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                               MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
    CHECK_EQUAL(number(MPI_WIN_CREATE_FLAVOR, 0), flavors[static_cast<int>(flavor)]);
  }

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  const int number_;
  const int ranks_;
  bool reversed_ = false;
  bool named_ = false;
  std::vector<long> sizes_;
  std::vector<long> units_;
  std::vector<MPI_Aint> addresses_;
  std::vector<int> counters_;      // by rank: their number
  std::vector<MPI_Count> counts_;  // of this rank's: the values that they come to in this round
  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t start_ = 0;
  std::size_t bytes_ = 0;
  std::size_t total_ = 0;
};

}  // namespace fuzz
