// SPDX-License-Identifier: BSD-3-Clause
// G7: what was wrong comes back as the standard's error class through the window's error handler;
// nothing is written, and the window stays usable.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "support/counters.hpp"
#include "support/nonblocking.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"
#include "support/windows.hpp"

namespace {

using support::Flavor;
using support::Group;
using support::Nonblocking;
using support::Program;
using support::Window;

constexpr int count = 4;

/// A window that returns its errors, and proves at the end of a test that it still works and that
/// no failed call wrote anything.
class Guarded {
 public:
  Guarded(Flavor flavor, const Program& program, MPI_Info info = MPI_INFO_NULL)
      : window_(flavor, count, MPI_COMM_WORLD, info), program_(program) {
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  }
  ~Guarded() {
    support::barrier();
    for (std::size_t i = 0; i < count; ++i) CHECK_EQUAL(window_[i], 0);
    const int value = 1 + program_.rank();
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOPRECEDE, window_), MPI_SUCCESS);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, program_.right(), count - 1, 1, MPI_INT, window_),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_), MPI_SUCCESS);
    CHECK_EQUAL(window_[count - 1], 1 + program_.left());
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  operator MPI_Win() const { return window_; }

 private:
  Window<int> window_;
  const Program& program_;
};

void put_one(MPI_Win win, int target, MPI_Aint displacement, int expected) {
  const int value = 99;
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, target, displacement, 1, MPI_INT, win), expected);
}

void ranks(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  int value = 99, result = 0;
  for (int bad : {program.size(), -77, program.size() + 1000}) {
    // Argument errors come before errors of state: no epoch is open here.
    put_one(window, bad, 0, MPI_ERR_RANK);
    CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, bad, 0, 1, MPI_INT, window), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, bad, 0, 1, MPI_INT, MPI_SUM, window),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, bad, 0, MPI_SUM, window), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_INT, bad, 0, window),
                MPI_ERR_RANK);
    const int locked = MPI_Win_lock(MPI_LOCK_SHARED, bad, 0, window);
    CHECK_CLASS(locked, MPI_ERR_RANK);
    // The sentence is this call's, not that of the failure before.
    CHECK(support::class_name(locked).find("not in the window's group") != std::string::npos);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, window), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Win_unlock(bad, window), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_flush(bad, window), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_flush_local(bad, window), MPI_ERR_RANK);
  }
}

void displacements(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  int values[count + 1] = {9, 9, 9, 9, 9};
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  put_one(window, target, count, MPI_ERR_RMA_RANGE);
  put_one(window, target, MPI_Aint{1} << 40, MPI_ERR_RMA_RANGE);
  // Times the displacement unit this wraps to nought.
  put_one(window, target, MPI_Aint{1} << 62, MPI_ERR_RMA_RANGE);
  int result = 5;
  const MPI_Aint wraps = MPI_Aint{1} << 62;
  CHECK_CLASS(MPI_Get(values, 1, MPI_INT, target, wraps, 1, MPI_INT, window), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Accumulate(values, 1, MPI_INT, target, wraps, 1, MPI_INT, MPI_SUM, window),
              MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Fetch_and_op(values, &result, MPI_INT, target, wraps, MPI_SUM, window),
              MPI_ERR_RMA_RANGE);
  const int nought = 0;
  CHECK_CLASS(MPI_Compare_and_swap(values, &nought, &result, MPI_INT, target, wraps, window),
              MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Put(values, count + 1, MPI_INT, target, 0, count + 1, MPI_INT, window),
              MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Get(values, 2, MPI_INT, target, count - 1, 2, MPI_INT, window),
              MPI_ERR_RMA_RANGE);
  CHECK_EQUAL(values[0], 9);
  CHECK_CLASS(MPI_Accumulate(values, 2, MPI_INT, target, count - 1, 2, MPI_INT, MPI_SUM, window),
              MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Fetch_and_op(values, &result, MPI_INT, target, count, MPI_SUM, window),
              MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Compare_and_swap(values, values, &result, MPI_INT, target, count, window),
              MPI_ERR_RMA_RANGE);
  CHECK_EQUAL(result, 5);
  // A derived type that starts inside and ends outside, and one that starts before the window.
  MPI_Datatype type;
  MPI_Type_vector(2, 1, count, MPI_INT, &type);
  MPI_Type_commit(&type);
  CHECK_CLASS(MPI_Put(values, 2, MPI_INT, target, 0, 1, type, window), MPI_ERR_RMA_RANGE);
  MPI_Type_free(&type);
  const int one = 1, before = -1;
  MPI_Type_indexed(1, &one, &before, MPI_INT, &type);
  MPI_Type_commit(&type);
  CHECK_CLASS(MPI_Put(values, 1, MPI_INT, target, 0, 1, type, window), MPI_ERR_RMA_RANGE);
  MPI_Type_free(&type);
  const int negative =
      support::error_class(MPI_Put(values, 1, MPI_INT, target, -1, 1, MPI_INT, window));
  CHECK(negative == MPI_ERR_DISP || negative == MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
}

/// 2^30 times 2^34 bytes wrap to none.
void huge_counts(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  constexpr int many = 1 << 30;
  MPI_Datatype four_gibi, huge;
  MPI_Type_contiguous(many, MPI_INT, &four_gibi);
  MPI_Type_contiguous(4, four_gibi, &huge);
  MPI_Type_commit(&huge);
  int value = 99;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Put(&value, many, huge, target, 0, many, huge, window), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Get(&value, many, huge, target, 0, many, huge, window), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Accumulate(&value, many, huge, target, 0, many, huge, MPI_SUM, window),
              MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  CHECK_EQUAL(value, 99);
  MPI_Type_free(&huge);
  MPI_Type_free(&four_gibi);
}

void epochs(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  put_one(window, target, 0, MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(target, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_all(window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_local(target, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_local_all(window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_wait(window), MPI_ERR_RMA_SYNC);
  int flag = 0;
  CHECK_CLASS(MPI_Win_test(window, &flag), MPI_ERR_RMA_SYNC);
  support::barrier();

  // A lock taken twice, and lock_all next to a lock.
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
  if (program.size() > 1) {
    put_one(window, program.rank(), 0, MPI_ERR_RMA_SYNC);  // locked is only the right neighbour
    CHECK_CLASS(MPI_Win_flush(program.rank(), window), MPI_ERR_RMA_SYNC);
  }
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);

  MPI_Win_lock_all(0, window);
  CHECK_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(window), MPI_SUCCESS);
  support::barrier();

  // Access epochs cover their group, and are not opened twice.
  const Group self({program.rank()});
  CHECK_CLASS(MPI_Win_post(self, 0, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_post(self, 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_start(self, 0, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_start(self, 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window), MPI_ERR_RMA_SYNC);
  if (program.size() > 1) put_one(window, target, 0, MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_wait(window), MPI_SUCCESS);
}

/// Those in fence and access epochs are in requests.cpp.
void requests_outside(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int value = 99;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window, &request),
              MPI_ERR_RMA_SYNC);
  CHECK(request == MPI_REQUEST_NULL);
}

void synchronization_arguments(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  CHECK_CLASS(MPI_Win_lock(12345, target, 0, window), MPI_ERR_LOCKTYPE);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 1 << 30, window), MPI_ERR_ASSERT);
  CHECK_CLASS(MPI_Win_lock_all(1 << 30, window), MPI_ERR_ASSERT);
  CHECK_CLASS(MPI_Win_fence(1 << 30, window), MPI_ERR_ASSERT);
  CHECK_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, window), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, window), MPI_ERR_GROUP);
}

void counts_and_types(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  int value = 99;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Put(&value, -1, MPI_INT, target, 0, 1, MPI_INT, window), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, target, 0, -1, MPI_INT, window), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_DATATYPE_NULL, target, 0, 1, MPI_INT, window), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, target, 0, 1, MPI_DATATYPE_NULL, window), MPI_ERR_TYPE);
  double number = 1;
  CHECK_CLASS(MPI_Compare_and_swap(&number, &number, &number, MPI_DOUBLE, target, 0, window),
              MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
}

/// MPICH and Intel MPI give no error for the handle of a freed datatype, and crash when asked what
/// it is made of. On Open MPI it is an address of nothing.
void freed_types(Flavor flavor, const Program& program) {
  if (program.host() == "openmpi") return;
  const Guarded window(flavor, program);
  const int target = program.right();
  const std::array<int, 2> values{0, 0};
  const auto pair_of = [](MPI_Datatype part) {
    MPI_Datatype made;
    MPI_Type_contiguous(2, part, &made);
    MPI_Type_commit(&made);
    return made;
  };
  const auto put = [&](MPI_Datatype type) {
    return MPI_Put(values.data(), 1, type, target, 0, 1, type, window);
  };
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  MPI_Datatype type = pair_of(MPI_INT);
  const MPI_Datatype unused = type;
  MPI_Type_free(&type);
  CHECK_CLASS(put(unused), MPI_ERR_TYPE);
  type = pair_of(MPI_INT);
  const MPI_Datatype used = type;
  CHECK_CLASS(put(used), MPI_SUCCESS);
  MPI_Type_free(&type);
  CHECK_CLASS(put(used), MPI_ERR_TYPE);
  // One that another datatype is made of lives on, and the host gives its handle out again.
  MPI_Datatype part = pair_of(MPI_INT);
  MPI_Datatype whole = pair_of(part);
  MPI_Type_free(&part);
  int two = 0;
  MPI_Aint address = 0;
  MPI_Type_get_contents(whole, 1, 0, 1, &two, &address, &part);
  CHECK_CLASS(put(part), MPI_SUCCESS);
  MPI_Type_free(&part);
  MPI_Type_free(&whole);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
}

/// The single-element atomics take predefined types only.
void derived_type_in_atomics(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  const int value = 99;
  int result = 5;
  MPI_Datatype derived;
  MPI_Type_contiguous(1, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Fetch_and_op(&value, &result, derived, target, 0, MPI_SUM, window), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, derived, target, 0, window),
              MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  MPI_Type_free(&derived);
  CHECK_EQUAL(result, 5);
}

void ops(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  const int value = 99;
  int result = 5;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_OP_NULL, window),
              MPI_ERR_OP);
  MPI_Op user;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &user);
  CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, user, window), MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_INT, target, 0, user, window), MPI_ERR_OP);
  MPI_Op_free(&user);
  CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_NO_OP, window),
              MPI_ERR_OP);
  // An op that has no meaning for the type.
  const float real = 1;
  CHECK_CLASS(MPI_Accumulate(&real, 1, MPI_FLOAT, target, 0, 1, MPI_FLOAT, MPI_BAND, window),
              MPI_ERR_OP);
  CHECK_EQUAL(result, 5);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
}

void uncommitted_type(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  const int value = 99;
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Put(&value, 1, type, target, 0, 1, MPI_INT, window), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, target, 0, 1, type, window), MPI_ERR_TYPE);
  MPI_Win_unlock(target, window);
  MPI_Type_free(&type);
}

void handles(const Program& program) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int value = 99;
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, MPI_WIN_NULL),
              MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_lock_all(0, MPI_WIN_NULL), MPI_ERR_WIN);
  MPI_Win none = MPI_WIN_NULL;
  CHECK_CLASS(MPI_Win_free(&none), MPI_ERR_WIN);
  int memory = 0;
  MPI_Win win;
  const int unit = support::error_class(
      MPI_Win_create(&memory, sizeof memory, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK(unit == MPI_ERR_DISP || unit == MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_create(&memory, -8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_create(&memory, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// Every call on a freed handle is MPI_ERR_WIN, and the next window has nothing of what was set on
/// it afterwards.
void freed_handles() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Window<int> other(Flavor::allocate, count);  // there is one left
  MPI_Win window = MPI_WIN_NULL;
  int* base = nullptr;
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  const MPI_Win freed = window;
  MPI_Win_free(&window);
  int value = 99;
  int flag = 0;
  void* found = nullptr;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, freed), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_lock_all(0, freed), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_fence(0, freed), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, freed), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, freed, &request), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_flush_all(freed), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_attach(freed, &value, sizeof value), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_get_attr(freed, MPI_WIN_BASE, &found, &flag), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_set_name(freed, "left behind"), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_set_errhandler(freed, MPI_ERRORS_RETURN), MPI_ERR_WIN);
  MPI_Win again = freed;
  CHECK_CLASS(MPI_Win_free(&again), MPI_ERR_WIN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  Window<int> next(Flavor::allocate, count);
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Win_get_name(next, name, &length);
  CHECK(std::string(name) != "left behind");
}

/// MPI-4.1 section 12.3: the data must fit, without truncation, into the buffer that they go to.
void truncation(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const int target = program.right();
  const int values[count] = {9, 9, 9, 9};
  int result[count] = {5, 5, 5, 5};
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Put(values, 3, MPI_INT, target, 0, 2, MPI_INT, window), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Put(values, 3, MPI_INT, target, 0, 1, vector, window), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Get(result, 2, MPI_INT, target, 0, 3, MPI_INT, window), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Get(result, 1, vector, target, 0, 3, MPI_INT, window), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Get_accumulate(values, 3, MPI_INT, result, 2, MPI_INT, target, 0, 3, MPI_INT,
                                 MPI_SUM, window),
              MPI_ERR_TRUNCATE);
  for (const int one : result) CHECK_EQUAL(one, 5);
  // Data that end within a predefined element of the target's.
  CHECK_CLASS(MPI_Put(values, 6, MPI_BYTE, target, 0, 2, MPI_INT, window), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Put(values, 9, MPI_BYTE, target, 0, 3, MPI_INT, window), MPI_ERR_TYPE);
  // What is shorter fits, and no more than it is moved; an empty side moves nothing.
  CHECK_CLASS(MPI_Put(values, 4, MPI_INT, target, 0, 0, MPI_INT, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Put(values, 0, MPI_INT, target, 0, 4, MPI_INT, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Get(result, 0, MPI_INT, target, 0, 4, MPI_INT, window), MPI_SUCCESS);
  MPI_Win_flush(target, window);
  for (const int one : result) CHECK_EQUAL(one, 5);
  CHECK_CLASS(MPI_Get(result, 3, MPI_INT, target, 0, 1, vector, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  CHECK_EQUAL(result[1], 0);
  CHECK_EQUAL(result[2], 5);
  MPI_Type_free(&vector);
}

/// Data that are shorter than the buffer they go to: no more than them is read and written.
void shorter_data(Flavor flavor, const Program& program) {
  Window<int> window(flavor, count);
  const int target = program.right();
  const int values[count] = {9, 9, 9, 9};
  int result[count] = {5, 5, 5, 5};
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  CHECK_CLASS(MPI_Put(values, 1, MPI_INT, target, 0, 4, MPI_INT, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Accumulate(values, 2, MPI_INT, target, 2, 2, MPI_INT, MPI_SUM, window),
              MPI_SUCCESS);
  CHECK_CLASS(MPI_Accumulate(values, 1, MPI_INT, target, 2, 2, MPI_INT, MPI_SUM, window),
              MPI_SUCCESS);
  MPI_Win_flush(target, window);
  CHECK_CLASS(MPI_Get(result, 4, MPI_INT, target, 0, 4, MPI_INT, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  const int expected[count] = {9, 0, 18, 9};
  for (int i = 0; i < count; ++i) CHECK_EQUAL(result[i], expected[i]);
  support::barrier();
}

/// They may end within an element of the target's derived datatype, as those of a message may.
void data_within_an_element(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 2 * count);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const int target = program.right();
  const int values[3] = {7, 8, 9};
  int result[2 * count] = {};
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);  // an element has ints 0 and 2; the next 3 and 5
  MPI_Type_commit(&vector);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  CHECK_CLASS(MPI_Put(values, 3, MPI_INT, target, 0, 2, vector, window), MPI_SUCCESS);
  MPI_Win_flush(target, window);
  CHECK_CLASS(MPI_Accumulate(values, 3, MPI_INT, target, 2, 2, vector, MPI_SUM, window),
              MPI_SUCCESS);
  MPI_Win_flush(target, window);
  CHECK_CLASS(MPI_Accumulate(values, 1, MPI_INT, target, 7, 1, vector, MPI_SUM, window),
              MPI_SUCCESS);
  // Far more than there is; the last element is half full.
  const int many = std::numeric_limits<int>::max();
  CHECK(MPI_Put(values, many, MPI_INT, target, 0, many, vector, window) != MPI_SUCCESS);
  MPI_Win_flush(target, window);
  CHECK_CLASS(MPI_Get(result, 8, MPI_INT, target, 0, 8, MPI_INT, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  const int expected[2 * count] = {7, 0, 8 + 7, 9, 8, 9, 0, 7};
  for (int i = 0; i < 2 * count; ++i) CHECK_EQUAL(result[i], expected[i]);
  MPI_Type_free(&vector);
  support::barrier();
}

/// A delete callback that sets its attribute again is called again; the window is freed.
void attribute_set_again() {
  struct Callback {
    int key = MPI_KEYVAL_INVALID;
    int calls = 0;
  } callback;
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_create_keyval(
      MPI_WIN_NULL_COPY_FN,
      [](MPI_Win of, int key, void* value, void*) -> int {
        auto& called = *static_cast<Callback*>(value);
        if (++called.calls < 3) MPI_Win_set_attr(of, key, value);
        return MPI_SUCCESS;
      },
      &callback.key, nullptr);
  MPI_Win_set_attr(win, callback.key, &callback);
  CHECK_CLASS(MPI_Win_free(&win), MPI_SUCCESS);
  CHECK(win == MPI_WIN_NULL);
  MPI_Win_free_keyval(&callback.key);
}

/// MPI-4.1 section 12.2.1: windows are made on intracommunicators. Rank 0 on one side, all others
/// on the other: groups of different sizes where there are more ranks than two.
void intercommunicators(const Program& program) {
  if (program.size() == 1) return;
  MPI_Comm side, both;
  const bool first = program.rank() == 0;
  MPI_Comm_split(MPI_COMM_WORLD, first ? 0 : 1, 0, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, first ? 1 : 0, 0, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  int memory = 0;
  void* base = &memory;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_CLASS(MPI_Win_create(base, 4, 1, MPI_INFO_NULL, both, &win), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Win_allocate(4, 1, MPI_INFO_NULL, both, &base, &win), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Win_allocate_shared(4, 1, MPI_INFO_NULL, both, &base, &win), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, both, &win), MPI_ERR_COMM);
  CHECK(win == MPI_WIN_NULL);
  CHECK(base == &memory);
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
}

/// A window is not freed under an open epoch.
void free_in_epoch(Flavor flavor) {
  int* base = nullptr;
  MPI_Win win;
  int memory = 0;
  if (flavor == Flavor::create) {
    MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  }
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  CHECK(win != MPI_WIN_NULL);
  CHECK_CLASS(MPI_Win_unlock_all(win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_free(&win), MPI_SUCCESS);
}

/// MPI-4.1 section 7.7.3: a delete callback that fails fails MPI_Win_free. The other ranks are
/// still waiting for this one then, so the window is as good as before.
void failing_delete_callback(Flavor flavor, const Program& program) {
  std::optional<Window<int>> made(std::in_place, flavor, count);
  const MPI_Win window = *made;
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  struct Callback {
    int calls = 0;
    bool fails = false;
  } callback;
  callback.fails = program.rank() == 0;
  int key = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(
      MPI_WIN_NULL_COPY_FN,
      [](MPI_Win, int, void* value, void*) -> int {
        auto& called = *static_cast<Callback*>(value);
        ++called.calls;
        return called.fails ? MPI_ERR_OTHER : MPI_SUCCESS;
      },
      &key, nullptr);
  MPI_Win_set_attr(window, key, &callback);
  if (callback.fails) {
    MPI_Win win = window;
    CHECK(MPI_Win_free(&win) != MPI_SUCCESS);
    CHECK(win == window);
    CHECK_EQUAL(callback.calls, 1);
    callback.fails = false;
    const int value = 7;
    int found = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, program.right(), 1, 1, MPI_INT, window), MPI_SUCCESS);
    MPI_Win_flush(program.right(), window);
    CHECK_CLASS(MPI_Get(&found, 1, MPI_INT, program.right(), 1, 1, MPI_INT, window), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_unlock(program.right(), window), MPI_SUCCESS);
    CHECK_EQUAL(found, value);
  }
  made.reset();
  CHECK_EQUAL(callback.calls, program.rank() == 0 ? 2 : 1);
  MPI_Win_free_keyval(&key);
}

/// The nonblocking calls raise the same classes, start nothing and leave the request alone.
void nonblocking_calls(Flavor flavor, const Program& program) {
  const Nonblocking oriel;
  const Guarded window(flavor, program);
  const int bad = program.size();
  const int target = program.right();
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(oriel.Win_ilock(MPI_LOCK_SHARED, bad, 0, window, &request), MPI_ERR_RANK);
  CHECK_CLASS(oriel.Win_ilock(12345, target, 0, window, &request), MPI_ERR_LOCKTYPE);
  CHECK_CLASS(oriel.Win_ilock(MPI_LOCK_SHARED, target, 1 << 30, window, &request), MPI_ERR_ASSERT);
  CHECK_CLASS(oriel.Win_ilock_all(1 << 30, window, &request), MPI_ERR_ASSERT);
  CHECK_CLASS(oriel.Win_ifence(1 << 30, window, &request), MPI_ERR_ASSERT);
  CHECK_CLASS(oriel.Win_ipost(MPI_GROUP_NULL, 0, window, &request), MPI_ERR_GROUP);
  CHECK_CLASS(oriel.Win_istart(MPI_GROUP_NULL, 0, window, &request), MPI_ERR_GROUP);
  CHECK_CLASS(oriel.Win_iunlock(target, window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(oriel.Win_iunlock(bad, window, &request), MPI_ERR_RANK);
  CHECK_CLASS(oriel.Win_iunlock_all(window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(oriel.Win_icomplete(window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(oriel.Win_iwait(window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(oriel.Win_iflush(target, window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(oriel.Win_iflush(bad, window, &request), MPI_ERR_RANK);
  CHECK_CLASS(oriel.Win_iflush_local(target, window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(oriel.Win_iflush_all(window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(oriel.Win_iflush_local_all(window, &request), MPI_ERR_RMA_SYNC);
  CHECK(request == MPI_REQUEST_NULL);
  oriel.Win_ilock(MPI_LOCK_SHARED, target, 0, window, &request);
  support::wait(request);
  CHECK_CLASS(oriel.Win_ilock(MPI_LOCK_SHARED, target, 0, window, &request), MPI_ERR_RMA_SYNC);
  CHECK(request == MPI_REQUEST_NULL);
  oriel.Win_iunlock(target, window, &request);
  support::wait(request);
  support::barrier();

  // MPI-3 raises what belongs to no window on the world, MPI-4 on oneself.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(oriel.Win_ifence(0, MPI_WIN_NULL, &request), MPI_ERR_WIN);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// Nothing is started where the request has nowhere to go: no operation, no notification, no epoch.
void null_requests(Flavor flavor, const Program& program) {
  const Nonblocking oriel;
  const support::Notified notified;
  const Guarded window(flavor, program);
  const int target = program.right();
  const int value = 99;
  int result = 5;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Rget(&result, 1, MPI_INT, target, 0, 1, MPI_INT, window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Raccumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, window, nullptr),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Rget_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, target, 0, 1, MPI_INT,
                                  MPI_SUM, window, nullptr),
              MPI_ERR_ARG);
  CHECK_CLASS(notified.Rput_notify(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window, 3, nullptr),
              MPI_ERR_ARG);
  CHECK_CLASS(oriel.Win_iflush(target, window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(oriel.Win_iunlock(target, window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);  // the epoch is still open
  CHECK_EQUAL(result, 5);
  CHECK_CLASS(oriel.Win_ilock(MPI_LOCK_EXCLUSIVE, target, 0, window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(oriel.Win_ilock_all(0, window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(oriel.Win_ifence(0, window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(notified.Notify_init(window, MPI_ANY_SOURCE, 3, 1, nullptr), MPI_ERR_ARG);
  put_one(window, target, 0, MPI_ERR_RMA_SYNC);
  support::barrier();
  CHECK_CLASS(notified.Notify_iprobe(window, MPI_ANY_SOURCE, MPI_ANY_TAG, nullptr, nullptr),
              MPI_ERR_ARG);
  int found = -1;
  notified.Notify_iprobe(window, MPI_ANY_SOURCE, MPI_ANY_TAG, &found, MPI_STATUS_IGNORE);
  CHECK_EQUAL(found, 0);
}

/// While a request of ours exists; else they are for the host to refuse.
void null_arguments_of_waits(const Program& program) {
  const support::Notified notified;
  const Guarded window(Flavor::allocate, program);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(notified.Notify_init(window, MPI_ANY_SOURCE, 3, 1, &request), MPI_SUCCESS);
  MPI_Request* const none = nullptr;
  int* const null = nullptr;
  int flag = 0;
  int index = 0;
  int done = 0;
  MPI_Status* const ignore = MPI_STATUS_IGNORE;
  MPI_Status* const all_ignored = MPI_STATUSES_IGNORE;
  for (const int code : {
           MPI_Wait(none, ignore),
           MPI_Test(none, &flag, ignore),
           MPI_Test(&request, null, ignore),
           MPI_Start(none),
           MPI_Startall(1, none),
           MPI_Request_free(none),
           MPI_Waitany(1, none, &index, ignore),
           MPI_Waitany(1, &request, null, ignore),
           MPI_Waitall(1, none, all_ignored),
           MPI_Waitsome(1, none, &done, &index, all_ignored),
           MPI_Waitsome(1, &request, null, &index, all_ignored),
           MPI_Testany(1, none, &index, &flag, ignore),
           MPI_Testall(1, none, &flag, all_ignored),
           MPI_Testall(1, &request, null, all_ignored),
           MPI_Testsome(1, none, &done, &index, all_ignored),
           MPI_Testsome(1, &request, null, &index, all_ignored),
           MPI_Request_get_status(request, null, ignore),
       }) {
    CHECK_CLASS(code, MPI_ERR_ARG);
  }
  CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// Memory at a null address: on one rank, and all ranks fail.
void null_memory(const Program& program) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win made = MPI_WIN_NULL;
  int memory = 0;
  int* base = program.rank() == 0 ? nullptr : &memory;
  CHECK_CLASS(MPI_Win_create(base, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made),
              MPI_ERR_ARG);
  CHECK(made == MPI_WIN_NULL);
  CHECK_CLASS(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made), MPI_SUCCESS);
  MPI_Win_free(&made);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made);
  MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_attach(made, nullptr, sizeof memory), MPI_ERR_ARG);
  MPI_Win_free(&made);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/// Of each operation; a datatype with gaps goes another way than one without.
void null_buffers(Flavor flavor, const Program& program) {
  const support::Notified notified;
  const Guarded window(flavor, program);
  const int target = program.right();
  const int value = 99;
  int result = 5;
  int* null = nullptr;
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  for (const MPI_Datatype type : {MPI_INT, MPI_DOUBLE, vector}) {
    CHECK_CLASS(MPI_Put(null, 1, type, target, 0, 1, type, window), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Get(null, 1, type, target, 0, 1, type, window), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Accumulate(null, 1, type, target, 0, 1, type, MPI_SUM, window), MPI_ERR_BUFFER);
    CHECK_CLASS(notified.Put_notify(null, 1, type, target, 0, 1, type, window, 3), MPI_ERR_BUFFER);
    if (!program.host_only()) {  // MPICH and Intel MPI refuse them
      CHECK_CLASS(MPI_Put(null, 1, type, MPI_PROC_NULL, 0, 1, type, window), MPI_SUCCESS);
      CHECK_CLASS(MPI_Get(null, 1, type, MPI_PROC_NULL, 0, 1, type, window), MPI_SUCCESS);
    }
    CHECK_CLASS(MPI_Put(null, 0, type, target, 0, 0, type, window), MPI_SUCCESS);
    CHECK_CLASS(MPI_Get(null, 0, type, target, 0, 0, type, window), MPI_SUCCESS);
    CHECK_CLASS(MPI_Accumulate(null, 0, type, target, 0, 0, type, MPI_SUM, window), MPI_SUCCESS);
  }
  CHECK_CLASS(MPI_Get_accumulate(null, 1, MPI_INT, &result, 1, MPI_INT, target, 0, 1, MPI_INT,
                                 MPI_SUM, window),
              MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Get_accumulate(&value, 1, MPI_INT, null, 1, MPI_INT, target, 0, 1, MPI_INT,
                                 MPI_SUM, window),
              MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Fetch_and_op(null, &result, MPI_INT, target, 0, MPI_SUM, window), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Fetch_and_op(&value, null, MPI_INT, target, 0, MPI_SUM, window), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Compare_and_swap(null, &value, &result, MPI_INT, target, 0, window), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Compare_and_swap(&value, null, &result, MPI_INT, target, 0, window), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Compare_and_swap(&value, &value, null, MPI_INT, target, 0, window), MPI_ERR_ARG);
  CHECK_EQUAL(result, 5);
  // MPI_NO_OP reads no origin.
  CHECK_CLASS(MPI_Fetch_and_op(null, &result, MPI_INT, target, 0, MPI_NO_OP, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  CHECK_EQUAL(result, 0);
  MPI_Type_free(&vector);
}

/// MPI-4.1 section 5.1.5: MPI_BOTTOM is the null address in these hosts, and no null pointer.
void absolute_addresses(Flavor flavor, const Program& program) {
  Window<int> window(flavor, count);
  const int target = program.right();
  int values[2] = {11, 12};
  int fetched[2] = {0, 0};
  const auto absolute = [](const int* memory) {
    const int length = 2;
    MPI_Aint address = 0;
    MPI_Get_address(memory, &address);
    MPI_Datatype type;
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
  };
  MPI_Datatype from = absolute(values);
  MPI_Datatype into = absolute(fetched);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  CHECK_CLASS(MPI_Put(MPI_BOTTOM, 1, from, target, 0, 2, MPI_INT, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Accumulate(MPI_BOTTOM, 1, from, target, 2, 2, MPI_INT, MPI_SUM, window),
              MPI_SUCCESS);
  MPI_Win_flush(target, window);
  CHECK_CLASS(MPI_Get(MPI_BOTTOM, 1, into, target, 0, 2, MPI_INT, window), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  CHECK_EQUAL(fetched[0], 11);
  CHECK_EQUAL(fetched[1], 12);
  support::barrier();
  CHECK_EQUAL(window[2], 11);
  CHECK_EQUAL(window[3], 12);
  MPI_Type_free(&from);
  MPI_Type_free(&into);
}

void null_outputs(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  const support::Counters counters;
  const support::Windows windows;
  void* base = nullptr;
  MPI_Aint size = 0;
  int number = 0;
  CHECK_CLASS(MPI_Win_get_group(window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_get_info(window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_get_attr(window, MPI_WIN_BASE, nullptr, &number), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_get_attr(window, MPI_WIN_BASE, &base, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_shared_query(window, 0, nullptr, &number, &base), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_shared_query(window, 0, &size, nullptr, &base), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_shared_query(window, 0, &size, &number, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(counters.Win_get_num_notify(window, 0, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(windows.Win_dup_with_info(window, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
  const Group self({program.rank()});
  MPI_Win_post(self, 0, window);
  MPI_Win_start(self, 0, window);
  MPI_Win_complete(window);
  CHECK_CLASS(MPI_Win_test(window, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_wait(window), MPI_SUCCESS);
}

/// On one rank alone: all ranks learn of it, and none waits.
void null_windows(const Program& program) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int memory = 0;
  int* base = nullptr;
  MPI_Win made = MPI_WIN_NULL;
  const bool last = program.rank() == program.size() - 1;
  MPI_Win* win = last ? nullptr : &made;
  void* bases = last ? nullptr : &base;
  const MPI_Comm world = MPI_COMM_WORLD;
  CHECK_CLASS(MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, world, win), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_allocate(4, 4, MPI_INFO_NULL, world, &base, win), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_allocate(4, 4, MPI_INFO_NULL, world, bases, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, world, win), MPI_ERR_ARG);
  if (support::one_node()) {
    CHECK_CLASS(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, world, &base, win), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, world, bases, &made), MPI_ERR_ARG);
  }
  CHECK_CLASS(MPI_Win_free(nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Alloc_mem(64, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
  CHECK(made == MPI_WIN_NULL && base == nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

void no_locks(Flavor flavor, const Program& program) {
  const support::Info info{{"no_locks", "true"}};
  const Guarded window(flavor, program, info);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
}

/// MPI-4.1 section 12.2.4: only dynamic windows take memory and give it up.
void attach(Flavor flavor, const Program& program) {
  const Guarded window(flavor, program);
  int memory = 0;
  CHECK_CLASS(MPI_Win_attach(window, &memory, sizeof memory), MPI_ERR_RMA_FLAVOR);
  CHECK_CLASS(MPI_Win_detach(window, &memory), MPI_ERR_RMA_FLAVOR);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  if (program.host_only()) return 0;  // what a host checks is its own choice
  for (Flavor flavor : support::flavors()) {
    program.test("ranks", [&] { ranks(flavor, program); });
    program.test("displacements", [&] { displacements(flavor, program); });
    program.test("huge counts", [&] { huge_counts(flavor, program); });
    program.test("epochs", [&] { epochs(flavor, program); });
    program.test("requests outside epochs", [&] { requests_outside(flavor, program); });
    program.test("synchronization arguments", [&] { synchronization_arguments(flavor, program); });
    program.test("counts and types", [&] { counts_and_types(flavor, program); });
    program.test("derived type in atomics", [&] { derived_type_in_atomics(flavor, program); });
    program.test("freed types", [&] { freed_types(flavor, program); });
    program.test("ops", [&] { ops(flavor, program); });
    program.test("uncommitted type", [&] { uncommitted_type(flavor, program); });
    program.test("free in an epoch", [&] { free_in_epoch(flavor); });
    program.test("failing delete callback", [&] { failing_delete_callback(flavor, program); });
    program.test("ORIEL_ calls", [&] { nonblocking_calls(flavor, program); });
    program.test("truncation", [&] { truncation(flavor, program); });
    program.test("shorter data", [&] { shorter_data(flavor, program); });
    program.test("data within an element", [&] { data_within_an_element(flavor, program); });
    program.test("null requests", [&] { null_requests(flavor, program); });
    program.test("null buffers", [&] { null_buffers(flavor, program); });
    program.test("absolute addresses", [&] { absolute_addresses(flavor, program); });
    program.test("null outputs", [&] { null_outputs(flavor, program); });
    program.test("no_locks", [&] { no_locks(flavor, program); });
    program.test("attach", [&] { attach(flavor, program); });
  }
  program.test("handles", [&] { handles(program); });
  program.test("attribute set again", attribute_set_again);
  program.test("freed handles", freed_handles);
  program.test("null windows", [&] { null_windows(program); });
  program.test("null arguments of waits", [&] { null_arguments_of_waits(program); });
  program.test("null memory", [&] { null_memory(program); });
  program.test("intercommunicators", [&] { intercommunicators(program); });
}
