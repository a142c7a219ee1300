// SPDX-License-Identifier: BSD-3-Clause
// The card's own times between two processes, without an MPI, beside those of its model
// (settings.hpp). The second process computes. The arguments are lengths in bytes. One JSON line
// for each operation and length.
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "link.hpp"
#include "opened.hpp"

namespace {

using card::call;
using card::expect;
using card::now;

constexpr std::size_t longest = std::size_t{4} << 20;
constexpr std::size_t samples = 300;
constexpr unsigned limit_s = 60;

struct Board {
  std::array<card::Name, 2> names;
  std::atomic<int> ready;
  std::atomic<bool> over;
  std::uint64_t address;
  std::uint64_t key;
};

class Process {
 public:
  Process(Board& board, std::size_t self) : board_(&board), self_(self) {
    call(fi_mr_reg(card_.domain, memory_.data(), memory_.size(),
                   FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE, 0, 0, 0, &registration_,
                   nullptr));
    board.names[self] = card_.name;
    if (self == 1) {
      if (card_.virtual_addresses) {
        board.address = reinterpret_cast<std::uintptr_t>(memory_.data());
      }
      board.key = fi_mr_key(registration_);
    }
    ++board.ready;
    while (board.ready != 2) {
    }
    for (const card::Name& name : board.names) card_.insert(name);
  }

  void measure(const std::vector<std::size_t>& lengths) {
    for (const std::size_t bytes : lengths) {
      report("put", bytes, [&] {
        call(fi_write(card_.endpoint, memory_.data(), bytes, nullptr, peer(), board_->address,
                      board_->key, nullptr));
      });
      report("get", bytes, [&] {
        call(fi_read(card_.endpoint, memory_.data(), bytes, nullptr, peer(), board_->address,
                     board_->key, nullptr));
      });
    }
    report("fetch_and_op", sizeof(std::int64_t), [&] {
      call(fi_fetch_atomic(card_.endpoint, memory_.data(), 1, nullptr, memory_.data() + 8, nullptr,
                           peer(), board_->address, board_->key, FI_INT64, FI_SUM, nullptr));
    });
    board_->over = true;
  }

 private:
  fi_addr_t peer() const { return 1 - self_; }

  void report(const char* operation, std::size_t bytes, const std::function<void()>& begin) {
    std::vector<double> us;
    std::vector<double> call_us;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::uint64_t start = now();
      begin();
      const std::uint64_t begun = now();
      fi_cq_tagged_entry entry{};
      ssize_t read = 0;
      while ((read = fi_cq_read(card_.queue, &entry, 1)) == -FI_EAGAIN) {
      }
      expect(read == 1, "a completion", read);
      us.push_back(static_cast<double>(now() - start) / 1e3);
      call_us.push_back(static_cast<double>(begun - start) / 1e3);
    }
    const double model_us = (2 * static_cast<double>(card::latency()) +
                             static_cast<double>(bytes) / card::Settings::get().bytes_per_ns) /
                            1e3;
    std::printf("{\"time\":\"%s\",\"bytes\":%zu,\"us\":%.3f,\"model_us\":%.3f,\"call_us\":%.3f}\n",
                operation, bytes, median(us), model_us, median(call_us));
  }

  static double median(std::vector<double>& values) {
    std::ranges::nth_element(values, values.begin() + values.size() / 2);
    return values[values.size() / 2];
  }

  Board* board_;
  std::size_t self_;
  card::Opened card_{FI_MSG | FI_RMA | FI_ATOMIC};
  std::vector<std::byte> memory_ = std::vector<std::byte>(longest);
  fid_mr* registration_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> lengths;
  for (int i = 1; i < argc; ++i) {
    lengths.push_back(std::strtoul(argv[i], nullptr, 10));
    expect(lengths.back() <= longest, "a length that is too long");
  }
  void* memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* board = new (memory) Board;
  ::alarm(limit_s);
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Process target(*board, 1);
    while (!board->over) {
    }
    std::_Exit(0);
  }
  Process(*board, 0).measure(lengths);
  int status = 0;
  ::wait(&status);
  return status;
}
