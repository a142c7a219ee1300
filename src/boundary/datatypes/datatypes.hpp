// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>

#include "boundary/datatypes/flatten.hpp"
#include "boundary/datatypes/predefined_types.hpp"
#include "boundary/host/host.hpp"
#include "boundary/host/self_comm.hpp"
#include "core/operation/layout.hpp"
#include "engine/process/handle_table.hpp"
#include "engine/process/process_lock.hpp"

namespace oriel::boundary {

/// What an operation needs to know of a datatype. Predefined ones are resolved once; derived ones
/// flattened at first use and forgotten when the program frees them.
class Datatypes {
 public:
  /// What is known of one datatype.
  struct Known {
    LayoutRef layout;    // exact: for put and get
    LayoutRef elements;  // for accumulates: a pair type's element is one run, gaps included
    const PredefinedType* basic = nullptr;  // the one that all of it is made of; null: mixed
    bool predefined = false;  // also of MPI_Type_create_f90_integer, _real or _complex
  };

  /// With a communicator for the host's own checks, and the lock that callers hold.
  void start(const SelfComm& self, ProcessLock& lock);

  /// Without the process lock. Null: it has not been asked for yet, so find() has to tell.
  const Known* look(MPI_Datatype type) const { return known_.find(handle_key(type)); }
  /// With the process lock. Null for what is not a committed datatype as far as the host can tell.
  const Known* find(MPI_Datatype type) {
    const Known* known = look(type);
    return known != nullptr ? known : add(type);
  }
  /// Before the program frees it. With the process lock.
  void note_free(MPI_Datatype type);
  /// Forgets all.
  void stop();

 private:
  const Known* add(MPI_Datatype type);
  const Known* remember(const PredefinedType& type);
  const Known* find_predefined(MPI_Datatype type);
  Flat leaf(MPI_Datatype type, int combiner, bool whole_elements);
  bool committed(MPI_Datatype type) const;
  bool watch(MPI_Datatype type);
  static int forget(MPI_Datatype type, int keyval, void* value, void* lock);

  HandleTable<const Known> known_;  // all of those below
  PredefinedTypes predefined_;
  std::unordered_map<std::uint64_t, Known> known_predefined_;
  std::unordered_map<std::uint64_t, Known> known_derived_;
  int keyval_ = MPI_KEYVAL_INVALID;
  const SelfComm* self_ = nullptr;
};

}  // namespace oriel::boundary
