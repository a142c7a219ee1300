// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iterator>

namespace oriel {

enum class EpochKind : std::uint8_t {
  fence,
  access,
  exposure,
  lock,
  lock_all,
  notified  // notified operations that no other epoch covers (N4); open as long as the window
};
inline constexpr int epoch_kinds = static_cast<int>(EpochKind::notified) + 1;
constexpr const char* name_of(EpochKind kind) {
  constexpr const char* names[] = {"fence", "access", "exposure", "lock", "lock_all", "notified"};
  static_assert(std::size(names) == epoch_kinds);
  return names[static_cast<int>(kind)];
}

/// The four reorder keys of a window (E7; paper section VI-B).
struct Reorder {
  bool access_after_access = false;
  bool access_after_exposure = false;
  bool exposure_after_exposure = false;
  bool exposure_after_access = false;
};

/// The activation predicate (E5, E7, E15): true if `later` may be active while `earlier`, closed
/// before `later` was opened, is not yet completed. It is not used for epochs that the program has
/// open at the same time (post and start of a halo exchange, locks of several targets), because MPI
/// requires these to progress together. Why a fence may be overtaken by an exposure only, and
/// overtakes nothing: docs/protocols.md, "Reordered epochs".
constexpr bool may_overlap(EpochKind earlier, EpochKind later, Reorder reorder) {
  if (later == EpochKind::fence) return false;
  if (later == EpochKind::exposure) {
    switch (earlier) {
      case EpochKind::fence:  // an access and an exposure
        return reorder.exposure_after_exposure && reorder.exposure_after_access;
      case EpochKind::exposure:
        return reorder.exposure_after_exposure;
      default:
        return reorder.exposure_after_access;
    }
  }
  if (earlier == EpochKind::fence) return false;
  return earlier == EpochKind::exposure ? reorder.access_after_exposure
                                        : reorder.access_after_access;
}

}  // namespace oriel
