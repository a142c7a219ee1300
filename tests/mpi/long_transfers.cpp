// SPDX-License-Identifier: BSD-3-Clause
// G3, G4: single puts, gets and accumulates of more than 2 GiB and 4 GiB, which neither an int nor
// 32 bits count, and of which one process_vm_writev carries only a part. Rank 0 is the target, the
// last rank the origin.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using Word = std::uint64_t;

constexpr std::size_t gibi = std::size_t{1} << 30;
// Behind the border, no multiples of a page, and twice a number of words.
constexpr std::size_t over_2_gibi = 2 * gibi + 98'768;
constexpr std::size_t over_4_gibi = 4 * gibi + 98'768;
// In front of the target's part of the window, and behind it.
constexpr std::size_t guard = 64;

/// A large buffer whose content repeats after a prime number of pages, so that no two places which
/// a power of two lies between are alike. All repetitions are the same memory.
class Pattern {
 public:
  explicit Pattern(std::size_t bytes) : bytes_((bytes + period - 1) / period * period) {
    const int file = memfd_create("pattern", MFD_CLOEXEC);
    CHECK(file >= 0);
    CHECK_EQUAL(ftruncate(file, period), 0);
    void* reserved = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(reserved != MAP_FAILED);
    data_ = static_cast<char*>(reserved);
    for (std::size_t at = 0; at < bytes_; at += period) {
      CHECK(mmap(data_ + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
            data_ + at);
    }
    close(file);
    auto* words = reinterpret_cast<Word*>(data_);
    std::iota(words, words + period / sizeof(Word), Word{1} << 40);
  }
  ~Pattern() { munmap(data_, bytes_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  const char* data() const { return data_; }

  /// Checks that the bytes from `begin` to `end` of `copy` are those here, each word `times` as
  /// large.
  void check(const char* copy, std::size_t begin, std::size_t end, Word times) const {
    std::vector<Word> expected(period / sizeof(Word));
    std::memcpy(expected.data(), data_, period);
    for (Word& word : expected) word *= times;
    while (begin < end) {
      const std::size_t phase = begin % period;
      const std::size_t bytes = std::min(period - phase, end - begin);
      const char* part = reinterpret_cast<const char*>(expected.data()) + phase;
      if (std::memcmp(copy + begin, part, bytes) != 0) {
        const auto wrong = std::mismatch(part, part + bytes, copy + begin).first - part;
        support::fail(__FILE__, __LINE__,
                      "byte " + std::to_string(begin + std::size_t(wrong)) + " is wrong");
      }
      begin += bytes;
    }
  }

 private:
  static constexpr std::size_t period = 4099 * std::size_t{4096};
  char* data_ = nullptr;
  std::size_t bytes_;
};

/// Fresh memory of the program.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    data_ = static_cast<char*>(mapped);
  }
  ~Memory() { munmap(data_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  char* data() { return data_; }

 private:
  char* data_ = nullptr;
  std::size_t bytes_;
};

/// A number of bytes, and how it is passed: as the count of a large-count call, or as one element
/// of a derived type, which is two runs with a gap between them. The owner of private memory helps
/// to move one run, in chunks; two runs are left to process_vm_readv and process_vm_writev.
class Amount {
 public:
  Amount(std::size_t bytes, bool large_count)
      : large_(large_count), count_(static_cast<MPI_Count>(bytes / sizeof(Word))) {
    if (large_) return;
    const auto half = static_cast<int>(count_ / 2);
    const auto words = static_cast<int>(gap() / sizeof(Word));
    MPI_Type_vector(2, half, half + words, MPI_UINT64_T, &type_);
    MPI_Type_commit(&type_);
  }
  ~Amount() {
    if (!large_) MPI_Type_free(&type_);
  }
  Amount(const Amount&) = delete;
  Amount& operator=(const Amount&) = delete;

  std::size_t gap() const { return large_ ? 0 : 4000; }
  /// From the first byte to the last.
  std::size_t extent() const { return 2 * half() + gap(); }

  /// Checks that `copy` has the bytes of the pattern, each word `times` as large, and zeros in the
  /// gap.
  void check(const char* copy, const Pattern& pattern, Word times) const {
    pattern.check(copy, 0, half(), times);
    CHECK(std::string(copy + half(), gap()) == std::string(gap(), '\0'));
    pattern.check(copy, half() + gap(), extent(), times);
  }

  void put(const void* from, MPI_Win win) const {
#if MPI_VERSION >= 4
    if (large_) {
      MPI_Put_c(from, count_, MPI_UINT64_T, 0, guard, count_, MPI_UINT64_T, win);
      return;
    }
#endif
    MPI_Put(from, 1, type_, 0, guard, 1, type_, win);
  }
  void get(void* to, MPI_Win win) const {
#if MPI_VERSION >= 4
    if (large_) {
      MPI_Get_c(to, count_, MPI_UINT64_T, 0, guard, count_, MPI_UINT64_T, win);
      return;
    }
#endif
    MPI_Get(to, 1, type_, 0, guard, 1, type_, win);
  }
  void add(const void* from, MPI_Win win) const {
#if MPI_VERSION >= 4
    if (large_) {
      MPI_Accumulate_c(from, count_, MPI_UINT64_T, 0, guard, count_, MPI_UINT64_T, MPI_SUM, win);
      return;
    }
#endif
    MPI_Accumulate(from, 1, type_, 0, guard, 1, type_, MPI_SUM, win);
  }

 private:
  std::size_t half() const { return static_cast<std::size_t>(count_ / 2) * sizeof(Word); }

  bool large_;
  MPI_Count count_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Puts so many bytes. `all`: adds as many to them, and gets them back.
void transfer(Flavor flavor, bool large_count, std::size_t bytes, bool all,
              const Program& program) {
  const bool target = program.rank() == 0;
  const bool origin = program.rank() == program.size() - 1;
  const Amount amount(bytes, large_count);
  const std::size_t window_bytes = target ? guard + amount.extent() + guard : 0;
  Memory own(flavor == Flavor::create && target ? window_bytes : 1);
  char* base = own.data();
  MPI_Win win;
  if (flavor == Flavor::create) {
    MPI_Win_create(base, MPI_Aint(window_bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    MPI_Win_allocate(MPI_Aint(window_bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  }
  const Pattern pattern(amount.extent());
  const auto check_target = [&](Word times) {
    if (!target) return;
    const std::string guards(guard, '\0');
    CHECK(std::string(base, guard) == guards);
    CHECK(std::string(base + guard + amount.extent(), guard) == guards);
    amount.check(base + guard, pattern, times);
  };
  MPI_Win_fence(0, win);
  if (origin) amount.put(pattern.data(), win);
  MPI_Win_fence(0, win);
  check_target(1);
  if (all) {
    Memory got(origin ? amount.extent() : 1);
    MPI_Win_fence(0, win);
    if (origin) amount.add(pattern.data(), win);
    MPI_Win_fence(0, win);
    check_target(2);
    MPI_Win_fence(0, win);
    if (origin) amount.get(got.data(), win);
    MPI_Win_fence(0, win);
    if (origin) amount.check(got.data(), pattern, 2);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_free(&win);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (const auto& [flavor, kind] : {std::pair(Flavor::allocate, std::string("allocate")),
                                     std::pair(Flavor::create, std::string("create"))}) {
    const auto test = [&, flavor = flavor](const std::string& name, bool large_count,
                                           std::size_t bytes, bool all) {
      program.test(name.c_str(), [&] { transfer(flavor, large_count, bytes, all, program); });
    };
    test(kind + ", derived type, put over 4 GiB", false, over_4_gibi, false);
    test(kind + ", derived type, all over 2 GiB", false, over_2_gibi, true);
    test(kind + ", derived type, all over 4 GiB", false, over_4_gibi, true);
#if MPI_VERSION >= 4
    test(kind + ", large count, put over 4 GiB", true, over_4_gibi, false);
    test(kind + ", large count, all over 2 GiB", true, over_2_gibi, true);
    test(kind + ", large count, all over 4 GiB", true, over_4_gibi, true);
#endif
  }
}
