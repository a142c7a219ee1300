// SPDX-License-Identifier: BSD-3-Clause
// What the program leaves on the host's window behind a handle: noted on its way to the host, since
// nobody can ask which attributes a window has.
#include "boundary/windows/attributes.hpp"

#include <vector>

#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
namespace {

/// What call() has done to a window is noted once the host has taken it.
template <typename Call, typename Note>
int noted(const char* name, MPI_Win handle, Call&& call, Note&& note) {
  const int code = pass_to_host(name, handle, call);
  if (code != MPI_SUCCESS) return code;
  const Guard guard(runtime.lock);
  if (WindowHandle* window = runtime.windows.find(handle_key(handle))) note(window->user_state);
  return code;
}

}  // namespace

int delete_attributes(WindowHandle& window) {
  std::vector<int>& keys = window.user_state.attributes;
  while (true) {
    int key;
    {
      const Guard guard(runtime.lock);
      if (keys.empty()) return MPI_SUCCESS;
      key = keys.back();
      keys.pop_back();  // before its callback, which may set it again
    }
    // What a callback sets while it is deleted Open MPI forgets when the callback returns.
    void* value = nullptr;
    int set = 0;
    if (host_mpi().Win_get_attr(window.handle, key, &value, &set) == MPI_SUCCESS && set == 0) {
      continue;
    }
    const int code = host_mpi().Win_delete_attr(window.handle, key);
    if (code == MPI_SUCCESS) continue;
    const Guard guard(runtime.lock);
    keys.push_back(key);
    return code;
  }
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_MPI_CALL(Win_set_attr)(MPI_Win win, int keyval, void* value) {
  return noted(
      "MPI_Win_set_attr", win, [&] { return host_mpi().Win_set_attr(win, keyval, value); },
      [&](UserState& user_state) {
        std::erase(user_state.attributes, keyval);
        user_state.attributes.push_back(keyval);
      });
}

ORIEL_MPI_CALL(Win_delete_attr)(MPI_Win win, int keyval) {
  return noted(
      "MPI_Win_delete_attr", win, [&] { return host_mpi().Win_delete_attr(win, keyval); },
      [&](UserState& user_state) { std::erase(user_state.attributes, keyval); });
}

ORIEL_MPI_CALL(Win_set_name)(MPI_Win win, const char* name) {
  return noted(
      "MPI_Win_set_name", win, [&] { return host_mpi().Win_set_name(win, name); },
      [&](UserState& user_state) { user_state.name = true; });
}

ORIEL_MPI_CALL(Win_set_errhandler)(MPI_Win win, MPI_Errhandler handler) {
  return noted(
      "MPI_Win_set_errhandler", win, [&] { return host_mpi().Win_set_errhandler(win, handler); },
      [&](UserState& user_state) { user_state.handler = true; });
}
