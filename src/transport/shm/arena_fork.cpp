// SPDX-License-Identifier: BSD-3-Clause
// An arena in the child of a fork.
#include "transport/shm/arena.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/operation/address.hpp"
#include "transport/shm/arena_file.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

struct Forks {
  std::mutex mutex;  // held from before a fork to its end
  std::vector<Arena*> arenas;
  std::vector<SharedPages> copied;
  std::array<int, 2> waiting = {-1, -1};  // a pipe; the child closes it when it has its copies
};

/// Never destroyed: a thread may fork while the process ends.
Forks& forks() {
  static Forks& all = *new Forks;
  return all;
}

/// True if this thread has called before_any_fork() for a fork that is not over. It is false in the
/// later handlers if the handlers were registered while the thread forked.
thread_local bool forking = false;

bool read_all(int file, std::byte* to, off_t from, off_t end) {
  while (from < end) {
    const ssize_t got = ::pread(file, to, static_cast<std::size_t>(end - from), from);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    from += got;
  }
  return true;
}

/// Replaces the child's pages by private ones and fills these: no other thread runs in the child.
/// Uses system calls directly, because libraries that intercept mmap take locks, which another
/// thread of the parent may have held. Pages never touched are holes of the file and stay
/// untouched.
bool copy_pages(const SharedPages& pages) {
  if (::syscall(SYS_mmap, pages.begin, pages.bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == -1) {
    return false;
  }
  const auto begin = static_cast<off_t>(pages.offset);
  const auto end = static_cast<off_t>(pages.offset + pages.bytes);
  for (off_t at = begin; at < end;) {
    const off_t data = ::lseek(pages.file, at, SEEK_DATA);
    if (data < 0 || data >= end) break;
    const off_t hole = ::lseek(pages.file, data, SEEK_HOLE);
    at = hole < 0 ? end : std::min(hole, end);
    if (!read_all(pages.file, pages.begin + (data - begin), data, at)) return false;
  }
  return true;
}

}  // namespace

void Arena::watch_forks() {
  // Handlers cannot be unregistered: one set of them serves all objects.
  static const int registered =
      ::pthread_atfork(&before_any_fork, &after_fork_in_parent, &after_fork_in_child);
  static_cast<void>(registered);
  const std::lock_guard guard(forks().mutex);
  forks().arenas.push_back(this);
}

void Arena::unwatch_forks() {
  const std::lock_guard guard(forks().mutex);
  std::erase(forks().arenas, this);
}

/// A page that several pieces share is added once.
void Arena::before_fork(std::vector<SharedPages>& copied) {
  mutex_.lock();
  if (!ours()) return;
  std::uint64_t covered = 0;
  for (const auto& [offset, piece] : pieces_) {
    if (!piece.of_program || piece.uses != 0) continue;
    const std::uint64_t begin = std::max(round_down(offset, page_size()), covered);
    covered = std::max(round_up(offset + piece.bytes, page_size()), covered);
    if (begin == covered) continue;
    copied.push_back({at({begin, 0}), covered - begin, file_.descriptor(), begin});
  }
}

void Arena::before_any_fork() {
  Forks& all = forks();
  all.mutex.lock();
  forking = true;
  all.copied.clear();
  for (Arena* arena : all.arenas) arena->before_fork(all.copied);
  if (!all.copied.empty() && !own_pipe(all.waiting)) {
    std::fprintf(stderr,
                 "oriel: a process that forks cannot wait until its child has its copy of shared "
                 "memory: %s. See `ulimit -n`. The child may see later stores of its parent.\n",
                 std::strerror(errno));
  }
}

void Arena::after_fork_in_parent() {
  if (!std::exchange(forking, false)) return;
  Forks& all = forks();
  auto& [reading, writing] = all.waiting;
  if (writing >= 0) {
    ::close(std::exchange(writing, -1));
    // Ends when the child has closed its end, or has ended.
    char nothing = 0;
    while (::read(reading, &nothing, 1) < 0 && errno == EINTR) {
    }
    ::close(std::exchange(reading, -1));
  }
  for (Arena* arena : all.arenas) arena->after_fork();
  all.mutex.unlock();
}

void Arena::after_fork_in_child() {
  if (!std::exchange(forking, false)) return;
  Forks& all = forks();
  for (const SharedPages& pages : all.copied) {
    if (copy_pages(pages)) continue;
    constexpr char sentence[] =
        "oriel: the child of a fork ends, because there is not enough memory for its copy of the "
        "memory that its parent shares.\n";
    static_cast<void>(!::write(STDERR_FILENO, sentence, sizeof sentence - 1));
    ::_exit(EXIT_FAILURE);
  }
  for (int& end : all.waiting) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
  for (Arena* arena : all.arenas) arena->after_fork();
  all.mutex.unlock();
}

}  // namespace oriel
