// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/report_table.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "core/base/settings.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

constexpr int await_seconds = 60;
constexpr int checks_per_second = 100;

/// Returns whether done() becomes true within `await_seconds`.
template <typename Done>
bool await(Done&& done) {
  for (int i = 0; i < await_seconds * checks_per_second; ++i) {
    if (done()) return true;
    ::usleep(1'000'000 / checks_per_second);
  }
  return false;
}

/// Opens the lock file, which only this user can open, and thus lock. -1: it cannot be opened, or
/// is owned by another user, who may keep it locked.
int open_table(const std::string& folder) {
  const int file = own_descriptor(
      ::open((folder + "/table").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat status{};
  if (file < 0 || (::fstat(file, &status) == 0 && status.st_uid == ::geteuid())) return file;
  ::close(file);
  return -1;
}

/// If several ranks abort together, one prints the table, and the others must not end the job
/// meanwhile. The rank that has the lock prints, unless the file says that the table is printed.
/// The kernel releases the lock of a process that is killed.
class Turn {
 public:
  explicit Turn(const std::string& folder) : file_(open_table(folder)) {
    char first = 0;
    ours_ = file_ < 0 || (await([&] { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; }) &&
                          ::read(file_, &first, 1) == 0);
  }
  ~Turn() {
    if (file_ < 0) return;
    if (ours_) [[maybe_unused]]
      const ssize_t written = ::write(file_, "printed\n", 8);
    ::close(file_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool ours() const { return ours_; }

 private:
  int file_;
  bool ours_;
};

/// The path of the command: in this library's installation, otherwise found by PATH.
std::string command() {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<void*>(&print_report_table), &own) != 0) {
    const std::string library = own.dli_fname;
    const std::string beside = library.substr(0, library.rfind('/') + 1) + "../bin/oriel";
    if (::access(beside.c_str(), X_OK) == 0) return beside;
  }
  return "oriel";
}

/// The environment of this process, without variables that would load this library, a tool, or the
/// program's own Python into the command.
std::vector<char*> environment() {
  std::vector<char*> kept;
  for (char** word = environ; *word != nullptr; ++word) {
    if (std::strncmp(*word, "LD_PRELOAD=", 11) != 0 &&
        std::strncmp(*word, "PYTHONHOME=", 11) != 0) {
      kept.push_back(*word);
    }
  }
  kept.push_back(nullptr);
  return kept;
}

/// If the program ignores SIGCHLD, waitpid fails once the child has ended.
bool has_ended(pid_t child, int& status) {
  const pid_t ended = ::waitpid(child, &status, WNOHANG);
  return ended == child || (ended < 0 && errno != EINTR);
}

}  // namespace

void print_report_table(const std::string& folder) {
  const Turn turn(folder);
  if (!turn.ours()) return;
  const std::string program = command();
  std::vector<char*> words{const_cast<char*>("oriel"), const_cast<char*>("report")};
  if (setting_bool("ORIEL_TIMELINE")) words.push_back(const_cast<char*>("--timeline"));
  words.insert(words.end(), {const_cast<char*>(folder.c_str()), nullptr});
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int code =
      ::posix_spawnp(&child, program.c_str(), &files, nullptr, words.data(), environment().data());
  ::posix_spawn_file_actions_destroy(&files);
  int status = 0;
  const bool ended = code != 0 || await([&] { return has_ended(child, status); });
  if (code == 0 && ended && status == 0) return;
  if (!ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  std::fprintf(
      stderr,
      "oriel: The waits of the ranks are recorded in %s; `oriel report %s` prints them.%s\n",
      folder.c_str(), folder.c_str(),
      ended ? "" : " It takes longer than a minute, and has been ended here.");
}

}  // namespace oriel
