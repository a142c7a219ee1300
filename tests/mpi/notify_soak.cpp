// SPDX-License-Identifier: BSD-3-Clause
// N3: so many notifications, of which none is lost, none comes twice and none overtakes another one
// of its origin. Floods towards one consumer, and ranks that flood one another.
//
// Arguments: how many notifications in all (20,000), then parts of names of tests as everywhere.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using Word = std::uint64_t;
using Window = support::Window<Word>;

// What one origin may have under way is several times what a queue holds; it is taken in blocks.
constexpr long block = 256;
constexpr long under_way = 16 * block;
constexpr long longest =
    40;  // words: more than goes into the target's memory with its notification
constexpr int streams = 7;
constexpr int credit_tag = ORIEL_NOTIFY_TAG_UB;
constexpr int unused_tag = ORIEL_NOTIFY_TAG_UB - 1;

const support::Notified& oriel() {
  static const support::Notified calls;
  return calls;
}

/// The same on every rank.
Word hash(Word value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// Tags of one block are not those of any other block that is under way at the time.
int tag_of(long index, int stream) {
  constexpr long rounds = 1000;
  return static_cast<int>(index / block % rounds) * streams + stream;
}

/// Number `index` of a source's notifications: both sides know what it is.
struct Item {
  Item(int source, long index) : seed(hash((Word(source) << 48) + Word(index))) {
    stream = static_cast<int>(seed % streams);
    tag = tag_of(index, stream);
    const int kind = static_cast<int>(seed >> 8 & 127);
    const int any = static_cast<int>(seed >> 16 & 7);
    length = kind == 0 ? static_cast<int>(longest) - any : kind < 4 ? 0 : kind < 20 ? 2 + any : 1;
  }
  Word word(int i) const { return seed + Word(i); }

  Word seed;
  int stream, tag, length;
};

/// Where a source's item lies in its consumer's window.
long place(int source, long index) {
  return (source * under_way + index % under_way) * longest;
}

std::size_t window_words(const Program& program) {
  return static_cast<std::size_t>(program.size() * under_way * longest);
}

/// A persistent request for notifications; none of no notifications.
class Expected {
 public:
  Expected(MPI_Win window, int source, int tag, long count) {
    oriel().Notify_init(window, source, tag, static_cast<int>(count), &request);
  }
  ~Expected() { MPI_Request_free(&request); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  MPI_Status take() {
    MPI_Status status;
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    return status;
  }

  MPI_Request request = MPI_REQUEST_NULL;
};

/// Sends one rank's items to another one.
class Producer {
 public:
  Producer(Window& window, int self, int to)
      : window_(window), self_(self), to_(to), buffer_(under_way * longest) {}

  void send(long count) {
    for (const long end = sent_ + count; sent_ < end; ++sent_) {
      const Item item(self_, sent_);
      Word* from = &buffer_[static_cast<std::size_t>(sent_ % under_way * longest)];
      for (int i = 0; i < item.length; ++i) from[i] = item.word(i);
      oriel().Put_notify(from, item.length, MPI_UINT64_T, to_, place(self_, sent_), item.length,
                         MPI_UINT64_T, window_, item.tag);
    }
  }
  /// What has been sent may be overwritten here.
  void reuse() {
    if (sent_ > 0) MPI_Win_flush_local(to_, window_);
  }
  long sent() const { return sent_; }

 private:
  Window& window_;
  const int self_;
  const int to_;
  std::vector<Word> buffer_;
  long sent_ = 0;
};

/// Takes the items of some sources, and checks each.
class Consumer {
 public:
  Consumer(Window& window, const std::vector<int>& ranks)
      : window_(window), anything_(window, MPI_ANY_SOURCE, MPI_ANY_TAG, 1) {
    for (const int rank : ranks) sources_.push_back(std::make_unique<Source>(window, rank));
  }

  /// All up to number `end` of every source, in one of many manners.
  void take_until(long end, Word random) {
    if (random >> 8 & 1) pile_up(random >> 16);
    switch (random % 6) {
      case 0:
        return take_anything(end);
      case 1:
        return take_in_turn(end);
      case 2:
        return take_sources(end, random >> 32);
      case 3:
        return take_tags_backward(end);
      case 4:
        return take_tags_of_anybody(end);
      default:
        return take_one_tag_and_the_rest(end, random >> 32);
    }
  }
  /// Tells the sources of one block more that it has been taken.
  void give_credit() {
    for (auto& source : sources_) {
      oriel().Put_notify(nullptr, 0, MPI_UINT64_T, source->rank, 0, 0, MPI_UINT64_T, window_,
                         credit_tag);
    }
  }
  long taken() const {
    const auto add = [](long sum, const auto& source) { return sum + source->taken; };
    return std::accumulate(sources_.begin(), sources_.end(), 0L, add);
  }

 private:
  struct Source {
    Source(MPI_Win window, int number) : rank(number), next(window, number, MPI_ANY_TAG, 1) {}

    const int rank;
    Expected next;
    long taken = 0;
  };

  // The queue runs full, or what it has is kept because nobody asks for it.
  void pile_up(Word random) {
    if (random % 8 == 0) usleep(1000);
    for (Word i = 0; i < random % 512; ++i) {
      int flag = -1;
      oriel().Notify_iprobe(window_, sources_[0]->rank, unused_tag, &flag, MPI_STATUS_IGNORE);
      CHECK_EQUAL(flag, 0);
    }
  }

  // May leave some of every source, and take what is behind `end` of others.
  void take_anything(long end) {
    for (auto& source : sources_) {
      while (source->taken < end) {
        const MPI_Status status = anything_.take();
        const auto from = std::find_if(sources_.begin(), sources_.end(), [&](const auto& each) {
          return each->rank == status.MPI_SOURCE;
        });
        CHECK(from != sources_.end());
        take_next(**from, status);
      }
    }
  }
  void take_in_turn(long end) {
    for (bool more = true; more;) {
      more = false;
      for (auto& source : sources_) {
        if (source->taken >= end) continue;
        take_next(*source, source->next.take());
        more = true;
      }
    }
  }
  void take_sources(long end, Word random) {
    std::vector<std::unique_ptr<Expected>> expected;
    for (auto& source : sources_) {
      if (source->taken < end) {
        expected.push_back(
            std::make_unique<Expected>(window_, source->rank, MPI_ANY_TAG, end - source->taken));
      }
    }
    finish(expected, random);
    finish_block(end);
  }
  void take_tags_backward(long end) {
    for (auto& source : sources_) {
      for (int stream = streams; stream-- > 0;) {
        const long count = left(*source, end, stream);
        if (count == 0) continue;
        const int tag = tag_of(end - 1, stream);
        const MPI_Status status = Expected(window_, source->rank, tag, count).take();
        CHECK_EQUAL(status.MPI_SOURCE, source->rank);
        CHECK_EQUAL(status.MPI_TAG, tag);
        check_stream(*source, end, stream);
      }
    }
    finish_block(end);
  }
  void take_tags_of_anybody(long end) {
    std::vector<std::unique_ptr<Expected>> expected;
    std::vector<MPI_Request> requests;
    std::vector<int> stream_of;
    for (int stream = 0; stream < streams; ++stream) {
      long count = 0;
      for (auto& source : sources_) count += left(*source, end, stream);
      if (count == 0) continue;
      const int tag = tag_of(end - 1, stream);
      expected.push_back(std::make_unique<Expected>(window_, MPI_ANY_SOURCE, tag, count));
      requests.push_back(expected.back()->request);
      stream_of.push_back(stream);
    }
    const int count = static_cast<int>(requests.size());
    MPI_Startall(count, requests.data());
    for (int i = 0; i < count; ++i) {
      int index = -1;
      MPI_Status status;
      MPI_Waitany(count, requests.data(), &index, &status);
      CHECK(index >= 0 && index < count);
      const int stream = stream_of[static_cast<std::size_t>(index)];
      CHECK_EQUAL(status.MPI_TAG, tag_of(end - 1, stream));
      for (auto& source : sources_) check_stream(*source, end, stream);
    }
    finish_block(end);
  }
  // Of two requests that match, the one that was started first takes the notification.
  void take_one_tag_and_the_rest(long end, Word random) {
    const int stream = static_cast<int>(random % streams);
    std::vector<std::unique_ptr<Expected>> expected;
    for (auto& source : sources_) {
      const long with_tag = left(*source, end, stream);
      const long others = std::max(end - source->taken, 0L) - with_tag;
      if (with_tag > 0) {
        const int tag = tag_of(end - 1, stream);
        expected.push_back(std::make_unique<Expected>(window_, source->rank, tag, with_tag));
      }
      if (others > 0) {
        expected.push_back(std::make_unique<Expected>(window_, source->rank, MPI_ANY_TAG, others));
      }
    }
    finish(expected, random);
    finish_block(end);
  }

  /// Starts them, and waits for all in one of several ways.
  static void finish(const std::vector<std::unique_ptr<Expected>>& expected, Word random) {
    std::vector<MPI_Request> requests;
    for (auto& each : expected) requests.push_back(each->request);
    const int count = static_cast<int>(requests.size());
    MPI_Startall(count, requests.data());
    int over = 0;
    switch (random >> 8 & 3) {
      case 0:
        MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
        return;
      case 1:
        while (over == 0) MPI_Testall(count, requests.data(), &over, MPI_STATUSES_IGNORE);
        return;
      case 2:
        for (MPI_Request& request : requests) {
          for (over = 0; over == 0;) MPI_Test(&request, &over, MPI_STATUS_IGNORE);
        }
        return;
      default:
        for (int done = 0; over < count; over += done) {
          std::vector<int> indices(requests.size());
          MPI_Waitsome(count, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
          CHECK(done > 0);
        }
    }
  }

  /// How many of a stream are still to come.
  static long left(const Source& source, long end, int stream) {
    long count = 0;
    for (long i = source.taken; i < end; ++i) count += Item(source.rank, i).stream == stream;
    return count;
  }
  void take_next(Source& source, const MPI_Status& status) {
    const Item item(source.rank, source.taken);
    CHECK_EQUAL(status.MPI_SOURCE, source.rank);
    CHECK_EQUAL(status.MPI_TAG, item.tag);
    int length = -1;
    MPI_Get_count(&status, MPI_UINT64_T, &length);
    CHECK_EQUAL(length, item.length);
    check(source, item, source.taken++);
  }
  void check_stream(const Source& source, long end, int stream) {
    for (long i = source.taken; i < end; ++i) {
      const Item item(source.rank, i);
      if (item.stream == stream) check(source, item, i);
    }
  }
  void finish_block(long end) {
    for (auto& source : sources_) {
      for (; source->taken < end; ++source->taken) {
        check(*source, Item(source->rank, source->taken), source->taken);
      }
    }
  }
  void check(const Source& source, const Item& item, long index) {
    const auto at = static_cast<std::size_t>(place(source.rank, index));
    for (int i = 0; i < item.length; ++i) {
      CHECK_EQUAL(window_[at + static_cast<std::size_t>(i)], item.word(i));
    }
  }

  Window& window_;
  Expected anything_;
  std::vector<std::unique_ptr<Source>> sources_;
};

/// Says every few seconds how far a rank is, and gives its tests time as long as it gets on.
class Progress {
 public:
  Progress(const char* what, Flavor flavor, long all)
      : what_(what), flavor_(flavor), all_(all), begin_(MPI_Wtime()), told_(begin_) {}

  void at(long done) {
    constexpr double interval = 3;
    const double now = MPI_Wtime();
    if (now - told_ < interval) return;
    told_ = now;
    support::limit_time();
    if (all_ == 0) return;
    std::printf("%s, %s: %ld of %ld, %.2f million a second\n", what_, name_of(flavor_), done, all_,
                static_cast<double>(done) / (now - begin_) * 1e-6);
    std::fflush(stdout);
  }

 private:
  const char* what_;
  const Flavor flavor_;
  const long all_;
  const double begin_;
  double told_;
};

// Everything has been taken, and nothing came twice.
void expect_nothing_left(Window& window, long sent, long taken) {
  MPI_Win_flush_all(window);
  support::barrier();
  int flag = -1;
  oriel().Notify_iprobe(window, MPI_ANY_SOURCE, MPI_ANY_TAG, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  std::array<long, 2> both{sent, taken};
  MPI_Allreduce(MPI_IN_PLACE, both.data(), 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(both[1], both[0]);
}

// All ranks but the first flood it. They stay so far ahead of it as their items have space.
void to_one(Flavor flavor, const Program& program, long total) {
  const int producers = program.size() - 1;
  if (producers == 0) return;
  const long blocks = 1 + total / producers / block;
  Window window(flavor, window_words(program));
  if (program.rank() == 0) {
    std::vector<int> others(static_cast<std::size_t>(producers));
    std::iota(others.begin(), others.end(), 1);
    Consumer consumer(window, others);
    Progress progress("to one", flavor, producers * blocks * block);
    for (long i = 1; i <= blocks; ++i) {
      consumer.take_until(i * block, hash(Word(i)));
      consumer.give_credit();
      progress.at(consumer.taken());
    }
    expect_nothing_left(window, 0, consumer.taken());
    return;
  }
  Producer producer(window, program.rank(), 0);
  Expected credit(window, 0, credit_tag, 1);
  Progress progress("to one", flavor, 0);
  for (long i = 0; i < blocks; ++i) {
    if (i >= under_way / block) credit.take();
    if (producer.sent() % (under_way / 4) == 0) producer.reuse();
    if (hash((Word(program.rank()) << 32) + Word(i)) % 64 == 0) usleep(500);  // the consumer waits
    producer.send(block);
    progress.at(producer.sent());
  }
  Expected(window, 0, credit_tag, std::min(blocks, under_way / block)).take();
  expect_nothing_left(window, producer.sent(), 0);
}

// Pairs of ranks: each fills the other's queue several times over before it looks at its own.
void each_other(Flavor flavor, const Program& program, long total) {
  const int other = program.rank() ^ 1;
  const int partner = other < program.size() ? other : program.rank();
  const long turns = 1 + total / program.size() / under_way;
  Window window(flavor, window_words(program));
  Producer producer(window, program.rank(), partner);
  Consumer consumer(window, {partner});
  Expected credit(window, partner, credit_tag, 1);
  const long all = turns * under_way;
  Progress progress("each other", flavor, program.rank() == 0 ? all * program.size() : 0);
  for (long turn = 0; turn < turns; ++turn) {
    const Word random = hash((Word(program.rank()) << 32) + Word(turn));
    producer.reuse();
    producer.send(under_way);
    if (random % 4 == 0) MPI_Win_flush(partner, window);
    for (long i = 1; i <= under_way / block; ++i) {
      consumer.take_until(turn * under_way + i * block, hash(random + Word(i)));
    }
    consumer.give_credit();
    credit.take();
    progress.at(consumer.taken() * program.size());
  }
  expect_nothing_left(window, producer.sent(), consumer.taken());
}

}  // namespace

int main(int argc, char** argv) {
  long total = 20000;
  if (argc > 1 && std::atol(argv[1]) > 0) {
    total = std::atol(argv[1]);
    ++argv;
    --argc;
  }
  Program program(argc, argv);
  if (program.host_only()) return 0;  // no host has notified access
  const auto flavors = support::flavors();
  const long each = total / static_cast<long>(2 * flavors.size());
  for (const Flavor flavor : flavors) {
    program.test("to one", [&] { to_one(flavor, program, each); });
    program.test("each other", [&] { each_other(flavor, program, each); });
  }
}
