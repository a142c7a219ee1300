// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel {

/// The folder in which the ranks of this run record their waits (ORIEL_REPORT). Creates it if
/// necessary, and reports a failure on standard error. Empty: nothing is recorded.
std::string report_folder();

/// True if the library prints the table at the end of the run: the setting does not name a folder.
/// A caller that names one, such as `oriel run --report`, can read the records there.
bool table_at_end();

}  // namespace oriel
