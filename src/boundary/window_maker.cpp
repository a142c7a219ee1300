// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/window_maker.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "boundary/agent.hpp"
#include "boundary/errors.hpp"
#include "boundary/host_windows.hpp"
#include "boundary/paths.hpp"
#include "boundary/runtime.hpp"
#include "boundary/sweeping.hpp"
#include "core/control.hpp"
#include "core/settings.hpp"

namespace oriel::boundary {
namespace {

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::string rank_and_host(int rank, const Announcement& announcement) {
  return "rank " + std::to_string(rank) + " (" + announcement.node.name.data() + ")";
}

}  // namespace

WindowMaker::WindowMaker(const char* call, MPI_Comm communicator, MPI_Info info)
    : call_(call), communicator_(communicator), window_(std::make_unique<BoundWindow>()) {
  window_->info.read(info);
}

WindowMaker::~WindowMaker() {
  if (window_ == nullptr) return;
  if (Engine* engine = runtime.engine()) {
    const Guard guard(runtime.lock);
    engine->withdraw(*window_);
  }
  if (window_->handle != MPI_WIN_NULL) host_windows.free(&window_->handle);
  if (window_->group != MPI_GROUP_NULL) PMPI_Group_free(&window_->group);
}

void WindowMaker::give_up(int error_class, std::string reason) {
  mine_.failed = 1;
  if (error_class_ != MPI_SUCCESS) return;
  error_class_ = error_class;
  reason_ = std::move(reason);
}

int WindowMaker::prepare(MPI_Aint size, MPI_Aint disp_unit) {
  // The host raises what is wrong with the communicator itself.
  if (const int code = PMPI_Comm_rank(communicator_, &rank_); code != MPI_SUCCESS) return code;
  if (const int code = PMPI_Comm_size(communicator_, &ranks_); code != MPI_SUCCESS) return code;
  if (const int code = PMPI_Comm_group(communicator_, &window_->group); code != MPI_SUCCESS) {
    return code;
  }
  if (size < 0) give_up(MPI_ERR_SIZE, "the size is negative");
  if (disp_unit <= 0) give_up(MPI_ERR_DISP, "the displacement unit is not positive");
  std::string error;
  if (!runtime.start(error)) give_up(MPI_ERR_OTHER, error);
  const Guard guard(runtime.lock);
  note_windows_on(communicator_);
  mine_.node = Node::here();
  if (mine_.failed != 0) return MPI_SUCCESS;
  mine_.size = static_cast<std::uint64_t>(size);
  mine_.disp_unit = static_cast<std::uint64_t>(disp_unit);
  mine_.process = runtime.engine()->routes.node().name();
  mine_.window = spec_.id = runtime.engine()->next_window++;
  return MPI_SUCCESS;
}

void WindowMaker::make_own_segment(std::uint64_t memory_bytes) {
  if (mine_.failed != 0) return;
  const std::uint64_t alignment = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), window_->info.alignment());
  const std::uint64_t offset =
      round_up(ControlBlock::bytes(static_cast<std::size_t>(ranks_)), alignment);
  std::string error;
  Segment segment = Segment::create(offset + memory_bytes, error);
  if (!segment) return give_up(MPI_ERR_NO_MEM, error);
  ControlBlock::create(segment.data(), static_cast<std::uint32_t>(ranks_));
  mine_.control = segment.name();
  if (memory_bytes != 0) {
    mine_.memory = segment.name();
    mine_.offset = offset;
    mine_.mappable = 1;
  }
  mapped_.push_back({mine_.control.device, mine_.control.inode, segment.data()});
  window_->segments.push_back(std::move(segment));
}

int WindowMaker::announce() {
  all_.resize(static_cast<std::size_t>(ranks_));
  if (const int code = assemble(communicator_); code != MPI_SUCCESS) return code;
  int code = PMPI_Allgather(&mine_, sizeof mine_, MPI_BYTE, all_.data(), sizeof mine_, MPI_BYTE,
                            communicator_);
  if (code != MPI_SUCCESS) return code;
  code = meet_nodes();
  if (code != MPI_SUCCESS) return code;
  if (contiguous_) lay_out_contiguously();
  return MPI_SUCCESS;
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
    give_up(MPI_ERR_RMA_SHARED, others + " cannot share memory with " +
                                    rank_and_host(0, all_.front()) +
                                    "; split the communicator by MPI_COMM_TYPE_SHARED first");
    return MPI_SUCCESS;  // all ranks know
  }
  NetworkAnnouncement own;
  {
    const Guard guard(runtime.lock);
    Routes& routes = runtime.engine()->routes;
    std::string error;
    if (routes.network() == nullptr) routes.set_network(Network::open(error));
    if (routes.network() != nullptr) {
      own.name = routes.network()->name();
      void* memory = window_->base;
      if (mine_.mappable != 0 && window_->flavor != MPI_WIN_FLAVOR_CREATE) {
        memory = mapped_.front().data + mine_.offset;
      }
      window_->exposure = routes.network()->expose(memory, mine_.size, own.memory);
      own.exposed = window_->exposure >= 0 ? 1 : 0;
      if (window_->info.accumulate_intrinsic) offer_atomics(memory, own);
    } else {
      give_up(MPI_ERR_OTHER, "there is no way to " + others + ": " + error +
                                 "; or set ORIEL_DISABLE=1 to use the host MPI's windows");
    }
  }
  elsewhere_.resize(static_cast<std::size_t>(ranks_));
  return PMPI_Allgather(&own, sizeof own, MPI_BYTE, elsewhere_.data(), sizeof own, MPI_BYTE,
                        communicator_);
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
    window_->atomic_exposure = network->expose(memory, mine_.size, own.atomic_memory);
    if (window_->atomic_exposure < 0) return;
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

void WindowMaker::meet_atomics() {
  spec_.atomics = atomics_of_all();
  window_->info.accumulate_intrinsic = !spec_.atomics.empty();
  if (spec_.atomics.empty()) return;
  for (int rank = 0; rank < ranks_; ++rank) {
    const NetworkAnnouncement& announced = elsewhere_[static_cast<std::size_t>(rank)];
    Member& member = spec_.members[static_cast<std::size_t>(rank)];
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
  const Announcement first = all_.front();
  std::uint64_t offset = first.offset;
  for (Announcement& announcement : all_) {
    announcement.memory = first.memory;
    announcement.offset = offset;
    announcement.mappable = first.mappable;
    offset += announcement.size;
  }
}

std::byte* WindowMaker::map(const SegmentName& name, std::string& error) {
  const auto mapped = std::find_if(mapped_.begin(), mapped_.end(), [&](const Mapped& known) {
    return known.device == name.device && known.inode == name.inode;
  });
  if (mapped != mapped_.end()) return mapped->data;
  Segment segment = Segment::open(name, error);
  if (!segment) return nullptr;
  mapped_.push_back({name.device, name.inode, segment.data()});
  window_->segments.push_back(std::move(segment));
  return mapped_.back().data;
}

void WindowMaker::meet_peers() {
  if (error_class_ != MPI_SUCCESS) return;
  const Guard guard(runtime.lock);
  spec_.rank = rank_;
  spec_.members.resize(static_cast<std::size_t>(ranks_));
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
  Member& member = spec_.members[static_cast<std::size_t>(rank)];
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
  Member& member = spec_.members[static_cast<std::size_t>(rank)];
  ShmTransport& transport = runtime.engine()->routes.node();
  const bool self = rank == rank_;
  member.process = self ? transport.self() : transport.attach(peer.process, error);
  if (member.process < 0) return false;
  member.window = peer.window;
  std::byte* control = map(peer.control, error);
  if (control == nullptr) return false;
  member.control = reinterpret_cast<ControlBlock*>(control);
  if (member.control->version != ControlBlock::current_version) {
    error = "it runs another version of this library";
    return false;
  }
  member.doorbell = &transport.doorbell(member.process);
  member.board = &transport.board(member.process);
  member.size = peer.size;
  member.disp_unit = peer.disp_unit;
  member.address = peer.address;
  member.private_memory = peer.mappable == 0 && peer.size != 0 && ranks_ > 1;
  if (self && window_->flavor == MPI_WIN_FLAVOR_CREATE) {
    member.base = static_cast<std::byte*>(window_->base);
  } else if (peer.mappable != 0) {
    std::byte* memory = map(peer.memory, error);
    if (memory == nullptr) return false;
    member.base = memory + peer.offset;
    if (self) window_->base = member.base;
  } else if (peer.size != 0) {
    member.path =
        setting_bool("ORIEL_VM") && transport.vm_allowed(member.process) ? Path::vm : Path::served;
  }
  return true;
}

int WindowMaker::agree() {
  const bool served = std::any_of(spec_.members.begin(), spec_.members.end(), [](const Member& m) {
    return m.path == Path::served && m.control != nullptr;
  });
  // Error classes are positive: the largest of all ranks' says whether anybody failed.
  const std::array<int, 2> own{error_class_, served ? 1 : 0};
  std::array<int, 2> any{};
  if (const int code = PMPI_Allreduce(own.data(), any.data(), 2, MPI_INT, MPI_MAX, communicator_);
      code != MPI_SUCCESS) {
    return code;
  }
  if (any[0] != MPI_SUCCESS) {
    if (error_class_ == MPI_SUCCESS) reason_ = "another rank could not take part; it says why";
    return raise(communicator_, call_, any[0], reason_);
  }
  spec_.remote = several_nodes_ || any[1] != 0;
  if (any[1] != 0) separate();
  return MPI_SUCCESS;
}

/// Somebody must not touch a node peer's private memory: towards ranks with private memory, and
/// from them, everything goes by messages then, on all ranks alike and in both directions.
void WindowMaker::separate() {
  const bool own_private = spec_.members[static_cast<std::size_t>(rank_)].private_memory;
  for (int rank = 0; rank < ranks_; ++rank) {
    Member& member = spec_.members[static_cast<std::size_t>(rank)];
    if (rank == rank_ || elsewhere(rank) || !(own_private || member.private_memory)) continue;
    member.path = Path::served;
    member.base = nullptr;
    member.control = nullptr;
    member.doorbell = nullptr;
    member.board = nullptr;
  }
}

int WindowMaker::finish(MPI_Win* handle) {
  if (error_class_ == MPI_SUCCESS && !host_windows.make(&window_->handle)) {
    give_up(MPI_ERR_OTHER, "the host MPI cannot make the window that lends its handle");
  }
  if (const int code = agree(); code != MPI_SUCCESS) return code;
  spec_.no_locks = window_->info.no_locks;
  spec_.reorder = window_->info.reorder;
  window_->size = static_cast<MPI_Aint>(mine_.size);
  window_->disp_unit = static_cast<int>(mine_.disp_unit);
  {
    const Guard guard(runtime.lock);
    Engine& engine = *runtime.engine();
    window_->core = &engine.process.create_window(std::move(spec_));
  }
  if (several_nodes_ && !window_->info.no_locks) agent.start();
  // Behind it every rank has made its own.
  const int code = PMPI_Barrier(communicator_);
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

void WindowMaker::describe() const {
  std::fprintf(stderr, "oriel: window %u, made by %s, %d ranks: %s\n", window_->core->id(), call_,
               ranks_, describe_paths(*window_->core).c_str());
  std::fprintf(stderr, "oriel: network: %s\n", describe_network().c_str());
  if (!window_->info.accumulate_intrinsic) return;
  std::fprintf(stderr, "oriel: accumulates: by atomics of %s\n",
               elsewhere_.front().atomic_name.provider.data());
}

int WindowMaker::create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Win* handle) {
  if (const int code = prepare(size, disp_unit); code != MPI_SUCCESS) return code;
  make_own_segment(0);
  window_->flavor = MPI_WIN_FLAVOR_CREATE;
  window_->base = base;
  mine_.address = reinterpret_cast<std::uintptr_t>(base);
  {
    const Guard guard(runtime.lock);
    if (const auto place = runtime.memory.find(base, mine_.size)) {
      mine_.memory = place->segment;
      mine_.offset = place->offset;
      mine_.mappable = 1;
    }
  }
  if (const int code = announce(); code != MPI_SUCCESS) return code;
  meet_peers();
  return finish(handle);
}

int WindowMaker::allocate(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle) {
  if (const int code = prepare(size, disp_unit); code != MPI_SUCCESS) return code;
  window_->flavor = MPI_WIN_FLAVOR_ALLOCATE;
  make_own_segment(mine_.size);
  return share(base, handle);
}

int WindowMaker::allocate_shared(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle) {
  if (const int code = prepare(size, disp_unit); code != MPI_SUCCESS) return code;
  window_->flavor = MPI_WIN_FLAVOR_SHARED;
  spec_.shared = true;
  if (window_->info.alloc_shared_noncontig) {
    make_own_segment(mine_.size);
    return share(base, handle);
  }
  contiguous_ = true;
  std::uint64_t total = 0;
  if (const int code = assemble(communicator_); code != MPI_SUCCESS) return code;
  if (const int code = PMPI_Allreduce(&mine_.size, &total, 1, MPI_UINT64_T, MPI_SUM, communicator_);
      code != MPI_SUCCESS) {
    return code;
  }
  make_own_segment(rank_ == 0 ? total : 0);
  return share(base, handle);
}

int WindowMaker::share(void* base, MPI_Win* handle) {
  if (const int code = announce(); code != MPI_SUCCESS) return code;
  meet_peers();
  void* own = window_->base;
  const int code = finish(handle);
  // The argument is declared void* and is the address of a pointer of whatever type.
  if (code == MPI_SUCCESS) std::memcpy(base, &own, sizeof own);
  return code;
}

}  // namespace oriel::boundary
