// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/row.hpp"
#include "exposures/dynamic.hpp"
#include "exposures/own_memory.hpp"

namespace windows {

/// Rounds of detaching memory from a dynamic window and attaching it again.
class Attaching final : public bench::Row {
 public:
  Attaching(exposures::Source source, std::size_t bytes) : window_(source, bytes) {
    window_.open();
  }
  ~Attaching() override { window_.close(); }
  Attaching(const Attaching&) = delete;
  Attaching& operator=(const Attaching&) = delete;

  bool plays() const override { return true; }
  void play(std::int64_t rounds) override {
    for (std::int64_t round = 0; round < rounds; ++round) {
      window_.detach();
      window_.attach();
    }
  }
  /// Nothing is put.
  void check() override {}

 private:
  exposures::Dynamic window_;
};

}  // namespace windows
