// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "bench/row.hpp"
#include "collective.hpp"

namespace persistent {

/// Rounds of a collective in one variant. What came is looked at after every batch; its last round
/// sends something else, so that what is there is of no round before.
class CheckedRow : public bench::Row {
 public:
  CheckedRow(Collective& collective, std::string variant)
      : collective_(collective), variant_(std::move(variant)) {}

  bool plays() const override { return true; }
  void prepare_batch() override { collective_.renew(); }
  void finish_batch() override { check(); }
  void check() override { collective_.check(variant_); }

 protected:
  template <typename Round>
  void play_rounds(std::int64_t rounds, Round&& round) {
    for (std::int64_t number = 1; number < rounds; ++number) round();
    collective_.renew_last();
    round();
  }

  Collective& collective_;
  const std::string variant_;
};

}  // namespace persistent
