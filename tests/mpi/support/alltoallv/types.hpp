// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "support/check.hpp"

namespace alltoallv {

/// Datatypes of the two sides. A unit is so many elements on each of them, with one signature.
struct Types {
  std::string name;
  MPI_Datatype send;
  int send_each;
  MPI_Datatype receive;
  int receive_each;

  /// Of a unit.
  int bytes() const {
    int size = 0;
    MPI_Type_size(send, &size);
    return size * send_each;
  }
  /// MPI_IN_PLACE: what is received is what was sent.
  Types received() const { return {name, receive, receive_each, receive, receive_each}; }
};

/// One of each kind that a way may treat apart.
class AllTypes {
 public:
  AllTypes() {
    add("bytes", MPI_BYTE, 1, MPI_BYTE, 1);
    add("ints", MPI_INT, 1, MPI_INT, 1);
    add("doubles", MPI_DOUBLE, 1, MPI_DOUBLE, 1);

    MPI_Datatype vector;
    MPI_Type_vector(2, 2, 3, MPI_INT, &vector);
    keep(vector);
    add("vectors with gaps", vector, 1, vector, 1);
    add("vectors to ints", vector, 1, MPI_INT, 4);
    add("ints to vectors", MPI_INT, 4, vector, 1);

    MPI_Datatype indexed;
    const int lengths[] = {1, 0, 2, 1};
    const int positions[] = {5, 9, -2, 1};
    MPI_Type_indexed(4, lengths, positions, MPI_INT, &indexed);
    keep(indexed);
    add("indexed, out of order", indexed, 1, indexed, 1);
    add("indexed to vectors", indexed, 3, vector, 3);

    MPI_Datatype low;
    MPI_Type_create_resized(MPI_INT, -8, 20, &low);
    keep(low);
    add("resized, negative bound", low, 1, low, 1);

    MPI_Datatype pair;
    MPI_Datatype wide;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_create_resized(pair, 0, 40, &wide);
    MPI_Type_free(&pair);
    keep(wide);
    add("resized, wide", wide, 1, wide, 1);
    add("wide to doubles", wide, 1, MPI_DOUBLE, 2);

    // Consecutive elements lie within one another, which only what is sent may do beyond two.
    MPI_Datatype apart;
    MPI_Datatype laced;
    MPI_Type_vector(2, 1, 4, MPI_INT, &apart);
    MPI_Type_create_resized(apart, 0, sizeof(int), &laced);
    MPI_Type_free(&apart);
    keep(laced);
    add("laced to ints", laced, 2, MPI_INT, 4);

    // Members of two kinds; as many of each on the other side, elsewhere.
    MPI_Datatype mixed;
    MPI_Datatype packed;
    const int ones[] = {1, 1};
    const MPI_Aint apart_at[] = {16, 4};
    const MPI_Aint packed_at[] = {0, sizeof(double)};
    const MPI_Datatype members[] = {MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(2, ones, apart_at, members, &mixed);
    keep(mixed);
    MPI_Type_create_struct(2, ones, packed_at, members, &packed);
    keep(packed);
    add("structs", mixed, 1, packed, 1);
  }
  ~AllTypes() {
    for (MPI_Datatype& type : own_) MPI_Type_free(&type);
  }
  AllTypes(const AllTypes&) = delete;
  AllTypes& operator=(const AllTypes&) = delete;

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  const Types& operator[](std::size_t index) const { return all_[index % all_.size()]; }
  const Types& named(const std::string& name) const {
    for (const Types& types : all_) {
      if (types.name == name) return types;
    }
    support::fail(__FILE__, __LINE__, "no types are named " + name + '.');
  }

 private:
  void keep(MPI_Datatype& type) {
    MPI_Type_commit(&type);
    own_.push_back(type);
  }
  void add(const char* name, MPI_Datatype send, int send_each, MPI_Datatype receive,
           int receive_each) {
    int sent = 0;
    int received = 0;
    MPI_Type_size(send, &sent);
    MPI_Type_size(receive, &received);
    CHECK_EQUAL(sent * send_each, received * receive_each);
    all_.push_back({name, send, send_each, receive, receive_each});
  }

  std::vector<Types> all_;
  std::vector<MPI_Datatype> own_;
};

}  // namespace alltoallv
