// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::test {

/// Lets the MPI layer's progress hook, if there is one, take a turn.
void make_progress();

}  // namespace oriel::test
