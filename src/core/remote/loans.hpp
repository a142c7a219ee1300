// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/numbered.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// Buffers of ours that targets read or write by transfers of theirs, each until its operation is
/// over. They are taken back with this object at the latest.
class Loans {
 public:
  explicit Loans(Messages& messages) : messages_(messages) {}
  ~Loans() {
    for (const Loan& loan : loans_) {
      if (loan.number >= 0) messages_.take_back(loan.number);
    }
  }
  Loans(const Loans&) = delete;
  Loans& operator=(const Loans&) = delete;

  /// Lends so many bytes to the process, to be read or to be written. A number for the other calls;
  /// -1: they cannot be lent.
  int lend(int process, bool to_be_written, void* memory, std::uint64_t bytes) {
    Loan made;
    made.number = messages_.lend(process, to_be_written, memory, bytes, made.memory);
    return made.number >= 0 ? loans_.add(made) : -1;
  }
  const RemoteMemory& memory(int loan) { return loans_[loan].memory; }
  void take_back(int loan) { messages_.take_back(loans_.remove(loan).number); }

 private:
  struct Loan {
    RemoteMemory memory;
    int number = -1;  // the transport's; -1: nothing is lent
  };

  Messages& messages_;
  Numbered<Loan> loans_;
};

}  // namespace oriel
