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
  notified  // of notified accesses that no other epoch covers (N4): open as long as the window is
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

/// The activation predicate (E5, E7): may `later` be active while `earlier`, closed before `later`
/// was opened, is not yet completed? Epochs that the program itself has open at the same time (post
/// and start of a halo exchange, locks of several targets) are not asked about: MPI requires them
/// to progress together.
constexpr bool may_overlap(EpochKind earlier, EpochKind later, Reorder reorder) {
  const auto collective = [](EpochKind kind) {
    return kind == EpochKind::fence || kind == EpochKind::lock_all;
  };
  if (collective(earlier) || collective(later)) return false;
  if (later == EpochKind::exposure) {
    return earlier == EpochKind::exposure ? reorder.exposure_after_exposure
                                          : reorder.exposure_after_access;
  }
  return earlier == EpochKind::exposure ? reorder.access_after_exposure
                                        : reorder.access_after_access;
}

}  // namespace oriel
