// SPDX-License-Identifier: BSD-3-Clause
// Memory handles (Q5): memory exposed without a collective call, and windows made from it.
#include <oriel/profiling.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/pieces/shared_pieces.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"
#include "mpi/windows/handle_lifetime.hpp"

namespace oriel::mpi {
namespace {

/// A memory handle as it is sent between processes (Q5). It is valid only if the owner's slot has
/// an equal token.
struct HandleBytes {
  std::uint64_t magic = handle_magic;
  std::uint32_t version = 1;
  std::int32_t rank = 0;     // of the owner, in the window's group
  std::uint32_t window = 0;  // number of the window at the owner
  std::uint32_t slot = 0;
  std::uint64_t token = 0;
  std::uint64_t bytes = 0;  // of memory
  std::uint64_t check = 0;  // of all fields before

  static constexpr std::uint64_t handle_magic = 0x4f7269656c4d4831;  // "OrielMH1"

  void seal() { check = sum(); }
  bool sound() const { return magic == handle_magic && version == 1 && check == sum(); }

  static HandleBytes from(const void* bytes) {
    HandleBytes made;
    std::memcpy(&made, bytes, sizeof made);
    return made;
  }

 private:
  /// Detects bytes that are not a handle, or not a complete one.
  std::uint64_t sum() const {
    std::uint64_t result = 0;
    for (const std::uint64_t word : {magic, std::uint64_t{version} << 32 | std::uint32_t(rank),
                                     std::uint64_t{window} << 32 | slot, token, bytes}) {
      result = mix_bits(result ^ word);
    }
    return result;
  }
};
static_assert(std::is_trivially_copyable_v<HandleBytes> && sizeof(HandleBytes) == 48);
static_assert(sizeof(HandleBytes) <= ORIEL_MAX_MEMHANDLE_SIZE);

Failure check_parent(const WindowHandle& parent) {
  if (parent.core->dynamic() && !parent.view.has_value()) return {};
  return {MPI_ERR_RMA_FLAVOR,
          "only a window from MPI_Win_create_dynamic, or a duplicate of it, has memory handles"};
}

Failure no_handle() {
  return {MPI_ERR_ARG,
          "the bytes are not a memory handle of that rank on this window, or it has been released"};
}

Failure create(const WindowHandle& parent, const void* base, MPI_Aint size, HandleBytes& made) {
  if (const Failure bad = check_parent(parent)) return bad;
  if (const Failure bad = check_memory(base, size)) return bad;
  const MemoryRange memory =
      engine.running()->transports.node().locate(base, static_cast<std::uint64_t>(size));
  Window& core = *parent.core;
  HandleName name;
  if (const Error error = core.create_handle(memory, name); error != Error::none) {
    return failure(error, core.reason());
  }
  made.rank = core.rank();
  made.window = core.id();
  made.slot = name.slot;
  made.token = name.token;
  made.bytes = memory.bytes;
  made.seal();
  return {};
}

Failure release(const WindowHandle& parent, const void* memhandle) {
  if (const Failure bad = check_parent(parent)) return bad;
  if (memhandle == nullptr) return no_handle();
  const HandleBytes given = HandleBytes::from(memhandle);
  Window& core = *parent.core;
  if (!given.sound() || given.rank != core.rank() || given.window != core.id() ||
      core.release_handle({given.token, given.slot}) != Error::none) {
    return no_handle();
  }
  return {};
}

Failure open(const WindowHandle& parent, const void* memhandle, MPI_Aint size, int disp_unit,
             int target, HandleView& view) {
  if (const Failure bad = check_parent(parent)) return bad;
  if (!valid_rank(parent, target)) {
    return {MPI_ERR_RANK, "the rank is not in the window's group"};
  }
  if (disp_unit <= 0) return {MPI_ERR_DISP, "the displacement unit is not positive"};
  if (memhandle == nullptr) return no_handle();
  const HandleBytes given = HandleBytes::from(memhandle);
  if (!given.sound() || given.rank != target ||
      given.window != parent.core->member(target).window) {
    return no_handle();
  }
  if (size < 0 || static_cast<std::uint64_t>(size) > given.bytes) {
    return {MPI_ERR_SIZE, "the size is negative, or more than the memory handle's"};
  }
  view.target = target;
  view.name = {given.token, given.slot};
  view.bytes = static_cast<std::uint64_t>(size);
  view.disp_unit = static_cast<std::uint64_t>(disp_unit);
  return parent.core->open_handle(view) == Error::none ? Failure() : no_handle();
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::HandleView;

ORIEL_CALL(Memhandle_create)
(void* base, MPI_Aint size, MPI_Info, MPI_Win parent, void* memhandle, int* memhandle_size) {
  constexpr const char* call = "ORIEL_Memhandle_create";
  return dispatch_call(
      call, parent,
      [&](WindowHandle& window) {
        HandleBytes made;
        if (const Failure bad = check_outputs(memhandle, memhandle_size)) return bad;
        if (const Failure bad = create(window, base, size, made)) return bad;
        std::memcpy(memhandle, &made, sizeof made);
        *memhandle_size = static_cast<int>(sizeof made);
        return Failure();
      },
      [&] { return unsupported_window(call, parent, lacking::memory_handles); });
}

ORIEL_CALL(Memhandle_release)(void* memhandle, MPI_Win parent) {
  constexpr const char* call = "ORIEL_Memhandle_release";
  return dispatch_call(
      call, parent, [&](WindowHandle& window) { return release(window, memhandle); },
      [&] { return unsupported_window(call, parent, lacking::memory_handles); });
}

ORIEL_CALL(Win_from_memhandle)
(const void* memhandle, MPI_Aint size, int disp_unit, MPI_Info info, int target, MPI_Win parent,
 MPI_Win* win) {
  constexpr const char* call = "ORIEL_Win_from_memhandle";
  std::unique_ptr<WindowHandle> made;
  const int code = dispatch_call(
      call, parent,
      [&](WindowHandle& window) {
        HandleView view;
        if (const Failure bad = check_outputs(win)) return bad;
        if (const Failure bad = open(window, memhandle, size, disp_unit, target, view)) {
          return bad;
        }
        made = copy_handle(window);
        made->base = nullptr;
        made->size = size;
        made->disp_unit = disp_unit;
        made->ranks = 0;
        made->view = view;
        ++count_of(*made);
        return Failure();
      },
      [&] { return unsupported_window(call, parent, lacking::memory_handles); });
  return code == MPI_SUCCESS ? hand_out(call, parent, info, std::move(made), win) : code;
}
