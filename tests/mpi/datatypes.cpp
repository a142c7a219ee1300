// SPDX-License-Identifier: BSD-3-Clause
// G4: every predefined type and every type constructor, on origin, result and target. What an
// operation must leave in every byte of the window comes from the host's own send and receive.
#include <algorithm>
#include <cstdint>

#include "support/layouts.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::copy_reference;
using support::Flavor;
using support::Layout;
using support::Layouts;
using support::Program;
using support::Window;

constexpr int elements = Layouts::elements;
constexpr int half = Layouts::span;
constexpr std::size_t bytes = 2 * half;
using Buffer = std::vector<char>;

/// Ints that differ everywhere, so that any misplaced byte shows.
Buffer pattern(int seed) {
  Buffer buffer(bytes);
  for (std::size_t i = 0; i < bytes / sizeof(int); ++i) {
    const int value = seed * 100000 + static_cast<int>(i);
    std::memcpy(buffer.data() + i * sizeof(int), &value, sizeof value);
  }
  return buffer;
}

/// The origin's end of a window that it has for itself.
class Target {
 public:
  Target(MPI_Win win, int rank) : win_(win), rank_(rank) {}
  void set(const Buffer& buffer) const {
    MPI_Put(buffer.data(), bytes, MPI_CHAR, rank_, 0, bytes, MPI_CHAR, win_);
    flush();
  }
  Buffer get() const {
    Buffer buffer(bytes);
    MPI_Get(buffer.data(), bytes, MPI_CHAR, rank_, 0, bytes, MPI_CHAR, win_);
    flush();
    return buffer;
  }
  void flush() const { MPI_Win_flush(rank_, win_); }
  MPI_Win win() const { return win_; }
  int rank() const { return rank_; }

 private:
  MPI_Win win_;
  int rank_;
};

void check_bytes(const Buffer& actual, const Buffer& expected, const Layout& origin,
                 const Layout& target, const char* what) {
  for (std::size_t i = 0; i < bytes; i += sizeof(int)) {
    if (std::memcmp(&actual[i], &expected[i], sizeof(int)) == 0) continue;
    int is = 0, should = 0;
    std::memcpy(&is, &actual[i], sizeof is);
    std::memcpy(&should, &expected[i], sizeof should);
    support::fail(__FILE__, __LINE__,
                  std::string(what) + " from " + origin.name + " to " + target.name + ": int at " +
                      std::to_string(static_cast<int>(i) - half) + " bytes is " +
                      std::to_string(is) + ", should be " + std::to_string(should) + ".");
  }
}

/// put, get, accumulate, get_accumulate between two layouts; one of them in request form.
void transfer(const Target& target, const Layout& from, const Layout& to, bool requests) {
  Buffer origin = pattern(1);
  const Buffer background = pattern(2);
  char* const start = origin.data() + half;
  const auto finish = [&](MPI_Request& request) {
    if (requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    target.flush();
  };
  MPI_Request request = MPI_REQUEST_NULL;

  target.set(background);
  Buffer expected = background;
  copy_reference(start, from.count, from.type, expected.data() + half, to.count, to.type);
  if (requests) {
    MPI_Rput(start, from.count, from.type, target.rank(), half, to.count, to.type, target.win(),
             &request);
  } else {
    MPI_Put(start, from.count, from.type, target.rank(), half, to.count, to.type, target.win());
  }
  finish(request);
  check_bytes(target.get(), expected, from, to, "put");

  target.set(background);
  Buffer received = pattern(1);
  Buffer expected_received = pattern(1);
  copy_reference(background.data() + half, to.count, to.type, expected_received.data() + half,
                 from.count, from.type);
  if (requests) {
    MPI_Rget(received.data() + half, from.count, from.type, target.rank(), half, to.count, to.type,
             target.win(), &request);
  } else {
    MPI_Get(received.data() + half, from.count, from.type, target.rank(), half, to.count, to.type,
            target.win());
  }
  finish(request);
  check_bytes(received, expected_received, to, from, "get");

  // What the sum must leave: unpack both sides, add, pack again.
  int mine[elements], theirs[elements];
  copy_reference(start, from.count, from.type, mine, elements, MPI_INT);
  copy_reference(background.data() + half, to.count, to.type, theirs, elements, MPI_INT);
  for (int i = 0; i < elements; ++i) theirs[i] += mine[i];
  expected = background;
  copy_reference(theirs, elements, MPI_INT, expected.data() + half, to.count, to.type);
  if (requests) {
    MPI_Raccumulate(start, from.count, from.type, target.rank(), half, to.count, to.type, MPI_SUM,
                    target.win(), &request);
  } else {
    MPI_Accumulate(start, from.count, from.type, target.rank(), half, to.count, to.type, MPI_SUM,
                   target.win());
  }
  finish(request);
  check_bytes(target.get(), expected, from, to, "accumulate");

  // The result is laid out like the target here, and the origin as before.
  target.set(background);
  received = pattern(3);
  expected_received = pattern(3);
  copy_reference(background.data() + half, to.count, to.type, expected_received.data() + half,
                 to.count, to.type);
  if (requests) {
    MPI_Rget_accumulate(start, from.count, from.type, received.data() + half, to.count, to.type,
                        target.rank(), half, to.count, to.type, MPI_SUM, target.win(), &request);
  } else {
    MPI_Get_accumulate(start, from.count, from.type, received.data() + half, to.count, to.type,
                       target.rank(), half, to.count, to.type, MPI_SUM, target.win());
  }
  finish(request);
  check_bytes(received, expected_received, from, to, "result of get_accumulate");
  check_bytes(target.get(), expected, from, to, "get_accumulate");
}

/// All addresses are absolute: the origin is given as MPI_BOTTOM (ompi#14175).
void bottom(const Target& target) {
  Buffer origin = pattern(1);
  MPI_Aint offsets[3];
  MPI_Get_address(&origin[400], &offsets[0]);
  MPI_Get_address(&origin[12], &offsets[1]);
  MPI_Get_address(&origin[100], &offsets[2]);
  const int lengths[] = {3, 4, 5};
  MPI_Datatype absolute;
  MPI_Type_create_hindexed(3, lengths, offsets, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  const Layout from{"absolute hindexed", absolute, 1};
  const Layout to{"ints", MPI_INT, elements};
  const Buffer background = pattern(2);

  target.set(background);
  Buffer expected = background;
  copy_reference(MPI_BOTTOM, 1, absolute, &expected[half], elements, MPI_INT);
  MPI_Put(MPI_BOTTOM, 1, absolute, target.rank(), half, elements, MPI_INT, target.win());
  target.flush();
  check_bytes(target.get(), expected, from, to, "put");

  target.set(background);
  MPI_Accumulate(MPI_BOTTOM, 1, absolute, target.rank(), half, elements, MPI_INT, MPI_REPLACE,
                 target.win());
  target.flush();
  check_bytes(target.get(), expected, from, to, "accumulate");

  Buffer expected_origin = pattern(1);
  const int* theirs = reinterpret_cast<const int*>(&background[half]);
  std::memcpy(&expected_origin[400], theirs, 12);
  std::memcpy(&expected_origin[12], theirs + 3, 16);
  std::memcpy(&expected_origin[100], theirs + 7, 20);
  target.set(background);
  MPI_Get(MPI_BOTTOM, 1, absolute, target.rank(), half, elements, MPI_INT, target.win());
  target.flush();
  check_bytes(origin, expected_origin, to, from, "get");
  std::ranges::copy(pattern(1), origin.begin());  // in place: the type holds its address
  MPI_Get_accumulate(nullptr, 0, MPI_INT, MPI_BOTTOM, 1, absolute, target.rank(), half, elements,
                     MPI_INT, MPI_NO_OP, target.win());
  target.flush();
  check_bytes(origin, expected_origin, to, from, "get_accumulate");
  MPI_Type_free(&absolute);
}

/// A struct of different types, put and got as an array of structs with padding.
void mixed_struct(const Target& target) {
  struct Particle {
    char kind;
    double position[3];
    std::int16_t charge;
    int id;
  };
  const int lengths[] = {1, 3, 1, 1};
  const MPI_Aint offsets[] = {offsetof(Particle, kind), offsetof(Particle, position),
                              offsetof(Particle, charge), offsetof(Particle, id)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT16_T, MPI_INT};
  MPI_Datatype packed, particle;
  MPI_Type_create_struct(4, lengths, offsets, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(Particle), &particle);
  MPI_Type_free(&packed);
  MPI_Type_commit(&particle);
  constexpr int count = 20;
  Particle out[count], in[count] = {};
  for (int i = 0; i < count; ++i) {
    out[i] = {static_cast<char>('a' + i), {1.0 * i, 2.0 * i, 3.0 * i}, static_cast<short>(-i), i};
  }
  MPI_Put(out, count, particle, target.rank(), 8, count, particle, target.win());
  target.flush();
  MPI_Get(in, count, particle, target.rank(), 8, count, particle, target.win());
  target.flush();
  for (int i = 0; i < count; ++i) {
    CHECK_EQUAL(in[i].kind, out[i].kind);
    CHECK_EQUAL(in[i].position[2], out[i].position[2]);
    CHECK_EQUAL(in[i].charge, out[i].charge);
    CHECK_EQUAL(in[i].id, i);
  }
  MPI_Type_free(&particle);
}

/// Short and long rows of blocks, near one another and pages apart: put, added to and got back. The
/// gaps stay as they are.
void vectors(Flavor flavor, const Program& program) {
  const int shapes[][3] = {{8, 1, 2}, {100, 3, 5}, {3000, 1, 3}, {600, 200, 201}, {40, 2, 1500}};
  for (const auto& [blocks, length, stride] : shapes) {
    const std::size_t count = std::size_t(blocks - 1) * std::size_t(stride) + std::size_t(length);
    Window<int> window(flavor, count);
    for (std::size_t i = 0; i < count; ++i) window[i] = -1;
    support::barrier();
    MPI_Datatype type;
    MPI_Type_vector(blocks, length, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    const int ints = blocks * length;
    const int target = program.right();
    std::vector<int> values(static_cast<std::size_t>(ints));
    for (int i = 0; i < ints; ++i) values[static_cast<std::size_t>(i)] = 7 * i + program.rank();
    std::vector<int> back(values.size());
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Put(values.data(), ints, MPI_INT, target, 0, 1, type, window);
    MPI_Win_flush(target, window);
    MPI_Accumulate(values.data(), ints, MPI_INT, target, 0, 1, type, MPI_SUM, window);
    MPI_Win_flush(target, window);
    MPI_Get(back.data(), ints, MPI_INT, target, 0, 1, type, window);
    MPI_Win_unlock(target, window);
    support::barrier();
    for (std::size_t i = 0; i < back.size(); ++i) CHECK_EQUAL(back[i], 2 * values[i]);
    for (std::size_t i = 0; i < count; ++i) {
      const auto block = static_cast<int>(i) / stride;
      const auto within = static_cast<int>(i) % stride;
      const int expected = 2 * (7 * (block * length + within) + program.left());
      CHECK_EQUAL(window[i], within < length ? expected : -1);
    }
    MPI_Type_free(&type);
    support::barrier();
  }
}

/// MPI permits a get from overlapping blocks; here longer than the distance between them.
void overlapping_blocks(Flavor flavor, const Program& program) {
  constexpr int length = 40'000;
  constexpr int stride = 512;
  constexpr int blocks = 8;
  constexpr std::size_t size = length + stride * (blocks - 1);
  Window<unsigned char> window(flavor, size);
  for (std::size_t i = 0; i < size; ++i) window[i] = static_cast<unsigned char>(i * 31 >> 3);
  support::barrier();
  MPI_Datatype type;
  MPI_Type_create_hvector(blocks, length, stride, MPI_UNSIGNED_CHAR, &type);
  MPI_Type_commit(&type);
  std::vector<unsigned char> found(std::size_t{length} * blocks);
  MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
  MPI_Get(found.data(), length * blocks, MPI_UNSIGNED_CHAR, program.right(), 0, 1, type, window);
  MPI_Win_unlock(program.right(), window);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t at = i / length * stride + i % length;
    CHECK_EQUAL(found[i], static_cast<unsigned char>(at * 31 >> 3));
  }
  MPI_Type_free(&type);
  support::barrier();
}

/// A type may be freed as soon as the call that used it returned.
void freed_while_pending(const Target& target) {
  const Buffer background = pattern(2);
  target.set(background);
  Buffer origin = pattern(1);
  Buffer expected = background;
  MPI_Datatype kept;
  MPI_Type_vector(4, 3, 5, MPI_INT, &kept);
  MPI_Type_commit(&kept);
  copy_reference(&origin[half], elements, MPI_INT, &expected[half], 1, kept);
  MPI_Datatype freed;
  MPI_Type_dup(kept, &freed);
  MPI_Put(&origin[half], elements, MPI_INT, target.rank(), half, 1, freed, target.win());
  MPI_Type_free(&freed);
  MPI_Type_dup(kept, &freed);
  MPI_Accumulate(&expected[half], 1, freed, target.rank(), half, 1, freed, MPI_REPLACE,
                 target.win());
  MPI_Type_free(&freed);
  target.flush();
  const Layout layout{"vector", kept, 1};
  check_bytes(target.get(), expected, layout, layout, "put with a freed type");
  MPI_Type_free(&kept);
}

/// The displacement lies behind the window's end, and the datatype reaches back into it.
void from_behind_the_end(const Target& target) {
  constexpr int ints = 4;
  constexpr MPI_Aint back = -64;
  constexpr MPI_Aint behind = bytes + 48;
  MPI_Datatype type;
  MPI_Type_create_hindexed(1, &ints, &back, MPI_INT, &type);
  MPI_Type_commit(&type);
  const Buffer background = pattern(2);
  target.set(background);
  const Buffer origin = pattern(1);
  Buffer expected = background;
  std::memcpy(expected.data() + behind + back, origin.data(), sizeof(int) * ints);
  const Layout from{"ints", MPI_INT, ints};
  const Layout to{"hindexed", type, 1};
  MPI_Put(origin.data(), ints, MPI_INT, target.rank(), behind, 1, type, target.win());
  target.flush();
  check_bytes(target.get(), expected, from, to, "put behind the end");
  Buffer found = pattern(3);
  Buffer expected_found = found;
  std::memcpy(expected_found.data(), origin.data(), sizeof(int) * ints);
  MPI_Get(found.data(), ints, MPI_INT, target.rank(), behind, 1, type, target.win());
  target.flush();
  check_bytes(found, expected_found, to, from, "get behind the end");
  const std::vector<int> ones(ints, 1);
  for (int i = 0; i < ints; ++i) {
    int value = 0;
    char* place = expected.data() + behind + back + sizeof(int) * static_cast<std::size_t>(i);
    std::memcpy(&value, place, sizeof value);
    ++value;
    std::memcpy(place, &value, sizeof value);
  }
  MPI_Accumulate(ones.data(), ints, MPI_INT, target.rank(), behind, 1, type, MPI_SUM, target.win());
  target.flush();
  check_bytes(target.get(), expected, from, to, "accumulate behind the end");
  MPI_Type_free(&type);
}

void predefined(const Target& target, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  if (size == 0) return;  // a Fortran type of a host without Fortran
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  constexpr int count = 5;
  const Buffer out = pattern(1);
  Buffer in(bytes);
  MPI_Put(out.data(), count, type, target.rank(), 16, count, type, target.win());
  target.flush();
  MPI_Get(in.data(), count, type, target.rank(), 16, count, type, target.win());
  target.flush();
  const auto packed = [&](const Buffer& buffer) {
    std::vector<char> result(static_cast<std::size_t>(count * size));
    int position = 0;
    MPI_Pack(buffer.data(), count, type, result.data(), count * size, &position, MPI_COMM_SELF);
    return result;
  };
  CHECK(packed(in) == packed(out));
}

const std::vector<MPI_Datatype>& predefined_types() {
  static const std::vector<MPI_Datatype> types = [] {
    std::vector<MPI_Datatype> all = {MPI_CHAR,
                                     MPI_SIGNED_CHAR,
                                     MPI_UNSIGNED_CHAR,
                                     MPI_BYTE,
                                     MPI_WCHAR,
                                     MPI_SHORT,
                                     MPI_UNSIGNED_SHORT,
                                     MPI_INT,
                                     MPI_UNSIGNED,
                                     MPI_LONG,
                                     MPI_UNSIGNED_LONG,
                                     MPI_LONG_LONG,
                                     MPI_UNSIGNED_LONG_LONG,
                                     MPI_FLOAT,
                                     MPI_DOUBLE,
                                     MPI_LONG_DOUBLE,
                                     MPI_C_BOOL,
                                     MPI_INT8_T,
                                     MPI_INT16_T,
                                     MPI_INT32_T,
                                     MPI_INT64_T,
                                     MPI_UINT8_T,
                                     MPI_UINT16_T,
                                     MPI_UINT32_T,
                                     MPI_UINT64_T,
                                     MPI_AINT,
                                     MPI_COUNT,
                                     MPI_OFFSET,
                                     MPI_C_FLOAT_COMPLEX,
                                     MPI_C_DOUBLE_COMPLEX,
                                     MPI_C_LONG_DOUBLE_COMPLEX,
                                     MPI_FLOAT_INT,
                                     MPI_DOUBLE_INT,
                                     MPI_LONG_INT,
                                     MPI_2INT,
                                     MPI_SHORT_INT,
                                     MPI_LONG_DOUBLE_INT,
                                     MPI_CXX_BOOL,
                                     MPI_CXX_FLOAT_COMPLEX,
                                     MPI_CXX_DOUBLE_COMPLEX,
                                     MPI_CXX_LONG_DOUBLE_COMPLEX,
                                     MPI_INTEGER,
                                     MPI_REAL,
                                     MPI_DOUBLE_PRECISION,
                                     MPI_COMPLEX,
                                     MPI_DOUBLE_COMPLEX,
                                     MPI_LOGICAL,
                                     MPI_CHARACTER,
                                     MPI_2INTEGER,
                                     MPI_2REAL,
                                     MPI_2DOUBLE_PRECISION,
                                     MPI_INTEGER4,
// The host's own, of which the standard, its ABI included, knows nothing.
#if defined(MPI_2COMPLEX) && !defined(MPI_ABI_VERSION)
                                     MPI_2COMPLEX,
                                     MPI_2DOUBLE_COMPLEX,
#endif
#if defined(MPI_LOGICAL16) && !defined(MPI_ABI_VERSION)
                                     MPI_LOGICAL16,
#endif
#if defined(MPIX_BFLOAT16) && !defined(MPI_ABI_VERSION)
                                     MPIX_BFLOAT16,
#endif
                                     MPI_REAL8};
    std::erase(all, MPI_DATATYPE_NULL);
#if defined(MPI_LOGICAL16) && defined(MPIX_BFLOAT16) && !defined(MPI_ABI_VERSION)
    // MPICH 4.0, which may run this program, ends a process that asks about types of later
    // versions.
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    if (version < 5) {
      for (const MPI_Datatype later : {MPI_LOGICAL16, MPIX_BFLOAT16}) std::erase(all, later);
    }
#endif
    return all;
  }();
  return types;
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  const Layouts layouts;
  for (Flavor flavor : support::flavors()) {
    Window<char> window(flavor, bytes);
    const auto alone = [&](auto body) {
      // Each rank has its right neighbour for itself, its own memory included when it is alone.
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
      body(Target(window, program.right()));
      MPI_Win_unlock(program.right(), window);
    };
    program.test("predefined types", [&] {
      alone([](const Target& target) {
        for (MPI_Datatype type : predefined_types()) predefined(target, type);
      });
    });
    program.test("all pairs of layouts", [&] {
      alone([&](const Target& target) {
        bool requests = false;
        for (const Layout& from : layouts) {
          for (const Layout& to : layouts) transfer(target, from, to, requests = !requests);
        }
      });
    });
    program.test("MPI_BOTTOM", [&] { alone(bottom); });
    program.test("mixed struct", [&] { alone(mixed_struct); });
    program.test("from behind the end", [&] { alone(from_behind_the_end); });
    program.test("types freed while pending", [&] { alone(freed_while_pending); });
    program.test("vectors", [&] { vectors(flavor, program); });
    program.test("overlapping blocks", [&] { overlapping_blocks(flavor, program); });
  }
}
