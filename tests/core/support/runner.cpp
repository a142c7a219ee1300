// SPDX-License-Identifier: BSD-3-Clause
#include "support/runner.hpp"

#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "support/index.hpp"

namespace oriel::test {
namespace {

using Kind = Instruction::Kind;

constexpr std::uint64_t cell_bytes = 8;
constexpr std::uint64_t overwritten = 0xddddddddddddddddu;

LayoutRef layout_of(std::vector<Block> blocks, std::int64_t extent) {
  return LayoutRef(new Layout(std::move(blocks), extent, Basic::u64));
}

/// The words of an access in this process: one after the other, or every second one.
Buffer local(std::vector<std::uint64_t>& words, std::size_t count, bool scattered) {
  if (!scattered) return {words.data(), count, layout_of({{0, cell_bytes}}, cell_bytes)};
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    blocks.push_back({static_cast<std::int64_t>(2 * i * cell_bytes), cell_bytes});
  }
  return {words.data(), 1,
          layout_of(std::move(blocks), static_cast<std::int64_t>(2 * count * cell_bytes))};
}

std::size_t place(std::size_t i, bool scattered) {
  return scattered ? 2 * i : i;
}

std::uint64_t load(const std::byte* memory, std::uint32_t cell) {
  std::uint64_t value = 0;
  std::memcpy(&value, memory + cell * cell_bytes, sizeof value);
  return value;
}

/// Whose value in the end depends on who came first, or last.
bool is_contended(std::uint32_t cell) {
  return cell >= Cells::first_claim && cell < Cells::first_own;
}

bool fetches(const Access& access) {
  return access.kind != OperationKind::put && access.kind != OperationKind::accumulate;
}

}  // namespace

Runner::Runner(SimJob& job, const Program& program, Barrier& barrier, int rank)
    : job_(job),
      program_(program),
      barrier_(barrier),
      rank_(rank),
      code_(program.code[at(rank)]),
      accesses_(program.accesses[at(rank)]),
      requests_(at(program.requests[at(rank)])),
      buffers_(accesses_.size()) {
  if (rank % 2 == 0) return;
  ThreadLines& threads = job.network().threads(rank);
  threads.used = 1;
  thread_ = &threads.lines.front();
}

void Runner::fail(const std::string& what) {
  if (failure_.empty()) failure_ = where() + ": " + what;
}

std::string Runner::where() const {
  std::ostringstream text;
  text << "rank " << rank_ << " at " << next_ << " of " << code_.size();
  if (next_ < code_.size()) text << ", " << to_string(code_[next_]);
  int open = 0;
  for (const Request& request : requests_) open += request.known() && !request.done() ? 1 : 0;
  text << ", requests pending " << open << ", work pending " << job_.process(rank_).pending();
  return text.str();
}

Runner::Step Runner::step() {
  if (next_ == code_.size() || failed()) return Step::finished;
  const Instruction& instruction = code_[next_];
  if (!started_) {
    started_ = true;
    if (!start(instruction)) return Step::finished;
  }
  if (instruction.kind == Kind::away && away_ > 0) {
    --away_;
    return Step::away;
  }
  if (!over(instruction)) return Step::blocked;
  ++next_;
  started_ = false;
  return Step::moved;
}

Outcome Runner::call(const Instruction& instruction, Window& window, Completion* completion) {
  switch (instruction.kind) {
    case Kind::complete:
      return window.epochs().complete(completion);
    case Kind::wait:
      return window.epochs().wait(completion);
    case Kind::fence:
      return window.epochs().fence(instruction.assertion, instruction.barrier, completion);
    case Kind::unlock:
      return window.unlock(instruction.target, completion);
    case Kind::unlock_all:
      return window.unlock_all(completion);
    case Kind::flush:
      // The MPI layer asks these first.
      if (window.flushed(instruction.target, false) ||
          window.nothing_pending(instruction.target, false)) {
        return Outcome::finished();
      }
      return window.epochs().flush(instruction.target, instruction.local, completion);
    default:
      return window.epochs().flush_all(instruction.local, completion);
  }
}

void Runner::open(Error error, const Window& window) {
  if (error != Error::none) fail(std::string("the call failed: ") + window.reason());
}

bool Runner::start(const Instruction& instruction) {
  Window& window = job_.window(rank_, instruction.window);
  job_.churn(rank_, instruction.window);
  switch (instruction.kind) {
    case Kind::post:
      open(window.epochs().post(instruction.group, instruction.assertion), window);
      break;
    case Kind::start:
      open(window.epochs().start(instruction.group, instruction.assertion), window);
      break;
    case Kind::lock:
      open(window.lock(instruction.exclusive, instruction.target, instruction.assertion), window);
      break;
    case Kind::lock_all:
      open(window.lock_all(instruction.assertion), window);
      break;
    case Kind::access:
      issue(instruction.index);
      break;
    case Kind::settle:
      settle(instruction.index);
      break;
    case Kind::memory:
      check_memory(instruction);
      break;
    case Kind::barrier:
      open(window.epochs().sync(), window);
      barrier_goal_ = barrier_.arrive();
      break;
    case Kind::away:
      away_ = instruction.index;
      break;
    case Kind::test:
    case Kind::await:
    case Kind::await_all:
      break;
    default: {
      Request& request = requests_[at(instruction.request)];
      const Outcome outcome = call(instruction, window, &request);
      open(outcome.error, window);
      outcome.done ? request.finished() : request.posted();
      break;
    }
  }
  return !failed();
}

bool Runner::over(const Instruction& instruction) {
  const auto check = [&](const Request& request) {
    if (!request.sound()) fail("a request failed or was told twice");
    return request.done();
  };
  switch (instruction.kind) {
    case Kind::test: {
      Window& window = job_.window(rank_, instruction.window);
      bool flag = false;
      open(window.epochs().test(flag), window);
      if (flag) requests_[at(instruction.request)].finished();
      return flag;
    }
    case Kind::barrier:
      return barrier_.over(barrier_goal_);
    case Kind::await:
      return check(requests_[at(instruction.request)]);
    case Kind::await_all:
      for (const Request& request : requests_) {
        if (request.known() && !check(request)) return false;
      }
      return true;
    case Kind::complete:
    case Kind::wait:
    case Kind::fence:
    case Kind::unlock:
    case Kind::unlock_all:
    case Kind::flush:
    case Kind::flush_all:
      return !instruction.blocking || check(requests_[at(instruction.request)]);
    default:
      return true;
  }
}

bool Runner::issue_directly(const Access& access, Buffers& buffers, Window& window) {
  // As the MPI layer does, short contiguous operations are tried on the hot path first.
  if (!access.direct || access.request >= 0 || access.cells.size() != 1) return false;
  const std::int64_t displacement =
      job_.displacement(access.target, access.window, access.cells[0] * cell_bytes);
  if (access.kind == OperationKind::put) {
    std::byte* where = window.find_address(access.target, displacement, cell_bytes);
    if (where == nullptr) {
      return window.try_copy(true, access.target, displacement, buffers.origin.data(), cell_bytes,
                             thread_ == nullptr);
    }
    std::memcpy(where, buffers.origin.data(), cell_bytes);
    return true;
  }
  if (access.kind == OperationKind::get) {
    const std::byte* where = window.find_address(access.target, displacement, cell_bytes);
    if (where == nullptr) {
      return window.try_copy(false, access.target, displacement, buffers.result.data(), cell_bytes,
                             thread_ == nullptr);
    }
    std::memcpy(buffers.result.data(), where, cell_bytes);
    return true;
  }
  const Reduction reduction{access.op, Basic::u64, cell_bytes};
  if (access.kind == OperationKind::compare_and_swap) {
    return window.try_compare_swap(thread_, access.target, displacement, reduction,
                                   buffers.origin.data(), &buffers.compare, buffers.result.data());
  }
  return window.try_reduce(thread_, access.target, displacement, reduction,
                           buffers.origin.empty() ? nullptr : buffers.origin.data(),
                           buffers.result.empty() ? nullptr : buffers.result.data(), 1);
}

void Runner::issue(int index) {
  const Access& access = accesses_[at(index)];
  Buffers& buffers = buffers_[at(index)];
  buffers.issued = true;
  const std::size_t count = access.cells.size();
  const bool scattered = access.scattered_origin && count > 1;
  if (!access.values.empty()) {
    buffers.origin.assign(place(count, scattered), overwritten);
    for (std::size_t i = 0; i < count; ++i) {
      buffers.origin[place(i, scattered)] = access.values[i];
    }
    if (access.increments >= 0) {
      const Buffers& read = buffers_[at(access.increments)];
      const bool read_scattered = accesses_[at(access.increments)].scattered_origin;
      for (std::size_t i = 0; i < count; ++i) {
        buffers.origin[place(i, scattered)] = read.result[place(i, read_scattered)] + 1;
      }
    }
  }
  if (fetches(access)) buffers.result.assign(place(count, scattered), overwritten);
  buffers.compare = access.compare;

  Window& window = job_.window(rank_, access.window);
  if (issue_directly(access, buffers, window)) return;
  if (access.direct && window.try_touch(access.target) && issue_directly(access, buffers, window))
    return;

  Operation operation;
  operation.kind = access.kind;
  operation.target = access.target;
  const auto first = static_cast<std::int64_t>(access.cells[0]);
  operation.displacement =
      job_.displacement(access.target, access.window, access.cells[0] * cell_bytes);
  const std::int64_t stride = count > 1 ? static_cast<std::int64_t>(access.cells[1]) - first : 1;
  if (access.resized_target || count == 1) {
    operation.target_count = count;
    operation.target_layout =
        layout_of({{0, cell_bytes}}, stride * static_cast<std::int64_t>(cell_bytes));
  } else {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      blocks.push_back(
          {static_cast<std::int64_t>(i) * stride * static_cast<std::int64_t>(cell_bytes),
           cell_bytes});
    }
    operation.target_count = 1;
    operation.target_layout = layout_of(std::move(blocks), 4096);
  }
  if (!buffers.origin.empty()) operation.origin = local(buffers.origin, count, scattered);
  if (!buffers.result.empty()) operation.result = local(buffers.result, count, scattered);
  operation.compare = &buffers.compare;
  operation.reduction = {access.op, Basic::u64, cell_bytes};
  if (access.request >= 0) operation.completion = &requests_[at(access.request)];
  const Outcome outcome = window.epochs().issue(operation);
  open(outcome.error, window);
  if (access.request >= 0) {
    Request& request = requests_[at(access.request)];
    outcome.done ? request.finished() : request.posted();
  }
}

/// Whether each cell may be updated by itself, because the window permits it or the network's
/// atomics are asked for.
bool Runner::by_elements(const Access& access) const {
  const Window& window = job_.window(rank_, access.window);
  const Reduction reduction{access.op, Basic::u64, cell_bytes};
  return reduces(access.kind) &&
         (job_.spec(access.window).atomicity.by_elements(reduction, fetches(access.kind)) ||
          window.intrinsic(bit(access.op), reduction, access.cells.size()));
}

void Runner::settle(int index) {
  const Access& access = accesses_[at(index)];
  Buffers& buffers = buffers_[at(index)];
  if (std::exchange(buffers.settled, true)) return;
  const bool scattered = access.scattered_origin && access.cells.size() > 1;
  for (std::size_t i = 0; i < access.expected.size(); ++i) {
    const std::uint64_t found = buffers.result[place(i, scattered)];
    const Expected& expected = access.expected[i];
    const std::uint32_t cell = access.cells[i];
    std::ostringstream text;
    text << std::hex << "access " << std::dec << index << " kind " << static_cast<int>(access.kind)
         << " window " << access.window << " target " << access.target << " cell " << cell
         << std::hex << ": found " << found;
    switch (expected.what) {
      case Expected::What::exactly:
        if (found != expected.low) {
          text << ", expected " << expected.low;
          fail(text.str());
        }
        break;
      case Expected::What::equal_to_first:
        if (found != buffers.result[0] && !by_elements(access)) {
          text << ", but the cell before held " << buffers.result[0];
          fail(text.str());
        }
        break;
      case Expected::What::counters: {
        const std::uint64_t most = program_.memory[at(access.window)][at(access.target)][cell];
        for (int rank = 0; rank < program_.ranks; ++rank) {
          const auto counter = [&](std::uint64_t value) { return (value >> (8 * rank)) & 0xff; };
          const bool exact = rank == expected.exact_rank;
          if (counter(found) < counter(expected.low) || counter(found) > counter(most) ||
              (exact && counter(found) != counter(expected.low))) {
            text << ", expected rank " << rank << "'s counter from " << counter(expected.low)
                 << " to " << (exact ? counter(expected.low) : counter(most));
            fail(text.str());
            break;
          }
        }
        break;
      }
      case Expected::What::claim:
        claims_.push_back({access.window, access.target, cell, found});
        break;
    }
  }
  // Origin memory is ours again: if anything is still to be sent from it, the target will show it.
  for (std::uint64_t& value : buffers.origin) value = overwritten;
}

void Runner::check_memory(const Instruction& instruction) {
  const std::byte* memory = job_.memory(rank_, instruction.window);
  for (std::uint32_t cell = 0; cell < instruction.cells.size(); ++cell) {
    if (is_contended(cell)) continue;
    const std::uint64_t found = load(memory, cell);
    if (found == instruction.cells[cell]) continue;
    std::ostringstream text;
    text << "cell " << cell << std::hex << " holds " << found << ", expected "
         << instruction.cells[cell];
    fail(text.str());
    return;
  }
}

std::string check_end(SimJob& job, const Program& program, const std::deque<Runner>& runners) {
  std::map<std::tuple<int, int, std::uint32_t>, std::vector<std::pair<int, std::uint64_t>>> claims;
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (const Runner::Claim& claim : runners[at(rank)].claims()) {
      claims[{claim.window, claim.target, claim.cell}].emplace_back(rank, claim.found);
    }
    for (int window = 0; window < program.windows; ++window) {
      const Window& side = job.window(rank, window);
      if (side.epochs().open_epoch())
        return "rank " + std::to_string(rank) + " has an epoch left open";
    }
  }
  for (const auto& [place, attempts] : claims) {
    const auto [window, target, cell] = place;
    const std::uint64_t winner = load(job.memory(target, window), cell);
    int wins = 0;
    for (const auto& [rank, found] : attempts) {
      if (found == 0) {
        ++wins;
        if (winner != static_cast<std::uint64_t>(rank) + 1) return "a claim was won and lost again";
      } else if (found != winner) {
        return "a claim was lost to somebody who does not hold it";
      }
    }
    if (wins != 1) return "a cell was claimed " + std::to_string(wins) + " times";
  }
  return {};
}

}  // namespace oriel::test
