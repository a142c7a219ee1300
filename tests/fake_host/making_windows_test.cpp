// SPDX-License-Identifier: BSD-3-Clause
// Making a window: how many collectives of the host it takes, and that a rank that cannot take
// part, this one or another one, fails on all.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/error.hpp"
#include "engine/windows/announcement.hpp"
#include "mpi/progress/mpi_host.hpp"
#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

using test::collective_counts;
using test::CollectiveCounts;
using test::make_communicator;

/// The calls of the host's collectives since the construction.
class Counted {
 public:
  CollectiveCounts since() const {
    CollectiveCounts now = collective_counts();
    now.allgather -= before_.allgather;
    now.allreduce -= before_.allreduce;
    now.barrier -= before_.barrier;
    now.bcast -= before_.bcast;
    now.comm_create -= before_.comm_create;
    return now;
  }

 private:
  CollectiveCounts before_ = collective_counts();
};

class MakingWindows : public testing::Test {
 protected:
  MakingWindows() { test::clear_errors(); }
  ~MakingWindows() override { EXPECT_EQ(test::live_groups(), groups_); }

  int create(MPI_Comm comm, MPI_Aint size = 8, int disp_unit = 1) {
    return MPI_Win_create(memory_.data(), size, disp_unit, MPI_INFO_NULL, comm, &win_);
  }

  int groups_ = test::live_groups();
  alignas(8) std::array<char, 8> memory_{};
  MPI_Win win_ = MPI_WIN_NULL;
};

TEST_F(MakingWindows, TheFirstOfACommunicatorAgrees) {
  const MPI_Comm comm = make_communicator(1);
  const Counted counted;
  ASSERT_EQ(create(comm), MPI_SUCCESS);
  EXPECT_EQ(counted.since(), (CollectiveCounts{.allgather = 2, .allreduce = 1}));
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
}

TEST_F(MakingWindows, LaterOnesAnnounceAndNothingElse) {
  MPI_Comm comm = make_communicator(1);
  ASSERT_EQ(create(comm), MPI_SUCCESS);
  MPI_Win first = win_;
  const Counted counted;
  ASSERT_EQ(create(comm), MPI_SUCCESS);
  EXPECT_EQ(counted.since(), (CollectiveCounts{.allgather = 1}));
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
  // Those of a duplicate, too.
  MPI_Comm duplicate = MPI_COMM_NULL;
  PMPI_Comm_dup(comm, &duplicate);
  const Counted again;
  ASSERT_EQ(create(duplicate), MPI_SUCCESS);
  EXPECT_EQ(again.since(), (CollectiveCounts{.allgather = 1}));
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_free(&first), MPI_SUCCESS);
}

TEST_F(MakingWindows, TheRollIsCalledOnceOnACommunicatorOfSeveral) {
  MPI_Comm comm = make_communicator(2);
  const Counted counted;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(MpiComm(comm).take_roll_call("MPI_Win_create"), MPI_SUCCESS);
  MPI_Comm duplicate = MPI_COMM_NULL;
  PMPI_Comm_dup(comm, &duplicate);
  EXPECT_EQ(MpiComm(duplicate).take_roll_call("MPI_Win_create"), MPI_SUCCESS);
  EXPECT_EQ(MpiComm(make_communicator(1)).take_roll_call("MPI_Win_create"), MPI_SUCCESS);
  EXPECT_EQ(counted.since(), (CollectiveCounts{.comm_create = 1}));
}

TEST_F(MakingWindows, SharedMemoryInOnePieceTakesASumBefore) {
  const MPI_Comm comm = make_communicator(1);
  void* base = nullptr;
  const Counted counted;
  ASSERT_EQ(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, comm, static_cast<void*>(&base), &win_),
            MPI_SUCCESS);
  EXPECT_EQ(counted.since(), (CollectiveCounts{.allgather = 2, .allreduce = 2}));
  ASSERT_NE(base, nullptr);
  std::memset(base, 1, 64);
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
}

TEST_F(MakingWindows, ARankThatCannotTakesAllSteps) {
  const MPI_Comm comm = make_communicator(1);
  const Counted counted;
  EXPECT_EQ(test::class_of(create(comm, -1)), MPI_ERR_SIZE);
  // The reason's rank, and its words.
  EXPECT_EQ(counted.since(), (CollectiveCounts{.allgather = 2, .allreduce = 2, .bcast = 1}));
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].text, "MPI_Win_create: the size is negative.");
  EXPECT_EQ(win_, MPI_WIN_NULL);
  EXPECT_EQ(test::class_of(create(comm, 8, 0)), MPI_ERR_DISP);
  EXPECT_EQ(test::raised_errors().back().text,
            "MPI_Win_create: the displacement unit is not positive.");
  // The first reason counts.
  EXPECT_EQ(test::class_of(create(comm, -1, 0)), MPI_ERR_SIZE);
}

TEST_F(MakingWindows, AfterAFailureTheRanksDoNotKnowEachOther) {
  const MPI_Comm comm = make_communicator(1);
  EXPECT_NE(create(comm, -1), MPI_SUCCESS);
  const Counted counted;
  ASSERT_EQ(create(comm), MPI_SUCCESS);
  EXPECT_EQ(counted.since(), (CollectiveCounts{.allgather = 2, .allreduce = 1}));
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
}

TEST_F(MakingWindows, AFailureOfOneThatKnowsItsPeersIsAgreedOn) {
  const MPI_Comm comm = make_communicator(1);
  ASSERT_EQ(create(comm), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
  const Counted counted;
  EXPECT_EQ(test::class_of(create(comm, -1)), MPI_ERR_SIZE);
  EXPECT_EQ(counted.since(), (CollectiveCounts{.allgather = 2, .allreduce = 2, .bcast = 1}));
}

TEST_F(MakingWindows, SoIsAFailureAfterItHasSaidSo) {
  const MPI_Comm comm = make_communicator(1);
  ASSERT_EQ(create(comm), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
  void* base = nullptr;
  const Counted counted;
  const int code =
      MPI_Win_allocate(MPI_Aint{1} << 62, 1, MPI_INFO_NULL, comm, static_cast<void*>(&base), &win_);
  EXPECT_EQ(test::class_of(code), MPI_ERR_NO_MEM);
  EXPECT_EQ(counted.since(), (CollectiveCounts{.allgather = 2, .allreduce = 2, .bcast = 1}));
  EXPECT_EQ(base, nullptr);
}

TEST_F(MakingWindows, AWindowKnowsItsMemory) {
  const MPI_Comm comm = make_communicator(1);
  void* base = nullptr;
  ASSERT_EQ(MPI_Win_allocate(96, 4, MPI_INFO_NULL, comm, static_cast<void*>(&base), &win_),
            MPI_SUCCESS);
  const auto attribute = [&](int key) {
    void* value = nullptr;
    int found = 0;
    EXPECT_EQ(MPI_Win_get_attr(win_, key, static_cast<void*>(&value), &found), MPI_SUCCESS);
    EXPECT_EQ(found, 1);
    return value;
  };
  EXPECT_EQ(attribute(MPI_WIN_BASE), base);
  EXPECT_EQ(*static_cast<MPI_Aint*>(attribute(MPI_WIN_SIZE)), 96);
  EXPECT_EQ(*static_cast<int*>(attribute(MPI_WIN_DISP_UNIT)), 4);
  EXPECT_EQ(*static_cast<int*>(attribute(MPI_WIN_CREATE_FLAVOR)), MPI_WIN_FLAVOR_ALLOCATE);
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
}

TEST_F(MakingWindows, AWindowKeepsWhatItsInfoPromises) {
  MPI_Info info = MPI_INFO_NULL;
  PMPI_Info_create(&info);
  PMPI_Info_set(info, "no_locks", "true");
  ASSERT_EQ(MPI_Win_create(memory_.data(), 8, 1, info, make_communicator(1), &win_), MPI_SUCCESS);
  PMPI_Info_free(&info);
  EXPECT_EQ(test::class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win_)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(MPI_Win_free(&win_), MPI_SUCCESS);
}

TEST_F(MakingWindows, AnotherRanksFailureIsEverybodys) {
  int reductions = 0;
  int gathered = 0;
  const MPI_Comm comm =
      make_communicator(2, [&](const char* collective, void* result, std::size_t bytes) {
        const std::string name = collective;
        if (name == "Allgather" && gathered++ == 0) {
          ASSERT_EQ(bytes, 2 * sizeof(Announcement));
          Announcement& peer = static_cast<Announcement*>(result)[1];
          peer.failed = 1;
          std::strcpy(peer.node.name.data(), "elsewhere");
        } else if (name == "Allreduce" && reductions++ == 0) {
          ASSERT_EQ(*static_cast<std::uint64_t*>(result), 0U);
          *static_cast<std::uint64_t*>(result) = static_cast<std::uint64_t>(Error::memory);
        } else if (name == "Allreduce") {
          // It speaks for all: this rank has named none.
          EXPECT_EQ(*static_cast<std::uint64_t*>(result), 2U);
          *static_cast<std::uint64_t*>(result) = 1;
        } else if (name == "Bcast") {
          std::strcpy(static_cast<char*>(result), "there is no memory left");
        }
      });
  const Counted counted;
  EXPECT_EQ(test::class_of(create(comm)), MPI_ERR_NO_MEM);
  EXPECT_EQ(counted.since(),
            (CollectiveCounts{.allgather = 2, .allreduce = 2, .bcast = 1, .comm_create = 1}));
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].text,
            "MPI_Win_create: rank 1 (elsewhere) could not take part: there is no memory left.");
  EXPECT_EQ(win_, MPI_WIN_NULL);
}

TEST_F(MakingWindows, SizesTogetherBeyondAnAddressAreRefused) {
  int reductions = 0;
  const MPI_Comm comm =
      make_communicator(1, [&](const char* collective, void* result, std::size_t) {
        // The halves of the sum, as of two ranks.
        if (std::string(collective) != "Allreduce" || reductions++ != 0) return;
        static_cast<std::uint64_t*>(result)[0] *= 2;
        static_cast<std::uint64_t*>(result)[1] *= 2;
      });
  void* base = nullptr;
  const int code = MPI_Win_allocate_shared(MPI_Aint{1} << 62, 1, MPI_INFO_NULL, comm,
                                           static_cast<void*>(&base), &win_);
  EXPECT_EQ(test::class_of(code), MPI_ERR_SIZE);
  EXPECT_EQ(test::raised_errors().back().text,
            "MPI_Win_allocate_shared: the sizes of all ranks together are more than an address "
            "can say.");
  EXPECT_EQ(base, nullptr);
}

TEST_F(MakingWindows, TheCommunicatorMustNotBeNull) {
  const Counted counted;
  EXPECT_EQ(test::class_of(create(MPI_COMM_NULL)), MPI_ERR_COMM);
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].text, "MPI_Win_create: the communicator is MPI_COMM_NULL.");
  EXPECT_EQ(counted.since(), CollectiveCounts());
}

}  // namespace
}  // namespace oriel::mpi
