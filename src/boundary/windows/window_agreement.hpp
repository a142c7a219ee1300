// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/windows/announcement.hpp"
#include "boundary/windows/node_groups.hpp"
#include "boundary/windows/window_members.hpp"

namespace oriel::boundary {

/// The results that all ranks have agreed on.
struct WindowAgreement {
  bool remote = false;            // some rank is remote to another one
  bool messages_on_node = false;  // and some such ranks are on one node
};

/// Exchanges failures, so that all ranks fail together and none waits for a rank that has failed:
/// one Allreduce, none if the announcements are conclusive. Returns the host's error code, or the
/// error raised on the communicator.
int agree(WindowDraft& draft, const Announcements& announced, const NodeGroups& groups,
          WindowMembers& members, WindowAgreement& agreed);

}  // namespace oriel::boundary
