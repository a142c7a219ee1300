// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/mpi_t/pvar_handles.hpp"

#include <cstring>
#include <utility>

namespace oriel::boundary {

PvarHandles pvar_handles;

namespace {

constexpr double nanoseconds_per_second = 1e9;

Window* find_window(const PvarHandle& handle) {
  const WindowHandle* window = runtime.windows.find(handle_key(handle.win));
  const bool same = window != nullptr && window->core->events().window() == handle.window;
  return same ? window->core : nullptr;
}

}  // namespace

void PvarHandles::end_session(MPI_T_pvar_session session) {
  sessions_.erase(session);
  std::erase_if(handles_, [&](const auto& entry) { return entry.second->session == session; });
}

void PvarHandles::clear() {
  sessions_.clear();
  handles_.clear();
  wanted_ = false;
}

int PvarHandles::allocate(MPI_T_pvar_session session, const Pvar& pvar, const void* object,
                          MPI_T_pvar_handle* handle) {
  if (!sessions_.contains(session)) return MPI_T_ERR_INVALID_SESSION;
  auto made = std::make_unique<PvarHandle>(PvarHandle{&pvar, session});
  if (pvar.binding == MPI_T_BIND_MPI_WIN) {
    if (object == nullptr) return MPI_T_ERR_INVALID;
    std::memcpy(&made->win, object, sizeof made->win);
    const WindowHandle* window = runtime.windows.find(handle_key(made->win));
    if (window == nullptr) return MPI_T_ERR_INVALID;  // the host's, which has no such variable
    made->window = window->core->events().window();
  }
  *handle = reinterpret_cast<MPI_T_pvar_handle>(made.get());
  handles_.emplace(*handle, std::move(made));
  return MPI_SUCCESS;
}

PvarHandle* PvarHandles::find(MPI_T_pvar_handle handle) {
  const auto found = handles_.find(handle);
  return found != handles_.end() ? found->second.get() : nullptr;
}

int PvarHandles::start(PvarHandle& handle) {
  if (handle.pvar->level()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  if (handle.started) return MPI_SUCCESS;
  wanted_ = true;
  listen();
  handle.started = true;
  handle.base = read_variable(*handle.pvar);
  return MPI_SUCCESS;
}

int PvarHandles::stop(PvarHandle& handle) {
  if (handle.pvar->level()) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  handle.value = counted(handle);
  handle.started = false;
  return MPI_SUCCESS;
}

int PvarHandles::read(const PvarHandle& handle, void* buffer) {
  Window* window = nullptr;
  if (handle.pvar->binding == MPI_T_BIND_MPI_WIN) {
    window = find_window(handle);
    if (window == nullptr) return MPI_T_ERR_INVALID_HANDLE;  // the window has been freed
  }
  const unsigned long long value =
      handle.pvar->level() ? read_variable(*handle.pvar, window) : counted(handle);
  const double seconds = static_cast<double>(value) / nanoseconds_per_second;
  if (handle.pvar->timer()) {
    std::memcpy(buffer, &seconds, sizeof seconds);
  } else {
    std::memcpy(buffer, &value, sizeof value);
  }
  return MPI_SUCCESS;
}

int PvarHandles::write(PvarHandle& handle, const void* buffer) {
  if (handle.pvar->level()) return MPI_T_ERR_PVAR_NO_WRITE;
  unsigned long long value = 0;
  double seconds = 0;
  if (handle.pvar->timer()) {
    std::memcpy(&seconds, buffer, sizeof seconds);
    if (!(seconds >= 0)) return MPI_T_ERR_INVALID;
    value = static_cast<unsigned long long>(seconds * nanoseconds_per_second);
  } else {
    std::memcpy(&value, buffer, sizeof value);
  }
  set(handle, value);
  return MPI_SUCCESS;
}

int PvarHandles::reset(PvarHandle& handle) {
  if (handle.pvar->level()) return MPI_T_ERR_PVAR_NO_WRITE;
  set(handle, 0);
  return MPI_SUCCESS;
}

void PvarHandles::engine_begins(EventCounts& counts) {
  counts_ = &counts;
  listen();
}

void PvarHandles::engine_ends() {
  for (auto& [key, handle] : handles_) {
    set(*handle, counted(*handle));
    handle->base = 0;
    handle->window = 0;
  }
  counts_ = nullptr;
}

/// Counts events from the first start of a handle on, so that they cost nothing before.
void PvarHandles::listen() {
  Running* running = engine.running();
  if (running != nullptr && counts_ != nullptr && wanted_)
    counts_->listen(running->process.events());
}

/// The variable's count since the engine was made, or its level. No engine: 0.
std::uint64_t PvarHandles::read_variable(const Pvar& pvar, Window* window) const {
  Running* running = engine.running();
  return running != nullptr && counts_ != nullptr ? pvar.read({*running, counts_->counts(), window})
                                                  : 0;
}

std::uint64_t PvarHandles::counted(const PvarHandle& handle) const {
  return handle.value + (handle.started ? read_variable(*handle.pvar) - handle.base : 0);
}

void PvarHandles::set(PvarHandle& handle, std::uint64_t value) {
  handle.value = value;
  if (handle.started) handle.base = read_variable(*handle.pvar);
}

}  // namespace oriel::boundary
