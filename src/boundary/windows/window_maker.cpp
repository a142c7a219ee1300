// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/window_maker.hpp"
#include "boundary/host/host_mpi.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include "boundary/host/errors.hpp"
#include "boundary/host/host_windows.hpp"
#include "boundary/host/speaker.hpp"
#include "boundary/progress/agent.hpp"
#include "boundary/progress/sweeping.hpp"
#include "boundary/runtime/acquaintance.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/startup/lifetime.hpp"
#include "boundary/windows/member_table.hpp"
#include "boundary/windows/paths.hpp"
#include "core/base/settings.hpp"
#include "core/lock/control.hpp"

namespace oriel::boundary {
namespace {

std::string rank_and_host(int rank, const Announcement& announcement) {
  return "rank " + std::to_string(rank) + " (" + announcement.node.name.data() + ")";
}

}  // namespace

WindowMaker::WindowMaker(const char* call, MPI_Comm communicator, MPI_Info info)
    : call_(call), communicator_(communicator), window_(std::make_unique<BoundWindow>()) {
  window_->info.read(info);
  window_->suggested_counters = window_->info.suggested_counters();
  window_->most_counters = window_->info.most_counters();
}

WindowMaker::~WindowMaker() {
  if (window_ == nullptr) return;
  if (window_->handle != MPI_WIN_NULL) host_windows.keep(window_->handle, false);
  if (window_->carried->group != MPI_GROUP_NULL) PMPI_Group_free(&window_->carried->group);
  {
    const Guard guard(runtime.lock);
    if (mine_.window != 0) runtime.engine()->process.forget_window(mine_.window);
    own_.reset();
    window_.reset();
  }
  if (holds_) lifetime.let_go();
}

void WindowMaker::give_up(int error_class, std::string reason) {
  mine_.failed = 1;
  if (error_class_ != MPI_SUCCESS) return;
  error_class_ = error_class;
  reason_ = std::move(reason);
  if (reason_.ends_with('.')) reason_.pop_back();  // it becomes a part of a sentence
}

int WindowMaker::prepare(MPI_Aint size, MPI_Aint disp_unit, const Failure& outputs) {
  // The host raises what is wrong with the communicator itself.
  if (const int code = PMPI_Comm_rank(communicator_, &rank_); code != MPI_SUCCESS) return code;
  // Every rank of both groups finds the same, so no rank waits for another one.
  int inter = 0;
  if (const int code = PMPI_Comm_test_inter(communicator_, &inter); code != MPI_SUCCESS) {
    return code;
  }
  if (inter != 0) {
    return raise(communicator_, call_, MPI_ERR_COMM,
                 "the communicator is an intercommunicator; windows are made on intracommunicators "
                 "(MPI_Intercomm_merge makes one of both groups)");
  }
  if (const int code = PMPI_Comm_size(communicator_, &ranks_); code != MPI_SUCCESS) return code;
  if (const int code = PMPI_Comm_group(communicator_, &window_->carried->group);
      code != MPI_SUCCESS) {
    return code;
  }
  if (outputs) give_up(outputs.error_class, outputs.reason);
  if (size < 0) give_up(MPI_ERR_SIZE, "the size is negative");
  if (disp_unit <= 0) give_up(MPI_ERR_DISP, "the displacement unit is not positive");
  std::string error;
  holds_ = lifetime.hold(error);
  if (!holds_) give_up(MPI_ERR_OTHER, error);
  const Guard guard(runtime.lock);
  note_windows_on(communicator_);
  mine_.node = Node::here();
  if (holds_) own_ = std::make_shared<OwnMemory>(runtime.engine()->routes);
  if (mine_.failed != 0) return MPI_SUCCESS;
  mine_.size = static_cast<std::uint64_t>(size);
  mine_.disp_unit = static_cast<std::uint64_t>(disp_unit);
  mine_.intrinsic = window_->info.accumulate_intrinsic ? 1 : 0;
  // Peers try it when they attach us.
  if (ranks_ > 1) runtime.engine()->routes.node().permit_vm();
  mine_.process = runtime.engine()->routes.node().name();
  mine_.met = has_met(communicator_, mine_.process.id) ? 1 : 0;
  mine_.window = spec_.id = runtime.engine()->next_window++;
  runtime.engine()->process.expect_window(spec_.id);
  return MPI_SUCCESS;
}

void WindowMaker::take_memory(std::uint64_t bytes) {
  if (mine_.failed != 0) return;
  const Guard guard(runtime.lock);
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(ranks_));
  mine_.control = take(control_bytes, alignof(ControlBlock), own_->control);
  if (bytes != 0) mine_.memory = take(bytes, window_->info.alignment(), own_->memory);
  if (mine_.failed != 0) return;
  // Process and number of the window.
  const auto pid = static_cast<std::uint64_t>(mine_.process.arena.pid);
  const std::uint64_t name = pid << 32 | spec_.id;
  ControlBlock::create(own_->control.get(), static_cast<std::uint32_t>(ranks_), name);
}

Place WindowMaker::take(std::uint64_t bytes, std::uint64_t alignment, ArenaPiece& piece) {
  std::string error;
  piece = {runtime.arena.allocate(bytes, alignment, error), {&runtime.arena}};
  if (piece != nullptr) return runtime.arena.find(piece.get(), bytes).value_or(Place{});
  give_up(MPI_ERR_NO_MEM, error);
  return {};
}

int WindowMaker::announce() {
  if (mine_.failed == 0 &&
      !host_windows.make(runtime.self, MPI_ERRHANDLER_NULL, &window_->handle)) {
    give_up(MPI_ERR_OTHER, "the host MPI cannot make the window that lends its handle");
  }
  all_.resize(static_cast<std::size_t>(ranks_));
  int code = gather(&mine_, sizeof mine_, all_.data(), communicator_);
  if (code != MPI_SUCCESS) return code;
  settled_ = settled();
  if (!settled_) {
    code = part_strangers();
    if (code != MPI_SUCCESS) return code;
  }
  code = meet_nodes();
  if (code != MPI_SUCCESS) return code;
  if (contiguous_) lay_out_contiguously();
  return MPI_SUCCESS;
}

/// All ranks have met, and have mapped what is announced: first extents. They see so themselves.
/// Between nodes shared memory is refused, and atomics of the network may be, which take all ranks'
/// wish.
bool WindowMaker::settled() const {
  return std::ranges::all_of(all_, [&](const Announcement& peer) {
    const bool one_node = peer.node.id == all_.front().node.id;
    return peer.met != 0 && peer.failed == 0 && peer.control.extent() == 0 &&
           (!peer.mappable() || peer.memory.extent() == 0) &&
           (one_node || (!spec_.shared && all_.front().intrinsic == 0));
  });
}

/// A node on which somebody cannot map somebody's memory is none: its ranks are elsewhere to one
/// another, on all ranks alike and in both directions.
int WindowMaker::part_strangers() {
  const int hidden = mine_.failed == 0 && !reaches_its_node() ? 1 : 0;
  std::vector<int> all(all_.size());
  const int code = host_mpi().Allgather(&hidden, 1, MPI_INT, all.data(), 1, MPI_INT, communicator_);
  if (code != MPI_SUCCESS) return code;
  std::set<std::uint64_t> parted;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != 0) parted.insert(all_[rank].node.id);
  }
  parted_ = !parted.empty();
  for (Announcement& peer : all_) {
    if (parted.contains(peer.node.id)) peer.node.id ^= peer.process.id;
  }
  return MPI_SUCCESS;
}

bool WindowMaker::reaches_its_node() {
  const Guard guard(runtime.lock);
  ShmTransport& transport = runtime.engine()->routes.node();
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(ranks_));
  for (int rank = 0; rank < ranks_; ++rank) {
    const Announcement& peer = all_[static_cast<std::size_t>(rank)];
    if (rank == rank_ || elsewhere(rank) || peer.failed != 0) continue;
    const int process = transport.attach(peer.process, hidden_);
    if (process == ShmTransport::incompatible) {
      give_up(MPI_ERR_OTHER, rank_and_host(rank, peer) + " cannot be reached: " + hidden_);
    } else if (process < 0 ||
               transport.at(process, peer.control, control_bytes, hidden_) == nullptr ||
               (peer.mappable() &&
                transport.at(process, peer.memory, mapped_bytes(peer), hidden_) == nullptr)) {
      return false;
    }
  }
  return true;
}

int WindowMaker::meet_nodes() {
  std::string others;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Announcement& other = all_[static_cast<std::size_t>(rank)];
    if (other.node.id == all_.front().node.id) continue;
    others += (others.empty() ? "" : ", ") + rank_and_host(rank, other);
  }
  several_nodes_ = !others.empty();
  if (!several_nodes_) return MPI_SUCCESS;
  if (spec_.shared) {
    give_up(MPI_ERR_RMA_SHARED, cannot_share(others));
    return MPI_SUCCESS;  // all ranks know
  }
  NetworkAnnouncement own;
  if (holds_) {
    const Guard guard(runtime.lock);
    Routes& routes = runtime.engine()->routes;
    std::string error;
    if (routes.network() == nullptr) routes.set_network(Network::open(error));
    if (routes.network() != nullptr) {
      own.name = routes.network()->name();
      if (dynamic()) {
        // Nothing is exposed: what is attached, its owner looks up for each operation.
        own.exposed = routes.network()->direct() ? 1 : 0;
      } else {
        expose(own);
      }
    } else {
      give_up(MPI_ERR_OTHER, "there is no way to " + others + ": " +
                                 (hidden_.empty() ? "" : hidden_ + " ") + error +
                                 "; or set ORIEL_DISABLE=1 to use the host MPI's windows");
    }
  }
  elsewhere_.resize(static_cast<std::size_t>(ranks_));
  return host_mpi().Allgather(&own, sizeof own, MPI_BYTE, elsewhere_.data(), sizeof own, MPI_BYTE,
                              communicator_);
}

void WindowMaker::expose(NetworkAnnouncement& own) {
  void* memory = own_->memory != nullptr ? own_->memory.get() : window_->base;
  own_->exposure = runtime.engine()->routes.network()->expose(memory, mine_.size, own.memory);
  own.exposed = own_->exposure >= 0 ? 1 : 0;
  if (window_->info.accumulate_intrinsic) offer_atomics(memory, own);
}

std::string WindowMaker::cannot_share(const std::string& others) const {
  const bool one_host = std::ranges::all_of(all_, [&](const Announcement& peer) {
    return std::strcmp(peer.node.name.data(), all_.front().node.name.data()) == 0;
  });
  return others + " cannot share memory with " + rank_and_host(0, all_.front()) +
         (one_host ? ": their processes are hidden from each other, as by PID namespaces of "
                     "their own. Let them share one"
                   : "; split the communicator by MPI_COMM_TYPE_SHARED first");
}

void WindowMaker::offer_atomics(void* memory, NetworkAnnouncement& own) {
  // Whether an element is aligned must be seen from its place in the window.
  constexpr std::uintptr_t largest_element = 8;
  if (reinterpret_cast<std::uintptr_t>(memory) % largest_element != 0) return;
  Routes& routes = runtime.engine()->routes;
  if (routes.atomics() == nullptr) routes.set_atomics(AtomicNetwork::open());
  AtomicNetwork* network = routes.atomics();
  if (network == nullptr) return;
  if (mine_.size != 0) {
    own_->atomic_exposure = network->expose(memory, mine_.size, own.atomic_memory);
    if (own_->atomic_exposure < 0) return;
  }
  own.atomic_name = network->name();
  const OpSet ops = window_->info.ops();
  own.atomics = {network->types(ops), ops};
}

AtomicSet WindowMaker::atomics_of_all() const {
  if (elsewhere_.empty()) return {};
  AtomicSet all = elsewhere_.front().atomics;
  for (const NetworkAnnouncement& other : elsewhere_) {
    all.types &= other.atomics.types;
    if (other.atomics.ops != all.ops ||
        other.atomic_name.provider != elsewhere_.front().atomic_name.provider) {
      return {};
    }
  }
  return all;
}

/// All ranks have asked for it, and each maps the memory of all.
bool WindowMaker::intrinsic_by_cpus() const {
  return !dynamic() &&
         std::ranges::all_of(all_, [](const Announcement& rank) { return rank.intrinsic != 0; }) &&
         std::ranges::all_of(members_, [](const Member& member) {
           return member.control != nullptr && !member.private_memory;
         });
}

void WindowMaker::meet_atomics() {
  atomics_ = atomics_of_all();
  window_->info.accumulate_intrinsic = !atomics_.empty() || intrinsic_by_cpus();
  if (atomics_.empty()) return;
  for (int rank = 0; rank < ranks_; ++rank) {
    const NetworkAnnouncement& announced = elsewhere_[static_cast<std::size_t>(rank)];
    Member& member = members_[static_cast<std::size_t>(rank)];
    member.atomic_process = runtime.engine()->routes.atomics()->attach(announced.atomic_name);
    member.atomic_memory = announced.atomic_memory;
    if (member.atomic_process >= 0) continue;
    return give_up(MPI_ERR_OTHER,
                   rank_and_host(rank, all_[static_cast<std::size_t>(rank)]) +
                       " cannot be reached by libfabric's atomics; leave out the info key "
                       "mpi_assert_accumulate_intrinsic");
  }
}

void WindowMaker::lay_out_contiguously() {
  Place next = all_.front().memory;
  for (Announcement& announcement : all_) {
    announcement.memory = next;
    next.offset += announcement.size;
  }
}

void WindowMaker::meet_peers() {
  if (error_class_ != MPI_SUCCESS) return;
  const Guard guard(runtime.lock);
  members_.resize(static_cast<std::size_t>(ranks_));
  for (int rank = 0; rank < ranks_; ++rank) {
    const Announcement& peer = all_[static_cast<std::size_t>(rank)];
    if (peer.failed != 0) continue;  // all ranks will give up; which one failed is what they report
    std::string error;
    if (elsewhere(rank) ? !meet_elsewhere(rank, error) : !meet(rank, error)) {
      return give_up(MPI_ERR_OTHER, rank_and_host(rank, peer) + " cannot be reached: " + error);
    }
  }
  meet_atomics();
}

bool WindowMaker::meet_elsewhere(int rank, std::string& error) {
  const Announcement& peer = all_[static_cast<std::size_t>(rank)];
  const NetworkAnnouncement& announced = elsewhere_[static_cast<std::size_t>(rank)];
  const NetworkName& name = announced.name;
  Member& member = members_[static_cast<std::size_t>(rank)];
  if (name.endpoint.id == 0) return true;  // it has given up and says why
  const int number = runtime.engine()->routes.network()->attach(name, error);
  if (number < 0) return false;
  member.process = Routes::first_elsewhere + number;
  member.path = Path::served;
  member.window = peer.window;
  member.direct = announced.exposed != 0;
  member.memory = announced.memory;
  member.size = peer.size;
  member.disp_unit = peer.disp_unit;
  return true;
}

bool WindowMaker::meet(int rank, std::string& error) {
  const Announcement& peer = all_[static_cast<std::size_t>(rank)];
  Member& member = members_[static_cast<std::size_t>(rank)];
  ShmTransport& transport = runtime.engine()->routes.node();
  const bool self = rank == rank_;
  member.process = self ? transport.self() : transport.attach(peer.process, error);
  if (member.process < 0) return false;
  member.window = peer.window;
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(ranks_));
  std::byte* control = transport.at(member.process, peer.control, control_bytes, error);
  if (control == nullptr) return false;
  member.control = std::launder(reinterpret_cast<ControlBlock*>(control));
  member.doorbell = &transport.doorbell(member.process);
  member.size = peer.size;
  member.disp_unit = peer.disp_unit;
  member.address = peer.address;
  member.private_memory = !peer.mappable() && peer.size != 0 && ranks_ > 1;
  if (dynamic()) {
    // What will be attached is not known: some of it may be private.
    const std::byte* pieces = transport.at(member.process, peer.memory, mapped_bytes(peer), error);
    if (pieces == nullptr) return false;
    member.pieces = std::launder(reinterpret_cast<const SharedPieces*>(pieces));
    member.private_memory = ranks_ > 1;
    if (!self && !transport.vm_allowed(member.process)) member.path = Path::served;
  } else if (self && window_->flavor == MPI_WIN_FLAVOR_CREATE) {
    member.base = static_cast<std::byte*>(window_->base);
  } else if (peer.mappable()) {
    const int owner = contiguous_ ? members_.front().process : member.process;
    member.base = transport.at(owner, peer.memory, peer.size, error);
    if (member.base == nullptr) return false;
    if (self) window_->base = member.base;
  } else if (peer.size != 0) {
    member.path = transport.vm_allowed(member.process) ? Path::vm : Path::served;
  }
  return true;
}

int WindowMaker::agree() {
  const bool served = std::any_of(members_.begin(), members_.end(), [](const Member& m) {
    return m.path == Path::served && m.control != nullptr;
  });
  // Error classes are positive: the largest of all ranks' says whether anybody failed.
  const std::array<int, 2> own{error_class_, served ? 1 : 0};
  std::array<int, 2> any{};
  if (const int code =
          host_mpi().Allreduce(own.data(), any.data(), 2, MPI_INT, MPI_MAX, communicator_);
      code != MPI_SUCCESS) {
    return code;
  }
  if (any[0] != MPI_SUCCESS) return fail_together(any[0]);
  spec_.remote = several_nodes_ || any[1] != 0;
  separated_ = any[1] != 0;
  if (!parted_ && !separated_) note_acquaintance();
  if (separated_) separate();
  return MPI_SUCCESS;
}

int WindowMaker::fail_together(int error_class) {
  int speaker = 0;
  int code = find_speaker(communicator_, error_class_ == error_class, speaker);
  if (code != MPI_SUCCESS) return code;
  std::string words = reason_;
  code = hear(communicator_, speaker, words);
  if (code != MPI_SUCCESS) return code;
  if (error_class_ == MPI_SUCCESS) {
    reason_ = rank_and_host(speaker, all_[static_cast<std::size_t>(speaker)]) +
              " could not take part: " + words;
  }
  return raise(communicator_, call_, error_class, reason_);
}

/// Somebody must not touch a node peer's private memory: towards ranks with private memory, and
/// from them, everything goes by messages then, on all ranks alike and in both directions.
void WindowMaker::separate() {
  const bool own_private = members_[static_cast<std::size_t>(rank_)].private_memory;
  for (int rank = 0; rank < ranks_; ++rank) {
    Member& member = members_[static_cast<std::size_t>(rank)];
    if (rank == rank_ || elsewhere(rank) || !(own_private || member.private_memory)) continue;
    member.path = Path::served;
    member.base = nullptr;
    member.pieces = nullptr;
    member.control = nullptr;
    member.doorbell = nullptr;
  }
}

/// All ranks come here together.
void WindowMaker::note_acquaintance() const {
  const Guard guard(runtime.lock);
  ShmTransport& transport = runtime.engine()->routes.node();
  if (std::ranges::all_of(members_, [&](const Member& member) {
        return member.control == nullptr || transport.vm_allowed(member.process);
      })) {
    note_met(communicator_, mine_.process.id);
  }
}

int WindowMaker::finish(MPI_Win* handle) {
  if (!settled_) {
    if (const int code = agree(); code != MPI_SUCCESS) return code;
  } else if (error_class_ != MPI_SUCCESS) {
    // It cannot happen: what is announced has been mapped, and needs nothing more. The others would
    // not know.
    return raise(communicator_, call_, error_class_, reason_);
  } else {
    spec_.remote = several_nodes_;
  }
  const bool remote = spec_.remote;
  spec_.no_locks = window_->info.no_locks;
  spec_.reorder = window_->info.reorder;
  window_->size = static_cast<MPI_Aint>(mine_.size);
  window_->disp_unit = static_cast<int>(mine_.disp_unit);
  {
    const Guard guard(runtime.lock);
    Engine& engine = *runtime.engine();
    spec_.region = make_region(engine);
    window_->ranks = ranks_;
    window_->carried->core = window_->core = &engine.process.create_window(std::move(spec_));
    engine.node_sends |= separated_;
  }
  if (remote && Agent::needed(window_->info.no_locks)) agent.start();
  // Messages for a window that is not made yet would be lost. Where there are none, its control
  // block is all that peers need, and that was there before it was announced.
  const int code = remote ? host_mpi().Barrier(communicator_) : MPI_SUCCESS;
  const Guard guard(runtime.lock);
  Engine& engine = *runtime.engine();
  if (code != MPI_SUCCESS) {
    engine.process.destroy_window(*window_->core);
    return code;
  }
  if (setting_bool("ORIEL_INFO") && rank_ == 0) describe();
  runtime.windows.insert(handle_key(window_->handle), window_.get());
  *handle = window_->handle;
  engine.windows.push_back(std::move(window_));
  return MPI_SUCCESS;
}

std::shared_ptr<Region> WindowMaker::make_region(Engine& engine) {
  RegionSpec spec;
  spec.rank = rank_;
  spec.ranks = ranks_;
  spec.control = members_[static_cast<std::size_t>(rank_)].control;
  if (dynamic()) spec.pieces = std::launder(reinterpret_cast<SharedPieces*>(own_->memory.get()));
  spec.own = std::move(own_);
  spec.atomics = atomics_;
  spec.atomicity = window_->info.atomicity();
  for (int rank = 0; rank < ranks_; ++rank) {
    if (members_[static_cast<std::size_t>(rank)].control != nullptr) spec.mapped.push_back(rank);
  }
  spec.directory = std::make_shared<MemberTable>(members_, !atomics_.empty());
  return std::make_shared<Region>(std::move(spec), engine.routes);
}

void WindowMaker::describe() const {
  std::fprintf(stderr, "oriel: window %u, made by %s, %d ranks: %s\n", window_->core->id(), call_,
               ranks_, describe_paths(*window_->core).c_str());
  std::fputs(describe_protocols(*window_->core).c_str(), stderr);
  std::fprintf(stderr, "oriel: network: %s\n", describe_network().c_str());
  if (!window_->info.accumulate_intrinsic) return;
  std::fprintf(
      stderr, "oriel: accumulates: by atomics of %s\n",
      atomics_.empty() ? "the processors" : elsewhere_.front().atomic_name.provider.data());
}

int WindowMaker::create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Win* handle) {
  if (const int code = prepare(size, disp_unit, check_outputs(handle)); code != MPI_SUCCESS) {
    return code;
  }
  take_memory(0);
  window_->flavor = MPI_WIN_FLAVOR_CREATE;
  window_->base = base;
  mine_.address = reinterpret_cast<std::uintptr_t>(base);
  {
    const Guard guard(runtime.lock);
    if (const auto place = runtime.arena.find(base, mine_.size)) {
      mine_.memory = *place;
    }
  }
  if (const int code = announce(); code != MPI_SUCCESS) return code;
  meet_peers();
  return finish(handle);
}

int WindowMaker::allocate(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle) {
  if (const int code = prepare(size, disp_unit, check_outputs(base, handle)); code != MPI_SUCCESS) {
    return code;
  }
  window_->flavor = MPI_WIN_FLAVOR_ALLOCATE;
  take_memory(mine_.size);
  return share(base, handle);
}

int WindowMaker::allocate_shared(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle) {
  if (const int code = prepare(size, disp_unit, check_outputs(base, handle)); code != MPI_SUCCESS) {
    return code;
  }
  window_->flavor = MPI_WIN_FLAVOR_SHARED;
  spec_.shared = true;
  if (window_->info.alloc_shared_noncontig) {
    take_memory(mine_.size);
    return share(base, handle);
  }
  contiguous_ = true;
  // In halves, whose sums do not wrap: all ranks' sizes together may be more than an address says.
  constexpr unsigned half = 32;
  constexpr std::uint64_t low = (std::uint64_t{1} << half) - 1;
  const std::array<std::uint64_t, 2> own{mine_.size >> half, mine_.size & low};
  std::array<std::uint64_t, 2> sum{};
  if (const int code = assemble(communicator_); code != MPI_SUCCESS) return code;
  if (const int code =
          host_mpi().Allreduce(own.data(), sum.data(), 2, MPI_UINT64_T, MPI_SUM, communicator_);
      code != MPI_SUCCESS) {
    return code;
  }
  if (sum[0] + (sum[1] >> half) > low / 2) {
    give_up(MPI_ERR_SIZE, "the sizes of all ranks together are more than an address can say");
  }
  take_memory(rank_ == 0 ? (sum[0] << half) + sum[1] : 0);
  return share(base, handle);
}

int WindowMaker::create_dynamic(MPI_Win* handle) {
  if (const int code = prepare(0, 1, check_outputs(handle)); code != MPI_SUCCESS) {
    return code;
  }
  window_->flavor = MPI_WIN_FLAVOR_DYNAMIC;
  take_memory(sizeof(SharedPieces));
  if (mine_.failed == 0) new (own_->memory.get()) SharedPieces;
  if (const int code = announce(); code != MPI_SUCCESS) return code;
  meet_peers();
  return finish(handle);
}

int WindowMaker::share(void* base, MPI_Win* handle) {
  if (const int code = announce(); code != MPI_SUCCESS) return code;
  meet_peers();
  void* own = window_->base;
  if (contiguous_ && own != nullptr) window_->info.note_address(own);
  const int code = finish(handle);
  // The argument is declared void* and is the address of a pointer of whatever type.
  if (code == MPI_SUCCESS) std::memcpy(base, &own, sizeof own);
  return code;
}

}  // namespace oriel::boundary
