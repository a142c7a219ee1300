// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/row.hpp"

namespace windows {

/// Rounds of one local call, or a few, by rank 0 alone: a `renew` of this kind of window, which
/// frees something and makes it again.
template <typename Kind, void (Kind::*renew)()>
class Alone final : public bench::Row {
 public:
  Alone(std::unique_ptr<Kind> window, int rank) : window_(std::move(window)), rank_(rank) {
    window_->open();
  }
  ~Alone() override { window_->close(); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  bool plays() const override { return rank_ == 0; }
  void play(std::int64_t rounds) override {
    for (std::int64_t round = 0; round < rounds; ++round) (window_.get()->*renew)();
  }
  /// Nothing is put.
  void check() override {}

 private:
  std::unique_ptr<Kind> window_;
  int rank_;
};

}  // namespace windows
