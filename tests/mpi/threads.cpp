// SPDX-License-Identifier: BSD-3-Clause
// G8: MPI_THREAD_MULTIPLE, several threads on one window and on windows of their own.
#include <pthread.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "support/in_threads.hpp"
#include "support/overlap.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::in_threads;
using support::Program;
using support::threads;
using support::Window;

constexpr int rounds = 50;

/// Every thread puts to places of its own and flushes, on one window.
void put_and_flush(Flavor flavor, const Program& program) {
  Window<int> window(flavor, threads);
  MPI_Win_lock_all(0, window);
  in_threads([&](int thread) {
    for (int i = 1; i <= rounds; ++i) {
      int got = -1;
      MPI_Put(&i, 1, MPI_INT, program.right(), thread, 1, MPI_INT, window);
      MPI_Win_flush(program.right(), window);
      MPI_Get(&got, 1, MPI_INT, program.right(), thread, 1, MPI_INT, window);
      MPI_Win_flush_local(program.right(), window);
      CHECK_EQUAL(got, i);
    }
  });
  MPI_Win_unlock_all(window);
}

/// The same by a datatype with gaps, between which other threads put, and flushes of all targets.
void put_scattered(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 2 * threads);
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, threads, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Win_lock_all(0, window);
  in_threads([&](int thread) {
    for (int i = 1; i <= rounds; ++i) {
      const int values[] = {i, -i};
      int got[threads + 1] = {};
      MPI_Put(values, 2, MPI_INT, program.right(), thread, 1, pair, window);
      MPI_Win_flush_all(window);
      MPI_Get(got, 1, pair, program.right(), thread, 1, pair, window);
      MPI_Win_flush_local_all(window);
      CHECK_EQUAL(got[0], i);
      CHECK_EQUAL(got[1], 0);
      CHECK_EQUAL(got[threads], -i);
    }
  });
  MPI_Win_unlock_all(window);
  MPI_Type_free(&pair);
}

/// All threads of all ranks update one counter.
void contended(Flavor flavor, const Program& program) {
  Window<std::int64_t> window(flavor, 1);
  support::Overlap overlap(threads, rounds, 5);
  MPI_Win_lock_all(0, window);
  in_threads([&](int thread) {
    const std::int64_t one = 1;
    std::int64_t before = 0;
    overlap.run([&, i = thread]() mutable {
      if (++i % 2) {
        MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window);
      } else {
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, window);
      }
      MPI_Win_flush(0, window);
    });
  });
  MPI_Win_unlock_all(window);
  const long own = overlap.steps();
  long all = 0;
  MPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (program.rank() == 0) CHECK_EQUAL(window[0], all);
}

/// Requests made and waited for by different threads at once, next to messages.
void requests(Flavor flavor, const Program& program) {
  Window<int> window(flavor, threads);
  MPI_Win_lock_all(0, window);
  in_threads([&](int thread) {
    for (int i = 1; i <= rounds; ++i) {
      MPI_Request request[3];
      int received = -1;
      MPI_Irecv(&received, 1, MPI_INT, program.rank(), thread, MPI_COMM_WORLD, &request[0]);
      MPI_Isend(&i, 1, MPI_INT, program.rank(), thread, MPI_COMM_WORLD, &request[1]);
      MPI_Rput(&i, 1, MPI_INT, program.right(), thread, 1, MPI_INT, window, &request[2]);
      MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
      CHECK_EQUAL(received, i);
    }
  });
  MPI_Win_unlock_all(window);
}

/// A window per thread, with lock epochs that wait for each other across ranks.
void window_per_thread(Flavor flavor, const Program& program) {
  std::vector<std::unique_ptr<Window<long>>> windows;
  for (int i = 0; i < threads; ++i) windows.push_back(std::make_unique<Window<long>>(flavor, 1));
  in_threads([&](int thread) {
    Window<long>& window = *windows[static_cast<std::size_t>(thread)];
    for (int i = 0; i < rounds; ++i) {
      long value = 0;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
      MPI_Win_flush(0, window);
      ++value;
      MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
      MPI_Win_unlock(0, window);
    }
  });
  support::barrier();
  if (program.rank() == 0) {
    for (auto& window : windows) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, *window);
      CHECK_EQUAL((*window)[0], static_cast<long>(rounds) * program.size());
      MPI_Win_unlock(0, *window);
    }
  }
}

/// Threads make windows at the same time, each with ranks of its own choice; what is meant for one
/// window does not reach another.
void windows_made_by_threads(Flavor flavor, const Program& program) {
  if (program.size() > 4) return;  // with 32 threads the hosts take very long on few cores
  std::vector<MPI_Comm> comms(threads);
  for (int i = 0; i < threads; ++i) {
    // Every second one is backwards, and the last ones leave rank 0 out.
    const bool member = i < 2 || program.rank() != 0 || program.size() == 1;
    const int key = i % 2 == 0 ? program.rank() : -program.rank();
    MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, key,
                   &comms[static_cast<std::size_t>(i)]);
  }
  in_threads([&](int thread) {
    const MPI_Comm comm = comms[static_cast<std::size_t>(thread)];
    if (comm == MPI_COMM_NULL) return;
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 3; ++i) {
      Window<int> window(flavor, 1, comm);
      const int value = 1000 * (thread + 1) + rank;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, window);
      MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
      MPI_Win_unlock((rank + 1) % size, window);
      MPI_Barrier(comm);
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
      CHECK_EQUAL(window[0], 1000 * (thread + 1) + (rank + size - 1) % size);
      MPI_Win_unlock(rank, window);
    }
  });
  for (MPI_Comm& comm : comms) {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
}

/// Threads update when they end, after C++'s own destructors of theirs have run, while another rank
/// updates so much at a time that it has to be alone.
void updates_of_ending_threads(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  constexpr int few = 512;
  constexpr int many = 600;
  constexpr int updates = 40;
  static MPI_Win target;
  static std::vector<long> ones(many, 1);
  Window<long> window(flavor, many);
  target = window;
  MPI_Win_lock_all(0, window);
  long own = 0;
  if (program.rank() == 0) {
    pthread_key_t key;
    pthread_key_create(&key, [](void*) {
      for (int i = 0; i < updates; ++i) {
        MPI_Accumulate(ones.data(), few, MPI_LONG, 0, 0, few, MPI_LONG, MPI_SUM, target);
      }
      MPI_Win_flush(0, target);
    });
    constexpr int times = 10;
    for (int i = 0; i < times; ++i) {
      in_threads([&](int) {
        pthread_setspecific(key, &key);
        MPI_Accumulate(ones.data(), few, MPI_LONG, 0, 0, few, MPI_LONG, MPI_SUM, target);
        MPI_Win_flush(0, target);
      });
    }
    own = long{times} * threads * (updates + 1);
    pthread_key_delete(key);
  } else if (program.rank() == 1) {
    for (; own < 400; ++own) {
      MPI_Accumulate(ones.data(), many, MPI_LONG, 0, 0, many, MPI_LONG, MPI_SUM, window);
      MPI_Win_flush(0, window);
    }
  }
  MPI_Win_unlock_all(window);
  long all = 0;
  MPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; program.rank() == 0 && i < few; ++i) CHECK_EQUAL(window[i], all);
}

/// One thread waits in a closing call while others work: it must not hold them up.
void waiting_thread(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  Window<int> exposure(flavor, 1);
  Window<int> window(flavor, 1);
  if (program.rank() == 0) {
    std::thread waits([&] {
      MPI_Win_post(support::Group({1}), 0, exposure);
      MPI_Win_wait(exposure);
    });
    const int one = 1;
    for (int i = 0; i < rounds; ++i) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
      MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
      MPI_Win_unlock(0, window);
    }
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    waits.join();
    CHECK_EQUAL(window[0], rounds);
  }
  if (program.rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_start(support::Group({0}), 0, exposure);
    MPI_Win_complete(exposure);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv, MPI_THREAD_MULTIPLE);
  if (program.thread_level() < MPI_THREAD_MULTIPLE) return 0;
  for (Flavor flavor : support::flavors()) {
    // First, so that several threads make the very first window.
    program.test_unless_host("any", "it crashes where two threads make or free windows at a time",
                             "windows made by threads",
                             [&] { windows_made_by_threads(flavor, program); });
    program.test("put and flush", [&] { put_and_flush(flavor, program); });
    program.test("put with gaps", [&] { put_scattered(flavor, program); });
    program.test("contended", [&] { contended(flavor, program); });
    program.test("requests", [&] { requests(flavor, program); });
    program.test("window per thread", [&] { window_per_thread(flavor, program); });
    program.test("updates of ending threads", [&] { updates_of_ending_threads(flavor, program); });
    program.test("waiting thread", [&] { waiting_thread(flavor, program); });
  }
}
