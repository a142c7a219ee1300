// SPDX-License-Identifier: BSD-3-Clause
// Control variables of MPI_T: the settings, behind the host's variables. They are read-only,
// because the library reads most of them once, when the first window is made.
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "core/base/settings.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/mpi_t/tool_interface.hpp"
#include "mpi/runtime/runtime.hpp"

using namespace oriel::mpi;
using oriel::Guard;
using oriel::Setting;

namespace {

constexpr int most_characters = PATH_MAX;

bool is_text(const Setting& setting) {
  return setting.kind == std::string_view("text");
}

const Setting& setting_at(int position) {
  return oriel::settings()[static_cast<std::size_t>(position)];
}

// The handle of a setting is the address of the setting.
MPI_T_cvar_handle handle_of(const Setting& setting) {
  return reinterpret_cast<MPI_T_cvar_handle>(const_cast<Setting*>(&setting));
}
const Setting* find_setting(MPI_T_cvar_handle handle) {
  const std::span<const Setting> all = oriel::settings();
  const auto found =
      std::ranges::find_if(all, [&](const Setting& each) { return handle_of(each) == handle; });
  return found != all.end() ? &*found : nullptr;
}

/// False if MPI_T has ended. A handle may outlive it.
bool has_cvars() {
  const Guard guard(engine.lock);
  return tool_interface.cvars.size() != 0;
}

void read_setting(const Setting& setting, void* buffer) {
  if (is_text(setting)) {
    int length = most_characters;
    put_out(oriel::setting_text(setting.name), static_cast<char*>(buffer), &length);
    return;
  }
  const long whole = setting.kind == std::string_view("bool") ? oriel::setting_bool(setting.name)
                                                              : oriel::setting_int(setting.name);
  const int value = static_cast<int>(std::clamp<long>(whole, INT_MIN, INT_MAX));
  std::memcpy(buffer, &value, sizeof value);
}

}  // namespace

ORIEL_MPI_CALL(T_cvar_get_num)(int* num_cvar) {
  return get_number(tool_interface.cvars, host_mpi().T_cvar_get_num, num_cvar);
}

ORIEL_MPI_CALL(T_cvar_get_info)(int cvar_index, char* name, int* name_len, int* verbosity,
                                MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc,
                                int* desc_len, int* bind, int* scope) {
  const auto [own, position] = resolve(tool_interface.cvars, cvar_index);
  if (!own) {
    return host_mpi().T_cvar_get_info(position, name, name_len, verbosity, datatype, enumtype, desc,
                                      desc_len, bind, scope);
  }
  const Setting& setting = setting_at(position);
  const MPI_Datatype type = is_text(setting) ? MPI_CHAR : MPI_INT;
  put_out(setting.name, name, name_len);
  put_out(verbosity, int{MPI_T_VERBOSITY_USER_BASIC});
  put_out(datatype, type);
  put_out(enumtype, MPI_T_ENUM_NULL);
  put_out(setting.help, desc, desc_len);
  put_out(bind, int{MPI_T_BIND_NO_OBJECT});
  put_out(scope, int{MPI_T_SCOPE_READONLY});
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_cvar_get_index)(const char* name, int* cvar_index) {
  return get_index(
      tool_interface.cvars,
      [&](int position) {
        return name != nullptr && std::strcmp(setting_at(position).name, name) == 0;
      },
      [&](int* index) { return host_mpi().T_cvar_get_index(name, index); }, cvar_index);
}

ORIEL_MPI_CALL(T_cvar_handle_alloc)(int cvar_index, void* obj_handle, MPI_T_cvar_handle* handle,
                                    int* count) {
  const auto [own, position] = resolve(tool_interface.cvars, cvar_index);
  if (!own) return host_mpi().T_cvar_handle_alloc(position, obj_handle, handle, count);
  const Setting& setting = setting_at(position);
  *handle = handle_of(setting);
  put_out(count, is_text(setting) ? most_characters : 1);
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_cvar_handle_free)(MPI_T_cvar_handle* handle) {
  if (handle == nullptr || find_setting(*handle) == nullptr) {
    return host_mpi().T_cvar_handle_free(handle);
  }
  if (!has_cvars()) return MPI_T_ERR_NOT_INITIALIZED;
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_cvar_read)(MPI_T_cvar_handle handle, void* buf) {
  const Setting* setting = find_setting(handle);
  if (setting == nullptr) return host_mpi().T_cvar_read(handle, buf);
  if (!has_cvars()) return MPI_T_ERR_NOT_INITIALIZED;
  read_setting(*setting, buf);
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_cvar_write)(MPI_T_cvar_handle handle, const void* buf) {
  if (find_setting(handle) != nullptr) {
    return has_cvars() ? MPI_T_ERR_CVAR_SET_NEVER : MPI_T_ERR_NOT_INITIALIZED;
  }
  return host_mpi().T_cvar_write(handle, buf);
}
