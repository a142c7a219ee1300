// SPDX-License-Identifier: BSD-3-Clause
// Q4, G6: a new handle shows nothing of what the program has left on those before it, and handles
// cost the host nothing. Nothing here has to do with other ranks: not among the usual programs.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "oriel/oriel.h"
#include "support/errors_return.hpp"
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

/// Several at a time, each with a value that another handle had before: so many values rest, and a
/// value that is given for the first time is greater than all before.
void for_new_ones(MPI_Win parent, const std::function<void(MPI_Win)>& look) {
  constexpr int resting = 1024;
  constexpr int several = 20;
  std::vector<MPI_Win> before;
  for (int i = 0; i < resting + several; ++i) before.push_back(duplicate(parent));
  static MPI_Win greatest = before.front();
  greatest = std::max(greatest, *std::max_element(before.begin(), before.end()));
  for (MPI_Win& one : before) CHECK_EQUAL(MPI_Win_free(&one), MPI_SUCCESS);
  std::vector<MPI_Win> made;
  for (int i = 0; i < several; ++i) made.push_back(duplicate(parent));
  for (const MPI_Win one : made) CHECK(!(one > greatest));
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

/// A program that frees a copy of a freed handle is told so, and no handle has its value twice.
void freed_twice() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  MPI_Win copy = made;
  CHECK_EQUAL(MPI_Win_free(&made), MPI_SUCCESS);
  {
    const support::ErrorsReturn errors_return;
    CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_WIN);
  }
  made = duplicate(window);
  MPI_Win other = duplicate(window);
  CHECK(made != other);
  MPI_Win_free(&made);
  MPI_Win_free(&other);
}

/// Fortran's handles are integers.
void in_fortran() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
#ifdef MPI_ABI_VERSION
  CHECK(MPI_Win_fromint(MPI_Win_toint(window)) == window);
  CHECK(MPI_Win_toint(window) != MPI_Win_toint(made));
#else
  CHECK(MPI_Win_f2c(MPI_Win_c2f(window)) == window);
  CHECK(PMPI_Win_f2c(PMPI_Win_c2f(made)) == made);
  CHECK(MPI_Win_c2f(window) != MPI_Win_c2f(made));
  CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
#endif
  MPI_Win_free(&made);
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
  MPI_Win_set_name(window, std::string(2 * MPI_MAX_OBJECT_NAME, 'x').c_str());
  CHECK_EQUAL(name_of(window), std::string(MPI_MAX_OBJECT_NAME - 1, 'x'));
}

int first_handled = 0;
void on_first(MPI_Win*, int*, ...) {
  ++first_handled;
}
int second_handled = 0;
void on_second(MPI_Win*, int*, ...) {
  ++second_handled;
}

void on_communicator(MPI_Comm*, int*, ...) {}

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
  for_new_ones(bare, [](MPI_Win one) {
    int value = 0;
    CHECK(MPI_Win_set_attr(one, MPI_WIN_BASE, &value) != MPI_SUCCESS);
  });
  set_default_handler(MPI_ERRORS_ARE_FATAL);
}

MPI_Comm handled_by = MPI_COMM_NULL;
void note_communicator(MPI_Comm* comm, int*, ...) {
  handled_by = *comm;
}

/// They go to that of the two which has the errors of MPI_WIN_NULL, too. The host raises those.
void default_handler(const Program& program) {
  if (program.host() == "openmpi") return;
  MPI_Errhandler noting;
  MPI_Comm_create_errhandler(note_communicator, &noting);
  set_default_handler(noting);
  MPI_Errhandler_free(&noting);
  Window<int> window(Flavor::allocate, 1);
  raise_error(window);
  const MPI_Comm of_window = handled_by;
  handled_by = MPI_COMM_NULL;
  MPI_Win_fence(0, MPI_WIN_NULL);
  CHECK(handled_by != MPI_COMM_NULL && of_window == handled_by);
  set_default_handler(MPI_ERRORS_ARE_FATAL);
}

void forgive(MPI_Win*, int* code, ...) {
  *code = MPI_SUCCESS;
}

/// A handler may change the code that the call returns; on Open MPI it may not.
void changed_code(const Program& program) {
  Window<int> window(Flavor::allocate, 1);
  MPI_Errhandler handler;
  MPI_Win_create_errhandler(forgive, &handler);
  MPI_Win_set_errhandler(window, handler);
  MPI_Errhandler_free(&handler);
  CHECK_EQUAL(MPI_Win_unlock(0, window) == MPI_SUCCESS, program.host() != "openmpi");
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

/// The last that was set is deleted first, with the state of its key.
void order_of_deletion() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win made = duplicate(window);
  static std::vector<int> deleted;
  const auto note_state = [](MPI_Win, int, void*, void* state) -> int {
    deleted.push_back(*static_cast<int*>(state));
    return MPI_SUCCESS;
  };
  int states[] = {0, 1, 2};
  for (int& state : states) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_state, &key, &state);
    MPI_Win_set_attr(made, key, nullptr);
    MPI_Win_free_keyval(&key);
  }
  MPI_Win_free(&made);
  CHECK((deleted == std::vector<int>{2, 1, 0}));
}

/// A delete callback may delete and set its own attribute, and free the key.
void own_attribute() {
  Window<int> window(Flavor::allocate, 1);
  int key = new_key();
  Attribute first, second;
  first.also = [&](MPI_Win handle) { return MPI_Win_delete_attr(handle, key); };
  MPI_Win_set_attr(window, key, &first);
  CHECK_EQUAL(MPI_Win_delete_attr(window, key), MPI_SUCCESS);
  CHECK(first.deleted == 1 && !has(window, key));
  first.also = [&](MPI_Win handle) { return MPI_Win_set_attr(handle, key, &second); };
  MPI_Win_set_attr(window, key, &first);
  CHECK_EQUAL(MPI_Win_delete_attr(window, key), MPI_SUCCESS);
  CHECK(first.deleted == 2 && second.deleted == 0 && has(window, key));
  int freed = key;
  second.also = [&](MPI_Win) { return MPI_Win_free_keyval(&freed); };
  first.also = [](MPI_Win) { return MPI_SUCCESS; };
  CHECK_EQUAL(MPI_Win_set_attr(window, key, &first), MPI_SUCCESS);
  CHECK(second.deleted == 1 && first.deleted == 2 && has(window, key));
  CHECK_EQUAL(MPI_Win_delete_attr(window, key), MPI_SUCCESS);
  CHECK_EQUAL(first.deleted, 3);
}

/// The program's own error comes back as it is, and what was set stays.
void refused_to_set() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  int own_class = 0, own_code = 0;
  MPI_Add_error_class(&own_class);
  MPI_Add_error_code(own_class, &own_code);
  int key = new_key();
  Attribute first, second;
  first.also = [&](MPI_Win) { return own_code; };
  MPI_Win_set_attr(window, key, &first);
  CHECK_EQUAL(MPI_Win_set_attr(window, key, &second), own_code);
  CHECK_EQUAL(MPI_Win_delete_attr(window, key), own_code);
  void* value = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window, key, &value, &flag);
  CHECK(flag != 0 && value == &first);
  first.also = [](MPI_Win) { return MPI_SUCCESS; };
  MPI_Win_free_keyval(&key);
}

/// The host gets back the keys and error handlers that the program has freed: it gives their values
/// again.
void values_of_the_host() {
  Window<int> window(Flavor::allocate, 1);
  std::set<int> keys;
  std::set<MPI_Errhandler> handlers;
  for (int i = 0; i < 2000; ++i) {
    MPI_Win made = duplicate(window);
    for (int attribute = 0; attribute < 2; ++attribute) {
      int key = MPI_KEYVAL_INVALID;
      MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, nullptr);
      keys.insert(key);
      MPI_Win_set_attr(made, key, nullptr);
      MPI_Win_set_attr(made, key, &key);
      if (attribute == 0) MPI_Win_delete_attr(made, key);
      MPI_Win_free_keyval(&key);
    }
    for (int change = 0; change < 2; ++change) {
      MPI_Errhandler handler;
      MPI_Win_create_errhandler(on_first, &handler);
      handlers.insert(handler);
      MPI_Win_set_errhandler(made, handler);
      MPI_Errhandler_free(&handler);
    }
    MPI_Errhandler now = handler_of(made);
    MPI_Win copy = duplicate(made);
    MPI_Win_free(&made);
    raise_error(copy);
    MPI_Win_free(&copy);
    MPI_Errhandler_free(&now);
  }
  CHECK(keys.size() < 100);
  // AddressSanitizer keeps the host's memory for a while, and thereby the addresses.
  const bool kept = dlsym(RTLD_DEFAULT, "__asan_init") != nullptr;
  CHECK(kept || handlers.size() < 100);
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

/// The first window takes what all share; others take none.
void communicators_left() {
  {
    Window<int> first(Flavor::allocate, 1);
  }
  std::vector<MPI_Comm> before = all_communicators();
  const std::size_t count = before.size();
  free_all(std::move(before));
  {
    std::list<Window<int>> windows;
    std::vector<MPI_Win> made;
    for (int i = 0; i < 20; ++i) windows.emplace_back(Flavor::allocate, 1);
    for (int i = 0; i < 200; ++i) made.push_back(duplicate(windows.front()));
    std::vector<MPI_Comm> meanwhile = all_communicators();
    CHECK_EQUAL(meanwhile.size(), count);
    free_all(std::move(meanwhile));
    for (MPI_Win& one : made) MPI_Win_free(&one);
  }
  std::vector<MPI_Comm> after = all_communicators();
  CHECK_EQUAL(after.size(), count);
  free_all(std::move(after));
}

/// No window takes anything that the host may have no more of.
void host_without_communicators() {
  Window<int> window(Flavor::allocate, 1);
  std::vector<MPI_Comm> communicators = all_communicators();
  {
    MPI_Win made = duplicate(window);
    Window<int> another(Flavor::allocate, 1);
    MPI_Win_free(&made);
  }
  free_all(std::move(communicators));
}

/// As many as there are, and one too many on one rank.
void all_in_use(const Program& program) {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<MPI_Win> made;
  void* base = nullptr;
  MPI_Win none = MPI_WIN_NULL;
  // Windows that cannot be made keep nothing.
  for (int i = 0; i < 3; ++i) {
    CHECK_CLASS(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &none), MPI_ERR_SIZE);
  }
  if (program.rank() == 0) {
    for (int round = 0; round < 2; ++round) {
      MPI_Win one = MPI_WIN_NULL;
      int code = MPI_SUCCESS;
      while ((code = oriel().Win_dup_with_info(window, MPI_INFO_NULL, &one)) == MPI_SUCCESS) {
        made.push_back(one);
      }
      CHECK_CLASS(code, MPI_ERR_OTHER);
      CHECK_EQUAL(made.size(), std::size_t{131'072 - 1});
      CHECK_EQUAL((std::set<MPI_Win>(made.begin(), made.end()).size()), made.size());
      if (round != 0) break;
      for (int i = 0; i < 10; ++i) {
        MPI_Win_free(&made.back());
        made.pop_back();
      }
    }
  }
  CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &none), MPI_ERR_OTHER);
  CHECK(none == MPI_WIN_NULL);
  for (MPI_Win& one : made) MPI_Win_free(&one);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  Window<int> again(Flavor::allocate, 1);
}

/// A freed handle is told apart from the 1,000 that follow it.
void freed_long_ago() {
  Window<int> window(Flavor::allocate, 1);
  const support::ErrorsReturn errors_return;
  std::vector<MPI_Win> freed;
  for (int i = 0; i < 1000; ++i) {
    MPI_Win made = duplicate(window);
    freed.push_back(made);
    MPI_Win_free(&made);
  }
  int value = 0;
  for (const MPI_Win one : freed) {
    int flag = 0;
    void* base = nullptr;
    CHECK_CLASS(MPI_Win_get_attr(one, MPI_WIN_BASE, &base, &flag), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_get_attr(one, ORIEL_WIN_NOTIFICATION_NUM_UB, &base, &flag), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, one), MPI_ERR_WIN);
  }
}

/// An error handler that the program frees while a window has it lives as long as the window.
void freed_error_handler() {
  MPI_Errhandler handler;
  MPI_Win_create_errhandler(on_first, &handler);
  Window<int> window(Flavor::allocate, 1);
  MPI_Win_set_errhandler(window, handler);
  MPI_Errhandler_free(&handler);
  CHECK(handler == MPI_ERRHANDLER_NULL);
  MPI_Errhandler other;  // which may not have its value
  MPI_Win_create_errhandler(on_second, &other);
  MPI_Errhandler now = handler_of(window);
  CHECK(now != other);
  const int first_before = first_handled, second_before = second_handled;
  raise_error(window);
  CHECK_EQUAL(first_handled, first_before + 1);
  CHECK_EQUAL(second_handled, second_before);
  MPI_Errhandler_free(&now);
  MPI_Errhandler_free(&other);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_set_errhandler(window, MPI_ERRHANDLER_NULL), MPI_ERR_ARG);
}

/// The host gives its value to a handler of another kind.
void handler_of_another_kind() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Errhandler freed;
  MPI_Win_create_errhandler(on_first, &freed);
  MPI_Errhandler_free(&freed);
  std::vector<MPI_Errhandler> others(20);
  for (MPI_Errhandler& one : others) {
    MPI_Comm_create_errhandler(on_communicator, &one);
    CHECK_CLASS(MPI_Win_set_errhandler(window, one), MPI_ERR_ARG);
  }
  for (MPI_Errhandler& one : others) MPI_Errhandler_free(&one);
}

/// Likewise a key, whose number no other key has meanwhile.
void freed_key() {
  Window<int> window(Flavor::allocate, 1);
  int key = new_key();
  const int number = key;
  Attribute attribute;
  MPI_Win_set_attr(window, key, &attribute);
  MPI_Win_free_keyval(&key);
  CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
  int other = new_key();
  CHECK(other != number && !has(window, other) && has(window, number));
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_set_attr(window, MPI_KEYVAL_INVALID, &attribute), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Win_set_attr(window, MPI_WIN_SIZE, &attribute), MPI_ERR_KEYVAL);
  MPI_Win_delete_attr(window, number);
  CHECK_EQUAL(attribute.deleted, 1);
  CHECK_CLASS(MPI_Win_set_attr(window, number, &attribute), MPI_ERR_KEYVAL);
  MPI_Win_free_keyval(&other);
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
  program.test("communicators left", communicators_left);  // before there are windows
  program.test("freed twice", freed_twice);
  program.test("in Fortran", in_fortran);
  program.test("names", names);
  program.test("error handlers", error_handlers);
  program.test("no error handler", [&] { no_error_handler(program); });
  program.test("default handler", [&] { default_handler(program); });
  program.test("changed code", [&] { changed_code(program); });
  program.test("attributes", attributes);
  program.test("order of deletion", order_of_deletion);
  program.test("own attribute", own_attribute);
  program.test("refused to set", refused_to_set);
  program.test("values of the host", values_of_the_host);
  program.test("refused", refused);
  program.test("callback waits", [&] { callback_waits(program); });
  program.test("host without communicators", host_without_communicators);
  program.test("freed long ago", freed_long_ago);
  program.test("freed error handler", freed_error_handler);
  program.test("handler of another kind", handler_of_another_kind);
  program.test("freed key", freed_key);
  program.test("nothing piles up", nothing_piles_up);
  program.test("in threads", [&] { in_threads(program); });
#ifndef MPI_ABI_VERSION
  program.test("set by Fortran", set_by_fortran);
#endif
  program.test("all in use", [&] { all_in_use(program); });
}
