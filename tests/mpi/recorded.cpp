// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 carries out each kind of operation once on the memory of rank 1, each of another size.
// With the argument `attached` it puts to memory that a dynamic window has, with `collective` both
// ranks use a persistent collective, with `messages` they wait for messages of the host, with
// `computing` rank 1 makes no calls while rank 0 reads its memory. Not a test by itself: its
// drivers look at what is recorded.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "support/check.hpp"
#include "support/counters.hpp"
#include "support/exported.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"
#include "support/windows.hpp"

using namespace support;

namespace {

constexpr int longest = 8192;  // elements, of 8 bytes

const Notified& oriel() {
  static const Notified calls;
  return calls;
}

/// Waits for so many notifications.
void expect(MPI_Win window, int source, int tag, int count) {
  MPI_Request request;
  oriel().Notify_init(window, source, tag, count, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/// Elements of a window, or of a buffer.
using Element = std::int64_t;
const MPI_Datatype type = MPI_INT64_T;

void operations(Window<Element>& window) {
  std::vector<Element> here(longest);
  std::vector<Element> result(longest);
  const auto put = [&](int count) { MPI_Put(here.data(), count, type, 1, 0, count, type, window); };
  MPI_Win_lock_all(0, window);
  put(1);
  MPI_Get(result.data(), 2, type, 1, 0, 2, type, window);
  MPI_Accumulate(here.data(), 3, type, 1, 0, 3, type, MPI_SUM, window);
  MPI_Get_accumulate(here.data(), 4, type, result.data(), 4, type, 1, 0, 4, type, MPI_SUM, window);
  MPI_Win_flush(1, window);
  MPI_Fetch_and_op(here.data(), result.data(), type, 1, 0, MPI_SUM, window);
  MPI_Compare_and_swap(here.data(), result.data(), result.data() + 1, type, 1, 0, window);
  MPI_Win_flush(1, window);
  MPI_Request request;
  MPI_Rput(here.data(), 5, type, 1, 0, 5, type, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Datatype apart;
  MPI_Type_vector(6, 1, 2, type, &apart);
  MPI_Type_commit(&apart);
  MPI_Put(here.data(), 1, apart, 1, 0, 1, apart, window);
  MPI_Type_free(&apart);
  put(longest);
  MPI_Win_flush(1, window);
  MPI_Win_unlock_all(window);
}

/// Rank 0 adds to it five times. The first addition is looked for twice; the others are found by a
/// reset, a request, where the counter is set, and where new ones replace it.
void look_at_counter(MPI_Win window) {
  const Counters counters;
  const auto value = [&] {
    MPI_Count found = 0;
    counters.Win_get_notify_value(window, 0, &found);
    return found;
  };
  barrier();
  CHECK_EQUAL(value(), MPI_Count{1});
  CHECK_EQUAL(value(), MPI_Count{1});
  barrier();
  barrier();
  MPI_Count before = 0;
  counters.Win_reset_notify_value(window, 0, &before);
  CHECK_EQUAL(before, MPI_Count{2});
  CHECK_EQUAL(value(), MPI_Count{0});
  MPI_Request request;
  counters.Win_get_notify_request(window, 0, 1, &request);
  barrier();
  barrier();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  barrier();
  barrier();
  counters.Win_set_notify_value(window, 0, 10);
  barrier();
  barrier();
  barrier();
}

void notifications(const Program& program, Window<Element>& window) {
  const std::array<Element, 9> here{};
  const auto notify = [&](int count, int tag) {
    oriel().Put_notify(here.data(), count, type, 1, 0, count, type, window, tag);
  };
  if (program.rank() == 0) {
    // In no lock epoch: they are of the window's notified one.
    notify(7, 70);
    notify(8, 80);
    notify(9, 70);
    for (int i = 0; i < 5; ++i) {
      Counters().Put_notify_counter(here.data(), 1, type, 1, 0, 1, type, 0, window);
      MPI_Win_flush(1, window);
      barrier();  // it is there
      barrier();  // and has been found
    }
  } else {
    // The second one has to be kept until it is asked for.
    expect(window, 0, 70, 2);
    expect(window, MPI_ANY_SOURCE, MPI_ANY_TAG, 1);
    look_at_counter(window);
  }
}

/// Two puts to shared memory that is attached, and two to private memory of a memory handle.
void attached_memory(const Program& program) {
  const Windows calls;
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_set_name(window, "attached");
  Element* shared = nullptr;
  MPI_Alloc_mem(sizeof(Element), MPI_INFO_NULL, &shared);
  std::vector<Element> own(1);
  MPI_Aint where = 0;
  std::array<unsigned char, ORIEL_MAX_MEMHANDLE_SIZE> handle{};
  if (program.rank() == 1) {
    int bytes = 0;
    MPI_Win_attach(window, shared, sizeof(Element));
    MPI_Get_address(shared, &where);
    calls.Memhandle_create(own.data(), sizeof(Element), MPI_INFO_NULL, window, handle.data(),
                           &bytes);
  }
  MPI_Bcast(&where, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  MPI_Bcast(handle.data(), static_cast<int>(handle.size()), MPI_BYTE, 1, MPI_COMM_WORLD);
  if (program.rank() == 0) {
    const auto put_twice = [](MPI_Win to, MPI_Aint displacement) {
      const Element value = 1;
      for (int i = 0; i < 2; ++i) {
        MPI_Put(&value, 1, type, 1, displacement, 1, type, to);
        MPI_Win_flush(1, to);
      }
    };
    MPI_Win_lock_all(0, window);
    put_twice(window, where);
    MPI_Win of_handle;
    calls.Win_from_memhandle(handle.data(), sizeof(Element), sizeof(Element), MPI_INFO_NULL, 1,
                             window, &of_handle);
    put_twice(of_handle, 0);
    MPI_Win_free(&of_handle);
    MPI_Win_unlock_all(window);
  }
  barrier();
  if (program.rank() == 1) {
    calls.Memhandle_release(handle.data(), window);
    MPI_Win_detach(window, shared);
  }
  MPI_Win_free(&window);
  MPI_Free_mem(shared);
}

/// From each rank to the other, in each of three uses: 24 bytes, then 800,000.
void collective() {
  const auto init = exported<decltype(&ORIEL_Alltoall_init)>("ORIEL_Alltoall_init");
  for (const int count : {3, 100'000}) {
    const std::vector<Element> from(2 * static_cast<std::size_t>(count));
    std::vector<Element> into(from.size());
    MPI_Request request;
    init(from.data(), count, type, into.data(), count, type, MPI_COMM_WORLD, MPI_INFO_NULL,
         &request);
    for (int use = 0; use < 3; ++use) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
  }
}

/// Rank 0 goes on when it has read what rank 1 has written behind its last call.
void computing(const Program& program) {
  Window<Element> window(Flavor::allocate, 2);
  if (program.rank() == 1) {
    std::atomic_ref(window[0]).store(1);
    while (std::atomic_ref(window[1]).load() == 0) {
    }
  } else {
    const Element one = 1;
    Element found = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    while (found == 0) {
      MPI_Get(&found, 1, type, 1, 0, 1, type, window);
      MPI_Win_flush(1, window);
    }
    MPI_Put(&one, 1, type, 1, 1, 1, type, window);
    MPI_Win_unlock(1, window);
  }
  barrier();
}

/// Rank 0 makes a message, a collective and a request of the host wait for a tenth of a second
/// each, in the calls of rank 1, and then the other way round. Each rank prints how long its calls
/// took.
void messages(const Program& program) {
  const Window<Element> window(Flavor::allocate, 1);
  double seconds = 0;
  for (const int late : {0, 1}) {
    const auto call_late = [&](auto&& call) {
      barrier();
      if (program.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const double begun = MPI_Wtime();
      call();
      seconds += MPI_Wtime() - begun;
    };
    Element element = 0;
    const int other = 1 - program.rank();
    call_late([&] {
      if (program.rank() == late) {
        MPI_Send(&element, 1, type, other, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(&element, 1, type, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    });
    call_late([&] { MPI_Barrier(MPI_COMM_WORLD); });
    call_late([&] {
      MPI_Request request;
      if (program.rank() == late) {
        MPI_Isend(&element, 1, type, other, 0, MPI_COMM_WORLD, &request);
      } else {
        MPI_Irecv(&element, 1, type, other, 0, MPI_COMM_WORLD, &request);
      }
      MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    });
  }
  std::printf("seconds: %.6f\n", seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const Program program(argc, argv);
  const std::string what = argc == 2 ? argv[1] : "";
  if (what == "attached") {
    attached_memory(program);
    return 0;
  }
  if (what == "collective") {
    collective();
    return 0;
  }
  if (what == "messages") {
    messages(program);
    return 0;
  }
  if (what == "computing") {
    computing(program);
    return 0;
  }
  for (const Flavor flavor : {Flavor::allocate, Flavor::create}) {
    Window<Element> window(flavor, longest);
    MPI_Win_set_name(window, name_of(flavor));
    Counters().Win_set_num_notify(window, MPI_INFO_NULL, 1);
    if (program.rank() == 0) operations(window);
    barrier();
    notifications(program, window);
    // Of a counter with which nothing has been done since it was looked at.
    Counters().Win_set_num_notify(window, MPI_INFO_NULL, 2);
  }
}
