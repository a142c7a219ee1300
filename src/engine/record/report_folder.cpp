// SPDX-License-Identifier: BSD-3-Clause
#include "engine/record/report_folder.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/settings.hpp"

namespace oriel {

std::string report_folder() {
  std::string path = setting_text("ORIEL_REPORT");
  if (path.empty() || path == "0") {
    if (setting_bool("ORIEL_TIMELINE")) {
      std::fputs(
          "oriel: ORIEL_TIMELINE: Nothing is recorded, because ORIEL_REPORT is not set; set "
          "ORIEL_REPORT=1, too.\n",
          stderr);
    }
    return {};
  }
  if (path == "1") path = "oriel-report";
  // Each rank tries, without a collective call: perhaps not all ranks have the setting.
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    std::fprintf(stderr, "oriel: ORIEL_REPORT: The folder %s cannot be made (%s).\n", path.c_str(),
                 std::strerror(errno));
    return {};
  }
  return path;
}

bool table_at_end() {
  return std::strcmp(setting_text("ORIEL_REPORT"), "1") == 0;
}

}  // namespace oriel
