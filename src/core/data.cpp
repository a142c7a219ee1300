// SPDX-License-Identifier: BSD-3-Clause
// The bytes of an operation that its origin carries out: straight to mapped memory, or by one
// system call into private memory.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "core/address.hpp"
#include "core/element_runs.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {
namespace {

/// Collects the pieces of a copy to private memory and hands them over in batches.
class RunBatch {
 public:
  RunBatch(Transport& transport, int process, bool write)
      : transport_(transport), process_(process), write_(write) {}

  void add(void* local, std::uint64_t remote, std::uint64_t bytes) {
    if (count_ == runs_.size()) flush();
    runs_[count_++] = Run{local, remote, bytes};
  }
  Error flush() {
    if (count_ != 0 && error_ == Error::none) {
      error_ = transport_.copy(process_, write_, {runs_.data(), count_});
    }
    count_ = 0;
    return error_;
  }

 private:
  Transport& transport_;
  int process_;
  bool write_;
  std::array<Run, 64> runs_{};
  std::size_t count_ = 0;
  Error error_ = Error::none;
};

}  // namespace

Error Window::check(const Operation& operation, const Peer& other) {
  const Layout& layout = *operation.target_layout;
  if (operation.displacement < 0) {
    return fail(Error::displacement, "the target displacement is negative");
  }
  if (operation.target_count == 0 || layout.size() == 0) return Error::none;
  const auto [low, high] = layout.bounds(operation.target_count);
  const auto size = static_cast<std::int64_t>(other.member.size);
  std::int64_t start = 0;
  if (__builtin_mul_overflow(operation.displacement,
                             static_cast<std::int64_t>(other.member.disp_unit), &start) ||
      start > size || start + low < 0 || high > size - start) {
    return fail(Error::range, "the operation reaches beyond the target's window");
  }
  return Error::none;
}

Error Window::perform(const Operation& operation, Peer& other) {
  const std::uint64_t offset = other.member.offset(operation.displacement);
  if (other.member.path == Path::vm) {
    return perform_vm(operation, other, other.member.address + offset);
  }
  return perform_mapped(operation, other, other.member.base + offset);
}

Error Window::perform_mapped(const Operation& operation, Peer& other, std::byte* base) {
  const BlockCursor cursor(*operation.target_layout, operation.target_count);
  switch (operation.kind) {
    case OperationKind::put:
      for_each_run(cursor, BlockCursor(*operation.origin.layout, operation.origin.count),
                   [&](std::int64_t to, std::int64_t from, std::uint64_t bytes) {
                     std::memmove(at(base, to), at(operation.origin.address, from), bytes);
                   });
      break;
    case OperationKind::get:
      for_each_run(cursor, BlockCursor(*operation.result.layout, operation.result.count),
                   [&](std::int64_t from, std::int64_t to, std::uint64_t bytes) {
                     std::memmove(at(operation.result.address, to), at(base, from), bytes);
                   });
      break;
    case OperationKind::accumulate:
    case OperationKind::get_accumulate:
      for (ElementRuns runs(operation); runs.bytes() != 0; runs.next()) {
        reduce(operation.reduction, other, at(base, runs.offset()), runs.origin(), runs.result(),
               runs.bytes() / operation.reduction.element);
      }
      break;
    case OperationKind::compare_and_swap:
      compare_swap(operation.reduction.element, other, base, operation.origin.address,
                   operation.compare, operation.result.address);
      break;
    case OperationKind::acknowledge:
      break;
  }
  return Error::none;
}

Error Window::copy_vm(const Operation& operation, Peer& other, std::uint64_t base,
                      std::uint64_t done) {
  const bool write = operation.kind == OperationKind::put;
  const Buffer& local = write ? operation.origin : operation.result;
  BlockCursor remote(*operation.target_layout, operation.target_count);
  BlockCursor here(*local.layout, local.count);
  if (done != 0) {
    remote.advance(done);
    here.advance(done);
  }
  RunBatch batch(transport_, other.member.process, write);
  for_each_run(remote, here, [&](std::int64_t there, std::int64_t offset, std::uint64_t bytes) {
    batch.add(at(local.address, offset), base + static_cast<std::uint64_t>(there), bytes);
  });
  return batch.flush();
}

Error Window::perform_vm(const Operation& operation, Peer& other, std::uint64_t base) {
  const std::uint64_t total = operation.target_count * operation.target_layout->size();
  std::uint64_t done = offer(operation, other);
  if (done == total) return Error::none;
  if (operation.kind == OperationKind::put || operation.kind == OperationKind::get) {
    return copy_vm(operation, other, base, done);
  }
  // Fetch, combine in a private copy, store back: alone, as every update of this memory is, its
  // owner's included.
  const Update held(*other.member.control, rank_, transport_, asymmetric_, true);
  const int process = other.member.process;
  const std::uint32_t element = operation.reduction.element;
  if (operation.kind == OperationKind::compare_and_swap) {
    std::array<std::byte, 32> copy{};
    const Run run{copy.data(), base, element};
    if (const Error error = transport_.copy(process, false, {&run, 1}); error != Error::none) {
      return error;
    }
    compare_swap_plain(element, copy.data(), operation.origin.address, operation.compare,
                       operation.result.address);
    return transport_.copy(process, true, {&run, 1});
  }
  ElementRuns runs(operation);
  runs.skip(done);
  for (; runs.bytes() != 0; runs.next()) {
    scratch_.resize(std::max<std::size_t>(scratch_.size(), runs.bytes()));
    const Run run{scratch_.data(), base + static_cast<std::uint64_t>(runs.offset()), runs.bytes()};
    if (const Error error = transport_.copy(process, false, {&run, 1}); error != Error::none) {
      return error;
    }
    reduce_plain(operation.reduction, scratch_.data(), runs.origin(), runs.result(),
                 runs.bytes() / element);
    if (operation.reduction.op == Op::no_op) continue;
    if (const Error error = transport_.copy(process, true, {&run, 1}); error != Error::none) {
      return error;
    }
  }
  return Error::none;
}

bool Window::make_errand(const Operation& operation, const Peer& other, Errand& errand) {
  const bool accumulates = operation.kind == OperationKind::accumulate;
  if (!accumulates && operation.kind != OperationKind::put) return false;
  const std::uint64_t bytes = operation.target_count * operation.target_layout->size();
  if (bytes == 0 || bytes > Errand::capacity || !operation.origin.layout ||
      !operation.origin.layout->contiguous() || !operation.target_layout->contiguous()) {
    return false;
  }
  errand.offset = other.member.offset(operation.displacement);
  errand.bytes = static_cast<std::uint32_t>(bytes);
  if (accumulates) {
    errand.element = operation.reduction.element;
    errand.op = static_cast<std::uint8_t>(operation.reduction.op);
    errand.basic = static_cast<std::uint8_t>(operation.reduction.basic);
    errand.op_code = operation.reduction.op_code;
    errand.type_code = operation.reduction.type_code;
  }
  std::memcpy(errand.data, operation.origin.address, bytes);
  return true;
}

void Window::run_errand(const Errand& errand, Peer& other) {
  std::byte* where = other.member.base + errand.offset;
  if (errand.element == 0) {
    std::memcpy(where, errand.data, errand.bytes);
    return;
  }
  const Reduction reduction{static_cast<Op>(errand.op),
                            static_cast<Basic>(errand.basic),
                            errand.element,
                            errand.op_code,
                            errand.type_code,
                            process_.generic_};
  reduce(reduction, other, where, errand.data, nullptr, errand.bytes / errand.element);
}

}  // namespace oriel
