// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/window_maker.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "boundary/host/errors.hpp"
#include "boundary/progress/progress.hpp"
#include "boundary/progress/roll_call.hpp"
#include "boundary/progress/setup_collectives.hpp"
#include "boundary/progress/sweeping.hpp"
#include "boundary/runtime/known_peers.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/startup/lifetime.hpp"
#include "boundary/windows/paths.hpp"
#include "core/base/settings.hpp"
#include "core/epoch/events.hpp"
#include "engine/progress/waiting.hpp"
#include "engine/windows/member_table.hpp"

namespace oriel::boundary {
namespace {

/// The first collective of a call, reported as a wait for the last rank.
template <typename Collective>
int meet_all(const WindowDraft& draft, Collective&& first) {
  const auto collective = [&] {
    const int code = take_roll_call(draft.communicator, draft.call);
    return code == MPI_SUCCESS ? first() : code;
  };
  if (!draft.holds_engine) return collective();
  std::optional<WaitEvent> event;
  {
    const Guard guard(engine.lock);
    const WindowEvents events(engine.running()->process.events(), {draft.mine.window, draft.rank});
    event.emplace(events, Wait{WaitReason::window});
  }
  const int code = collective();
  const Guard guard(engine.lock);
  event.reset();
  return code;
}

}  // namespace

int WindowMaker::create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Win* handle) {
  draft_.window->flavor = MPI_WIN_FLAVOR_CREATE;
  Failure bad = check_outputs(handle);
  if (!bad) bad = check_memory(base, size);
  if (const int code = prepare(size, disp_unit, bad); code != MPI_SUCCESS) return code;
  draft_.take_memory(0);
  draft_.window->base = base;
  if (draft_.holds_engine) {
    const Guard guard(engine.lock);
    MemoryRange& memory = draft_.mine.memory;
    memory.address = reinterpret_cast<std::uintptr_t>(base);
    if (draft_.ranks > 1) {
      memory = engine.running()->transports.shm().locate(base, memory.bytes);
      draft_.own->created = memory;
    }
  }
  return make(handle);
}

int WindowMaker::allocate(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle) {
  draft_.window->flavor = MPI_WIN_FLAVOR_ALLOCATE;
  if (const int code = prepare(size, disp_unit, check_outputs(base, handle)); code != MPI_SUCCESS) {
    return code;
  }
  draft_.take_memory(draft_.mine.memory.bytes);
  return make_with_memory(base, handle);
}

int WindowMaker::allocate_shared(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle) {
  draft_.window->flavor = MPI_WIN_FLAVOR_SHARED;
  if (const int code = prepare(size, disp_unit, check_outputs(base, handle)); code != MPI_SUCCESS) {
    return code;
  }
  if (draft_.window->info.alloc_shared_noncontig) {
    draft_.take_memory(draft_.mine.memory.bytes);
  } else if (const int code = take_contiguous_memory(); code != MPI_SUCCESS) {
    return code;
  }
  return make_with_memory(base, handle);
}

int WindowMaker::create_dynamic(MPI_Win* handle) {
  draft_.window->flavor = MPI_WIN_FLAVOR_DYNAMIC;
  if (const int code = prepare(0, 1, check_outputs(handle)); code != MPI_SUCCESS) return code;
  draft_.take_memory(sizeof(SharedPieces));
  if (draft_.mine.failed == 0) new (draft_.own->memory.get()) SharedPieces;
  return make(handle);
}

int WindowMaker::prepare(MPI_Aint size, MPI_Aint disp_unit, const Failure& outputs) {
  const MPI_Comm communicator = draft_.communicator;
  if (communicator == MPI_COMM_NULL) {
    return raise(communicator, draft_.call, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  }
  // The host raises other errors of the communicator.
  if (const int code = PMPI_Comm_rank(communicator, &draft_.rank); code != MPI_SUCCESS) return code;
  // Every rank of both groups finds this, so no rank waits for another one.
  int inter = 0;
  if (const int code = PMPI_Comm_test_inter(communicator, &inter); code != MPI_SUCCESS) return code;
  if (inter != 0) {
    return raise(communicator, draft_.call, MPI_ERR_COMM,
                 "the communicator is an intercommunicator; windows are made on intracommunicators "
                 "(MPI_Intercomm_merge makes one of both groups)");
  }
  if (const int code = PMPI_Comm_size(communicator, &draft_.ranks); code != MPI_SUCCESS) {
    return code;
  }
  if (const int code = PMPI_Comm_group(communicator, &draft_.window->state->group);
      code != MPI_SUCCESS) {
    return code;
  }
  if (outputs) draft_.fail(outputs.error_class, outputs.reason);
  if (size < 0) draft_.fail(MPI_ERR_SIZE, "the size is negative");
  if (disp_unit <= 0) draft_.fail(MPI_ERR_DISP, "the displacement unit is not positive");
  std::string error;
  draft_.holds_engine = lifetime.hold(error);
  if (!draft_.holds_engine) draft_.fail(MPI_ERR_OTHER, error);
  const Guard guard(engine.lock);
  note_windows_on(communicator);
  Announcement& mine = draft_.mine;
  mine.node = Node::here();
  if (draft_.holds_engine) draft_.own = std::make_shared<OwnMemory>(engine.running()->transports);
  draft_.take_handle();
  if (mine.failed != 0) return MPI_SUCCESS;
  mine.memory.bytes = static_cast<std::uint64_t>(size);
  mine.disp_unit = static_cast<std::uint64_t>(disp_unit);
  mine.intrinsic = draft_.window->info.accumulate_intrinsic.load() ? 1 : 0;
  // Before peers attach this process: they then test whether they may copy its private memory.
  if (draft_.ranks > 1) engine.running()->transports.shm().permit_vm();
  mine.process = engine.running()->transports.shm().name();
  mine.knows_peers = knows_peers(communicator, mine.process.id) ? 1 : 0;
  mine.window = engine.running()->next_window++;
  engine.running()->process.expect_window(mine.window);
  return MPI_SUCCESS;
}

int WindowMaker::take_contiguous_memory() {
  draft_.contiguous = true;
  // In halves, whose sums do not overflow: the sum of all ranks' sizes may exceed an address.
  constexpr unsigned half = 32;
  constexpr std::uint64_t low = (std::uint64_t{1} << half) - 1;
  const std::array<std::uint64_t, 2> own{draft_.mine.memory.bytes >> half,
                                         draft_.mine.memory.bytes & low};
  std::array<std::uint64_t, 2> sum{};
  const int code = meet_all(draft_, [&] {
    if (const int failed = setup::assemble(draft_.communicator); failed != MPI_SUCCESS) {
      return failed;
    }
    return setup::allreduce(own.data(), sum.data(), 2, MPI_UINT64_T, MPI_SUM, draft_.communicator);
  });
  if (code != MPI_SUCCESS) return code;
  if (sum[0] + (sum[1] >> half) > low / 2) {
    draft_.fail(MPI_ERR_SIZE, "the sizes of all ranks together are more than an address can say");
  }
  draft_.take_memory(draft_.rank == 0 ? (sum[0] << half) + sum[1] : 0);
  return MPI_SUCCESS;
}

/// The steps of all four kinds of window after this rank's part is prepared.
int WindowMaker::make(MPI_Win* handle) {
  Announcements announced;
  if (const int code = meet_all(draft_, [&] { return announce(draft_, announced); });
      code != MPI_SUCCESS) {
    return code;
  }
  NodeGroups groups;
  if (const int code = meet_node(draft_, announced, groups); code != MPI_SUCCESS) return code;
  NetworkAnnouncements network;
  if (const int code = meet_other_nodes(draft_, announced, groups, network); code != MPI_SUCCESS) {
    return code;
  }
  if (draft_.contiguous) announced.lay_out_contiguously();
  WindowMembers members = find_members(draft_, announced, groups, network);
  WindowAgreement agreed;
  if (const int code = agree(draft_, announced, groups, members, agreed); code != MPI_SUCCESS) {
    return code;
  }
  return finish(members, agreed, handle);
}

int WindowMaker::make_with_memory(void* base, MPI_Win* handle) {
  const WindowHandle* window = draft_.window.get();  // exists as long as the window
  const int code = make(handle);
  // The argument is declared void*, and is the address of a pointer of any type.
  if (code == MPI_SUCCESS) std::memcpy(base, &window->base, sizeof window->base);
  return code;
}

int WindowMaker::finish(const WindowMembers& members, const WindowAgreement& agreed,
                        MPI_Win* handle) {
  WindowHandle& window = *draft_.window;
  WindowSpec spec;
  spec.id = draft_.mine.window;
  spec.shared = draft_.shared();
  spec.remote = agreed.remote;
  spec.no_locks = window.info.no_locks;
  spec.reorder = window.info.reorder;
  window.size = static_cast<MPI_Aint>(draft_.mine.memory.bytes);
  window.disp_unit = static_cast<int>(draft_.mine.disp_unit);
  if (draft_.contiguous && window.base != nullptr) window.info.note_address(window.base);
  {
    const Guard guard(engine.lock);
    Running& running = *engine.running();
    spec.region = make_region(running, members);
    window.ranks = draft_.ranks;
    window.state->core = window.core = &running.process.create_window(std::move(spec));
    running.node_sends |= agreed.messages_on_node;
  }
  if (agreed.remote && progress.needs_agent(window.info.no_locks)) engine.agent.start();
  // A message for a window that does not exist yet would be lost. If there are no messages, peers
  // need only the window's control block, which existed before it was announced.
  const int code = agreed.remote ? setup::barrier(draft_.communicator) : MPI_SUCCESS;
  const Guard guard(engine.lock);
  Running& running = *engine.running();
  if (code != MPI_SUCCESS) {
    running.process.destroy_window(*window.core);
    return code;
  }
  if (setting_bool("ORIEL_INFO") && draft_.rank == 0) describe(!members.atomics.empty());
  runtime.windows.insert(handle_key(window.handle), &window);
  *handle = window.handle;
  runtime.owned_handles.emplace(&window, std::move(draft_.window));
  return MPI_SUCCESS;
}

std::shared_ptr<Region> WindowMaker::make_region(Running& running, const WindowMembers& members) {
  RegionSpec spec;
  spec.rank = draft_.rank;
  spec.ranks = draft_.ranks;
  spec.control = members.of(draft_.rank).control;
  if (draft_.dynamic()) {
    spec.pieces = std::launder(reinterpret_cast<SharedPieces*>(draft_.own->memory.get()));
  }
  spec.own = std::move(draft_.own);
  spec.atomics = members.atomics;
  spec.atomicity = draft_.window->info.atomicity();
  for (int rank = 0; rank < draft_.ranks; ++rank) {
    if (members.of(rank).control != nullptr) spec.mapped.push_back(rank);
  }
  spec.resolver = std::make_shared<MemberTable>(members.by_rank, !members.atomics.empty());
  return std::make_shared<Region>(std::move(spec), running.transports);
}

/// `by_network`: the network's atomics carry out accumulates.
void WindowMaker::describe(bool by_network) const {
  Window& core = *draft_.window->core;
  std::fprintf(stderr, "oriel: window %u, made by %s, %d ranks: %s\n", core.id(), draft_.call,
               draft_.ranks, describe_paths(core).c_str());
  std::fputs(describe_protocols(core).c_str(), stderr);
  std::fprintf(stderr, "oriel: network: %s\n", describe_network().c_str());
  if (!draft_.window->info.accumulate_intrinsic.load()) return;
  std::fprintf(stderr, "oriel: accumulates: by atomics of %s\n",
               by_network ? engine.running()->transports.atomics()->name().provider.data()
                          : "the processors");
}

}  // namespace oriel::boundary
