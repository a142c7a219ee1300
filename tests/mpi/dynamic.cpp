// SPDX-License-Identifier: BSD-3-Clause
// G2: dynamic windows. Memory of every kind is attached and reached by its address in every kind of
// epoch, what is not attached is an error, and pieces come and go in great numbers.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/footprint.hpp"
#include "support/nonblocking.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"

namespace {

using support::Program;

/// Where memory comes from: its own or one that node peers map.
enum class Source { heap, alloc_mem };
constexpr Source sources[] = {Source::heap, Source::alloc_mem};

/// Memory of so many elements.
template <class T>
class Memory {
 public:
  Memory(Source source, std::size_t count) : source_(source), count_(count) {
    const std::size_t bytes = std::max<std::size_t>(count * sizeof(T), 1);
    if (source == Source::heap) {
      data_ = static_cast<T*>(std::malloc(bytes));
    } else {
      MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &data_);
    }
    std::fill_n(data_, count, T{});
  }
  ~Memory() { source_ == Source::heap ? std::free(data_) : static_cast<void>(MPI_Free_mem(data_)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  MPI_Aint bytes() const { return static_cast<MPI_Aint>(count_ * sizeof(T)); }

 private:
  Source source_;
  std::size_t count_;
  T* data_ = nullptr;
};

MPI_Aint address_of(const void* memory) {
  MPI_Aint address = 0;
  MPI_Get_address(memory, &address);
  return address;
}

std::vector<MPI_Aint> gathered(MPI_Aint own, int ranks) {
  std::vector<MPI_Aint> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&own, 1, MPI_AINT, all.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  return all;
}

/// A dynamic window that returns errors.
class Window {
 public:
  Window() {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  }
  ~Window() { MPI_Win_free(&window_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  operator MPI_Win() const { return window_; }  // NOLINT(google-explicit-constructor)

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

/// One with memory of each rank attached in pieces of some elements.
template <class T>
class Attached {
 public:
  Attached(const Program& program, Source source, std::size_t count, std::size_t pieces = 1)
      : memory_(source, count), pieces_(pieces) {
    for (std::size_t i = 0; i < pieces; ++i) {
      const auto bytes = static_cast<MPI_Aint>((cut(i + 1) - cut(i)) * sizeof(T));
      CHECK_EQUAL(MPI_Win_attach(window_, memory_.data() + cut(i), bytes), MPI_SUCCESS);
    }
    addresses_ = gathered(address_of(memory_.data()), program.size());
  }
  ~Attached() {
    MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t i = 0; i < pieces_; ++i) {
      CHECK_EQUAL(MPI_Win_detach(window_, memory_.data() + cut(i)), MPI_SUCCESS);
    }
  }
  operator MPI_Win() const { return window_; }  // NOLINT(google-explicit-constructor)
  T& operator[](std::size_t i) { return memory_[i]; }
  T* data() { return memory_.data(); }
  /// Of an element of a rank.
  MPI_Aint at(int rank, std::size_t i) const {
    return MPI_Aint_add(addresses_[static_cast<std::size_t>(rank)],
                        static_cast<MPI_Aint>(i * sizeof(T)));
  }

 private:
  std::size_t cut(std::size_t i) const {
    return static_cast<std::size_t>(memory_.bytes()) / sizeof(T) * i / pieces_;
  }

  Memory<T> memory_;
  std::size_t pieces_;
  Window window_;
  std::vector<MPI_Aint> addresses_;
};

void attributes() {
  const Window window;
  int flag = 0;
  void* base = &flag;
  MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flag);
  CHECK(flag && base == MPI_BOTTOM);
  const auto number = [&](int key, auto value) {
    decltype(value)* found = nullptr;
    MPI_Win_get_attr(window, key, &found, &flag);
    CHECK(flag);
    return *found;
  };
  CHECK_EQUAL(number(MPI_WIN_SIZE, MPI_Aint{-1}), MPI_Aint{0});
  CHECK_EQUAL(number(MPI_WIN_DISP_UNIT, -1), 1);
  CHECK_EQUAL(number(MPI_WIN_CREATE_FLAVOR, -1), MPI_WIN_FLAVOR_DYNAMIC);
}

/// A neighbour's words, long enough to be cut into messages, by fences, by post and start, by
/// locks.
void epochs(const Program& program, Source source, std::size_t count) {
  Attached<int> window(program, source, 2 * count, 3);
  std::vector<int> sent(count);
  std::vector<int> back(count);
  const int target = program.right();
  const int elements = static_cast<int>(count);
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int kind = 0; kind < 4; ++kind) {
    std::iota(sent.begin(), sent.end(), 1000 * program.rank() + kind);
    const auto put = [&] {
      MPI_Put(sent.data(), elements, MPI_INT, target, window.at(target, count / 2), elements,
              MPI_INT, window);
    };
    const auto get = [&] {
      MPI_Get(back.data(), elements, MPI_INT, target, window.at(target, count / 2), elements,
              MPI_INT, window);
    };
    switch (kind) {
      case 0:
        MPI_Win_fence(0, window);
        put();
        MPI_Win_fence(0, window);
        get();
        MPI_Win_fence(0, window);
        break;
      case 1:
        for (const bool putting : {true, false}) {
          MPI_Win_post(world, 0, window);
          MPI_Win_start(world, 0, window);
          putting ? put() : get();
          MPI_Win_complete(window);
          MPI_Win_wait(window);
        }
        break;
      case 2:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        put();
        MPI_Win_flush(target, window);
        get();
        MPI_Win_unlock(target, window);
        break;
      default:
        MPI_Win_lock_all(0, window);
        put();
        MPI_Win_flush(target, window);
        get();
        MPI_Win_unlock_all(window);
    }
    CHECK(back == sent);
    support::barrier();
    MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK_EQUAL(window[count / 2 + i], 1000 * program.left() + kind + static_cast<int>(i));
    }
    MPI_Win_unlock(program.rank(), window);
    support::barrier();
  }
  MPI_Group_free(&world);
}

/// All ranks add to the same words of each rank, which lie in mapped and in private memory.
void updates(const Program& program) {
  constexpr int rounds = 100;
  Window window;
  Memory<std::int64_t> own(Source::heap, 4);
  Memory<std::int64_t> shared(Source::alloc_mem, 4);
  MPI_Win_attach(window, own.data(), own.bytes());
  MPI_Win_attach(window, shared.data(), shared.bytes());
  const auto owns = gathered(address_of(own.data()), program.size());
  const auto shareds = gathered(address_of(shared.data()), program.size());
  const std::int64_t one = 1;
  MPI_Win_lock_all(0, window);
  for (int round = 0; round < rounds; ++round) {
    for (int rank = 0; rank < program.size(); ++rank) {
      for (const MPI_Aint base :
           {owns[static_cast<std::size_t>(rank)], shareds[static_cast<std::size_t>(rank)]}) {
        std::int64_t before[2];
        MPI_Accumulate(&one, 1, MPI_INT64_T, rank, base, 1, MPI_INT64_T, MPI_SUM, window);
        MPI_Fetch_and_op(&one, before, MPI_INT64_T, rank, MPI_Aint_add(base, 8), MPI_SUM, window);
        MPI_Get_accumulate(&one, 1, MPI_INT64_T, before + 1, 1, MPI_INT64_T, rank,
                           MPI_Aint_add(base, 16), 1, MPI_INT64_T, MPI_SUM, window);
        MPI_Win_flush(rank, window);
        CHECK(before[0] >= round && before[1] >= round);
      }
    }
  }
  const std::int64_t mine = program.rank() + 1;
  const std::int64_t zero = 0;
  std::int64_t winner = 0;
  MPI_Compare_and_swap(&mine, &zero, &winner, MPI_INT64_T, 0, MPI_Aint_add(owns[0], 24), window);
  MPI_Win_flush(0, window);
  MPI_Win_unlock_all(window);
  support::barrier();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK_EQUAL(own[i], std::int64_t{rounds} * program.size());
    CHECK_EQUAL(shared[i], std::int64_t{rounds} * program.size());
  }
  const int won = winner == 0 ? 1 : 0;
  int winners = 0;
  MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(winners, 1);
}

/// A datatype of addresses, from MPI_BOTTOM or from anywhere else, into pieces of both kinds.
void datatypes(const Program& program) {
  constexpr int blocks = 3;
  Window window;
  Memory<int> own(Source::heap, 64);
  Memory<int> shared(Source::alloc_mem, 64);
  // Two pieces that touch one another.
  MPI_Win_attach(window, own.data(), 100);
  MPI_Win_attach(window, own.data() + 25, own.bytes() - 100);
  MPI_Win_attach(window, shared.data(), shared.bytes());
  const auto owns = gathered(address_of(own.data()), program.size());
  const auto shareds = gathered(address_of(shared.data()), program.size());
  const auto target = static_cast<std::size_t>(program.right());
  for (const MPI_Aint origin : {MPI_Aint{0}, MPI_Aint{4096}, owns[target], MPI_Aint{-4096}}) {
    const MPI_Aint absolute[blocks] = {MPI_Aint_add(owns[target], 80),
                                       MPI_Aint_add(shareds[target], 40),
                                       MPI_Aint_add(owns[target], 8)};
    MPI_Aint displacements[blocks];
    for (int i = 0; i < blocks; ++i) displacements[i] = MPI_Aint_diff(absolute[i], origin);
    const int lengths[blocks] = {10, 4, 2};
    MPI_Datatype type;
    MPI_Type_create_hindexed(blocks, lengths, displacements, MPI_INT, &type);
    MPI_Type_commit(&type);
    int values[16];
    std::iota(values, values + 16, program.rank() * 100);
    int back[16] = {};
    MPI_Win_fence(0, window);
    MPI_Put(values, 16, MPI_INT, program.right(), origin, 1, type, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(values, 16, MPI_INT, program.right(), origin, 1, type, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Get(back, 16, MPI_INT, program.right(), origin, 1, type, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 16; ++i) {
      CHECK_EQUAL(back[i], 2 * values[i]);
      const auto at = static_cast<std::size_t>(i);
      const int found = i < 10 ? own[20 + at] : i < 14 ? shared[at] : own[at - 12];
      CHECK_EQUAL(found, 2 * (program.left() * 100 + i));
    }
    MPI_Type_free(&type);
    support::barrier();
  }
}

/// The class of what a put, or the flush behind it, reports.
int put_and_flush(MPI_Win window, int target, MPI_Aint displacement) {
  const int value = 77;
  const int put = MPI_Put(&value, 1, MPI_INT, target, displacement, 1, MPI_INT, window);
  const int flushed = MPI_Win_flush(target, window);
  CHECK(put == MPI_SUCCESS || flushed == MPI_SUCCESS);
  return support::error_class(put != MPI_SUCCESS ? put : flushed);
}

void detached(const Program& program, Source source) {
  Window window;
  Memory<int> memory(source, 16);
  const auto addresses = gathered(address_of(memory.data()), program.size());
  const int target = program.right();
  const MPI_Aint there = addresses[static_cast<std::size_t>(target)];
  for (int round = 0; round < 3; ++round) {
    MPI_Win_attach(window, memory.data(), memory.bytes());
    support::barrier();
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    CHECK_EQUAL(put_and_flush(window, target, there), MPI_SUCCESS);
    CHECK_EQUAL(put_and_flush(window, target, MPI_Aint_add(there, 60)), MPI_SUCCESS);
    CHECK_EQUAL(put_and_flush(window, target, MPI_Aint_add(there, 64)), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(put_and_flush(window, target, MPI_Aint_add(there, 62)), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(put_and_flush(window, target, there), MPI_SUCCESS);
    support::barrier();
    CHECK_EQUAL(memory[0], 77);
    MPI_Win_detach(window, memory.data());
    memory[0] = 5;
    memory[1] = 6;
    support::barrier();
    // As on hosts, until the owner gives the memory back or calls a fence.
    int found = 0;
    MPI_Get(&found, 1, MPI_INT, target, MPI_Aint_add(there, 4), 1, MPI_INT, window);
    CHECK_EQUAL(MPI_Win_flush(target, window), MPI_SUCCESS);
    CHECK_EQUAL(found, 6);
    CHECK_EQUAL(put_and_flush(window, target, there), MPI_SUCCESS);
    CHECK_EQUAL(put_and_flush(window, target, MPI_Aint_add(there, 64)), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(put_and_flush(window, target, 0), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(MPI_Win_unlock(target, window), MPI_SUCCESS);
    support::barrier();
    CHECK_EQUAL(memory[0], 77);
    MPI_Win_fence(0, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    memory[0] = 5;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    CHECK_EQUAL(put_and_flush(window, target, there), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(target, window);
    support::barrier();
    CHECK_EQUAL(memory[0], 5);
  }
}

/// Memory that its owner unmaps, or gives back to MPI, behind the detach. Long operations reach it
/// until then, too.
void given_back(const Program& program, bool mapped, int count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(int);
  Window window;
  int* memory = nullptr;
  if (mapped) {
    MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &memory);
  } else {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    memory = static_cast<int*>(pages);
  }
  std::fill_n(memory, count, program.rank());
  MPI_Win_attach(window, memory, static_cast<MPI_Aint>(bytes));
  const auto addresses = gathered(address_of(memory), program.size());
  std::vector<int> values(static_cast<std::size_t>(count), 77);
  std::vector<int> back(values.size());
  const auto classes = [](int code, int flushed) {
    return support::error_class(code != MPI_SUCCESS ? code : flushed);
  };
  const auto all = [&](int target, int expected) {
    const MPI_Aint there = addresses[static_cast<std::size_t>(target)];
    int code = MPI_Get(back.data(), count, MPI_INT, target, there, count, MPI_INT, window);
    CHECK_EQUAL(classes(code, MPI_Win_flush(target, window)), expected);
    code = MPI_Put(values.data(), count, MPI_INT, target, there, count, MPI_INT, window);
    CHECK_EQUAL(classes(code, MPI_Win_flush(target, window)), expected);
    code = MPI_Accumulate(values.data(), count, MPI_INT, target, there, count, MPI_INT, MPI_SUM,
                          window);
    CHECK_EQUAL(classes(code, MPI_Win_flush(target, window)), expected);
  };
  MPI_Win_detach(window, memory);
  support::barrier();
  MPI_Win_lock_all(0, window);
  const int target = program.right();
  all(target, MPI_SUCCESS);
  CHECK(std::count(back.begin(), back.end(), target) == count);
  support::barrier();
  CHECK(std::count(memory, memory + count, 2 * 77) == count);
  if (mapped) {
    MPI_Free_mem(memory);
  } else {
    // Unlike munmap it leaves the addresses to no other mapping.
    CHECK(mmap(memory, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
  }
  support::barrier();
  all(target, MPI_ERR_RMA_RANGE);
  all(program.rank(), MPI_ERR_RMA_RANGE);
  MPI_Win_unlock_all(window);
  support::barrier();
  if (!mapped) munmap(memory, bytes);
}

/// A rank detaches its memory and attaches it again, all the time, while others read it.
void detached_and_attached(const Program& program, Source source) {
  constexpr int rounds = 300;
  Attached<std::int64_t> window(program, source, 64);
  window[5] = 5;
  support::barrier();
  const int target = program.right();
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds; ++i) {
    CHECK_EQUAL(MPI_Win_detach(window, window.data()), MPI_SUCCESS);
    std::int64_t found = 0;
    MPI_Get(&found, 1, MPI_INT64_T, target, window.at(target, 5), 1, MPI_INT64_T, window);
    CHECK_EQUAL(MPI_Win_flush(target, window), MPI_SUCCESS);
    CHECK_EQUAL(found, std::int64_t{5});
    // The pieces have another length each time.
    const MPI_Aint bytes = 8 * (6 + i % 59);
    CHECK_EQUAL(MPI_Win_attach(window, window.data(), bytes), MPI_SUCCESS);
  }
  MPI_Win_unlock_all(window);
}

/// Longer than any message: the memory is detached and given back, or forgotten by a fence, and
/// perhaps given out again.
void long_and_gone(const Program& program, Source source) {
  constexpr int count = 400'000;
  Window window;
  const int target = program.right();
  const std::vector<int> ones(count, 1);
  std::vector<int> back(count);
  MPI_Aint there = 0;
  const auto moved = [&](bool put) {
    const int code =
        put ? MPI_Put(ones.data(), count, MPI_INT, target, there, count, MPI_INT, window)
            : MPI_Get(back.data(), count, MPI_INT, target, there, count, MPI_INT, window);
    const int flushed = MPI_Win_flush(target, window);
    return support::error_class(code != MPI_SUCCESS ? code : flushed);
  };
  MPI_Win_lock_all(0, window);
  for (int round = 0; round < 3; ++round) {
    auto memory = std::make_unique<Memory<int>>(source, count);
    there = gathered(address_of(memory->data()), program.size())[static_cast<std::size_t>(target)];
    for (const bool put : {true, false}) CHECK_EQUAL(moved(put), MPI_ERR_RMA_RANGE);
    support::barrier();
    CHECK_EQUAL((*memory)[count / 2], 0);
    MPI_Win_attach(window, memory->data(), memory->bytes());
    support::barrier();
    CHECK_EQUAL(moved(true), MPI_SUCCESS);
    CHECK_EQUAL(moved(false), MPI_SUCCESS);
    CHECK(back == ones);
    back.assign(count, 7);
    there = MPI_Aint_add(there, 4);
    for (const bool put : {true, false}) CHECK_EQUAL(moved(put), MPI_ERR_RMA_RANGE);
    there = MPI_Aint_add(there, -4);
    support::barrier();
    CHECK(std::equal(ones.begin(), ones.end(), memory->data()));
    MPI_Win_detach(window, memory->data());
    if (source == Source::alloc_mem) {
      memory.reset();
    } else {
      // Memory that the heap has got back may still be there.
      MPI_Win_unlock_all(window);
      MPI_Win_fence(0, window);
      MPI_Win_lock_all(0, window);
    }
    support::barrier();
    for (const bool put : {true, false}) CHECK_EQUAL(moved(put), MPI_ERR_RMA_RANGE);
    CHECK(std::count(back.begin(), back.end(), 7) == count);
    support::barrier();
  }
  MPI_Win_unlock_all(window);
}

/// A window begins with nothing attached, whatever a former one has left behind where its words
/// lie now, and whoever is late.
void former_windows(const Program& program) {
  constexpr int rounds = 20;
  constexpr useconds_t while_us = 500;
  Memory<int> memory(Source::alloc_mem, 4);
  const int target = program.right();
  const MPI_Aint there =
      gathered(address_of(memory.data()), program.size())[static_cast<std::size_t>(target)];
  for (int round = 0; round < rounds; ++round) {
    const auto late = [&](int turn) {
      if ((round + turn + program.rank()) % 3 == 0) ::usleep(while_us);
    };
    Window window;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    late(0);
    CHECK_EQUAL(put_and_flush(window, target, there), MPI_ERR_RMA_RANGE);
    support::barrier();
    CHECK_EQUAL(MPI_Win_attach(window, memory.data(), memory.bytes()), MPI_SUCCESS);
    support::barrier();
    CHECK_EQUAL(put_and_flush(window, target, there), MPI_SUCCESS);
    MPI_Win_unlock(target, window);
    late(1);
    // Its memory is still attached when the window is freed.
  }
}

void wrong_pieces() {
  Window window;
  std::vector<char> memory(1000);
  char* base = memory.data();
  CHECK_CLASS(MPI_Win_attach(window, base, -1), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_attach(window, base, std::numeric_limits<MPI_Aint>::max()), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_detach(window, base), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_attach(window, base + 100, 100), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_attach(window, base + 200, 100), MPI_SUCCESS);
  const int overlap = MPI_Win_attach(window, base + 100, 100);
  CHECK_CLASS(overlap, MPI_ERR_RMA_ATTACH);
  CHECK(support::class_name(overlap).find("attached to the window already") != std::string::npos);
  CHECK_CLASS(MPI_Win_attach(window, base + 199, 1), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(window, base, 101), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(window, base, 1000), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_detach(window, base), MPI_ERR_BASE);
  CHECK_CLASS(MPI_Win_detach(window, base + 101), MPI_ERR_BASE);
  CHECK_EQUAL(MPI_Win_attach(window, base, 0), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_detach(window, base), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_detach(window, base + 100), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_detach(window, base + 100), MPI_ERR_BASE);
  MPI_Aint size = 0;
  int unit = 0;
  void* where = nullptr;
  CHECK_CLASS(MPI_Win_shared_query(window, 0, &size, &unit, &where), MPI_ERR_RMA_FLAVOR);
  // base + 200 is still attached when the window is freed.
}

/// The closing call of an epoch tells what went wrong in it, once; a window can be freed when what
/// nobody has asked for went wrong, and no rank waits for another one then.
void told_at_the_end(const Program& program, bool weak) {
  const support::Notified notified;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  Memory<int> memory(Source::heap, 4);
  MPI_Win_attach(window, memory.data(), memory.bytes());
  const int target = program.right();
  const MPI_Aint there =
      gathered(address_of(memory.data()), program.size())[static_cast<std::size_t>(target)];
  const int value = 3;
  const auto classes = [](int put, int closed) {
    CHECK(put == MPI_SUCCESS || closed == MPI_SUCCESS);
    return support::error_class(put != MPI_SUCCESS ? put : closed);
  };
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (const bool fences : {true, false}) {
    for (const MPI_Aint place : {there + 16, there}) {
      fences ? MPI_Win_fence(0, window) : MPI_Win_post(world, 0, window);
      if (!fences) MPI_Win_start(world, 0, window);
      const int put = MPI_Put(&value, 1, MPI_INT, target, place, 1, MPI_INT, window);
      const int closed =
          fences ? MPI_Win_fence(MPI_MODE_NOSUCCEED, window) : MPI_Win_complete(window);
      CHECK_EQUAL(classes(put, closed), place == there ? MPI_SUCCESS : MPI_ERR_RMA_RANGE);
      if (!fences) CHECK_EQUAL(MPI_Win_wait(window), MPI_SUCCESS);
    }
  }
  MPI_Group_free(&world);
  support::barrier();
  CHECK_EQUAL(memory[0], 3);
  // A notified operation of no epoch: not told by an epoch that has nothing to do with it.
  int told = notified.Put_notify(&value, 1, MPI_INT, target, there + 16, 1, MPI_INT, window, 1);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  MPI_Put(&value, 1, MPI_INT, target, there + 4, 1, MPI_INT, window);
  CHECK_EQUAL(MPI_Win_unlock(target, window), MPI_SUCCESS);
  CHECK_EQUAL(classes(told, MPI_Win_flush(target, window)), MPI_ERR_RMA_RANGE);
  support::barrier();
  told = MPI_SUCCESS;
  if (program.rank() == 0 && weak) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, ORIEL_MODE_WEAK_UNLOCK, window);
    told = MPI_Put(&value, 1, MPI_INT, target, there + 16, 1, MPI_INT, window);
    CHECK_EQUAL(MPI_Win_unlock(target, window), MPI_SUCCESS);
  } else if (program.rank() == 0) {
    told = notified.Put_notify(&value, 1, MPI_INT, target, there + 16, 1, MPI_INT, window, 1);
  }
  const int freed = MPI_Win_free(&window);
  CHECK(window == MPI_WIN_NULL);
  CHECK_EQUAL(classes(told, freed), program.rank() == 0 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
}

/// A put longer than any message, of which the target has attached the first half.
void long_and_half_attached(const Program& program) {
  constexpr int count = 400'000;
  Window window;
  Memory<int> memory(program.rank() % 2 == 0 ? Source::heap : Source::alloc_mem, count);
  MPI_Win_attach(window, memory.data(), memory.bytes() / 2);
  const int target = program.right();
  const MPI_Aint there =
      gathered(address_of(memory.data()), program.size())[static_cast<std::size_t>(target)];
  const std::vector<int> ones(count, 1);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  const int put = MPI_Put(ones.data(), count, MPI_INT, target, there, count, MPI_INT, window);
  const int flushed = MPI_Win_flush(target, window);
  CHECK_CLASS(put != MPI_SUCCESS ? put : flushed, MPI_ERR_RMA_RANGE);
  MPI_Win_unlock(target, window);
  support::barrier();
  for (int i = 0; i < count; ++i) CHECK_EQUAL(memory[static_cast<std::size_t>(i)], 0);
  support::barrier();
}

/// An element of a list that grows over all ranks.
struct Element {
  std::int64_t rank;  // of the next one; -1: there is none
  std::int64_t address;
  std::int64_t owner;
};

/// Each rank appends elements, which it attaches one by one, to a list that begins at rank 0.
void linked_list(const Program& program) {
  constexpr std::size_t each = 25;
  Window window;
  std::vector<Memory<Element>*> elements;
  const auto attach_element = [&] {
    const Source source = sources[elements.size() % 2];
    elements.push_back(new Memory<Element>(source, 1));
    (*elements.back())[0] = {-1, 0, program.rank()};
    MPI_Win_attach(window, elements.back()->data(), elements.back()->bytes());
    return address_of(elements.back()->data());
  };
  MPI_Aint head = program.rank() == 0 ? attach_element() : 0;
  MPI_Bcast(&head, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  std::int64_t rank = 0;
  MPI_Aint tail = head;
  for (std::size_t i = 0; i < each; ++i) {
    const std::int64_t address = attach_element();
    const std::int64_t own = program.rank();
    const std::int64_t none = -1;
    while (true) {
      std::int64_t found = 0;
      MPI_Compare_and_swap(&own, &none, &found, MPI_INT64_T, static_cast<int>(rank), tail, window);
      MPI_Win_flush(static_cast<int>(rank), window);
      const MPI_Aint next = MPI_Aint_add(tail, offsetof(Element, address));
      if (found == none) {
        MPI_Accumulate(&address, 1, MPI_INT64_T, static_cast<int>(rank), next, 1, MPI_INT64_T,
                       MPI_REPLACE, window);
        MPI_Win_flush(static_cast<int>(rank), window);
        rank = own;
        tail = address;
        break;
      }
      std::int64_t behind = 0;
      while (behind == 0) {
        MPI_Fetch_and_op(nullptr, &behind, MPI_INT64_T, static_cast<int>(rank), next, MPI_NO_OP,
                         window);
        MPI_Win_flush(static_cast<int>(rank), window);
      }
      rank = found;
      tail = behind;
    }
  }
  support::barrier();
  std::vector<int> seen(static_cast<std::size_t>(program.size()));
  rank = 0;
  tail = head;
  while (rank >= 0) {
    Element element{};
    MPI_Get(&element, sizeof element, MPI_BYTE, static_cast<int>(rank), tail, sizeof element,
            MPI_BYTE, window);
    MPI_Win_flush(static_cast<int>(rank), window);
    CHECK_EQUAL(element.owner, rank);
    ++seen[static_cast<std::size_t>(rank)];
    rank = element.rank;
    tail = element.address;
  }
  MPI_Win_unlock_all(window);
  for (int other = 0; other < program.size(); ++other) {
    const std::size_t expected = each + (other == 0 ? 1 : 0);
    CHECK_EQUAL(seen[static_cast<std::size_t>(other)], static_cast<int>(expected));
  }
  support::barrier();
  for (Memory<Element>* element : elements) {
    MPI_Win_detach(window, element->data());
    delete element;
  }
}

/// 100,000 pieces, of which a peer reaches any; many more come and go and leave nothing behind.
void many_pieces(const Program& program) {
  constexpr std::size_t many = 100'000;
  constexpr std::size_t stride = 7919;  // coprime to `many`
  Window window;
  Memory<std::int64_t> memory(program.rank() % 2 == 0 ? Source::alloc_mem : Source::heap, 2 * many);
  const auto addresses = gathered(address_of(memory.data()), program.size());
  for (std::size_t i = 0; i < many; ++i) {
    CHECK_EQUAL(MPI_Win_attach(window, &memory[2 * (i * stride % many)], 8), MPI_SUCCESS);
  }
  support::barrier();
  const int target = program.right();
  const MPI_Aint there = addresses[static_cast<std::size_t>(target)];
  std::vector<std::int64_t> values(many);  // until a flush they are the library's to read
  std::iota(values.begin(), values.end(), 1);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  for (std::size_t i = 0; i < many; i += 97) {
    const MPI_Aint place = MPI_Aint_add(there, static_cast<MPI_Aint>(16 * i));
    MPI_Put(&values[i], 1, MPI_INT64_T, target, place, 1, MPI_INT64_T, window);
    if (i % 9700 != 0) continue;
    MPI_Win_flush(target, window);
    CHECK_EQUAL(put_and_flush(window, target, MPI_Aint_add(place, 8)), MPI_ERR_RMA_RANGE);
  }
  MPI_Win_unlock(target, window);
  support::barrier();
  for (std::size_t i = 0; i < many; ++i) {
    CHECK_EQUAL(memory[2 * i], static_cast<std::int64_t>(i % 97 == 0 ? i + 1 : 0));
    CHECK_EQUAL(memory[2 * i + 1], std::int64_t{0});
  }
  // A rank alone shows it for all.
  const std::size_t churned = program.size() == 1 ? 1'000'000 : 100'000;
  support::Footprint before;
  for (std::size_t i = 0; i < churned; ++i) {
    if (i == churned / 10) before = support::Footprint();
    std::int64_t* piece = &memory[2 * (i * stride % many)];
    CHECK_EQUAL(MPI_Win_detach(window, piece), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_attach(window, piece, 8), MPI_SUCCESS);
  }
  constexpr long few = 512;  // two megabytes
  before.check_flat(few);
  support::barrier();
}

/// The owner attaches and detaches other memory all the time while peers use a piece that stays.
void busy_owner(const Program& program) {
  if (program.size() == 1) return;
  const int rounds = support::one_node() ? 2000 : 300;
  Attached<std::int64_t> window(program, Source::alloc_mem, 64);
  support::barrier();
  if (program.rank() == 0) {
    std::vector<char> scrap(64);
    std::vector<MPI_Request> others(static_cast<std::size_t>(program.size()) - 1);
    for (std::size_t i = 0; i < others.size(); ++i) {
      MPI_Irecv(nullptr, 0, MPI_INT, static_cast<int>(i) + 1, 0, MPI_COMM_WORLD, &others[i]);
    }
    int over = 0;
    for (unsigned i = 0; !over; ++i) {
      char* piece = &scrap[i % scrap.size()];
      CHECK_EQUAL(MPI_Win_attach(window, piece, 1), MPI_SUCCESS);
      CHECK_EQUAL(MPI_Win_detach(window, piece), MPI_SUCCESS);
      if (i % 64 == 0) {
        MPI_Testall(program.size() - 1, others.data(), &over, MPI_STATUSES_IGNORE);
      }
    }
  } else {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    const MPI_Aint own = window.at(0, static_cast<std::size_t>(program.rank()) % 64);
    for (std::int64_t i = 1; i <= rounds; ++i) {
      std::int64_t back = 0;
      MPI_Put(&i, 1, MPI_INT64_T, 0, own, 1, MPI_INT64_T, window);
      MPI_Win_flush(0, window);
      MPI_Get(&back, 1, MPI_INT64_T, 0, own, 1, MPI_INT64_T, window);
      MPI_Win_flush(0, window);
      CHECK_EQUAL(back, i);
    }
    MPI_Win_unlock(0, window);
    MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

/// Nonblocking epochs and notified access, as on any window.
void beyond_the_standard(const Program& program) {
  const support::Nonblocking nonblocking;
  const support::Notified notified;
  Attached<int> window(program, Source::heap, 8);
  const int target = program.right();
  const int value = program.rank() + 1;
  MPI_Request requests[2];
  nonblocking.Win_ilock(MPI_LOCK_EXCLUSIVE, target, 0, window, &requests[0]);
  MPI_Put(&value, 1, MPI_INT, target, window.at(target, 0), 1, MPI_INT, window);
  nonblocking.Win_iunlock(target, window, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  support::barrier();
  CHECK_EQUAL(window[0], program.left() + 1);
  MPI_Request told = MPI_REQUEST_NULL;
  notified.Notify_init(window, program.left(), 4, 1, &told);
  MPI_Start(&told);
  notified.Put_notify(&value, 1, MPI_INT, target, window.at(target, 1), 1, MPI_INT, window, 4);
  MPI_Wait(&told, MPI_STATUS_IGNORE);
  CHECK_EQUAL(window[1], program.left() + 1);
  MPI_Request_free(&told);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  program.test("attributes", attributes);
  for (const Source source : sources) {
    program.test("epochs", [&] { epochs(program, source, 10); });
    program.test("long epochs", [&] { epochs(program, source, 200'000); });
    program.test_unless_host("any", "what a host checks is its own choice", "detached",
                             [&] { detached(program, source); });
    program.test_unless_host("any", "what a host checks is its own choice", "long and gone",
                             [&] { long_and_gone(program, source); });
    program.test_unless_host("any", "what a host checks is its own choice", "detached and attached",
                             [&] { detached_and_attached(program, source); });
  }
  for (const bool mapped : {true, false}) {
    for (const int count : {8, 400'000}) {
      program.test_unless_host("any", "what a host checks is its own choice", "given back",
                               [&] { given_back(program, mapped, count); });
    }
  }
  program.test("updates", [&] { updates(program); });
  program.test("datatypes", [&] { datatypes(program); });
  program.test_unless_host("any", "what a host checks is its own choice", "former windows",
                           [&] { former_windows(program); });
  program.test_unless_host("any", "what a host checks is its own choice", "wrong pieces",
                           wrong_pieces);
  for (const bool weak : {false, true}) {
    program.test_unless_host("any", "what a host checks is its own choice", "told at the end",
                             [&] { told_at_the_end(program, weak); });
  }
  program.test_unless_host("any", "what a host checks is its own choice", "long and half attached",
                           [&] { long_and_half_attached(program); });
  program.test("linked list", [&] { linked_list(program); });
  program.test_unless_host("any", "hosts have room for few", "many pieces",
                           [&] { many_pieces(program); });
  program.test("busy owner", [&] { busy_owner(program); });
  program.test_unless_host("any", "Oriel's own calls", "beyond the standard",
                           [&] { beyond_the_standard(program); });
}
