// SPDX-License-Identifier: BSD-3-Clause
// Requests that only sweeps complete: what the host is told of them, and when.
#include "mpi/host/errors.hpp"
#include "mpi/requests/own_requests.hpp"

#include <gtest/gtest.h>

#include <array>

#include "mpi/runtime/window_handle.hpp"
#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

class PendingRequests : public testing::Test {
 protected:
  bool done() {
    int flag = 0;
    code_ = MPI_Test(&handle_, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }

  WindowHandle window_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
  int code_ = -1;
};

TEST_F(PendingRequests, TheHostIsToldAfterTheCore) {
  PendingRequest& request = own_requests.pending.acquire(window_);
  EXPECT_FALSE(own_requests.pending.live());
  ASSERT_EQ(own_requests.pending.hand_out(request, &handle_), MPI_SUCCESS);
  EXPECT_TRUE(own_requests.pending.live());
  int flag = 0;
  PMPI_Request_get_status(handle_, &flag, MPI_STATUS_IGNORE);
  EXPECT_EQ(flag, 0);
  EXPECT_FALSE(own_requests.pending.complete_at_host());
  request.complete(Error::none);
  EXPECT_TRUE(own_requests.pending.any_to_complete());
  EXPECT_TRUE(own_requests.pending.live());
  EXPECT_TRUE(own_requests.pending.complete_at_host());
  EXPECT_FALSE(own_requests.pending.any_to_complete());
  EXPECT_FALSE(own_requests.pending.live());
  EXPECT_TRUE(done());
  EXPECT_EQ(code_, MPI_SUCCESS);
  EXPECT_EQ(handle_, MPI_REQUEST_NULL);
}

TEST_F(PendingRequests, OneThatIsCompleteBeforeItIsHandedOutIsTold) {
  PendingRequest& request = own_requests.pending.acquire(window_);
  request.complete(Error::none);
  EXPECT_FALSE(own_requests.pending.any_to_complete());  // there is no handle yet
  ASSERT_EQ(own_requests.pending.hand_out(request, &handle_), MPI_SUCCESS);
  EXPECT_TRUE(own_requests.pending.complete_at_host());
  EXPECT_TRUE(done());
}

TEST_F(PendingRequests, AFailureIsTheWaits) {
  PendingRequest& request = own_requests.pending.acquire(window_);
  ASSERT_EQ(own_requests.pending.hand_out(request, &handle_), MPI_SUCCESS);
  request.complete(Error::range);
  own_requests.pending.complete_at_host();
  EXPECT_TRUE(done());
  EXPECT_EQ(test::class_of(code_), MPI_ERR_RMA_RANGE);
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(code_, text.data(), &length);
  EXPECT_STREQ(text.data(), "An operation that this request covers failed.");
}

TEST_F(PendingRequests, AnObjectIsUsedAgainWhenBothSidesHaveLetGo) {
  PendingRequest& first = own_requests.pending.acquire(window_);
  ASSERT_EQ(own_requests.pending.hand_out(first, &handle_), MPI_SUCCESS);
  first.complete(Error::none);
  own_requests.pending.complete_at_host();
  PendingRequest& second = own_requests.pending.acquire(window_);
  EXPECT_NE(&second, &first);  // the program has not waited
  own_requests.pending.withdraw(second);
  EXPECT_TRUE(done());
  PendingRequest& third = own_requests.pending.acquire(window_);
  EXPECT_EQ(&third, &first);
  own_requests.pending.withdraw(third);
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
