// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/published.hpp"
#include "core/base/version.hpp"

namespace oriel {

/// The object behind a handle, of a window or of what the host gives handles to: open addressing,
/// and in front of it what the thread asked for last, which is nearly always what it asks for next.
///
/// find() takes no lock and writes nothing that other threads read. Changes are made one at a time,
/// with the process lock, or before and after there are calls; who looks meanwhile has found
/// nothing. Whoever has been given a handle has been given it after its insertion, so it sees that
/// version or a later one.
template <typename Object>
class HandleTable {
 public:
  HandleTable() {
    // No two tables of a kind have a version in common: a thread's last answer is of one of them.
    static std::atomic<std::uint64_t> tables_so_far{1};
    version_.begin(tables_so_far.fetch_add(1) << 40);
    grow(16);
  }

  /// Null: not in the table, or only to be seen with the process lock.
  Object* find(std::uint64_t key) const {
    const std::uint64_t version = version_.look();
    if (last_.key == key && last_.version == version) [[likely]]
      return last_.object;
    return find_in_table(key, version);
  }
  /// The same for calls that have a hot path. Null also while these are closed.
  Object* find_hot(std::uint64_t key) const {
    const std::uint64_t version = version_.look();
    if (last_.key == key && last_.version == version) [[likely]]
      return last_.hot;
    return find_in_table(key, version) != nullptr ? last_.hot : nullptr;
  }

  /// Whether find_hot() finds anything.
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

  /// Only if the handle still means this object: it may have been given to another thread's.
  void erase(std::uint64_t key, const Object* object) {
    Table& table = *table_.load(std::memory_order_relaxed);
    Entry* entry = table.find(key);
    if (entry == nullptr || entry->object() != object) return;
    version_.change([&] {
      // What follows the gap up to the next one may have been pushed past it: put it in again.
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

  /// A power of two of entries, at most half of them in use.
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
    /// Looks at each entry once at most: they may move while a reader looks.
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

  /// What a thread has found last, and in which version.
  struct Last {
    std::uint64_t key;
    std::uint64_t version;
    Object* object;
    Object* hot;  // the same, or null
  };

  /// Not a part of find(), which every call has two of.
  [[gnu::noinline]] Object* find_in_table(std::uint64_t key, std::uint64_t version) const {
    const Entry* entry = table_.load(std::memory_order_acquire)->find(key);
    Object* object = entry != nullptr ? entry->object() : nullptr;
    if (!version_.still(version)) return nullptr;
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

  // The initial-exec model: an access is one instruction, and takes a few bytes of what the loader
  // sets aside for libraries that come late. Version 0 is never that of an entry.
  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local Last last_{};

  Version version_;
  std::atomic<Table*> table_{nullptr};
  // The smaller ones, too: a reader may still look at them.
  std::vector<std::unique_ptr<Table>> tables_;
  std::size_t used_ = 0;
  Published<bool> closed_;
};

}  // namespace oriel
