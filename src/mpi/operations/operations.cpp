// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/operations/operations.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/process/standard_error.hpp"
#include "engine/progress/waiting.hpp"
#include "mpi/operations/ops.hpp"

namespace oriel::mpi {
namespace {

using Known = Datatypes::Known;

bool accumulates(OperationKind kind) {
  return kind != OperationKind::put && kind != OperationKind::get;
}

/// True for two names of one kind of number, such as C's long and int64_t: hosts permit a fetch of
/// one as the other.
bool alike(const PredefinedType* one, const PredefinedType* other) {
  return one == other || (one != nullptr && other != nullptr && one->basic == other->basic &&
                          one->basic != Basic::other);
}

Failure check(MPI_Count count, MPI_Datatype type, const Known*& known) {
  if (count < 0) return {MPI_ERR_COUNT, "the count is negative"};
  known = runtime.datatypes.find_committed(type);
  if (known == nullptr) return {MPI_ERR_TYPE, "the datatype is not valid or not committed"};
  return {};
}

/// Accumulates work on whole elements of one predefined type, put and get on exact bytes.
const LayoutRef& layout_of(OperationKind kind, const Known& known) {
  return accumulates(kind) ? known.elements : known.layout;
}

/// MPI-4.1 has no error class for null buffers; hosts use these. A datatype of absolute addresses
/// begins at the null address, MPI_BOTTOM, and has no data there.
Failure check_address(const Access& access, const void* address, const Layout& layout,
                      MPI_Count count) {
  // Open MPI permits null buffers if no data moves, and stencils at a border rely on it.
  if (address != nullptr || access.target.rank == MPI_PROC_NULL || count == 0 ||
      layout.size() == 0 || layout.bounds(static_cast<std::uint64_t>(count)).first > 0) {
    return {};
  }
  return {access.predefined_only ? MPI_ERR_ARG : MPI_ERR_BUFFER, "a buffer is a null pointer"};
}

Failure read_buffer(const Access& access, const UserBuffer& user, Buffer& buffer,
                    const PredefinedType*& basic) {
  const Known* known = nullptr;
  if (const Failure bad = check(user.count, user.type, known)) return bad;
  buffer.address = user.address;
  buffer.count = static_cast<std::uint64_t>(user.count);
  buffer.layout = layout_of(access.kind, *known);
  basic = known->basic;
  return check_address(access, user.address, *buffer.layout, user.count);
}

/// The number of bytes; the maximum if 64 bits are too few.
std::uint64_t bytes_in(const Elements& elements) {
  std::uint64_t bytes = 0;
  const bool wraps = __builtin_mul_overflow(elements.count, elements.layout.size(), &bytes);
  return wraps ? std::numeric_limits<std::uint64_t>::max() : bytes;
}

/// Bytes of the predefined type that a datatype is made of; 1: it is made of several.
std::uint64_t bytes_of_element(OperationKind kind, const Known& known) {
  if (known.basic == nullptr) return 1;
  return accumulates(kind) ? known.basic->true_extent : known.basic->size;
}

// The maximal number of elements whose runs are listed one by one, for data that ends within the
// last element. A count larger than any window must not exhaust memory before its range is checked.
constexpr std::uint64_t most_listed = 1 << 20;

/// One element with the first `bytes` bytes of a row of elements.
LayoutRef first_of(const Layout& layout, std::uint64_t bytes) {
  std::vector<Block> blocks;
  for_each_run(BlockCursor(layout, bytes / layout.size() + 1), bytes,
               [&](std::int64_t offset, std::uint64_t run) { blocks.push_back({offset, run}); });
  return LayoutRef(new Layout(blocks, static_cast<std::int64_t>(bytes), layout.basic()));
}

/// Checks lengths as for a message (MPI-4.1 section 12.3): the data must fit into the receiving
/// buffer. If the data is shorter, the rest of the buffer stays untouched. Data may end within an
/// element of the target's datatype, but not within a predefined type, which has `element` bytes.
/// If either side of a put or get is empty, no data moves, as on MPICH and Intel MPI.
Failure match_lengths(bool reads_origin, bool writes_result, std::uint64_t element,
                      Operation& operation) {
  const std::uint64_t there = bytes_in(operation.target_elements());
  if (there == 0) return {};
  if (writes_result) {
    const std::uint64_t space = bytes_in(operation.result.elements());
    if (operation.kind == OperationKind::get && space == 0) operation.target_count = 0;
    if (space != 0 && there > space) {
      return {MPI_ERR_TRUNCATE, "the data are longer than the buffer that they go to"};
    }
  }
  if (!reads_origin) return {};
  const std::uint64_t data = bytes_in(operation.origin.elements());
  if (operation.kind == OperationKind::put && data > there) {
    return {MPI_ERR_TRUNCATE, "the data are longer than the buffer that they go to"};
  }
  if (data >= there) return {};
  if (data % element != 0) {
    return {MPI_ERR_TYPE, "the data end within an element of the target's predefined datatype"};
  }
  const std::uint64_t size = operation.target_layout->size();
  if (data % size != 0) {
    if (!operation.target_layout->contiguous() && data / size >= most_listed) {
      return {MPI_ERR_TYPE,
              "the data end within an element of the target's datatype, behind too many others"};
    }
    operation.target_layout = first_of(*operation.target_layout, data);
    operation.target_count = 1;
    return {};
  }
  operation.target_count = data / size;
  return {};
}

/// Finds the location of an operation on a window made from a memory handle. The core checks the
/// range on all other windows.
Failure find_in_handle(const WindowHandle& window, const HandleView& view, const Access& access,
                       Operation& operation) {
  if (access.target.rank != view.target) {
    return {MPI_ERR_RANK,
            "a window made from a memory handle has the handle's owner as its target"};
  }
  if (access.notify_arg.wanted()) {
    return {MPI_ERR_RMA_FLAVOR, "a window made from a memory handle has no notified access"};
  }
  if (!window.core->epochs().passive(access.target.rank)) {
    return {MPI_ERR_RMA_SYNC,
            "a window made from a memory handle is used within a lock or lock_all epoch of its "
            "parent"};
  }
  if (access.target.displacement < 0) return {MPI_ERR_DISP, "the target displacement is negative"};
  std::int64_t start = 0;
  if (operation.bytes() != 0 && !find_range(access.target.displacement, view.disp_unit,
                                            operation.target_elements(), view.bytes, start)) {
    return {MPI_ERR_RMA_RANGE, "the operation reaches beyond the target's window"};
  }
  operation.displacement = start;
  operation.handle = view.name;
  return {};
}

/// Sets what an operation has of its window, its thread and its process, and sweeps now and then.
void prepare(const WindowHandle& window, Operation& operation) {
  operation.number = ++engine.running()->last_number;
  operation.ordered = window.info.order.load();
  operation.line = engine.own_line();
  operation.thread = engine.thread_of(operation.line);
  operation.notify_arg.bytes = operation.bytes();
  engine.sweep_in_passing(Passing::issues);
}

/// Gives the operation to the core. Direct transfers proceed while the program computes only if the
/// agent sweeps.
Outcome hand_over(const WindowHandle& window, const Operation& operation) {
  const Outcome outcome = window.core->epochs().issue(operation);
  const Network* network = engine.running()->transports.network();
  if (network != nullptr && network->transferring()) engine.agent.wake_after_operation();
  return outcome;
}

bool try_put_or_get(const WindowHandle& window, const Access& access) {
  const bool put = access.kind == OperationKind::put;
  if ((!put && access.kind != OperationKind::get) || access.notify_arg.wanted()) return false;
  const UserBuffer& local = put ? access.origin : access.result;
  if (put) {
    return try_put(window, local.address, local.count, local.type, access.target.rank,
                   access.target.displacement, access.target.count, access.target.type, false);
  }
  return try_get(window, local.address, local.count, local.type, access.target.rank,
                 access.target.displacement, access.target.count, access.target.type, false);
}

}  // namespace

bool try_move(const WindowHandle& window, bool write, int rank, MPI_Aint displacement,
              MPI_Count target_count, MPI_Datatype target_type, const UserBuffer& local) {
  const Known* there = runtime.datatypes.find_known(target_type);
  const Known* own = runtime.datatypes.find_known(local.type);
  if (local.address == nullptr || there == nullptr || own == nullptr ||
      static_cast<std::uint64_t>(target_count) >> 32 != 0 ||
      static_cast<std::uint64_t>(local.count) >> 32 != 0) {
    return false;
  }
  const Elements theirs{*there->layout, static_cast<std::uint64_t>(target_count)};
  const Elements ours{*own->layout, static_cast<std::uint64_t>(local.count)};
  const std::uint64_t data = bytes_in(write ? ours : theirs);
  const std::uint64_t space = bytes_in(write ? theirs : ours);
  if (data > space) return false;
  // The general path raises the error of data that ends within a predefined element.
  if (write && data != space && data % bytes_of_element(OperationKind::put, *there) != 0)
    return false;
  const auto move = [&](const auto& where) {
    return window.core->try_move(write, where, displacement, theirs, local.address, ours);
  };
  if (valid_rank(window, rank)) return move(rank);
  return window.view.has_value() && rank == window.view->target && move(*window.view);
}

constinit thread_local LastUpdate last_update;

bool resolve_update(OperationKind kind, MPI_Op op, MPI_Datatype type) {
  const Known* known = runtime.datatypes.find_known(type);
  if (known == nullptr || !known->predefined ||
      known->elements->extent() != known->basic->true_extent) {
    return false;
  }
  LastUpdate found{kind, op, type, {}};
  if (reduction_of(kind, op, known->basic, found.reduction)) return false;
  last_update = found;
  return true;
}

std::byte* find_address_by_handle(const WindowHandle& window, int rank, MPI_Aint displacement,
                                  std::size_t bytes) {
  if (!window.view.has_value() || rank != window.view->target) return nullptr;
  return window.core->find_address(*window.view, displacement, bytes);
}

bool issue_run(const WindowHandle& window, bool write, int rank, MPI_Aint displacement, void* local,
               std::size_t bytes, const NotifyArg& notify_arg) {
  if (window.core->events().all_operations()) return false;
  Operation operation;
  operation.kind = write ? OperationKind::put : OperationKind::get;
  operation.target = rank;
  operation.displacement = displacement;
  Buffer& run = write ? operation.origin : operation.result;
  run = bytes_at(local, bytes);
  operation.target_count = run.count;
  operation.target_layout = run.layout;
  operation.notify_arg = notify_arg;
  prepare(window, operation);
  return hand_over(window, operation).ok();
}

bool try_copy(const WindowHandle& window, bool write, int rank, MPI_Aint displacement, void* local,
              std::size_t bytes, bool may_aggregate) {
  if (valid_rank(window, rank)) {
    // No system call with a lock that other threads wait for.
    if (!may_aggregate || bytes > Aggregation::most_bytes || engine.lock.among_many())
      return window.core->try_copy(write, rank, displacement, local, bytes);
    {
      const TryGuard guard(engine.lock);
      // The window's table of members may be read with the lock only.
      if (!guard || !window.core->remote(rank))
        return window.core->try_copy(write, rank, displacement, local, bytes, bool(guard));
      if (!issue_run(window, write, rank, displacement, local, bytes, {})) return false;
      engine.running()->calls.count();
    }
    engine.end_call(steps::call);
    return true;
  }
  return window.view.has_value() && rank == window.view->target &&
         window.core->try_copy(write, *window.view, displacement, local, bytes);
}

Failure check_counter(const WindowHandle& window, int rank, int index) {
  const Counters& counters = window.core->notifications().counters();
  if (counters.has(rank, index)) return {};
  const std::uint32_t count = counters.count(rank);
  return said(
      err_rma_notification(),
      "rank " + std::to_string(rank) + " has no notification counter " + std::to_string(index) +
          ": " +
          (count == 0 ? std::string("it has none; make some by a call that sets their number")
                      : "the last one is " + std::to_string(count - 1)));
}

bool try_hot_paths(const WindowHandle& window, const Access& access) {
  if (!window.core->events().all_operations()) [[likely]]
    return try_put_or_get(window, access);
  return carry_out_reported(window, access,
                            [&](const WindowHandle&) { return try_put_or_get(window, access); });
}

void report_carried_out(const WindowHandle& window, const Access& access, std::uint64_t begun) {
  const Known& there = *runtime.datatypes.find_known(access.target.type);
  const Elements elements{*layout_of(access.kind, there),
                          static_cast<std::uint64_t>(access.target.count)};
  HandleName handle;
  std::int64_t displacement = access.target.displacement;
  if (window.view.has_value()) {
    handle = window.view->name;
    displacement *= static_cast<std::int64_t>(window.view->disp_unit);
  }
  std::uint64_t bytes = bytes_in(elements);
  if (access.kind == OperationKind::put) {
    // An origin may put fewer bytes than the target's elements have.
    const bool same = access.origin.type == access.target.type;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the put has found both types.
    const Known& own = same ? there : *runtime.datatypes.find_known(access.origin.type);
    bytes = bytes_in({*own.layout, static_cast<std::uint64_t>(access.origin.count)});
  }
  const Protocol protocol =
      window.core->hot_protocol(access.target.rank, displacement, elements, handle);
  window.core->events().carried_out({.time = begun,
                                     .number = bytes,
                                     .rank = access.target.rank,
                                     .id = ++engine.running()->last_number,
                                     .kind = EventKind::operation_issued,
                                     .detail = detail_of(access.kind),
                                     .flags = static_cast<std::uint16_t>(protocol)},
                                    {access.notify_arg.kind, access.notify_arg.number, bytes});
}

void report_active_epoch(const char* call, const WindowHandle& window, int rank) {
  const Epochs& epochs = window.core->epochs();
  if (!valid_rank(window, rank) || epochs.passive(rank) || !epochs.covered(rank)) return;
  static bool reported = false;
  if (std::exchange(reported, true)) return;
  const std::string sentence =
      std::string("oriel: ") + call + on_window(printable(window.user_state.name)) +
      ", in an epoch of MPI_Win_fence or MPI_Win_start: it is carried out, as other "
      "MPI libraries do, but MPI permits operations with a request only in epochs "
      "of MPI_Win_lock and MPI_Win_lock_all (MPI-4.1 section 12.3.5). A process "
      "says this once.\n";
  // The write blocks if standard error is a full pipe.
  engine.lock.release();
  standard_error.say(sentence);
  engine.lock.acquire();
}

Failure issue(WindowHandle& window, const Access& access, Completion* completion, bool& posted) {
  const OperationKind kind = access.kind;
  if (access.notify_arg.kind == NotifyKind::tag && access.notify_arg.number < 0) {
    return {MPI_ERR_TAG, "the tag of a notification is negative"};
  }
  const bool reads_origin = kind != OperationKind::get &&
                            !(kind == OperationKind::get_accumulate && access.op == MPI_NO_OP);
  const bool writes_result = kind != OperationKind::put && kind != OperationKind::accumulate;
  Operation operation;
  operation.kind = kind;
  const PredefinedType* origin_basic = nullptr;
  const PredefinedType* result_basic = nullptr;
  if (reads_origin) {
    const Failure bad = read_buffer(access, access.origin, operation.origin, origin_basic);
    if (bad) return bad;
  }
  if (writes_result) {
    const Failure bad = read_buffer(access, access.result, operation.result, result_basic);
    if (bad) return bad;
  }
  if (kind == OperationKind::compare_and_swap) {
    const Failure bad = check_address(access, access.compare, *operation.origin.layout, 1);
    if (bad) return bad;
  }
  const Known* target = nullptr;
  if (const Failure bad = check(access.target.count, access.target.type, target)) return bad;
  if (access.predefined_only && !target->predefined) {
    return {MPI_ERR_TYPE, "the call takes predefined datatypes only"};
  }
  operation.target_count = static_cast<std::uint64_t>(access.target.count);
  operation.target_layout = layout_of(kind, *target);
  if (access.target.rank == MPI_PROC_NULL) return {};
  if (window.view.has_value()) {
    if (const Failure bad = find_in_handle(window, *window.view, access, operation)) return bad;
  } else if (!valid_rank(window, access.target.rank)) {
    return {MPI_ERR_RANK, "the rank is not in the window's group"};
  }
  if (access.notify_arg.kind == NotifyKind::counter) {
    if (const Failure bad = check_counter(window, access.target.rank, access.notify_arg.number))
      return bad;
  }
  // On a dynamic window the displacement is an address, or is added to a datatype's addresses.
  if (access.target.displacement < 0 && (!window.core->dynamic() || window.view.has_value())) {
    return {MPI_ERR_DISP, "the target displacement is negative"};
  }
  const std::uint64_t element = bytes_of_element(kind, *target);
  if (const Failure bad = match_lengths(reads_origin, writes_result, element, operation))
    return bad;
  // If there is no data, hosts do not check op and type.
  const bool something = operation.target_count != 0 && operation.target_layout->size() != 0;
  if (accumulates(kind) && something) {
    if (const Failure bad = reduction_of(kind, access.op, target->basic, operation.reduction)) {
      return bad;
    }
    operation.reduction.by_elements = window.info.accumulate_intrinsic.load();
    if ((reads_origin && origin_basic != target->basic) ||
        (writes_result && !alike(result_basic, target->basic))) {
      return {MPI_ERR_TYPE,
              "the datatypes of the two sides are made of different predefined types"};
    }
  }
  // MPI's own request-based operations are permitted in every epoch: see report_active_epoch().
  const Epochs& epochs = window.core->epochs();
  const bool notifies = access.notify_arg.wanted();
  const bool own_epoch = notifies && !epochs.covered(access.target.rank);
  if (completion != nullptr && (notifies || access.completes_there) &&
      !epochs.passive(access.target.rank) && !own_epoch) {
    return {MPI_ERR_RMA_SYNC, "this operation with a request needs a lock or lock_all epoch"};
  }
  operation.target = access.target.rank;
  if (!window.view.has_value()) operation.displacement = access.target.displacement;
  operation.compare = access.compare;
  operation.completion = completion;
  operation.completes_there = access.completes_there;
  operation.notify_arg = access.notify_arg;
  prepare(window, operation);
  if (window.info.access_awaited != AccessAwaited::at_completion) {
    if (const Failure bad = await_lock(engine, *window.core, operation)) return bad;
  }
  const Outcome outcome = hand_over(window, operation);
  posted = outcome.ok() && !outcome.done;
  return failure(outcome.error, window.core->reason());
}

}  // namespace oriel::mpi
