// SPDX-License-Identifier: BSD-3-Clause
// Arrays in which requests of ours stand among the host's: each side is told of its own, and the
// program gets what MPI promises of the whole.
#include "mpi/progress/request_array.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>

#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

using test::complete_request;
using test::has_request;
using test::make_request;

/// A request of ours that ends when the test says so.
class TestRequest final : public OwnRequest {
 public:
  TestRequest(Serves serves, int tag) : OwnRequest(serves), tag_(tag) {}

  void end(Failure outcome = {}) {
    done_ = true;
    outcome_ = outcome;
  }
  const Window* waits_on() const override { return nullptr; }
  ErrorTaker error_taker() const override {
    return {.communicator = MPI_COMM_WORLD, .wait = "A wait of the test"};
  }

 private:
  Failure begin() override {
    done_ = false;
    return {};
  }
  void abandon() override {}
  bool done() const override { return done_; }
  Failure outcome() const override { return outcome_; }
  void describe_end(MPI_Status* status) const override { status->MPI_TAG = tag_; }
  int lost(LostSources&) const override { return -1; }
  Failure lost_failure(int) const override { return {}; }

  int tag_;
  bool done_ = false;
  Failure outcome_;
};

constexpr int untouched = -77;

class RequestArrays : public testing::Test {
 protected:
  RequestArrays() {
    runtime.self.start();
    for (MPI_Status& status : statuses_) {
      status.MPI_TAG = untouched;
      status.MPI_ERROR = untouched;
    }
    test::clear_errors();
  }
  ~RequestArrays() override {
    for (auto& [handle, request] : own_) {
      if (own_requests.find(handle) == request) own_requests.remove(*request);
    }
  }

  /// One of ours in this place of the array, started.
  TestRequest& own(int place, int tag, OwnRequest::Serves serves = OwnRequest::Serves::again) {
    auto made = std::make_unique<TestRequest>(serves, tag);
    TestRequest& request = *made;
    own_requests.add(std::move(made), &array_[static_cast<std::size_t>(place)]);
    own_.emplace_back(array_[static_cast<std::size_t>(place)], &request);
    if (serves == OwnRequest::Serves::again) request.start();
    return request;
  }
  MPI_Request hosts(int place, bool persistent = false) {
    return array_[static_cast<std::size_t>(place)] = make_request(persistent);
  }
  int test_all(int count) {
    return RequestArray(count, array_.data()).test_all(&flag_, statuses_.data());
  }
  int test_any(int count) {
    return RequestArray(count, array_.data()).test_any(&index_, &flag_, statuses_.data());
  }
  int test_some(int count) {
    return RequestArray(count, array_.data()).test_some(&done_, indices_.data(), statuses_.data());
  }

  std::array<MPI_Request, 4> array_{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                    MPI_REQUEST_NULL};
  std::array<MPI_Status, 4> statuses_{};
  std::array<int, 4> indices_{untouched, untouched, untouched, untouched};
  int flag_ = untouched;
  int index_ = untouched;
  int done_ = untouched;
  std::vector<std::pair<MPI_Request, TestRequest*>> own_;
};

TEST_F(RequestArrays, OursAreFoundAmongTheHosts) {
  hosts(0);
  EXPECT_FALSE(own_requests.any_of(2, array_.data()));
  own(1, 5);
  EXPECT_TRUE(own_requests.any_of(2, array_.data()));
  EXPECT_FALSE(own_requests.any_of(1, array_.data()));
  EXPECT_FALSE(own_requests.any_of(0, array_.data()));
}

TEST_F(RequestArrays, OneOfOursEndsAndCanBeStartedAgain) {
  TestRequest& request = own(0, 5);
  const MPI_Request handle = array_[0];
  EXPECT_EQ(test(array_.data(), &flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  EXPECT_EQ(statuses_[0].MPI_TAG, untouched);
  request.end();
  EXPECT_EQ(test(array_.data(), &flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(statuses_[0].MPI_TAG, 5);
  EXPECT_EQ(array_[0], handle);
  EXPECT_FALSE(request.active());
  // Inactive: complete with an empty status.
  EXPECT_EQ(test(array_.data(), &flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(statuses_[0].MPI_TAG, MPI_ANY_TAG);
  EXPECT_FALSE(request.start());
  EXPECT_EQ(request.start().error_class, MPI_ERR_REQUEST);
}

TEST_F(RequestArrays, OneThatServesOnceIsGoneWhenItEnds) {
  own(0, 5, OwnRequest::Serves::once).end();
  const MPI_Request handle = array_[0];
  EXPECT_EQ(test(array_.data(), &flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(array_[0], MPI_REQUEST_NULL);
  EXPECT_EQ(own_requests.find(handle), nullptr);
  // Its handle is kept for the next one.
  EXPECT_TRUE(has_request(handle));
  own(1, 6);
  EXPECT_EQ(array_[1], handle);
}

TEST_F(RequestArrays, ALookLeavesAllAsItIs) {
  TestRequest& request = own(0, 5);
  request.end();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(get_status(array_[0], &flag_, statuses_.data()), MPI_SUCCESS);
    EXPECT_EQ(flag_, 1);
    EXPECT_EQ(statuses_[0].MPI_TAG, 5);
    EXPECT_TRUE(request.active());
  }
}

TEST_F(RequestArrays, AllAreCompleteOrNoneIsTouched) {
  TestRequest& ours = own(1, 5);
  const MPI_Request theirs = hosts(0);
  ours.end();
  EXPECT_EQ(test_all(2), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  EXPECT_TRUE(ours.active());
  complete_request(theirs, 9);
  EXPECT_EQ(test_all(2), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_FALSE(ours.active());
  EXPECT_EQ(array_[0], MPI_REQUEST_NULL);
  EXPECT_NE(array_[1], MPI_REQUEST_NULL);
  EXPECT_EQ(statuses_[0].MPI_TAG, 9);
  EXPECT_EQ(statuses_[1].MPI_TAG, 5);
}

TEST_F(RequestArrays, TheHostsWaitForOurs) {
  own(0, 5);
  const MPI_Request theirs = hosts(1);
  complete_request(theirs, 9);
  EXPECT_EQ(test_all(2), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  EXPECT_EQ(array_[1], theirs);
  EXPECT_TRUE(has_request(theirs));
}

TEST_F(RequestArrays, AFailureOfOursIsInItsStatusAndTheOthersHaveSucceeded) {
  complete_request(hosts(0), 9);
  own(1, 5).end({MPI_ERR_OTHER, "it went wrong"});
  own(2, 6).end();
  EXPECT_EQ(test_all(3), MPI_ERR_IN_STATUS);
  EXPECT_EQ(statuses_[0].MPI_ERROR, MPI_SUCCESS);
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(statuses_[1].MPI_ERROR, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_OTHER);
  EXPECT_EQ(statuses_[2].MPI_ERROR, MPI_SUCCESS);
  ASSERT_EQ(test::raised_errors().size(), 1U);
  EXPECT_EQ(test::raised_errors()[0].text, "A wait of the test: it went wrong.");
}

TEST_F(RequestArrays, AFailureOfTheHostsStaysBesideOurs) {
  complete_request(hosts(0), 9, MPI_ERR_TRUNCATE);
  own(1, 5).end();
  EXPECT_EQ(test_all(2), MPI_ERR_IN_STATUS);
  EXPECT_EQ(statuses_[0].MPI_ERROR, MPI_ERR_TRUNCATE);
  EXPECT_EQ(statuses_[1].MPI_TAG, 5);
}

TEST_F(RequestArrays, WithoutStatusesAFailureIsTheReturnCode) {
  own(0, 5).end({MPI_ERR_OTHER, "it went wrong"});
  EXPECT_EQ(RequestArray(1, array_.data()).test_all(&flag_, MPI_STATUSES_IGNORE),
            MPI_ERR_IN_STATUS);
  EXPECT_EQ(flag_, 1);
}

TEST_F(RequestArrays, AnyTakesOneThatIsComplete) {
  own(0, 5);
  TestRequest& second = own(2, 6);
  const MPI_Request theirs = hosts(1);
  EXPECT_EQ(test_any(3), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  second.end();
  EXPECT_EQ(test_any(3), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(index_, 2);
  EXPECT_EQ(statuses_[0].MPI_TAG, 6);
  complete_request(theirs, 9);
  EXPECT_EQ(test_any(3), MPI_SUCCESS);
  EXPECT_EQ(index_, 1);
  EXPECT_EQ(array_[1], MPI_REQUEST_NULL);
}

TEST_F(RequestArrays, AnyOfNothingActiveIsUndefined) {
  TestRequest& ours = own(0, 5);
  // The host has nothing active, but we have.
  EXPECT_EQ(test_any(2), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  ours.end();
  test(array_.data(), &flag_, MPI_STATUS_IGNORE);
  EXPECT_EQ(test_any(2), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(index_, MPI_UNDEFINED);
}

TEST_F(RequestArrays, SomeTellsOfBothSides) {
  own(0, 5).end();
  complete_request(hosts(1), 9);
  own(2, 6);
  EXPECT_EQ(test_some(3), MPI_SUCCESS);
  ASSERT_EQ(done_, 2);
  // The host's come first.
  EXPECT_EQ(indices_[0], 1);
  EXPECT_EQ(statuses_[0].MPI_TAG, 9);
  EXPECT_EQ(indices_[1], 0);
  EXPECT_EQ(statuses_[1].MPI_TAG, 5);
  EXPECT_EQ(array_[1], MPI_REQUEST_NULL);
}

TEST_F(RequestArrays, SomeOfNothingIsUndefinedAndOfNothingCompleteIsNone) {
  TestRequest& ours = own(0, 5);
  EXPECT_EQ(test_some(2), MPI_SUCCESS);
  EXPECT_EQ(done_, 0);
  ours.end();
  test(array_.data(), &flag_, MPI_STATUS_IGNORE);
  EXPECT_EQ(test_some(2), MPI_SUCCESS);
  EXPECT_EQ(done_, MPI_UNDEFINED);
}

TEST_F(RequestArrays, SomeHasACodeForEachIfOneHasFailed) {
  complete_request(hosts(0), 9);
  own(1, 5).end({MPI_ERR_OTHER, "it went wrong"});
  own(2, 6).end();
  EXPECT_EQ(test_some(3), MPI_ERR_IN_STATUS);
  ASSERT_EQ(done_, 3);
  EXPECT_EQ(statuses_[0].MPI_ERROR, MPI_SUCCESS);
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(statuses_[1].MPI_ERROR, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_OTHER);
  EXPECT_EQ(statuses_[2].MPI_ERROR, MPI_SUCCESS);
}

TEST_F(RequestArrays, SomeTellsOfOursBesideAFailureOfTheHosts) {
  complete_request(hosts(0), 9, MPI_ERR_TRUNCATE);
  own(1, 5).end();
  EXPECT_EQ(test_some(2), MPI_ERR_IN_STATUS);
  ASSERT_EQ(done_, 2);
  EXPECT_EQ(statuses_[0].MPI_ERROR, MPI_ERR_TRUNCATE);
  EXPECT_EQ(statuses_[1].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(statuses_[1].MPI_TAG, 5);
}

TEST_F(RequestArrays, ThoseThatWereCompleteFromTheStartHaveOneHandle) {
  ASSERT_EQ(own_requests.give_complete(&array_[0]), MPI_SUCCESS);
  ASSERT_EQ(own_requests.give_complete(&array_[2]), MPI_SUCCESS);
  EXPECT_EQ(array_[0], array_[2]);
  const MPI_Request theirs = hosts(1);
  EXPECT_NE(array_[0], theirs);
  EXPECT_EQ(test_all(3), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  EXPECT_NE(array_[0], MPI_REQUEST_NULL);
  complete_request(theirs, 9);
  EXPECT_EQ(test_all(3), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(array_[static_cast<std::size_t>(i)], MPI_REQUEST_NULL);
  EXPECT_EQ(statuses_[0].MPI_TAG, MPI_ANY_TAG);
  EXPECT_EQ(statuses_[1].MPI_TAG, 9);
}

TEST_F(RequestArrays, OneThatWasCompleteFromTheStartIsFoundByAnyAndSome) {
  hosts(0);
  own(1, 5);
  own_requests.give_complete(&array_[2]);
  EXPECT_EQ(test_any(3), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(index_, 2);
  EXPECT_EQ(array_[2], MPI_REQUEST_NULL);
  own_requests.give_complete(&array_[2]);
  EXPECT_EQ(test_some(3), MPI_SUCCESS);
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(indices_[0], 2);
  EXPECT_EQ(array_[2], MPI_REQUEST_NULL);
}

TEST_F(RequestArrays, AWaitForAllEndsTheHostsAsTheyComplete) {
  std::array<MPI_Request, 130> many{};
  std::array<MPI_Status, 130> statuses{};
  for (MPI_Request& request : many) request = make_request();
  own_requests.give_complete(&many[70]);
  RequestArray array(130, many.data());
  for (int i = 0; i < 64; ++i) complete_request(many[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(array.test_rest(&flag_, statuses.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  EXPECT_EQ(many[0], MPI_REQUEST_NULL);
  EXPECT_EQ(many[63], MPI_REQUEST_NULL);
  EXPECT_NE(many[64], MPI_REQUEST_NULL);
  for (int i = 64; i < 130; ++i) {
    const MPI_Request request = many[static_cast<std::size_t>(i)];
    if (i != 70) complete_request(request, i, i == 100 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  }
  statuses[2].MPI_ERROR = untouched;
  EXPECT_EQ(array.test_rest(&flag_, statuses.data()), MPI_ERR_IN_STATUS);
  EXPECT_EQ(flag_, 1);
  for (std::size_t i = 0; i < 130; ++i) {
    EXPECT_EQ(many[i], MPI_REQUEST_NULL) << i;
    EXPECT_EQ(statuses[i].MPI_ERROR, i == 100 ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << i;
    EXPECT_EQ(statuses[i].MPI_TAG, i == 70 ? MPI_ANY_TAG : static_cast<int>(i)) << i;
  }
}

TEST_F(RequestArrays, AWaitForAllOfOursDoesNotCallTheHost) {
  TestRequest& first = own(0, 5);
  TestRequest& second = own(1, 6);
  RequestArray array(2, array_.data());
  EXPECT_EQ(array.test_rest(&flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  second.end();
  EXPECT_EQ(array.test_rest(&flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 0);
  EXPECT_TRUE(second.active());
  first.end({MPI_ERR_OTHER, "it went wrong"});
  EXPECT_EQ(array.test_rest(&flag_, statuses_.data()), MPI_ERR_IN_STATUS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(test::class_of(statuses_[0].MPI_ERROR), MPI_ERR_OTHER);
  EXPECT_EQ(statuses_[1].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(statuses_[1].MPI_TAG, 6);
}

TEST_F(RequestArrays, ACompleteRequestIsNotStartedCancelledOrFreedAtTheHost) {
  own_requests.give_complete(&array_[0]);
  const MPI_Request handle = array_[0];
  EXPECT_EQ(test::class_of(MPI_Start(&array_[0])), MPI_ERR_REQUEST);
  EXPECT_EQ(MPI_Cancel(&array_[0]), MPI_SUCCESS);
  EXPECT_EQ(MPI_Request_free(&array_[0]), MPI_SUCCESS);
  EXPECT_EQ(array_[0], MPI_REQUEST_NULL);
  EXPECT_TRUE(has_request(handle));
  own_requests.give_complete(&array_[1]);
  EXPECT_EQ(MPI_Wait(&array_[1], statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(array_[1], MPI_REQUEST_NULL);
  EXPECT_EQ(statuses_[0].MPI_TAG, MPI_ANY_TAG);
  EXPECT_TRUE(has_request(handle));
}

#if ORIEL_HOST_STATUS_OF_MANY

TEST_F(RequestArrays, LooksAtManyEndNothing) {
  TestRequest& ours = own(0, 5);
  const MPI_Request theirs = hosts(1);
  ours.end();
  complete_request(theirs, 9);
  const MPI_Request* array = array_.data();
  EXPECT_EQ(RequestArray(2, array).test_all(&flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(flag_, 1);
  EXPECT_EQ(statuses_[0].MPI_TAG, 5);
  EXPECT_EQ(statuses_[1].MPI_TAG, 9);
  EXPECT_EQ(RequestArray(2, array).test_any(&index_, &flag_, statuses_.data()), MPI_SUCCESS);
  EXPECT_EQ(index_, 0);
  EXPECT_EQ(RequestArray(2, array).test_some(&done_, indices_.data(), statuses_.data()),
            MPI_SUCCESS);
  EXPECT_EQ(done_, 2);
  EXPECT_TRUE(ours.active());
  EXPECT_TRUE(has_request(theirs));
  EXPECT_EQ(array_[1], theirs);
}

#endif

}  // namespace
}  // namespace oriel::mpi
