// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <memory>
#include <string>

namespace oriel {

/// libfabric as it is found at run time: the one that ORIEL_OFI_LIBRARY names; else the one that
/// the host MPI has loaded, because two cannot live in one process; else one that came with the
/// host MPI; else the system's. Everything but these few functions is called through the objects
/// that they make.
struct Libfabric {
  int (*getinfo)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                 const fi_info* hints, fi_info** info) = nullptr;
  void (*freeinfo)(fi_info* info) = nullptr;
  fi_info* (*dupinfo)(const fi_info* info) = nullptr;
  int (*fabric)(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) = nullptr;
  const char* (*strerror)(int error) = nullptr;
  std::uint32_t (*version)() = nullptr;
  std::string path;

  /// Null if there is none, and `error` is a sentence. Loaded once, and never unloaded.
  static const Libfabric* load(std::string& error);

  std::string describe(long code) const {
    return strerror(static_cast<int>(code < 0 ? -code : code));
  }
};

}  // namespace oriel
