// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/shm_transport.hpp"

#include <gtest/gtest.h>
#include <limits.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/region/private_copy.hpp"
#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Bytes;
using shm_test::Child;
using shm_test::Environment;
using shm_test::OnProcessor;
using shm_test::OwnTransport;
using shm_test::pattern;
using shm_test::Pipe;
using shm_test::ShmTest;

using Clock = std::chrono::steady_clock;
Clock::time_point in_ten_seconds() {
  return Clock::now() + std::chrono::seconds(10);
}

/// The next message if there is one.
bool receive(ShmTransport& transport, Bytes& message) {
  const auto got = transport.receive();
  message.assign(got.begin(), got.end());
  return !got.empty();
}

Bytes receive(ShmTransport& transport) {
  Bytes message;
  while (!receive(transport, message)) ::sched_yield();
  return message;
}

OwnTransport make() {
  std::string error;
  OwnTransport made(error);
  if (!made) ADD_FAILURE() << error;
  return made;
}

class ShmTransportTest : public ShmTest {
 protected:
  std::string error_;
};

// The same process has the same number however often it is attached; ourselves we have from the
// start.
TEST_F(ShmTransportTest, NumbersAreStable) {
  const auto a = make();
  const auto b = make();
  const auto c = make();
  EXPECT_EQ(a->attach(a->name(), error_), a->self());
  EXPECT_EQ(a->attach(b->name(), error_), 1);
  EXPECT_EQ(a->attach(c->name(), error_), 2);
  EXPECT_EQ(a->attach(b->name(), error_), 1);
  EXPECT_EQ(a->processes(), 3);
}

// Whoever cannot be mapped is refused with a sentence: here another library's version, a process
// that is not there, and one whose number has been used again.
TEST_F(ShmTransportTest, RefusesWhatItCannotMap) {
  const auto a = make();
  const auto b = make();
  ProcessName wrong = b->name();
  wrong.id ^= 1;
  EXPECT_EQ(a->attach(wrong, error_), ShmTransport::unreachable);
  EXPECT_NE(error_.find("used again"), std::string::npos) << error_;

  Arena foreign(OwnTransport::extent);
  std::byte* memory = foreign.allocate(ProcessBlock::bytes(), cache_line, error_);
  auto* block = new (memory) ProcessBlock;
  block->version = ProcessBlock::current_version + 1;
  const ArenaLocation place = *foreign.find(memory, ProcessBlock::bytes());
  EXPECT_EQ(a->attach({5, 0, foreign.name(), place}, error_), ShmTransport::incompatible);
  EXPECT_NE(error_.find("version"), std::string::npos) << error_;

  const ArenaLocation beyond{OwnTransport::extent, OwnTransport::extent};
  EXPECT_EQ(a->attach({6, 0, foreign.name(), beyond}, error_), ShmTransport::unreachable);
  EXPECT_NE(error_.find("less than it announced"), std::string::npos) << error_;

  ProcessName gone = b->name();
  gone.id = 7;
  gone.arena.pid = INT_MAX;
  EXPECT_EQ(a->attach(gone, error_), ShmTransport::unreachable);
  EXPECT_EQ(a->processes(), 1);
}

// Messages to oneself take the same way, also more of them than the mailbox holds.
TEST_F(ShmTransportTest, SendsToItself) {
  const auto self = make();
  for (unsigned i = 0; i < 5000; ++i) self->send(0, pattern(104, i), pattern(i % 97, i + 1));
  EXPECT_TRUE(self->backlogged());
  EXPECT_GT(self->delayed(), 0u);
  EXPECT_LT(self->delayed(), 5000u);
  for (unsigned i = 0; i < 5000; ++i) {
    Bytes expected = pattern(104, i);
    const Bytes payload = pattern(i % 97, i + 1);
    expected.insert(expected.end(), payload.begin(), payload.end());
    ASSERT_EQ(receive(*self), expected);
  }
  Bytes message;
  EXPECT_FALSE(receive(*self, message));
  EXPECT_FALSE(self->backlogged());
}

// All lengths around those where a record, a fragment and the ring end.
TEST_F(ShmTransportTest, LengthsAtTheEdges) {
  const auto a = make();
  const auto b = make();
  const int to_b = a->attach(b->name(), error_);
  const std::size_t fragment = 256 * 1024 / 8 - sizeof(MailboxRecord);
  std::vector<std::size_t> lengths{1, 32, 33, 10'000'000};
  for (const std::size_t edge : {fragment, 2 * fragment, std::size_t{256 * 1024}}) {
    for (std::size_t bytes = edge - 2; bytes <= edge + 2; ++bytes) lengths.push_back(bytes);
  }
  for (const std::size_t bytes : lengths) {
    const Bytes sent = pattern(bytes, 9);
    const std::span<const std::byte> all(sent);
    const std::size_t header = std::min<std::size_t>(bytes, 104);
    a->send(to_b, all.first(header), all.subspan(header));
    Bytes got(1, std::byte{1});
    while (!receive(*b, got)) {
      Bytes none;
      EXPECT_FALSE(receive(*a, none));  // pushes the backlog
    }
    ASSERT_TRUE(got == sent) << bytes;
  }
}

// Threads as processes, everybody to everybody, lengths mixed: every message arrives once, whole,
// and in order per sender. Clean under ThreadSanitizer.
TEST_F(ShmTransportTest, AllToAllThreads) {
  constexpr unsigned count = 4;
  constexpr unsigned messages = 400;
  std::vector<OwnTransport> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(make());
  std::vector<std::vector<int>> numbers(count);
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned j = 0; j < count; ++j) {
      numbers[i].push_back(all[i]->attach(all[j]->name(), error_));
    }
  }
  std::vector<std::jthread> threads;
  for (unsigned me = 0; me < count; ++me) {
    threads.emplace_back([&, me] {
      std::mt19937 random(me);
      std::vector<unsigned> next(count, 0);
      unsigned received = 0;
      Bytes message;
      const auto take = [&] {
        if (!receive(*all[me], message)) return false;
        unsigned header[2];
        std::memcpy(header, message.data(), sizeof header);
        EXPECT_EQ(header[1], next[header[0]]++);
        const Bytes payload(message.begin() + sizeof header, message.end());
        EXPECT_TRUE(payload == pattern(payload.size(), header[1]));
        ++received;
        return true;
      };
      for (unsigned i = 0; i < messages; ++i) {
        for (unsigned to = 0; to < count; ++to) {
          const unsigned header[2] = {me, i};
          const std::size_t bytes = random() % (random() % 50 == 0 ? 300'000 : 500);
          all[me]->send(numbers[me][to], std::as_bytes(std::span(header)), pattern(bytes, i));
        }
        take();
      }
      while (received < count * messages || all[me]->backlogged()) {
        if (!take()) ::sched_yield();
      }
    });
  }
}

// Origins that ask one owner at the same time: no errand is lost or done twice.
TEST_F(ShmTransportTest, OriginsAskOneOwner) {
  if (!OnProcessor::are_two()) GTEST_SKIP() << "one processor: nobody is asked";
  constexpr int origins = 2;
  const OwnTransport owner = make();
  std::array<OwnTransport, origins> asking;
  std::array<int, origins> number{};
  for (int i = 0; i < origins; ++i) {
    asking[i] = make();
    number[i] = asking[i]->attach(owner->name(), error_);
    ASSERT_GT(number[i], 0) << error_;
  }
  struct alignas(cache_line) Word {
    std::uint64_t sum = 0;
  };
  std::array<Word, origins> words;
  std::atomic<int> over{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < origins; ++i) {
    threads.emplace_back([&, i] {
      const OnProcessor first(0);
      const std::uint64_t one = 1;
      const auto word = reinterpret_cast<std::uint64_t>(&words[i].sum);
      std::uint64_t expected = 0;
      // An owner that loses its processor is not asked for a while.
      const auto end = in_ten_seconds();
      while (expected < 1000 && Clock::now() < end) {
        Errand errand = Errand::update({Op::sum, Basic::u64, 8}, word, &one, true, 8);
        if (!asking[i]->ask(number[i], errand)) continue;
        std::uint64_t before = ~expected;
        errand.copy_fetched(&before);
        EXPECT_EQ(before, expected++);
      }
      ++over;
      EXPECT_EQ(expected, 1000u);
    });
  }
  const OnProcessor second(1);
  while (over < origins) owner->serve(true);
  threads.clear();
  for (const Word& word : words) EXPECT_EQ(word.sum, 1000u);
}

/// A peer in a process of its own: attached to us and we to it.
class ShmPeerTest : public ShmTransportTest {
 protected:
  /// Runs `body(transport, our number)` in the peer.
  template <typename Body>
  Child& start(Body body) {
    child_ = std::make_unique<Child>([this, body] {
      const auto transport = make();
      if (!transport) return 100;
      to_parent_.put(transport->name());
      std::string error;
      const int parent = transport->attach(to_child_.get<ProcessName>(), error);
      return parent < 0 ? 101 : body(*transport, parent);
    });
    mine_ = make();
    peer_ = mine_->attach(to_parent_.get<ProcessName>(), error_);
    EXPECT_EQ(peer_, 1) << error_;
    to_child_.put(mine_->name());
    return *child_;
  }

  /// The child is told who we are, and kills itself over our mailbox.
  void expect_stall_for_a_moment(Child& child) {
    to_child_.put(mine_->name());
    EXPECT_EQ(child.join(), -SIGKILL);
    mine_->send(0, pattern(100, 2), {});
    Bytes message;
    EXPECT_FALSE(receive(*mine_, message));
    EXPECT_EQ(receive(*mine_), pattern(100, 2));
  }

  Pipe to_parent_, to_child_;
  std::unique_ptr<Child> child_;
  OwnTransport mine_;
  int peer_ = -1;
};

// A long stream through a short mailbox, echoed.
TEST_F(ShmPeerTest, EchoesAcrossProcesses) {
  Child& child = start([](ShmTransport& transport, int parent) {
    for (unsigned i = 0; i < 300; ++i) {
      const Bytes got = receive(transport);
      transport.send(parent, got, {});
    }
    while (transport.backlogged()) {
      Bytes none;
      receive(transport, none);
      ::sched_yield();
    }
    return 0;
  });
  for (unsigned i = 0; i < 300; ++i) mine_->send(peer_, pattern(1 + i * 311, i), {});
  for (unsigned i = 0; i < 300; ++i) ASSERT_TRUE(receive(*mine_) == pattern(1 + i * 311, i)) << i;
  EXPECT_EQ(child.join(), 0);
}

// Private memory of the peer, by thousands of pieces (more than one system call takes), both ways.
TEST_F(ShmPeerTest, CopiesPrivateMemory) {
  constexpr std::size_t size = 1 << 20;
  Child& child = start([this](ShmTransport&, int) {
    Bytes memory = pattern(size, 3);
    to_parent_.put(memory.data());
    to_child_.get<int>();
    return memory == pattern(size, 4) ? 0 : 1;
  });
  ASSERT_TRUE(mine_->vm_allowed(peer_));
  const auto remote = reinterpret_cast<std::uint64_t>(to_parent_.get<std::byte*>());
  Bytes local(size);
  std::vector<oriel::Run> runs;
  std::mt19937 random(1);
  for (std::size_t at = 0; at < size;) {
    const std::size_t bytes = std::min<std::size_t>(random() % 500, size - at);
    runs.push_back({local.data() + at, remote + at, bytes});
    at += bytes;
  }
  ASSERT_GT(runs.size(), 2u * IOV_MAX);
  EXPECT_EQ(mine_->copy(peer_, false, runs), Error::none);
  EXPECT_TRUE(local == pattern(size, 3));
  std::ranges::copy(pattern(size, 4), local.begin());  // in place: the runs point there
  EXPECT_EQ(mine_->copy(peer_, true, runs), Error::none);
  EXPECT_EQ(mine_->copy(peer_, true, {}), Error::none);
  to_child_.put(1);
  EXPECT_EQ(child.join(), 0);
}

// A piece that is not there is an error, not a loop; the pieces before it have been copied.
TEST_F(ShmPeerTest, CopyFailsAtAWildAddress) {
  start([this](ShmTransport&, int) {
    Bytes memory = pattern(100, 3);
    to_parent_.put(memory.data());
    return to_child_.get<int>();
  });
  const auto remote = reinterpret_cast<std::uint64_t>(to_parent_.get<std::byte*>());
  Bytes local(100);
  const oriel::Run runs[] = {{local.data(), remote, 50}, {local.data() + 50, 16, 50}};
  EXPECT_EQ(mine_->copy(peer_, false, runs), Error::system);
  EXPECT_TRUE(std::equal(local.begin(), local.begin() + 50, pattern(100, 3).begin()));
  to_child_.put(0);
}

/// The block of a process, ourselves included.
class MappedBlock {
 public:
  explicit MappedBlock(const ProcessName& name)
      : arena_(name.arena), memory_(arena_.at(name.block, ProcessBlock::bytes(), error_)) {}
  ProcessBlock* operator->() const { return reinterpret_cast<ProcessBlock*>(memory_); }

 private:
  std::string error_;
  PeerArena arena_;
  std::byte* memory_;
};

/// A peer that runs when we do, on a processor of its own.
class ShmErrandTest : public ShmPeerTest {
 protected:
  void SetUp() override {
    if (!OnProcessor::are_two()) GTEST_SKIP() << "one processor: nobody is asked";
  }
  template <typename Body>
  Child& start(Body body) {
    Child& child = ShmPeerTest::start([body](ShmTransport& transport, int parent) {
      const OnProcessor second(1);
      return body(transport, parent);
    });
    first_.emplace(0);
    return child;
  }
  /// Of a peer in serve_words().
  void stop_serving(std::uint64_t words) {
    std::uint64_t one = 1;
    const oriel::Run stop{&one, words + 8, 8};
    EXPECT_EQ(mine_->copy(peer_, true, {&stop, 1}), Error::none);
    to_parent_.get<std::uint64_t>();
    to_child_.put(0);
  }

 private:
  std::optional<OnProcessor> first_;
};

/// An owner that serves until it is told to stop, and then tells what its two words have become.
int serve_words(ShmTransport& transport, Pipe& to_parent, Pipe& to_child, std::uint64_t* words) {
  to_parent.put(words);
  while (words[1] == 0) transport.serve(true);
  to_parent.put(words[0]);
  return to_child.get<int>();
}

/// Asks until the errand has been carried out: an owner that loses its processor is not asked for a
/// while. False: not within ten seconds.
bool ask_until_done(ShmTransport& transport, int owner, Errand& errand) {
  const Errand asked = errand;
  const auto end = in_ten_seconds();
  while (Clock::now() < end) {
    errand = asked;
    if (transport.ask(owner, errand)) return true;
  }
  return false;
}

// An owner that looks carries out what it is asked, in its own memory; each errand once. One that
// does not look is not waited for, and nothing of the errand is left.
TEST_F(ShmErrandTest, AnOwnerThatLooksServes) {
  start([this](ShmTransport& transport, int) {
    std::uint64_t words[2] = {100, 0};
    to_parent_.put(&words[0]);
    to_child_.get<int>();  // not looking
    transport.serve(false);
    return serve_words(transport, to_parent_, to_child_, words);
  });
  const auto words = reinterpret_cast<std::uint64_t>(to_parent_.get<std::uint64_t*>());
  const Reduction sum{Op::sum, Basic::u64, 8};
  const std::uint64_t one = 1;
  Errand in_vain = Errand::update(sum, words, &one, true, 8);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(mine_->ask(peer_, in_vain));
  to_child_.put(1);
  to_parent_.get<std::uint64_t*>();
  std::uint64_t expected = 100;
  for (int i = 0; i < 1000; ++i) {
    Errand errand = Errand::update(sum, words, &one, true, 8);
    ASSERT_TRUE(ask_until_done(*mine_, peer_, errand));
    std::uint64_t before = 0;
    errand.copy_fetched(&before);
    ASSERT_EQ(before, expected++);
  }
  const oriel::Run stop{const_cast<std::uint64_t*>(&one), words + 8, 8};
  EXPECT_EQ(mine_->copy(peer_, true, {&stop, 1}), Error::none);
  EXPECT_EQ(to_parent_.get<std::uint64_t>(), expected);
  to_child_.put(0);
}

// Memory that is announced may lie where other memory was.
TEST_F(ShmErrandTest, AnOwnerForgetsWhatItCouldReach) {
  start([this](ShmTransport& transport, int) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory =
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    to_parent_.put(memory);
    std::uint64_t words[2] = {0, 0};
    std::uint64_t* first = &words[0];
    to_parent_.put(first);
    while (words[1] == 0) transport.serve(true);
    ::mprotect(memory, page, PROT_NONE);
    transport.locate(memory, page);
    to_parent_.put(1);
    while (words[1] == 1) transport.serve(true);
    return 0;
  });
  const auto memory = reinterpret_cast<std::uint64_t>(to_parent_.get<void*>());
  const auto words = reinterpret_cast<std::uint64_t>(to_parent_.get<std::uint64_t*>());
  std::uint64_t value = 1;
  const oriel::Run step{&value, words + 8, 8};
  Errand errand = Errand::put(memory, &value, 8);
  EXPECT_TRUE(ask_until_done(*mine_, peer_, errand));
  EXPECT_EQ(mine_->copy(peer_, true, {&step, 1}), Error::none);
  to_parent_.get<int>();
  for (int tries = 0; tries < 20'000; ++tries) {
    errand = Errand::put(memory, &value, 8);
    ASSERT_FALSE(mine_->ask(peer_, errand));
  }
  value = 2;
  EXPECT_EQ(mine_->copy(peer_, true, {&step, 1}), Error::none);
}

// Those who flood an owner do not keep it: what it waits for may have come.
TEST_F(ShmErrandTest, ServesNotWithoutEnd) {
  Child& child = start([this](ShmTransport& transport, int parent) {
    const auto word = reinterpret_cast<std::uint64_t>(to_child_.get<std::uint64_t*>());
    for (std::uint64_t value = 1;; ++value) {
      Errand errand = Errand::put(word, &value, 8);
      transport.ask(parent, errand);
    }
    return 0;
  });
  std::uint64_t word = 0;
  to_child_.put(&word);

  std::uint64_t last = 0;
  const auto end = in_ten_seconds();
  for (int rows = 0; rows < 100 && Clock::now() < end;) {
    const std::uint64_t before = word;
    if (!mine_->serve(true)) continue;
    // Errands that were withdrawn have a value, too: only those that were carried out are stored.
    last = word;
    EXPECT_GE(last, before);
    ++rows;
  }
  EXPECT_GT(last, 0u);
  child.kill();
  child.join();
}

// An owner declines addresses that it cannot load or store, where a system call would be an error.
TEST_F(ShmErrandTest, AnOwnerDeclinesWhatItCannotReach) {
  start([this](ShmTransport& transport, int) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory =
        ::mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::mprotect(static_cast<std::byte*>(memory) + page, page, PROT_READ);
    ::mprotect(static_cast<std::byte*>(memory) + 2 * page, page, PROT_NONE);
    to_parent_.put(memory);
    std::uint64_t words[2] = {0, 0};
    return serve_words(transport, to_parent_, to_child_, words);
  });
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto memory = reinterpret_cast<std::uint64_t>(to_parent_.get<void*>());
  const auto words = reinterpret_cast<std::uint64_t>(to_parent_.get<std::uint64_t*>());
  const std::uint64_t value = 5;
  const auto carried_out = [&](Errand errand) { return ask_until_done(*mine_, peer_, errand); };
  const auto declined = [&](const Errand& errand) {
    for (int tries = 0; tries < 20'000; ++tries) {
      Errand copy = errand;
      if (mine_->ask(peer_, copy)) return false;
    }
    return true;
  };
  EXPECT_TRUE(carried_out(Errand::put(memory, &value, 8)));
  EXPECT_TRUE(carried_out(Errand::get(memory + page, 8)));
  EXPECT_TRUE(declined(Errand::put(memory + page, &value, 8)));
  EXPECT_TRUE(declined(Errand::put(memory + page - 4, &value, 8)));
  EXPECT_TRUE(declined(Errand::get(memory + 2 * page, 8)));
  EXPECT_TRUE(declined(Errand::get(memory + 2 * page - 1, 2)));
  EXPECT_TRUE(declined(Errand::get(0, 8)));
  for (const bool reachable : {true, false}) {
    Errand row = Errand::row(true);
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(row.add(memory + 8 * i, &value, 8));
    ASSERT_TRUE(reachable || row.add(memory + page, &value, 8));
    EXPECT_TRUE(reachable ? carried_out(row) : declined(row));
  }
  EXPECT_TRUE(carried_out(Errand::get(memory + 2 * page - 8, 8)));
  stop_serving(words);
}

// B2: an owner that is killed between taking an errand and its answer is not waited for; nor is
// what a killed origin has left in the way of the owner.
TEST_F(ShmErrandTest, AKilledOwnerIsNotAwaited) {
  Child& child = start([](ShmTransport& transport, int) {
    const MappedBlock block(transport.name());
    while (!block->errand.begin()) {
    }
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  const std::uint64_t value = 0;
  Errand errand = Errand::put(4096, &value, 8);
  const auto end = in_ten_seconds();
  while (mine_->alive(peer_) && Clock::now() < end) EXPECT_FALSE(mine_->ask(peer_, errand));
  EXPECT_EQ(child.join(), -SIGKILL);
  EXPECT_FALSE(mine_->ask(peer_, errand));
}

TEST_F(ShmErrandTest, AKilledOriginIsNotAwaited) {
  Child& child = start([this](ShmTransport& transport, int parent) {
    const auto word = reinterpret_cast<std::uint64_t>(to_child_.get<std::uint64_t*>());
    const std::uint64_t value = 1;
    to_parent_.put(1);
    for (;;) {
      Errand errand = Errand::put(word, &value, 8);
      transport.ask(parent, errand);
    }
    return 0;
  });
  std::uint64_t word = 0;
  to_child_.put(&word);
  to_parent_.get<int>();
  for (int i = 0; i < 100'000; ++i) mine_->serve(true);
  child.kill();
  EXPECT_EQ(child.join(), -SIGKILL);
  mine_->serve(true);
  EXPECT_FALSE(mine_->serve(true));
}

constexpr Reduction sum_of_words{Op::sum, Basic::u64, 8};

/// A put, get or sum of 8-byte integers in one run.
ChunkedOperation in_one_run(OperationKind kind, std::uint64_t remote,
                            std::span<std::uint64_t> local) {
  const std::uint64_t bytes = local.size_bytes();
  return kind == OperationKind::accumulate
             ? ChunkedOperation::accumulate(sum_of_words, remote, local.data(), bytes)
             : ChunkedOperation::move(kind == OperationKind::put, remote, local.data(), bytes);
}

/// A put or sum of 8-byte integers to blocks.
ChunkedOperation to_blocks(bool sums, std::uint64_t remote, const StridedBlocks& strided,
                           const std::uint64_t* local) {
  return sums ? ChunkedOperation::accumulate(sum_of_words, remote, strided, local)
              : ChunkedOperation::scatter(remote, strided, local);
}

/// Carries out the chunks of an operation that the owner leaves to the origin, and counts them.
class OurChunks final : public ChunkWork {
 public:
  OurChunks(ShmTransport& transport, int owner, const ChunkedOperation& whole)
      : transport_(transport), owner_(owner), whole_(whole) {}

  Error carry_out(const Chunk& chunk) override {
    bytes_ += chunk.bytes;
    return ours_.carry_out(chunk);
  }
  /// The error; none at all: the owner has not been asked.
  std::optional<Error> ask() { return transport_.carry_out_with(owner_, whole_, *this); }
  /// None: the owner has not looked in ten seconds.
  std::optional<Error> ask_until_over() {
    std::optional<Error> error;
    for (const auto end = in_ten_seconds(); !error && Clock::now() < end;) error = ask();
    return error;
  }
  /// Without the owner.
  Error carry_out_all() {
    for (std::uint32_t number = 0; number != whole_.chunks(); ++number) {
      if (const Error error = carry_out(whole_.chunk(number)); error != Error::none) return error;
    }
    return Error::none;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  ShmTransport& transport_;
  int owner_;
  ChunkedOperation whole_;
  Bytes space_ = Bytes(ChunkedOperation::most_combined);
  OriginChunks ours_{transport_, owner_, whole_, space_.data()};
  std::uint64_t bytes_ = 0;
};

/// Memory of so many 8-byte integers, in pages of its own.
std::span<std::uint64_t> pages_of(std::size_t count) {
  void* memory =
      ::mmap(nullptr, count * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return {static_cast<std::uint64_t*>(memory), count};
}

class ShmErrandInChunksTest : public ShmErrandTest {
 protected:
  struct Served {
    std::uint64_t memory;
    std::uint64_t words;
  };
  /// Starts an owner in serve_words(), with so many 8-byte integers that `prepare` has been given.
  template <typename Prepare>
  Served serve_pages(std::size_t count, Prepare prepare) {
    start([this, count, prepare](ShmTransport& transport, int) {
      const auto memory = pages_of(count);
      prepare(memory);
      to_parent_.put(memory.data());
      std::uint64_t words[2] = {0, 0};
      return serve_words(transport, to_parent_, to_child_, words);
    });
    const auto memory = reinterpret_cast<std::uint64_t>(to_parent_.get<std::uint64_t*>());
    return {memory, reinterpret_cast<std::uint64_t>(to_parent_.get<std::uint64_t*>())};
  }
};

// Each chunk is carried out once, whoever takes it, and an owner that looks takes some.
TEST_F(ShmErrandInChunksTest, AnOwnerThatLooksTakesChunks) {
  constexpr std::size_t count = 125'000;
  const auto [memory, words] = serve_pages(count, [](auto) {});
  const auto local = pages_of(count);
  std::uint64_t ours = 0;
  std::uint64_t all = 0;
  const auto carry_out = [&](OperationKind kind) {
    const auto end = in_ten_seconds();
    for (std::optional<Error> error; !error && Clock::now() < end;) {
      OurChunks chunks(*mine_, peer_, in_one_run(kind, memory, local));
      error = chunks.ask();
      if (!error) continue;
      EXPECT_EQ(*error, Error::none);
      ours += chunks.bytes();
      all += local.size_bytes();
    }
  };
  for (std::uint64_t round = 1; round <= 20; ++round) {
    for (std::size_t i = 0; i < count; ++i) local[i] = round * i;
    carry_out(OperationKind::put);
    for (std::size_t i = 0; i < count; ++i) local[i] = i + round;
    carry_out(OperationKind::accumulate);
    std::ranges::fill(local, 0);
    carry_out(OperationKind::get);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(local[i], round * i + i + round);
  }
  EXPECT_LT(ours, all);
  stop_serving(words);
}

// The gaps between the blocks stay as they are; blocks may be pages apart.
TEST_F(ShmErrandInChunksTest, AnOwnerThatLooksTakesChunksOfBlocks) {
  constexpr std::size_t count = 600'000;
  constexpr std::size_t first = 3;
  const auto [memory, words] = serve_pages(count, [](auto) {});
  const auto all = pages_of(count);
  std::vector<std::uint64_t> expected(count);
  std::uint64_t ours = 0;
  std::uint64_t moved = 0;
  const std::size_t shapes[][3] = {{1, 2, 3000}, {3, 5, 100}, {64, 70, 1000}, {2, 1030, 500}};
  for (const auto& [length, stride, blocks] : shapes) {
    std::vector<std::uint64_t> local(length * blocks);
    const StridedBlocks strided{0,          static_cast<std::int64_t>(stride * 8),
                                0,          static_cast<std::int64_t>(length * 8),
                                length * 8, blocks};
    ASSERT_TRUE(ChunkedOperation::divides_blocks(strided));
    for (const auto& [sums, alone] :
         {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
      for (std::size_t i = 0; i < local.size(); ++i) local[i] = 10 * i + length + (alone ? 1 : 0);
      OurChunks chunks(*mine_, peer_, to_blocks(sums, memory + first * 8, strided, local.data()));
      if (alone) {
        EXPECT_EQ(chunks.carry_out_all(), Error::none);
      } else {
        EXPECT_EQ(chunks.ask_until_over(), Error::none);
        ours += chunks.bytes();
        moved += local.size() * 8;
      }
      for (std::size_t i = 0; i < local.size(); ++i) {
        std::uint64_t& word = expected[first + i / length * stride + i % length];
        word = sums ? word + local[i] : local[i];
      }
    }
    const oriel::Run run{all.data(), memory, count * 8};
    ASSERT_EQ(mine_->copy(peer_, false, {&run, 1}), Error::none);
    ASSERT_TRUE(std::ranges::equal(all, expected)) << length << " words every " << stride;
  }
  // On a busy machine the owner may have had no processor meanwhile.
  std::vector<std::uint64_t> again(3000, 1);
  for (const auto end = in_ten_seconds(); ours == moved && Clock::now() < end;) {
    const StridedBlocks strided{0, 16, 0, 8, 8, again.size()};
    OurChunks chunks(*mine_, peer_, to_blocks(false, memory, strided, again.data()));
    EXPECT_EQ(chunks.ask_until_over(), Error::none);
    ours += chunks.bytes();
    moved += again.size() * 8;
  }
  EXPECT_LT(ours, moved);
  stop_serving(words);
}

// A chunk that the owner cannot carry out comes back, and is the error that it always was; what
// comes before it has been carried out once.
TEST_F(ShmErrandInChunksTest, AChunkThatTheOwnerCannotReachComesBack) {
  constexpr std::size_t count = 125'000;
  const auto [memory, words] = serve_pages(count, [](std::span<std::uint64_t> pages) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    ::mprotect(pages.data() + count / 2 / page * page, page, PROT_NONE);
  });
  const auto local = pages_of(count);
  std::ranges::fill(local, 1);
  unsigned asked = 0;
  const auto end = in_ten_seconds();
  while (asked < 20 && Clock::now() < end) {
    for (const OperationKind kind :
         {OperationKind::put, OperationKind::accumulate, OperationKind::get}) {
      const std::optional<Error> error =
          OurChunks(*mine_, peer_, in_one_run(kind, memory, local)).ask();
      if (!error) continue;
      EXPECT_EQ(*error, Error::system);
      ++asked;
    }
  }
  EXPECT_GE(asked, 20u);
  stop_serving(words);
}

// Blocks that are pages apart are looked at one by one.
TEST_F(ShmErrandInChunksTest, BlocksThatTheOwnerCannotReachComeBack) {
  constexpr std::size_t stride = 1024;
  constexpr std::size_t blocks = 40;
  const auto [memory, words] = serve_pages(stride * blocks, [](std::span<std::uint64_t> pages) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    ::mprotect(pages.data() + stride * 20, page, PROT_READ);
  });
  std::vector<std::uint64_t> local(blocks, 1);
  const StridedBlocks strided{0, stride * 8, 0, 8, 8, blocks};
  unsigned asked = 0;
  for (const auto end = in_ten_seconds(); asked < 20 && Clock::now() < end;) {
    for (const bool sums : {false, true}) {
      OurChunks chunks(*mine_, peer_, to_blocks(sums, memory, strided, local.data()));
      const std::optional<Error> error = chunks.ask();
      if (!error) continue;
      EXPECT_EQ(*error, Error::system);
      ++asked;
    }
  }
  EXPECT_GE(asked, 20u);
  stop_serving(words);
}

// B2: the memory of an origin that has given no sign of life is not touched: it may have ended, and
// another process have its number. One that has just done so is served, whatever the clocks say.
TEST_F(ShmErrandTest, ChunksOfASilentOriginAreDeclined) {
  constexpr std::size_t count = 125'000;
  Child& child = start([this](ShmTransport& transport, int parent) {
    const auto local = pages_of(count);
    const MappedBlock block(to_child_.get<ProcessName>());
    const auto memory = reinterpret_cast<std::uint64_t>(to_child_.get<std::uint64_t*>());
    if (!transport.vm_allowed(parent) || !block->errand.claim()) return 1;
    std::ranges::fill(local, 7);
    for (int asked = 0; asked < 2; ++asked) {
      block->errand.alive_at.store(to_child_.get<std::uint64_t>());
      block->errand.ask_in_chunks(
          ChunkedOperation::move(true, memory, local.data(), local.size_bytes()),
          static_cast<std::uint32_t>(::getpid()));
      to_parent_.put(1);
    }
    return to_child_.get<int>();
  });
  const auto memory = pages_of(count);
  to_child_.put(mine_->name());
  to_child_.put(memory.data());
  to_child_.put(mine_->nanoseconds() - 2'000'000);
  to_parent_.get<int>();
  EXPECT_FALSE(mine_->serve(false)) << "a call that does not wait takes no chunk";
  EXPECT_TRUE(mine_->serve(true));
  EXPECT_FALSE(mine_->serve(true)) << "it has been declined";
  EXPECT_EQ(std::ranges::count(memory, 0), static_cast<std::ptrdiff_t>(count));
  to_child_.put(mine_->nanoseconds() + 1'000'000'000);
  to_parent_.get<int>();
  while (mine_->serve(true)) {
  }
  EXPECT_EQ(std::ranges::count(memory, 7), static_cast<std::ptrdiff_t>(count));
  to_child_.put(0);
  EXPECT_EQ(child.join(), 0);
}

// B2: an owner that is killed within a chunk is not waited for.
TEST_F(ShmErrandTest, AnOwnerKilledWithinAChunkIsNotAwaited) {
  Child& child = start([this](ShmTransport& transport, int) {
    const auto memory = pages_of(125'000);
    to_parent_.put(memory.data());
    const MappedBlock block(transport.name());
    while (!block->errand.begin_in_chunks()) {
    }
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  const auto memory = reinterpret_cast<std::uint64_t>(to_parent_.get<std::uint64_t*>());
  const auto local = pages_of(125'000);
  OurChunks chunks(*mine_, peer_, in_one_run(OperationKind::put, memory, local));
  std::optional<Error> error;
  const auto end = in_ten_seconds();
  while (error != Error::peer_lost && Clock::now() < end) error = chunks.ask();
  EXPECT_EQ(error, Error::peer_lost);
  EXPECT_EQ(child.join(), -SIGKILL);
  EXPECT_EQ(chunks.ask(), std::nullopt);
}

// Setting ORIEL_VM=0: nobody's private memory is touched.
TEST_F(ShmPeerTest, VmCanBeSwitchedOff) {
  const Environment off("ORIEL_VM", "0");
  start([this](ShmTransport&, int) { return to_child_.get<int>(); });
  EXPECT_FALSE(mine_->vm_allowed(peer_));
  to_child_.put(0);
}

// Setting ORIEL_MEMFD=0: all of it works over POSIX shared memory too.
TEST_F(ShmPeerTest, WorksOverPosixSharedMemory) {
  const Environment posix("ORIEL_MEMFD", "0");
  Child& child = start([](ShmTransport& transport, int parent) {
    transport.send(parent, receive(transport), {});
    return 0;
  });
  mine_->send(peer_, pattern(1000, 1), {});
  EXPECT_EQ(receive(*mine_), pattern(1000, 1));
  EXPECT_EQ(child.join(), 0);
}

// B2: a peer that was killed is noticed, even while it is a zombie; what waited for it is gone, and
// a copy says whose fault it is.
TEST_F(ShmPeerTest, NoticesADeadPeer) {
  Child& child = start([](ShmTransport&, int) {
    ::pause();
    return 0;
  });
  EXPECT_TRUE(mine_->alive(peer_));
  EXPECT_TRUE(mine_->alive(mine_->self()));
  mine_->send(peer_, pattern(1'000'000, 1), {});
  EXPECT_TRUE(mine_->backlogged());
  child.kill();
  while (mine_->alive(peer_)) ::sched_yield();  // the zombie
  EXPECT_FALSE(mine_->backlogged());
  EXPECT_EQ(child.join(), -SIGKILL);
  EXPECT_FALSE(mine_->alive(peer_));
  std::byte byte{};
  const oriel::Run run{&byte, 4096, 1};
  EXPECT_EQ(mine_->copy(peer_, true, {&run, 1}), Error::peer_lost);
  mine_->send(peer_, pattern(100, 1), {});  // harmless
}

// B2: a peer killed between two fragments of a message harms nobody else's messages.
TEST_F(ShmPeerTest, HalfAMessageOfADeadPeerIsForgotten) {
  Child& child = start([](ShmTransport& transport, int parent) {
    transport.send(parent, pattern(1'000'000, 1), {});
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(child.join(), -SIGKILL);
  EXPECT_FALSE(mine_->alive(peer_));
  Bytes message;
  EXPECT_FALSE(receive(*mine_, message));
  mine_->send(0, pattern(500'000, 2), {});
  EXPECT_TRUE(receive(*mine_) == pattern(500'000, 2));
}

// B2: a peer killed in the middle of writing into our mailbox stalls it for a moment only.
TEST_F(ShmPeerTest, ProducerKilledWhileWritingStallsForAMoment) {
  Child& child = start([this](ShmTransport&, int) {
    std::string error;
    const auto name = to_child_.get<ProcessName>();
    PeerArena arena(name.arena);
    auto* block =
        reinterpret_cast<ProcessBlock*>(arena.at(name.block, ProcessBlock::bytes(), error));
    Mailbox box(block->mailbox, {block->cells(), ProcessBlock::mailbox_cells}, name.id);
    MailboxClaim claim;
    if (!box.reserve(claim, ::getpid(), 1, 1000, 0, 1000)) return 1;
    ::kill(::getpid(), SIGKILL);
    return 2;
  });
  expect_stall_for_a_moment(child);
}

// B2: likewise one that is killed before its record says anything.
TEST_F(ShmPeerTest, ProducerKilledBetweenTailAndStateStallsForAMoment) {
  Child& child = start([this](ShmTransport& transport, int) {
    std::string error;
    const auto name = to_child_.get<ProcessName>();
    PeerArena arena(name.arena);
    auto* block =
        reinterpret_cast<ProcessBlock*>(arena.at(name.block, ProcessBlock::bytes(), error));
    // As Mailbox::reserve() leaves it there.
    const ProcessName own = transport.name();
    PeerArena own_arena(own.arena);
    auto* ours =
        reinterpret_cast<ProcessBlock*>(own_arena.at(own.block, ProcessBlock::bytes(), error));
    MailboxClaim& claim = ours->claim;
    claim.reader = name.id;
    claim.bytes = 1000;
    claim.position = block->mailbox.tail.load() + 1;
    block->mailbox.tail += 17;
    ::kill(::getpid(), SIGKILL);
    return 2;
  });
  expect_stall_for_a_moment(child);
}

/// What notifications bring to one window.
class Heard final : public NotifyReader {
 public:
  bool store(std::uint32_t, std::uint64_t offset, std::span<const std::byte> run) override {
    std::uint64_t value = 0;
    std::memcpy(&value, run.data(), run.size());
    stored.emplace_back(offset, value);
    return true;
  }
  void deliver(const NotifyRecord& record) override {
    tags.push_back(record.notification.tag);
    bytes = record.notification.bytes;
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> stored;
  std::vector<std::int32_t> tags;
  std::uint64_t bytes = 0;  // of the last
};

/// Kills its process before the second store.
class FatalStores final : public StoreMaker {
 public:
  void make(std::span<const std::byte>, std::uint64_t) override {
    if (++made_ == 2) ::kill(::getpid(), SIGKILL);
  }

 private:
  int made_ = 0;
};

// B2, N3: a peer killed while it takes inlined stores back has published them all the same; nobody
// waits for each of them.
TEST_F(ShmPeerTest, WhatTheDeadTookBackIsTaken) {
  constexpr int lines = 500;
  constexpr std::uint32_t window = 7;
  Child& child = start([](ShmTransport& transport, int parent) {
    for (int i = 0; i < lines; ++i) {
      const std::uint64_t value = 1000 + static_cast<std::uint64_t>(i);
      NotifyStore store{nullptr, &value, sizeof value};
      store.may_inline = true;
      store.offset = static_cast<std::uint64_t>(i) * 8;
      const NotifyRecord record{window, {1, i, sizeof value}};
      if (transport.notify(parent, record, store) != NotifyOutcome::inlined) return 1;
    }
    if (!transport.begin_recall(parent, window, RecallFor::completion)) return 2;
    transport.fence_peers();
    FatalStores stores;
    transport.finish_recall(parent, stores);
    return 3;
  });
  EXPECT_EQ(child.join(), -SIGKILL);
  Heard heard;
  ASSERT_TRUE(mine_->deliver_notification(heard));  // its store had been made
  EXPECT_TRUE(heard.stored.empty());
  EXPECT_EQ(heard.bytes, 8u);
  heard.stored.emplace_back(0, 1000);
  EXPECT_FALSE(mine_->deliver_notification(heard));  // it may be about to go on
  EXPECT_TRUE(mine_->notifications_due());
  EXPECT_FALSE(mine_->alive(peer_));
  for (int i = 1; i < lines; ++i) ASSERT_TRUE(mine_->deliver_notification(heard)) << i;
  EXPECT_FALSE(mine_->deliver_notification(heard));
  for (int i = 0; i < lines; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    ASSERT_EQ(heard.tags[number], i);
    ASSERT_EQ(heard.stored[number], std::pair(8 * number, 1000 + number));
  }
}

// ring() changes the word that a sleeper waits on, so that one about to sleep does not; relax()
// returns.
TEST_F(ShmTransportTest, RingsAndRelaxes) {
  const auto a = make();
  const std::uint32_t before = a->doorbell(0).rings;
  a->ring(a->doorbell(0));
  EXPECT_EQ(a->doorbell(0).rings, before + 1);
  for (int i = 0; i < 100; ++i) a->relax();
}

}  // namespace
}  // namespace oriel
