// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/alltoallv/buffer.hpp"
#include "support/alltoallv/calls.hpp"
#include "support/alltoallv/pattern.hpp"
#include "support/alltoallv/types.hpp"
#include "support/check.hpp"
#include "support/window.hpp"

namespace alltoallv {

/// What is to be exchanged: the same on all ranks.
struct Shape {
  Types types;
  Units units;
  bool in_place = false;
  Memory memory = Memory::malloc;
  int rounds = 1;
  std::uint64_t seed = 1;
  /// Receivers expect so many units more than they are sent.
  int spare = 0;
  /// Memory to receive in, of this rank's alone.
  char* lent = nullptr;
};

/// Blocks of one side as a call takes them, in an order of their own, with gaps between them, and
/// some of them before the address that is passed.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::size_t before = 0;
  std::size_t after = 0;

  Blocks(MPI_Datatype type, std::vector<int> elements, int first) : counts(std::move(elements)) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Aint true_lower = 0;
    MPI_Aint true_extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    const auto ranks = static_cast<int>(counts.size());
    displacements.assign(counts.size(), unused);
    // Elements that reach beyond their extents: their next block is as far away.
    const auto reach = static_cast<int>((true_extent + extent - 1) / extent);
    int position = -3;
    for (int i = 0; i < ranks; ++i) {
      const auto peer = static_cast<std::size_t>((first + i) % ranks);
      const int count = counts[peer];
      if (count == 0) continue;
      displacements[peer] = position;
      const MPI_Aint begin = position * extent + true_lower;
      const MPI_Aint end = (position + count - 1) * extent + true_lower + true_extent;
      before = std::max(before, static_cast<std::size_t>(std::max<MPI_Aint>(-begin, 0)));
      after = std::max(after, static_cast<std::size_t>(std::max<MPI_Aint>(end, 0)));
      position += count + reach + i % 2;
    }
  }

 private:
  // Where nothing is moved nobody looks.
  static constexpr int unused = 12345678;
};

/// One persistent alltoallv with all that it needs, and what the host's MPI_Alltoallv makes of the
/// same buffers in each round: that is found when it is made, so that from init() on a rank does
/// nothing that waits for others but to wait.
class Exchange {
 public:
  /// Collective.
  Exchange(MPI_Comm comm, const Shape& shape)
      : shape_(prepared(shape)),
        comm_(comm),
        rank_(rank_in(comm)),
        sent_(shape_.types.send, sent_counts(), rank_),
        received_(shape_.types.receive, received_counts(shape_.spare), rank_ + 1),
        send_(shape_.memory, sent_.before, sent_.after),
        receive_(shape_.lent != nullptr
                     ? std::make_unique<Buffer>(shape_.lent, received_.before, received_.after)
                     : std::make_unique<Buffer>(shape_.memory, received_.before, received_.after)) {
    for (int round = 0; round < shape_.rounds; ++round) find_expected(round);
  }
  ~Exchange() {
    if (request_ != MPI_REQUEST_NULL) free();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Makes the request; by MPI's own name, if it is given one. Collective.
  void init(const char* algorithm, Init by = calls().init) {
    const support::Info info({{ORIEL_ALLTOALLV, algorithm}});
    init(MPI_Info(info), by);
  }
  void init(MPI_Info info, Init by) {
    auto [sent, received] = std::pair(sent_, received_);
    made(by(sending(), sent.counts.data(), sent.displacements.data(), shape_.types.send,
            receiving(), received.counts.data(), received.displacements.data(),
            shape_.types.receive, comm_, info, &request_));
    // The arrays are read: what becomes of them is nothing to the request.
    for (std::vector<int>* array :
         {&sent.counts, &sent.displacements, &received.counts, &received.displacements}) {
      std::fill(array->begin(), array->end(), -1);
    }
  }
  void init_large(const char* algorithm, LargeInit by = calls().init_c) {
    const support::Info info({{ORIEL_ALLTOALLV, algorithm}});
    const auto large = [](const std::vector<int>& array) {
      return std::vector<MPI_Count>(array.begin(), array.end());
    };
    const auto far = [](const std::vector<int>& array) {
      return std::vector<MPI_Aint>(array.begin(), array.end());
    };
    made(by(sending(), large(sent_.counts).data(), far(sent_.displacements).data(),
            shape_.types.send, receiving(), large(received_.counts).data(),
            far(received_.displacements).data(), shape_.types.receive, comm_, info, &request_));
  }

  /// What a round begins with, in both buffers.
  void load(int round) {
    send_.fill({shape_.seed, std::uint64_t(rank_), std::uint64_t(round), 1});
    receive_->fill({shape_.seed, std::uint64_t(rank_), std::uint64_t(round), 2});
  }
  void start() { CHECK_EQUAL(MPI_Start(&request_), MPI_SUCCESS); }
  void wait() {
    CHECK_EQUAL(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(request_ == handle_);
  }
  bool done() {
    int flag = 0;
    CHECK_EQUAL(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    return flag != 0;
  }
  void free() {
    CHECK_EQUAL(MPI_Request_free(&request_), MPI_SUCCESS);
    CHECK(request_ == MPI_REQUEST_NULL);
  }
  /// After the wait: everything in both buffers, gaps as well.
  void check(int round) const {
    const std::string received = receive_->difference(*expected_[std::size_t(round)]);
    if (!received.empty()) fail(round, "received", received);
    check_sent(round);
  }
  /// Before the start: both buffers are as they were loaded.
  void check_untouched(int round) const {
    Buffer loaded(Memory::malloc, received_.before, received_.after);
    loaded.fill({shape_.seed, std::uint64_t(rank_), std::uint64_t(round), 2});
    const std::string received = receive_->difference(loaded);
    if (!received.empty()) fail(round, "not yet received", received);
    check_sent(round);
  }
  /// The whole of one round.
  void run(int round) {
    load(round);
    start();
    wait();
    check(round);
  }

  MPI_Request& request() { return request_; }
  MPI_Request handle() const { return handle_; }
  const Shape& shape() const { return shape_; }
  /// Of this rank.
  bool expects_anything() const {
    return std::any_of(received_.counts.begin(), received_.counts.end(),
                       [](int count) { return count > 0; });
  }

 private:
  static int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
  }
  static Shape prepared(Shape shape) {
    if (shape.in_place) {
      shape.units = symmetric(shape.units);
      shape.types = shape.types.received();
    }
    return shape;
  }
  std::vector<int> sent_counts() const {
    std::vector<int> counts = shape_.units[std::size_t(rank_)];
    for (int& count : counts) count *= shape_.types.send_each;
    return counts;
  }
  std::vector<int> received_counts(int spare) const {
    std::vector<int> counts;
    for (const std::vector<int>& from : shape_.units) {
      counts.push_back((from[std::size_t(rank_)] + spare) * shape_.types.receive_each);
    }
    return counts;
  }
  /// Where there is nothing, there is no buffer.
  const void* sending() const {
    if (shape_.in_place) return MPI_IN_PLACE;
    return sent_.after == 0 && sent_.before == 0 ? nullptr : send_.address();
  }
  void* receiving() const {
    return received_.after == 0 && received_.before == 0 ? nullptr : receive_->address();
  }
  void made(int code) {
    CHECK_CLASS(code, MPI_SUCCESS);
    CHECK(request_ != MPI_REQUEST_NULL);
    handle_ = request_;
  }
  void find_expected(int round) {
    load(round);
    expected_.push_back(
        std::make_unique<Buffer>(Memory::malloc, received_.before, received_.after));
    Buffer& expected = *expected_.back();
    expected.copy_from(*receive_);
    const Buffer& from = shape_.in_place ? *receive_ : send_;
    const Blocks& blocks = shape_.in_place ? received_ : sent_;
    // The host wants to know exactly how much comes.
    const std::vector<int> exactly = received_counts(0);
    CHECK_EQUAL(MPI_Alltoallv(from.address(), blocks.counts.data(), blocks.displacements.data(),
                              shape_.types.send, expected.address(), exactly.data(),
                              received_.displacements.data(), shape_.types.receive, comm_),
                MPI_SUCCESS);
  }
  void check_sent(int round) const {
    if (shape_.in_place) return;
    Buffer loaded(Memory::malloc, sent_.before, sent_.after);
    loaded.fill({shape_.seed, std::uint64_t(rank_), std::uint64_t(round), 1});
    const std::string sent = send_.difference(loaded);
    if (!sent.empty()) fail(round, "sent", sent);
  }
  [[noreturn]] void fail(int round, const char* which, const std::string& difference) const {
    support::fail(__FILE__, __LINE__,
                  shape_.types.name + ", seed " + std::to_string(shape_.seed) + ", round " +
                      std::to_string(round) + ", rank " + std::to_string(rank_) + " of " +
                      std::to_string(shape_.units.size()) + (shape_.in_place ? ", in place" : "") +
                      ", " + which + ": " + difference);
  }

  Shape shape_;
  MPI_Comm comm_;
  int rank_;
  Blocks sent_;
  Blocks received_;
  Buffer send_;
  std::unique_ptr<Buffer> receive_;
  std::vector<std::unique_ptr<Buffer>> expected_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Request handle_ = MPI_REQUEST_NULL;
};

}  // namespace alltoallv
