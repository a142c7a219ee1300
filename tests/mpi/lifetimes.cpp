// SPDX-License-Identifier: BSD-3-Clause
// G2, G6: windows on parts of the world, windows over the same memory, windows by the thousand.
#include <memory>

#include "support/open_descriptors.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

/// Even and odd ranks have windows of their own at the same time, their ranks in reverse order.
void sub_communicators(Flavor flavor, const Program& program) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, program.rank() % 2, -program.rank(), &comm);
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  {
    Window<int> window(flavor, 2, comm);
    const int mark = 100 + rank;
    MPI_Win_fence(0, window);
    MPI_Put(&mark, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(window[0], 100 + left);

    // Groups made from the world, whose numbers are not the window's.
    MPI_Group group, world;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int origin = -1, target = -1;
    MPI_Group_translate_ranks(group, 1, &left, world, &origin);
    MPI_Group_translate_ranks(group, 1, &right, world, &target);
    MPI_Win_post(support::Group({origin}), 0, window);
    MPI_Win_start(support::Group({target}), 0, window);
    MPI_Put(&mark, 1, MPI_INT, right, 1, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK_EQUAL(window[1], 100 + left);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
  }
  MPI_Comm_free(&comm);
}

/// Two windows over one piece of memory, both in an epoch, used by turns: what one of them flushed,
/// the other sees. (At the same time MPI leaves the outcome open.)
void overlapping(const Program& program, bool alloc_mem) {
  constexpr int count = 16;
  std::vector<long> own(count);
  long* memory = own.data();
  if (alloc_mem) {
    MPI_Alloc_mem(count * sizeof(long), MPI_INFO_NULL, &memory);
    std::fill_n(memory, count, 0L);
  }
  MPI_Win whole, half;
  MPI_Win_create(memory, count * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &whole);
  MPI_Win_create(memory + count / 2, count / 2 * sizeof(long), sizeof(long), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &half);
  support::barrier();
  const long one = 1;
  constexpr int rounds = 50;
  MPI_Win_lock_all(0, whole);
  MPI_Win_lock_all(0, half);
  for (int i = 0; i < rounds; ++i) {
    MPI_Accumulate(&one, 1, MPI_LONG, 0, count / 2, 1, MPI_LONG, MPI_SUM, whole);
  }
  MPI_Win_flush_all(whole);
  support::barrier();
  for (int i = 0; i < rounds; ++i) {
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, half);
  }
  MPI_Win_flush_all(half);
  const long mark = 5 + program.rank();
  long got = 0;
  MPI_Put(&mark, 1, MPI_LONG, program.right(), 3, 1, MPI_LONG, half);
  MPI_Win_flush(program.right(), half);
  MPI_Get(&got, 1, MPI_LONG, program.right(), count / 2 + 3, 1, MPI_LONG, whole);
  MPI_Win_flush(program.right(), whole);
  CHECK_EQUAL(got, mark);
  MPI_Win_unlock_all(half);
  MPI_Win_unlock_all(whole);
  support::barrier();
  if (program.rank() == 0) {
    CHECK_EQUAL(memory[count / 2], 2L * rounds * program.size());
  }
  MPI_Win_free(&whole);
  MPI_Win_free(&half);
  if (alloc_mem) MPI_Free_mem(memory);
}

/// Many windows alive at once, freed in another order than made.
void many_at_once(Flavor flavor, const Program& program) {
  constexpr std::size_t count = 24;
  std::vector<std::unique_ptr<Window<int>>> windows;
  for (std::size_t i = 0; i < count; ++i) {
    windows.push_back(std::make_unique<Window<int>>(flavor, 1 + i));
  }
  std::vector<int> marks(count);
  for (std::size_t i = 0; i < count; ++i) {
    marks[i] = static_cast<int>(i) + 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, *windows[i]);
    MPI_Put(&marks[i], 1, MPI_INT, program.right(), static_cast<MPI_Aint>(i), 1, MPI_INT,
            *windows[i]);
  }
  for (auto& window : windows) MPI_Win_unlock(program.right(), *window);
  support::barrier();
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_EQUAL((*windows[i])[i], static_cast<int>(i) + 1);
  }
  for (std::size_t i = 0; i < count; i += 2) windows[i].reset();
  for (std::size_t i = 1; i < count; i += 2) windows[i].reset();
}

/// Created, used and freed again and again: nothing may pile up.
void again_and_again(const Program& program) {
  // Each round is a few collectives of the host, which are slow where ranks share cores. What one
  // round leaves behind shows after a few.
  constexpr int rounds = 60;
  long before = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i == 20) before = support::open_descriptors();
    int memory = 0;
    int* base = &memory;
    MPI_Win win;
    switch (i % (support::one_node() ? 3 : 2)) {
      case 0:
        MPI_Win_create(base, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        break;
      case 1:
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        break;
      default:
        MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                                &win);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, win);
    MPI_Put(&i, 1, MPI_INT, program.right(), 0, 1, MPI_INT, win);
    MPI_Win_unlock(program.right(), win);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    if (base == &memory) CHECK_EQUAL(memory, i);
  }
  CHECK(support::open_descriptors() <= before + 4);
}

/// MPI_Win_free waits for nobody's data but its own: a window may be freed right after its epoch.
void free_after_fence(Flavor flavor, const Program& program) {
  for (int i = 0; i < 5; ++i) {
    Window<int> window(flavor, 1000);
    const std::vector<int> values(1000, i);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(values.data(), 1000, MPI_INT, program.right(), 0, 1000, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(window[999], i);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    program.test("sub-communicators", [&] { sub_communicators(flavor, program); });
    program.test("many at once", [&] { many_at_once(flavor, program); });
    program.test("free after fence", [&] { free_after_fence(flavor, program); });
  }
  program.test("overlapping, private memory", [&] { overlapping(program, false); });
  program.test("overlapping, MPI_Alloc_mem", [&] { overlapping(program, true); });
  program.test("again and again", [&] { again_and_again(program); });
}
