// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "support/stress/self.hpp"

namespace stress {

/// Windows of one thread's own, made and freed while others work: their handles have values that
/// others' had before.
class OwnWindows {
 public:
  explicit OwnWindows(Self& self) : self_(self) {}

  /// Of this process alone.
  void alone() {
    // Collective calls on one communicator are one thread's.
    const MPI_Comm comm = self_.thread == 0 ? MPI_COMM_SELF : self_.job.comm(self_.thread).self;
    Words memory{};
    std::int64_t* base = memory.data();
    MPI_Win window = MPI_WIN_NULL;
    MPI_Aint at = 0;
    switch (self_.random.below(4)) {
      case 0:
        MUST(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, comm, &base, &window));
        break;
      case 1:
        MUST(MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, comm, &base, &window));
        break;
      case 2:
        MUST(MPI_Win_create(base, bytes, 8, MPI_INFO_NULL, comm, &window));
        break;
      default:
        MUST(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window));
        MUST(MPI_Win_attach(window, base, bytes));
        MPI_Get_address(base, &at);
    }
    std::fill_n(base, words, 0);
    use_alone(window, at, base);
    MUST(MPI_Win_free(&window));
  }

  /// Of this thread of all ranks, which come here by the same random numbers.
  void together(Random& same) {
    const MPI_Comm comm = self_.job.comm(self_.thread).all;
    switch (same.below(3)) {
      case 0:
        return duplicated(comm);
      case 1:
        return detached(comm);
      default:
        return released(comm);
    }
  }

  /// Writes a word of the rank by a dynamic window, or one by a handle: what the put or the flush
  /// behind it reports, once.
  static void put_and_flush(MPI_Win window, int rank, MPI_Aint at, int expected) {
    const std::int64_t value = written;
    const int put = MPI_Put(&value, 1, MPI_INT64_T, rank, at, 1, MPI_INT64_T, window);
    const int flushed = MPI_Win_flush(rank, window);
    here().operation = "put and flush";
    must(put == MPI_SUCCESS ? flushed : put, expected);
    if (put != MPI_SUCCESS) must(flushed);
    MUST(MPI_Win_flush(rank, window));
  }

  static constexpr std::int64_t written = 77;

 private:
  static constexpr int words = 8;
  static constexpr MPI_Aint bytes = 8 * words;
  using Words = std::array<std::int64_t, words>;

  /// A put and an update of each kind of handle, and of what they have made.
  void use_alone(MPI_Win window, MPI_Aint at, const std::int64_t* base) {
    const std::int64_t values[2] = {static_cast<std::int64_t>(self_.random.next()), 3};
    std::int64_t found = 0;
    MPI_Win other = MPI_WIN_NULL;
    MUST(oriel().Win_dup_with_info(window, MPI_INFO_NULL, &other));
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    MUST(MPI_Put(values, 2, MPI_INT64_T, 0, at, 2, MPI_INT64_T, other));
    MUST(MPI_Win_flush(0, window));
    MUST(MPI_Accumulate(&values[1], 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_SUM, window));
    MUST(MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, &found, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T,
                            MPI_NO_OP, other));
    MUST(MPI_Win_unlock(0, other));
    expect("what was fetched", found, values[0] + 3);
    expect("what is there", base[0], values[0] + 3);
    MUST(MPI_Win_free(&other));
  }

  /// The handle that the window was made with goes first.
  void duplicated(MPI_Comm comm) {
    std::int64_t* base = nullptr;
    MPI_Win first = MPI_WIN_NULL;
    MPI_Win last = MPI_WIN_NULL;
    MUST(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, comm, &base, &first));
    std::fill_n(base, words, 0);
    MPI_Barrier(comm);
    MUST(oriel().Win_dup_with_info(first, MPI_INFO_NULL, &last));
    const std::int64_t value = 100 + self_.job.rank();
    MUST(MPI_Win_lock_all(0, first));
    MUST(MPI_Put(&value, 1, MPI_INT64_T, self_.job.right(), 5, 1, MPI_INT64_T, first));
    MUST(MPI_Win_free(&first));
    MUST(MPI_Accumulate(&value, 1, MPI_INT64_T, self_.job.right(), 6, 1, MPI_INT64_T, MPI_SUM,
                        last));
    MUST(MPI_Win_unlock_all(last));
    MPI_Barrier(comm);
    const std::int64_t expected = 100 + self_.job.left();
    MUST(MPI_Win_lock(MPI_LOCK_SHARED, self_.job.rank(), 0, last));
    expect("what the left neighbour has put", base[5], expected);
    expect("what the left neighbour has added", base[6], expected);
    MUST(MPI_Win_unlock(self_.job.rank(), last));
    MUST(MPI_Win_free(&last));
  }

  MPI_Win dynamic(MPI_Comm comm) {
    MPI_Win window = MPI_WIN_NULL;
    MUST(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window));
    MUST(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    MUST(MPI_Win_lock_all(0, window));
    return window;
  }
  template <class Value>
  Value from_right(MPI_Comm comm, const Value& own) {
    Value theirs{};
    MPI_Sendrecv(&own, sizeof own, MPI_BYTE, self_.job.left(), 0, &theirs, sizeof theirs, MPI_BYTE,
                 self_.job.right(), 0, comm, MPI_STATUS_IGNORE);
    return theirs;
  }

  /// The left neighbour's put arrives as long as the piece is attached, and as long as the memory
  /// is there afterwards.
  void detached(MPI_Comm comm) {
    MPI_Win window = dynamic(comm);
    const Memory memory = zeroed(self_.thread % 2 == 0, bytes);
    MUST(MPI_Win_attach(window, memory.get(), bytes));
    MPI_Aint own = 0;
    MPI_Get_address(memory.get(), &own);
    const MPI_Aint there = from_right(comm, own);
    put_and_flush(window, self_.job.right(), there, MPI_SUCCESS);
    MPI_Barrier(comm);
    expect_and_clear(memory.get());
    MUST(MPI_Win_detach(window, memory.get()));
    MPI_Barrier(comm);
    put_and_flush(window, self_.job.right(), there, MPI_SUCCESS);
    MPI_Barrier(comm);
    expect_and_clear(memory.get());
    end(comm, window, memory.get());
  }
  /// The left neighbour's put arrives as long as the memory handle is not released.
  void released(MPI_Comm comm) {
    MPI_Win window = dynamic(comm);
    const Memory memory = zeroed(self_.thread % 2 == 0, bytes);
    Region::Name own{};
    int used = 0;
    MUST(oriel().Memhandle_create(memory.get(), bytes, MPI_INFO_NULL, window, own.data(), &used));
    Region::Name there = from_right(comm, own);
    MPI_Win view = MPI_WIN_NULL;
    MUST(oriel().Win_from_memhandle(there.data(), bytes, 8, MPI_INFO_NULL, self_.job.right(),
                                    window, &view));
    MUST(MPI_Win_set_errhandler(view, MPI_ERRORS_RETURN));
    put_and_flush(view, self_.job.right(), 0, MPI_SUCCESS);
    MPI_Barrier(comm);
    expect_and_clear(memory.get());
    MUST(oriel().Memhandle_release(own.data(), window));
    MPI_Barrier(comm);
    put_and_flush(view, self_.job.right(), 0, MPI_ERR_RMA_RANGE);
    MUST(MPI_Win_free(&view));
    end(comm, window, memory.get());
  }
  static void expect_and_clear(std::byte* memory) {
    std::int64_t found = 0;
    std::memcpy(&found, memory, sizeof found);
    expect("what the left neighbour has put", found, written);
    std::memset(memory, 0, sizeof found);
  }
  /// Nothing has come in the end.
  static void end(MPI_Comm comm, MPI_Win window, const std::byte* memory) {
    MUST(MPI_Win_unlock_all(window));
    MPI_Barrier(comm);
    std::int64_t found = 0;
    std::memcpy(&found, memory, sizeof found);
    expect("memory that is not exposed", found, std::int64_t{0});
    MUST(MPI_Win_free(&window));
  }

  Self& self_;
};

}  // namespace stress
