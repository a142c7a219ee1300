// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/libfabric.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/base/settings.hpp"
#include "transport/shm/descriptors.hpp"
#include "transport/shm/dynamic_library.hpp"

namespace oriel {
namespace {

constexpr const char* soname = "libfabric.so.1";

/// The files of the libraries that this process has loaded.
std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        if (info->dlpi_name != nullptr) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &files);
  return files;
}

/// Paths of a libfabric beside the host's libmpi, or in a folder there, as in the hosts' wheels.
std::vector<std::string> beside_the_host() {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& host : loaded_files()) {
    if (host.find("/libmpi") == std::string::npos) continue;
    const auto folder = std::filesystem::path(host).parent_path();
    for (const char* below : {"", "mpich", "openmpi", "libfabric/lib"}) {
      const auto candidate = folder / below / soname;
      if (std::filesystem::exists(candidate, ignored)) found.push_back(candidate.string());
    }
  }
  return found;
}

/// A provider's file that another libfabric of this process has loaded; empty: there is none. Every
/// libfabric finds it by its name or by FI_PROVIDER_PATH. Two libfabrics that load a provider both
/// clean it up when the process ends, and the second one crashes.
std::string shared_provider(const std::string& library) {
  // Another name: a library that calls the libfabric of the host.
  if (!std::filesystem::path(library).filename().string().starts_with("libfabric.so")) return {};
  const std::vector<std::string> files = loaded_files();
  const auto found =
      std::ranges::find_if(files, [](const std::string& file) { return file.ends_with("-fi.so"); });
  return found != files.end() ? *found : std::string();
}

void* open_library(bool& loaded_before, std::string& tried) {
  std::vector<std::string> names;
  const auto open_loaded = [&](const char* name) {
    void* loaded = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    loaded_before = loaded != nullptr;
    return loaded;
  };
  const char* named = setting_text("ORIEL_OFI_LIBRARY");
  const bool chosen = *named != '\0';
  if (void* loaded = open_loaded(chosen ? named : soname)) return loaded;
  if (chosen) {
    names = {named};
  } else {
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
  static std::string refusal;  // once a library is refused, it counts as loaded
  if (loaded.getinfo != nullptr) return &loaded;
  if (!refusal.empty()) {
    error = refusal;
    return nullptr;
  }
  std::string tried;
  bool loaded_before = false;
  void* library = open_library(loaded_before, tried);
  if (library == nullptr) {
    error = "libfabric, which Oriel needs between nodes, was not found (" + tried +
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
  if (const std::string shared = shared_provider(found.path); !loaded_before && !shared.empty()) {
    const bool chosen = *setting_text("ORIEL_OFI_LIBRARY") != '\0';
    error = refusal = "libfabric (" + found.path + ") would use the provider " + shared +
                      ", which another libfabric of this process has loaded, and the process would "
                      "crash at its end; " +
                      (chosen ? "unset ORIEL_OFI_LIBRARY, or name the other libfabric with it"
                              : "name the other libfabric with ORIEL_OFI_LIBRARY");
    return nullptr;
  }
  loaded = found;
  return &loaded;
}

}  // namespace oriel
