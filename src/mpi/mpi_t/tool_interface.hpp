// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace oriel::mpi {

/// The indices of Oriel's variables (or categories) among those of the host. Hosts add variables
/// while a program runs, and an index that a program has been given may not change. So Oriel's
/// indices are a block behind the host's first ones, and the host's later ones follow the block.
class IndexBlock {
 public:
  /// `own`: the size of the block; `host`: the present number of the host's indices. A host that
  /// has been started again may have fewer than before.
  void assign(int own, int host) {
    own_ = own;
    first_ = std::min(first_, host);
  }
  /// Removes Oriel's variables. The start of the block is kept for the next assign().
  void remove() { own_ = 0; }

  int size() const { return own_; }
  /// `position`: the position in the block, or the host's own index.
  struct Resolved {
    bool own;
    int position;
  };
  Resolved resolve(int index) const {
    if (index < first_) return {false, index};
    const int position = index - first_;
    return position < own_ ? Resolved{true, position} : Resolved{false, index - own_};
  }
  /// The reverse of resolve(): for a position in the block, and for an index of the host's.
  int index_of(int position) const { return first_ + position; }
  int from_host(int index) const { return index < first_ ? index : index + own_; }

 private:
  int first_ = std::numeric_limits<int>::max();
  int own_ = 0;
};

/// Oriel's part in MPI's tool information interface: the indices of its variables and its category
/// in the lists that the program sees. With the process lock.
class ToolInterface {
 public:
  IndexBlock cvars;
  IndexBlock pvars;
  IndexBlock categories;

  static constexpr std::string_view category = "oriel";

  /// Called when the program starts MPI_T, which it may do several times, or ends it as often.
  void begin();
  void end();

 private:
  int uses_ = 0;
};

extern ToolInterface tool_interface;

// The functions below acquire the process lock.

/// Resolves an index that the program has passed.
IndexBlock::Resolved resolve(const IndexBlock& block, int index);
/// The number of indices, Oriel's included. `host`: the host's function of the call.
int get_number(const IndexBlock& block, int (*host)(int*), int* number);
/// Finds an index by a name: first the position in the block for which has_name(position), then by
/// host(&index).
int get_index(const IndexBlock& block, const std::function<bool(int)>& has_name,
              const std::function<int(int*)>& host, int* index);

/// Stores an output of a call of MPI_T, unless the program has passed a null pointer for it.
template <typename T>
void put_out(T* out, const T& value) {
  if (out != nullptr) *out = value;
}

/// Stores as much of a string as fits into `*length` characters, including its terminating null.
/// `*length` becomes the length of the whole string including the null.
inline void put_out(std::string_view text, char* out, int* length) {
  if (length == nullptr) return;
  if (out != nullptr && *length > 0) {
    const std::size_t fits = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(out, text.data(), fits);
    out[fits] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

}  // namespace oriel::mpi
