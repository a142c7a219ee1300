// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/shm_transport.hpp"

#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "core/base/settings.hpp"
#include "core/base/shared_words.hpp"
#include "core/base/steps.hpp"
#include "core/lock/sharers.hpp"
#include "transport/shm/clock.hpp"
#include "transport/shm/futex.hpp"

namespace oriel {
namespace {

// The number of messages waiting for one process from which on it counts as congested.
constexpr std::size_t most_waiting = 64;

// How long a waiting process carries out errands before it sweeps again, ns: some thirty short
// errands. A chunk that has begun is finished.
constexpr std::uint64_t longest_service = 10'000;

// How long the origin of an errand in chunks may leave `alive_at` unchanged, ns. Its memory is
// identified by its pid. After its death another process may get that pid, but hardly within this
// time.
constexpr std::uint64_t longest_silence = 1'000'000;

// Checks for an errand, or its answer, between two reads of the clock.
constexpr unsigned rounds_per_clock = 8;

// Checks in a row that find no notification, before a check for a stalled queue.
constexpr unsigned calls_per_stall_check = 256;

bool random_id(std::uint64_t& id) {
  return ::getrandom(&id, sizeof id, 0) == sizeof id;
}

/// Copies to (`write`) or from the memory of a process.
Error copy_memory(pid_t pid, bool write, std::span<const Run> runs) {
  const auto call = write ? ::process_vm_writev : ::process_vm_readv;
  std::array<iovec, IOV_MAX> local;
  std::array<iovec, IOV_MAX> remote;
  for (std::uint64_t copied = 0;;) {  // bytes of the runs from the first one on
    for (; !runs.empty() && copied >= runs.front().bytes; runs = runs.subspan(1)) {
      copied -= runs.front().bytes;
    }
    if (runs.empty()) return Error::none;
    const std::size_t count = std::min(runs.size(), local.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Run& run = runs[i];
      const std::uint64_t skip = i == 0 ? copied : 0;
      local[i] = {static_cast<std::byte*>(run.local) + skip, run.bytes - skip};
      // An address in the other process, used by the kernel only.
      remote[i] = {reinterpret_cast<void*>(run.remote + skip), run.bytes - skip};
    }
    const ssize_t moved = call(pid, local.data(), count, remote.data(), count, 0);
    if (moved <= 0) return moved < 0 && errno == ESRCH ? Error::peer_lost : Error::system;
    copied += static_cast<std::uint64_t>(moved);
  }
}

}  // namespace

std::unique_ptr<ShmTransport> ShmTransport::create(Arena& arena, std::string& error, int rank) {
  std::unique_ptr<ShmTransport> made(new ShmTransport(arena));
  made->pid_ = ::getpid();
  made->vm_ = setting_bool("ORIEL_VM");
  if (!random_id(made->id_) || !random_id(made->probe_)) {
    error = std::string("Cannot draw a random id for this process: ") + std::strerror(errno) + ".";
    return nullptr;
  }
  std::byte* memory = arena.allocate(ProcessBlock::bytes(), cache_line, error);
  if (memory == nullptr) return nullptr;
  auto* block = new (memory) ProcessBlock;
  block->id = made->id_;
  block->probe_address = reinterpret_cast<std::uint64_t>(&made->probe_);
  block->probe_value = made->probe_;
  block->rank = rank;
  block->fenced =
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 ? 1 : 0;
  ::sched_getaffinity(0, sizeof block->processors, &block->processors);
  const ProcessName name{made->id_, process_start(made->pid_), arena.name(),
                         made->locate(memory, ProcessBlock::bytes()).location};
  made->add(name, PeerArena(name.arena), block);
  return made;
}

// Retired, because a peer may still read our doorbell and ring it.
ShmTransport::~ShmTransport() {
  if (!peers_.empty()) arena_.retire(peers_.front().block);
}

int ShmTransport::add(const ProcessName& name, PeerArena arena, ProcessBlock* block) {
  const int number = processes();
  fenced_ = fenced_ && block->fenced == 1;
  CPU_OR(&processors_, &processors_, &block->processors);
  peers_.push_back({name, std::move(arena), block});
  crowded_.store(processes() > CPU_COUNT(&processors_));
  numbers_.emplace(name.id, number);
  peer(number).vm_allowed = try_vm(number);
  return number;
}

int ShmTransport::attach(const ProcessName& name, std::string& error) {
  if (const auto known = numbers_.find(name.id); known != numbers_.end()) return known->second;
  PeerArena arena(name.arena);
  std::byte* memory = arena.at(name.block, ProcessBlock::bytes(), error);
  if (memory == nullptr) return unreachable;
  const std::string who = "Process " + std::to_string(name.arena.pid);
  auto* block = std::launder(reinterpret_cast<ProcessBlock*>(memory));
  if (block->magic != ProcessBlock::magic_value ||
      block->version != ProcessBlock::current_version) {
    error = who + " uses version " + std::to_string(block->version) +
            " of the process block, this one version " +
            std::to_string(ProcessBlock::current_version) +
            ". Let all ranks load the same library.";
    return incompatible;
  }
  if (block->id != name.id) {
    error = who + " is not the one that was announced: its number has been used again.";
    return unreachable;
  }
  return add(name, std::move(arena), block);
}

std::byte* ShmTransport::at(int process, const ArenaLocation& location, std::uint64_t bytes,
                            std::string& error) {
  return process == self() ? arena_.at(location) : peer(process).arena.at(location, bytes, error);
}

MemoryRange ShmTransport::locate(const void* memory, std::uint64_t bytes) {
  MemoryRange range{reinterpret_cast<std::uintptr_t>(memory), bytes, {}};
  if (const auto location = arena_.find(memory, bytes); location.has_value()) {
    arena_.begin_use(*location);
    range.location = *location;
    return range;
  }
  reachable_.forget();
  // Memory that this process cannot store, a device's for example, cannot be mapped either.
  if (bytes != 0 && xpmem() != nullptr && ReachablePages::reachable_now(range.address, 1, true) &&
      ReachablePages::reachable_now(range.address + bytes - 1, 1, true)) {
    range.expose(xpmem_->space());
  }
  return range;
}

/// XPMEM, loaded at the first use of private memory. Null: there is none.
Xpmem* ShmTransport::xpmem() {
  if (!std::exchange(xpmem_tried_, true)) xpmem_ = Xpmem::load();
  return xpmem_.get();
}

std::byte* ShmTransport::map_private(int process, const MemoryRange& range) {
  if (xpmem() == nullptr) return nullptr;
  Peer& owner = peer(process);
  if (owner.space == nullptr) owner.space = std::make_unique<PeerSpace>(*xpmem_, range.space());
  return owner.space->at(range.address, range.bytes);
}

std::byte* ShmTransport::share(std::uint64_t bytes, ArenaLocation& location) {
  std::string error;
  std::byte* memory = arena_.allocate(bytes, cache_line, error);
  if (memory != nullptr) location = locate(memory, bytes).location;
  return memory;
}

bool ShmTransport::alive(int process) {
  const Peer& asked = peer(process);
  if (process == self() || process_alive(asked.name.arena.pid, asked.name.start)) return true;
  dead_producer_ = asked.name.arena.pid;
  backlogs_.erase(process);
  partials_.erase(asked.name.id);
  return false;
}

// Permits any process of the same user, as systems without Yama do. A process has one such
// permission. Hosts and crash handlers give the same one; a narrower one would revoke it.
void ShmTransport::permit_vm() {
  if (!vm_ || std::exchange(vm_permitted_, true)) return;
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0,
          0);  // without Yama an error that changes nothing
}

bool ShmTransport::try_vm(int process) {
  if (!vm_) return false;
  const ProcessBlock& block = *peer(process).block;
  std::uint64_t value = 0;
  const Run probe{&value, block.probe_address, sizeof value};
  // The kernel requires one permission for reading and for writing.
  if (copy(process, false, {&probe, 1}) != Error::none || value != block.probe_value) return false;
  const std::uint64_t begun = nanoseconds_now();
  copy(process, false, {&probe, 1});
  const std::uint64_t took = nanoseconds_now() - begun;
  if (copy_time_.load() == 0 || took < copy_time_.load()) copy_time_.store(took);
  return true;
}

void ShmTransport::send(int process, std::span<const std::byte> header,
                        std::span<const std::byte> payload) {
  Peer& to = peer(process);
  Outgoing message{header, payload, header.size() + payload.size()};
  // A message must not overtake those that wait.
  if (!backlogs_.contains(process) && push(to, message)) return;
  ++delayed_;
  Waiting& waiting = backlogs_[process].emplace_back();
  waiting.total = message.total;
  waiting.rest.reserve(message.unsent());
  waiting.rest.insert(waiting.rest.end(), message.header.begin(), message.header.end());
  waiting.rest.insert(waiting.rest.end(), message.payload.begin(), message.payload.end());
}

/// Puts as much as fits into the receiver's mailbox. True if that was all of the message. A message
/// of no bytes is one record too.
bool ShmTransport::push(Peer& to, Outgoing& message) {
  Mailbox box = mailbox(to);
  bool committed = false;
  bool full = false;
  do {
    const auto bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(message.unsent(), box.largest_fragment()));
    const auto reservation = box.reserve(peers_.front().block->claim, pid_, id_, message.total,
                                         message.total - message.unsent(), bytes);
    full = !reservation;
    if (full) break;
    const auto from_header = std::min<std::size_t>(bytes, message.header.size());
    const std::size_t from_payload = bytes - from_header;
    box.fill(*reservation, 0, message.header.first(from_header));
    box.fill(*reservation, static_cast<std::uint32_t>(from_header),
             message.payload.first(from_payload));
    box.commit(*reservation);
    committed = true;
    message.header = message.header.subspan(from_header);
    message.payload = message.payload.subspan(from_payload);
  } while (message.unsent() > 0);

  if (committed) wake(to.block->doorbell);
  return !full;
}

/// True if no message waits for the process any more.
bool ShmTransport::push_backlog(Peer& to, std::deque<Waiting>& backlog) {
  while (!backlog.empty()) {
    Waiting& waiting = backlog.front();
    Outgoing message{std::span(waiting.rest).subspan(waiting.sent), {}, waiting.total};
    const bool all = push(to, message);
    waiting.sent = waiting.rest.size() - message.unsent();
    if (!all) return false;
    backlog.pop_front();
  }
  return true;
}

bool ShmTransport::congested(int process) const {
  const auto backlog = backlogs_.find(process);
  return backlog != backlogs_.end() && backlog->second.size() >= most_waiting;
}

std::span<const std::byte> ShmTransport::receive() {
  for (auto entry = backlogs_.begin(); entry != backlogs_.end();) {
    const bool all = push_backlog(peer(entry->first), entry->second);
    entry = all ? backlogs_.erase(entry) : std::next(entry);
  }
  Mailbox box = mailbox(peers_.front());
  do {
    while (const auto fragment = box.peek()) {
      mailbox_stalled_since_ = 0;
      const bool whole = assemble(box, *fragment);
      box.release(*fragment);
      if (whole) return message_;
    }
  } while (skip_dead_producer(box, mailbox_stalled_since_));
  return {};
}

/// True if the fragment completes a message, which is then in message_.
bool ShmTransport::assemble(const Mailbox& box, const Mailbox::Fragment& fragment) {
  if (fragment.bytes == fragment.total) {
    message_.resize(fragment.bytes);
    box.copy(fragment, message_.data());
    return true;
  }
  Partial& partial = partials_[fragment.source];
  if (fragment.offset == 0) {
    partial.bytes.resize(fragment.total);
    partial.received = 0;
  }
  // After a lost fragment of a sender that died, the rest of the message is discarded.
  if (fragment.offset != partial.received || fragment.total != partial.bytes.size()) {
    partials_.erase(fragment.source);
    return false;
  }
  box.copy(fragment, partial.bytes.data() + fragment.offset);
  partial.received += fragment.bytes;
  if (partial.received < fragment.total) return false;
  message_.swap(partial.bytes);
  partials_.erase(fragment.source);
  return true;
}

/// Skips the record of a producer that was killed between reserve and commit. Usually a producer
/// commits within nanoseconds, or waits for a processor, so this is checked after a while only.
/// True if the caller must read the queue again.
template <typename Box>
bool ShmTransport::skip_dead_producer(Box& box, std::uint64_t& stalled_since) {
  if (!box.stalled()) {
    stalled_since = 0;
    return false;
  }
  const std::uint64_t now = nanoseconds_now();
  if (stalled_since == 0) stalled_since = now;
  if (now - stalled_since < peer_check_interval) return false;
  stalled_since = now;
  const auto lives = [this](std::int32_t pid) {
    if (process_alive(pid, 0)) return true;
    dead_producer_ = pid;
    return false;
  };
  if (box.skip_dead(lives)) return true;
  return box.skip_claimed([this](auto&& visit) {
    for (std::size_t process = 1; process < peers_.size(); ++process) {
      visit(peers_[process].block->claim, [&] { return alive(static_cast<int>(process)); });
    }
  });
}

NotifyOutcome ShmTransport::notify(int process, const NotifyRecord& record,
                                   const NotifyStore& store) {
  Peer& to = peer(process);
  const NotifyOutcome outcome =
      notifications(to).put(peers_.front().block->claim, pid_, to.notify_sender, record, store);
  if (outcome != NotifyOutcome::not_now) wake(to.block->doorbell);
  return outcome;
}

bool ShmTransport::begin_recall(int process, std::uint32_t window, RecallFor reason) {
  Peer& to = peer(process);
  return notifications(to).begin_recall(pid_, to.notify_sender, window, reason);
}

bool ShmTransport::finish_recall(int process, StoreMaker& maker) {
  Peer& to = peer(process);
  Sharers sharers(*this, self(), [](int sharer) { return sharer; });
  const bool lives = notifications(to).finish_recall(pid_, to.notify_sender, sharers,
                                                     static_cast<std::uint32_t>(process), maker);
  // The process may have met lines that were being recalled, and gone back to sleep.
  wake(to.block->doorbell);
  return lives;
}

bool ShmTransport::deliver_notification(NotifyReader& reader) {
  NotifyQueue queue = notifications(peers_.front());
  while (true) {
    if (queue.deliver(reader, fenced_)) {
      notify_stalled_since_ = 0;
      empty_calls_ = 0;
      return true;
    }
    // A dead producer may have left many lines.
    if (dead_producer_ != 0 && queue.skip_dead([this](std::int32_t pid) {
          return pid != dead_producer_ || process_alive(pid, 0);  // the pid may be used again
        })) {
      continue;
    }
    // Only `tail` shows that a line is being written, and each load of it takes its cache line from
    // the producers. So it is not loaded in short waits.
    if (++empty_calls_ % calls_per_stall_check != 0 ||
        !skip_dead_producer(queue, notify_stalled_since_)) {
      return false;
    }
  }
}

Error ShmTransport::copy(int process, bool write, std::span<const Run> runs) {
  return copy_memory(peer(process).name.arena.pid, write, runs);
}

Error ShmTransport::copy_own(bool write, const Run& run) {
  const Error error = copy_memory(::getpid(), write, {&run, 1});
  // The system may forbid the call, which shows nothing about the memory.
  if (error == Error::none || !reachable(run.remote, run.bytes, write)) return error;
  auto* const own = reinterpret_cast<void*>(static_cast<std::uintptr_t>(run.remote));
  std::memcpy(write ? own : run.local, write ? run.local : own, run.bytes);
  return Error::none;
}

/// Claims the owner's errand cell. False if processes share processors, the owner has not answered
/// lately, or the cell is claimed.
bool ShmTransport::claim_cell(Peer& owner) const {
  // An owner that shares our processor cannot carry out the errand while this process waits.
  return !crowded() && owner.errand_sender.may_ask() && owner.block->errand.claim();
}

bool ShmTransport::ask(int process, Errand& errand) {
  Peer& owner = peer(process);
  if (!claim_cell(owner)) return false;
  ErrandCell& cell = owner.block->errand;
  cell.ask(errand);
  const bool carried_out =
      await_answer(owner, errand.saves() * copy_time_.load()) && cell.read_answer(errand);
  owner.errand_sender.record(carried_out);
  return carried_out;
}

std::optional<Error> ShmTransport::carry_out_with(int process, const ChunkedOperation& operation,
                                                  ChunkWork& ours) {
  Peer& owner = peer(process);
  if (!claim_cell(owner)) return {};
  ErrandCell& cell = owner.block->errand;
  const auto stamp_alive = [&cell] {
    cell.alive_at.store(nanoseconds_now(), std::memory_order_release);
  };
  stamp_alive();
  cell.ask_in_chunks(operation, static_cast<std::uint32_t>(pid_));
  Error error = Error::none;
  const std::uint32_t chunks = operation.chunks();
  const auto carry_out = [&](std::uint32_t number) {
    stamp_alive();
    if (number == ErrandCell::no_chunk || error != Error::none) return false;
    error = ours.carry_out(operation.chunk(number));
    return true;
  };
  // A chunk that the owner stores costs the owner one system call; the origin would need two or
  // more. If two processes have such operations on each other, each therefore serves the other's
  // chunks first, at most as many as its own operation has.
  std::uint32_t owed = operation.stored_by_owner() ? chunks : 0;
  std::uint64_t patience = operation.calls_saved_per_chunk() * copy_time_.load();
  do {
    for (; owed != 0 && serve_chunk(true); --owed) stamp_alive();
    while (cell.any_undrawn(chunks) && owner_draws(cell, patience)) stamp_alive();
    patience = 0;
  } while (carry_out(cell.draw_first(chunks)));
  if (!await_owner(owner, [&] { return cell.end_chunks(); })) return Error::peer_lost;
  carry_out(cell.declined_chunk());
  owner.errand_sender.record(cell.drawn_by_owner() != 0);
  cell.release_claim();
  return error;
}

/// Returns whether the owner draws a chunk within `patience` ns. Serves this process's cell
/// meanwhile.
bool ShmTransport::owner_draws(const ErrandCell& cell, std::uint64_t patience) {
  if (patience == 0) return false;
  const std::uint64_t drawn = cell.drawn_by_owner();
  const std::uint64_t begun = nanoseconds_now();
  for (unsigned rounds = 1; cell.drawn_by_owner() == drawn; ++rounds) {
    if (rounds % rounds_per_clock == 0 &&
        (cell.answered() || nanoseconds_now() - begun > patience)) {
      return false;
    }
    // The owner may be waiting for this process.
    if (!serve_chunk(true)) serve_one();
    cpu_pause();
  }
  return true;
}

/// Waits until over(), which a step of the owner that has begun makes true. False if the owner has
/// died within the step.
template <typename Over>
bool ShmTransport::await_owner(const Peer& owner, Over&& over) {
  std::uint64_t checked = nanoseconds_now();
  for (unsigned rounds = 1; !over(); ++rounds) {
    serve_one();  // the owner may be waiting for this process
    cpu_pause();
    // The owner may have lost its processor, or have died.
    if (rounds % steps::spins_per_yield != 0) continue;
    ::sched_yield();
    const std::uint64_t now = nanoseconds_now();
    if (now - checked < peer_check_interval) continue;
    checked = now;
    if (!process_alive(owner.name.arena.pid, owner.name.start)) return over();
  }
  return true;
}

/// Waits for the owner's answer to an errand. False if the errand was withdrawn or the owner has
/// died.
bool ShmTransport::await_answer(const Peer& owner, std::uint64_t patience) {
  ErrandCell& cell = owner.block->errand;
  const std::uint64_t begun = nanoseconds_now();
  for (unsigned rounds = 1; rounds % rounds_per_clock != 0 || nanoseconds_now() - begun <= patience;
       ++rounds) {
    if (cell.answered()) return true;
    serve_one();  // the owner may be waiting for this process
    cpu_pause();
  }
  return !cell.withdraw() && await_owner(owner, [&] { return cell.answered(); });
}

bool ShmTransport::serve(bool waits) {
  if (waits && serve_chunks()) return true;
  if (!serve_one()) {
    if (served_.load() != 0) served_.store(0);
    return false;
  }
  if (!waits) return true;
  if (served_.load() == 0) {
    served_.store(1);
    return true;
  }
  // Await the next errand here: otherwise the host's progress would run first.
  // Limited, because what the caller waits for may have happened.
  const std::uint64_t patience = copy_time_.load();
  const std::uint64_t begun = nanoseconds_now();
  std::uint64_t last = begun;
  for (unsigned rounds = 1;; ++rounds) {
    if (serve_one()) {
      last = nanoseconds_now();
      if (last - begun > longest_service) return true;
      continue;
    }
    cpu_pause();
    if (rounds % rounds_per_clock == 0 && nanoseconds_now() - last > patience) {
      break;
    }
  }
  served_.store(0);
  return true;
}

bool ShmTransport::serve_one() {
  ErrandCell& cell = peers_.front().block->errand;
  if (!cell.begin()) return false;
  Errand errand = cell.errand;
  if (errand.all_of([&](std::uint64_t address, std::uint64_t bytes) {
        return reachable_.contain(address, bytes, errand.stores());
      })) {
    errand.carry_out();
    cell.hand_back(errand);
  } else {
    cell.decline();
  }
  return true;
}

bool ShmTransport::serve_chunks() {
  if (!serve_chunk(false)) return false;
  const std::uint64_t begun = nanoseconds_now();
  while (nanoseconds_now() - begun < longest_service && serve_chunk(false)) {
  }
  return true;
}

bool ShmTransport::serve_chunk(bool only_stored) {
  ErrandCell& cell = peers_.front().block->errand;
  if (!cell.begin_in_chunks()) return false;
  const ChunkedOperation operation = cell.operation;
  if (only_stored && !operation.stored_by_owner()) {
    cell.put_back();
    return false;
  }
  // Read before the clock, so that a draw of the origin in between does not count as silence.
  const std::uint64_t alive_at = cell.alive_at.load(std::memory_order_acquire);
  if (nanoseconds_now() > alive_at + longest_silence) {
    cell.decline_chunk(ErrandCell::no_chunk);
    return true;
  }
  const std::uint32_t number = cell.draw_last(operation.chunks());
  if (number == ErrandCell::no_chunk) {
    cell.finish();
  } else if (carry_out(operation, operation.chunk(number),
                       static_cast<std::int32_t>(cell.origin_pid))) {
    cell.put_back();
  } else {
    cell.decline_chunk(number);
  }
  return true;
}

bool ShmTransport::carry_out(const ChunkedOperation& operation, const Chunk& chunk,
                             std::int32_t origin) {
  if (operation.stored_by_owner()) {
    const auto reachable = [this](std::uint64_t address, std::uint64_t bytes) {
      return reachable_.contain(address, bytes, true);
    };
    if (!operation.reaches_only(chunk, reachable)) return false;
    operands_.resize(ChunkedOperation::most_combined);
  }
  return operation.carry_out(
      chunk, operands_.data(),
      [&](bool write, std::byte* here, std::uint64_t there, std::uint64_t bytes) {
        const Run run{here, there, bytes};
        return copy_memory(origin, write, {&run, 1}) == Error::none;
      });
}

void ShmTransport::ring(Doorbell& doorbell) {
  doorbell.ring();
  futex_wake_all(doorbell.rings);
}

void ShmTransport::fence_peers() {
  // A process that does not run has executed a full fence when it was switched out. If the call
  // fails, no process is registered, and none relies on the fence.
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void ShmTransport::relax() {
  // A process leaves its critical section within nanoseconds, unless it lost its processor, perhaps
  // to this process.
  if (++relaxed_ % 32 == 0) {
    ::sched_yield();
  } else {
    cpu_pause();
  }
}

std::uint64_t ShmTransport::inlining_pauses() {
  std::uint64_t pauses = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) pauses += peers_[i].notify_sender.pauses();
  return pauses;
}

std::uint64_t ShmTransport::nanoseconds() {
  return nanoseconds_now();
}

}  // namespace oriel
