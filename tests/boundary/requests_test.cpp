// SPDX-License-Identifier: BSD-3-Clause
// Requests that only sweeps complete: what the host is told of them, and when.
#include "boundary/requests/requests.hpp"

#include <gtest/gtest.h>

#include <array>

#include "boundary/host/errors.hpp"
#include "boundary/runtime/window_handle.hpp"
#include "support/fake_host.hpp"

namespace oriel::boundary {
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
  PendingRequest& request = requests.acquire(window_);
  EXPECT_FALSE(requests.live());
  ASSERT_EQ(requests.hand_out(request, &handle_), MPI_SUCCESS);
  EXPECT_TRUE(requests.live());
  int flag = 0;
  PMPI_Request_get_status(handle_, &flag, MPI_STATUS_IGNORE);
  EXPECT_EQ(flag, 0);
  EXPECT_FALSE(requests.tell_host());
  request.complete(Error::none);
  EXPECT_TRUE(requests.untold());
  EXPECT_TRUE(requests.live());
  EXPECT_TRUE(requests.tell_host());
  EXPECT_FALSE(requests.untold());
  EXPECT_FALSE(requests.live());
  EXPECT_TRUE(done());
  EXPECT_EQ(code_, MPI_SUCCESS);
  EXPECT_EQ(handle_, MPI_REQUEST_NULL);
}

TEST_F(PendingRequests, OneThatIsCompleteBeforeItIsHandedOutIsTold) {
  PendingRequest& request = requests.acquire(window_);
  request.complete(Error::none);
  EXPECT_FALSE(requests.untold());  // there is no handle yet
  ASSERT_EQ(requests.hand_out(request, &handle_), MPI_SUCCESS);
  EXPECT_TRUE(requests.tell_host());
  EXPECT_TRUE(done());
}

TEST_F(PendingRequests, AFailureIsTheWaits) {
  PendingRequest& request = requests.acquire(window_);
  ASSERT_EQ(requests.hand_out(request, &handle_), MPI_SUCCESS);
  request.complete(Error::range);
  requests.tell_host();
  EXPECT_TRUE(done());
  EXPECT_EQ(test::class_of(code_), MPI_ERR_RMA_RANGE);
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(code_, text.data(), &length);
  EXPECT_STREQ(text.data(), "An operation that this request covers failed.");
}

TEST_F(PendingRequests, AnObjectIsUsedAgainWhenBothSidesHaveLetGo) {
  PendingRequest& first = requests.acquire(window_);
  ASSERT_EQ(requests.hand_out(first, &handle_), MPI_SUCCESS);
  first.complete(Error::none);
  requests.tell_host();
  PendingRequest& second = requests.acquire(window_);
  EXPECT_NE(&second, &first);  // the program has not waited
  requests.withdraw(second);
  EXPECT_TRUE(done());
  PendingRequest& third = requests.acquire(window_);
  EXPECT_EQ(&third, &first);
  requests.withdraw(third);
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
}  // namespace oriel::boundary
