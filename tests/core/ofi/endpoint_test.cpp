// SPDX-License-Identifier: BSD-3-Clause
// Completions that an endpoint reads from its queue.
#include "transport/ofi/endpoint.hpp"

#include <gtest/gtest.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <cstdint>
#include <vector>

#include "ofi/fake_endpoint.hpp"

namespace oriel::ofi_test {
namespace {

class Completions : public ::testing::Test {
 protected:
  struct Over {
    void* context = nullptr;
    std::uint64_t data = 0;
    int code = 0;
    bool operator==(const Over&) const = default;
  };

  long read() {
    return endpoint_.read_completions([this](const fi_cq_data_entry& entry, int code) {
      over_.push_back({entry.op_context, entry.data, code});
    });
  }

  FakeEndpoint endpoint_;
  std::vector<Over> over_;
  int context_ = 0;
};

TEST_F(Completions, AreReadInTheirOrder) {
  std::vector<Over> all;
  for (std::uint64_t i = 0; i < 100; ++i) {
    endpoint_.completions.push_back({&context_, 0, 0, nullptr, i});
    all.push_back({&context_, i, 0});
  }
  for (int i = 0; i < 100; ++i) read();
  EXPECT_EQ(over_, all);
}

TEST_F(Completions, AFailureHasItsCode) {
  fi_cq_err_entry failure{};
  failure.op_context = &context_;
  failure.err = FI_EIO;
  endpoint_.failures = {failure};
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(over_, (std::vector<Over>{{&context_, 0, FI_EIO}}));
}

// Another thread of the provider may have taken the failure.
TEST_F(Completions, AFailureThatIsNotThereIsNone) {
  endpoint_.failures = {fi_cq_err_entry{}};
  EXPECT_EQ(read(), 0);
  EXPECT_TRUE(over_.empty());
}

TEST_F(Completions, AQueueThatFailsHasACode) {
  for (const int code : {-FI_EAGAIN, -FI_EIO}) {
    endpoint_.queue_code = code;
    EXPECT_EQ(read(), code);
  }
  endpoint_.completions.push_back({&context_, 0, 0, nullptr, 0});
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(over_.size(), 1u);
}

}  // namespace
}  // namespace oriel::ofi_test
