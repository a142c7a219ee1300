// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel {

/// Prints on standard error the table of the records in a folder, by the command `oriel report`,
/// which also writes its report there. Blocks until the table is printed, also if another rank of
/// the machine prints it, for a minute at most. If the command is missing, prints where the records
/// are.
void print_report_table(const std::string& folder);

}  // namespace oriel
