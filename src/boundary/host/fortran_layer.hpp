// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::boundary {

/// Whether this code is the Fortran layer's: what calls from there bring may be Fortran's.
bool in_fortran_layer(const void* code);

}  // namespace oriel::boundary
