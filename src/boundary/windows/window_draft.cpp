// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/window_draft.hpp"

#include <utility>

#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/startup/lifetime.hpp"
#include "core/lock/control.hpp"

namespace oriel::boundary {

WindowDraft::WindowDraft(const char* name, MPI_Comm on, MPI_Info info)
    : call(name), communicator(on), window(std::make_unique<WindowHandle>()) {
  window->info.read(info);
  window->suggested_counters = window->info.suggested_counters();
  window->most_counters = window->info.most_counters();
}

WindowDraft::~WindowDraft() {
  if (window == nullptr) return;
  if (window->state->group != MPI_GROUP_NULL) host_mpi().Group_free(&window->state->group);
  {
    const Guard guard(engine.lock);
    if (window->handle != MPI_WIN_NULL) runtime.handle_values.give_back(window->handle);
    if (mine.window != 0) engine.running()->process.forget_window(mine.window);
    own.reset();
    window.reset();
  }
  if (holds_engine) lifetime.let_go();
}

void WindowDraft::fail(int bad, std::string why) {
  mine.failed = 1;
  if (error_class != MPI_SUCCESS) return;
  error_class = bad;
  reason = std::move(why);
  if (reason.ends_with('.')) reason.pop_back();  // it becomes a part of a sentence
}

void WindowDraft::take_memory(std::uint64_t bytes) {
  if (mine.failed != 0) return;
  const Guard guard(engine.lock);
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(ranks));
  mine.control = take(control_bytes, alignof(ControlBlock), own->control);
  if (bytes != 0) {
    ArenaLocation& taken = dynamic() ? mine.pieces : mine.memory.location;
    taken = take(bytes, window->info.alignment(), own->memory);
  }
  if (mine.failed != 0) return;
  // The name: the process, and the number of the window.
  const auto pid = static_cast<std::uint64_t>(mine.process.arena.pid);
  const std::uint64_t name = pid << 32 | mine.window;
  ControlBlock::create(own->control.get(), static_cast<std::uint32_t>(ranks), name);
}

void WindowDraft::take_handle() {
  if (mine.failed != 0) return;
  const std::optional<MPI_Win> taken = runtime.handle_values.take();
  if (!taken) return fail(MPI_ERR_OTHER, HandleValues::all_in_use);
  window->handle = *taken;
}

ArenaLocation WindowDraft::take(std::uint64_t bytes, std::uint64_t alignment, ArenaPiece& piece) {
  std::string error;
  piece = {engine.arena.allocate(bytes, alignment, error), {&engine.arena}};
  if (piece != nullptr) {
    return engine.running()->transports.node().locate(piece.get(), bytes).location;
  }
  fail(MPI_ERR_NO_MEM, error);
  return {};
}

}  // namespace oriel::boundary
