// SPDX-License-Identifier: BSD-3-Clause
// Categories of MPI_T: one of Oriel's, with all of its variables, behind the host's. The host's
// categories contain the host's variables, by the program's indices.
#include <algorithm>
#include <string_view>

#include "mpi/host/host_mpi.hpp"
#include "mpi/mpi_t/tool_interface.hpp"
#include "mpi/runtime/runtime.hpp"

using namespace oriel::mpi;
using oriel::Guard;

namespace {

constexpr std::string_view description =
    "One-sided communication by Oriel: what it counts, and its settings.";

struct Sizes {
  int cvars = 0;
  int pvars = 0;
  int categories = 0;
};

/// The numbers of the members of a host's category.
Sizes sizes_of(int category) {
  Sizes sizes;
  host_mpi().T_category_get_info(category, nullptr, nullptr, nullptr, nullptr, &sizes.cvars,
                                 &sizes.pvars, &sizes.categories);
  return sizes;
}

/// Lists the members of a category, for the kind of indices that the block is in. Oriel's category
/// has the first `own` indices of the block. A host's has those that host(index) lists, which are
/// translated to the program's indices.
template <typename Host>
int list(int category, int length, int* indices, const IndexBlock& block, int own,
         int Sizes::* number, const Host& host) {
  const auto [is_own, of_host] = resolve(tool_interface.categories, category);
  if (is_own) {
    const Guard guard(engine.lock);
    for (int i = 0; i < std::min(length, own); ++i) indices[i] = block.index_of(i);
    return MPI_SUCCESS;
  }
  const int code = host(of_host);
  if (code != MPI_SUCCESS || length <= 0) return code;
  const int listed = std::min(length, sizes_of(of_host).*number);
  const Guard guard(engine.lock);
  for (int i = 0; i < listed; ++i) indices[i] = block.from_host(indices[i]);
  return MPI_SUCCESS;
}

}  // namespace

ORIEL_MPI_CALL(T_category_get_num)(int* num_cat) {
  return get_number(tool_interface.categories, host_mpi().T_category_get_num, num_cat);
}

ORIEL_MPI_CALL(T_category_get_info)(int cat_index, char* name, int* name_len, char* desc,
                                    int* desc_len, int* num_cvars, int* num_pvars,
                                    int* num_categories) {
  const auto [own, position] = resolve(tool_interface.categories, cat_index);
  if (!own) {
    return host_mpi().T_category_get_info(position, name, name_len, desc, desc_len, num_cvars,
                                          num_pvars, num_categories);
  }
  const Guard guard(engine.lock);
  put_out(ToolInterface::category, name, name_len);
  put_out(description, desc, desc_len);
  put_out(num_cvars, tool_interface.cvars.size());
  put_out(num_pvars, tool_interface.pvars.size());
  put_out(num_categories, 0);
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_category_get_index)(const char* name, int* cat_index) {
  return get_index(
      tool_interface.categories,
      [&](int) { return name != nullptr && name == ToolInterface::category; },
      [&](int* index) { return host_mpi().T_category_get_index(name, index); }, cat_index);
}

ORIEL_MPI_CALL(T_category_get_cvars)(int cat_index, int len, int indices[]) {
  const IndexBlock& block = tool_interface.cvars;
  return list(cat_index, len, indices, block, block.size(), &Sizes::cvars,
              [&](int of_host) { return host_mpi().T_category_get_cvars(of_host, len, indices); });
}

ORIEL_MPI_CALL(T_category_get_pvars)(int cat_index, int len, int indices[]) {
  const IndexBlock& block = tool_interface.pvars;
  return list(cat_index, len, indices, block, block.size(), &Sizes::pvars,
              [&](int of_host) { return host_mpi().T_category_get_pvars(of_host, len, indices); });
}

ORIEL_MPI_CALL(T_category_get_categories)(int cat_index, int len, int indices[]) {
  const IndexBlock& block = tool_interface.categories;
  return list(cat_index, len, indices, block, 0, &Sizes::categories, [&](int of_host) {
    return host_mpi().T_category_get_categories(of_host, len, indices);
  });
}

#if ORIEL_HOST_TOOL_EVENTS

ORIEL_MPI_CALL(T_category_get_num_events)(int cat_index, int* num_events) {
  const auto [own, position] = resolve(tool_interface.categories, cat_index);
  if (!own) return host_mpi().T_category_get_num_events(position, num_events);
  put_out(num_events, 0);
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_category_get_events)(int cat_index, int len, int indices[]) {
  const auto [own, position] = resolve(tool_interface.categories, cat_index);
  return own ? MPI_SUCCESS : host_mpi().T_category_get_events(position, len, indices);
}

#endif
