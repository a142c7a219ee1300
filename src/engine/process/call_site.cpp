// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/call_site.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <climits>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace oriel {
namespace {

/// The address range of this library's code.
struct OwnCode {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  OwnCode() { ::dl_iterate_phdr(look, this); }
  bool contains(std::uintptr_t address) const { return address - begin < end - begin; }

 private:
  /// Finds the segment that contains this function's own code.
  static int look(dl_phdr_info* file, std::size_t, void* argument) {
    OwnCode& own = *static_cast<OwnCode*>(argument);
    for (int i = 0; i < file->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = file->dlpi_phdr[i];
      own.begin = file->dlpi_addr + segment.p_vaddr;
      own.end = own.begin + segment.p_memsz;
      if (segment.p_type == PT_LOAD && own.contains(reinterpret_cast<std::uintptr_t>(&look))) {
        return 1;
      }
    }
    own.begin = own.end = 0;
    return 0;
  }
};

struct Walk {
  CallFrames frames;
  std::size_t callers = 0;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  static const OwnCode own;
  Walk& walk = *static_cast<Walk*>(argument);
  int before = 0;
  // The return address may belong to the next line, or to another function: use the byte before it.
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before) - (before == 0 ? 1 : 0);
  if (walk.callers == 0 && own.contains(address)) {
    walk.frames.call = address;
    return _URC_NO_REASON;
  }
  walk.frames.callers[walk.callers++] = address;
  return walk.callers == walk.frames.callers.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// True for libraries between Oriel and the program: an MPI's Fortran layer, mpi4py.
bool forwards(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libmpi") || name.starts_with("libpmpi") || name.starts_with("MPI.");
}

/// The path of the file. The name of the executable is the one it was called by, which need not be
/// a path.
std::string file_of(const Dl_info& where, const link_map& mapped) {
  char path[PATH_MAX];
  if (*mapped.l_name != '\0') return where.dli_fname;
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : where.dli_fname;
}

/// The exported name of a call. Its MPI_ and PMPI_ symbols have one address; this is the MPI_ one.
std::string call_name(std::string_view symbol) {
  const bool profiling = symbol.starts_with("PMPI_") || symbol.starts_with("PORIEL_");
  return std::string(symbol.substr(profiling ? 1 : 0));
}

std::string readable(const char* symbol) {
  int status = 0;
  char* plain = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : symbol;
  std::free(plain);
  return name;
}

}  // namespace

CallFrames CallFrames::of_this_thread() {
  Walk walk;
  _Unwind_Backtrace(step, &walk);
  return walk.frames;
}

CallSite::CallSite(const CallFrames& frames) {
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(frames.call), &where) != 0 && where.dli_sname != nullptr) {
    call = call_name(where.dli_sname);
  }
  std::vector<CodePlace> forwarders;
  for (const std::uintptr_t caller : frames.callers) {
    link_map* mapped = nullptr;
    if (caller == 0 ||
        ::dladdr1(reinterpret_cast<void*>(caller), &where, reinterpret_cast<void**>(&mapped),
                  RTLD_DL_LINKMAP) == 0 ||
        where.dli_fname == nullptr) {
      continue;
    }
    CodePlace place{file_of(where, *mapped),
                    where.dli_sname != nullptr ? readable(where.dli_sname) : "",
                    caller - mapped->l_addr};
    (forwards(where.dli_fname) ? forwarders : callers).push_back(std::move(place));
  }
  // If all callers forward calls, keep them.
  if (callers.empty()) callers = std::move(forwarders);
}

}  // namespace oriel
