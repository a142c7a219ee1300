// SPDX-License-Identifier: BSD-3-Clause
// Q4, G6: a handle that is given up may be lent again. It shows nothing of what the program has
// left on it, and the host has all that it had before. Nothing here has to do with other ranks: not
// among the usual programs.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/footprint.hpp"
#include "support/in_threads.hpp"
#include "support/program.hpp"
#include "support/window.hpp"
#include "support/windows.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

const support::Windows& oriel() {
  static const support::Windows calls;
  return calls;
}

MPI_Win duplicate(MPI_Win parent) {
  MPI_Win made = MPI_WIN_NULL;
  CHECK_EQUAL(oriel().Win_dup_with_info(parent, MPI_INFO_NULL, &made), MPI_SUCCESS);
  return made;
}

/// Several at a time: any of them may have the handle of one before.
void for_new_ones(MPI_Win parent, const std::function<void(MPI_Win)>& look) {
  std::vector<MPI_Win> made;
  for (int i = 0; i < 20; ++i) made.push_back(duplicate(parent));
  for (const MPI_Win one : made) look(one);
  for (MPI_Win& one : made) CHECK_EQUAL(MPI_Win_free(&one), MPI_SUCCESS);
}

std::string name_of(MPI_Win window) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Win_get_name(window, name, &length);
  return name;
}

MPI_Errhandler handler_of(MPI_Win window) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_get_errhandler(window, &handler);
  return handler;
}

bool has(MPI_Win window, int key) {
  void* value = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window, key, &value, &flag);
  return flag != 0;
}

/// A program that frees a copy of a freed handle is told so, and the handle is not lent twice.
void freed_twice() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  MPI_Win copy = made;
  CHECK_EQUAL(MPI_Win_free(&made), MPI_SUCCESS);
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_WIN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
  MPI_Errhandler_free(&before);
  made = duplicate(window);
  MPI_Win other = duplicate(window);
  CHECK(made != other);
  MPI_Win_free(&made);
  MPI_Win_free(&other);
}

/// By both names of the call.
void names() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  MPI_Win_set_name(made, "left behind");
  MPI_Win other = duplicate(window);
  PMPI_Win_set_name(other, "left behind");
  MPI_Win_free(&made);
  MPI_Win_free(&other);
  for_new_ones(window, [](MPI_Win one) { CHECK(name_of(one) != "left behind"); });
}

int first_handled = 0;
void on_first(MPI_Win*, int*, ...) {
  ++first_handled;
}
int second_handled = 0;
void on_second(MPI_Win*, int*, ...) {
  ++second_handled;
}

/// Without an operation that is open this is an error.
void raise_error(MPI_Win window) {
  MPI_Win_unlock(0, window);
}

void error_handlers() {
  MPI_Errhandler first;
  MPI_Errhandler second;
  MPI_Win_create_errhandler(on_first, &first);
  MPI_Win_create_errhandler(on_second, &second);
  Window<int> bare(Flavor::allocate, 1);
  MPI_Win made = duplicate(bare);
  MPI_Win_set_errhandler(made, first);
  MPI_Win_free(&made);
  for_new_ones(bare, [](MPI_Win one) { CHECK(handler_of(one) == MPI_ERRORS_ARE_FATAL); });
  Window<int> parent(Flavor::allocate, 1);
  MPI_Win_set_errhandler(parent, second);
  for_new_ones(parent, raise_error);
  CHECK_EQUAL(second_handled, 20);
  MPI_Win_set_errhandler(parent, first);
  for_new_ones(parent, raise_error);
  CHECK_EQUAL(first_handled, 20);
  CHECK_EQUAL(second_handled, 20);
  made = duplicate(parent);
  MPI_Win copy = duplicate(made);
  raise_error(copy);  // it has its parent's from that one's parent
  CHECK_EQUAL(first_handled, 21);
  MPI_Win_free(&made);
  MPI_Win_free(&copy);
  MPI_Errhandler_free(&first);
  MPI_Errhandler_free(&second);
  for_new_ones(bare, [](MPI_Win one) { CHECK(handler_of(one) == MPI_ERRORS_ARE_FATAL); });
}

void set_default_handler(MPI_Errhandler handler) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

/// On MPICH the errors of a window that has been given no error handler go to MPI_COMM_SELF's or
/// MPI_COMM_WORLD's, though it says that it has MPI_ERRORS_ARE_FATAL.
void no_error_handler(const Program& program) {
  if (program.host() == "openmpi") return;
  set_default_handler(MPI_ERRORS_RETURN);
  Window<int> bare(Flavor::allocate, 1);
  Window<int> parent(Flavor::allocate, 1);
  MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN);
  for_new_ones(parent, [](MPI_Win) {});
  for_new_ones(bare, [](MPI_Win one) {
    int value = 0;
    CHECK(MPI_Win_set_attr(one, MPI_WIN_BASE, &value) != MPI_SUCCESS);
  });
  set_default_handler(MPI_ERRORS_ARE_FATAL);
}

/// What a delete callback is given as the attribute.
struct Attribute {
  int deleted = 0;
  std::function<int(MPI_Win)> also = [](MPI_Win) { return MPI_SUCCESS; };
};

int on_delete(MPI_Win window, int, void* value, void*) {
  auto& attribute = *static_cast<Attribute*>(value);
  ++attribute.deleted;
  return attribute.also(window);
}

int new_key() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, nullptr);
  return key;
}

/// Each callback runs once: of what is left, of what is deleted or set anew before, of keys that
/// the program has freed, and of what a callback sets itself.
void attributes() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  int keys[] = {new_key(), new_key(), new_key()};
  Attribute left, deleted, anew[2], freed, late;
  MPI_Win_set_attr(made, keys[0], &left);
  int deleted_key = new_key();
  MPI_Win_set_attr(made, deleted_key, &deleted);
  MPI_Win_delete_attr(made, deleted_key);
  MPI_Win_free_keyval(&deleted_key);
  CHECK_EQUAL(deleted.deleted, 1);
  PMPI_Win_set_attr(made, keys[1], &anew[0]);
  MPI_Win_set_attr(made, keys[1], &anew[1]);
  CHECK_EQUAL(anew[0].deleted, 1);
  int freed_key = new_key();
  MPI_Win_set_attr(made, freed_key, &freed);
  MPI_Win_free_keyval(&freed_key);
  MPI_Win copy = duplicate(made);
  CHECK_EQUAL(MPI_Win_free(&copy), MPI_SUCCESS);
  for (const Attribute* one : {&left, &anew[1], &freed}) CHECK_EQUAL(one->deleted, 0);
  left.also = [&](MPI_Win handle) {
    int* base = nullptr;
    int flag = 0;
    MPI_Win_get_attr(handle, MPI_WIN_BASE, &base, &flag);
    CHECK(handle == made && flag != 0 && base == window.data());
    return MPI_Win_set_attr(handle, keys[2], &late);
  };
  CHECK_EQUAL(MPI_Win_free(&made), MPI_SUCCESS);
  CHECK(made == MPI_WIN_NULL);
  for (const Attribute* one : {&left, &deleted, &anew[0], &anew[1], &freed, &late}) {
    CHECK_EQUAL(one->deleted, 1);
  }
  for_new_ones(window, [&](MPI_Win one) {
    for (const int key : keys) CHECK(!has(one, key));
  });
  for (int& key : keys) MPI_Win_free_keyval(&key);
}

/// A callback that fails keeps the handle, which is as good as before.
void refused() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
  int key = new_key();
  Attribute attribute;
  attribute.also = [](MPI_Win) { return MPI_ERR_OTHER; };
  MPI_Win_set_attr(made, key, &attribute);
  CHECK(MPI_Win_free(&made) != MPI_SUCCESS);
  CHECK(made != MPI_WIN_NULL && has(made, key));
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, made);
  CHECK_EQUAL(MPI_Win_unlock(0, window), MPI_SUCCESS);
  attribute.also = [](MPI_Win) { return MPI_SUCCESS; };
  CHECK_EQUAL(MPI_Win_free(&made), MPI_SUCCESS);
  CHECK_EQUAL(attribute.deleted, 2);
  MPI_Win_free_keyval(&key);
}

/// A delete callback may wait for another thread that makes and frees windows.
void callback_waits(const Program& program) {
  if (program.thread_level() < MPI_THREAD_MULTIPLE) return;
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  int key = new_key();
  std::atomic<bool> called{false};
  std::atomic<bool> through{false};
  Attribute attribute;
  attribute.also = [&](MPI_Win) {
    called = true;
    while (!through) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return MPI_SUCCESS;
  };
  MPI_Win_set_attr(made, key, &attribute);
  std::thread other([&] {
    while (!called) std::this_thread::sleep_for(std::chrono::microseconds(100));
    for_new_ones(window, [](MPI_Win) {});
    through = true;
  });
  MPI_Win_free(&made);
  other.join();
  MPI_Win_free_keyval(&key);
}

/// Communicators of this process alone, until the host has no more.
std::vector<MPI_Comm> all_communicators() {
  std::vector<MPI_Comm> made;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm one = MPI_COMM_NULL;
  while (made.size() < 5000 && MPI_Comm_split(MPI_COMM_SELF, 0, 0, &one) == MPI_SUCCESS) {
    made.push_back(one);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  return made;
}

void free_all(std::vector<MPI_Comm> communicators) {
  for (MPI_Comm& one : communicators) MPI_Comm_free(&one);
}

/// The first window takes what all share.
void room_for_communicators() {
  {
    Window<int> first(Flavor::allocate, 1);
  }
  std::vector<MPI_Comm> before = all_communicators();
  const std::size_t count = before.size();
  free_all(std::move(before));
  {
    Window<int> window(Flavor::allocate, 1);
    std::vector<MPI_Win> made;
    for (int i = 0; i < 200; ++i) made.push_back(duplicate(window));
    for (MPI_Win& one : made) MPI_Win_free(&one);
    std::vector<MPI_Comm> meanwhile = all_communicators();
    constexpr std::size_t few = 20;  // the window's own among them
    CHECK(meanwhile.size() + few >= count);
    free_all(std::move(meanwhile));
  }
  std::vector<MPI_Comm> after = all_communicators();
  constexpr std::size_t kept = 2;
  CHECK(after.size() + kept >= count);
  free_all(std::move(after));
}

/// What is kept, of the one kind, makes space for a handle of the other.
void room_for_windows() {
  Window<int> bare(Flavor::allocate, 1);
  Window<int> parent(Flavor::allocate, 1);
  MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN);
  for_new_ones(parent, [](MPI_Win) {});
  std::vector<MPI_Comm> communicators = all_communicators();
  MPI_Win made = duplicate(bare);
  free_all(std::move(communicators));
  MPI_Win_free(&made);
}

/// Many, one after the other and some at a time.
void nothing_piles_up() {
  constexpr int rounds = 100'000;
  Window<int> window(Flavor::allocate, 1);
  support::Footprint before;
  for (int i = 0; i < rounds; ++i) {
    if (i == rounds / 10) before = support::Footprint();
    MPI_Win made = duplicate(window);
    if (i % 1000 == 0) for_new_ones(made, [](MPI_Win) {});
    MPI_Win_free(&made);
  }
  constexpr long some = 64;  // 256 KiB: two bytes or three of each round
  before.check_flat(some);
}

/// Threads leave different things behind, and find none of them.
void in_threads(const Program& program) {
  if (program.thread_level() < MPI_THREAD_MULTIPLE) return;
  Window<int> window(Flavor::allocate, 1);
  int key = new_key();
  std::atomic<int> deleted{0};
  constexpr int rounds = 3000;  // as long as it takes to start them, several times
  support::in_threads([&](int thread) {
    for (int i = 0; i < rounds; ++i) {
      Attribute attribute;
      attribute.also = [&](MPI_Win) {
        ++deleted;
        return MPI_SUCCESS;
      };
      MPI_Win made = duplicate(window);
      CHECK(name_of(made) != "left behind" && !has(made, key));
      CHECK(handler_of(made) == MPI_ERRORS_ARE_FATAL);
      if (thread == 0) MPI_Win_set_name(made, "left behind");
      if (thread == 1) MPI_Win_set_attr(made, key, &attribute);
      if (thread == 2) MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
      MPI_Win_free(&made);
    }
  });
  CHECK_EQUAL(deleted, rounds);
  MPI_Win_free_keyval(&key);
}

#ifndef MPI_ABI_VERSION  // whose Fortran handles are others

/// Fortran layers set attributes past MPI's C names.
void set_by_fortran() {
  Dl_info host{};
  CHECK(dladdr(reinterpret_cast<void*>(&PMPI_Get_version), &host) != 0);
  std::string file(host.dli_fname);
  file.resize(file.rfind('/') + 1);
  bool found = false;  // not every MPI has one
  for (const char* layer : {"libmpi_mpifh.so.40", "libmpifort.so.12", "libmpichfort.so.12"}) {
    found = found || dlopen((file + layer).c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr;
  }
  if (!found) return;
  using Set = void (*)(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Fint*);
  const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "mpi_win_set_attr_"));
  CHECK(set != nullptr);
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  static int deleted = 0;  // C is not given what Fortran has set, but where that lies
  const auto on_delete_of_fortran = [](MPI_Win, int, void*, void*) {
    ++deleted;
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete_of_fortran, &key, nullptr);
  MPI_Fint handle = MPI_Win_c2f(made);
  MPI_Fint fortran_key = key;
  MPI_Aint value = 7;
  MPI_Fint error = -1;
  set(&handle, &fortran_key, &value, &error);
  CHECK_EQUAL(error, MPI_SUCCESS);
  MPI_Win_free(&made);
  CHECK_EQUAL(deleted, 1);
  for_new_ones(window, [&](MPI_Win one) { CHECK(!has(one, key)); });
  MPI_Win_free_keyval(&key);
}

#endif

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv, MPI_THREAD_MULTIPLE);
  program.test("room for communicators", room_for_communicators);  // before there are windows
  program.test("freed twice", freed_twice);
  program.test("names", names);
  program.test("error handlers", error_handlers);
  program.test("no error handler", [&] { no_error_handler(program); });
  program.test("attributes", attributes);
  program.test("refused", refused);
  program.test("callback waits", [&] { callback_waits(program); });
  program.test("room for windows", room_for_windows);
  program.test("nothing piles up", nothing_piles_up);
  program.test("in threads", [&] { in_threads(program); });
#ifndef MPI_ABI_VERSION
  program.test("set by Fortran", set_by_fortran);
#endif
}
