// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/thread_lines.hpp"
#include "core/lock/control.hpp"

namespace oriel {

/// Who updates a rank's memory: an origin, which says so in its slot there, or one of its threads,
/// in a line of the thread's own. An origin has its process's lock meanwhile; a thread may have it.
template <typename Words>
class BasicUpdater {
 public:
  using Line = BasicThreadLine<Words>;
  using Word = typename Words::template Atomic<std::uint64_t>;

  BasicUpdater(BasicControlBlock<Words>& target, std::uint32_t origin, Line* thread)
      : word_(thread != nullptr ? thread->updating : target.slots()[origin].updating),
        number_(origin * numbers_each + (thread != nullptr ? thread->number + 1 : 0)) {}

  /// The target's name while it is in an update of it.
  Word& word() const { return word_; }
  /// Among all that may update the target.
  std::uint32_t number() const { return number_; }
  /// The origin that has this number, itself or one of its threads.
  static std::uint32_t origin(std::uint32_t number) { return number / numbers_each; }

 private:
  static constexpr std::uint32_t numbers_each = ThreadLines::most + 1;

  Word& word_;
  std::uint32_t number_;
};

}  // namespace oriel
