// SPDX-License-Identifier: BSD-3-Clause
// G4: every predefined op on every predefined type it is valid for, against MPI_Reduce_local.
#include <array>
#include <complex>
#include <cstdint>

#include "support/host_calls.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

constexpr int count = 6;
constexpr std::size_t bytes = 256;

/// What a type is made of: which ops it takes, how to fill it, which bytes count.
enum class Kind { integer, logical, floating, quadruple, complex, complex_quadruple, byte, pair };

struct Type {
  const char* name;
  MPI_Datatype type;
  Kind kind;
  MPI_Datatype alike = MPI_DATATYPE_NULL;  // whose results it has; null: its own
};

struct Op {
  const char* name;
  MPI_Op op;
};

// MPI_DATATYPE_NULL where the host has none of so many digits.
MPI_Datatype f90_real(int digits) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_real(digits, MPI_UNDEFINED, &type) == MPI_SUCCESS) return type;
  return MPI_DATATYPE_NULL;
}
MPI_Datatype f90_complex(int digits) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_complex(digits, MPI_UNDEFINED, &type) == MPI_SUCCESS) return type;
  return MPI_DATATYPE_NULL;
}
MPI_Datatype f90_integer(int digits) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_integer(digits, &type) == MPI_SUCCESS) return type;
  return MPI_DATATYPE_NULL;
}

std::vector<Type> types() {
#define INTEGER(type) {#type, type, Kind::integer}
  std::vector<Type> all = {
      INTEGER(MPI_SIGNED_CHAR),
      INTEGER(MPI_UNSIGNED_CHAR),
      INTEGER(MPI_SHORT),
      INTEGER(MPI_UNSIGNED_SHORT),
      INTEGER(MPI_INT),
      INTEGER(MPI_UNSIGNED),
      INTEGER(MPI_LONG),
      INTEGER(MPI_UNSIGNED_LONG),
      INTEGER(MPI_LONG_LONG),
      INTEGER(MPI_UNSIGNED_LONG_LONG),
      INTEGER(MPI_INT8_T),
      INTEGER(MPI_INT16_T),
      INTEGER(MPI_INT32_T),
      INTEGER(MPI_INT64_T),
      INTEGER(MPI_UINT8_T),
      INTEGER(MPI_UINT16_T),
      INTEGER(MPI_UINT32_T),
      INTEGER(MPI_UINT64_T),
      INTEGER(MPI_AINT),
      INTEGER(MPI_OFFSET),
      INTEGER(MPI_COUNT),
      INTEGER(MPI_INTEGER),
      {"MPI_C_BOOL", MPI_C_BOOL, Kind::logical},
      {"MPI_LOGICAL", MPI_LOGICAL, Kind::logical},
      {"MPI_FLOAT", MPI_FLOAT, Kind::floating},
      {"MPI_DOUBLE", MPI_DOUBLE, Kind::floating},
      {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, Kind::floating},
      {"MPI_REAL", MPI_REAL, Kind::floating},
      {"MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, Kind::floating},
      {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, Kind::complex},
      {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, Kind::complex},
      {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, Kind::complex},
      {"MPI_BYTE", MPI_BYTE, Kind::byte},
      {"MPI_FLOAT_INT", MPI_FLOAT_INT, Kind::pair},
      {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, Kind::pair},
      {"MPI_LONG_INT", MPI_LONG_INT, Kind::pair},
      {"MPI_2INT", MPI_2INT, Kind::pair},
      {"MPI_SHORT_INT", MPI_SHORT_INT, Kind::pair},
      {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, Kind::pair},
      {"MPI_2INTEGER", MPI_2INTEGER, Kind::pair},
      {"MPI_2REAL", MPI_2REAL, Kind::pair},
      {"MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, Kind::pair},
      {"MPI_COMPLEX", MPI_COMPLEX, Kind::complex},
      {"MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, Kind::complex},
#ifdef MPI_INTEGER16
      INTEGER(MPI_INTEGER16),
#endif
#if defined(MPI_REAL2) && defined(__FLT16_MAX__)
      {"MPI_REAL2", MPI_REAL2, Kind::floating},
#endif
#if defined(MPI_COMPLEX4) && defined(__FLT16_MAX__)
      {"MPI_COMPLEX4", MPI_COMPLEX4, Kind::complex},
#endif
#if defined(MPI_REAL16) && defined(__SIZEOF_FLOAT128__)
      {"MPI_REAL16", MPI_REAL16, Kind::quadruple},
#endif
#if defined(MPI_COMPLEX32) && defined(__SIZEOF_FLOAT128__)
      {"MPI_COMPLEX32", MPI_COMPLEX32, Kind::complex_quadruple},
#endif
      // Intel MPI's MPI_Reduce_local does nothing to these, or something else.
      {"an integer of 9 digits", f90_integer(9), Kind::integer, MPI_INT},
      {"a real of 6 digits", f90_real(6), Kind::floating, MPI_FLOAT},
      {"a complex of 15 digits", f90_complex(15), Kind::complex, MPI_C_DOUBLE_COMPLEX},
#ifdef __SIZEOF_FLOAT128__
      // Both have 16 bytes.
      {"a real of 18 digits", f90_real(18), Kind::floating},
      {"a real of 30 digits", f90_real(30), Kind::quadruple},
#endif
  };
#undef INTEGER
  std::erase_if(all, [](const Type& type) {
    if (type.type == MPI_DATATYPE_NULL) return true;
    int size = 0;  // zero: a Fortran type of a host without Fortran
    MPI_Type_size(type.type, &size);
    return size == 0;
  });
  return all;
}

std::vector<Op> ops_for(const Type& type) {
  std::vector<Op> ops;
  const auto add = [&](const char* name, MPI_Op op) { ops.push_back({name, op}); };
  const bool ordered =
      type.kind == Kind::integer || type.kind == Kind::floating || type.kind == Kind::quadruple;
  const bool c_integer = type.kind == Kind::integer && type.type != MPI_INTEGER &&
                         type.type != MPI_AINT && type.type != MPI_OFFSET && type.type != MPI_COUNT;
  if (ordered) {
    add("MPI_MAX", MPI_MAX);
    add("MPI_MIN", MPI_MIN);
  }
  if (ordered || type.kind == Kind::complex || type.kind == Kind::complex_quadruple) {
    add("MPI_SUM", MPI_SUM);
    add("MPI_PROD", MPI_PROD);
  }
  if (c_integer || type.kind == Kind::logical) {
    add("MPI_LAND", MPI_LAND);
    add("MPI_LOR", MPI_LOR);
    add("MPI_LXOR", MPI_LXOR);
  }
  if (type.kind == Kind::integer || type.kind == Kind::byte) {
    add("MPI_BAND", MPI_BAND);
    add("MPI_BOR", MPI_BOR);
    add("MPI_BXOR", MPI_BXOR);
  }
  if (type.kind == Kind::pair) {
    add("MPI_MINLOC", MPI_MINLOC);
    add("MPI_MAXLOC", MPI_MAXLOC);
  }
  add("MPI_REPLACE", MPI_REPLACE);
  add("MPI_NO_OP", MPI_NO_OP);
  return ops;
}

template <class T>
void store(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <class T, class Index>
void store_pair(char* at, T value, Index index) {
  struct Pair {
    T value;
    Index index;
  };
  store(at + offsetof(Pair, value), value);
  store(at + offsetof(Pair, index), index);
}

void store_floating(char* at, int size, double value) {
#ifdef __FLT16_MAX__
  if (size == 2) return store(at, static_cast<_Float16>(value));
#endif
  if (size == sizeof(float)) {
    store(at, static_cast<float>(value));
  } else if (size == sizeof(double)) {
    store(at, value);
  } else {
    store(at, static_cast<long double>(value));
  }
}

/// MPI_REAL16 is not C's long double, which has as many bytes.
void store_quadruple([[maybe_unused]] char* at, [[maybe_unused]] double value) {
#ifdef __SIZEOF_FLOAT128__
  store(at, static_cast<__float128>(value));
#endif
}

/// Small values, exact in every type, some equal on both sides so that MINLOC sees ties.
std::vector<char> values(const Type& type, int seed) {
  std::vector<char> buffer(bytes);
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type.type, &lower, &extent);
  int size = 0;
  MPI_Type_size(type.type, &size);
  for (int i = 0; i < count; ++i) {
    char* at = buffer.data() + i * extent;
    const int value = i < 2 ? 3 : (i * 5 + seed * 3) % 8;
    const int index = seed * 10 + i;
    switch (type.kind) {
      case Kind::integer:
      case Kind::byte:
        at[0] = static_cast<char>(value);  // little-endian, the rest is zero
        break;
      case Kind::logical:
        at[0] = static_cast<char>((value >> 1) & 1);
        break;
      case Kind::floating:
        store_floating(at, size, value - 3.5);
        break;
      case Kind::quadruple:
        store_quadruple(at, value - 3.5);
        break;
      case Kind::complex:
        store_floating(at, size / 2, value - 3.5);
        store_floating(at + size / 2, size / 2, i + 0.25);
        break;
      case Kind::complex_quadruple:
        store_quadruple(at, value - 3.5);
        store_quadruple(at + size / 2, i + 0.25);
        break;
      case Kind::pair:
        if (type.type == MPI_FLOAT_INT) store_pair(at, static_cast<float>(value), index);
        if (type.type == MPI_DOUBLE_INT) store_pair(at, static_cast<double>(value), index);
        if (type.type == MPI_LONG_INT) store_pair(at, static_cast<long>(value), index);
        if (type.type == MPI_2INT || type.type == MPI_2INTEGER) store_pair(at, value, index);
        if (type.type == MPI_2REAL)
          store_pair(at, static_cast<float>(value), static_cast<float>(-index));
        if (type.type == MPI_2DOUBLE_PRECISION) {
          store_pair(at, static_cast<double>(value), static_cast<double>(-index));
        }
        if (type.type == MPI_SHORT_INT) store_pair(at, static_cast<short>(value), index);
        if (type.type == MPI_LONG_DOUBLE_INT) {
          store_pair(at, static_cast<long double>(value), index);
        }
        break;
    }
  }
  return buffer;
}

/// The bytes that are part of a value, without padding, of `elements` elements.
std::string significant(const Type& type, const char* buffer, int elements) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type.type, &lower, &extent);
  int size = 0;
  MPI_Type_size(type.type, &size);
  constexpr std::size_t extended = 10;  // of the sixteen bytes of an x86 long double
  std::string result;
  for (int i = 0; i < elements; ++i) {
    const char* at = buffer + i * extent;
    if (type.kind == Kind::floating && size == sizeof(long double)) {
      result.append(at, extended);
    } else if (type.type == MPI_C_LONG_DOUBLE_COMPLEX) {
      result.append(at, extended).append(at + sizeof(long double), extended);
    } else if (type.type == MPI_LONG_DOUBLE_INT) {
      result.append(at, extended).append(at + sizeof(long double), sizeof(int));
    } else if (type.type == MPI_2REAL || type.type == MPI_2DOUBLE_PRECISION) {
      result.append(at, static_cast<std::size_t>(size));
    } else if (type.kind == Kind::pair) {
      const auto value = static_cast<std::size_t>(size) - sizeof(int);
      result.append(at, value).append(at + std::max(value, sizeof(int)), sizeof(int));
    } else {
      result.append(at, static_cast<std::size_t>(size));
    }
  }
  return result;
}

/// Whether the host adds what Fortran calls REAL(16): MPICH 4.0 and Open MPI 4.1 take it for C's
/// long double.
bool adds_quadruples() {
#if defined(MPI_REAL16) && defined(__SIZEOF_FLOAT128__)
  if (MPI_REAL16 == MPI_DATATYPE_NULL) return false;
  const __float128 one_and_a_half = 1.5;
  __float128 sum = 2.25;
  MPI_Reduce_local(&one_and_a_half, &sum, 1, MPI_REAL16, MPI_SUM);
  return sum == static_cast<__float128>(3.75);
#else
  return false;
#endif
}

/// The result of `op`; empty where the host's MPI_Reduce_local refuses the pair of op and type, or
/// computes something else.
std::vector<char> reference(const Type& type, const Op& op, const std::vector<char>& origin,
                            const std::vector<char>& target) {
  if (op.op == MPI_REPLACE) return origin;
  if (op.op == MPI_NO_OP) return target;
  const bool quadruple = type.kind == Kind::quadruple || type.kind == Kind::complex_quadruple;
  if (quadruple && !adds_quadruples()) return {};
  std::vector<char> result = target;
  const MPI_Datatype alike = type.alike != MPI_DATATYPE_NULL ? type.alike : type.type;
  if (MPI_Reduce_local(origin.data(), result.data(), count, alike, op.op) != MPI_SUCCESS) {
    return {};
  }
  return result;
}

class Reduction {
 public:
  Reduction(MPI_Win win, int target) : win_(win), target_(target) {}

  void run(const Type& type, const Op& op) const {
    const std::vector<char> origin = values(type, 1);
    const std::vector<char> background = values(type, 2);
    const std::vector<char> expected = reference(type, op, origin, background);
    if (expected.empty()) return;
    std::vector<char> result(bytes);

    if (op.op != MPI_NO_OP) {
      set(background);
      MPI_Accumulate(origin.data(), count, type.type, target_, 0, count, type.type, op.op, win_);
      check(type, op, "accumulate", get().data(), expected.data(), count);
    }
    set(background);
    MPI_Get_accumulate(origin.data(), count, type.type, result.data(), count, type.type, target_, 0,
                       count, type.type, op.op, win_);
    check(type, op, "get_accumulate", get().data(), expected.data(), count);
    check(type, op, "result of get_accumulate", result.data(), background.data(), count);
    set(background);
    MPI_Fetch_and_op(origin.data(), result.data(), type.type, target_, 0, op.op, win_);
    check(type, op, "fetch_and_op", get().data(), expected.data(), 1);
    check(type, op, "result of fetch_and_op", result.data(), background.data(), 1);
  }

 private:
  void set(const std::vector<char>& buffer) const {
    MPI_Put(buffer.data(), bytes, MPI_CHAR, target_, 0, bytes, MPI_CHAR, win_);
    MPI_Win_flush(target_, win_);
  }
  std::vector<char> get() const {
    std::vector<char> buffer(bytes);
    MPI_Win_flush(target_, win_);
    MPI_Get(buffer.data(), bytes, MPI_CHAR, target_, 0, bytes, MPI_CHAR, win_);
    MPI_Win_flush(target_, win_);
    return buffer;
  }
  static void check(const Type& type, const Op& op, const char* what, const char* actual,
                    const char* expected, int elements) {
    if (significant(type, actual, elements) == significant(type, expected, elements)) return;
    support::fail(__FILE__, __LINE__,
                  std::string(what) + " with " + op.name + " on " + type.name +
                      " differs from MPI_Reduce_local.");
  }

  MPI_Win win_;
  int target_;
};

/// A window of one's own, of the library that carries it.
class OwnWindow {
 public:
  using Values = std::array<unsigned char, 6>;

  explicit OwnWindow(void* library) : calls_(library) {
    calls_.Win_allocate(sizeof(Values), 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory_, &win_);
    MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN);
  }
  ~OwnWindow() { calls_.Win_free(&win_); }
  OwnWindow(const OwnWindow&) = delete;
  OwnWindow& operator=(const OwnWindow&) = delete;

  const support::RmaCalls& calls() const { return calls_; }
  MPI_Win win() const { return win_; }

  /// The class that call(window) answers with, and what it leaves behind.
  template <class Call>
  std::string outcome(const Values& before, Call&& call) {
    calls_.Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win_);
    std::memcpy(memory_, before.data(), before.size());
    Values fetched{};
    const int error = support::error_class(call(*this, fetched.data()));
    calls_.Win_unlock(0, win_);
    std::string text = support::class_name(error);
    if (error != MPI_SUCCESS) return text;
    text.append(reinterpret_cast<const char*>(memory_), before.size());
    return text.append(reinterpret_cast<const char*>(fetched.data()), fetched.size());
  }

 private:
  support::RmaCalls calls_;
  MPI_Win win_ = MPI_WIN_NULL;
  unsigned char* memory_ = nullptr;
};

/// What the standard leaves out and all hosts take (MPI_CHAR, MPI_CHARACTER), or some of them
/// (MPI_BYTE as a number): as the host at hand does.
void as_host() {
  // Signed and unsigned differ, results do not fit, some are true and some are not.
  constexpr OwnWindow::Values before{0x85, 0x85, 0x40, 0x01, 0x7f, 0x00};
  constexpr OwnWindow::Values origin{0x12, 0x93, 0x00, 0xff, 0x7f, 0x02};
  OwnWindow ours(RTLD_DEFAULT);
  OwnWindow host(support::host_library());
  const auto compare = [&](const std::string& what, auto&& call) {
    const std::string expected = host.outcome(before, call);
    if (ours.outcome(before, call) != expected) {
      support::fail(__FILE__, __LINE__, what + " differs from the host's.");
    }
    return expected;
  };
  for (const Type& type :
       {Type{"MPI_CHAR", MPI_CHAR, Kind::byte}, Type{"MPI_CHARACTER", MPI_CHARACTER, Kind::byte},
        Type{"MPI_BYTE", MPI_BYTE, Kind::byte}}) {
    int size = 0;
    MPI_Type_size(type.type, &size);
    if (size != 1) continue;  // a Fortran type of a host without Fortran
    constexpr int elements = static_cast<int>(origin.size());
    const MPI_Datatype handle = type.type;
    for (const Op& op : ops_for({"MPI_INT", MPI_INT, Kind::integer})) {
      const std::string what = std::string(op.name) + " on " + type.name;
      if (op.op != MPI_NO_OP) {
        compare("accumulate with " + what, [&](const OwnWindow& window, void*) {
          return window.calls().Accumulate(origin.data(), elements, handle, 0, 0, elements, handle,
                                           op.op, window.win());
        });
      }
      const std::string outcome =
          compare("get_accumulate with " + what, [&](const OwnWindow& window, void* fetched) {
            return window.calls().Get_accumulate(origin.data(), elements, handle, fetched, elements,
                                                 handle, 0, 0, elements, handle, op.op,
                                                 window.win());
          });
      // Intel MPI's fetch_and_op does nothing and says nothing where the others of its calls
      // refuse.
      if (outcome == support::class_name(MPI_ERR_OP)) continue;
      for (int i = 0; i < elements; ++i) {
        compare("fetch_and_op with " + what, [&](const OwnWindow& window, void* fetched) {
          return window.calls().Fetch_and_op(&origin[static_cast<std::size_t>(i)], fetched, handle,
                                             0, i, op.op, window.win());
        });
      }
    }
    for (const unsigned char expected : {before[0], origin[0]}) {
      compare(std::string("compare_and_swap of ") + type.name,
              [&](const OwnWindow& window, void* fetched) {
                return window.calls().Compare_and_swap(origin.data(), &expected, fetched, handle, 0,
                                                       0, window.win());
              });
    }
  }
}

/// All ranks add to the same elements of rank 0 at once: nothing is lost, whatever the type's size.
template <class T>
void contended(Flavor flavor, const Program& program, MPI_Datatype type) {
  constexpr int rounds = 50;
  Window<T> window(flavor, 3);
  const T ones[3] = {1, 1, 1};
  T result[3];
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds; ++i) {
    MPI_Accumulate(ones, 3, type, 0, 0, 3, type, MPI_SUM, window);
    MPI_Get_accumulate(ones, 2, type, result, 2, type, 0, 1, 2, type, MPI_SUM, window);
    MPI_Fetch_and_op(ones, result, type, 0, 2, MPI_SUM, window);
    if (i % 16 == 0) MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    for (std::size_t i = 0; i < 3; ++i) {
      const T expected = static_cast<T>(rounds * static_cast<int>(i + 1) * program.size());
      CHECK(std::abs(static_cast<double>(window[i] - expected)) < 0.5);
    }
    MPI_Win_unlock(0, window);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  // An op that the host does not know for a type is no failure: there is nothing to compare with.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (Flavor flavor : support::flavors()) {
    Window<char> window(flavor, bytes);
    program.test_unless_host("openmpi intel", "wrong logical and MINLOC results between ranks",
                             "all ops on all types", [&] {
                               MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
                               const Reduction reduction(window, program.right());
                               for (const Type& type : types()) {
                                 for (const Op& op : ops_for(type)) reduction.run(type, op);
                               }
                               MPI_Win_unlock(program.right(), window);
                             });
    program.test("contended int16", [&] { contended<std::int16_t>(flavor, program, MPI_INT16_T); });
    program.test("contended int", [&] { contended<int>(flavor, program, MPI_INT); });
    program.test("contended float", [&] { contended<float>(flavor, program, MPI_FLOAT); });
    program.test("contended double", [&] { contended<double>(flavor, program, MPI_DOUBLE); });
    program.test("contended long double",
                 [&] { contended<long double>(flavor, program, MPI_LONG_DOUBLE); });
  }
  program.test("as the host", as_host);
}
