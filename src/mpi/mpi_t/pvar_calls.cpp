// SPDX-License-Identifier: BSD-3-Clause
// Performance variables of MPI_T: Oriel's, behind the host's. A session of the program is a session
// of the host, and may have handles of both.
#include <cstddef>

#include "mpi/host/host_mpi.hpp"
#include "mpi/mpi_t/pvars.hpp"
#include "mpi/mpi_t/tool_interface.hpp"
#include "mpi/runtime/runtime.hpp"

using namespace oriel::mpi;
using oriel::Guard;

namespace {

const Pvar& pvar_at(int position) {
  return pvars()[static_cast<std::size_t>(position)];
}

/// Carries out a call on a handle: ours(handle) if it is one of Oriel's, otherwise host().
template <typename Ours, typename Host>
int dispatch(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Ours&& ours, Host&& host) {
  {
    const Guard guard(engine.lock);
    if (PvarHandle* own = pvar_handles.find(handle)) {
      return own->session == session ? ours(*own) : MPI_T_ERR_INVALID_HANDLE;
    }
  }
  return host();
}

/// Carries out a call on a handle or on all handles of the session. In the latter case the host's
/// handles come first, and the call returns the host's code.
template <typename Ours, typename Host>
int dispatch_all(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Ours&& ours, Host&& host) {
  if (handle != all_pvar_handles()) return dispatch(session, handle, ours, host);
  const int code = host();
  const Guard guard(engine.lock);
  pvar_handles.for_all_counters(session, ours);
  return code;
}

}  // namespace

ORIEL_MPI_CALL(T_pvar_get_num)(int* num_pvar) {
  return get_number(tool_interface.pvars, host_mpi().T_pvar_get_num, num_pvar);
}

ORIEL_MPI_CALL(T_pvar_get_info)(int pvar_index, char* name, int* name_len, int* verbosity,
                                int* var_class, MPI_Datatype* datatype, MPI_T_enum* enumtype,
                                char* desc, int* desc_len, int* bind, int* readonly,
                                int* continuous, int* atomic) {
  const auto [own, position] = resolve(tool_interface.pvars, pvar_index);
  if (!own) {
    return host_mpi().T_pvar_get_info(position, name, name_len, verbosity, var_class, datatype,
                                      enumtype, desc, desc_len, bind, readonly, continuous, atomic);
  }
  const Pvar& pvar = pvar_at(position);
  put_out(pvar.name, name, name_len);
  put_out(verbosity, int{MPI_T_VERBOSITY_TUNER_BASIC});
  put_out(var_class, pvar.variable_class);
  put_out(datatype, pvar.datatype());
  put_out(enumtype, MPI_T_ENUM_NULL);
  put_out(pvar.description, desc, desc_len);
  put_out(bind, pvar.binding);
  put_out(readonly, int{pvar.level()});
  put_out(continuous, int{pvar.level()});
  put_out(atomic, int{!pvar.level()});
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_pvar_get_index)(const char* name, int var_class, int* pvar_index) {
  return get_index(
      tool_interface.pvars,
      [&](int position) {
        const Pvar& pvar = pvar_at(position);
        return name != nullptr && pvar.name == name && pvar.variable_class == var_class;
      },
      [&](int* index) { return host_mpi().T_pvar_get_index(name, var_class, index); }, pvar_index);
}

ORIEL_MPI_CALL(T_pvar_session_create)(MPI_T_pvar_session* session) {
  const int code = host_mpi().T_pvar_session_create(session);
  if (code != MPI_SUCCESS) return code;
  const Guard guard(engine.lock);
  pvar_handles.begin_session(*session);
  return MPI_SUCCESS;
}

// Oriel's handles are freed first: when the host has freed the session, another thread may get it.
ORIEL_MPI_CALL(T_pvar_session_free)(MPI_T_pvar_session* session) {
  if (session != nullptr) {
    const Guard guard(engine.lock);
    pvar_handles.end_session(*session);
  }
  return host_mpi().T_pvar_session_free(session);
}

ORIEL_MPI_CALL(T_pvar_handle_alloc)(MPI_T_pvar_session session, int pvar_index, void* obj_handle,
                                    MPI_T_pvar_handle* handle, int* count) {
  const auto [own, position] = resolve(tool_interface.pvars, pvar_index);
  if (!own) return host_mpi().T_pvar_handle_alloc(session, position, obj_handle, handle, count);
  put_out(count, 1);
  const Guard guard(engine.lock);
  return pvar_handles.allocate(session, pvar_at(position), obj_handle, handle);
}

ORIEL_MPI_CALL(T_pvar_handle_free)(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  const auto host = [&] { return host_mpi().T_pvar_handle_free(session, handle); };
  if (handle == nullptr) return host();
  const auto ours = [&](PvarHandle&) {
    pvar_handles.free(*handle);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  };
  return dispatch(session, *handle, ours, host);
}

ORIEL_MPI_CALL(T_pvar_start)(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return dispatch_all(
      session, handle, [](PvarHandle& own) { return pvar_handles.start(own); },
      [&] { return host_mpi().T_pvar_start(session, handle); });
}

ORIEL_MPI_CALL(T_pvar_stop)(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return dispatch_all(
      session, handle, [](PvarHandle& own) { return pvar_handles.stop(own); },
      [&] { return host_mpi().T_pvar_stop(session, handle); });
}

ORIEL_MPI_CALL(T_pvar_read)(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  return dispatch(
      session, handle, [&](const PvarHandle& own) { return pvar_handles.read(own, buf); },
      [&] { return host_mpi().T_pvar_read(session, handle, buf); });
}

ORIEL_MPI_CALL(T_pvar_write)(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                             const void* buf) {
  return dispatch(
      session, handle, [&](PvarHandle& own) { return pvar_handles.write(own, buf); },
      [&] { return host_mpi().T_pvar_write(session, handle, buf); });
}

ORIEL_MPI_CALL(T_pvar_reset)(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return dispatch_all(
      session, handle, [](PvarHandle& own) { return pvar_handles.reset(own); },
      [&] { return host_mpi().T_pvar_reset(session, handle); });
}

ORIEL_MPI_CALL(T_pvar_readreset)(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  const auto ours = [&](PvarHandle& own) -> int {
    if (own.pvar->level()) return MPI_T_ERR_PVAR_NO_WRITE;
    pvar_handles.read(own, buf);
    return pvar_handles.reset(own);
  };
  return dispatch(session, handle, ours,
                  [&] { return host_mpi().T_pvar_readreset(session, handle, buf); });
}
