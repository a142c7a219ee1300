// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/windows/announcement.hpp"
#include "engine/windows/node_groups.hpp"
#include "engine/windows/window_members.hpp"

namespace oriel {

/// The results that all ranks have agreed on.
struct WindowAgreement {
  bool remote = false;            // some rank is remote to another one
  bool messages_on_node = false;  // and some such ranks are on one node
};

/// Exchanges failures, so that all ranks fail together and none waits for a rank that has failed:
/// one Allreduce, none if the announcements are conclusive. If any rank has failed, all drafts have
/// failed afterwards, with equal errors.
[[nodiscard]] HostCode agree(WindowDraft& draft, const Announcements& announced,
                             const NodeGroups& groups, WindowMembers& members,
                             WindowAgreement& agreed);

}  // namespace oriel
