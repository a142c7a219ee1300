// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel::boundary {

/// A code of this class whose sentence is this: MPI_Error_string returns it. The class itself where
/// the host gives no more codes.
int error_code(int error_class, const std::string& sentence);
/// The sentence of such a code; empty: the code is not ours.
std::string sentence_of(int code);

}  // namespace oriel::boundary
