// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The errors of RMA calls. The MPI layer maps each to the error class of MPI-4.1 section 12.7,
/// with the host's own number (G7).
enum class Error : std::uint8_t {
  none,
  rank,
  displacement,  // negative displacement: MPI_ERR_DISP
  range,         // not in the target's window: MPI_ERR_RMA_RANGE
  sync,          // wrong synchronization state: MPI_ERR_RMA_SYNC
  attach,        // memory that cannot be attached: MPI_ERR_RMA_ATTACH
  base,          // memory that is not attached: MPI_ERR_BASE
  operation,     // an op that the call does not take: MPI_ERR_OP
  peer_lost,     // the awaited process died: MPI_ERR_OTHER
  system,        // the operating system refused something: MPI_ERR_OTHER
  argument,      // an argument of another kind: MPI_ERR_ARG
  memory,        // there is no memory left: MPI_ERR_NO_MEM
  size,          // negative or too large size: MPI_ERR_SIZE
  not_shared     // the ranks cannot share memory: MPI_ERR_RMA_SHARED
};

/// The error to report if two calls or steps have failed: the first one.
constexpr Error first_of(Error one, Error two) {
  return one != Error::none ? one : two;
}

/// The result of every call that may have to wait. `done`: the call has finished, and its
/// Completion will not be called. `posted`: a later sweep calls the Completion. An error with
/// `done`: the call was refused and nothing was started, or the call has finished and one of its
/// operations has failed.
struct Outcome {
  Error error = Error::none;
  bool done = true;

  static constexpr Outcome failed(Error e) { return {e, true}; }
  static constexpr Outcome finished() { return {}; }
  static constexpr Outcome posted() { return {Error::none, false}; }
  constexpr bool ok() const { return error == Error::none; }
};

/// The reason why the last failed call on a window failed: the second half of a sentence.
class FailureReason {
 public:
  Error fail(Error error, const char* text) {
    text_ = text;
    return error;
  }
  const char* text() const { return text_; }

 private:
  const char* text_ = "";
};

/// complete() is called once, when a posted call has finished. The caller owns the object and keeps
/// it alive until then.
class Completion {
 public:
  virtual void complete(Error error) = 0;
  /// True if a blocking call waits for this completion.
  virtual bool awaited() const { return false; }

 protected:
  ~Completion() = default;
};

/// The completion of a blocking call: a flag on its stack.
class Flag final : public Completion {
 public:
  bool awaited() const override { return true; }
  void complete(Error error) override {
    error_ = error;
    done_ = true;
  }
  bool done() const { return done_; }
  Error error() const { return error_; }

 private:
  bool done_ = false;
  Error error_ = Error::none;
};

}  // namespace oriel
