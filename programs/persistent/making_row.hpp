// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "bench/row.hpp"
#include "request.hpp"
#include "success.hpp"

namespace persistent {

/// Rounds of making a persistent request and freeing it.
class MakingRow final : public bench::Row {
 public:
  MakingRow(Collective& collective, Maker maker, MPI_Info info)
      : collective_(collective), maker_(maker), info_(info) {}

  bool plays() const override { return true; }
  void play(std::int64_t rounds) override {
    for (std::int64_t round = 0; round < rounds; ++round) {
      const Request request(collective_, maker_, info_);
      expect_success(request.error(), "making a request again");
    }
  }
  /// Nothing is exchanged.
  void check() override {}

 private:
  Collective& collective_;
  Maker maker_;
  MPI_Info info_;
};

}  // namespace persistent
