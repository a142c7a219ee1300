// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/transport/transport.hpp"

namespace oriel {

/// Buffers of ours that targets read or write by transfers of theirs, each until its operation is
/// over. They are taken back with this object at the latest.
class Loans {
 public:
  explicit Loans(Transport& transport) : transport_(transport) {}
  ~Loans() {
    for (const Loan& loan : loans_) {
      if (loan.lent) transport_.take_back(loan.number);
    }
  }
  Loans(const Loans&) = delete;
  Loans& operator=(const Loans&) = delete;

  /// Lends so many bytes to the process, to be read or to be written. A number for the other calls;
  /// -1: they cannot be lent.
  int lend(int process, bool to_be_written, void* memory, std::uint64_t bytes) {
    Loan made;
    made.number = transport_.lend(process, to_be_written, memory, bytes, made.memory);
    if (made.number < 0) return -1;
    made.lent = true;
    if (free_.empty()) {
      free_.push_back(static_cast<int>(loans_.size()));
      loans_.emplace_back();
    }
    const int loan = free_.back();
    free_.pop_back();
    at(loan) = made;
    return loan;
  }
  const RemoteMemory& memory(int loan) { return at(loan).memory; }
  void take_back(int loan) {
    transport_.take_back(at(loan).number);
    at(loan).lent = false;
    free_.push_back(loan);
  }

 private:
  struct Loan {
    RemoteMemory memory;
    int number = -1;  // the transport's
    bool lent = false;
  };
  Loan& at(int loan) { return loans_[static_cast<std::size_t>(loan)]; }

  Transport& transport_;
  std::vector<Loan> loans_;
  std::vector<int> free_;  // of these
};

}  // namespace oriel
