// SPDX-License-Identifier: BSD-3-Clause
// Queries of a window, and its name (G6).
#include <oriel/oriel.h>

#include <cstring>
#include <string>

#include "engine/progress/waiting.hpp"
#include "engine/windows/paths.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

struct SharedMemory {
  MPI_Aint size = 0;
  MPI_Aint disp_unit = 1;
  void* base = nullptr;
};

/// Finds the memory of a rank that this process can load and store; MPI_PROC_NULL: of the lowest
/// rank whose size is not 0, mapped or not. A rank with private memory has none to share: size 0,
/// no error (MPI-4.1 section 12.2.3). Private memory that XPMEM maps is not shared either: system
/// calls on it fail, so the host MPI could not send from it.
Failure query(WindowHandle& window, int rank, SharedMemory& memory) {
  const Window& core = *window.core;
  if (core.dynamic()) {
    return {MPI_ERR_RMA_FLAVOR,
            "a dynamic window has no memory of its own, but what is attached to it"};
  }
  if (rank == MPI_PROC_NULL) {
    rank = 0;
    while (rank + 1 < core.ranks() && core.read_member(rank).size == 0) ++rank;
  } else if (rank < 0 || rank >= core.ranks()) {
    return {MPI_ERR_RANK, "the rank is not in the window's group"};
  }
  const Member member = core.read_member(rank);
  memory.disp_unit = static_cast<MPI_Aint>(member.disp_unit);
  if (member.base == nullptr || member.by_space) return {};
  memory.size = static_cast<MPI_Aint>(member.size);
  memory.base = member.base;
  if (rank == core.rank()) return {};
  window.core->epochs().set_shared();
  return wait_until(engine, *window.core, {WaitReason::lock, rank},
                    [&] { return window.core->epochs().try_hold_loaded(rank); });
}

template <typename Unit, typename Host>
int shared_query(const char* call, MPI_Win win, int rank, MPI_Aint* size, Unit* disp_unit,
                 void* base, Host&& host) {
  return dispatch_call(
      call, win,
      [&](WindowHandle& window) {
        SharedMemory memory;
        if (const Failure bad = check_outputs(size, disp_unit, base)) return bad;
        if (const Failure bad = query(window, rank, memory)) return bad;
        *size = memory.size;
        *disp_unit = static_cast<Unit>(memory.disp_unit);
        std::memcpy(base, &memory.base, sizeof memory.base);
        return Failure();
      },
      host);
}

/// Adds the paths to an info object. Returns the host's error code.
int write_paths(const Window& window, MPI_Info info) {
  std::string paths = describe_paths(*engine.running(), window);
  if (paths.size() >= MPI_MAX_INFO_VAL) {
    paths.resize(MPI_MAX_INFO_VAL - 4);
    paths += "...";
  }
  return host_mpi().Info_set(info, ORIEL_PATHS, paths.c_str());
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_MPI_CALL(Win_shared_query)
(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* base) {
  return shared_query("MPI_Win_shared_query", win, rank, size, disp_unit, base, [&] {
    return host_mpi().Win_shared_query(win, rank, size, disp_unit, base);
  });
}

#if ORIEL_HOST_LARGE_COUNTS
ORIEL_MPI_CALL(Win_shared_query_c)
(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* base) {
  return shared_query("MPI_Win_shared_query_c", win, rank, size, disp_unit, base, [&] {
    return host_mpi().Win_shared_query_c(win, rank, size, disp_unit, base);
  });
}
#endif

ORIEL_MPI_CALL(Win_get_group)(MPI_Win win, MPI_Group* group) {
  return dispatch_call(
      "MPI_Win_get_group", win,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(group)) return bad;
        // A new group, which the caller frees.
        const int nobody = 0;
        host_mpi().Group_excl(window.state->group, 0, &nobody, group);
        return Failure();
      },
      [&] { return host_mpi().Win_get_group(win, group); });
}

ORIEL_MPI_CALL(Win_set_name)(MPI_Win win, const char* name) {
  return dispatch_call(
      "MPI_Win_set_name", win,
      [&](WindowHandle& window) {
        if (name == nullptr) return Failure{MPI_ERR_ARG, "the name is a null pointer"};
        window.user_state.name.assign(name, ::strnlen(name, MPI_MAX_OBJECT_NAME - 1));
        window.core->set_name(window.user_state.name);
        return Failure();
      },
      [&] { return host_mpi().Win_set_name(win, name); });
}

ORIEL_MPI_CALL(Win_get_name)(MPI_Win win, char* name, int* length) {
  return dispatch_call(
      "MPI_Win_get_name", win,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(name, length)) return bad;
        const std::string& set = window.user_state.name;
        std::memcpy(name, set.c_str(), set.size() + 1);
        *length = static_cast<int>(set.size());
        return Failure();
      },
      [&] { return host_mpi().Win_get_name(win, name, length); });
}

ORIEL_MPI_CALL(Win_get_info)(MPI_Win win, MPI_Info* info) {
  return dispatch_call(
      "MPI_Win_get_info", win,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(info)) return bad;
        MPI_Info made = MPI_INFO_NULL;
        // All handles of a window share its synchronization, and the keys that concern it.
        WindowInfo keys = window.info;
        keys.reorder = window.core->epochs().reorder();
        keys.no_locks = window.core->epochs().no_locks();
        keys.order.store(keys.order.load() && window.core->orders());
        // Only a question for all threads reports failures of its operations on other nodes.
        const bool asks_for_all = window.core->dynamic() && window.core->remote();
        keys.thread_scope.store(keys.thread_scope.load() && !asks_for_all);
        if (host_mpi().Info_create(&made) != MPI_SUCCESS || keys.write(made) != MPI_SUCCESS ||
            write_paths(*window.core, made) != MPI_SUCCESS) {
          return Failure{MPI_ERR_OTHER, "the host MPI could not make an info object"};
        }
        *info = made;
        return Failure();
      },
      [&] { return host_mpi().Win_get_info(win, info); });
}

ORIEL_MPI_CALL(Win_set_info)(MPI_Win win, MPI_Info info) {
  bool served = false;
  const int code = dispatch_call(
      "MPI_Win_set_info", win,
      [&](WindowHandle& window) {
        if (info == MPI_INFO_NULL) return Failure{MPI_ERR_INFO, "the info object is MPI_INFO_NULL"};
        window.info.reorder = window.core->epochs().reorder();
        window.info.no_locks = window.core->epochs().no_locks();
        window.info.update(info);
        if (window.view.has_value()) return Failure();  // its epochs are those of its parent
        window.core->epochs().set_reorder(window.info.reorder);
        window.core->epochs().set_no_locks(window.info.no_locks);
        served = window.core->remote() && engine.running()->needs_agent(window.info.no_locks);
        return Failure();
      },
      [&] { return host_mpi().Win_set_info(win, info); });
  // A window that was made with no_locks has not started the agent.
  if (served) engine.agent.start();
  return code;
}
