// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/window_draft.hpp"

#include <sched.h>

#include <utility>

#include "core/lock/control.hpp"

namespace oriel {
namespace {

int own_numa_node() {
  unsigned cpu = 0;
  unsigned node = 0;
  return ::getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : -1;
}

}  // namespace

WindowDraft::~WindowDraft() {
  if (running == nullptr) return;
  const Guard guard(engine.lock);
  if (mine.window != 0) running->process.forget_window(mine.window);
  own.reset();
}

void WindowDraft::begin(std::uint64_t bytes, std::uint64_t disp_unit) {
  running = engine.running();
  own = std::make_shared<OwnMemory>(running->transports);
  mine.networked = running->transports.network() != nullptr ? 1 : 0;
  if (failed()) return;
  mine.memory.bytes = bytes;
  mine.disp_unit = disp_unit;
  mine.intrinsic = terms.intrinsic ? 1 : 0;
  mine.numa_node = own_numa_node();
  ShmTransport& node = running->transports.shm();
  // Before peers attach this process: they then test whether they may copy its private memory.
  if (ranks > 1) node.permit_vm();
  mine.process = node.name();
  mine.knows_peers = comm.knows_peers(mine.process.id) ? 1 : 0;
  mine.window = running->next_window++;
  running->process.expect_window(mine.window);
}

void WindowDraft::fail(Error bad, std::string why) {
  mine.failed = 1;
  if (failed()) return;
  error = bad;
  reason = std::move(why);
  if (reason.ends_with('.')) reason.pop_back();  // it becomes a part of a sentence
}

void WindowDraft::allocate(std::uint64_t bytes) {
  if (failed()) return;
  const Guard guard(engine.lock);
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(ranks));
  mine.control = allocate(control_bytes, alignof(ControlBlock), own->control);
  if (bytes != 0) {
    ArenaLocation& allocated = dynamic() ? mine.pieces : mine.memory.location;
    allocated = allocate(bytes, terms.alignment, own->memory);
  }
  if (failed()) return;
  // The name: the process, and the number of the window.
  const auto pid = static_cast<std::uint64_t>(mine.process.arena.pid);
  const std::uint64_t name = pid << 32 | mine.window;
  ControlBlock::create(own->control.get(), static_cast<std::uint32_t>(ranks), name);
}

ArenaLocation WindowDraft::allocate(std::uint64_t bytes, std::uint64_t alignment,
                                    ArenaPiece& piece) {
  std::string why;
  piece = {engine.arena.allocate(bytes, alignment, why), {&engine.arena}};
  if (piece != nullptr) return running->transports.node().locate(piece.get(), bytes).location;
  fail(Error::memory, why);
  return {};
}

}  // namespace oriel
