// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {

/// All ranks are here: stands for any synchronization outside RMA.
class Barrier {
 public:
  explicit Barrier(int ranks) : ranks_(static_cast<std::uint64_t>(ranks)) {}
  /// Returns the count that arrived() must reach for this call.
  std::uint64_t arrive() {
    const std::uint64_t before = arrived_.fetch_add(1, std::memory_order_acq_rel);
    return (before / ranks_ + 1) * ranks_;
  }
  bool over(std::uint64_t goal) const { return arrived_.load(std::memory_order_acquire) >= goal; }

 private:
  std::uint64_t ranks_;
  std::atomic<std::uint64_t> arrived_{0};
};

/// Runs one rank's part of a program, instruction by instruction, and looks at what it fetches.
class Runner {
 public:
  enum class Step : std::uint8_t { moved, blocked, away, finished };

  Runner(SimJob& job, const Program& program, Barrier& barrier, int rank);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Carries on with the current instruction. Blocked: it has to be tried again after a sweep.
  Step step();

  bool failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }
  /// Where it stands, for a report.
  std::string where() const;
  /// The claims that this rank has won: window, target, cell.
  struct Claim {
    int window;
    int target;
    std::uint32_t cell;
    std::uint64_t found;
  };
  const std::vector<Claim>& claims() const { return claims_; }

 private:
  class Request final : public Completion {
   public:
    void complete(Error error) override {
      error_ = error;
      ++told_;
    }
    void posted() { posted_ = true; }
    void finished() { finished_ = true; }
    bool done() const { return finished_ || told_ != 0; }
    bool known() const { return posted_ || done(); }
    bool sound() const { return error_ == Error::none && told_ + (finished_ ? 1 : 0) <= 1; }

   private:
    bool posted_ = false;
    bool finished_ = false;
    int told_ = 0;
    Error error_ = Error::none;
  };
  /// The memory of an access in this process.
  struct Buffers {
    std::vector<std::uint64_t> origin;
    std::vector<std::uint64_t> result;
    std::uint64_t compare = 0;
    bool issued = false;
    bool settled = false;
  };

  void fail(const std::string& what);
  bool start(const Instruction& instruction);
  Outcome call(const Instruction& instruction, Window& window, Completion* completion);
  void open(Error error, const Window& window);
  void issue(int index);
  bool issue_directly(const Access& access, Buffers& buffers, Window& window);
  bool by_elements(const Access& access) const;
  void settle(int index);
  void check_memory(const Instruction& instruction);
  bool over(const Instruction& instruction);

  SimJob& job_;
  const Program& program_;
  Barrier& barrier_;
  int rank_;
  ThreadLine* thread_ = nullptr;  // updates as a thread without the lock of its process does
  const std::vector<Instruction>& code_;
  const std::vector<Access>& accesses_;
  std::size_t next_ = 0;
  bool started_ = false;  // the current instruction has made its call
  int away_ = 0;
  std::uint64_t barrier_goal_ = 0;
  std::deque<Request> requests_;
  std::vector<Buffers> buffers_;
  std::vector<Claim> claims_;
  std::string failure_;
};

/// Looks at what is left when all ranks have finished; empty: nothing is wrong.
std::string check_end(SimJob& job, const Program& program, const std::deque<Runner>& runners);

}  // namespace oriel::test
