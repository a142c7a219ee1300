// SPDX-License-Identifier: BSD-3-Clause
// Attributes of windows: predefined ones, and what the program leaves on the host's window behind a
// handle, which is noted on its way to the host, since nobody can ask which attributes a window
// has.
#include "boundary/windows/attributes.hpp"

#include <oriel/oriel.h>

#include <cstring>
#include <vector>

#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
namespace {

/// Changes what is known of the program's doings on the host's window behind a handle.
template <typename Change>
void update_user_state(MPI_Win handle, Change&& change) {
  const Guard guard(runtime.lock);
  if (WindowHandle* window = runtime.windows.find(handle_key(handle))) change(window->user_state);
}

/// What call() has done to a window is noted once the host has taken it.
template <typename Call, typename Note>
int noted(const char* name, MPI_Win handle, Call&& call, Note&& note) {
  const int code = pass_to_host(name, handle, call);
  if (code == MPI_SUCCESS) update_user_state(handle, note);
  return code;
}

bool is_notification_key(int keyval) {
  return keyval >= ORIEL_WIN_NOTIFICATION_NUM_SB && keyval <= ORIEL_WIN_NOTIFICATION_VALUE_UB;
}

template <typename Value>
PredefinedAttribute make_predefined(Value& value) {
  return {&value, static_cast<MPI_Aint>(value)};
}

MPI_Count no_counters = 0;  // also as an int

}  // namespace

std::optional<PredefinedAttribute> predefined_attribute(MPI_Win handle, int keyval) {
  const Guard guard(runtime.lock);
  WindowHandle* window = runtime.windows.find(handle_key(handle));
  if (window == nullptr) {
    if (is_notification_key(keyval)) return make_predefined(no_counters);
    return std::nullopt;
  }
  switch (keyval) {
    case MPI_WIN_BASE:
      return PredefinedAttribute{window->base, reinterpret_cast<MPI_Aint>(window->base)};
    case MPI_WIN_SIZE:
      return make_predefined(window->size);
    case MPI_WIN_DISP_UNIT:
      return make_predefined(window->disp_unit);
    case MPI_WIN_CREATE_FLAVOR:
      return make_predefined(window->flavor);
    case MPI_WIN_MODEL:
      return make_predefined(window->model);
    case ORIEL_WIN_NOTIFICATION_NUM_SB:
      return make_predefined(window->suggested_counters);
    case ORIEL_WIN_NOTIFICATION_NUM_UB:
      return make_predefined(window->most_counters);
    case ORIEL_WIN_NOTIFICATION_VALUE_UB:
      return make_predefined(window->largest_count);
    default:
      return std::nullopt;
  }
}

void note_attribute(MPI_Win handle, int keyval) {
  update_user_state(handle, [&](UserState& user_state) {
    std::erase(user_state.attributes, keyval);
    user_state.attributes.push_back(keyval);
  });
}

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

ORIEL_MPI_CALL(Win_get_attr)(MPI_Win win, int keyval, void* value, int* flag) {
  const std::optional<PredefinedAttribute> found = predefined_attribute(win, keyval);
  if (!found) {
    return pass_to_host("MPI_Win_get_attr", win,
                        [&] { return host_mpi().Win_get_attr(win, keyval, value, flag); });
  }
  if (const Failure bad = check_outputs(value, flag)) return raise(win, "MPI_Win_get_attr", bad);
  std::memcpy(value, &found->address, sizeof found->address);
  *flag = 1;
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(Win_set_attr)(MPI_Win win, int keyval, void* value) {
  const int code = pass_to_host("MPI_Win_set_attr", win,
                                [&] { return host_mpi().Win_set_attr(win, keyval, value); });
  if (code == MPI_SUCCESS) note_attribute(win, keyval);
  return code;
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
