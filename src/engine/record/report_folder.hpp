// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel {

/// The folder in which the ranks of this run record what they wait for (ORIEL_REPORT); it is made
/// if it is not there. Empty: nothing is recorded. A folder that cannot be made is told on standard
/// error.
std::string report_folder();

/// Whether the library prints the table of the run: where the setting names no folder. A caller
/// that names one, as `oriel run --report` does, knows where to look.
bool table_at_end();

}  // namespace oriel
