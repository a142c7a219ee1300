// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "checked_row.hpp"
#include "request.hpp"
#include "success.hpp"

namespace persistent {

/// Start and wait of a persistent request.
class RequestRow final : public CheckedRow {
 public:
  RequestRow(Collective& collective, std::string variant, Request& request)
      : CheckedRow(collective, std::move(variant)), request_(request) {}

  void play(std::int64_t rounds) override {
    play_rounds(rounds, [this] {
      expect_success(request_.start(), variant_.c_str());
      expect_success(request_.wait(), variant_.c_str());
    });
  }

 private:
  Request& request_;
};

}  // namespace persistent
