// SPDX-License-Identifier: BSD-3-Clause
// G7: the error classes of MPI-4.1 section 12.7, and the others that one-sided calls raise, each
// with its sentence (docs/errors.md). After each error the window is as it was and works.
// errors.cpp has more ways to raise them, on each kind of window.
// MPI_ERR_RMA_CONFLICT is not among them: the standard asks nobody to find conflicting accesses,
// and Oriel records none.
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Group;
using support::Program;
using support::Window;

struct Case {
  int error_class;
  const char* name;
  const char* sentence;
  std::function<int()> call;
};

/// A window of `count` ints, and a dynamic one with as many attached, which return their errors.
class Scene {
 public:
  static constexpr int count = 4;

  explicit Scene(const Program& program) : program_(program), window_(Flavor::allocate, count) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic_);
    MPI_Win_attach(dynamic_, memory_.data(), memory_bytes());
    for (const MPI_Win win : {window_.win(), dynamic_}) {
      MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    }
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
  }
  ~Scene() {
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Win_free(&dynamic_);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  MPI_Win window() const { return window_; }
  MPI_Win dynamic() const { return dynamic_; }
  int target() const { return program_.right(); }
  int* memory() { return memory_.data(); }
  MPI_Aint memory_bytes() const { return static_cast<MPI_Aint>(sizeof memory_); }

  /// Checks that the failed call has changed no memory, then that put and fence work.
  void expect_as_before() {
    support::barrier();
    for (int i = 0; i < count; ++i) CHECK_EQUAL(window_[static_cast<std::size_t>(i)], 0);
    for (const int value : memory_) CHECK_EQUAL(value, 0);
    const int value = 1 + program_.rank();
    CHECK_EQUAL(MPI_Win_fence(MPI_MODE_NOPRECEDE, window_), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Put(&value, 1, MPI_INT, target(), 0, 1, MPI_INT, window_), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_), MPI_SUCCESS);
    CHECK_EQUAL(window_[0], 1 + program_.left());
    window_[0] = 0;
    support::barrier();
  }

 private:
  const Program& program_;
  Window<int> window_;
  std::array<int, count> memory_{};
  MPI_Win dynamic_ = MPI_WIN_NULL;
};

/// Makes `call` in a shared lock of the target.
int locked(const Scene& scene, const std::function<int()>& call) {
  MPI_Win_lock(MPI_LOCK_SHARED, scene.target(), 0, scene.window());
  const int code = call();
  MPI_Win_unlock(scene.target(), scene.window());
  return code;
}

int put(MPI_Win win, int target, MPI_Aint displacement, MPI_Datatype type = MPI_INT) {
  static const int value = 99;
  return MPI_Put(&value, 1, MPI_INT, target, displacement, 1, type, win);
}

int accumulate(MPI_Win win, int target, MPI_Op op, MPI_Datatype type = MPI_INT) {
  static const std::array<char, 16> value{99};
  return MPI_Accumulate(value.data(), 1, type, target, 0, 1, type, op, win);
}

std::vector<Case> cases(Scene& scene, const Program& program) {
  const MPI_Win win = scene.window();
  const int target = scene.target();
  constexpr MPI_Aint far = MPI_Aint{1} << 40;
  static int value = 99;
  static MPI_Win made = MPI_WIN_NULL;
  static void* base = nullptr;
  std::vector<Case> table{
      // The host raises it, in its own words.
      {MPI_ERR_WIN, "a null window", "", [] { return MPI_Win_fence(0, MPI_WIN_NULL); }},
      {MPI_ERR_BASE, "detached memory", "nothing that is attached",
       [&] { return MPI_Win_detach(scene.dynamic(), &value); }},
      {MPI_ERR_SIZE, "a negative size", "the size is negative",
       [] { return MPI_Win_allocate(-8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made); }},
      {MPI_ERR_DISP, "a displacement unit of 0", "the displacement unit is not positive",
       [] { return MPI_Win_allocate(8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made); }},
      {MPI_ERR_DISP, "a negative displacement", "the target displacement is negative",
       [=, &scene] { return locked(scene, [=] { return put(win, target, -1); }); }},
      {MPI_ERR_LOCKTYPE, "an unknown lock", "the lock type is neither",
       [=] { return MPI_Win_lock(12345, target, 0, win); }},
      {MPI_ERR_ASSERT, "an unknown assertion", "the assertion is not one for this call",
       [=] { return MPI_Win_fence(1 << 30, win); }},
      {MPI_ERR_RMA_SYNC, "no epoch", "no epoch is open", [=] { return put(win, target, 0); }},
      {MPI_ERR_RMA_SYNC, "an end without a beginning", "is not locked",
       [=] { return MPI_Win_unlock(target, win); }},
      {MPI_ERR_RMA_RANGE, "behind the end", "reaches beyond the target's window",
       [=, &scene] { return locked(scene, [=] { return put(win, target, far); }); }},
      {MPI_ERR_RMA_ATTACH, "memory attached twice", "some of this memory is attached",
       [&] { return MPI_Win_attach(scene.dynamic(), scene.memory(), scene.memory_bytes()); }},
      {MPI_ERR_RMA_FLAVOR, "memory for a window that has its own", "dynamic",
       [=] { return MPI_Win_attach(win, &value, sizeof value); }},
      {MPI_ERR_RANK, "no such rank", "the rank is not in the window's group",
       [=, &program] { return put(win, program.size(), 0); }},
      {MPI_ERR_COUNT, "a negative count", "the count is negative",
       [=] { return MPI_Put(&value, -1, MPI_INT, target, 0, 1, MPI_INT, win); }},
      {MPI_ERR_TYPE, "no datatype", "the datatype is not valid",
       [=] { return put(win, target, 0, MPI_DATATYPE_NULL); }},
      {MPI_ERR_OP, "no op", "the op is not a predefined one",
       [=, &scene] { return locked(scene, [=] { return accumulate(win, target, MPI_OP_NULL); }); }},
      {MPI_ERR_OP, "an op for other types", "the op is not defined for this datatype",
       [=, &scene] {
         return locked(scene, [=] { return accumulate(win, target, MPI_BAND, MPI_DOUBLE); });
       }},
      {MPI_ERR_GROUP, "no group", "the group is MPI_GROUP_NULL",
       [=] { return MPI_Win_start(MPI_GROUP_NULL, 0, win); }},
      {MPI_ERR_BUFFER, "no buffer", "a buffer is a null pointer",
       [=] { return MPI_Put(nullptr, 1, MPI_INT, target, 0, 1, MPI_INT, win); }},
      {MPI_ERR_TRUNCATE, "too long", "the data are longer than the buffer",
       [=, &scene] {
         static const std::array<int, 2> two{99, 99};
         return locked(scene,
                       [=] { return MPI_Put(two.data(), 2, MPI_INT, target, 0, 1, MPI_INT, win); });
       }},
      {MPI_ERR_ARG, "no place for a result", "an output argument is a null pointer",
       [=] { return MPI_Win_get_group(win, nullptr); }},
      {MPI_ERR_ARG, "no error handler", "the error handler is not one of windows",
       [=] { return MPI_Win_set_errhandler(win, MPI_ERRHANDLER_NULL); }},
      {MPI_ERR_KEYVAL, "no key", "the key is not one that MPI_Win_create_keyval has returned",
       [=] { return MPI_Win_set_attr(win, MPI_KEYVAL_INVALID, nullptr); }},
      {MPI_ERR_INFO, "no info", "the info object is MPI_INFO_NULL",
       [=] { return MPI_Win_set_info(win, MPI_INFO_NULL); }},
      {MPI_ERR_NO_MEM, "more memory than there is", "Cannot allocate",
       [] {
         constexpr MPI_Aint huge = std::numeric_limits<MPI_Aint>::max() / 1024;
         return MPI_Win_allocate(huge, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
       }},
  };
  if (!support::one_node()) {
    table.push_back({MPI_ERR_RMA_SHARED, "shared memory of several nodes", "share", [] {
                       return MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                                                      &made);
                     }});
  }
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  if (program.host_only()) return 0;  // what a host checks is its own choice
  Scene scene(program);
  for (const Case& each : cases(scene, program)) {
    program.test(each.name, [&] {
      const int code = each.call();
      support::check_class(__FILE__, __LINE__, each.name, code, each.error_class);
      const std::string sentence = support::class_name(code);
      if (sentence.find(each.sentence) == std::string::npos) {
        support::fail(__FILE__, __LINE__,
                      "the error's sentence is \"" + sentence + "\" and should contain \"" +
                          each.sentence + "\".");
      }
      scene.expect_as_before();
    });
  }
}
