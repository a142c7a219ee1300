// SPDX-License-Identifier: BSD-3-Clause
// The same programs as C++, in one file: the papers' headers go together.
#include "main.c"
#include "nonblocking_epochs.c"
#include "notified_access.c"
#include "notified_access_fompi.c"
#include "persistent_alltoallv.c"
#include "quo_vadis.c"
