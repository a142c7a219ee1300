// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel {

/// Makes the memory that libfabric's providers take in a job of so many ranks smaller, by the
/// environment variables that libfabric reads when it starts. Those that are set already stay.
/// If libfabric is loaded, nothing is set: the MPI library uses it then, and its endpoints keep the
/// settings for which they were made. To be called when MPI has just started, because the
/// environment must not be changed while other threads read it.
void limit_provider_memory(int ranks);

}  // namespace oriel
