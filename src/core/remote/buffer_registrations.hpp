// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/numbered.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// This rank's buffers that targets read or write by direct transfers of their own, each until its
/// operation is over. The destructor deregisters those that are left.
class BufferRegistrations {
 public:
  explicit BufferRegistrations(Messages& messages) : messages_(messages) {}
  ~BufferRegistrations() {
    for (const BufferRegistration& registration : registrations_) {
      if (registration.number >= 0) messages_.deregister_buffer(registration.number);
    }
  }
  BufferRegistrations(const BufferRegistrations&) = delete;
  BufferRegistrations& operator=(const BufferRegistrations&) = delete;

  /// Registers `bytes` bytes for reads, or for writes, by the process. Returns a number for the
  /// other calls; -1: the buffer cannot be registered.
  int register_buffer(int process, bool to_be_written, void* memory, std::uint64_t bytes) {
    BufferRegistration made;
    made.number = messages_.register_buffer(process, to_be_written, memory, bytes, made.memory);
    return made.number >= 0 ? registrations_.add(made) : -1;
  }
  const RemoteMemory& memory(int registration) { return registrations_[registration].memory; }
  void deregister_buffer(int registration) {
    messages_.deregister_buffer(registrations_.remove(registration).number);
  }

 private:
  struct BufferRegistration {
    RemoteMemory memory;
    int number = -1;  // of the transport; -1: not registered
  };

  Messages& messages_;
  Numbered<BufferRegistration> registrations_;
};

}  // namespace oriel
