// SPDX-License-Identifier: BSD-3-Clause
// G1: processes that a program has started share windows with it. Not among the usual programs:
// each child is this program again, with the name of its parent's test as its argument.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

constexpr int root = 1;  // what the other ranks say of the command does not count

std::string own_path() {
  std::array<char, 4096> path{};
  CHECK(readlink("/proc/self/exe", path.data(), path.size() - 1) > 0);
  return path.data();
}

/// Variables of parents that their launcher knows nothing of.
void set_variables() {
  setenv("ORIEL_TEST_OF_PARENTS", "1", 1);
  const char* folders = std::getenv("LD_LIBRARY_PATH");
  setenv("LD_LIBRARY_PATH",
         ((folders != nullptr ? std::string(folders) : "") + ":/of/parents").c_str(), 1);
}

void check_variables(const Program& program) {
  if (program.host_only()) return;
  CHECK(std::getenv("ORIEL_TEST_OF_PARENTS") != nullptr);
  const char* folders = std::getenv("LD_LIBRARY_PATH");
  CHECK(folders != nullptr && std::strstr(folders, ":/of/parents") != nullptr);
}

/// Parents come first.
void share_a_window(MPI_Comm relatives, bool child) {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(relatives, child ? 1 : 0, &all);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  CHECK_EQUAL(size, 4);
  for (const Flavor flavor : {Flavor::allocate, Flavor::create}) {
    Window<int> window(flavor, 1, all);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK_EQUAL(static_cast<int>(window[0]), (rank + size - 1) % size);
  }
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&relatives);
}

void one_command(const char* command, const char* test, MPI_Info info) {
  std::string argument = test;
  std::array<char*, 2> arguments{argument.data(), nullptr};
  std::array<int, 2> codes{-1, -1};
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn(command, arguments.data(), 2, info, root, MPI_COMM_WORLD, &children, codes.data());
  CHECK_EQUAL(codes[1], MPI_SUCCESS);
  share_a_window(children, false);
}

/// As the standard has it: the path of the program is a key.
void a_command_in_a_folder(const std::string& path) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "path", path.substr(0, path.rfind('/')).c_str());
  one_command(path.substr(path.rfind('/') + 1).c_str(), "in a folder", info);
  MPI_Info_free(&info);
}

void several_commands(std::string path) {
  std::string argument = "several commands";
  std::array<char*, 2> arguments{argument.data(), nullptr};
  std::array<char*, 2> commands{path.data(), path.data()};
  std::array<char**, 2> all_arguments{arguments.data(), arguments.data()};
  const std::array<int, 2> counts{1, 1};
  const std::array<MPI_Info, 2> infos{MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_spawn_multiple(2, commands.data(), all_arguments.data(), counts.data(), infos.data(),
                          root, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  share_a_window(children, false);
}

void no_command() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm children = MPI_COMM_NULL;
  const int code = MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0,
                                  MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
  CHECK(code != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) {
    program.test(argv[1], [&] {
      check_variables(program);
      share_a_window(parents, true);
    });
    return 0;
  }
  set_variables();
  const std::string path = own_path();
  const bool at_root = program.rank() == root;
  program.test("one command",
               [&] { one_command(at_root ? path.c_str() : "", "one command", MPI_INFO_NULL); });
  program.test_unless_host("openmpi", "it does not look at the key", "in a folder",
                           [&] { a_command_in_a_folder(path); });
  program.test("several commands", [&] { several_commands(path); });
  // The job does not end well: only if it is asked for.
  if (argc > 1) program.test("no such command", no_command);
  return 0;
}
