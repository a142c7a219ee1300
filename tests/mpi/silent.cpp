// SPDX-License-Identifier: BSD-3-Clause
// B14: what the card does alone. Ranks on nodes of their own, on the stand-in card (support/card),
// whose counts tell what has reached a rank's software.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/card/counts.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

constexpr int origin = 0;
constexpr int target = 1;

card::Counts counts() {
  static const auto found = [] {
    void* library = dlopen(std::getenv("ORIEL_OFI_LIBRARY"), RTLD_NOW);
    CHECK(library != nullptr);
    return reinterpret_cast<decltype(&card_counts)>(dlsym(library, "card_counts"));
  }();
  CHECK(found != nullptr);
  return found();
}

Info intrinsic() {
  return Info({{"mpi_assert_accumulate_intrinsic", "true"}});
}

/// Calls `act` on the origin while the target computes, without a call of MPI. Nothing of it
/// reaches the target's software. The last two words of the window tell what the target, and what
/// the origin has come to, by stores, puts and gets.
template <typename Act>
void play_unheard(const Program& program, Window<std::uint64_t>& window, Act&& act) {
  const std::size_t of_target = window.size() - 2;
  const std::size_t of_origin = window.size() - 1;
  const auto put = [&](std::size_t word, std::uint64_t value) {
    MPI_Put(&value, 1, MPI_UINT64_T, target, static_cast<MPI_Aint>(word), 1, MPI_UINT64_T, window);
    MPI_Win_flush(target, window);
  };
  const auto await = [&](std::size_t word, std::uint64_t value) {
    for (std::uint64_t found = 0; found != value;) {
      MPI_Get(&found, 1, MPI_UINT64_T, target, static_cast<MPI_Aint>(word), 1, MPI_UINT64_T,
              window);
      MPI_Win_flush(target, window);
    }
  };
  if (program.rank() == origin) {
    MPI_Win_lock_all(0, window);
    put(of_origin, 0);  // the lock is granted before it ends
  }
  support::barrier();
  if (program.rank() == target) {
    const std::uint64_t before = counts().arrivals;
    window[of_target] = 1;
    while (window[of_origin] == 0) {
    }
    CHECK_EQUAL(counts().arrivals, before);
    window[of_target] = 2;
  } else if (program.rank() == origin) {
    await(of_target, 1);
    act();
    put(of_origin, 1);
    await(of_target, 2);
    MPI_Win_unlock_all(window);
  }
  support::barrier();
}

std::vector<std::uint64_t> words(std::size_t count, std::uint64_t first) {
  std::vector<std::uint64_t> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = first + i;
  return made;
}

void puts_and_gets(Flavor flavor, const Program& program) {
  constexpr std::size_t lengths[] = {1, 8, 512, 2048, 8192, 131'072};  // 8 B to 1 MB
  constexpr std::size_t most = lengths[5];
  Window<std::uint64_t> window(flavor, most + 2);
  play_unheard(program, window, [&] {
    for (const std::size_t count : lengths) {
      const std::vector<std::uint64_t> written = words(count, 7 * count);
      std::vector<std::uint64_t> read(count);
      const int number = static_cast<int>(count);
      MPI_Put(written.data(), number, MPI_UINT64_T, target, 0, number, MPI_UINT64_T, window);
      MPI_Win_flush(target, window);
      MPI_Get(read.data(), number, MPI_UINT64_T, target, 0, number, MPI_UINT64_T, window);
      MPI_Win_flush(target, window);
      CHECK(read == written);
    }
  });
  if (program.rank() != target) return;
  for (std::size_t i = 0; i < most; ++i) CHECK_EQUAL(window[i], 7 * most + i);
}

void atomics(Flavor flavor, const Program& program) {
  Window<std::uint64_t> window(flavor, 4, MPI_COMM_WORLD, intrinsic());
  const std::uint64_t two = 2;
  const std::uint64_t nine = 9;
  play_unheard(program, window, [&] {
    std::uint64_t found = 1;
    MPI_Fetch_and_op(&two, &found, MPI_UINT64_T, target, 0, MPI_SUM, window);
    MPI_Win_flush(target, window);
    CHECK_EQUAL(found, std::uint64_t{0});
    MPI_Compare_and_swap(&nine, &two, &found, MPI_UINT64_T, target, 0, window);
    MPI_Win_flush(target, window);
    CHECK_EQUAL(found, two);
  });
  if (program.rank() == target) CHECK_EQUAL(window[0], nine);
}

/// Cards have few endpoints, and few registrations.
void one_endpoint(Flavor flavor, const Program& program, std::uint64_t of_host) {
  const std::uint64_t one = 1;
  std::uint64_t found = 0;
  const Window<std::uint64_t> first(flavor, 1);
  const std::uint64_t none = counts().registrations;
  const Window<std::uint64_t> plain(flavor, 1);
  const std::uint64_t with_plain = counts().registrations;
  CHECK(with_plain > none);
  const Window<std::uint64_t> window(flavor, 1, MPI_COMM_WORLD, intrinsic());
  CHECK_EQUAL(counts().registrations - with_plain, with_plain - none);
  MPI_Win_lock_all(0, window);
  for (int rank = 0; rank < program.size(); ++rank) {
    MPI_Fetch_and_op(&one, &found, MPI_UINT64_T, rank, 0, MPI_SUM, window);
  }
  MPI_Win_unlock_all(window);
  CHECK_EQUAL(counts().endpoints, of_host + 1);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  const std::uint64_t of_host = counts().endpoints;
  for (const Flavor flavor : {Flavor::create, Flavor::allocate}) {
    program.test("one endpoint", [&] { one_endpoint(flavor, program, of_host); });
    program.test("puts and gets", [&] { puts_and_gets(flavor, program); });
    program.test("atomics", [&] { atomics(flavor, program); });
  }
}
