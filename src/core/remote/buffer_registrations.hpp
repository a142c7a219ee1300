// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/numbered.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// Buffers of ours that targets read or write by transfers of theirs, each until its operation is
/// over. They are taken back with this object at the latest.
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

  /// Lends so many bytes to the process, to be read or to be written. A number for the other calls;
  /// -1: they cannot be lent.
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
    int number = -1;  // the transport's; -1: nothing is lent
  };

  Messages& messages_;
  Numbered<BufferRegistration> registrations_;
};

}  // namespace oriel
