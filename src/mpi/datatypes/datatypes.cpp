// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/datatypes/datatypes.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

/// The blocks of one element, without gaps. Only pair types may have a gap: in front of the int.
std::vector<Block> exact_blocks(const PredefinedType& type) {
  if (type.true_extent == type.size) return {{0, type.size}};
  // The value of the pair has the bytes of the size that are not the int's.
  const std::uint64_t value = type.size - sizeof(int);
  return {{0, value}, {static_cast<std::int64_t>(type.true_extent - sizeof(int)), sizeof(int)}};
}

// MPICH keeps the memory and the name of a freed datatype until it reuses the memory. It accepts
// the freed handle as a committed datatype, and dereferences a null pointer in
// MPI_Type_get_envelope. So Oriel gives each datatype that is freed this name, by which it detects
// the handle.
constexpr char name_of_freed[] = "freed by MPI_Type_free";

bool freed(MPI_Datatype type) {
  if (!ORIEL_HOST_KEEPS_FREED_TYPES) return false;
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  return host_mpi().Type_get_name(type, name.data(), &length) == MPI_SUCCESS &&
         std::string_view(name.data()) == name_of_freed;
}

LayoutRef layout_of(const Flat& flat) {
  const Basic basic = flat.mixed || flat.basic == nullptr ? Basic::none : flat.basic->basic;
  return LayoutRef(new Layout(flat.blocks, flat.extent, basic));
}

}  // namespace

void Datatypes::start(const SelfComm& self, ProcessLock& lock) {
  if (self_ != nullptr) return;
  self_ = &self;
  // Not MPI_TYPE_NULL_COPY_FN, which in Open MPI is a function of its library.
  const auto copy_nothing = [](MPI_Datatype, int, void*, void*, void*, int* copied) -> int {
    *copied = 0;
    return MPI_SUCCESS;
  };
  host_mpi().Type_create_keyval(copy_nothing, &Datatypes::forget, &keyval_, &lock);
  predefined_.start([this](MPI_Datatype type) { return committed(type); });
  for (const PredefinedType& type : predefined_.all()) remember(type);
}

const Datatypes::Known* Datatypes::remember(const PredefinedType& type) {
  Known known;
  known.layout = Layout::lasting(exact_blocks(type), type.extent, type.basic);
  known.elements = type.type_class == TypeClass::pair
                       ? Layout::lasting({{0, type.true_extent}}, type.extent, type.basic)
                       : known.layout;
  known.basic = &type;
  known.predefined = true;
  const std::uint64_t key = handle_key(type.handle);
  const Known* kept = &known_predefined_.emplace(key, std::move(known)).first->second;
  known_.insert(key, kept);
  return kept;
}

const Datatypes::Known* Datatypes::find_predefined(MPI_Datatype type) {
  if (const Known* known = find_known(type)) return known;
  const PredefinedType* unknown = predefined_.add_unknown(type);
  return unknown != nullptr ? remember(*unknown) : nullptr;
}

const Datatypes::Known* Datatypes::add(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || !committed(type) || freed(type)) return nullptr;
  const std::uint64_t key = handle_key(type);
  bool is_predefined = false;
  const auto flattened = [&](bool whole_elements, Flat& flat) {
    return flatten(
        type,
        [&](MPI_Datatype predefined, int combiner) {
          is_predefined = predefined == type;
          return leaf(predefined, combiner, whole_elements);
        },
        flat);
  };
  Flat exact;
  if (!flattened(false, exact)) return nullptr;
  // leaf() has just added it: a predefined type of the host's own, used for the first time.
  if (const Known* known = find_known(type)) return known;
  Known known;
  known.basic = exact.mixed ? nullptr : exact.basic;
  known.predefined = is_predefined;
  if (known.basic != nullptr && known.basic->type_class == TypeClass::pair) {
    Flat elements;
    if (!flattened(true, elements)) return nullptr;
    known.elements = layout_of(elements);
    known.layout = layout_of(exact);
  } else {
    known.layout = layout_of(exact);
    known.elements = known.layout;
  }
  if (!watch(type)) return nullptr;
  const Known* kept = &known_derived_.emplace(key, std::move(known)).first->second;
  known_.insert(key, kept);
  return kept;
}

/// The attribute's only purpose is its delete callback, which the host calls when the last
/// reference to the datatype is gone.
bool Datatypes::watch(MPI_Datatype type) {
  return host_mpi().Type_set_attr(type, keyval_, this) == MPI_SUCCESS;
}

void Datatypes::watch_freed(MPI_Datatype type) {
  if (!ORIEL_HOST_KEEPS_FREED_TYPES || self_ == nullptr || type == MPI_DATATYPE_NULL ||
      find_known(type) != nullptr) {
    return;
  }
  if (committed(type) && !freed(type)) watch(type);
}

/// Uses the host's check of a send's arguments; a send to MPI_PROC_NULL does nothing else. A send
/// returns its error as a code, but an inquiry about a bad handle would call a fatal error handler.
bool Datatypes::committed(MPI_Datatype type) const {
  const char never_read = 0;
  return self_->attempt(
      [&](MPI_Comm self) { return host_mpi().Send(&never_read, 1, type, MPI_PROC_NULL, 0, self); });
}

Flat Datatypes::leaf(MPI_Datatype type, int combiner, bool whole_elements) {
  Flat flat;
  if (combiner != MPI_COMBINER_NAMED) type = predefined_.of_f90(type, combiner);
  const Known* known = type != MPI_DATATYPE_NULL ? find_predefined(type) : nullptr;
  if (known == nullptr) return flat;
  const Layout& layout = whole_elements ? *known->elements : *known->layout;
  flat.blocks = layout.blocks();
  flat.extent = layout.extent();
  flat.basic = known->basic;
  return flat;
}

int Datatypes::forget(MPI_Datatype type, int, void* value, void* lock) {
  const Guard guard(*static_cast<ProcessLock*>(lock));
  auto& types = *static_cast<Datatypes*>(value);
  if (ORIEL_HOST_KEEPS_FREED_TYPES) host_mpi().Type_set_name(type, name_of_freed);
  const auto known = types.known_derived_.find(handle_key(type));
  if (known == types.known_derived_.end()) return MPI_SUCCESS;
  types.known_.erase(known->first, &known->second);
  types.known_derived_.erase(known);
  return MPI_SUCCESS;
}

void Datatypes::stop() {
  known_.clear();
  known_derived_.clear();
  known_predefined_.clear();
  predefined_ = {};
  keyval_ = MPI_KEYVAL_INVALID;
  self_ = nullptr;
}

}  // namespace oriel::mpi
