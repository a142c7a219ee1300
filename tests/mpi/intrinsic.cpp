// SPDX-License-Identifier: BSD-3-Clause
// Q3: which accumulates the query calls intrinsic, on each kind of window, against what the design
// says: CPU atomics where all memory is mapped, the network's where all ranks have asked for them.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "oriel/oriel.h"
#include "support/errors_return.hpp"
#include "support/exported.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

constexpr const char* every_integer_op =
    "sum,prod,min,max,land,lor,lxor,band,bor,bxor,no_op,replace,cas";
/// Elements of a call that go by CPU atomics at most, where a call need not be one update.
constexpr MPI_Aint most = 512;

int ask(MPI_Win window, const char* ops, MPI_Aint count, MPI_Datatype type, int* flag) {
  static const auto call =
      support::exported<decltype(&ORIEL_Win_op_intrinsic)>("ORIEL_Win_op_intrinsic");
  return call(ops, count, type, window, flag);
}

bool intrinsic(MPI_Win window, const char* ops, MPI_Aint count, MPI_Datatype type) {
  int flag = -1;
  CHECK_EQUAL(ask(window, ops, count, type, &flag), MPI_SUCCESS);
  CHECK(flag == 0 || flag == 1);
  return flag == 1;
}

/// Whether each rank maps the memory of all: not what the program has from malloc, unless there is
/// nobody else.
bool all_mapped(Flavor flavor, const Program& program) {
  return support::one_node() && (flavor != Flavor::create || program.size() == 1);
}

void by_cpus(Flavor flavor, const Program& program) {
  Window<std::int64_t> window(flavor, 2, MPI_COMM_WORLD, MPI_INFO_NULL);
  const bool mapped = all_mapped(flavor, program);
  const Info relaxed({{"mpi_accumulate_granularity", "4"}});
  Window<std::int64_t> by_elements(flavor, 2, MPI_COMM_WORLD, relaxed);
  for (const MPI_Aint count : {0, 1}) {
    CHECK_EQUAL(intrinsic(window, "sum", count, MPI_INT), mapped);
    CHECK_EQUAL(intrinsic(window, every_integer_op, count, MPI_INT64_T), mapped);
  }
  CHECK(!intrinsic(window, "sum", 2, MPI_INT));
  CHECK(!intrinsic(window, "cas,sum", 2, MPI_INT));
  CHECK_EQUAL(intrinsic(window, "cas", most + 1, MPI_INT), mapped);  // of one element
  CHECK_EQUAL(intrinsic(by_elements, every_integer_op, most, MPI_INT), mapped);
  CHECK(!intrinsic(by_elements, "sum", most + 1, MPI_INT));
  CHECK(!intrinsic(by_elements, "sum", 2, MPI_INT16_T));  // two of them as a whole
  for (const MPI_Datatype type : {MPI_INT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_LONG}) {
    CHECK_EQUAL(intrinsic(window, every_integer_op, 1, type), mapped);
  }
  for (const MPI_Datatype type : {MPI_FLOAT, MPI_DOUBLE}) {
    CHECK_EQUAL(intrinsic(window, "sum,prod,min,max,replace,no_op", 1, type), mapped);
  }
  CHECK_EQUAL(intrinsic(window, "minloc,maxloc", 1, MPI_2INT), mapped);
  CHECK_EQUAL(intrinsic(window, "sum", 1, MPI_C_FLOAT_COMPLEX), mapped);
}

// Elements that no instruction updates as a whole, ops that MPI does not have, datatypes that are
// not predefined.
void not_at_all(Flavor flavor, const Program&) {
  Window<std::int64_t> window(flavor, 2, MPI_COMM_WORLD, MPI_INFO_NULL);
  CHECK(!intrinsic(window, "sum", 1, MPI_LONG_DOUBLE));
  CHECK(!intrinsic(window, "replace", 1, MPI_C_DOUBLE_COMPLEX));
  CHECK(!intrinsic(window, "minloc", 1, MPI_DOUBLE_INT));
  CHECK(!intrinsic(window, "sum,band", 1, MPI_DOUBLE));
  CHECK(!intrinsic(window, "cas", 1, MPI_DOUBLE));
  CHECK(!intrinsic(window, "minloc", 1, MPI_INT));
  MPI_Datatype one;
  MPI_Type_contiguous(1, MPI_INT, &one);
  MPI_Type_commit(&one);
  CHECK(!intrinsic(window, "sum", 1, one));
  MPI_Type_free(&one);
}

// Elements that do not lie where they could be updated by one instruction; ranks without memory.
void odd_memory(const Program& program) {
  const bool mapped = support::one_node();
  char* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
  MPI_Win_create(memory + 4, 32, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  CHECK_EQUAL(intrinsic(window, "sum", 1, MPI_INT32_T), mapped);
  CHECK(!intrinsic(window, "sum", 1, MPI_INT64_T));
  MPI_Win_free(&window);
  const bool last = program.rank() == program.size() - 1;
  MPI_Win_create(last ? memory : nullptr, last ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  CHECK_EQUAL(intrinsic(window, "sum", 1, MPI_INT64_T), mapped);
  MPI_Win_free(&window);
  // One rank's private memory is enough for all to take locks, that rank included.
  int own[2] = {};
  const bool first = program.rank() == 0;
  MPI_Win_create(first ? static_cast<void*>(own) : memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  CHECK_EQUAL(intrinsic(window, "sum", 1, MPI_INT32_T), mapped && program.size() == 1);
  MPI_Win_free(&window);
  MPI_Free_mem(memory);
}

bool in_effect(MPI_Win window, const char* key = "mpi_assert_accumulate_intrinsic") {
  MPI_Info info;
  MPI_Win_get_info(window, &info);
  char value[8] = "";
  int found = 0;
  MPI_Info_get(info, key, 7, value, &found);
  MPI_Info_free(&info);
  CHECK(found != 0);
  return std::string(value) == "true";
}

// Q2: order that one rank asks for when the window is made comes before the network's atomics,
// which have an order of their own. One that uses them already cannot be ordered later.
void ordered(Flavor flavor, const Program& program) {
  const char* const order = program.rank() == 0 ? "true" : "false";
  const Info both({{"mpi_assert_accumulate_intrinsic", "true"}, {ORIEL_WIN_ORDER, order}});
  Window<std::int64_t> window(flavor, 2, MPI_COMM_WORLD, both);
  CHECK_EQUAL(in_effect(window, ORIEL_WIN_ORDER), program.rank() == 0);
  CHECK_EQUAL(in_effect(window), all_mapped(flavor, program));
  const Info all({{"mpi_assert_accumulate_intrinsic", "true"}});
  Window<std::int64_t> later(flavor, 2, MPI_COMM_WORLD, all);
  const bool by_network = in_effect(later) && !support::one_node();
  MPI_Win_set_info(later, Info({{ORIEL_WIN_ORDER, "true"}}));
  CHECK_EQUAL(in_effect(later, ORIEL_WIN_ORDER), !by_network);
}

// The network's atomics carry out any number of elements of what all ranks have asked for.
void by_the_network(Flavor flavor, const Program& program) {
  const Info all({{"mpi_assert_accumulate_intrinsic", "true"}});
  Window<std::int64_t> window(flavor, 2, MPI_COMM_WORLD, all);
  const bool any = in_effect(window);
  const bool network = any && !support::one_node();
  if (support::one_node()) CHECK_EQUAL(any, all_mapped(flavor, program));
  // Whether the network has atomics is known to whoever starts the program.
  const char* expected = std::getenv("ORIEL_TEST_INTRINSIC");
  if (expected != nullptr) CHECK_EQUAL(any, std::string(expected) == "true");
  CHECK_EQUAL(intrinsic(window, every_integer_op, most, MPI_INT64_T), any);
  CHECK_EQUAL(intrinsic(window, every_integer_op, 100000, MPI_INT64_T), network);
  CHECK(!intrinsic(window, "sum", 1, MPI_LONG_DOUBLE));
  const Info named({{"acc_single_intrinsic", "true"}, {"which_accumulate_ops", "sum,no_op"}});
  Window<std::int64_t> sums(flavor, 2, MPI_COMM_WORLD, named);
  CHECK_EQUAL(intrinsic(sums, "sum,no_op", 1, MPI_INT64_T), any);
  CHECK_EQUAL(intrinsic(sums, "sum,bor", 1, MPI_INT64_T), any && !network);
  CHECK_EQUAL(intrinsic(sums, "cas", 1, MPI_INT64_T), any && !network);
  const Info unlike({{"mpi_assert_accumulate_intrinsic", program.rank() == 0 ? "true" : "false"}});
  Window<std::int64_t> off(flavor, 2, MPI_COMM_WORLD, unlike);
  CHECK_EQUAL(intrinsic(off, "sum", 1, MPI_INT64_T), all_mapped(flavor, program));
  CHECK_EQUAL(in_effect(off), all_mapped(flavor, program) && program.size() == 1);
}

// The paper's use: ask, then set the key on this window, or on one of its duplicates and not on
// another. Accumulates through all of them are atomic with one another.
void set_on_one_handle(Flavor flavor, const Program& program) {
  const auto dup = support::exported<decltype(&ORIEL_Win_dup_with_info)>("ORIEL_Win_dup_with_info");
  constexpr int count = 8;
  Window<std::int64_t> window(flavor, count, MPI_COMM_WORLD, MPI_INFO_NULL);
  const bool mapped = all_mapped(flavor, program);
  const Info on({{"mpi_assert_accumulate_intrinsic", "true"}});
  const Info off({{"mpi_assert_accumulate_intrinsic", "false"}});
  MPI_Win one = MPI_WIN_NULL;
  CHECK_EQUAL(dup(window, on, &one), MPI_SUCCESS);
  CHECK(!in_effect(window));
  CHECK_EQUAL(in_effect(one), mapped);
  CHECK(!intrinsic(window, "sum", count, MPI_INT64_T));
  CHECK_EQUAL(intrinsic(one, "sum", count, MPI_INT64_T), mapped);
  MPI_Win other = MPI_WIN_NULL;
  CHECK_EQUAL(dup(one, MPI_INFO_NULL, &other), MPI_SUCCESS);
  CHECK_EQUAL(in_effect(other), mapped);
  MPI_Win_set_info(one, off);
  CHECK(!in_effect(one));
  CHECK_EQUAL(in_effect(other), mapped);
  MPI_Win_set_info(window, on);
  CHECK_EQUAL(in_effect(window), mapped);

  // Whole calls through `one`, element by element through `other`.
  constexpr int rounds = 200;
  const std::vector<std::int64_t> ones(count, 1);
  std::vector<std::int64_t> before(count);
  const int next = (program.rank() + 1) % program.size();
  MPI_Win_lock_all(0, window);
  for (int round = 0; round < rounds; ++round) {
    for (const int target : {0, next}) {
      MPI_Accumulate(ones.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, MPI_SUM,
                     other);
      MPI_Get_accumulate(ones.data(), count, MPI_INT64_T, before.data(), count, MPI_INT64_T, target,
                         0, count, MPI_INT64_T, MPI_SUM, one);
    }
  }
  MPI_Win_flush_all(window);
  support::barrier();
  const int from_all = 2 * rounds * program.size();
  const int own = 2 * rounds + (program.rank() == 0 ? from_all : 0);
  for (int i = 0; i < count; ++i) CHECK_EQUAL(window[i], std::int64_t{own});
  support::barrier();
  MPI_Win_unlock_all(window);
  MPI_Win_free(&one);
  MPI_Win_free(&other);
}

void errors(Flavor flavor, const Program&) {
  Window<int> window(flavor, 1, MPI_COMM_WORLD, MPI_INFO_NULL);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  int flag = 7;
  for (const char* ops :
       {"", "add", "SUM", "sum,", ",sum", "sum,,min", "sum, min", " sum", "any_op"}) {
    CHECK_CLASS(ask(window, ops, 1, MPI_INT, &flag), MPI_ERR_ARG);
  }
  CHECK_CLASS(ask(window, nullptr, 1, MPI_INT, &flag), MPI_ERR_ARG);
  CHECK_CLASS(ask(window, "min,add", most + 1, MPI_INT, &flag), MPI_ERR_ARG);
  CHECK_CLASS(ask(window, "sum", -1, MPI_INT, &flag), MPI_ERR_COUNT);
  CHECK_CLASS(ask(window, "sum", 1, MPI_DATATYPE_NULL, &flag), MPI_ERR_TYPE);
  const support::ErrorsReturn errors_return;
  CHECK_CLASS(ask(MPI_WIN_NULL, "sum", 1, MPI_INT, &flag), MPI_ERR_WIN);
  CHECK_EQUAL(flag, 7);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  const auto test = [&](const char* name, auto&& body) {
    program.test_unless_host("any", "no host has this call", name, body);
  };
  test("odd memory", [&] { odd_memory(program); });
  for (Flavor flavor : support::flavors()) {
    test("by CPUs", [&] { by_cpus(flavor, program); });
    test("not at all", [&] { not_at_all(flavor, program); });
    test("by the network", [&] { by_the_network(flavor, program); });
    test("set on one handle", [&] { set_on_one_handle(flavor, program); });
    test("ordered", [&] { ordered(flavor, program); });
    test("errors", [&] { errors(flavor, program); });
  }
}
