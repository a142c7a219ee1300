// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/operation/address.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// A run of bytes at `offset` from the start of an element.
struct Block {
  std::int64_t offset;
  std::uint64_t length;
};

class LayoutRef;

/// A datatype, flattened once: its bytes as blocks in typemap order, adjacent ones merged.
/// Immutable; shared by reference count because an operation may outlive MPI_Type_free (G4).
class Layout {
 public:
  /// `basic`: the predefined type that the whole datatype consists of, or Basic::none if there are
  /// several.
  Layout(const std::vector<Block>& blocks, std::int64_t extent, Basic basic);
  /// A layout that is never deleted: that of a predefined datatype. Its references are not counted,
  /// because the count would be written several times for each operation, by all threads. Equal
  /// calls return the same layout. Any thread may call it.
  static LayoutRef lasting(const std::vector<Block>& blocks, std::int64_t extent, Basic basic);

  const std::vector<Block>& blocks() const { return blocks_; }
  std::int64_t extent() const { return extent_; }
  /// Bytes of data in one element.
  std::uint64_t size() const { return size_; }
  Basic basic() const { return basic_; }
  /// Unique in this process, never 0. Peers that keep a copy of the layout know it by this number.
  std::uint64_t id() const { return id_; }
  /// The index of the block that contains byte number `byte` of an element.
  std::size_t block_of(std::uint64_t byte) const;
  /// Bytes of data in an element before its block number `block`.
  std::uint64_t bytes_before(std::size_t block) const { return before_[block]; }
  /// True if `count` elements are one run of count * size() bytes starting at offset 0.
  bool contiguous() const { return contiguous_; }
  /// True if contiguous(), and so short that 2^32 elements are less than 2^63 bytes.
  bool short_contiguous() const { return short_contiguous_; }
  /// True if the blocks of one element have one length and are stride() bytes apart; true for one
  /// block.
  bool even() const { return even_; }
  std::int64_t stride() const { return stride_; }
  /// True if even() and the next element's first block follows at the same stride.
  bool evenly_repeated() const { return evenly_repeated_; }
  /// Lowest and one past the highest byte touched by `count` elements, relative to their start.
  std::pair<std::int64_t, std::int64_t> bounds(std::uint64_t count) const;
  /// True if `count` elements that start at offset `start` touch only the first `size` bytes.
  /// `start` may lie behind these bytes if the elements reach back.
  bool within(std::uint64_t count, std::int64_t start, std::uint64_t size) const;

 private:
  friend class LayoutRef;
  std::vector<Block> blocks_;
  std::vector<std::uint64_t> before_;  // by block
  std::uint64_t id_;
  std::int64_t extent_;
  std::uint64_t size_ = 0;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  Basic basic_;
  bool contiguous_ = false;
  bool short_contiguous_ = false;
  bool even_ = false;
  bool evenly_repeated_ = false;
  std::int64_t stride_ = 0;
  bool lasting_ = false;
  mutable std::atomic<std::uint32_t> references_{0};  // unless lasting_
};

/// Owning reference to a Layout, which may be a lasting one.
class LayoutRef {
 public:
  LayoutRef() = default;
  explicit LayoutRef(const Layout* layout) : layout_(layout) { retain(); }
  LayoutRef(const LayoutRef& other) : layout_(other.layout_) { retain(); }
  LayoutRef(LayoutRef&& other) noexcept : layout_(std::exchange(other.layout_, nullptr)) {}
  LayoutRef& operator=(LayoutRef other) noexcept {
    std::swap(layout_, other.layout_);
    return *this;
  }
  ~LayoutRef() { release(); }

  const Layout* get() const { return layout_; }
  const Layout* operator->() const { return layout_; }
  const Layout& operator*() const { return *layout_; }
  explicit operator bool() const { return layout_ != nullptr; }

 private:
  bool counted() const {
#ifndef __clang_analyzer__  // it would take new layouts for lasting ones, and report leaks
    if (layout_ != nullptr && layout_->lasting_) return false;
#endif
    return layout_ != nullptr;
  }
  void retain() const {
    if (counted()) layout_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    // acq_rel: the reads of all other owners must happen before the last owner deletes the layout.
    if (counted() && layout_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete layout_;
    }
  }
  const Layout* layout_ = nullptr;
};

/// `count` elements of a layout that another object keeps alive. It has no reference of its own,
/// because a reference count would be a word that all threads write.
struct Elements {
  const Layout& layout;
  std::uint64_t count;
};

/// Computes the offset of a displacement at which elements begin. False if not all bytes of the
/// elements are within memory of `size` bytes.
inline bool find_range(std::int64_t displacement, std::uint64_t disp_unit, const Elements& elements,
                       std::uint64_t size, std::int64_t& offset) {
  return byte_offset(displacement, disp_unit, offset) &&
         elements.layout.within(elements.count, offset, size);
}

/// Walks the bytes of `count` elements of a layout block by block. No other code walks a datatype's
/// memory: all packing and unpacking uses this class.
class BlockCursor {
 public:
  BlockCursor(const Layout& layout, std::uint64_t count);
  explicit BlockCursor(const Elements& elements) : BlockCursor(elements.layout, elements.count) {}

  bool finished() const { return remaining_ == 0; }
  /// Bytes left in the whole walk.
  std::uint64_t remaining() const { return remaining_; }
  /// Offset of the current byte from the first element's start.
  std::int64_t offset() const { return offset_; }
  /// Contiguous bytes from offset() on.
  std::uint64_t run() const { return run_; }
  /// Advances by `bytes`, at most run().
  void advance(std::uint64_t bytes);
  /// Advances by any number of bytes up to remaining().
  void skip(std::uint64_t bytes);

 private:
  void load();
  const Layout* layout_;
  std::uint64_t remaining_;
  std::int64_t element_ = 0;  // offset of the current element
  std::size_t block_ = 0;
  std::int64_t offset_ = 0;
  std::uint64_t run_ = 0;
  bool whole_ = false;  // contiguous: the whole walk is one run
};

// Inline: a vector type calls these once for each block, which may be a few bytes.
inline void BlockCursor::load() {
  const Block& block = layout_->blocks()[block_];
  offset_ = element_ + block.offset;
  run_ = whole_ ? remaining_ : block.length;
}

inline void BlockCursor::advance(std::uint64_t bytes) {
  remaining_ -= bytes;
  run_ -= bytes;
  offset_ += static_cast<std::int64_t>(bytes);
  if (run_ != 0 || remaining_ == 0) return;
  if (++block_ == layout_->blocks().size()) {
    block_ = 0;
    element_ += layout_->extent();
  }
  load();
}

/// Calls visit(offset, bytes) for each run of the next `bytes` bytes of the walk.
template <typename Visit>
void for_each_run(BlockCursor cursor, std::uint64_t bytes, Visit&& visit) {
  while (bytes != 0 && !cursor.finished()) {
    const std::uint64_t run = cursor.run() < bytes ? cursor.run() : bytes;
    visit(cursor.offset(), run);
    cursor.advance(run);
    bytes -= run;
  }
}

/// Calls visit(a_offset, b_offset, bytes) for each run that is contiguous on both sides.
template <typename Visit>
void for_each_run(BlockCursor a, BlockCursor b, Visit&& visit) {
  while (!a.finished() && !b.finished()) {
    const std::uint64_t bytes = a.run() < b.run() ? a.run() : b.run();
    visit(a.offset(), b.offset(), bytes);
    a.advance(bytes);
    b.advance(bytes);
  }
}

/// `count` elements of a datatype at an address of this process.
struct Buffer {
  void* address = nullptr;
  std::uint64_t count = 0;
  LayoutRef layout;

  Elements elements() const { return {*layout, count}; }
  /// Copies `bytes` bytes of the elements, from byte number `first` on, to contiguous memory.
  void pack(std::uint64_t first, std::uint64_t bytes, std::byte* to) const;
  /// Copies contiguous memory to `bytes` bytes of the elements, from byte number `first` on.
  void unpack(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const;
};

/// A buffer of `bytes` contiguous bytes.
Buffer bytes_at(void* address, std::uint64_t bytes);

}  // namespace oriel
