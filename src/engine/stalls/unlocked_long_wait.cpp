// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stalls/unlocked_long_wait.hpp"

#include "engine/engine.hpp"
#include "engine/process/standard_error.hpp"

namespace oriel {

UnlockedLongWait::~UnlockedLongWait() {
  if (!wait_.has_value()) return;
  const Guard guard(engine.lock);
  wait_.reset();
}

void UnlockedLongWait::look() {
  std::string text;
  {
    const Guard guard(engine.lock);
    text = report();
  }
  standard_error.say(text);
}

void UnlockedLongWait::try_look() {
  std::string text;
  {
    const TryGuard guard(engine.lock);
    if (!guard) return;
    text = report();
  }
  standard_error.say(text);
}

std::string UnlockedLongWait::report() {
  if (!wait_.has_value()) {
    wait_.emplace(WindowEvents(engine.running()->process.events(), {}), Wait{reason_});
  }
  return wait_->report();
}

}  // namespace oriel
