// SPDX-License-Identifier: BSD-3-Clause
#include "support/fake_host.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>

using oriel::test::fake_tools;

namespace oriel::test {

FakeTools& fake_tools() {
  static FakeTools tools;
  return tools;
}

}  // namespace oriel::test

namespace {

int count(int number, int* out) {
  *out = number;
  return MPI_SUCCESS;
}

int describe(const char* kind, int number, int index, char* name, int* length) {
  if (index < 0 || index >= number) return MPI_T_ERR_INVALID_INDEX;
  if (length == nullptr) return MPI_SUCCESS;
  *length = 1 + std::snprintf(name, static_cast<std::size_t>(*length), "%s_%d", kind, index);
  return MPI_SUCCESS;
}

int find(const char* kind, int number, const std::string& name, int* index) {
  for (int i = 0; i < number; ++i) {
    if (name != std::string(kind) + '_' + std::to_string(i)) continue;
    *index = i;
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int list(int category, int number, int length, int* indices) {
  if (category < 0 || category >= fake_tools().categories) return MPI_T_ERR_INVALID_INDEX;
  std::iota(indices, indices + std::min(number, length), 0);
  return MPI_SUCCESS;
}

/// A handle that is not null. Its address is not used.
template <typename Handle>
Handle make_handle(int number) {
  static char places[64];
  return reinterpret_cast<Handle>(places + number);
}

}  // namespace

extern "C" {

static MPI_T_pvar_handle const all_handles = make_handle<MPI_T_pvar_handle>(63);
struct MPIR_T_pvar_handle_s* const MPI_T_PVAR_ALL_HANDLES = all_handles;

int PMPI_T_init_thread(int required, int* provided) {
  return count(required, provided);
}
int PMPI_T_finalize() {
  return MPI_SUCCESS;
}

int PMPI_T_cvar_get_num(int* number) {
  return count(fake_tools().cvars, number);
}
int PMPI_T_cvar_get_info(int index, char* name, int* length, int*, MPI_Datatype*, MPI_T_enum*,
                         char*, int*, int*, int*) {
  return describe("cvar", fake_tools().cvars, index, name, length);
}
int PMPI_T_cvar_get_index(const char* name, int* index) {
  return find("cvar", fake_tools().cvars, name, index);
}
int PMPI_T_cvar_handle_alloc(int index, void*, MPI_T_cvar_handle* handle, int* number) {
  *handle = make_handle<MPI_T_cvar_handle>(index);
  return count(1, number);
}
int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buffer) {
  *static_cast<MPI_T_cvar_handle*>(buffer) = handle;
  return MPI_SUCCESS;
}
int PMPI_T_cvar_write(MPI_T_cvar_handle, const void*) {
  return MPI_SUCCESS;
}

int PMPI_T_pvar_get_num(int* number) {
  return count(fake_tools().pvars, number);
}
int PMPI_T_pvar_get_info(int index, char* name, int* length, int*, int*, MPI_Datatype*, MPI_T_enum*,
                         char*, int*, int*, int*, int*, int*) {
  return describe("pvar", fake_tools().pvars, index, name, length);
}
int PMPI_T_pvar_get_index(const char* name, int, int* index) {
  return find("pvar", fake_tools().pvars, name, index);
}
int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
  static int sessions = 32;
  *session = make_handle<MPI_T_pvar_session>(sessions++);
  return MPI_SUCCESS;
}
int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}
int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session, int index, void*, MPI_T_pvar_handle* handle,
                             int* number) {
  if (index < 0 || index >= fake_tools().pvars) return MPI_T_ERR_INVALID_INDEX;
  *handle = make_handle<MPI_T_pvar_handle>(index);
  return count(1, number);
}
int PMPI_T_pvar_handle_free(MPI_T_pvar_session, MPI_T_pvar_handle* handle) {
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
int PMPI_T_pvar_start(MPI_T_pvar_session, MPI_T_pvar_handle handle) {
  fake_tools().started = handle;
  return MPI_SUCCESS;
}
int PMPI_T_pvar_stop(MPI_T_pvar_session, MPI_T_pvar_handle) {
  return MPI_SUCCESS;
}
int PMPI_T_pvar_read(MPI_T_pvar_session, MPI_T_pvar_handle handle, void* buffer) {
  *static_cast<MPI_T_pvar_handle*>(buffer) = handle;
  return MPI_SUCCESS;
}
int PMPI_T_pvar_write(MPI_T_pvar_session, MPI_T_pvar_handle, const void*) {
  return MPI_SUCCESS;
}
int PMPI_T_pvar_reset(MPI_T_pvar_session, MPI_T_pvar_handle) {
  return MPI_SUCCESS;
}
int PMPI_T_pvar_readreset(MPI_T_pvar_session, MPI_T_pvar_handle, void*) {
  return MPI_SUCCESS;
}

int PMPI_T_category_get_num(int* number) {
  return count(fake_tools().categories, number);
}
int PMPI_T_category_get_info(int index, char* name, int* length, char*, int*, int* cvars,
                             int* pvars, int* categories) {
  if (cvars != nullptr) *cvars = fake_tools().cvars;
  if (pvars != nullptr) *pvars = fake_tools().pvars;
  if (categories != nullptr) *categories = fake_tools().categories;
  return describe("category", fake_tools().categories, index, name, length);
}
int PMPI_T_category_get_index(const char* name, int* index) {
  return find("category", fake_tools().categories, name, index);
}
int PMPI_T_category_get_cvars(int category, int length, int indices[]) {
  return list(category, fake_tools().cvars, length, indices);
}
int PMPI_T_category_get_pvars(int category, int length, int indices[]) {
  return list(category, fake_tools().pvars, length, indices);
}
int PMPI_T_category_get_categories(int category, int length, int indices[]) {
  return list(category, fake_tools().categories, length, indices);
}
int PMPI_T_category_get_num_events(int category, int* number) {
  return count(category, number);
}
int PMPI_T_category_get_events(int category, int length, int indices[]) {
  return list(category, category, length, indices);
}

}  // extern "C"
