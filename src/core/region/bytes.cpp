// SPDX-License-Identifier: BSD-3-Clause
// Operations that the origin carries out: by loads and stores in mapped memory, by system calls or
// errands in private memory.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "core/base/copies.hpp"
#include "core/base/shared_words.hpp"
#include "core/operation/address.hpp"
#include "core/operation/element_runs.hpp"
#include "core/operation/strided_blocks.hpp"
#include "core/region/private_copy.hpp"
#include "core/region/region.hpp"

namespace oriel {
namespace {

/// The most bytes of private memory that the hot path of an accumulate updates, by a copy on the
/// stack. Copying so many bytes takes less time than the two system calls.
constexpr std::uint64_t most_private = 1024;

/// Collects runs of private memory that are fetched into `space` together, combined in this process
/// and stored back together: as many as there is space for. Removes them from `elements`, and
/// returns their number.
///
/// MPI permits no target datatype that contains a byte twice. If one does, the byte is still
/// updated twice: a run that overlaps an earlier one is fetched after that one has been stored.
std::size_t collect_runs(ElementRuns& elements, std::uint64_t base, std::span<std::byte> space,
                         std::span<Run> runs) {
  std::uint64_t low = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t high = 0;
  std::size_t count = 0;
  for (; count < runs.size() && elements.bytes() != 0 && !space.empty(); ++count) {
    const std::uint64_t first = base + static_cast<std::uint64_t>(elements.offset());
    const std::uint64_t bytes = std::min<std::uint64_t>(elements.bytes(), space.size());
    const auto overlaps = [&](const Run& run) {
      return first < run.remote + run.bytes && run.remote < first + bytes;
    };
    if (first < high && low < first + bytes && std::ranges::any_of(runs.first(count), overlaps)) {
      break;
    }
    runs[count] = {space.data(), first, bytes};
    low = std::min(low, first);
    high = std::max(high, first + bytes);
    space = space.subspan(bytes);
    elements.skip(bytes);
  }
  return count;
}

/// Returns whether read_with_gaps() reads the blocks faster than a system call with a run for each.
bool has_short_gaps(const StridedBlocks& strided) {
  constexpr std::int64_t most_apart = 1024;
  return strided.blocks > 1 && strided.their_stride <= most_apart &&
         strided.their_stride >= static_cast<std::int64_t>(strided.bytes);
}

/// Reads strided blocks together with the gaps between them, up to 32 KB by one system call: a
/// separate run costs the kernel some 200 ns, as much as copying 1 KB. The gaps are in the window,
/// and a gap shorter than a page is within the pages of its blocks.
Error read_with_gaps(NodeServices& services, int process, const StridedBlocks& strided,
                     std::uint64_t remote, std::byte* here) {
  std::array<std::byte, std::size_t{32} * 1024> space;  // fits into the first-level cache
  const auto stride = static_cast<std::uint64_t>(strided.their_stride);
  const std::uint64_t most = (space.size() - strided.bytes) / stride + 1;
  for (std::uint64_t remaining = strided.blocks; remaining != 0;) {
    const std::uint64_t blocks = std::min(remaining, most);
    const Run run{space.data(), remote, (blocks - 1) * stride + strided.bytes};
    const Error error = services.copy(process, false, {&run, 1});
    if (error != Error::none) return error;
    copy_blocks(here, strided.our_stride, space.data(), strided.their_stride, strided.bytes,
                blocks);
    remote += blocks * stride;
    here = at(here, static_cast<std::int64_t>(blocks) * strided.our_stride);
    remaining -= blocks;
  }
  return Error::none;
}

/// Makes stores into a member's memory, which is mapped or accessed by system calls.
class MemberStores final : public StoreMaker {
 public:
  MemberStores(NodeServices& services, const Member& target)
      : services_(services), target_(target) {}

  void make(std::span<const std::byte> bytes, std::uint64_t offset) override {
    if (target_.loadable()) {
      short_copy(target_.at_offset(offset), bytes.data(), bytes.size());
      return;
    }
    // The kernel only reads from `bytes`.
    const Run run{const_cast<std::byte*>(bytes.data()), target_.address + offset, bytes.size()};
    error_ = first_of(error_, copy_private(services_, target_.process, true, {&run, 1}));
  }
  Error error() const { return error_; }

 private:
  NodeServices& services_;
  const Member& target_;
  Error error_ = Error::none;
};

}  // namespace

Error Region::check(const Operation& operation, FailureReason& reason) {
  const Layout& layout = *operation.target_layout;
  if (dynamic()) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::uint64_t bytes = 0;
    if (!__builtin_mul_overflow(operation.target_count, layout.size(), &bytes) && bytes <= most) {
      return Error::none;
    }
    return reason.fail(Error::range, "the operation is about more bytes than an address can say");
  }
  if (operation.displacement < 0) {
    return reason.fail(Error::displacement, "the target displacement is negative");
  }
  if (operation.target_count == 0 || layout.size() == 0) return Error::none;
  const Member& target = member(operation.target);
  std::int64_t start = 0;
  if (!find_range(operation.displacement, target.disp_unit, operation.target_elements(),
                  target.size, start)) {
    return reason.fail(Error::range, "the operation reaches beyond the target's window");
  }
  return Error::none;
}

Error Region::perform(const Operation& operation) {
  if (dynamic()) return perform_on_pieces(operation);
  const Member& target = member(operation.target);
  return perform_at(operation, target, target.offset(operation.displacement));
}

Error Region::perform_piece(const Operation& operation, std::uint64_t first, std::uint64_t bytes) {
  const Member& target = member(operation.target);
  const std::uint64_t offset = target.offset(operation.displacement) + first;
  const bool write = operation.kind == OperationKind::put;
  std::byte* const here =
      at((write ? operation.origin : operation.result).address, static_cast<std::int64_t>(first));
  if (!target.loadable()) {
    return ended(operation, target,
                 copy(write, target.process, target.address + offset, here, bytes));
  }
  std::byte* const there = target.at_offset(offset);
  std::memmove(write ? there : here, write ? here : there, bytes);
  return Error::none;
}

Error Region::perform_at(const Operation& operation, const Member& target, std::uint64_t offset) {
  if (!updates(operation.kind)) return move_at(operation, target, offset);
  if (operation.bytes() == 0) return Error::none;
  const Update held(*target.control, sharers_, !by_elements(operation, target, offset),
                    operation.line);
  if (held.lost()) return lost(held);
  return update_at(held, operation, target, offset);
}

/// True if the update may be made element by element, by CPU atomics.
bool Region::by_elements(const Operation& operation, const Member& target,
                         std::uint64_t offset) const {
  if (!target.loadable()) return false;
  const std::uint64_t count = operation.bytes() / operation.reduction.element;
  const std::byte* const first = at(target.at_offset(offset), ElementRuns(operation).offset());
  return (count == 1 || operation.target_layout->contiguous()) &&
         by_cpu_atomics(operation.reduction, target, first, fetches(operation.kind), count);
}

Error Region::move_at(const Operation& operation, const Member& target, std::uint64_t offset) {
  if (operation.kind == OperationKind::acknowledge) return Error::none;
  const bool write = operation.kind == OperationKind::put;
  const Buffer& local = write ? operation.origin : operation.result;
  if (target.loadable()) {
    move(write, target.at_offset(offset), operation.target_elements(), local.address,
         local.elements());
    return Error::none;
  }
  return ended(operation, target,
               copy(write, target.process, target.address + offset, operation.target_elements(),
                    local.address, local.elements(), target.detached));
}

Error Region::update_at(const Update& held, const Operation& operation, const Member& target,
                        std::uint64_t offset) {
  if (!target.loadable()) {
    return ended(operation, target, update_vm(operation, target, target.address + offset));
  }
  std::byte* const base = target.at_offset(offset);
  const std::uint32_t element = operation.reduction.element;
  if (operation.kind == OperationKind::compare_and_swap) {
    (held.alone() ? compare_swap_plain : compare_swap_atomic)(
        element, base, operation.origin.address, operation.compare, operation.result.address);
    return Error::none;
  }
  if (held.alone() && operation.kind == OperationKind::accumulate) {
    const auto strided = only_strided(operation.target_elements(), operation.origin.elements());
    if (strided && strided->from_one_run()) {
      reduce_blocks(operation.reduction, at(base, strided->theirs), strided->their_stride,
                    at(operation.origin.address, strided->ours), strided->bytes, strided->blocks);
      return Error::none;
    }
  }
  for (ElementRuns runs(operation); runs.bytes() != 0; runs.next()) {
    (held.alone() ? reduce_plain : reduce_atomic)(operation.reduction, at(base, runs.offset()),
                                                  runs.origin(), runs.result(),
                                                  runs.bytes() / element);
  }
  return Error::none;
}

Error Region::reduce(const Reduction& reduction, const Member& target, std::byte* start,
                     BlockCursor cursor, std::uint64_t bytes, const std::byte* origin,
                     std::byte* fetched) {
  const bool one = bytes == reduction.element;
  const Update held(*target.control, sharers_,
                    !one || !atomic_at(target, at(start, cursor.offset()), reduction.element));
  if (held.lost()) return lost(held);
  // An element that is split between runs would be omitted; the MPI layer passes no such datatype.
  for_each_run(cursor, bytes, [&](std::int64_t offset, std::uint64_t run) {
    (held.alone() ? reduce_plain : reduce_atomic)(reduction, at(start, offset), origin, fetched,
                                                  run / reduction.element);
    if (origin != nullptr) origin += run;
    if (fetched != nullptr) fetched += run;
  });
  return Error::none;
}

/// The result of a copy to or from the target's private memory: sets whom_lost() if the target has
/// ended. A process that is ending has no memory any more before alive() is false. On a detached
/// piece, Error::system means that the target has unmapped the memory.
Error Region::ended(const Operation& operation, const Member& target, Error error) {
  if (error == Error::peer_lost) return lose(operation.target, "");
  return error == Error::system && target.detached ? Error::range : error;
}

void Region::push(Aggregation& aggregation, int rank) {
  aggregation.push(transport_.node(), member(rank).process);
}

void Region::move(bool write, std::byte* there, const Elements& elements, void* local,
                  const Elements& own) {
  for_each_strided(elements, own, [&](const StridedBlocks& strided) {
    std::byte* const remote = at(there, strided.theirs);
    std::byte* const here = at(local, strided.ours);
    if (write) {
      copy_blocks(remote, strided.their_stride, here, strided.our_stride, strided.bytes,
                  strided.blocks);
    } else {
      copy_blocks(here, strided.our_stride, remote, strided.their_stride, strided.bytes,
                  strided.blocks);
    }
  });
}

Error Region::copy(bool write, int process, std::uint64_t there, const Elements& elements,
                   void* local, const Elements& own, bool alone) const {
  RunBatch batch(transport_.node(), process, write, alone);
  Error error = Error::none;
  for_each_strided(elements, own, [&](const StridedBlocks& strided) {
    const std::uint64_t remote = there + static_cast<std::uint64_t>(strided.theirs);
    std::byte* const here = at(local, strided.ours);
    if (!write && has_short_gaps(strided)) {
      error = first_of(error, read_with_gaps(transport_.node(), process, strided, remote, here));
      return;
    }
    if (write && !alone && ChunkedOperation::divides_blocks(strided)) {
      const auto whole = ChunkedOperation::scatter(remote, strided, here);
      OriginChunks ours(transport_.node(), process, whole);
      if (const auto ended = transport_.node().carry_out_with(process, whole, ours)) {
        error = first_of(error, *ended);
        return;
      }
    }
    batch.add_strided(here, remote, strided, strided.blocks);
  });
  return first_of(error, batch.flush());
}

/// Asks the target to carry out the errand. True if it has done so. The caller excludes all other
/// updates.
bool Region::ask(const Member& target, Errand& errand, void* fetched) const {
  if (!transport_.node().ask(target.process, errand)) return false;
  errand.copy_fetched(fetched);
  return true;
}

bool Region::update_by_owner(const Operation& operation, const Member& target,
                             std::uint64_t base) const {
  const std::uint32_t element = operation.reduction.element;
  if (operation.kind == OperationKind::compare_and_swap) {
    if (!Errand::fits_swap(element)) return false;
    Errand errand =
        Errand::compare_swap(element, base, operation.origin.address, operation.compare);
    return ask(target, errand, operation.result.address);
  }
  const std::uint64_t bytes = operation.bytes();
  const ElementRuns run(operation);
  if (!Errand::fits_update(bytes) || run.bytes() != bytes) return false;
  const std::uint64_t address = base + static_cast<std::uint64_t>(run.offset());
  Errand errand =
      Errand::update(operation.reduction, address, run.origin(), fetches(operation.kind), bytes);
  return ask(target, errand, run.result());
}

/// Carries out a long accumulate together with the target. nullopt: the operation is not such an
/// accumulate, or the target cannot be asked, and nothing has been done.
std::optional<Error> Region::update_in_chunks(const Operation& operation, const Member& target,
                                              std::uint64_t base) {
  if (operation.kind != OperationKind::accumulate) return {};
  const std::optional<StridedBlocks> strided =
      only_strided(operation.target_elements(), operation.origin.elements());
  if (!strided) return {};
  const bool one_run = strided->blocks == 1;
  if (one_run ? !ChunkedOperation::divides_accumulate(strided->bytes)
              : !ChunkedOperation::divides_blocks(*strided)) {
    return {};
  }
  const std::uint64_t address = base + static_cast<std::uint64_t>(strided->theirs);
  std::byte* const origin = at(operation.origin.address, strided->ours);
  const auto whole =
      one_run ? ChunkedOperation::accumulate(operation.reduction, address, origin, strided->bytes)
              : ChunkedOperation::accumulate(operation.reduction, address, *strided, origin);
  scratch_.resize(std::max<std::size_t>(scratch_.size(), ChunkedOperation::most_combined));
  OriginChunks ours(transport_.node(), target.process, whole, scratch_.data());
  return transport_.node().carry_out_with(target.process, whole, ours);
}

/// Updates private memory. The target carries out a short update itself, and both processes carry
/// out a long accumulate. For all others this process fetches the elements, combines them in a
/// copy, and stores them back. If the memory is detached, this process carries out all updates
/// itself. The caller excludes all other updates of this memory, its owner's included.
Error Region::update_vm(const Operation& operation, const Member& target, std::uint64_t base) {
  if (!target.detached) {
    if (update_by_owner(operation, target, base)) return Error::none;
    if (const auto error = update_in_chunks(operation, target, base)) return *error;
  }
  const int process = target.process;
  const std::uint32_t element = operation.reduction.element;
  if (operation.kind == OperationKind::compare_and_swap) {
    std::array<std::byte, 32> copy{};
    const Run run{copy.data(), base, element};
    if (const Error error = transport_.node().copy(process, false, {&run, 1});
        error != Error::none) {
      return error;
    }
    compare_swap_plain(element, copy.data(), operation.origin.address, operation.compare,
                       operation.result.address);
    return transport_.node().copy(process, true, {&run, 1});
  }
  const std::uint64_t most =
      std::max<std::uint64_t>(ChunkedOperation::most_combined / element, 1) * element;
  const std::uint64_t space = std::min(operation.bytes(), most);
  scratch_.resize(std::max<std::size_t>(scratch_.size(), space));
  std::array<Run, most_runs> runs;
  for (ElementRuns elements(operation); elements.bytes() != 0;) {
    ElementRuns combined = elements;
    const std::span<const Run> fetched(
        runs.data(), collect_runs(elements, base, {scratch_.data(), space}, runs));
    if (const Error error = transport_.node().copy(process, false, fetched); error != Error::none) {
      return error;
    }
    for (const Run& run : fetched) {
      reduce_plain(operation.reduction, run.local, combined.origin(), combined.result(),
                   run.bytes / element);
      combined.skip(run.bytes);
    }
    if (operation.reduction.op == Op::no_op) continue;
    if (const Error error = transport_.node().copy(process, true, fetched); error != Error::none) {
      return error;
    }
  }
  return Error::none;
}

/// As update_vm(), for an update of contiguous elements on the hot path. `errand` is null if the
/// update is too long for one.
template <typename Combine>
bool Region::update_private(ThreadLine* thread, const Member& target, std::uint64_t address,
                            std::uint64_t bytes, bool stores, Errand* errand, void* result,
                            Combine&& combine) const {
  alignas(cache_line) std::array<std::byte, most_private> fetched;
  if (bytes > fetched.size()) return false;
  HotUpdate held(*target.control, sharers_, thread);
  if (!held.alone() && !held.acquire_turn(true)) return false;
  if (errand != nullptr && ask(target, *errand, result)) return true;
  const Run run{fetched.data(), address, bytes};
  NodeServices& services = transport_.node();
  if (services.copy(target.process, false, {&run, 1}) != Error::none) return false;
  combine(fetched.data());
  return !stores || services.copy(target.process, true, {&run, 1}) == Error::none;
}

bool Region::reduce_private(ThreadLine* thread, const Reduction& reduction, const Member& target,
                            std::uint64_t address, const void* origin, void* fetched,
                            std::uint64_t count) const {
  const std::uint64_t bytes = count * reduction.element;
  std::optional<Errand> errand;
  if (Errand::fits_update(bytes)) {
    errand = Errand::update(reduction, address, origin, fetched != nullptr, bytes);
  }
  return update_private(
      thread, target, address, bytes, reduction.op != Op::no_op, errand ? &*errand : nullptr,
      fetched, [&](std::byte* copied) { reduce_plain(reduction, copied, origin, fetched, count); });
}

bool Region::compare_swap_private(ThreadLine* thread, std::uint32_t element, const Member& target,
                                  std::uint64_t address, const void* origin, const void* compare,
                                  void* result) const {
  std::optional<Errand> errand;
  if (Errand::fits_swap(element)) {
    errand = Errand::compare_swap(element, address, origin, compare);
  }
  return update_private(
      thread, target, address, element, true, errand ? &*errand : nullptr, result,
      [&](std::byte* copied) { compare_swap_plain(element, copied, origin, compare, result); });
}

bool Region::pack_piggyback(const Operation& operation, Piggyback& piggyback) {
  const Member& target = member(operation.target);
  if (dynamic() || operation.notify_arg.wanted()) return false;
  const bool accumulates = operation.kind == OperationKind::accumulate;
  if (!accumulates && operation.kind != OperationKind::put) return false;
  const std::uint64_t bytes = operation.bytes();
  if (bytes == 0 || bytes > Piggyback::capacity || !operation.origin.layout ||
      !operation.origin.layout->contiguous() || !operation.target_layout->contiguous()) {
    return false;
  }
  const std::uint64_t offset = target.offset(operation.displacement);
  // The rank that grants the lock carries out the operation, by stores if it maps these bytes.
  if (!target.loadable() || target.private_memory) return false;
  piggyback.offset = offset;
  piggyback.bytes = static_cast<std::uint32_t>(bytes);
  if (accumulates) {
    piggyback.element = operation.reduction.element;
    piggyback.op = static_cast<std::uint8_t>(operation.reduction.op);
    piggyback.basic = static_cast<std::uint8_t>(operation.reduction.basic);
  }
  std::memcpy(piggyback.data, operation.origin.address, bytes);
  return true;
}

Error Region::perform_piggyback(const Piggyback& piggyback, int rank) {
  const Member& target = member(rank);
  const Reduction reduction{static_cast<Op>(piggyback.op), static_cast<Basic>(piggyback.basic),
                            piggyback.element};
  if (!target.loadable()) {
    Operation operation;
    operation.kind = piggyback.element == 0 ? OperationKind::put : OperationKind::accumulate;
    operation.target = rank;
    operation.reduction = reduction;
    const std::uint64_t element = std::max<std::uint64_t>(piggyback.element, 1);
    operation.target_count = piggyback.bytes / element;
    operation.target_layout =
        LayoutRef(new Layout({{0, element}}, static_cast<std::int64_t>(element), reduction.basic));
    // The operation only reads from `data`.
    operation.origin = {const_cast<std::byte*>(piggyback.data), operation.target_count,
                        operation.target_layout};
    return perform_at(operation, target, piggyback.offset);
  }
  std::byte* where = target.at_offset(piggyback.offset);
  if (piggyback.element == 0) {
    std::memcpy(where, piggyback.data, piggyback.bytes);
    return Error::none;
  }
  return reduce(reduction, target, where, piggyback.data, nullptr,
                piggyback.bytes / piggyback.element);
}

bool Region::begin_recall(int rank, RecallFor reason) {
  const Member& target = member(rank);
  return transport_.node().begin_recall(target.process, target.window, reason);
}

Error Region::finish_recall(int rank) {
  const Member& target = member(rank);
  MemberStores stores(transport_.node(), target);
  if (!transport_.node().finish_recall(target.process, stores) ||
      stores.error() == Error::peer_lost) {
    return lose(rank, " before it has stored what it was notified of");
  }
  return stores.error();
}

void Region::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  const Member& own = member(rank_);
  if (!within(offset, bytes.size(), own.size)) return;  // no origin sends that
  short_copy(own.base + offset, bytes.data(), bytes.size());
}

Error Region::lose(int rank, const char* when) {
  const auto [text, made] = texts_of_lost_.try_emplace({rank, when});
  if (made) text->second = "rank " + std::to_string(rank) + " of the window has ended" + when;
  whom_lost_ = text->second.c_str();
  return Error::peer_lost;
}

}  // namespace oriel
