// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface (oriel.hpp): every class and function, on a ring of ranks; errors as
// exceptions, objects that have been moved from, and what destructors do, also when an exception
// unwinds. The other programs test the calls themselves.

// The program runs on the host alone as well.
#define ORIEL_WEAK 1

#include <algorithm>
#include <array>
#include <climits>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Program;

struct Particle {
  double position[2];
  int charge;
  bool operator==(const Particle&) const = default;
};
MPI_Datatype particle_datatype = MPI_DATATYPE_NULL;

}  // namespace

template <>
struct oriel::datatype<Particle> {
  static MPI_Datatype get() noexcept { return particle_datatype; }
};

namespace {

// Buffers, requests and windows: what the compiler refuses.
using Doubles = std::vector<double>;
static_assert(std::is_constructible_v<oriel::buffer<const double>, double&>);
static_assert(std::is_constructible_v<oriel::buffer<const double>, const Doubles&>);
static_assert(std::is_constructible_v<oriel::buffer<const double>, std::span<double>>);
static_assert(!std::is_constructible_v<oriel::buffer<const double>, double>);
static_assert(!std::is_constructible_v<oriel::buffer<const double>, int&>);
static_assert(!std::is_constructible_v<oriel::buffer<const double>, Doubles>);
static_assert(!std::is_constructible_v<oriel::buffer<double>, const Doubles&>);
static_assert(!std::is_constructible_v<oriel::buffer<const double>, std::vector<float>&>);
static_assert(!oriel::element<std::string> && !oriel::element<double*>);
static_assert(oriel::element<const std::byte> == false && oriel::element<std::byte>);
template <class T>
constexpr bool move_only = std::is_nothrow_move_constructible_v<T> &&
                           !std::is_copy_constructible_v<T> && std::is_nothrow_destructible_v<T>;
static_assert(move_only<oriel::window<int>> && move_only<oriel::dynamic_window>);
static_assert(move_only<oriel::request> && move_only<oriel::persistent_notify_request>);
static_assert(move_only<oriel::notify_request> && move_only<oriel::memhandle>);
static_assert(std::is_trivially_copyable_v<oriel::window_view<int>>);
static_assert(sizeof(oriel::window_view<int>) == sizeof(MPI_Win));
static_assert(sizeof(oriel::request) == sizeof(MPI_Request));

/// Calls, and returns the class of the error that is thrown; MPI_SUCCESS: none is.
template <class Body>
int thrown(Body&& body) {
  try {
    static_cast<void>(body());
  } catch (const oriel::error& error) {
    CHECK_EQUAL(error.error_class(), support::error_class(error.code()));
    CHECK_EQUAL(std::string(error.what()), support::class_name(error.code()));
    return error.error_class();
  }
  return MPI_SUCCESS;
}

/// A window of zeros.
template <class T>
oriel::window<T> zeros(std::size_t count) {
  auto window = oriel::window<T>::allocate(count, MPI_COMM_WORLD);
  std::fill(window.memory().begin(), window.memory().end(), T{});
  support::barrier();
  return window;
}

MPI_Group group_of(int rank) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group one = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &rank, &one);
  MPI_Group_free(&world);
  return one;
}

/// A rank puts this into the window of its right neighbour.
int value_from(int rank) {
  return 100 + rank;
}

// --- windows

void windows(const Program& program) {
  const int own = value_from(program.rank());
  std::vector<int> memory(3);
  std::vector<oriel::window<int>> windows;
  windows.push_back(oriel::window<int>::allocate(3, MPI_COMM_WORLD));
  windows.push_back(oriel::window<int>::create(memory, MPI_COMM_WORLD));
  CHECK(windows[1].memory().data() == memory.data());
  if (support::one_node()) {
    windows.push_back(oriel::window<int>::allocate_shared(3, MPI_COMM_WORLD));
  }
  for (oriel::window<int>& each : windows) {
    CHECK_EQUAL(each.memory().size(), std::size_t{3});
    {
      oriel::fence_epoch epoch(each);
      each.put(own, program.right(), 2);
    }
    CHECK_EQUAL(each.memory()[2], value_from(program.left()));
  }
  support::barrier();
  oriel::window<int>& last = windows.back();
  if (support::one_node()) CHECK_EQUAL(last.shared_query(program.right())[2], own);
  support::barrier();
  last.free();
  CHECK(last.native() == MPI_WIN_NULL && last.memory().empty());
}

/// Counts in `*deleted` how often the window is freed.
void count_deletes(MPI_Win window, int* deleted) {
  const auto count = [](MPI_Win, int, void* value, void*) -> int {
    ++*static_cast<int*>(value);
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count, &key, nullptr);
  MPI_Win_set_attr(window, key, deleted);
  MPI_Win_free_keyval(&key);
}

void moved_windows(const Program& program) {
  auto window = zeros<int>(1);
  int deleted = 0;
  count_deletes(window.native(), &deleted);
  const MPI_Win native = window.native();
  int* base = window.memory().data();
  oriel::window<int> moved(std::move(window));
  CHECK(window.native() == MPI_WIN_NULL && window.memory().empty());
  CHECK(moved.native() == native && moved.memory().data() == base);
  window = std::move(moved);
  CHECK(moved.native() == MPI_WIN_NULL && moved.memory().empty());
  CHECK(window.native() == native && window.memory().data() == base);
  auto& same = window;
  window = std::move(same);
  CHECK(window.native() == native && window.memory().data() == base);
  CHECK_EQUAL(deleted, 0);
  window = zeros<int>(2);
  CHECK_EQUAL(deleted, 1);
  CHECK_EQUAL(window.memory().size(), std::size_t{2});
  // An epoch refers to the handle.
  const int own = value_from(program.rank());
  {
    oriel::fence_epoch epoch(window);
    moved = std::move(window);
    moved.put(own, program.right(), 0);
  }
  CHECK_EQUAL(moved.memory()[0], value_from(program.left()));
  // A view of a window of C's, and a window that is given back to C.
  const oriel::window_view<int> view(moved.native());
  CHECK(view.native() == moved.native());
  MPI_Win given = moved.release();
  CHECK(moved.native() == MPI_WIN_NULL);
  CHECK_EQUAL(MPI_Win_free(&given), MPI_SUCCESS);
  const oriel::window<int> none;
  CHECK(none.native() == MPI_WIN_NULL);
}

// --- operations

/// The buffers of the operations.
struct Values {
  std::array<int, 2> put{11, 12};
  std::array<int, 2> got{};
  int one = 1;
  int fetched = -1;
  std::vector<int> old = {-1, -1};
};

void operations(const Program& program) {
  auto window = zeros<int>(8);
  const int target = program.right();
  Values values;
  {
    oriel::lock_all_epoch epoch(window);
    window.put(values.put, target, 0);
    window.flush(target);
    window.get(values.got, target, 0);
    window.flush_local(target);
    CHECK(values.got == values.put);
    window.accumulate(values.one, target, 1, MPI_SUM);
    window.flush_all();
    window.get_accumulate(values.put, values.old, target, 0, MPI_REPLACE);
    window.flush_local_all();
    CHECK_EQUAL(values.old[0], 11);
    CHECK_EQUAL(values.old[1], 13);
    window.get_accumulate({}, values.old, target, 0, MPI_NO_OP);
    window.flush(target);
    CHECK_EQUAL(values.old[1], 12);
    window.fetch_and_op(values.one, values.fetched, target, 2, MPI_SUM);
    window.flush(target);
    CHECK_EQUAL(values.fetched, 0);
    window.compare_and_swap(values.put[0], values.one, values.fetched, target, 2);
    window.flush(target);
    CHECK_EQUAL(values.fetched, 1);
    window.sync();
    epoch.unlock_all();
    CHECK(!epoch.is_open());
  }
  support::barrier();
  const std::array expected = {11, 12, 11, 0};
  CHECK(std::equal(expected.begin(), expected.end(), window.memory().begin()));
}

/// The same by requests: `put`, `accumulate` and `get_accumulate` are those of one kind.
template <class Put, class Accumulate, class GetAccumulate>
void request_operations(const Program& program, Put put, Accumulate accumulate,
                        GetAccumulate get_accumulate) {
  auto window = zeros<int>(2);
  const int target = program.right();
  Values values;
  oriel::lock_epoch epoch(window, MPI_LOCK_SHARED, target);
  put(window, values.put, target).wait();
  window.flush(target);
  oriel::request got = window.rget(values.got, target, 0);
  got.wait();
  CHECK(!got && values.got == values.put);
  accumulate(window, values.put, target).wait();
  window.flush(target);
  get_accumulate(window, values.put, values.old, target).wait();
  CHECK_EQUAL(values.old[0], 22);
  CHECK_EQUAL(values.old[1], 24);
}

void mpi_requests(const Program& program) {
  request_operations(
      program,
      [](auto& window, auto& origin, int target) { return window.rput(origin, target, 0); },
      [](auto& window, auto& origin, int target) {
        return window.raccumulate(origin, target, 0, MPI_SUM);
      },
      [](auto& window, auto& origin, auto& result, int target) {
        return window.rget_accumulate(origin, result, target, 0, MPI_SUM);
      });
}

void target_requests(const Program& program) {
  request_operations(
      program,
      [](auto& window, auto& origin, int target) { return window.rrput(origin, target, 0); },
      [](auto& window, auto& origin, int target) {
        return window.rraccumulate(origin, target, 0, MPI_SUM);
      },
      [](auto& window, auto& origin, auto& result, int target) {
        return window.rrget_accumulate(origin, result, target, 0, MPI_SUM);
      });
}

template <class T>
void put_and_get(const Program& program, T first, T second) {
  const std::array<T, 2> values{first, second};
  auto window = zeros<T>(3);
  std::array<T, 2> got{};
  oriel::lock_epoch epoch(window, MPI_LOCK_EXCLUSIVE, program.right());
  window.put(values, program.right(), 1);
  window.flush(program.right());
  window.get(got, program.right(), 1);
  epoch.unlock();
  CHECK(got == values);
  support::barrier();
  CHECK(window.memory()[0] == T{} && window.memory()[1] == first && window.memory()[2] == second);
}

template <class... T>
void numbers(const Program& program) {
  (put_and_get<T>(program, static_cast<T>(1), static_cast<T>(77)), ...);
}

void datatypes(const Program& program) {
  numbers<char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
          unsigned long, long long, unsigned long long, float, double, long double, wchar_t,
          char8_t, char16_t, char32_t, std::byte>(program);
  put_and_get<bool>(program, true, false);
  put_and_get<std::complex<float>>(program, {1, 2}, {3, 4});
  put_and_get<std::complex<double>>(program, {1, 2}, {3, 4});
  put_and_get<std::complex<long double>>(program, {1, 2}, {3, 4});
  MPI_Type_contiguous(sizeof(Particle), MPI_BYTE, &particle_datatype);
  MPI_Type_commit(&particle_datatype);
  put_and_get<Particle>(program, {{1, 2}, 3}, {{4, 5}, 6});
  MPI_Type_free(&particle_datatype);
}

void reductions(const Program& program) {
  auto sums = zeros<std::complex<double>>(1);
  auto flags = zeros<bool>(1);
  const std::complex<double> value(1, program.rank());
  const bool yes = true;
  {
    oriel::lock_all_epoch of_sums(sums);
    oriel::lock_all_epoch of_flags(flags);
    sums.accumulate(value, 0, 0, MPI_SUM);
    flags.accumulate(yes, 0, 0, MPI_LOR);
  }
  support::barrier();
  if (program.rank() != 0) return;
  const int size = program.size();
  CHECK(sums.memory()[0] == std::complex<double>(size, size * (size - 1) / 2));
  CHECK(flags.memory()[0]);
}

void buffers() {
  int array[] = {1, 2, 3};
  const oriel::buffer<const int> of_array(array);
  CHECK(of_array.data() == array && of_array.count() == 3);
  const oriel::buffer<const int> of_part{std::span(array).subspan(1)};
  CHECK(of_part.data() == array + 1 && of_part.count() == 2);
  const oriel::buffer<int> of_element(array[2]);
  CHECK(of_element.data() == array + 2 && of_element.count() == 1);
  const oriel::buffer<int> none;
  CHECK(none.data() == nullptr && none.count() == 0);
  const std::span<const int> long_span(array, std::size_t{INT_MAX} + 1);  // never read
  CHECK_EQUAL(thrown([&] { oriel::buffer<const int>{long_span}; }), MPI_ERR_COUNT);
}

// --- epochs

template <class... Tag>
void lock_epochs(const Program& program, Tag... tag) {
  auto window = zeros<int>(2);
  const int one = 1;
  {
    oriel::lock_epoch epoch(tag..., window, MPI_LOCK_EXCLUSIVE, 0);
    CHECK(epoch.is_open());
    window.accumulate(one, 0, 0, MPI_SUM);
  }
  {
    oriel::lock_all_epoch epoch(tag..., window);
    window.accumulate(one, 0, 1, MPI_SUM);
  }
  support::barrier();
  if (program.rank() != 0) return;
  oriel::lock_epoch epoch(window, MPI_LOCK_SHARED, 0);
  CHECK_EQUAL(window.memory()[0], program.size());
  CHECK_EQUAL(window.memory()[1], program.size());
}

template <class... Tag>
void fence_epochs(const Program& program, Tag... tag) {
  auto window = zeros<int>(3);
  const int own = value_from(program.rank());
  {
    oriel::fence_epoch epoch(tag..., window);
    window.put(own, program.right(), 0);
    epoch.fence();
    CHECK_EQUAL(window.memory()[0], value_from(program.left()));
    window.put(own, program.right(), 1);
    epoch.end();
    CHECK(!epoch.is_open());
  }
  CHECK_EQUAL(window.memory()[1], value_from(program.left()));
}

/// The ring: each rank exposes its memory to its left neighbour.
template <class... Tag>
void group_epochs(const Program& program, Tag... tag) {
  auto window = zeros<int>(2);
  MPI_Group left = group_of(program.left());
  MPI_Group right = group_of(program.right());
  const int own = value_from(program.rank());
  {
    oriel::post_epoch exposure(tag..., window, left);
    oriel::start_epoch access(tag..., window, right);
    window.put(own, program.right(), 0);
  }  // completes, then waits
  CHECK_EQUAL(window.memory()[0], value_from(program.left()));
  {
    oriel::post_epoch exposure(tag..., window, left);
    oriel::start_epoch access(tag..., window, right);
    window.put(own, program.right(), 1);
    access.complete();
    CHECK(!access.is_open());
    exposure.wait();
    CHECK(!exposure.is_open());
  }
  CHECK_EQUAL(window.memory()[1], value_from(program.left()));
  {
    oriel::post_epoch exposure(tag..., window, left);
    oriel::start_epoch(tag..., window, right).complete();
    while (!exposure.test()) {
    }
    CHECK(!exposure.is_open());
  }
  MPI_Group_free(&left);
  MPI_Group_free(&right);
}

void blocking_epochs(const Program& program) {
  lock_epochs(program);
  fence_epochs(program);
  group_epochs(program);
}

void nonblocking_epochs(const Program& program) {
  lock_epochs(program, oriel::nonblocking);
  fence_epochs(program, oriel::nonblocking);
  group_epochs(program, oriel::nonblocking);
}

void nonblocking_closes(const Program& program) {
  auto window = zeros<int>(6);
  MPI_Group left = group_of(program.left());
  MPI_Group right = group_of(program.right());
  const int target = program.right();
  const int own = value_from(program.rank());
  std::vector<oriel::request> closed;
  {
    oriel::fence_epoch epoch(oriel::nonblocking, window);
    window.put(own, target, 0);
    closed.push_back(epoch.ifence());
    window.put(own, target, 1);
    closed.push_back(epoch.iend());
    CHECK(!epoch.is_open());
  }
  {
    oriel::post_epoch exposure(oriel::nonblocking, window, left);
    oriel::start_epoch access(oriel::nonblocking, window, right);
    window.put(own, target, 2);
    closed.push_back(access.icomplete());
    closed.push_back(exposure.iwait());
    CHECK(!access.is_open() && !exposure.is_open());
  }
  {
    oriel::lock_epoch epoch(oriel::nonblocking, window, MPI_LOCK_EXCLUSIVE, target);
    window.put(own, target, 3);
    closed.push_back(epoch.iunlock());
    CHECK(!epoch.is_open());
  }
  {
    oriel::lock_all_epoch epoch(oriel::nonblocking, window);
    window.put(own, target, 4);
    closed.push_back(window.iflush(target));
    closed.push_back(window.iflush_local(target));
    closed.push_back(window.iflush_all());
    closed.push_back(window.iflush_local_all());
    closed.push_back(epoch.iunlock_all());
    CHECK(!epoch.is_open());
  }
  oriel::wait_all(closed);
  for (oriel::request& each : closed) CHECK(!each && each.test());
  support::barrier();
  oriel::lock_epoch epoch(window, MPI_LOCK_SHARED, program.rank());
  for (const int value : window.memory().first(5)) CHECK_EQUAL(value, value_from(program.left()));
  MPI_Group_free(&left);
  MPI_Group_free(&right);
}

/// Every kind of epoch is closed when an exception leaves its scope: the next one may be opened.
void unwinding(const Program& program) {
  auto window = zeros<int>(1);
  MPI_Group left = group_of(program.left());
  MPI_Group right = group_of(program.right());
  const int own = value_from(program.rank());
  const auto leave = [&](auto open) {
    window.memory()[0] = 0;
    support::barrier();
    bool caught = false;
    try {
      open();
    } catch (const std::runtime_error& error) {
      caught = std::string(error.what()) == "left";
    }
    CHECK(caught);
    support::barrier();
    CHECK_EQUAL(window.memory()[0], value_from(program.left()));
    support::barrier();
  };
  const auto put_and_throw = [&] {
    window.put(own, program.right(), 0);
    throw std::runtime_error("left");
  };
  leave([&] {
    oriel::lock_epoch epoch(window, MPI_LOCK_EXCLUSIVE, program.right());
    put_and_throw();
  });
  leave([&] {
    oriel::lock_all_epoch epoch(window);
    put_and_throw();
  });
  leave([&] {
    oriel::fence_epoch epoch(window);
    put_and_throw();
  });
  leave([&] {
    oriel::post_epoch exposure(window, left);
    oriel::start_epoch access(window, right);
    put_and_throw();
  });
  MPI_Group_free(&left);
  MPI_Group_free(&right);
}

// --- errors

void errors(const Program& program) {
  auto window = zeros<int>(4);
  const int value = 1;
  const int size = program.size();
  CHECK_EQUAL(thrown([&] { window.put(value, program.right(), 0); }), MPI_ERR_RMA_SYNC);
  CHECK_EQUAL(thrown([&] { const oriel::lock_epoch none(window, MPI_LOCK_SHARED, size); }),
              MPI_ERR_RANK);
  oriel::lock_epoch epoch(window, MPI_LOCK_SHARED, program.right());
  CHECK_EQUAL(thrown([&] { window.put(value, size, 0); }), MPI_ERR_RANK);
  epoch.unlock();
  support::barrier();
}

/// Origin and result of the operations that fetch have one length.
void lengths(const Program& program) {
  auto window = zeros<int>(4);
  const int target = program.right();
  const std::array values = {1, 1, 1, 1};
  std::array old = {-1, -1, -1, -1};
  const std::span two(values.data(), 2);
  const std::span old_two(old.data(), 2);
  oriel::lock_all_epoch epoch(window);
  CHECK_EQUAL(thrown([&] { window.get_accumulate(two, old, target, 0, MPI_SUM); }), MPI_ERR_COUNT);
  CHECK_EQUAL(thrown([&] { window.get_accumulate(values, old_two, target, 0, MPI_SUM); }),
              MPI_ERR_COUNT);
  CHECK_EQUAL(thrown([&] { return window.rget_accumulate({}, old, target, 0, MPI_REPLACE); }),
              MPI_ERR_COUNT);
  window.flush(target);
  window.get_accumulate(two, old, target, 0, MPI_NO_OP);  // whose origin is ignored
  window.flush(target);
  CHECK((old == std::array{0, 0, 0, 0}));
  epoch.unlock_all();
  support::barrier();
}

/// Errors that only Oriel raises for sure.
void own_errors(const Program& program) {
  auto window = zeros<int>(4);
  const int value = 1;
  const int target = program.right();
  oriel::lock_epoch epoch(window, MPI_LOCK_SHARED, target);
  CHECK_EQUAL(thrown([&] { window.put(value, target, 4); }), MPI_ERR_RMA_RANGE);
  CHECK_EQUAL(thrown([&] { const oriel::lock_epoch none(window, MPI_LOCK_SHARED, target); }),
              MPI_ERR_RMA_SYNC);
  CHECK_EQUAL(thrown([&] { window.put_notify(value, target, 0, -1); }), MPI_ERR_TAG);
  CHECK_EQUAL(thrown([&] { window.free(); }), MPI_ERR_RMA_SYNC);
  epoch.unlock();
  // Nothing is left to close.
  CHECK_EQUAL(thrown([&] { epoch.unlock(); }), MPI_ERR_RMA_SYNC);
  CHECK(!epoch.is_open());
  // A destructor's own error is dropped while another one is in flight.
  bool caught = false;
  try {
    oriel::lock_epoch closed_by_c(window, MPI_LOCK_SHARED, target);
    MPI_Win_unlock(target, window.native());
    throw std::runtime_error("first");
  } catch (const std::runtime_error& error) {
    caught = std::string(error.what()) == "first";
  }
  CHECK(caught);
  // A fence epoch is the first one: no operation precedes it.
  oriel::fence_epoch first(window);
  window.put(value, target, 0);
  CHECK_EQUAL(thrown([&] { const oriel::fence_epoch none(window); }), MPI_ERR_RMA_SYNC);
  CHECK_EQUAL(thrown([&] { const oriel::fence_epoch none(oriel::nonblocking, window); }),
              MPI_ERR_RMA_SYNC);
  first.end();
  support::barrier();
}

/// Where a window cannot be made: if the communicator returns errors, they are thrown.
void failed_windows() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr auto too_much = std::size_t{1} << 60;
  CHECK(thrown([&] { return oriel::window<char>::allocate(too_much, comm); }) != MPI_SUCCESS);
  // As many bytes as no size_t holds.
  CHECK_EQUAL(thrown([&] { return oriel::window<double>::allocate(2 * too_much, comm); }),
              MPI_ERR_SIZE);
  CHECK_EQUAL(thrown([&] { return oriel::window<double>::allocate(SIZE_MAX, comm); }),
              MPI_ERR_SIZE);
  MPI_Comm_free(&comm);
}

// --- requests and notifications

/// A request that is complete. `*freed` becomes 1 when a wait has told so, or when it is freed.
MPI_Request completed_request(int* freed) {
  MPI_Request made = MPI_REQUEST_NULL;
  MPI_Grequest_start([](void*, MPI_Status*) -> int { return MPI_SUCCESS; },
                     [](void* state) -> int {
                       ++*static_cast<int*>(state);
                       return MPI_SUCCESS;
                     },
                     [](void*, int) -> int { return MPI_SUCCESS; }, freed, &made);
  MPI_Grequest_complete(made);
  return made;
}

/// Assigning to a request ends the one before, as the destructor does.
void assigned_requests() {
  int waited = 0;
  oriel::request request(completed_request(&waited));
  request = oriel::request();
  CHECK(!request && waited == 1);
  int freed = 0;
  oriel::notify_request notification(completed_request(&freed));
  notification = oriel::notify_request();
  CHECK(!notification && freed == 1);
}

void requests(const Program& program) {
  auto window = zeros<int>(2);
  const int target = program.right();
  const std::array values = {5, 6};
  oriel::request none;
  CHECK(!none && none.test());
  none.wait();
  oriel::lock_all_epoch epoch(window);
  {
    oriel::request first = window.rput(values, target, 0);
    oriel::request second(std::move(first));
    CHECK(!first);
    first = std::move(second);
    CHECK(!second);
    second = window.rput(values, target, 0);
    second = window.rput(values, target, 0);  // waits for the one before
    while (!first.test()) {
    }
    CHECK(!first);
  }  // waits for the second
  std::array requests = {window.rput(values[0], target, 0), window.rput(values[1], target, 1)};
  oriel::wait_all(requests);
  CHECK(!requests[0] && !requests[1]);
  MPI_Request native = window.rput(values, target, 0).release();
  MPI_Wait(&native, MPI_STATUS_IGNORE);
  oriel::request adopted(window.rput(values, target, 0).release());
  MPI_Wait(adopted.native(), MPI_STATUS_IGNORE);
  CHECK(!adopted);
  epoch.unlock_all();
  support::barrier();
  oriel::lock_epoch own(window, MPI_LOCK_SHARED, program.rank());
  CHECK(std::equal(values.begin(), values.end(), window.memory().begin()));
}

/// All notified operations; each is announced to the right neighbour by its own tag.
void notified(const Program& program) {
  constexpr int count = 11;
  auto window = zeros<int>(4);
  const int target = program.right();
  std::array values = {3, 4};
  std::array got = {0, 0};
  std::array old = {0, 0};
  int fetched = 0;
  int swapped = 0;
  std::vector<oriel::persistent_notify_request> arrivals;
  for (int tag = 0; tag < count; ++tag) {
    arrivals.push_back(window.notify_init(program.left(), tag));
    arrivals.back().start();
  }
  window.put_notify(values, target, 0, 0);
  window.get_notify(got, target, 0, 1);
  window.flush(target);
  CHECK(got == values);
  window.accumulate_notify(values[0], target, 1, MPI_SUM, 2);
  window.flush(target);
  window.get_accumulate_notify(values, old, target, 0, MPI_SUM, 3);
  window.flush(target);
  CHECK_EQUAL(old[1], 7);
  window.fetch_and_op_notify(values[0], fetched, target, 2, MPI_SUM, 4);
  window.flush(target);
  window.compare_and_swap_notify(values[1], values[0], swapped, target, 2, 5);
  window.flush(target);
  CHECK_EQUAL(fetched, 0);
  CHECK_EQUAL(swapped, 3);
  window.rput_notify(values, target, 0, 6).wait();
  window.rget_notify(got, target, 0, 7).wait();
  window.raccumulate_notify(values, target, 0, MPI_SUM, 8).wait();
  window.flush(target);
  window.rget_accumulate_notify({}, old, target, 0, MPI_NO_OP, 9).wait();
  CHECK_EQUAL(old[1], 8);
  window.put_notify({}, target, 0, 10);  // nothing but a notification
  for (int tag = 0; tag < count; ++tag) {
    oriel::persistent_notify_request& arrival = arrivals[static_cast<std::size_t>(tag)];
    const oriel::status status = arrival.wait();
    CHECK_EQUAL(status.source(), program.left());
    CHECK_EQUAL(status.tag(), tag);
    const bool one = tag == 2 || tag == 4 || tag == 5;
    CHECK_EQUAL(status.get_count<int>(), tag == 10 ? 0 : one ? 1 : 2);
    CHECK(static_cast<bool>(arrival));  // it is persistent
  }
  const std::array expected = {6, 8, 4};
  CHECK(std::equal(expected.begin(), expected.end(), window.memory().begin()));
  support::barrier();
}

void notification_requests(const Program& program) {
  auto window = zeros<int>(1);
  const int target = program.right();
  // A count of several, from anybody; and nothing before it is complete.
  oriel::persistent_notify_request twice = window.notify_init(MPI_ANY_SOURCE, MPI_ANY_TAG, 2);
  CHECK(twice.wait().native() != nullptr);  // inactive: returns at once
  twice.start();
  CHECK_EQUAL(thrown([&] { twice.start(); }), MPI_ERR_REQUEST);
  CHECK(!twice.test());
  support::barrier();
  window.put_notify({}, target, 0, 1);
  window.put_notify({}, target, 0, 2);
  std::optional<oriel::status> status;
  while (!status) status = twice.test();
  CHECK_EQUAL(status->tag(), 2);
  // Probes find what no request has taken.
  support::barrier();
  CHECK(!window.notify_iprobe(MPI_ANY_SOURCE, 7));
  support::barrier();
  window.put_notify({}, target, 0, 7);
  CHECK_EQUAL(window.notify_probe(program.left(), 7).source(), program.left());
  CHECK(window.notify_iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG)->tag() == 7);
  // One that has moved takes it; so does one that is not persistent.
  oriel::persistent_notify_request seventh = window.notify_init(program.left(), 7);
  oriel::persistent_notify_request moved(std::move(seventh));
  CHECK(!seventh && moved);
  moved.start();
  moved.wait();
  seventh = std::move(moved);
  CHECK(seventh && !moved);
  window.put_notify({}, target, 0, 8);
  oriel::notify_request eighth = window.wait_notify(8);
  CHECK(static_cast<bool>(eighth));
  CHECK_EQUAL(eighth.wait().source(), program.left());
  CHECK(!eighth);
  // Active ones end without waiting for what never comes.
  oriel::notify_request never = window.wait_notify(9);
  never = window.wait_notify(10);
  CHECK(!never.test());
  seventh.start();
  support::barrier();
}

void counters(const Program& program) {
  auto window = zeros<int>(2);
  const int target = program.right();
  window.set_num_notify(2);
  CHECK_EQUAL(window.get_num_notify(target), 2);
  std::array values = {3, 4};
  std::array got = {0, 0};
  std::array old = {0, 0};
  {
    oriel::notify_request eight = window.get_notify_request(1, 8);
    const oriel::notify_request never = window.get_notify_request(0, 1'000'000);
    CHECK(static_cast<bool>(never));
    window.put_notify_counter(values, target, 0, 1);
    window.get_notify_counter(got, target, 0, 1);
    window.flush(target);
    CHECK(got == values);
    window.accumulate_notify_counter(values, target, 0, MPI_SUM, 1);
    window.flush(target);
    window.get_accumulate_notify_counter(values, old, target, 0, MPI_SUM, 1);
    window.flush(target);
    CHECK_EQUAL(old[1], 8);
    window.rput_notify_counter(values, target, 0, 1).wait();
    window.rget_notify_counter(got, target, 0, 1).wait();
    window.raccumulate_notify_counter(values, target, 0, MPI_SUM, 1).wait();
    window.flush(target);
    window.rget_accumulate_notify_counter({}, old, target, 0, MPI_NO_OP, 1).wait();
    CHECK_EQUAL(old[1], 8);
    eight.wait();
    CHECK(!eight);
  }
  CHECK_EQUAL(window.get_notify_value(1), MPI_Count{8});
  CHECK_EQUAL(window.reset_notify_value(1), MPI_Count{8});
  window.set_notify_value(0, 5);
  CHECK_EQUAL(window.get_notify_value(0), MPI_Count{5});
  CHECK_EQUAL(window.get_notify_value(1), MPI_Count{0});
  CHECK_EQUAL(thrown([&] { window.get_notify_value(2); }), ORIEL_ERR_RMA_NOTIFICATION);
  support::barrier();
}

// --- duplicates, dynamic windows, memory handles

void duplicates(const Program& program) {
  auto window = zeros<int>(1);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, ORIEL_WIN_ORDER, "true");
  const int own = value_from(program.rank());
  {
    const auto ordered = window.dup_with_info(info);
    CHECK(ordered.native() != window.native());
    CHECK(ordered.memory().data() == window.memory().data());
    oriel::lock_all_epoch epoch(window);
    ordered.put(own, program.right(), 0);
    ordered.flush(program.right());
  }
  support::barrier();
  CHECK_EQUAL(window.memory()[0], value_from(program.left()));
  CHECK(!window.op_intrinsic<std::complex<double>>("sum", 1));
  CHECK_EQUAL(thrown([&] { window.op_intrinsic<int>("nonsense", 1); }), MPI_ERR_ARG);
  MPI_Info_free(&info);
  support::barrier();
}

template <class T>
T from_right(const Program& program, const T& own) {
  T other{};
  MPI_Sendrecv(&own, sizeof(T), MPI_BYTE, program.left(), 0, &other, sizeof(T), MPI_BYTE,
               program.right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return other;
}

void dynamic_windows(const Program& program) {
  auto window = oriel::dynamic_window::create(MPI_COMM_WORLD);
  std::vector<int> numbers(2);
  std::array<double, 2> reals{};
  const MPI_Aint of_numbers = from_right(program, window.attach(std::span(numbers)));
  const MPI_Aint of_reals = from_right(program, window.attach(std::span(reals)));
  const int number = value_from(program.rank());
  const double real = number + 0.5;
  oriel::dynamic_window moved(std::move(window));
  CHECK(window.native() == MPI_WIN_NULL);
  window = std::move(moved);
  {
    oriel::lock_all_epoch epoch(window);
    window.view<int>().put(number, program.right(),
                           MPI_Aint_add(of_numbers, MPI_Aint{sizeof(int)}));
    window.view<double>().put(real, program.right(), of_reals);
  }
  support::barrier();
  CHECK_EQUAL(numbers[1], value_from(program.left()));
  CHECK_EQUAL(reals[0], value_from(program.left()) + 0.5);
  window.detach(std::span(numbers));
  window.detach(std::span(reals));
  support::barrier();
}

void memory_handles(const Program& program) {
  const auto parent = oriel::dynamic_window::create(MPI_COMM_WORLD);
  std::vector<double> memory(4);
  oriel::memhandle made(parent, std::span(memory));
  oriel::memhandle own(std::move(made));
  CHECK(made.bytes().empty());
  CHECK(!own.bytes().empty() && own.bytes().size() <= ORIEL_MAX_MEMHANDLE_SIZE);
  std::array<std::byte, ORIEL_MAX_MEMHANDLE_SIZE> bytes{};
  std::copy(own.bytes().begin(), own.bytes().end(), bytes.begin());
  bytes = from_right(program, bytes);
  const double value = program.rank() + 0.25;
  {
    const auto copy = parent.dup_with_info(MPI_INFO_NULL);
    oriel::lock_all_epoch epoch(parent);
    const auto window =
        oriel::window<double>::from_memhandle(bytes, memory.size(), program.right(), parent);
    CHECK(window.memory().empty());
    window.put(value, program.right(), 3);
    copy.flush(program.right());
  }
  support::barrier();
  CHECK_EQUAL(memory[3], program.left() + 0.25);
  own.release();
  CHECK(own.bytes().empty());
  CHECK_EQUAL(thrown([&] { return oriel::window<int>::from_memhandle({}, 1, 0, zeros<int>(1)); }),
              MPI_ERR_RMA_FLAVOR);
  support::barrier();
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  CHECK_EQUAL(oriel::available(), !program.host_only());
  program.test("windows", [&] { windows(program); });
  program.test("moved windows", [&] { moved_windows(program); });
  program.test("operations", [&] { operations(program); });
  program.test("MPI's requests", [&] { mpi_requests(program); });
  program.test("datatypes", [&] { datatypes(program); });
  program.test("reductions", [&] { reductions(program); });
  program.test("buffers", [&] { buffers(); });
  program.test("blocking epochs", [&] { blocking_epochs(program); });
  program.test("unwinding", [&] { unwinding(program); });
  program.test("lengths", [&] { lengths(program); });
  program.test("assigned requests", [] { assigned_requests(); });
  program.test("requests", [&] { requests(program); });
  const auto with_oriel = [&](const char* name, auto body) {
    program.test_unless_host("any", "Oriel's calls, or its checks", name, [&] { body(); });
  };
  with_oriel("errors", [&] { errors(program); });
  with_oriel("own errors", [&] { own_errors(program); });
  with_oriel("failed windows", [&] { failed_windows(); });
  with_oriel("requests of the target", [&] { target_requests(program); });
  with_oriel("nonblocking epochs", [&] { nonblocking_epochs(program); });
  with_oriel("nonblocking closes", [&] { nonblocking_closes(program); });
  with_oriel("notified operations", [&] { notified(program); });
  with_oriel("notification requests", [&] { notification_requests(program); });
  with_oriel("counters", [&] { counters(program); });
  with_oriel("duplicates", [&] { duplicates(program); });
  with_oriel("dynamic windows", [&] { dynamic_windows(program); });
  with_oriel("memory handles", [&] { memory_handles(program); });
  return 0;
}
