// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel {

/// Prints on standard error the table of what the ranks have recorded in a folder so far, by the
/// command `oriel report`, which also writes its report there. Blocks until it is printed, also if
/// another rank of the machine does it, for a minute at most. If there is no such command, a
/// sentence says where the records are.
void print_report_table(const std::string& folder);

}  // namespace oriel
