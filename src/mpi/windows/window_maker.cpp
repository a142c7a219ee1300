// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/windows/window_maker.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/settings.hpp"
#include "engine/windows/make_window.hpp"
#include "engine/windows/paths.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/waits.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

// By WindowFlavor.
constexpr std::array flavors{MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                             MPI_WIN_FLAVOR_DYNAMIC};

}  // namespace

WindowMaker::WindowMaker(const char* call, MPI_Comm communicator, MPI_Info info)
    : communicator_(communicator),
      comm_(communicator),
      window_(std::make_unique<WindowHandle>()),
      draft_(engine, comm_, call) {
  window_->info.read(info);
  window_->suggested_counters = window_->info.suggested_counters();
  window_->most_counters = window_->info.most_counters();
  draft_.terms = window_->info.terms();
}

WindowMaker::~WindowMaker() {
  if (window_ == nullptr) return;
  if (window_->state->group != MPI_GROUP_NULL) host_mpi().Group_free(&window_->state->group);
  const Guard guard(engine.lock);
  if (window_->handle != MPI_WIN_NULL) runtime.handle_values.release(window_->handle);
}

int WindowMaker::create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Win* handle) {
  EngineFailure bad = check_outputs(handle);
  if (!bad) bad = check_memory(base, size);
  return make({WindowFlavor::created, base, size, disp_unit, bad}, handle);
}

int WindowMaker::create_dynamic(MPI_Win* handle) {
  return make({.flavor = WindowFlavor::dynamic, .bad = check_outputs(handle)}, handle);
}

int WindowMaker::allocate(WindowFlavor flavor, MPI_Aint size, MPI_Aint disp_unit, void* base,
                          MPI_Win* handle) {
  const int code = make({flavor, nullptr, size, disp_unit, check_outputs(base, handle)}, handle);
  // The argument is declared void*, and is the address of a pointer of any type.
  if (code == MPI_SUCCESS) std::memcpy(base, &draft_.base, sizeof draft_.base);
  return code;
}

int WindowMaker::make(const Arguments& arguments, MPI_Win* handle) {
  if (const int code = prepare(arguments); code != MPI_SUCCESS) return code;
  if (const int code = make_window(draft_); code != MPI_SUCCESS) return code;
  if (const Failure failed = draft_.failure()) {
    return raise(communicator_, draft_.call, failed.error_class, failed.reason);
  }
  *handle = hand_over();
  return MPI_SUCCESS;
}

int WindowMaker::prepare(const Arguments& arguments) {
  if (communicator_ == MPI_COMM_NULL) {
    return raise(communicator_, draft_.call, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  }
  // The host raises other errors of the communicator.
  if (const int code = host_mpi().Comm_rank(communicator_, &draft_.rank); code != MPI_SUCCESS) {
    return code;
  }
  // Every rank of both groups finds this, so no rank waits for another one.
  int inter = 0;
  if (const int code = host_mpi().Comm_test_inter(communicator_, &inter); code != MPI_SUCCESS) {
    return code;
  }
  if (inter != 0) {
    return raise(communicator_, draft_.call, MPI_ERR_COMM,
                 "the communicator is an intercommunicator; windows are made on intracommunicators "
                 "(MPI_Intercomm_merge makes one of both groups)");
  }
  if (const int code = host_mpi().Comm_size(communicator_, &draft_.ranks); code != MPI_SUCCESS) {
    return code;
  }
  if (const int code = host_mpi().Comm_group(communicator_, &window_->state->group);
      code != MPI_SUCCESS) {
    return code;
  }
  draft_.flavor = arguments.flavor;
  draft_.base = arguments.base;
  if (arguments.bad) draft_.fail(arguments.bad.error, arguments.bad.reason);
  if (arguments.size < 0) draft_.fail(Error::size, "the size is negative");
  if (arguments.disp_unit <= 0) {
    draft_.fail(Error::displacement, "the displacement unit is not positive");
  }
  hold_ = std::make_unique<EngineHold>();
  if (!*hold_) draft_.fail(Error::system, hold_->error());
  const Guard guard(engine.lock);
  note_windows_on(communicator_);
  allocate_handle();
  if (*hold_) {
    draft_.begin(static_cast<std::uint64_t>(arguments.size),
                 static_cast<std::uint64_t>(arguments.disp_unit));
  }
  return MPI_SUCCESS;
}

/// Acquires a value for the window's handle; fails if all are in use. With the process lock.
void WindowMaker::allocate_handle() {
  if (draft_.failed()) return;
  const std::optional<MPI_Win> taken = runtime.handle_values.allocate();
  if (!taken) return draft_.fail(Error::system, HandleValues::all_in_use);
  window_->handle = *taken;
}

/// Gives the window to the program, and the engine's hold to the window.
MPI_Win WindowMaker::hand_over() {
  WindowHandle& window = *window_;
  window.ranks = draft_.ranks;
  window.base = draft_.base;
  window.size = static_cast<MPI_Aint>(draft_.mine.memory.bytes);
  window.disp_unit = static_cast<int>(draft_.mine.disp_unit);
  window.flavor = flavors.at(static_cast<std::size_t>(draft_.flavor));
  window.info.intrinsic = draft_.intrinsic;
  window.info.accumulate_intrinsic.store(draft_.terms.intrinsic);
  if (draft_.contiguous && window.base != nullptr) window.info.lower_alignment(window.base);
  hold_->hand_over();
  const Guard guard(engine.lock);
  window.state->core = window.core = draft_.window;
  if (setting_bool("ORIEL_INFO") && draft_.rank == 0) describe();
  lifetime.add_window(window.core->id(), window.state->group);
  runtime.windows.insert(handle_key(window.handle), &window);
  runtime.owned_handles.emplace(&window, std::move(window_));
  return window.handle;
}

void WindowMaker::describe() const {
  Running& running = *engine.running();
  Window& core = *draft_.window;
  std::fprintf(stderr, "oriel: window %u, made by %s, %d ranks: %s\n", core.id(), draft_.call,
               draft_.ranks, describe_paths(running, core).c_str());
  std::fputs(describe_protocols(running, core).c_str(), stderr);
  std::fprintf(stderr, "oriel: network: %s\n", describe_network(running).c_str());
  if (!draft_.terms.intrinsic) return;
  std::fprintf(stderr, "oriel: accumulates: by atomics of %s\n",
               draft_.network_atomics ? running.transports.atomics()->name().provider.data()
                                      : "the processors");
}

}  // namespace oriel::mpi
