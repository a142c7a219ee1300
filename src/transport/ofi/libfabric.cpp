// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/libfabric.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "core/base/settings.hpp"
#include "transport/shm/descriptors.hpp"
#include "transport/shm/dynamic_library.hpp"

namespace oriel {
namespace {

constexpr const char* soname = "libfabric.so.1";

/// Paths of a libfabric beside the host's libmpi, or in a folder there, as in the hosts' wheels.
std::vector<std::string> beside_the_host() {
  std::vector<std::string> hosts;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        const std::string_view name = info->dlpi_name != nullptr ? info->dlpi_name : "";
        if (name.find("/libmpi") != std::string_view::npos) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        }
        return 0;
      },
      &hosts);
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& host : hosts) {
    const auto folder = std::filesystem::path(host).parent_path();
    for (const char* below : {"", "mpich", "openmpi", "libfabric/lib"}) {
      const auto candidate = folder / below / soname;
      if (std::filesystem::exists(candidate, ignored)) found.push_back(candidate.string());
    }
  }
  return found;
}

void* open_library(std::string& tried) {
  std::vector<std::string> names;
  if (const char* named = setting_text("ORIEL_OFI_LIBRARY"); *named != '\0') {
    names = {named};
  } else {
    if (void* loaded = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
    names = beside_the_host();
    names.emplace_back(soname);
  }
  for (const std::string& name : names) {
    if (void* opened = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
    const char* why = ::dlerror();
    tried += (tried.empty() ? "" : "; ") + std::string(why != nullptr ? why : name);
  }
  return nullptr;
}

}  // namespace

const Libfabric* Libfabric::load(std::string& error) {
  // libfabric opens descriptors now and for each connection.
  occupy_standard_descriptors();
  static Libfabric loaded;
  if (loaded.getinfo != nullptr) return &loaded;
  std::string tried;
  void* library = open_library(tried);
  if (library == nullptr) {
    error = "libfabric, which carries Oriel between nodes, was not found (" + tried +
            "); install it, or name its file with ORIEL_OFI_LIBRARY";
    return nullptr;
  }
  Libfabric found;
  if (!find_function(library, "fi_freeinfo", found.freeinfo) ||
      !find_function(library, "fi_dupinfo", found.dupinfo) ||
      !find_function(library, "fi_fabric", found.fabric) ||
      !find_function(library, "fi_strerror", found.strerror) ||
      !find_function(library, "fi_version", found.version) ||
      !find_function(library, "fi_getinfo", found.getinfo)) {
    error =
        std::string(soname) + " lacks functions of libfabric; name another with ORIEL_OFI_LIBRARY";
    return nullptr;
  }
  Dl_info file;
  if (::dladdr(reinterpret_cast<void*>(found.getinfo), &file) != 0 && file.dli_fname != nullptr) {
    found.path = file.dli_fname;
  }
  loaded = found;
  return &loaded;
}

}  // namespace oriel
