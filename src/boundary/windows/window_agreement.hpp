// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/windows/announcement.hpp"
#include "boundary/windows/node_groups.hpp"
#include "boundary/windows/window_members.hpp"

namespace oriel::boundary {

/// What all ranks have agreed on.
struct WindowAgreement {
  bool remote = false;            // some rank is remote to some other
  bool messages_on_node = false;  // and both are on one node
};

/// Learns of any rank's failure, so that all ranks fail together and none waits for one that does
/// not come: one Allreduce, none if the announcements are conclusive. The host's error code, or the
/// error raised on the communicator.
int agree(WindowDraft& draft, const Announcements& announced, const NodeGroups& groups,
          WindowMembers& members, WindowAgreement& agreed);

}  // namespace oriel::boundary
