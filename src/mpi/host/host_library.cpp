// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/host_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <string>
#include <vector>

namespace oriel::mpi {
namespace {

/// Each MPI library defines it, and Oriel does not.
constexpr const char* mark = "PMPI_Get_processor_name";
// An undefined symbol to which nothing refers, so that the loader does not look for it. A linker
// with --as-needed links a program with its MPI library for it, although Oriel may define all calls
// of MPI that the program makes.
__asm__(".globl PMPI_Get_processor_name");

struct Library {
  std::string file;
  void* opened;  // by dlopen(), and never closed
};

std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
          static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &files);
  return files;
}

/// The loader's record of the library that has this address. dlopen() returns it as its handle.
const void* library_at(const void* address) {
  Dl_info found{};
  void* library = nullptr;
  return ::dladdr1(address, &found, &library, RTLD_DL_LINKMAP) != 0 ? library : nullptr;
}

/// The MPI libraries of this process. Opened outside of dl_iterate_phdr(), which holds a lock of
/// the loader.
std::vector<Library> mpi_libraries() {
  const void* const own = library_at(reinterpret_cast<const void*>(&mpi_libraries));
  std::vector<Library> found;
  for (const std::string& file : loaded_files()) {
    void* opened = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (opened == nullptr) continue;  // an object of the kernel's
    const void* const defined = opened != own ? ::dlsym(opened, mark) : nullptr;
    // dlsym() also searches the libraries that this one needs.
    if (defined != nullptr && library_at(defined) == opened) {
      found.push_back({file, opened});
    } else {
      ::dlclose(opened);
    }
  }
  return found;
}

/// Null: there is none, or several.
void* mpi_library() {
  static std::atomic<void*> known{nullptr};
  if (void* const library = known.load(std::memory_order_acquire)) return library;
  const std::vector<Library> found = mpi_libraries();
  if (found.size() != 1) return nullptr;
  known.store(found[0].opened, std::memory_order_release);
  return found[0].opened;
}

}  // namespace

bool host_loaded() {
  return mpi_library() != nullptr;
}

std::string why_no_host() {
  const std::vector<Library> found = mpi_libraries();
  if (found.size() < 2) {
    return "the process has called MPI and has loaded no MPI library; link the program with one, "
           "or "
           "open one before the first call";
  }
  return "the process has loaded two MPI libraries, " + found[0].file + " and " + found[1].file +
         "; link the program and all of its libraries with one of them";
}

void* find_host_symbol(const char* name) {
  if (void* const found = ::dlsym(RTLD_NEXT, name)) return found;
  void* const library = mpi_library();
  return library != nullptr ? ::dlsym(library, name) : nullptr;
}

void* find_host_variable(const char* name) {
  if (void* const found = ::dlsym(RTLD_DEFAULT, name)) return found;
  void* const library = mpi_library();
  return library != nullptr ? ::dlsym(library, name) : nullptr;
}

}  // namespace oriel::mpi
