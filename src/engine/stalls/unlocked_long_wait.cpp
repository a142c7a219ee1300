// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stalls/unlocked_long_wait.hpp"

#include "engine/engine.hpp"
#include "engine/process/standard_error.hpp"

namespace oriel {

UnlockedLongWait::~UnlockedLongWait() {
  if (!wait_.has_value()) return;
  const Guard guard(engine_.lock);
  wait_.reset();
}

void UnlockedLongWait::look() {
  std::string text;
  {
    const Guard guard(engine_.lock);
    text = report();
  }
  standard_error.say(text);
}

std::string UnlockedLongWait::try_report() {
  const TryGuard guard(engine_.lock);
  return guard ? report() : std::string();
}

std::string UnlockedLongWait::report() {
  if (!wait_.has_value()) {
    wait_.emplace(engine_, WindowEvents(engine_.running()->process.events(), {}), Wait{reason_},
                  frames_);
  }
  return wait_->report();
}

}  // namespace oriel
