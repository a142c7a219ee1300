// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace card {

/// What ORIEL_TEST_CARD says, as name=value with commas between:
///
///     latency_ns  from one card to the other
///     rate        of a link; bytes a second, with k, M or G behind the number
///     eager       maximal bytes of a message that is sent before its receive is known
///     inject      maximal bytes of an operation whose buffer is free at once
///     order       all: writes and messages in order; messages: messages alone (and atomics)
///     keys        provider: keys and addresses are the provider's; caller: keys are the caller's
///                 and addresses are offsets
///     name        the provider's name
///
/// The defaults are those of InfiniBand's provider. A put of 8 B ends after 4 us, and a link has
/// 48 Gb/s: real cards are faster, but these times are longer than those of the system calls that
/// move the bytes here, so that the model decides (times.cpp). Published times from one card to the
/// other are 1.3 to 2 us, for InfiniBand and Slingshot.
struct Settings {
  std::uint64_t latency_ns = 2000;
  double bytes_per_ns = 6;
  std::uint64_t eager = 8192;
  std::uint64_t inject = 192;
  bool orders_writes = true;
  bool caller_keys = false;
  std::string name = "verbs";

  static const Settings& get();
};

}  // namespace card
