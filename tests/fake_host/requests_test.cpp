// SPDX-License-Identifier: BSD-3-Clause
// Requests that only sweeps complete, and who has them when.
#include "mpi/host/errors.hpp"
#include "mpi/requests/own_requests.hpp"

#include <gtest/gtest.h>

#include <array>

#include "mpi/progress/request_array.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_handle.hpp"
#include "support/allocations.hpp"
#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

class PendingRequests : public testing::Test {
 protected:
  PendingRequests() { runtime.self.start(); }
  ~PendingRequests() override { EXPECT_FALSE(own_requests.any()); }

  /// A request that the program has and the core completes later.
  PendingRequest& pending() {
    PendingRequest* const made = own_requests.acquire(window_);
    own_requests.hand_out(*made, &handle_);
    return *made;
  }
  bool done() {
    int flag = 0;
    code_ = MPI_Test(&handle_, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }

  WindowHandle window_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
  int code_ = -1;
};

TEST_F(PendingRequests, IsCompleteWhenTheCoreSaysSo) {
  PendingRequest& request = pending();
  EXPECT_TRUE(own_requests.any());
  EXPECT_FALSE(done());
  request.complete(Error::none);
  EXPECT_TRUE(done());
  EXPECT_EQ(code_, MPI_SUCCESS);
  EXPECT_EQ(handle_, MPI_REQUEST_NULL);
}

TEST_F(PendingRequests, OneThatIsCompleteBeforeItIsHandedOutIsComplete) {
  PendingRequest* const made = own_requests.acquire(window_);
  made->complete(Error::none);
  own_requests.hand_out(*made, &handle_);
  EXPECT_TRUE(done());
}

TEST_F(PendingRequests, AFailureIsTheWaits) {
  test::clear_errors();
  pending().complete(Error::range);
  EXPECT_TRUE(done());
  EXPECT_EQ(test::class_of(code_), MPI_ERR_RMA_RANGE);
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].text,
            "A wait for a request: an operation that this request covers failed.");
}

TEST_F(PendingRequests, AnObjectAndItsHandleAreUsedAgainWhenBothSidesHaveLetGo) {
  PendingRequest& first = pending();
  const MPI_Request handle = handle_;
  first.complete(Error::none);
  PendingRequest* const second = own_requests.acquire(window_);
  EXPECT_NE(second, &first);  // the program has not waited
  own_requests.give_back(*second);
  EXPECT_TRUE(done());
  EXPECT_EQ(&pending(), &first);
  EXPECT_EQ(handle_, handle);
  first.complete(Error::none);
  EXPECT_TRUE(done());
}

TEST_F(PendingRequests, OneThatTheProgramFreesIsKeptUntilTheCoreHasCompletedIt) {
  PendingRequest& first = pending();
  EXPECT_EQ(MPI_Request_free(&handle_), MPI_SUCCESS);
  EXPECT_EQ(handle_, MPI_REQUEST_NULL);
  PendingRequest* const second = own_requests.acquire(window_);
  EXPECT_NE(second, &first);
  own_requests.give_back(*second);
  first.complete(Error::none);
  PendingRequest* const third = own_requests.acquire(window_);
  EXPECT_EQ(third, &first);
  own_requests.give_back(*third);
}

TEST_F(PendingRequests, TakeNoMemoryOnceAsManyHaveBeenPending) {
  std::array<MPI_Request, 3> handles{};
  const auto use = [&] {
    std::array<PendingRequest*, 2> requests{};
    for (std::size_t i = 0; i < 2; ++i) {
      requests[i] = &pending();
      handles[i] = handle_;
    }
    own_requests.give_complete(&handles[2]);
    RequestArray array(3, handles.data());
    int flag = 0;
    array.test_rest(&flag, MPI_STATUSES_IGNORE);
    EXPECT_EQ(flag, 0);
    for (PendingRequest* request : requests) request->complete(Error::none);
    array.test_rest(&flag, MPI_STATUSES_IGNORE);
    EXPECT_EQ(flag, 1);
  };
  use();
  const std::size_t before = test::allocations();
  use();
  EXPECT_EQ(test::allocations(), before);
}

TEST_F(PendingRequests, OneOfAFreedWindowCanBeWaitedFor) {
  PendingRequest& request = pending();
  request.complete(Error::none);
  own_requests.cut_off(window_);
  EXPECT_EQ(request.waits_on(), nullptr);
  EXPECT_TRUE(done());
  EXPECT_EQ(code_, MPI_SUCCESS);
}

TEST(ErrorCodes, TheSameSentenceHasTheSameCode) {
  const int code = error_code(MPI_ERR_RANK, "There is no such rank.");
  EXPECT_NE(code, MPI_ERR_RANK);
  EXPECT_EQ(test::class_of(code), MPI_ERR_RANK);
  EXPECT_EQ(error_code(MPI_ERR_RANK, "There is no such rank."), code);
  EXPECT_NE(error_code(MPI_ERR_ARG, "There is no such rank."), code);
  EXPECT_NE(error_code(MPI_ERR_RANK, "There is no such target."), code);
}

}  // namespace
}  // namespace oriel::mpi
