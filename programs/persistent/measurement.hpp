// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench/choice.hpp"
#include "bench/samples.hpp"
#include "blocking_row.hpp"
#include "collective.hpp"
#include "lengths.hpp"
#include "making_row.hpp"
#include "nonblocking_row.hpp"
#include "ranks.hpp"
#include "request.hpp"
#include "request_row.hpp"

namespace persistent {

/// Measures a collective in those of its variants that were asked for. A JSON line for each, in
/// microseconds of the slowest rank: the time of a round and, of persistent requests, of making and
/// freeing one ("making"); or why the variant could not be measured ("failed").
class Measurement {
 public:
  /// `fields` of the lines say what is measured.
  Measurement(const Ranks& ranks, const Lengths& lengths, const bench::Choice& variants,
              Collective& collective, std::string fields)
      : ranks_(ranks),
        lengths_(lengths),
        variants_(variants),
        collective_(collective),
        fields_(std::move(fields)) {}

  void blocking(const char* variant) {
    if (!begin(variant)) return;
    BlockingRow row(collective_, named(variant));
    print(variant, samples(row), {});
  }

  void nonblocking(const char* variant) {
    if (!begin(variant)) return;
    NonblockingRow row(collective_, named(variant));
    print(variant, samples(row), {});
  }

  void persistent(const char* variant, Maker maker, MPI_Info info) {
    if (!begin(variant)) return;
    if (!collective_.has(maker)) {
      print_failure(variant, "the library does not have it");
      return;
    }
    std::vector<double> rounds;
    {
      Request request(collective_, maker, info);
      if (const std::string reason = refusal(request.error()); !reason.empty()) {
        print_failure(variant, reason);
        return;
      }
      RequestRow row(collective_, named(variant), request);
      rounds = samples(row);
    }
    MakingRow row(collective_, maker, info);
    print(variant, rounds, lengths_.stopwatch().samples(row, makings, lengths_.limit_us()));
  }

  /// How many of them were asked for.
  int played() const { return played_; }

 private:
  static constexpr std::int64_t makings = 5;  // in a batch

  bool begin(const char* variant) {
    if (!variants_.includes(variant)) return false;
    ++played_;
    return true;
  }

  /// In a sentence.
  std::string named(const char* variant) const { return collective_.name() + ", " + variant; }

  std::vector<double> samples(bench::Row& row) const {
    return lengths_.stopwatch().samples(row, lengths_.limit_us());
  }

  /// Why the request was not made, in the words of the lowest rank that has an error; empty where
  /// all have made it.
  std::string refusal(int error) const {
    int lowest = error == MPI_SUCCESS ? ranks_.size() : ranks_.rank();
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, ranks_.comm());
    if (lowest == ranks_.size()) return {};
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    if (ranks_.rank() == lowest) MPI_Error_string(error, text, &length);
    MPI_Bcast(text, MPI_MAX_ERROR_STRING, MPI_CHAR, lowest, ranks_.comm());
    return *text ? text : "it was refused without a reason";
  }

  void begin_line(const char* variant) const {
    std::printf("{\"variant\":\"%s\",\"ranks\":%d,%s,", variant, ranks_.size(), fields_.c_str());
  }

  void print(const char* variant, const std::vector<double>& samples,
             const std::vector<double>& making) const {
    if (ranks_.rank() != 0) return;
    begin_line(variant);
    if (!making.empty()) {
      std::printf("\"making\":");
      bench::print_list(making);
      std::printf(",");
    }
    bench::print_samples(samples);
  }

  void print_failure(const char* variant, std::string reason) const {
    if (ranks_.rank() != 0) return;
    for (char& letter : reason) {
      if (letter == '"' || letter == '\\') letter = '\'';
      if (letter < ' ' && letter >= 0) letter = ' ';
    }
    begin_line(variant);
    std::printf("\"failed\":\"%s\"}\n", reason.c_str());
    std::fflush(stdout);
  }

  const Ranks& ranks_;
  const Lengths& lengths_;
  const bench::Choice& variants_;
  Collective& collective_;
  std::string fields_;
  int played_ = 0;
};

}  // namespace persistent
