// SPDX-License-Identifier: BSD-3-Clause
// Q4: duplicates are handles of one window, each with an info, attributes and an error handler of
// its own.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/in_threads.hpp"
#include "support/nonblocking.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"
#include "support/windows.hpp"

namespace {

using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

const support::Windows& oriel() {
  static const support::Windows calls;
  return calls;
}

MPI_Win duplicate(MPI_Win parent, MPI_Info info = MPI_INFO_NULL) {
  MPI_Win made = MPI_WIN_NULL;
  CHECK_EQUAL(oriel().Win_dup_with_info(parent, info, &made), MPI_SUCCESS);
  CHECK(made != parent && made != MPI_WIN_NULL);
  return made;
}

std::string value_of(MPI_Win window, const char* key) {
  MPI_Info info;
  MPI_Win_get_info(window, &info);
  char value[256] = "";
  int flag = 0;
  MPI_Info_get(info, key, sizeof value - 1, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "(not there)";
}

/// What one locks is locked for all, and what one flushes is flushed for all.
void one_synchronization(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 8);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win one = duplicate(window);
  MPI_Win other = duplicate(one);
  const int target = program.right();
  const int values[2] = {10 + program.rank(), 20 + program.rank()};
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, one), MPI_ERR_RMA_SYNC);
  MPI_Put(&values[0], 1, MPI_INT, target, 0, 1, MPI_INT, one);
  MPI_Put(&values[1], 1, MPI_INT, target, 1, 1, MPI_INT, window);
  MPI_Win_flush(target, other);
  int back[2] = {};
  MPI_Get(back, 2, MPI_INT, target, 0, 2, MPI_INT, other);
  CHECK_EQUAL(MPI_Win_unlock(target, other), MPI_SUCCESS);
  CHECK(back[0] == values[0] && back[1] == values[1]);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(0, one);
  MPI_Put(&values[1], 1, MPI_INT, target, 2, 1, MPI_INT, other);
  MPI_Win_fence(0, window);
  CHECK_EQUAL(window.data()[2], 20 + program.left());
  CHECK_EQUAL(MPI_Win_fence(MPI_MODE_NOSUCCEED, other), MPI_SUCCESS);
  MPI_Win_free(&one);
  MPI_Win_free(&other);
}

void own_info() {
  Window<int> window(Flavor::allocate, 8);
  const Info asked{{"oriel_weak_unlock", "true"},
                   {"no_locks", "true"},
                   {"accumulate_ops", "same_op"},
                   {"accumulate_ordering", "none"}};
  MPI_Win made = duplicate(window, asked);
  CHECK_EQUAL(value_of(made, "oriel_weak_unlock"), std::string("true"));
  CHECK_EQUAL(value_of(window, "oriel_weak_unlock"), std::string("false"));
  CHECK_EQUAL(value_of(made, "accumulate_ordering"), std::string("none"));
  CHECK_EQUAL(value_of(window, "accumulate_ordering"), std::string("rar,raw,war,waw"));
  // What all of them share stays what it is.
  CHECK_EQUAL(value_of(made, "no_locks"), std::string("false"));
  CHECK_EQUAL(value_of(made, "accumulate_ops"), std::string("same_op_no_op"));
  CHECK_EQUAL(MPI_Win_lock_all(0, made), MPI_SUCCESS);
  MPI_Win_unlock_all(made);
  const Info reorder{{ORIEL_ACCESS_AFTER_ACCESS_REORDER, "true"}};
  MPI_Win_set_info(window, reorder);
  CHECK_EQUAL(value_of(made, ORIEL_ACCESS_AFTER_ACCESS_REORDER), std::string("1"));
  MPI_Win_free(&made);
}

int handled = 0;
void on_error(MPI_Win*, int*, ...) {
  ++handled;
}
int deleted = 0;
int on_delete(MPI_Win, int, void*, void*) {
  ++deleted;
  return MPI_SUCCESS;
}

void own_attributes_and_handler() {
  Window<int> window(Flavor::allocate, 8);
  MPI_Errhandler handler;
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(window, handler);
  MPI_Win made = duplicate(window);
  handled = 0;
  MPI_Win_unlock(0, made);
  CHECK_EQUAL(handled, 1);  // the parent's
  MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
  MPI_Win_unlock(0, made);
  CHECK_EQUAL(handled, 1);
  MPI_Win_unlock(0, window);
  CHECK_EQUAL(handled, 2);
  MPI_Errhandler_free(&handler);
  int key = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, nullptr);
  int value = 7;
  MPI_Win_set_attr(made, key, &value);
  void* found = nullptr;
  int flag = 1;
  MPI_Win_get_attr(window, key, &found, &flag);
  CHECK(!flag);
  void* base = nullptr;
  MPI_Win_get_attr(made, MPI_WIN_BASE, &base, &flag);
  CHECK(flag && base == window.data());
  MPI_Win_set_name(made, "duplicate");
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Win_get_name(window, name, &length);
  CHECK(std::strcmp(name, "duplicate") != 0);
  MPI_Group group;
  MPI_Win_get_group(made, &group);
  int result = 0;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &result);
  CHECK_EQUAL(result, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  deleted = 0;
  MPI_Win_free(&made);
  CHECK_EQUAL(deleted, 1);
  MPI_Win_free_keyval(&key);
}

/// The parent first, and in the middle of an epoch; ranks have different numbers of duplicates.
void freed_in_any_order(const Program& program) {
  int* memory = nullptr;
  MPI_Win parent = MPI_WIN_NULL;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &parent);
  std::vector<MPI_Win> made;
  for (int i = 0; i <= program.rank() % 3; ++i) made.push_back(duplicate(parent));
  MPI_Win last = duplicate(made.back());
  MPI_Win_fence(MPI_MODE_NOPRECEDE, parent);
  CHECK_EQUAL(MPI_Win_free(&parent), MPI_SUCCESS);
  CHECK(parent == MPI_WIN_NULL);
  const int value = 5 + program.rank();
  MPI_Put(&value, 1, MPI_INT, program.right(), 1, 1, MPI_INT, made.front());
  MPI_Win_fence(MPI_MODE_NOSUCCEED, made.front());
  CHECK_EQUAL(memory[1], 5 + program.left());
  for (MPI_Win& window : made) MPI_Win_free(&window);
  MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, last);
  MPI_Put(&value, 1, MPI_INT, program.right(), 2, 1, MPI_INT, last);
  MPI_Win_unlock(program.right(), last);
  support::barrier();
  CHECK_EQUAL(memory[2], 5 + program.left());
  support::barrier();
  MPI_Win_free(&last);
}

/// Ranks that use different duplicates add to one word.
void atomic_across(Flavor flavor, const Program& program) {
  constexpr int rounds = 200;
  Window<std::int64_t> window(flavor, 2);
  MPI_Win made = duplicate(window);
  MPI_Win_lock_all(0, made);
  const std::int64_t one = 1;
  std::int64_t before = 0;
  for (int i = 0; i < rounds; ++i) {
    const MPI_Win used = (i + program.rank()) % 2 == 0 ? made : static_cast<MPI_Win>(window);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, used);
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 1, MPI_SUM, used);
    MPI_Win_flush(0, used);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQUAL(window.data()[0], std::int64_t{rounds} * program.size());
    CHECK_EQUAL(window.data()[1], std::int64_t{rounds} * program.size());
    MPI_Win_unlock(0, window);
  }
  support::barrier();
  MPI_Win_free(&made);
}

/// Requests outlive the duplicate that they were made by; notifications go to all handles.
void requests(const Program& program) {
  const support::Nonblocking nonblocking;
  const support::Notified notified;
  Window<int> window(Flavor::allocate, 8);
  MPI_Win made = duplicate(window);
  MPI_Win second = duplicate(window);
  const int target = program.right();
  const int value = 3 + program.rank();
  MPI_Request pending[2];
  nonblocking.Win_ilock(MPI_LOCK_EXCLUSIVE, target, 0, made, &pending[0]);
  MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, second);
  nonblocking.Win_iunlock(target, made, &pending[1]);
  MPI_Win_free(&made);
  MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
  MPI_Request told = MPI_REQUEST_NULL;
  MPI_Request cut_off = MPI_REQUEST_NULL;
  notified.Notify_init(second, program.left(), 2, 1, &cut_off);
  MPI_Start(&cut_off);
  CHECK_EQUAL(MPI_Win_set_errhandler(second, MPI_ERRORS_RETURN), MPI_SUCCESS);
  MPI_Win_free(&second);
  support::barrier();
  MPI_Win third = duplicate(window);
  notified.Notify_init(third, program.left(), 2, 1, &told);
  MPI_Start(&told);
  notified.Put_notify(&value, 1, MPI_INT, target, 1, 1, MPI_INT, window, 2);
  MPI_Wait(&told, MPI_STATUS_IGNORE);
  CHECK_EQUAL(window.data()[1], 3 + program.left());
  MPI_Request_free(&told);
  MPI_Request_free(&cut_off);
  MPI_Win_free(&third);
}

/// A rank alone has a thousand: hosts may complain aloud about each window of theirs.
void many(const Program& program) {
  const int count = program.size() == 1 ? 1000 : 50;
  Window<int> window(Flavor::allocate, 8);
  std::vector<MPI_Win> made;
  made.push_back(duplicate(window));
  for (int i = 1; i < count; ++i) made.push_back(duplicate(made[static_cast<std::size_t>(i / 2)]));
  MPI_Win_lock_all(0, window);
  const int value = 1;
  for (const MPI_Win one : made) {
    MPI_Accumulate(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, MPI_SUM, one);
  }
  MPI_Win_unlock_all(made.back());
  support::barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
  CHECK_EQUAL(window.data()[0], count);
  MPI_Win_unlock(program.rank(), window);
  for (MPI_Win& one : made) MPI_Win_free(&one);
}

/// Threads make and free duplicates of one window at the same time, and use them.
void in_threads(const Program& program) {
  if (program.thread_level() < MPI_THREAD_MULTIPLE) return;
  constexpr int rounds = 20;
  Window<std::int64_t> window(Flavor::allocate, 8);
  MPI_Win_lock_all(0, window);
  support::in_threads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      MPI_Win made = duplicate(window);
      const std::int64_t one = 1;
      MPI_Accumulate(&one, 1, MPI_INT64_T, program.right(), 0, 1, MPI_INT64_T, MPI_SUM, made);
      MPI_Win_flush(program.right(), made);
      MPI_Win_free(&made);
    }
  });
  MPI_Win_unlock_all(window);
  support::barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
  CHECK_EQUAL(window.data()[0], std::int64_t{support::threads} * rounds);
  MPI_Win_unlock(program.rank(), window);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv, MPI_THREAD_MULTIPLE);
  if (program.host_only()) return 0;  // no host has them
  for (const Flavor flavor : support::flavors()) {
    program.test("one synchronization", [&] { one_synchronization(flavor, program); });
    program.test("atomic across", [&] { atomic_across(flavor, program); });
  }
  program.test("own info", own_info);
  program.test("own attributes and handler", own_attributes_and_handler);
  program.test("freed in any order", [&] { freed_in_any_order(program); });
  program.test("requests", [&] { requests(program); });
  program.test("many", [&] { many(program); });
  program.test("in threads", [&] { in_threads(program); });
}
