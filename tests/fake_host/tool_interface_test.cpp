// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: where Oriel's variables lie among those of a host that adds some, and that calls on the
// host's handles and indices reach the host.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/mpi_t/pvars.hpp"
#include "mpi/runtime/runtime.hpp"
#include "support/fake_host.hpp"

namespace oriel::mpi {
namespace {

using test::fake_tools;
using test::FakeTools;

template <typename GetNum>
int number(GetNum get) {
  int found = -1;
  EXPECT_EQ(get(&found), MPI_SUCCESS);
  return found;
}

using Name = std::array<char, 128>;

std::string cvar(int index) {
  Name name{};
  int length = static_cast<int>(name.size());
  const int code = MPI_T_cvar_get_info(index, name.data(), &length, nullptr, nullptr, nullptr,
                                       nullptr, nullptr, nullptr, nullptr);
  return code == MPI_SUCCESS ? name.data() : "";
}

std::string pvar(int index) {
  Name name{};
  int length = static_cast<int>(name.size());
  const int code =
      MPI_T_pvar_get_info(index, name.data(), &length, nullptr, nullptr, nullptr, nullptr, nullptr,
                          nullptr, nullptr, nullptr, nullptr, nullptr);
  return code == MPI_SUCCESS ? name.data() : "";
}

std::string category(int index) {
  Name name{};
  int length = static_cast<int>(name.size());
  const int code = MPI_T_category_get_info(index, name.data(), &length, nullptr, nullptr, nullptr,
                                           nullptr, nullptr);
  return code == MPI_SUCCESS ? name.data() : "";
}

template <typename NameOf>
std::vector<std::string> names(int number, const NameOf& name_of) {
  std::vector<std::string> all;
  for (int i = 0; i < number; ++i) all.push_back(name_of(i));
  return all;
}

template <typename List, typename NameOf>
std::vector<std::string> members(const List& list, int category, const NameOf& name_of) {
  std::array<int, 256> indices{};
  indices.fill(-1);
  EXPECT_EQ(list(category, static_cast<int>(indices.size()), indices.data()), MPI_SUCCESS);
  std::vector<std::string> all;
  for (const int index : indices) {
    if (index >= 0) all.push_back(name_of(index));
  }
  return all;
}

class ToolInterfaceTest : public testing::Test {
 protected:
  ToolInterfaceTest() {
    fake_tools() = FakeTools();
    start();
  }
  ~ToolInterfaceTest() override { MPI_T_finalize(); }

  static void start() {
    int provided = -1;
    EXPECT_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  }
  static void expect_names_lead_back() {
    for (int i = 0; i < number(MPI_T_cvar_get_num); ++i) {
      int index = -1;
      EXPECT_EQ(MPI_T_cvar_get_index(cvar(i).c_str(), &index), MPI_SUCCESS);
      EXPECT_EQ(index, i);
    }
    for (int i = 0; i < number(MPI_T_pvar_get_num); ++i) {
      int index = -1;
      int variable_class = 0;
      MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, &variable_class, nullptr, nullptr, nullptr,
                          nullptr, nullptr, nullptr, nullptr, nullptr);
      EXPECT_EQ(MPI_T_pvar_get_index(pvar(i).c_str(), variable_class, &index), MPI_SUCCESS);
      EXPECT_EQ(index, i);
    }
    for (int i = 0; i < number(MPI_T_category_get_num); ++i) {
      int index = -1;
      EXPECT_EQ(MPI_T_category_get_index(category(i).c_str(), &index), MPI_SUCCESS);
      EXPECT_EQ(index, i);
    }
  }
};

TEST_F(ToolInterfaceTest, OwnVariablesFollowTheHosts) {
  const int pvars = number(MPI_T_pvar_get_num);
  ASSERT_GT(pvars, 2);
  EXPECT_EQ(pvar(0), "pvar_0");
  EXPECT_EQ(pvar(1), "pvar_1");
  for (int i = 2; i < pvars; ++i) EXPECT_EQ(pvar(i).rfind("oriel_", 0), 0) << pvar(i);
  EXPECT_EQ(pvar(pvars), "");
  EXPECT_EQ(pvar(-1), "");
  EXPECT_EQ(cvar(2), "cvar_2");
  EXPECT_EQ(cvar(3), "ORIEL_DISABLE");
  EXPECT_EQ(names(number(MPI_T_category_get_num), category),
            (std::vector<std::string>{"category_0", "category_1", "oriel"}));
  expect_names_lead_back();
}

TEST_F(ToolInterfaceTest, AnIndexStaysWhenTheHostAddsVariables) {
  const std::vector<std::string> cvars = names(number(MPI_T_cvar_get_num), cvar);
  const std::vector<std::string> pvars = names(number(MPI_T_pvar_get_num), pvar);
  fake_tools().cvars += 2;
  fake_tools().pvars += 1;
  fake_tools().categories += 1;
  start();  // once more: nothing moves
  std::vector<std::string> now = names(number(MPI_T_cvar_get_num), cvar);
  ASSERT_EQ(now.size(), cvars.size() + 2);
  EXPECT_EQ(now.back(), "cvar_4");
  now.resize(cvars.size());
  EXPECT_EQ(now, cvars);
  now = names(number(MPI_T_pvar_get_num), pvar);
  ASSERT_EQ(now.size(), pvars.size() + 1);
  EXPECT_EQ(now.back(), "pvar_2");
  now.resize(pvars.size());
  EXPECT_EQ(now, pvars);
  expect_names_lead_back();
  MPI_T_finalize();
}

TEST_F(ToolInterfaceTest, CategoriesListTheIndicesThatTheProgramKnows) {
  fake_tools().cvars = 5;
  fake_tools().pvars = 3;
  fake_tools().categories = 4;
  EXPECT_EQ(category(2), "oriel");
  EXPECT_EQ(category(4), "category_3");
  for (const int host : {0, 4}) {
    EXPECT_EQ(members(MPI_T_category_get_cvars, host, cvar),
              (std::vector<std::string>{"cvar_0", "cvar_1", "cvar_2", "cvar_3", "cvar_4"}));
    EXPECT_EQ(members(MPI_T_category_get_pvars, host, pvar),
              (std::vector<std::string>{"pvar_0", "pvar_1", "pvar_2"}));
    EXPECT_EQ(members(MPI_T_category_get_categories, host, category),
              (std::vector<std::string>{"category_0", "category_1", "category_2", "category_3"}));
  }
  int cvars = -1;
  int pvars = -1;
  int categories = -1;
  MPI_T_category_get_info(2, nullptr, nullptr, nullptr, nullptr, &cvars, &pvars, &categories);
  EXPECT_EQ(cvars, number(MPI_T_cvar_get_num) - 5);
  EXPECT_EQ(pvars, number(MPI_T_pvar_get_num) - 3);
  EXPECT_EQ(categories, 0);
  EXPECT_EQ(members(MPI_T_category_get_cvars, 2, cvar).size(), static_cast<std::size_t>(cvars));
  const std::vector<std::string> own = members(MPI_T_category_get_pvars, 2, pvar);
  EXPECT_EQ(own.size(), static_cast<std::size_t>(pvars));
  EXPECT_TRUE(
      std::ranges::all_of(own, [](const std::string& name) { return name.starts_with("oriel_"); }));
  EXPECT_TRUE(members(MPI_T_category_get_categories, 2, category).empty());
  int events = -1;
  EXPECT_EQ(MPI_T_category_get_num_events(2, &events), MPI_SUCCESS);
  EXPECT_EQ(events, 0);
  EXPECT_EQ(MPI_T_category_get_num_events(4, &events), MPI_SUCCESS);
  EXPECT_EQ(events, 3);  // the number of the host's category
}

TEST_F(ToolInterfaceTest, AListThatIsTooShortIsNotOverrun) {
  std::array<int, 3> indices{-1, -1, -1};
  for (const int of : {0, 2}) {
    EXPECT_EQ(MPI_T_category_get_pvars(of, 1, indices.data()), MPI_SUCCESS);
    EXPECT_EQ(indices[0], of);  // the first of the host, and the first behind its two
    EXPECT_EQ(indices[1], -1);
  }
}

TEST_F(ToolInterfaceTest, AHostThatStartsAgainWithFewerLeavesNoGap) {
  const auto start_again = [] {
    MPI_T_finalize();
    fake_tools().pvars = 1;
    std::fprintf(stderr, "%d at the end;", number(MPI_T_pvar_get_num));  // Oriel's are gone
    start();
    for (const std::string& name : names(number(MPI_T_pvar_get_num), pvar)) {
      std::fprintf(stderr, " %s", name.c_str());
    }
    std::_Exit(0);
  };
  // In a process of its own, because the place of Oriel's variables is kept from then on.
  EXPECT_EXIT(start_again(), testing::ExitedWithCode(0), "^1 at the end; pvar_0( oriel_[a-z_]+)+$");
}

TEST_F(ToolInterfaceTest, CallsOnTheHostsHandlesReachTheHost) {
  fake_tools().pvars = 3;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_session_create(&session);
  const int last = number(MPI_T_pvar_get_num) - 1;  // the host's number 2
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int count = -1;
  ASSERT_EQ(MPI_T_pvar_handle_alloc(session, last, nullptr, &handle, &count), MPI_SUCCESS);
  MPI_T_pvar_handle expected = MPI_T_PVAR_HANDLE_NULL;
  PMPI_T_pvar_handle_alloc(session, last, nullptr, &expected, &count);
  EXPECT_EQ(handle, expected);
  MPI_T_pvar_start(session, handle);
  EXPECT_EQ(fake_tools().started, handle);
  MPI_T_pvar_handle read = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_read(session, handle, &read);
  EXPECT_EQ(read, handle);
  EXPECT_EQ(MPI_T_pvar_handle_alloc(session, last + 1, nullptr, &handle, &count),
            MPI_T_ERR_INVALID_INDEX);
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  EXPECT_EQ(fake_tools().started, MPI_T_PVAR_ALL_HANDLES);
  MPI_T_pvar_session_free(&session);
}

// The engine's memory is freed soon after, without the process lock.
TEST_F(ToolInterfaceTest, NoVariableReadsFromAnEngineThatStops) {
  MPI_Win win = MPI_WIN_NULL;
  void* memory = nullptr;
  ASSERT_EQ(MPI_Win_allocate(8, 1, MPI_INFO_NULL, test::make_communicator(1),
                             static_cast<void*>(&memory), &win),
            MPI_SUCCESS);
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_session_create(&session);
  int index = -1;
  ASSERT_EQ(MPI_T_pvar_get_index("oriel_windows", MPI_T_PVAR_CLASS_LEVEL, &index), MPI_SUCCESS);
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int count = 0;
  ASSERT_EQ(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count), MPI_SUCCESS);
  const auto windows = [&] {
    unsigned long long value = 0;
    EXPECT_EQ(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    return value;
  };
  EXPECT_GT(windows(), 0U);
  pvar_handles.engine_ends();
  EXPECT_EQ(windows(), 0U);
  pvar_handles.engine_begins();
  EXPECT_GT(windows(), 0U);
  MPI_T_pvar_session_free(&session);
  EXPECT_EQ(MPI_Win_free(&win), MPI_SUCCESS);
}

TEST_F(ToolInterfaceTest, CallsOnOwnHandlesDoNotReachTheHost) {
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int count = -1;
  ASSERT_EQ(MPI_T_pvar_handle_alloc(session, 2, nullptr, &handle, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
  EXPECT_EQ(fake_tools().started, MPI_T_PVAR_HANDLE_NULL);
  unsigned long long value = 7;
  EXPECT_EQ(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
  EXPECT_EQ(value, 0u);  // there is no window
  MPI_T_pvar_session unknown = MPI_T_PVAR_SESSION_NULL;
  EXPECT_EQ(MPI_T_pvar_handle_alloc(unknown, 2, nullptr, &handle, &count),
            MPI_T_ERR_INVALID_SESSION);
  MPI_T_pvar_session_free(&session);
}

TEST_F(ToolInterfaceTest, SettingsAreControlVariables) {
  ::setenv("ORIEL_OFI_PROVIDER", "tcp", 1);
  ::setenv("ORIEL_SPIN", "12", 1);
  const auto read = [](const char* name, void* value) {
    int index = -1;
    EXPECT_EQ(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = -1;
    EXPECT_EQ(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_SUCCESS);
    EXPECT_EQ(MPI_T_cvar_read(handle, value), MPI_SUCCESS);
    EXPECT_EQ(MPI_T_cvar_write(handle, value), MPI_T_ERR_CVAR_SET_NEVER);
    EXPECT_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    EXPECT_EQ(handle, MPI_T_CVAR_HANDLE_NULL);
    return count;
  };
  int number = -1;
  EXPECT_EQ(read("ORIEL_SPIN", &number), 1);
  EXPECT_EQ(number, 12);
  read("ORIEL_VM", &number);
  EXPECT_EQ(number, 1);
  std::string text(65536, 'x');
  const int count = read("ORIEL_OFI_PROVIDER", text.data());
  EXPECT_STREQ(text.c_str(), "tcp");
  EXPECT_GE(count, 4);
  ::unsetenv("ORIEL_OFI_PROVIDER");
  ::unsetenv("ORIEL_SPIN");
}

TEST_F(ToolInterfaceTest, AStringIsCutWhereItsSpaceEnds) {
  std::array<char, 6> name{'x', 'x', 'x', 'x', 'x', 'x'};
  int length = 5;
  MPI_T_pvar_get_info(2, name.data(), &length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                      nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(std::string(name.data()), "orie");
  EXPECT_EQ(name[5], 'x');
  EXPECT_EQ(length, static_cast<int>(pvar(2).size()) + 1);
}

/// The level that a tool with a thread of its own is given in a process that has done nothing else,
/// or has made a window, as an exit code; 77 where the process lock does not agree with it.
int level_given(bool after_a_window) {
  MPI_Win win = MPI_WIN_NULL;
  int provided = -1;
  if (after_a_window) {
    MPI_Win_create(&provided, 0, 1, MPI_INFO_NULL, test::make_communicator(1), &win);
  }
  MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided);
  return engine.lock.enabled() == (provided != MPI_THREAD_SINGLE) ? provided : 77;
}

// Other tests of this binary make windows, and no process forgets that: each has its own.
TEST(ToolThreadTest, AToolWithAThreadOfItsOwnMakesTheProcessLockReal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(level_given(false)), testing::ExitedWithCode(MPI_THREAD_SERIALIZED), "");
}

TEST(ToolThreadTest, AToolThatComesAfterAWindowIsGivenNoThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(level_given(true)), testing::ExitedWithCode(MPI_THREAD_SINGLE), "");
}

}  // namespace
}  // namespace oriel::mpi
