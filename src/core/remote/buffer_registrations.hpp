// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/transport/messages.hpp"

namespace oriel {

/// This rank's buffers that targets read or write by direct transfers of their own, each until its
/// operation is over. The destructor deregisters those whose operations are not over.
class BufferRegistrations {
 public:
  explicit BufferRegistrations(Messages& messages) : messages_(messages) {}
  ~BufferRegistrations() {
    for (const auto& [number, memory] : registered_) messages_.deregister_buffer(number);
  }
  BufferRegistrations(const BufferRegistrations&) = delete;
  BufferRegistrations& operator=(const BufferRegistrations&) = delete;

  /// Registers `bytes` bytes for reads, or for writes, by the process. Returns a number for the
  /// other calls; -1: the buffer cannot be registered.
  int register_buffer(int process, bool to_be_written, void* memory, std::uint64_t bytes) {
    RemoteMemory made;
    const int number = messages_.register_buffer(process, to_be_written, memory, bytes, made);
    if (number >= 0) registered_[number] = made;
    return number;
  }
  const RemoteMemory& memory(int number) const { return registered_.at(number); }
  void deregister_buffer(int number) {
    messages_.deregister_buffer(number);
    registered_.erase(number);
  }

 private:
  Messages& messages_;
  std::unordered_map<int, RemoteMemory> registered_;  // by the number that the transport has given
};

}  // namespace oriel
