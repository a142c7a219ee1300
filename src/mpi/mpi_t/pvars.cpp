// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/mpi_t/pvars.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace oriel::mpi {
namespace {

using Counts = EventCounts::Counts;

std::string with_underscores(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

class Table {
 public:
  Table() {
    add_operations();
    add_epochs();
    add_waits();
    add_transport();
    add_levels();
  }

  std::span<const Pvar> all() const { return pvars_; }

 private:
  using Read = std::function<std::uint64_t(const PvarSource&)>;

  void add(std::string name, std::string description, int variable_class, Read read,
           int binding = MPI_T_BIND_NO_OBJECT) {
    pvars_.push_back({"oriel_" + with_underscores(std::move(name)), std::move(description),
                      variable_class, binding, std::move(read)});
  }

  void add_operations() {
    for (std::size_t i = 0; i < protocol_count; ++i) {
      const std::string name = name_of(static_cast<Protocol>(i));
      add("operations_" + name,
          "Operations of the general path whose protocol is " + name +
              ". Operations on the hot paths are not counted.",
          MPI_T_PVAR_CLASS_COUNTER,
          [i](const PvarSource& source) { return source.counts.operations[i].times; });
      add("bytes_" + name, "Bytes of these operations.", MPI_T_PVAR_CLASS_AGGREGATE,
          [i](const PvarSource& source) { return source.counts.operations[i].amount; });
    }
  }

  void add_epochs() {
    for (std::size_t i = 0; i < epoch_kinds; ++i) {
      const std::string name = name_of(static_cast<EpochKind>(i));
      add("epochs_" + name,
          "Epochs of the kind " + name +
              " that were opened. Locks that are free at their call are not counted.",
          MPI_T_PVAR_CLASS_COUNTER,
          [i](const PvarSource& source) { return source.counts.epochs[i].times; });
      add("deferred_epochs_" + name,
          "Of these, the epochs that could not be activated at once, because an earlier epoch was "
          "not completed.",
          MPI_T_PVAR_CLASS_COUNTER,
          [i](const PvarSource& source) { return source.counts.deferred[i].times; });
    }
  }

  void add_waits() {
    for (std::size_t i = 0; i < wait_reasons; ++i) {
      const std::string name = name_of(static_cast<WaitReason>(i));
      add("waits_" + name,
          "Calls that have waited for the reason " + name +
              ". A wait is counted when it has ended.",
          MPI_T_PVAR_CLASS_COUNTER,
          [i](const PvarSource& source) { return source.counts.waits[i].times; });
      add("wait_time_" + name, "Seconds of these waits, and of those that have not ended.",
          MPI_T_PVAR_CLASS_TIMER,
          [i](const PvarSource& source) { return source.counts.waits[i].amount; });
    }
  }

  void add_transport() {
    add("sweeps", "Passes over everything that is pending in this process.",
        MPI_T_PVAR_CLASS_COUNTER,
        [](const PvarSource& source) { return source.running.process.sweeps(); });
    add("delayed_messages",
        "Messages to ranks of this node that had to wait for space in the mailbox of their "
        "receiver.",
        MPI_T_PVAR_CLASS_COUNTER,
        [](const PvarSource& source) { return source.running.transports.shm().delayed(); });
    add("delayed_packets",
        "Packets to other nodes that the network did not take at once and that were sent again.",
        MPI_T_PVAR_CLASS_COUNTER, [](const PvarSource& source) {
          const Network* network = source.running.transports.network();
          return network != nullptr ? network->delayed() : 0;
        });
  }

  void add_levels() {
    add("windows",
        "Windows of Oriel's that exist, with those that persistent collectives make for "
        "themselves.",
        MPI_T_PVAR_CLASS_LEVEL,
        [](const PvarSource& source) { return source.running.process.windows().size(); });
    add_level_of_windows("pending_epochs",
                         "epochs that the program has closed and that are not completed",
                         [](Window& window) { return window.epochs().pending_epochs(); });
    add_level_of_windows("kept_notifications",
                         "notifications that have been taken from the process's queue and that no "
                         "request has matched; those still in the queue are not counted",
                         [](Window& window) { return window.notifications().kept(); });
    add("shared_memory",
        "Bytes that this process has allocated in memory that it shares with its node: windows, "
        "control blocks, MPI_Alloc_mem.",
        MPI_T_PVAR_CLASS_LEVEL, [](const PvarSource&) { return engine.arena.allocated(); });
  }

  /// Adds a variable for the process, and one that is bound to a window.
  void add_level_of_windows(const std::string& name, const std::string& meaning,
                            std::uint64_t (*of_window)(Window&)) {
    add(name, "Of all windows, " + meaning + ".", MPI_T_PVAR_CLASS_LEVEL,
        [of_window](const PvarSource& source) {
          std::uint64_t sum = 0;
          for (const auto& window : source.running.process.windows()) sum += of_window(*window);
          return sum;
        });
    add(
        "window_" + name, "Of one window, " + meaning + ".", MPI_T_PVAR_CLASS_LEVEL,
        [of_window](const PvarSource& source) { return of_window(*source.window); },
        MPI_T_BIND_MPI_WIN);
  }

  std::vector<Pvar> pvars_;
};

}  // namespace

std::span<const Pvar> pvars() {
  static const Table table;
  return table.all();
}

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

void PvarHandles::engine_begins() {
  engine_counts_ = true;
  listen();
}

void PvarHandles::engine_ends() {
  for (auto& [key, handle] : handles_) {
    set(*handle, counted(*handle));
    handle->base = 0;
    handle->window = 0;
  }
  engine_counts_ = false;
}

void PvarHandles::listen() {
  Running* running = engine.running();
  if (running != nullptr && engine_counts_ && wanted_)
    engine.records.counts.listen(running->process.events());
}

/// The variable's count since the engine was made, or its level. No engine: 0.
std::uint64_t PvarHandles::read_variable(const Pvar& pvar, Window* window) const {
  Running* running = engine.running();
  if (running == nullptr || !engine_counts_) return 0;
  return pvar.read({*running, engine.records.counts.counts(), window});
}

std::uint64_t PvarHandles::counted(const PvarHandle& handle) const {
  return handle.value + (handle.started ? read_variable(*handle.pvar) - handle.base : 0);
}

void PvarHandles::set(PvarHandle& handle, std::uint64_t value) {
  handle.value = value;
  if (handle.started) handle.base = read_variable(*handle.pvar);
}

}  // namespace oriel::mpi
