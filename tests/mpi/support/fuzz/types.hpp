// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/stress/random.hpp"

namespace fuzz {

using stress::Random;

/// A predefined datatype, and what the model computes with it.
struct Element {
  MPI_Datatype handle;
  int bytes;
  bool is_signed;
  bool arithmetic;  // takes every op of integers
};

/// Sums of floating-point numbers depend on their order, and those of bytes on the host: the model
/// only moves and replaces these. reductions.cpp tests their arithmetic.
inline const std::array<Element, 12>& elements() {
  static const std::array<Element, 12> all{{
      {MPI_INT8_T, 1, true, true},
      {MPI_INT16_T, 2, true, true},
      {MPI_INT32_T, 4, true, true},
      {MPI_INT64_T, 8, true, true},
      {MPI_UINT8_T, 1, false, true},
      {MPI_UINT16_T, 2, false, true},
      {MPI_UINT32_T, 4, false, true},
      {MPI_UINT64_T, 8, false, true},
      {MPI_INT, 4, true, true},
      {MPI_LONG, 8, true, true},
      {MPI_DOUBLE, 8, true, false},
      {MPI_BYTE, 1, false, false},
  }};
  return all;
}
constexpr int integers = 10;  // the first ones of elements()

/// Where the elements of one item of a datatype lie, in the order of its type map.
struct Map {
  std::vector<long> places;
  long lower = 0;
  long extent = 0;
};

/// One datatype constructor and its arguments.
struct Constructor {
  enum Kind { contiguous, vector, hvector, indexed, indexed_block, hindexed, structure, resized };
  Kind kind = contiguous;
  int count = 0;
  int block = 0;
  long stride = 0;  // of resized: its extent
  long lower = 0;
  std::vector<int> lengths;
  std::vector<long> displacements;  // in extents of the old type, or in bytes

  Map map(const Map& old) const {
    Map made;
    if (kind == resized) {
      made = old;
      made.lower = lower;
      made.extent = stride;
      return made;
    }
    bool first = true;
    long upper = 0;
    const auto place = [&](long at) {
      for (const long one : old.places) made.places.push_back(at + one);
      const long low = at + old.lower;
      made.lower = first ? low : std::min(made.lower, low);
      upper = first ? low + old.extent : std::max(upper, low + old.extent);
      first = false;
    };
    const long unit = kind == hvector || kind == hindexed || kind == structure ? 1 : old.extent;
    if (kind == contiguous || kind == vector || kind == hvector) {
      for (int i = 0; i < count; ++i) {
        for (int j = 0; j < block; ++j) place(i * stride * unit + j * old.extent);
      }
    } else {
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        for (int j = 0; j < lengths[i]; ++j) place(displacements[i] * unit + j * old.extent);
      }
    }
    made.extent = upper - made.lower;
    return made;
  }

  MPI_Datatype make(MPI_Datatype old) const {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int blocks = static_cast<int>(lengths.size());
    std::vector<int> small(displacements.begin(), displacements.end());
    std::vector<MPI_Aint> large(displacements.begin(), displacements.end());
    const auto wide = static_cast<MPI_Aint>(stride);
    switch (kind) {
      case contiguous:
        MPI_Type_contiguous(count, old, &made);
        break;
      case vector:
        MPI_Type_vector(count, block, static_cast<int>(stride), old, &made);
        break;
      case hvector:
        MPI_Type_create_hvector(count, block, wide, old, &made);
        break;
      case indexed:
        MPI_Type_indexed(blocks, lengths.data(), small.data(), old, &made);
        break;
      case indexed_block:
        MPI_Type_create_indexed_block(blocks, block, small.data(), old, &made);
        break;
      case hindexed:
        MPI_Type_create_hindexed(blocks, lengths.data(), large.data(), old, &made);
        break;
      case structure: {
        const std::vector<MPI_Datatype> types(lengths.size(), old);
        MPI_Type_create_struct(blocks, lengths.data(), large.data(), types.data(), &made);
        break;
      }
      case resized:
        MPI_Type_create_resized(old, static_cast<MPI_Aint>(lower), wide, &made);
        break;
    }
    return made;
  }
};

/// `count` items of a datatype made of one predefined type by random constructors: what all ranks
/// know of it. No two elements overlap, and all lie at multiples of their size.
class Items {
 public:
  Items() = default;
  /// Of `total` elements.
  Items(Random& random, int element, int total) : element_(element) {
    const long bytes = elements()[static_cast<std::size_t>(element)].bytes;
    map_ = {{0}, 0, bytes};
    count_ = total;
    if (total == 0 || random.chance(45)) return;
    int rest = total;
    const int depth = random.chance(25) ? 2 : 1;
    for (int level = 0; level < depth; ++level) {
      const int inside = divisor(random, rest);
      rest /= inside;
      add(shape(random, inside, map_, bytes));
      if (random.chance(25)) {
        Constructor resized;
        resized.kind = Constructor::resized;
        resized.lower = map_.lower - bytes * random.below(3);
        resized.stride = map_.lower + map_.extent - resized.lower + bytes * random.below(4);
        add(std::move(resized));
      }
    }
    count_ = rest;
    if (random.chance(20)) {
      // Each item lies before the one before.
      Constructor backwards;
      backwards.kind = Constructor::resized;
      backwards.lower = map_.lower;
      backwards.stride = -(map_.extent + bytes * random.below(3));
      add(std::move(backwards));
    }
  }
  /// One predefined element.
  static Items one(int element) {
    Items made;
    made.element_ = element;
    made.map_ = {{0}, 0, elements()[static_cast<std::size_t>(element)].bytes};
    made.count_ = 1;
    return made;
  }

  int count() const { return count_; }
  int element() const { return element_; }
  bool predefined() const { return constructors_.empty(); }
  int bytes() const { return elements()[static_cast<std::size_t>(element_)].bytes; }
  int total() const { return count_ * static_cast<int>(map_.places.size()); }
  /// Of the i-th element, from the address that the call is given.
  long place(int i) const {
    const auto inside = static_cast<long>(map_.places.size());
    return map_.places[static_cast<std::size_t>(i % inside)] + i / inside * map_.extent;
  }
  /// First byte, and the one behind the last.
  long low() const { return bounds().first; }
  long high() const { return bounds().second; }

  /// A committed datatype; the caller frees it by free().
  MPI_Datatype make() const {
    MPI_Datatype made = elements()[static_cast<std::size_t>(element_)].handle;
    for (std::size_t i = 0; i < constructors_.size(); ++i) {
      MPI_Datatype next = constructors_[i].make(made);
      if (i != 0) MPI_Type_free(&made);
      made = next;
    }
    if (!predefined()) MPI_Type_commit(&made);
    return made;
  }
  void free(MPI_Datatype type) const {
    if (!predefined()) MPI_Type_free(&type);
  }

 private:
  std::pair<long, long> bounds() const {
    if (total() == 0) return {0, 0};
    const auto [least, most] = std::ranges::minmax_element(map_.places);
    const long last = (count_ - 1) * map_.extent;
    return {std::min(*least, *least + last), std::max(*most, *most + last) + bytes()};
  }
  void add(Constructor constructor) {
    map_ = constructor.map(map_);
    constructors_.push_back(std::move(constructor));
  }
  static int divisor(Random& random, int of) {
    // Many short items more often than few long ones.
    const int wanted = 1 + random.below(random.chance(60) ? std::min(of, 12) : of);
    for (int i = wanted; i > 1; --i) {
      if (of % i == 0) return i;
    }
    return random.chance(50) ? 1 : of;
  }
  static Constructor shape(Random& random, int total, const Map& old, long bytes) {
    Constructor made;
    made.kind = static_cast<Constructor::Kind>(random.below(7));
    const int gap = random.below(4);
    switch (made.kind) {
      case Constructor::contiguous:
        made.count = total;
        made.block = 1;
        made.stride = 1;
        break;
      case Constructor::vector:
      case Constructor::hvector: {
        made.count = divisor(random, total);
        made.block = total / made.count;
        made.stride = made.block + gap;
        if (made.kind == Constructor::hvector) {
          made.stride = made.block * old.extent + gap * bytes;
        }
        if (random.chance(25)) made.stride = -made.stride;
        break;
      }
      default: {
        const bool in_bytes =
            made.kind == Constructor::hindexed || made.kind == Constructor::structure;
        const int blocks =
            made.kind == Constructor::indexed_block ? divisor(random, total) : 1 + random.below(4);
        made.block = total / blocks;
        int left = total;
        long at = random.below(9) - 4;  // a negative lower bound
        for (int i = 0; i < blocks; ++i) {
          const int length = made.kind == Constructor::indexed_block ? made.block
                             : i + 1 == blocks                       ? left
                                                                     : random.below(left + 1);
          left -= length;
          made.lengths.push_back(length);
          made.displacements.push_back(in_bytes ? at * old.extent : at);
          at += length + random.below(3);
        }
        // In any order of addresses.
        for (std::size_t i = made.lengths.size(); i > 1; --i) {
          const std::size_t with = random.below(i);
          std::swap(made.lengths[i - 1], made.lengths[with]);
          std::swap(made.displacements[i - 1], made.displacements[with]);
        }
      }
    }
    return made;
  }

  int element_ = 0;
  int count_ = 0;
  Map map_;
  std::vector<Constructor> constructors_;
};

}  // namespace fuzz
