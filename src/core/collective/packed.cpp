// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/packed.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/short_copy.hpp"
#include "core/base/stream_copy.hpp"
#include "core/operation/address.hpp"

namespace oriel {
namespace {

/// Runs that go by one system call.
constexpr std::size_t most_packed_runs = 64;
/// Of shorter ones, on average, a call takes longer to find each than a processor to copy it: it
/// looks up a page for each.
constexpr std::uint64_t shortest_run = 4096;
/// What is packed on the way instead, for one call.
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

template <typename Visit>
void Packed::for_runs(std::uint64_t first, std::uint64_t bytes, Visit&& visit) const {
  BlockCursor cursor(buffer_.elements());
  cursor.skip(first_ + first);
  while (bytes != 0) {
    const std::uint64_t run = std::min(cursor.run(), bytes);
    visit(cursor.offset(), run);
    cursor.advance(run);
    bytes -= run;
  }
}

void Packed::copy_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const {
  if (run_ != nullptr) return short_copy(to, run_ + first, bytes);
  for_runs(first, bytes, [&](std::int64_t offset, std::uint64_t run) {
    std::memcpy(to, at(buffer_.address, offset), run);
    to += run;
  });
}

void Packed::stream_out(std::uint64_t first, std::uint64_t bytes, std::byte* to) const {
  if (run_ == nullptr) return copy_out(first, bytes, to);
  stream_copy(to, run_ + first, bytes);
}

void Packed::copy_in(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const {
  if (run_ != nullptr) return short_copy(run_ + first, from, bytes);
  for_runs(first, bytes, [&](std::int64_t offset, std::uint64_t run) {
    std::memcpy(at(buffer_.address, offset), from, run);
    from += run;
  });
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
  std::array<Run, most_packed_runs> runs;
  std::size_t count = 0;
  Error error = Error::none;
  const auto go = [&] {
    if (error == Error::none) error = services.copy(process, write, {runs.data(), count});
    count = 0;
  };
  for_runs(first, bytes, [&](std::int64_t offset, std::uint64_t run) {
    runs[count++] = {at(buffer_.address, offset), remote, run};
    remote += run;
    if (count == most_packed_runs) go();
  });
  if (count != 0) go();
  return error;
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
