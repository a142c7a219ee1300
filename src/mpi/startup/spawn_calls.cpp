// SPDX-License-Identifier: BSD-3-Clause
// The calls that start processes. Children preload this library if their parent does. A launcher
// starts them with its own environment, which has no preloads, and no info key that all hosts
// support adds variables; so a shell sets the variables and executes the child.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/host/host_mpi.hpp"

using namespace oriel::mpi;

namespace {

constexpr const char* shell = "/bin/sh";
// Exports its arguments up to `--`, and executes the command after it.
constexpr const char* script =
    R"(while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@")";

bool preloaded() {
  const char* preloads = ::secure_getenv("LD_PRELOAD");
  Dl_info own{};
  return preloads != nullptr && ::dladdr(reinterpret_cast<void*>(&preloaded), &own) != 0 &&
         std::strstr(preloads, own.dli_fname) != nullptr;
}

/// The variables for a child: the preloaded libraries, the library path, by which the MPI library
/// is found, and Oriel's settings, which must be equal on all ranks of a window.
std::vector<std::string> variables_of_children() {
  std::vector<std::string> variables;
  if (!preloaded()) return variables;
  constexpr std::array<std::string_view, 3> beginnings{"LD_PRELOAD=", "LD_LIBRARY_PATH=", "ORIEL_"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::any_of(beginnings, [&](auto each) { return text.starts_with(each); })) {
      variables.emplace_back(text);
    }
  }
  return variables;
}

bool executable(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

bool on_search_path(const std::string& name) {
  const char* folders = ::secure_getenv("PATH");
  std::string_view rest = folders != nullptr ? folders : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (executable(std::string(rest.substr(0, end)) + "/" + name)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

/// The name by which a shell in the child's folder finds its program. Empty: it does not exist on
/// this machine, and the host has to find it, or to report that it does not exist.
std::string find_program(const std::string& command, MPI_Info info) {
  const std::string folder = info_value(info, "path").value_or("");
  std::string in_folder = folder + "/" + command;
  if (!folder.empty() && executable(in_folder)) return in_folder;
  if (command.find('/') == std::string::npos && on_search_path(command)) return command;
  std::string there = command.find('/') == std::string::npos ? "./" + command : command;
  const std::string begins = there.starts_with('/') ? "" : info_value(info, "wdir").value_or("");
  return executable(begins.empty() ? there : begins + "/" + there) ? there : "";
}

/// One command of a spawn, as passed to the host.
class ChildCommand {
 public:
  ChildCommand(const char* command, char** arguments, MPI_Info info,
               const std::vector<std::string>& variables)
      : command_(command), given_(arguments), info_(info) {
    const std::string program = variables.empty() ? "" : find_program(command_, info);
    if (program.empty()) return;
    words_ = {"-c", script, "sh"};
    words_.insert(words_.end(), variables.begin(), variables.end());
    words_.insert(words_.end(), {"--", program});
    for (char** word = arguments; word != nullptr && *word != nullptr; ++word) {
      words_.emplace_back(*word);
    }
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
    command_ = shell;
    if (info_value(info, "path").value_or("").empty()) return;
    host_mpi().Info_dup(info, &info_);
    host_mpi().Info_delete(info_, "path");  // it is the path of the program, not of the shell
    copied_ = true;
  }
  ~ChildCommand() {
    if (copied_) host_mpi().Info_free(&info_);
  }
  ChildCommand(const ChildCommand&) = delete;
  ChildCommand& operator=(const ChildCommand&) = delete;

  char* command() { return command_.data(); }
  char** arguments() { return pointers_.empty() ? given_ : pointers_.data(); }
  MPI_Info info() const { return info_; }

 private:
  std::string command_;
  char** given_;
  MPI_Info info_;
  bool copied_ = false;
  std::vector<std::string> words_;
  std::vector<char*> pointers_;  // to `words_`; empty: the command is unchanged
};

/// Only the arguments of the root are used in MPI. The host reports an invalid communicator.
bool is_root(MPI_Comm communicator, int root) {
  int rank = MPI_PROC_NULL;
  return host_mpi().Comm_rank(communicator, &rank) == MPI_SUCCESS && rank == root;
}

}  // namespace

ORIEL_MPI_CALL(Comm_spawn)(const char* command, char** argv, int maxprocs, MPI_Info info, int root,
                           MPI_Comm comm, MPI_Comm* intercomm, int* array_of_errcodes) {
  if (!is_root(comm, root)) {
    return host_mpi().Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm,
                                 array_of_errcodes);
  }
  ChildCommand child(command, argv, info, variables_of_children());
  return host_mpi().Comm_spawn(child.command(), child.arguments(), maxprocs, child.info(), root,
                               comm, intercomm, array_of_errcodes);
}

ORIEL_MPI_CALL(Comm_spawn_multiple)(int count, char** array_of_commands, char*** array_of_argv,
                                    const int array_of_maxprocs[], const MPI_Info array_of_info[],
                                    int root, MPI_Comm comm, MPI_Comm* intercomm,
                                    int* array_of_errcodes) {
  if (!is_root(comm, root)) {
    return host_mpi().Comm_spawn_multiple(count, array_of_commands, array_of_argv,
                                          array_of_maxprocs, array_of_info, root, comm, intercomm,
                                          array_of_errcodes);
  }
  const std::vector<std::string> variables = variables_of_children();
  std::vector<std::unique_ptr<ChildCommand>> children;
  std::vector<char*> commands;
  std::vector<char**> arguments;
  std::vector<MPI_Info> infos;
  for (int i = 0; i < count; ++i) {
    char** const given = array_of_argv != nullptr ? array_of_argv[i] : nullptr;
    children.push_back(
        std::make_unique<ChildCommand>(array_of_commands[i], given, array_of_info[i], variables));
    commands.push_back(children.back()->command());
    arguments.push_back(children.back()->arguments());
    infos.push_back(children.back()->info());
  }
  return host_mpi().Comm_spawn_multiple(count, commands.data(), arguments.data(), array_of_maxprocs,
                                        infos.data(), root, comm, intercomm, array_of_errcodes);
}
