// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/packed.hpp"

#include <algorithm>
#include <array>

#include "core/base/copies.hpp"
#include "core/operation/address.hpp"
#include "core/region/private_copy.hpp"

namespace oriel {
namespace {

/// With shorter runs on average, a system call takes longer to find each run than a processor takes
/// to copy it, because the call looks up a page for each run.
constexpr std::uint64_t shortest_run = 4096;
/// Bytes of such runs that are packed for one system call.
constexpr std::size_t between_bytes = std::size_t{16} * 1024;

}  // namespace

Packed::Packed(const Stretch& stretch) : buffer_(stretch), first_(stretch.first) {
  if (!stretch.layout) return;
  const Layout& layout = *stretch.layout;
  const std::uint64_t whole = stretch.count * layout.size();
  bytes_ = first_ < whole ? std::min(stretch.bytes, whole - first_) : 0;
  if (bytes_ == 0) return;
  if (layout.contiguous() || (stretch.count == 1 && layout.blocks().size() == 1)) {
    run_ = at(stretch.address, layout.blocks().front().offset) + first_;
  }
}

void Packed::copy_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const {
  if (run_ != nullptr) return short_copy(to, run_ + first, bytes);
  buffer_.pack(first_ + first, bytes, to);
}

void Packed::stream_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const {
  if (run_ == nullptr) return copy_out(first, bytes, to);
  stream_copy(to, run_ + first, bytes);
}

void Packed::copy_in(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const {
  if (run_ != nullptr) return short_copy(run_ + first, from, bytes);
  buffer_.unpack(first_ + first, bytes, from);
}

Error Packed::copy(NodeServices& services, int process, bool write, std::uint64_t first,
                   std::uint64_t bytes, std::uint64_t remote) const {
  if (run_ != nullptr) {
    const Run run{run_ + first, remote, bytes};
    return services.copy(process, write, {&run, 1});
  }
  if (buffer_.layout->size() / buffer_.layout->blocks().size() < shortest_run) {
    return copy_packed(services, process, write, first, bytes, remote);
  }
  RunBatch batch(services, process, write);
  BlockCursor cursor(buffer_.elements());
  cursor.skip(first_ + first);
  for_each_run(cursor, bytes, [&](std::int64_t offset, std::uint64_t run) {
    batch.add(at(buffer_.address, offset), remote, run);
    remote += run;
  });
  return batch.flush();
}

Error Packed::copy_packed(NodeServices& services, int process, bool write, std::uint64_t first,
                          std::uint64_t bytes, std::uint64_t remote) const {
  std::array<std::byte, between_bytes> between;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t piece = std::min<std::uint64_t>(between.size(), bytes - done);
    const Run run{between.data(), remote + done, piece};
    if (write) copy_out(first + done, piece, between.data());
    if (const Error error = services.copy(process, write, {&run, 1}); error != Error::none) {
      return error;
    }
    if (!write) copy_in(first + done, piece, between.data());
    done += piece;
  }
  return Error::none;
}

void copy(const Packed& from, const Packed& to) {
  const std::uint64_t bytes = std::min(from.bytes(), to.bytes());
  if (bytes == 0) return;
  if (from.run() != nullptr) return to.copy_in(0, bytes, from.run());
  if (to.run() != nullptr) return from.copy_out(0, bytes, to.run());
  std::array<std::byte, 4096> between;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t piece = std::min<std::uint64_t>(between.size(), bytes - done);
    from.copy_out(done, piece, between.data());
    to.copy_in(done, piece, between.data());
    done += piece;
  }
}

}  // namespace oriel
