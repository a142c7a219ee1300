// SPDX-License-Identifier: BSD-3-Clause
// Windows that live for a moment take what the last one has left.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "core/pieces/memory_handles.hpp"
#include "core/pieces/own_pieces.hpp"
#include "core/pieces/peer_pieces.hpp"
#include "core/pieces/shared_pieces.hpp"
#include "shm_processes.hpp"

namespace oriel {
namespace {

constexpr int rounds = 200;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_freed = true;  // so that new pages come in for the test's own objects
#else
constexpr bool keeps_freed = false;
#endif

long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

class ShortWindows : public ::testing::Test {
 protected:
  std::string error_;
  shm_test::OwnTransport transport_{error_};
};

/// What a window does for one piece of memory and for two handles. False: `former`, the second one
/// of a former window, is seen, or another thing is wrong.
bool live(ShmTransport& transport, HandleName& former) {
  SharedPieces shared;
  OwnPieces pieces(shared.attached, transport);
  OwnHandles handles(shared.handles, transport);
  PeerPieces seen{};
  seen.set_root(shared.attached);
  PeerHandles seen_handles{};
  seen_handles.set_root(shared.handles);
  const int self = transport.self();
  const MemoryRange memory{1000, 100, {}};
  FailureReason reason;
  MemoryRange piece;
  HandleName name;
  const bool clean = seen.find_last_piece(1000, piece, transport, self) == PieceSearch::none &&
                     pieces.attach(memory, reason) == Error::none &&
                     seen.find_last_piece(1000, piece, transport, self) == PieceSearch::found &&
                     handles.create(memory, name, reason) == Error::none &&
                     seen_handles.find_slot(name, piece, transport, self) != nullptr &&
                     seen_handles.find_slot(former, piece, transport, self) == nullptr;
  return handles.create(memory, former, reason) == Error::none && clean;
}

// A page that goes back to the system and is brought in again takes longer than all the rest.
TEST_F(ShortWindows, BringInNoPage) {
  HandleName former;
  ASSERT_TRUE(live(*transport_, former)) << error_;
  const long before = page_faults();
  for (int round = 0; round < rounds; ++round) ASSERT_TRUE(live(*transport_, former));
  EXPECT_TRUE(keeps_freed || page_faults() - before < rounds / 2);
}

}  // namespace
}  // namespace oriel
