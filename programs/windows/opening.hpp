// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "bench/row.hpp"
#include "exposures/exposure.hpp"

namespace windows {

/// Rounds of making a window and freeing it.
class Opening final : public bench::Row {
 public:
  explicit Opening(std::unique_ptr<exposures::Exposure> exposure)
      : exposure_(std::move(exposure)) {}

  bool plays() const override { return true; }
  void play(std::int64_t rounds) override {
    for (std::int64_t round = 0; round < rounds; ++round) {
      exposure_->open();
      exposure_->close();
    }
  }
  /// Nothing is put.
  void check() override {}

 private:
  std::unique_ptr<exposures::Exposure> exposure_;
};

}  // namespace windows
