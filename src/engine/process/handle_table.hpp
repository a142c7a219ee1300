// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/published.hpp"

namespace oriel {

/// Maps a handle of a window, or of an object of the host's, to Oriel's object behind it: a hash
/// table with open addressing, and in front of it the last result of each thread, which is nearly
/// always the object that the thread needs next.
///
/// find() takes no lock and writes nothing that other threads read. Changes are made one at a time:
/// with the process lock, or while there are no calls. A find() that overlaps a change returns
/// null. A thread receives a handle only after the handle's insertion, so it sees that version or a
/// later one.
template <typename Object>
class HandleTable {
 public:
  HandleTable() {
    // The version ranges of tables of one kind are disjoint: a thread's last result belongs to one
    // table.
    static std::atomic<std::uint64_t> tables_so_far{1};
    version_.begin(tables_so_far.fetch_add(1) << 40);
    grow(16);
  }

  /// Null: not in the table, or to be looked up again with the process lock.
  Object* find(std::uint64_t key) const {
    const std::uint64_t version = version_.begin_read();
    if (last_.key == key && last_.version == version) [[likely]]
      return last_.object;
    return find_in_table(key, version);
  }
  /// find() for calls that have a hot path. Also null while hot paths are closed.
  Object* find_if_open(std::uint64_t key) const {
    const std::uint64_t version = version_.begin_read();
    if (last_.key == key && last_.version == version) [[likely]]
      return last_.hot;
    return find_in_table(key, version) != nullptr ? last_.hot : nullptr;
  }

  /// Opens hot paths, or closes them: find_if_open() then returns null.
  void open_hot_paths(bool open) {
    version_.change([&] { closed_.store(!open); });
  }

  void insert(std::uint64_t key, Object* object) {
    version_.change([&] {
      const Table& old = *table_.load(std::memory_order_relaxed);
      if (2 * (used_ + 1) > old.size()) {
        grow(2 * old.size());
        for (std::size_t i = 0; i < old.size(); ++i) {
          const Entry& entry = old[i];
          if (entry.object() != nullptr) put(entry.key(), entry.object());
        }
      }
      put(key, object);
    });
  }

  /// Erases the entry if the handle still means this object: another thread may have received the
  /// handle value for a new object meanwhile.
  void erase(std::uint64_t key, const Object* object) {
    Table& table = *table_.load(std::memory_order_relaxed);
    Entry* entry = table.find(key);
    if (entry == nullptr || entry->object() != object) return;
    version_.change([&] {
      // The entries that follow, up to the next gap, may have been displaced past this one: insert
      // them again.
      entry->set(0, nullptr);
      --used_;
      for (std::size_t i = table.next(table.index_of(*entry)); table[i].object() != nullptr;
           i = table.next(i)) {
        const std::pair moved{table[i].key(), table[i].object()};
        table[i].set(0, nullptr);
        --used_;
        put(moved.first, moved.second);
      }
    });
  }

  void clear() {
    version_.change([&] {
      Table& table = *table_.load(std::memory_order_relaxed);
      for (std::size_t i = 0; i < table.size(); ++i) table[i].set(0, nullptr);
      used_ = 0;
    });
  }

 private:
  class Entry {
   public:
    std::uint64_t key() const { return key_.load(std::memory_order_acquire); }
    Object* object() const { return object_.load(std::memory_order_acquire); }
    void set(std::uint64_t key, Object* object) {
      key_.store(key, std::memory_order_release);
      object_.store(object, std::memory_order_release);
    }

   private:
    std::atomic<std::uint64_t> key_{0};
    std::atomic<Object*> object_{nullptr};
  };

  /// A power of two of entries, of which at most half are in use.
  class Table {
   public:
    explicit Table(std::size_t size) : entries_(new Entry[size]), size_(size) {}
    std::size_t size() const { return size_; }
    Entry& operator[](std::size_t i) { return entries_[i]; }
    const Entry& operator[](std::size_t i) const { return entries_[i]; }
    std::size_t index_of(const Entry& entry) const {
      return static_cast<std::size_t>(&entry - entries_.get());
    }
    std::size_t place(std::uint64_t key) const {
      // Fibonacci hashing: handles differ in their low bits (MPICH) or in their middle ones
      // (pointers).
      return (key * 0x9e3779b97f4a7c15u >> 32) & (size_ - 1);
    }
    std::size_t next(std::size_t i) const { return (i + 1) & (size_ - 1); }
    /// Checks each entry once at most: entries may move while a reader searches.
    Entry* find(std::uint64_t key) const {
      std::size_t i = place(key);
      for (std::size_t looked = 0; looked < size_; ++looked, i = next(i)) {
        if (entries_[i].object() == nullptr) return nullptr;
        if (entries_[i].key() == key) return &entries_[i];
      }
      return nullptr;
    }

   private:
    std::unique_ptr<Entry[]> entries_;
    std::size_t size_;
  };

  /// The last result of a thread, and its version.
  struct Last {
    std::uint64_t key;
    std::uint64_t version;
    Object* object;
    Object* hot;  // equal to `object`, or null
  };

  /// Kept out of find(), which every call inlines twice.
  [[gnu::noinline]] Object* find_in_table(std::uint64_t key, std::uint64_t version) const {
    const Entry* entry = table_.load(std::memory_order_acquire)->find(key);
    Object* object = entry != nullptr ? entry->object() : nullptr;
    if (!version_.is_unchanged(version)) return nullptr;
    if (object != nullptr) last_ = {key, version, object, closed_.load() ? nullptr : object};
    return object;
  }

  void put(std::uint64_t key, Object* object) {
    Table& table = *table_.load(std::memory_order_relaxed);
    std::size_t i = table.place(key);
    while (table[i].object() != nullptr && table[i].key() != key) i = table.next(i);
    if (table[i].object() == nullptr) ++used_;
    table[i].set(key, object);
  }

  void grow(std::size_t size) {
    tables_.push_back(std::make_unique<Table>(size));
    table_.store(tables_.back().get(), std::memory_order_release);
    used_ = 0;
  }

  // The initial-exec model: an access is one instruction, but takes a few bytes of the space that
  // the loader reserves for libraries loaded later. No entry has version 0.
  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local Last last_{};

  Version version_;
  std::atomic<Table*> table_{nullptr};
  // Also holds the smaller tables that were replaced: a reader may still use them.
  std::vector<std::unique_ptr<Table>> tables_;
  std::size_t used_ = 0;
  Published<bool> closed_;
};

}  // namespace oriel
