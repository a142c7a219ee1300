// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/stress/random.hpp"
#include "support/stress/where.hpp"

namespace stress {

using Bytes = std::vector<std::byte>;

/// So many elements of a datatype, and where their bytes lie, as we know it without asking MPI.
struct Shape {
  struct Run {
    MPI_Aint at;
    MPI_Aint bytes;
  };
  static constexpr MPI_Aint word = sizeof(std::int32_t);

  MPI_Datatype type = MPI_DATATYPE_NULL;
  int count = 0;
  std::vector<Run> runs;
  MPI_Aint extent = 0;
  MPI_Aint bytes = 0;

  static Shape plain(MPI_Aint bytes) {
    return {MPI_BYTE, static_cast<int>(bytes), {{0, bytes}}, bytes, bytes};
  }
  static Shape words(MPI_Aint bytes) {
    return {MPI_INT32_T, static_cast<int>(bytes / word), {{0, bytes}}, bytes, bytes};
  }
  /// One of a derived type of 32-bit words; to be released.
  static Shape derived(Random& random) {
    switch (random.below(4)) {
      case 0:
        return contiguous(1 + random.below(64));
      case 1:
        return strided(random, false);
      case 2:
        return strided(random, true);
      default:
        return indexed(random);
    }
  }
  void release() { MUST(MPI_Type_free(&type)); }

  /// A buffer with these bytes where the elements lie, and something else between them.
  Bytes image(const Bytes& payload) const {
    Bytes made(static_cast<std::size_t>(extent), std::byte{0xee});
    const std::byte* from = payload.data();
    for (const Run& run : runs) {
      std::memcpy(made.data() + run.at, from, static_cast<std::size_t>(run.bytes));
      from += run.bytes;
    }
    return made;
  }
  void store(std::byte* memory, const Bytes& payload) const {
    const std::byte* from = payload.data();
    for (const Run& run : runs) {
      std::memcpy(memory + run.at, from, static_cast<std::size_t>(run.bytes));
      from += run.bytes;
    }
  }
  Bytes load(const std::byte* memory) const {
    Bytes payload;
    for (const Run& run : runs) {
      payload.insert(payload.end(), memory + run.at, memory + run.at + run.bytes);
    }
    return payload;
  }

 private:
  static Shape committed(MPI_Datatype type, std::vector<Run> runs) {
    MUST(MPI_Type_commit(&type));
    Shape shape{type, 1, std::move(runs), 0, 0};
    shape.extent = shape.runs.back().at + shape.runs.back().bytes;
    for (const Run& run : shape.runs) shape.bytes += run.bytes;
    return shape;
  }
  static Shape contiguous(int words) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MUST(MPI_Type_contiguous(words, MPI_INT32_T, &type));
    return committed(type, {{0, words * word}});
  }
  /// As a copy, if so asked, of a type that is gone then.
  static Shape strided(Random& random, bool copy) {
    const int blocks = 2 + random.below(20);
    const int length = 1 + random.below(4);
    const int stride = length + 1 + random.below(3);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MUST(MPI_Type_vector(blocks, length, stride, MPI_INT32_T, &type));
    if (copy) {
      MPI_Datatype original = type;
      MUST(MPI_Type_dup(original, &type));
      MUST(MPI_Type_free(&original));
    }
    std::vector<Run> runs;
    for (int i = 0; i < blocks; ++i) runs.push_back({i * stride * word, length * word});
    return committed(type, std::move(runs));
  }
  static Shape indexed(Random& random) {
    std::vector<int> lengths;
    std::vector<int> places;
    std::vector<Run> runs;
    for (int i = 0, at = random.below(3); i < 6; ++i) {
      lengths.push_back(1 + random.below(9));
      places.push_back(at);
      runs.push_back({at * word, lengths.back() * word});
      at += lengths.back() + 1 + random.below(5);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MUST(MPI_Type_indexed(6, lengths.data(), places.data(), MPI_INT32_T, &type));
    return committed(type, std::move(runs));
  }
};

}  // namespace stress
