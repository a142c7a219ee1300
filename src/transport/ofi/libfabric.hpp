// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

namespace oriel {

/// The libfabric that is found at run time: the file that ORIEL_OFI_LIBRARY names; otherwise the
/// one that the host MPI has loaded, because two that load one provider's file crash when the
/// process ends; otherwise one that came with the host MPI; otherwise the system's. All other
/// functions are called through the objects that these few functions create.
struct Libfabric {
  int (*getinfo)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                 const fi_info* hints, fi_info** info) = nullptr;
  void (*freeinfo)(fi_info* info) = nullptr;
  fi_info* (*dupinfo)(const fi_info* info) = nullptr;
  int (*fabric)(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) = nullptr;
  const char* (*strerror)(int error) = nullptr;
  std::uint32_t (*version)() = nullptr;
  std::string path;

  /// Null if there is none; `error` is a sentence then. Loaded once, and never unloaded.
  static const Libfabric* load(std::string& error);

  std::string describe(long code) const {
    return strerror(static_cast<int>(code < 0 ? -code : code));
  }
};

}  // namespace oriel
