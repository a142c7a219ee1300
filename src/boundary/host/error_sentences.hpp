// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel::boundary {

/// A code of this class, for which MPI_Error_string returns this sentence. If there are no more
/// codes, the class itself.
int error_code(int error_class, const std::string& sentence);
/// The sentence of a code that error_code() has returned; empty: it is none of these.
std::string sentence_of(int code);

}  // namespace oriel::boundary
