// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/check.hpp"

namespace support {

/// The three ways to a window of Oriel: private memory, mapped memory, shared memory.
enum class Flavor { create, allocate, shared };

/// Whether all ranks can share memory. ORIEL_TEST_HIDDEN=1: they cannot, whatever the host says.
inline bool one_node() {
  static const bool one = [] {
    if (std::getenv("ORIEL_TEST_HIDDEN") != nullptr) return false;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int here = 0;
    int all = 0;
    MPI_Comm_size(node, &here);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_free(&node);
    return here == all;
  }();
  return one;
}

/// Those that all ranks can have together.
inline std::vector<Flavor> flavors() {
  if (!one_node()) return {Flavor::create, Flavor::allocate};
  return {Flavor::create, Flavor::allocate, Flavor::shared};
}

constexpr const char* name_of(Flavor flavor) {
  switch (flavor) {
    case Flavor::create:
      return "create";
    case Flavor::allocate:
      return "allocate";
    case Flavor::shared:
      return "allocate_shared";
  }
  return "";
}

/// Key and value, apart by `=`, that ORIEL_TEST_INFO names for windows that are given no info.
inline MPI_Info default_info() {
  static const MPI_Info made = [] {
    MPI_Info info = MPI_INFO_NULL;
    const char* setting = std::getenv("ORIEL_TEST_INFO");
    if (setting == nullptr) return info;
    const std::string text = setting;
    const std::size_t equals = text.find('=');
    MPI_Info_create(&info);
    MPI_Info_set(info, text.substr(0, equals).c_str(), text.substr(equals + 1).c_str());
    return info;
  }();
  return made;
}

/// Whether ORIEL_MEMFD permits memfd_create.
inline bool uses_memfd() {
  const char* setting = std::getenv("ORIEL_MEMFD");
  return setting == nullptr || std::string(setting) != "0";
}

inline std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// A window of `count` elements of T, all zero on every rank when the constructor returns.
template <class T>
class Window {
 public:
  explicit Window(Flavor flavor, std::size_t count, MPI_Comm comm = MPI_COMM_WORLD,
                  MPI_Info info = default_info())
      : count_(count) {
    const auto bytes = static_cast<MPI_Aint>(count * sizeof(T));
    const int unit = sizeof(T);
    switch (flavor) {
      case Flavor::create:
        memory_.reset(static_cast<T*>(std::malloc(count * sizeof(T))));
        data_ = memory_.get();
        MPI_Win_create(data_, bytes, unit, info, comm, &win_);
        break;
      case Flavor::allocate:
        MPI_Win_allocate(bytes, unit, info, comm, &data_, &win_);
        break;
      case Flavor::shared:
        MPI_Win_allocate_shared(bytes, unit, info, comm, &data_, &win_);
        break;
    }
    std::fill_n(data_, count, T{});
    MPI_Barrier(comm);
  }
  ~Window() { MPI_Win_free(&win_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  operator MPI_Win() const { return win_; }
  MPI_Win win() const { return win_; }
  T* data() { return data_; }
  std::size_t size() const { return count_; }
  /// What others wrote may arrive at any time; the compiler must look again.
  volatile T& operator[](std::size_t index) { return data_[index]; }

 private:
  MPI_Win win_ = MPI_WIN_NULL;
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
  T* data_ = nullptr;
  std::size_t count_;
};

/// A group of some of the ranks of MPI_COMM_WORLD.
class Group {
 public:
  explicit Group(const std::vector<int>& ranks) {
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group_);
    MPI_Group_free(&world);
  }
  ~Group() {
    if (group_ != MPI_GROUP_EMPTY) MPI_Group_free(&group_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  operator MPI_Group() const { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

/// An info object made of pairs of strings.
class Info {
 public:
  explicit Info(std::initializer_list<std::pair<const char*, const char*>> pairs) {
    MPI_Info_create(&info_);
    for (const auto& [key, value] : pairs) MPI_Info_set(info_, key, value);
  }
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace support
