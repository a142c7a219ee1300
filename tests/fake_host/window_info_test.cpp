// SPDX-License-Identifier: BSD-3-Clause
// Info keys of windows: which values are taken, and what is told of them.
#include "mpi/info/window_info.hpp"

#include <gtest/gtest.h>
#include <oriel/oriel.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/operation/operation.hpp"

namespace oriel::mpi {
namespace {

class Info {
 public:
  Info() { PMPI_Info_create(&info_); }
  ~Info() { PMPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;

  Info& set(const char* key, const char* value) {
    PMPI_Info_set(info_, key, value);
    return *this;
  }
  std::optional<std::string> get(const char* key) const {
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    PMPI_Info_get(info_, key, MPI_MAX_INFO_VAL, value.data(), &found);
    return found != 0 ? std::optional<std::string>(value.data()) : std::nullopt;
  }
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// The value of the key in the info of a window that was made with this value.
std::string told(const char* key, const char* value) {
  Info given;
  given.set(key, value);
  WindowInfo window;
  window.read(given);
  Info out;
  EXPECT_EQ(window.write(out), MPI_SUCCESS);
  return out.get(key).value_or("(none)");
}

TEST(WindowInfo, WithoutAnInfoAllKeysHaveTheirDefaults) {
  WindowInfo window;
  window.read(MPI_INFO_NULL);
  Info out;
  ASSERT_EQ(window.write(out), MPI_SUCCESS);
  EXPECT_EQ(out.get("no_locks"), "false");
  EXPECT_EQ(out.get("accumulate_ordering"), "rar,raw,war,waw");
  EXPECT_EQ(out.get("accumulate_ops"), "same_op_no_op");
  EXPECT_EQ(out.get("mpi_minimum_memory_alignment"), "64");
  EXPECT_EQ(out.get(ORIEL_WIN_SCOPE), "process");
  EXPECT_EQ(out.get(ORIEL_AWAIT_ACCESS), "result");
  EXPECT_EQ(out.get(ORIEL_ACCESS_AFTER_ACCESS_REORDER), "0");
  // Nobody has asserted any, and info values may not be empty.
  EXPECT_EQ(out.get("mpi_assert_memory_alloc_kinds"), std::nullopt);
}

TEST(WindowInfo, TruthIsAWordOrADigit) {
  EXPECT_EQ(told("no_locks", "true"), "true");
  EXPECT_EQ(told("no_locks", "1"), "true");
  EXPECT_EQ(told("no_locks", "0"), "false");
  for (const char* no_value : {"yes", "TRUE", "2", "truely", " true"}) {
    EXPECT_EQ(told("no_locks", no_value), "false") << no_value;
  }
}

TEST(WindowInfo, AWrongValueDoesNotTakeBackARightOne) {
  WindowInfo window;
  window.read(Info().set("same_size", "true").set("accumulate_ordering", "rar,waw"));
  window.update(Info().set("same_size", "perhaps").set("accumulate_ordering", "rar,wax"));
  EXPECT_TRUE(window.same_size);
  EXPECT_EQ(window.accumulate_ordering, "rar,waw");
  window.update(Info().set("same_size", "false").set("accumulate_ordering", "none"));
  EXPECT_FALSE(window.same_size);
  EXPECT_EQ(window.accumulate_ordering, "none");
}

TEST(WindowInfo, OrderingIsAListOfItsFourWords) {
  EXPECT_EQ(told("accumulate_ordering", "waw"), "waw");
  EXPECT_EQ(told("accumulate_ordering", "war,rar"), "war,rar");
  for (const char* no_value : {"rar,", ",rar", "rar;raw", "none,rar", "rar,none", "rarraw"}) {
    EXPECT_EQ(told("accumulate_ordering", no_value), "rar,raw,war,waw") << no_value;
  }
}

TEST(WindowInfo, OpsAreSameOrSameAndNone) {
  EXPECT_EQ(told("accumulate_ops", "same_op"), "same_op");
  EXPECT_EQ(told("accumulate_ops", "any_op"), "same_op_no_op");
}

TEST(WindowInfo, ScopeIsOneOfTwoWords) {
  EXPECT_EQ(told(ORIEL_WIN_SCOPE, "thread"), "thread");
  EXPECT_EQ(told(ORIEL_WIN_SCOPE, "group"), "process");
}

TEST(WindowInfo, AccessIsAwaitedAsTheKeySaysOrElseTheSetting) {
  for (const char* value : {"completion", "result", "opening"}) {
    EXPECT_EQ(told(ORIEL_AWAIT_ACCESS, value), value);
  }
  EXPECT_EQ(told(ORIEL_AWAIT_ACCESS, "lock"), "result");
  ASSERT_EQ(::setenv("ORIEL_AWAIT_ACCESS", "opening", 1), 0);
  EXPECT_EQ(told(ORIEL_AWAIT_ACCESS, "lock"), "opening");
  EXPECT_EQ(told(ORIEL_AWAIT_ACCESS, "completion"), "completion");
  ASSERT_EQ(::unsetenv("ORIEL_AWAIT_ACCESS"), 0);
}

TEST(WindowInfo, CountersAreANumber) {
  EXPECT_EQ(told(ORIEL_ASSERT_MAX_NUM_NOTIFY, "12"), "12");
  for (const char* no_value : {"-1", "12x", "x12", "99999999999999999999", "1.5"}) {
    EXPECT_EQ(told(ORIEL_ASSERT_MAX_NUM_NOTIFY, no_value), "0") << no_value;
  }
}

TEST(WindowInfo, HowManyCountersThereMayBe) {
  WindowInfo window;
  EXPECT_EQ(window.most_counters(), std::numeric_limits<int>::max());
  EXPECT_EQ(window.suggested_counters(), 65536);
  window.read(Info().set(ORIEL_ASSERT_MAX_NUM_NOTIFY, "7"));
  EXPECT_EQ(window.most_counters(), 7);
  EXPECT_EQ(window.suggested_counters(), 7);
  window.read(Info().set(ORIEL_ASSERT_MAX_NUM_NOTIFY, "100000"));
  EXPECT_EQ(window.most_counters(), 100000);
  EXPECT_EQ(window.suggested_counters(), 65536);
}

TEST(WindowInfo, AnAlignmentIsAPowerOfTwo) {
  for (const auto& [asked, given] :
       {std::pair("1", 64U), std::pair("64", 64U), std::pair("65", 64U), std::pair("-64", 64U),
        std::pair("banana", 64U), std::pair("4096", 4096U), std::pair("4294967296", 64U)}) {
    WindowInfo window;
    EXPECT_EQ(window.alignment(), 64U);
    window.read(Info().set("mpi_minimum_memory_alignment", asked));
    EXPECT_EQ(window.alignment(), given) << asked;
  }
}

TEST(WindowInfo, OpsThatTheProgramSaysItUses) {
  WindowInfo window;
  EXPECT_EQ(window.terms().ops, every_op);
  window.read(Info().set("which_accumulate_ops", "sum,cswap"));
  EXPECT_EQ(window.terms().ops, bit(Op::sum) | compare_swap_bit);
  window.read(Info().set("which_accumulate_ops", "max"));
  EXPECT_EQ(window.terms().ops, bit(Op::max));
}

TEST(WindowInfo, TheIntrinsicKeyHasTwoNamesAndTheStandardsIsTheLastWord) {
  WindowInfo window;
  window.read(Info().set("acc_single_intrinsic", "true"));
  EXPECT_TRUE(window.accumulate_intrinsic.load());
  window.read(
      Info().set("acc_single_intrinsic", "true").set("mpi_assert_accumulate_intrinsic", "false"));
  EXPECT_FALSE(window.accumulate_intrinsic.load());
}

TEST(WindowInfo, WhatTheRanksAgreeOnDoesNotChangeLater) {
  WindowInfo window;
  window.update(
      Info().set("mpi_minimum_memory_alignment", "4096").set(ORIEL_ASSERT_MAX_NUM_NOTIFY, "3"));
  EXPECT_EQ(window.alignment(), 64U);
  EXPECT_EQ(window.max_num_notify, "0");
}

TEST(WindowInfo, WhereSharedMemoryLiesIsReportedAsSetLast) {
  WindowInfo window;
  window.update(Info().set("alloc_shared_noncontig", "true"));
  EXPECT_TRUE(window.alloc_shared_noncontig);
  window.update(Info().set("alloc_shared_noncontig", "false"));
  EXPECT_FALSE(window.alloc_shared_noncontig);
}

// Q3: it may be set on a handle later, where it is the processors that would carry them out.
TEST(WindowInfo, IntrinsicAccumulatesAreAHandlesOwnUnlessTheNetworkDecides) {
  using Intrinsic = Intrinsic;
  const auto after = [](Intrinsic way, bool before, const char* value) {
    WindowInfo window;
    window.intrinsic = way;
    window.accumulate_intrinsic.store(before);
    window.update(Info().set("mpi_assert_accumulate_intrinsic", value));
    return window.accumulate_intrinsic.load();
  };
  EXPECT_TRUE(after(Intrinsic::as_asked, false, "true"));
  EXPECT_FALSE(after(Intrinsic::as_asked, true, "false"));
  EXPECT_FALSE(after(Intrinsic::never, false, "true"));
  EXPECT_TRUE(after(Intrinsic::always, true, "false"));
}

TEST(WindowInfo, AnAssertionHoldsOnlyByItsValue) {
  const char* key = ORIEL_ASSERT_SAME_NUM_NOTIFICATIONS;
  EXPECT_FALSE(asserts(MPI_INFO_NULL, key));
  EXPECT_FALSE(asserts(Info(), key));
  EXPECT_FALSE(asserts(Info().set(key, "false"), key));
  EXPECT_FALSE(asserts(Info().set(key, "perhaps"), key));
  EXPECT_TRUE(asserts(Info().set(key, "true"), key));
}

TEST(WindowInfo, EachReorderKeyHasItsOwnFlagAndTwoNames) {
  const auto flags = [](const char* key) {
    WindowInfo window;
    window.read(Info().set(key, "1"));
    const Reorder& on = window.reorder;
    return std::array{on.access_after_access, on.access_after_exposure, on.exposure_after_exposure,
                      on.exposure_after_access};
  };
  using Flags = std::array<bool, 4>;
  EXPECT_EQ(flags("MPI_WIN_ACCESS_AFTER_ACCESS_REORDER"), (Flags{true, false, false, false}));
  EXPECT_EQ(flags("MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER"), (Flags{false, true, false, false}));
  EXPECT_EQ(flags("MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER"), (Flags{false, false, true, false}));
  EXPECT_EQ(flags("MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER"), (Flags{false, false, false, true}));
  EXPECT_EQ(flags("A_A_A_R"), (Flags{true, false, false, false}));
  EXPECT_EQ(flags("A_A_E_R"), (Flags{false, true, false, false}));
  EXPECT_EQ(flags("E_A_E_R"), (Flags{false, false, true, false}));
  EXPECT_EQ(flags("E_A_A_R"), (Flags{false, false, false, true}));
}

}  // namespace
}  // namespace oriel::mpi
