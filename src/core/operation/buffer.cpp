// SPDX-License-Identifier: BSD-3-Clause
#include "core/operation/buffer.hpp"

#include <cstring>

#include "core/operation/address.hpp"

namespace oriel {

void Buffer::pack(std::uint64_t first, std::uint64_t bytes, std::byte* to) const {
  BlockCursor cursor(elements());
  cursor.skip(first);
  for_each_run(cursor, bytes, [&](std::int64_t offset, std::uint64_t run) {
    std::memcpy(to, at(address, offset), run);
    to += run;
  });
}

void Buffer::unpack(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const {
  BlockCursor cursor(elements());
  cursor.skip(first);
  for_each_run(cursor, bytes, [&](std::int64_t offset, std::uint64_t run) {
    std::memcpy(at(address, offset), from, run);
    from += run;
  });
}

}  // namespace oriel
