// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/operation/layout.hpp"
#include "engine/process/handle_table.hpp"
#include "engine/process/process_lock.hpp"
#include "mpi/datatypes/flatten.hpp"
#include "mpi/datatypes/predefined_types.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/self_comm.hpp"

namespace oriel::mpi {

/// The datatypes that operations have used. Predefined ones are resolved once; derived ones are
/// flattened at first use and forgotten when the host frees them.
class Datatypes {
 public:
  /// The properties of one datatype.
  struct Known {
    LayoutRef layout;    // exact: for put and get
    LayoutRef elements;  // for accumulates: a pair type's element is one run, gaps included
    const PredefinedType* basic = nullptr;  // the only type that it is made of; null: mixed
    bool predefined = false;  // also if made by MPI_Type_create_f90_integer, _real or _complex
  };

  /// `self`: a communicator for the host's own checks; `lock`: the process lock.
  void start(const SelfComm& self, ProcessLock& lock);

  /// Without the process lock. Null: the type has not been used yet; call find_committed().
  const Known* find_known(MPI_Datatype type) const { return known_.find(handle_key(type)); }
  /// With the process lock. Null: not a committed datatype, as far as the host can detect that.
  const Known* find_committed(MPI_Datatype type) {
    const Known* known = find_known(type);
    return known != nullptr ? known : add(type);
  }
  /// Called before the program frees the type. With the process lock.
  void watch_freed(MPI_Datatype type);
  /// Forgets all datatypes.
  void stop();

 private:
  const Known* add(MPI_Datatype type);
  const Known* remember(const PredefinedType& type);
  const Known* find_predefined(MPI_Datatype type);
  Flat leaf(MPI_Datatype type, int combiner, bool whole_elements);
  bool committed(MPI_Datatype type) const;
  bool watch(MPI_Datatype type);
  static int forget(MPI_Datatype type, int keyval, void* value, void* lock);

  HandleTable<const Known> known_;  // all entries of the two maps below
  PredefinedTypes predefined_;
  std::unordered_map<std::uint64_t, Known> known_predefined_;
  std::unordered_map<std::uint64_t, Known> known_derived_;
  int keyval_ = MPI_KEYVAL_INVALID;
  const SelfComm* self_ = nullptr;
};

}  // namespace oriel::mpi
