// SPDX-License-Identifier: BSD-3-Clause
// Attributes of windows: predefined ones, and those that the program sets (G6).
#include "mpi/windows/attributes.hpp"

#include <oriel/oriel.h>

#include <algorithm>
#include <cstring>

#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

bool is_notification_key(int keyval) {
  return keyval >= ORIEL_WIN_NOTIFICATION_NUM_SB && keyval <= ORIEL_WIN_NOTIFICATION_VALUE_UB;
}

template <typename Value>
AttributeValue make_predefined(Value& value) {
  return {&value, static_cast<MPI_Aint>(value)};
}

MPI_Count no_counters = 0;  // also as an int

std::optional<AttributeValue> predefined_attribute(WindowHandle& window, int keyval) {
  switch (keyval) {
    case MPI_WIN_BASE:
      return AttributeValue{window.base, reinterpret_cast<MPI_Aint>(window.base)};
    case MPI_WIN_SIZE:
      return make_predefined(window.size);
    case MPI_WIN_DISP_UNIT:
      return make_predefined(window.disp_unit);
    case MPI_WIN_CREATE_FLAVOR:
      return make_predefined(window.flavor);
    case MPI_WIN_MODEL:
      return make_predefined(window.model);
    case ORIEL_WIN_NOTIFICATION_NUM_SB:
      return make_predefined(window.suggested_counters);
    case ORIEL_WIN_NOTIFICATION_NUM_UB:
      return make_predefined(window.most_counters);
    case ORIEL_WIN_NOTIFICATION_VALUE_UB:
      return make_predefined(window.largest_count);
    default:
      return std::nullopt;
  }
}

Attribute* find_set(WindowHandle& window, int keyval) {
  std::list<Attribute>& all = window.user_state.attributes;
  const auto found = std::ranges::find(all, keyval, &Attribute::keyval);
  return found != all.end() ? &*found : nullptr;
}

const Failure no_keyval{MPI_ERR_KEYVAL,
                        "the key is not one that MPI_Win_create_keyval has returned"};

/// Calls the attribute's delete callback, and removes the attribute unless the callback has set it
/// again. Returns the callback's code; if it is an error, nothing has changed.
int delete_attribute(MPI_Win handle, int keyval) {
  const auto find = [&] { return find_set(*runtime.windows.find(handle_key(handle)), keyval); };
  Attribute attribute;
  {
    const Guard guard(engine.lock);
    Attribute* const set = find();
    if (set == nullptr || set->being_deleted) return MPI_SUCCESS;
    attribute = *set;  // a callback may set another value
    set->being_deleted = true;
  }
  const DeleteCallback callback = runtime.keyvals.find(keyval).value_or(DeleteCallback());
  const int code = callback.call(handle, attribute);
  {
    const Guard guard(engine.lock);
    Attribute* const set = find();
    if (set == nullptr || !set->being_deleted) return MPI_SUCCESS;
    set->being_deleted = false;
    if (code != MPI_SUCCESS) return code;
    runtime.windows.find(handle_key(handle))
        ->user_state.attributes.remove_if([&](const Attribute& each) { return &each == set; });
  }
  runtime.keyvals.release(keyval);
  return MPI_SUCCESS;
}

/// Returns false if the previous value must be deleted first.
bool try_to_set(WindowHandle& window, const Attribute& wanted, bool& held) {
  if (Attribute* before = find_set(window, wanted.keyval)) {
    if (!before->being_deleted) return false;
    *before = wanted;
  } else {
    window.user_state.attributes.push_back(wanted);
    held = false;
  }
  return true;
}

}  // namespace

FoundAttribute find_attribute(MPI_Win handle, int keyval) {
  const Guard guard(engine.lock);
  WindowHandle* window = runtime.windows.find(handle_key(handle));
  if (window == nullptr) {
    const bool freed = HandleValues::contains(handle);
    if (!is_notification_key(keyval) || freed || handle == MPI_WIN_NULL) return {.answered = false};
    return {.value = make_predefined(no_counters)};
  }
  if (const auto predefined = predefined_attribute(*window, keyval)) return {.value = predefined};
  Attribute* set = find_set(*window, keyval);
  if (set == nullptr) return {.failure = runtime.keyvals.find(keyval) ? Failure() : no_keyval};
  return {.value = AttributeValue{set->in_c(), set->value}};
}

int set_own_attribute(MPI_Win handle, const Attribute& attribute) {
  const int keyval = attribute.keyval;
  // Held until the attribute is set: the delete callback of the previous value may free the key.
  bool held = runtime.keyvals.hold(keyval);
  if (!held) return raise(handle, "MPI_Win_set_attr", no_keyval);
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS) {
    {
      const Guard guard(engine.lock);
      if (try_to_set(*runtime.windows.find(handle_key(handle)), attribute, held)) break;
    }
    code = delete_attribute(handle, keyval);
  }
  if (held) runtime.keyvals.release(keyval);
  return code == MPI_SUCCESS ? code : raise(handle, code);
}

int delete_own_attribute(MPI_Win handle, int keyval) {
  if (!runtime.keyvals.find(keyval)) return raise(handle, "MPI_Win_delete_attr", no_keyval);
  const int code = delete_attribute(handle, keyval);
  return code == MPI_SUCCESS ? code : raise(handle, code);
}

int delete_attributes(MPI_Win handle) {
  while (true) {
    int keyval;
    {
      const Guard guard(engine.lock);
      const auto& all = runtime.windows.find(handle_key(handle))->user_state.attributes;
      const auto last = std::find_if_not(all.rbegin(), all.rend(),
                                         [](const Attribute& each) { return each.being_deleted; });
      if (last == all.rend()) return MPI_SUCCESS;
      keyval = last->keyval;
    }
    if (const int code = delete_attribute(handle, keyval); code != MPI_SUCCESS) {
      return raise(handle, code);
    }
  }
}

}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_MPI_CALL(Win_get_attr)(MPI_Win win, int keyval, void* value, int* flag) {
  return get_attribute(
      win, keyval, value, flag,
      [&](const AttributeValue& found) {
        std::memcpy(value, &found.address, sizeof found.address);
      },
      [&] { return host_mpi().Win_get_attr(win, keyval, value, flag); });
}

ORIEL_MPI_CALL(Win_set_attr)(MPI_Win win, int keyval, void* value) {
  return set_attribute(win, {.keyval = keyval, .value = reinterpret_cast<MPI_Aint>(value)},
                       [&] { return host_mpi().Win_set_attr(win, keyval, value); });
}

ORIEL_MPI_CALL(Win_delete_attr)(MPI_Win win, int keyval) {
  if (names_window(win)) return delete_own_attribute(win, keyval);
  return pass_to_host("MPI_Win_delete_attr", win,
                      [&] { return host_mpi().Win_delete_attr(win, keyval); });
}

ORIEL_MPI_CALL(Win_create_keyval)
(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* erase, int* keyval, void* state) {
  const int code = host_mpi().Win_create_keyval(copy, erase, keyval, state);
  if (code == MPI_SUCCESS) runtime.keyvals.record(*keyval, {erase, state});
  return code;
}

ORIEL_MPI_CALL(Win_free_keyval)(int* keyval) {
  return runtime.keyvals.free(keyval);
}
