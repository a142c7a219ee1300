// SPDX-License-Identifier: BSD-3-Clause
// G2: windows where /dev/shm is small or full. A window that does not fit is an error of the call
// on all ranks; the pages of a window that fits can all be touched. A memfd is not limited by it.
// The program fills /dev/shm, so it needs one of its own, of at most `largest` bytes.
// ORIEL_TEST_NO_MEMFD is the errno that memfd_create returns.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
constexpr std::uint64_t largest = 256 * mebi;
// Hosts have some megabytes of their own in /dev/shm.
constexpr std::uint64_t left = 16 * mebi;
constexpr auto too_much = static_cast<MPI_Aint>(2 * left);

/// Makes the kernel refuse memfd_create, as seccomp profiles and old kernels do.
void forbid_memfd(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  CHECK_EQUAL(memfd_create("oriel-test", 0), -1);
}

std::uint64_t available() {
  struct statvfs status{};
  CHECK_EQUAL(statvfs("/dev/shm", &status), 0);
  CHECK(status.f_blocks * status.f_frsize <= largest);
  return status.f_bavail * status.f_frsize;
}

/// Takes all of /dev/shm but so many bytes, until it is destroyed. On all ranks together.
class Filler {
 public:
  Filler(const Program& program, std::uint64_t rest) {
    support::barrier();
    if (program.rank() == 0) {
      file_ = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
      CHECK(file_ >= 0);
      const std::uint64_t free = available();
      CHECK(free > rest);
      CHECK_EQUAL(posix_fallocate(file_, 0, static_cast<off_t>(free - rest)), 0);
    }
    support::barrier();
  }
  ~Filler() {
    support::barrier();
    if (file_ >= 0) close(file_);
    support::barrier();
  }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

 private:
  int file_ = -1;
};

struct Made {
  int code = MPI_SUCCESS;
  char* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
};

Made make(Flavor flavor, MPI_Aint bytes) {
  Made made;
  made.code =
      flavor == Flavor::allocate
          ? MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made.base, &made.win)
          : MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made.base, &made.win);
  return made;
}

void check_says_what_is_full(int code) {
  CHECK(code != MPI_SUCCESS);
  const std::string sentence = support::class_name(code);
  if (sentence.find("/dev/shm") == std::string::npos) {
    support::fail(__FILE__, __LINE__, "the error does not name /dev/shm: " + sentence);
  }
}

void check_refused(const Made& made) {
  check_says_what_is_full(made.code);
  CHECK(made.win == MPI_WIN_NULL);
  CHECK(made.base == nullptr);
}

/// Touches all of this rank's memory, then writes to its neighbour's last byte.
void use(Made& made, MPI_Aint bytes, const Program& program) {
  CHECK_EQUAL(made.code, MPI_SUCCESS);
  for (MPI_Aint byte = 0; byte < bytes; ++byte) CHECK_EQUAL(made.base[byte], '\0');
  std::memset(made.base, 1, static_cast<std::size_t>(bytes));
  const char mark = static_cast<char>(2 + program.rank());
  MPI_Win_fence(0, made.win);
  MPI_Put(&mark, 1, MPI_CHAR, program.right(), bytes - 1, 1, MPI_CHAR, made.win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, made.win);
  CHECK_EQUAL(made.base[bytes - 1], static_cast<char>(2 + program.left()));
}

void use_and_free(Made made, MPI_Aint bytes, const Program& program) {
  use(made, bytes, program);
  MPI_Win_free(&made.win);
}

/// One rank asks for more than there is. The call fails on all ranks; smaller windows before and
/// after it succeed.
void more_than_there_is(Flavor flavor, const Program& program) {
  const Filler filler(program, left);
  for (int asking = 0; asking < program.size(); ++asking) {
    use_and_free(make(flavor, 100), 100, program);
    const Made made = make(flavor, program.rank() == asking ? too_much : 100);
    CHECK_CLASS(made.code, MPI_ERR_NO_MEM);
    check_refused(made);
  }
  use_and_free(make(flavor, 100), 100, program);
}

/// Makes and touches windows until one does not fit, which is an error on all ranks. Returns how
/// many were made.
int fill_with_windows(Flavor flavor, const Program& program) {
  constexpr auto bytes = static_cast<MPI_Aint>(mebi);
  std::vector<Made> all;
  for (;;) {
    Made made = make(flavor, bytes);
    if (made.code != MPI_SUCCESS) {
      check_refused(made);
      break;
    }
    use(made, bytes, program);
    all.push_back(made);
  }
  for (Made& made : all) MPI_Win_free(&made.win);
  return static_cast<int>(all.size());
}

/// Windows are made and touched until one does not fit. Failures and frees lose no memory, so as
/// many fit the next time.
void as_many_as_fit(Flavor flavor, const Program& program) {
  const Filler filler(program, left);
  const int first = fill_with_windows(flavor, program);
  CHECK(first > 0);
  CHECK(static_cast<std::uint64_t>(first) * mebi <= left);
  for (int i = 0; i < 2; ++i) CHECK_EQUAL(fill_with_windows(flavor, program), first);
}

/// Not even the first window of the process: its process block, of some 330 KB, does not fit. The
/// hosts' messages need the rest.
void next_to_nothing_left(const Program& program) {
  int memory = 0;
  MPI_Win win = MPI_WIN_NULL;
  {
    const Filler filler(program, mebi / 4);
    check_says_what_is_full(
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK(win == MPI_WIN_NULL);
    check_refused(make(Flavor::allocate, 100));
    check_refused(make(Flavor::shared, 100));
    check_says_what_is_full(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK(win == MPI_WIN_NULL);
  }
  for (Flavor flavor : {Flavor::allocate, Flavor::shared}) {
    use_and_free(make(flavor, static_cast<MPI_Aint>(mebi)), static_cast<MPI_Aint>(mebi), program);
  }
}

/// Memory that cannot be shared is the host's, which is private, and all of it can be touched.
void alloc_mem(const Program& program) {
  const Filler filler(program, left);
  for (const MPI_Aint bytes : {static_cast<MPI_Aint>(mebi), too_much}) {
    char* memory = nullptr;
    CHECK_EQUAL(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory), MPI_SUCCESS);
    std::memset(memory, 1, static_cast<std::size_t>(bytes));
    MPI_Free_mem(memory);
  }
}

/// The program's own memory needs no shared memory.
void created(const Program& program) {
  const Filler filler(program, left);
  std::vector<char> memory(too_much, 'm');
  Made made;
  made.base = memory.data();
  made.code = MPI_Win_create(made.base, too_much, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made.win);
  CHECK_EQUAL(made.code, MPI_SUCCESS);
  char got = '\0';
  MPI_Win_fence(0, made.win);
  MPI_Get(&got, 1, MPI_CHAR, program.right(), too_much / 2, 1, MPI_CHAR, made.win);
  MPI_Win_fence(0, made.win);
  CHECK_EQUAL(got, 'm');
  std::fill(memory.begin(), memory.end(), '\0');
  use_and_free(made, too_much, program);
}

/// More than /dev/shm has left, all of it touched.
void by_memfd(Flavor flavor, const Program& program) {
  const Filler filler(program, left);
  use_and_free(make(flavor, too_much), too_much, program);
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* error = std::getenv("ORIEL_TEST_NO_MEMFD")) forbid_memfd(std::atoi(error));
  Program program(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (std::getenv("ORIEL_TEST_NO_MEMFD") == nullptr && support::uses_memfd()) {
    for (Flavor flavor : {Flavor::allocate, Flavor::shared}) {
      program.test("by memfd", [&] { by_memfd(flavor, program); });
    }
    return 0;
  }
  program.test("next to nothing left", [&] { next_to_nothing_left(program); });
  for (Flavor flavor : {Flavor::allocate, Flavor::shared}) {
    program.test("more than there is", [&] { more_than_there_is(flavor, program); });
    program.test("as many as fit", [&] { as_many_as_fit(flavor, program); });
  }
  program.test("MPI_Alloc_mem", [&] { alloc_mem(program); });
  program.test("created", [&] { created(program); });
}
