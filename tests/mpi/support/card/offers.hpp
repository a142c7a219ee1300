// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

namespace card {

/// An info with all parts, empty, for hints.
fi_info* empty_info();
fi_info* copy_info(const fi_info& info);
void free_info(fi_info* info);
/// The card's offer, or null if the hints ask for something else.
fi_info* offer(const fi_info* hints);

}  // namespace card
