// SPDX-License-Identifier: BSD-3-Clause
// The bytes of an operation: straight to mapped memory, by one system call into private memory, or
// carried by a message and served by the target's engine.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {
namespace {

std::byte* at(void* address, std::int64_t offset) {
  // By integers: with MPI_BOTTOM the address is null and the offset is the whole address.
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                      static_cast<std::uintptr_t>(offset));
}

std::uint64_t bytes_of(const Buffer& buffer) {
  return buffer.layout ? buffer.count * buffer.layout->size() : 0;
}

/// Visits the runs that are contiguous in the target, in the origin and in the result alike. An
/// absent buffer imposes nothing and is visited as null.
template <typename Visit>
void for_each_element_run(BlockCursor target, const Buffer& origin, const Buffer& result,
                          Visit&& visit) {
  static const Layout nothing({}, 0, Basic::none);
  BlockCursor from(origin.layout ? *origin.layout : nothing, origin.layout ? origin.count : 0);
  BlockCursor into(result.layout ? *result.layout : nothing, result.layout ? result.count : 0);
  while (!target.finished()) {
    std::uint64_t bytes = target.run();
    if (origin.layout) bytes = std::min(bytes, from.run());
    if (result.layout) bytes = std::min(bytes, into.run());
    if (bytes == 0) return;
    visit(target.offset(), origin.layout ? at(origin.address, from.offset()) : nullptr,
          result.layout ? at(result.address, into.offset()) : nullptr, bytes);
    target.advance(bytes);
    if (origin.layout) from.advance(bytes);
    if (result.layout) into.advance(bytes);
  }
}

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
  const std::uint64_t offset =
      static_cast<std::uint64_t>(operation.displacement) * other.member.disp_unit;
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
      for_each_element_run(
          cursor, operation.origin, operation.result,
          [&](std::int64_t offset, std::byte* origin, std::byte* result, std::uint64_t bytes) {
            reduce(operation.reduction, other, at(base, offset), origin, result,
                   bytes / operation.reduction.element);
          });
      break;
    case OperationKind::compare_and_swap:
      compare_swap(operation.reduction.element, other, base, operation.origin.address,
                   operation.compare, operation.result.address);
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
  const BlockCursor cursor(*operation.target_layout, operation.target_count);
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
  Error error = Error::none;
  for_each_element_run(
      cursor, operation.origin, operation.result,
      [&](std::int64_t offset, std::byte* origin, std::byte* result, std::uint64_t bytes) {
        if (error != Error::none) return;
        const std::uint64_t before = std::min(done, bytes);
        done -= before;
        if (before == bytes) return;
        offset += static_cast<std::int64_t>(before);
        origin += origin != nullptr ? before : 0;
        result += result != nullptr ? before : 0;
        bytes -= before;
        scratch_.resize(std::max<std::size_t>(scratch_.size(), bytes));
        const Run run{scratch_.data(), base + static_cast<std::uint64_t>(offset), bytes};
        error = transport_.copy(process, false, {&run, 1});
        if (error != Error::none) return;
        reduce_plain(operation.reduction, scratch_.data(), origin, result, bytes / element);
        if (operation.reduction.op != Op::no_op) error = transport_.copy(process, true, {&run, 1});
      });
  return error;
}

bool Window::make_errand(const Operation& operation, const Peer& other, Errand& errand) {
  const bool accumulates = operation.kind == OperationKind::accumulate;
  if (!accumulates && operation.kind != OperationKind::put) return false;
  const std::uint64_t bytes = operation.target_count * operation.target_layout->size();
  if (bytes == 0 || bytes > Errand::capacity || !operation.origin.layout ||
      !operation.origin.layout->contiguous() || !operation.target_layout->contiguous()) {
    return false;
  }
  errand.offset = static_cast<std::uint64_t>(operation.displacement) * other.member.disp_unit;
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

void Window::request_service(RecordedOperation& recorded, Peer& other) {
  const Operation& operation = recorded.operation;
  const Layout& layout = *operation.target_layout;
  Message message;
  message.kind = MessageKind::operation;
  message.operation = operation.kind;
  message.op = operation.reduction.op;
  message.basic = operation.reduction.basic;
  message.element = operation.reduction.element;
  message.op_code = operation.reduction.op_code;
  message.type_code = operation.reduction.type_code;
  message.word = recorded.pool_index;
  message.offset = static_cast<std::uint64_t>(operation.displacement) * other.member.disp_unit;
  message.extent = layout.extent();
  message.count = operation.target_count;
  message.blocks = static_cast<std::uint32_t>(layout.blocks().size());
  const std::uint64_t bytes = operation.target_count * layout.size();
  const bool compares = operation.kind == OperationKind::compare_and_swap;
  const bool sends = operation.kind != OperationKind::get && operation.reduction.op != Op::no_op;
  message.data = sends ? bytes : 0;
  const bool fetches =
      operation.kind != OperationKind::put && operation.kind != OperationKind::accumulate;
  message.fetched = fetches ? bytes : 0;

  scratch_.clear();
  const auto append = [&](const void* from, std::uint64_t count) {
    const auto* first = static_cast<const std::byte*>(from);
    scratch_.insert(scratch_.end(), first, first + count);
  };
  append(layout.blocks().data(), layout.blocks().size() * sizeof(Block));
  if (compares) append(operation.compare, message.element);
  if (sends && compares) append(operation.origin.address, message.element);
  if (sends && !compares) {
    for (BlockCursor from(*operation.origin.layout, operation.origin.count); !from.finished();
         from.advance(from.run())) {
      append(at(operation.origin.address, from.offset()), from.run());
    }
  }
  send(other.member.process, message, scratch_);
}

void Window::serve(const Message& message, std::span<const std::byte> payload) {
  Message reply;
  reply.kind = MessageKind::reply;
  reply.word = message.word;
  const bool compares = message.operation == OperationKind::compare_and_swap;
  const std::uint64_t head =
      std::uint64_t{message.blocks} * sizeof(Block) + (compares ? message.element : 0);
  Peer& self = peer(rank_);
  Operation operation;
  std::vector<std::byte> fetched(message.fetched);
  if (payload.size() != head + message.data) {
    reply.error = Error::system;
  } else {
    std::vector<Block> blocks(message.blocks);
    if (!blocks.empty()) {
      std::memcpy(blocks.data(), payload.data(), blocks.size() * sizeof(Block));
    }
    operation.kind = message.operation;
    operation.target = rank_;
    operation.target_count = message.count;
    operation.target_layout = LayoutRef(new Layout(blocks, message.extent, message.basic));
    operation.reduction.op = message.op;
    operation.reduction.basic = message.basic;
    operation.reduction.element = message.element;
    operation.reduction.op_code = message.op_code;
    operation.reduction.type_code = message.type_code;
    operation.reduction.generic = process_.generic_;
    const auto bytes_layout = [](std::uint64_t bytes) {
      return LayoutRef(
          new Layout({Block{0, bytes}}, static_cast<std::int64_t>(bytes), Basic::none));
    };
    if (message.data != 0) {
      auto* data = const_cast<std::byte*>(payload.data()) + head;  // read only below
      operation.origin = {data, 1, bytes_layout(message.data)};
    }
    if (message.fetched != 0) {
      operation.result = {fetched.data(), 1, bytes_layout(message.fetched)};
    }
    if (compares) operation.compare = payload.data() + message.blocks * sizeof(Block);
    const auto [low, high] = operation.target_layout->bounds(message.count);
    const bool inside = message.count == 0 ||
                        (message.offset <= self.member.size &&
                         static_cast<std::int64_t>(message.offset) + low >= 0 &&
                         high <= static_cast<std::int64_t>(self.member.size - message.offset));
    const bool has_operands = message.data != 0 || message.op == Op::no_op ||
                              message.operation == OperationKind::get || message.count == 0;
    if (!inside || !has_operands) {
      reply.error = Error::range;
    } else if (message.count != 0) {
      reply.error = perform_mapped(operation, self, self.member.base + message.offset);
    }
  }
  reply.data = fetched.size();
  send(peer(message.origin).member.process, reply, fetched);
}

void Window::take_reply(const Message& message, std::span<const std::byte> payload) {
  RecordedOperation* recorded = process_.operations_.find(message.word);
  if (recorded == nullptr || recorded->operation.target != message.origin) return;
  const Buffer& result = recorded->operation.result;
  if (!payload.empty() && recorded->operation.kind == OperationKind::compare_and_swap) {
    std::memcpy(result.address, payload.data(),
                std::min<std::size_t>(payload.size(), recorded->operation.reduction.element));
  } else if (!payload.empty() && payload.size() == bytes_of(result)) {
    std::uint64_t done = 0;
    for (BlockCursor into(*result.layout, result.count); !into.finished();) {
      const std::uint64_t bytes = into.run();
      std::memcpy(at(result.address, into.offset()), payload.data() + done, bytes);
      done += bytes;
      into.advance(bytes);
    }
  }
  Target& target = *recorded->target;
  finish(*recorded, message.error);
  satisfy_flushes(target);
}

}  // namespace oriel
