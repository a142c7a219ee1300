// SPDX-License-Identifier: BSD-3-Clause
// B2, B4: a process that only computes lives; one that has ended does not, nor does one whose node
// is silent. No answer while connecting tells nothing, and strangers tell nothing either.
#include "transport/ofi/lifeline.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Pipe;

constexpr int timeout_s = 5;

sockaddr_in loopback(std::uint32_t host = INADDR_LOOPBACK) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(host);
  return place;
}

std::span<const std::byte> bytes_of(const sockaddr_in& place) {
  return std::as_bytes(std::span(&place, 1));
}

/// At an address of 127.0.0.0/8, which stands for a node.
struct End : Lifeline {
  explicit End(std::uint32_t node = 1, int timeout = timeout_s)
      : Lifeline(bytes_of(loopback((std::uint32_t{127} << 24) + node)), timeout) {}
};

template <typename Done>
testing::AssertionResult soon(Done&& done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return testing::AssertionFailure();
    ::usleep(1000);
  }
  return testing::AssertionSuccess();
}

/// Whether it holds as long as the process that asks would wait for a silent node, and longer.
template <typename Holds>
testing::AssertionResult stays(int seconds, Holds&& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < until) {
    if (!holds()) return testing::AssertionFailure();
    ::usleep(10'000);
  }
  return testing::AssertionSuccess();
}

/// A process with a lifeline that it never polls.
class Computing {
 public:
  explicit Computing(std::uint32_t node = 1) {
    Pipe to_parent;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::alarm(60);
      const End lifeline(node);
      to_parent.put(lifeline.name());
      while (true) ::pause();
    }
    name_ = to_parent.get<LifelineName>();
  }
  ~Computing() { end(); }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

  const LifelineName& name() const { return name_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  LifelineName name_;
};

/// The kernel drops what arrives at this socket from now on.
void drop_arrivals(int socket) {
  sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog drops{1, &nothing};
  EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &drops, sizeof drops), 0);
}

/// A socket that listens for so many connections and accepts none, and one that only has a port.
struct Listener {
  explicit Listener(int backlog) {
    const sockaddr_in place = bind(socket);
    EXPECT_EQ(::listen(socket, backlog), 0);
    name.refusing_port = ntohs(bind(refusing).sin_port);
    std::memcpy(name.address.data(), &place, sizeof place);
    name.address_bytes = sizeof place;
    name.token = {1, 2};
    name.node = {3, 4};
  }
  ~Listener() {
    ::close(socket);
    ::close(refusing);
  }
  /// No new connection and no probe gets an answer from now on.
  void fall_silent() const {
    drop_arrivals(socket);
    // A port at which nothing listens would refuse connections, whatever its socket drops.
    drop_arrivals(refusing);
    EXPECT_EQ(::listen(refusing, 1), 0);
  }

  int socket = -1;
  int refusing = -1;
  LifelineName name;

 private:
  static sockaddr_in bind(int& socket) {
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in place = loopback();
    EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    socklen_t length = sizeof place;
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&place), &length), 0);
    return place;
  }
};

/// The name of a process at a port that takes connections and does not answer: asked by itself, the
/// process would live.
LifelineName elsewhere(LifelineName name) {
  static const Listener listener(64);
  name.address = listener.name.address;
  name.address_bytes = listener.name.address_bytes;
  return name;
}

/// The next connection of a listener. The kernel drops what arrives on it, as if the node were cut
/// off.
struct Silenced {
  explicit Silenced(const Listener& listener) {
    EXPECT_TRUE(soon([&] {
      socket = ::accept4(listener.socket, nullptr, nullptr, SOCK_CLOEXEC);
      return socket >= 0;
    }));
    drop_arrivals(socket);
  }
  ~Silenced() { ::close(socket); }

  int socket = -1;
};

/// A connection of a process that is not of the job.
struct Stranger {
  explicit Stranger(const LifelineName& to) {
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in place{};
    std::memcpy(&place, to.address.data(), sizeof place);
    ::connect(socket, reinterpret_cast<sockaddr*>(&place), sizeof place);
  }
  Stranger(Stranger&& other) noexcept : socket(std::exchange(other.socket, -1)) {}
  ~Stranger() {
    if (socket >= 0) ::close(socket);
  }
  /// Sends what looks like a word of a lifeline.
  void tell(std::uint64_t kind, LifelineName::Words token, LifelineName::Words process,
            LifelineName::Words node = {}) const {
    const std::array<std::uint64_t, 7> word{kind,       token[0], token[1], process[0],
                                            process[1], node[0],  node[1]};
    EXPECT_TRUE(
        soon([&] { return ::send(socket, &word, sizeof word, MSG_NOSIGNAL) == sizeof word; }));
  }
  /// The other end has closed it.
  bool closed() const {
    std::array<char, 256> bytes;
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

  int socket;
};

TEST(Lifeline, EndsWithItsProcess) {
  Computing computing;
  End own(2);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(own.alive(computing.name())) << "it lives, and answers nothing by itself";
    ::usleep(500);
  }
  computing.end();
  EXPECT_TRUE(soon([&] { return !own.alive(computing.name()); }));
  // Nobody listens there any more.
  End late(2);
  EXPECT_TRUE(soon([&] { return !late.alive(computing.name()); }));
}

// Without an address nobody is ever found dead.
TEST(Lifeline, WithoutAnAddress) {
  Lifeline none(std::span<const std::byte>(), timeout_s);
  EXPECT_EQ(none.name().address_bytes, 0U);
  EXPECT_TRUE(none.alive({}));
  End own;
  EXPECT_TRUE(own.alive({}));
  EXPECT_TRUE(none.alive(own.name()));
}

// As many connections as the kernel holds wait to be accepted: others get no answer at all. Nor do
// probes where a firewall drops them.
TEST(Lifeline, NoAnswerWhileConnectingIsNoLoss) {
  const Listener full(0);
  const Listener walled(0);
  walled.fall_silent();
  std::vector<Stranger> others;
  for (int i = 0; i < 8; ++i) others.emplace_back(full.name);
  End asks(2, 1);
  End links(2, 1);
  links.watch(full.name);
  End outside(2, 1);
  outside.watch(walled.name);
  EXPECT_TRUE(stays(6, [&] {
    return asks.alive(full.name) && links.alive(full.name) && outside.alive(walled.name);
  }));
  // The link is made as soon as there is space.
  others.clear();
  EXPECT_TRUE(soon([&] {
    asks.alive(full.name);
    links.poll();
    const int socket = ::accept4(full.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    std::uint64_t kind = 1;  // of its first word
    const bool heard = socket >= 0 && soon([&] {
                         asks.alive(full.name);
                         links.poll();
                         return ::recv(socket, &kind, sizeof kind, MSG_DONTWAIT) >= 0;
                       });
    ::close(socket);
    return heard && kind == 0;
  }));
}

// The node does not answer any more: its kernel drops what comes.
TEST(Lifeline, SilenceOfAConnectionThatWasThereIsALoss) {
  const Listener peer(16);
  End own(2, 1);
  EXPECT_TRUE(own.alive(peer.name));
  const Silenced question(peer);
  EXPECT_TRUE(soon([&] { return !own.alive(peer.name); }));
  // It takes all processes of the node with it.
  LifelineName neighbour = peer.name;
  neighbour.token = {5, 6};
  EXPECT_FALSE(own.alive(neighbour));
  neighbour.node = {7, 8};
  EXPECT_TRUE(own.alive(neighbour));
}

// The link is established, but the node falls silent before it has the first word.
TEST(Lifeline, SilenceBeforeTheFirstWordIsALoss) {
  const Listener peer(16);
  End own(2, 1);
  own.watch(peer.name);
  const Silenced link(peer);
  peer.fall_silent();
  EXPECT_TRUE(soon([&] { return !own.alive(peer.name); }));
}

// A kernel that has no space for a connection resets it at the first word.
TEST(Lifeline, AResetBeforeTheFirstWordIsNoLoss) {
  const Listener peer(16);
  End own(2);
  own.watch(peer.name);
  {
    const Silenced link(peer);
    own.poll();
    constexpr linger reset{1, 0};
    ASSERT_EQ(::setsockopt(link.socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
  }
  int again = -1;
  EXPECT_TRUE(soon([&] {
    again = ::accept4(peer.socket, nullptr, nullptr, SOCK_CLOEXEC);
    return !own.alive(peer.name) || again >= 0;
  }));
  EXPECT_TRUE(own.alive(peer.name));
  ::close(again);
}

TEST(Lifeline, ALossIsToldAlongTheLinks) {
  Computing computing(5);
  End first(2);
  End middle(3);
  End last(4);
  first.watch(middle.name());
  last.watch(middle.name());
  last.watch(computing.name());
  const auto poll = [&] {
    for (Lifeline* one : {&first, &middle, &last}) one->poll();
  };
  ASSERT_TRUE(soon([&] {
    poll();
    return first.connections() == 1 && middle.connections() == 2 && last.connections() == 2;
  }));
  computing.end();
  ASSERT_TRUE(soon([&] {
    poll();
    return last.connections() == 1;
  }));
  EXPECT_TRUE(soon([&] {
    poll();
    return !first.alive(elsewhere(computing.name()));
  }));
}

// Either end of a link hears of the other's end.
TEST(Lifeline, TheWatchedProcessWatchesToo) {
  End own(2);
  auto other = std::make_unique<End>(3);
  const LifelineName name = other->name();
  other->watch(own.name());
  ASSERT_TRUE(soon([&] {
    other->poll();
    own.poll();
    return own.connections() == 1;
  }));
  other = nullptr;
  ASSERT_TRUE(soon([&] {
    own.poll();
    return own.connections() == 0;
  }));
  EXPECT_FALSE(own.alive(elsewhere(name)));
}

// A question that is not asked any more is closed by who asked it, which is no loss.
TEST(Lifeline, TheEndOfAQuestionIsNoLoss) {
  End own(2);
  End asks(3);
  ASSERT_TRUE(soon([&] {
    own.poll();
    return asks.alive(own.name()) && own.connections() == 1;
  }));
  ASSERT_TRUE(soon([&] {
    asks.poll();
    own.poll();
    return asks.connections() == 0 && own.connections() == 0;
  }));
  EXPECT_TRUE(own.alive(asks.name()));
  EXPECT_TRUE(asks.alive(own.name()));
}

TEST(Lifeline, AsksAFewAtATime) {
  std::deque<Computing> many(Lifeline::most_questions + 8);
  End own(2);
  for (int i = 0; i < 300; ++i) {
    for (const Computing& one : many) ASSERT_TRUE(own.alive(one.name()));
    ASSERT_LE(own.connections(), Lifeline::most_questions);
    ::usleep(500);
  }
  // The last ones have their turn when the others are not asked for any more.
  many.back().end();
  EXPECT_TRUE(soon([&] { return !own.alive(many.back().name()); }));
}

// More of them than are kept ask after one process, and none takes a refusal for a loss.
TEST(Lifeline, QuestionsOfOthersAreBounded) {
  End own(2);
  std::deque<End> many(Lifeline::most_answered + 40);
  std::size_t most = 0;
  for (int i = 0; i < 30; ++i) {
    for (End& one : many) ASSERT_TRUE(one.alive(own.name()));
    own.poll();
    most = std::max(most, own.connections());
    ::usleep(50'000);
  }
  EXPECT_EQ(most, Lifeline::most_answered);
}

TEST(Lifeline, StrangersAreBoundedAndTellNothing) {
  End own(2, 1);
  End watches(3, 1);
  End lives(4, 1);
  std::vector<Stranger> idle;
  for (int i = 0; i < 300; ++i) idle.emplace_back(own.name());
  watches.watch(own.name());
  std::size_t most = 0;
  ASSERT_TRUE(soon([&] {
    own.poll();
    most = std::max(most, own.connections());
    watches.poll();
    return own.connections() == 1 && watches.connections() == 1;
  })) << own.connections();
  EXPECT_LE(most, Lifeline::most_strangers + 1);
  for (const Stranger& one : idle) EXPECT_TRUE(soon([&] { return one.closed(); }));
  EXPECT_TRUE(watches.alive(own.name()));

  LifelineName::Words guessed = own.name().token;
  ++guessed[1];
  Stranger liar(own.name());
  liar.tell(0, guessed, {9, 9});
  liar.tell(3, {}, lives.name().token);
  EXPECT_TRUE(soon([&] {
    own.poll();
    return liar.closed();
  }));
  EXPECT_TRUE(own.alive(lives.name()));
}

// What a process hears of itself, it neither believes nor passes on.
TEST(Lifeline, HearsOfItsOwnEnd) {
  End own(2);
  End lives(3);
  lives.watch(own.name());
  Stranger member(own.name());
  member.tell(0, own.name().token, {9, 9});
  member.tell(3, {}, own.name().token);
  member.tell(4, {}, {}, own.name().node);
  member.tell(3, {}, {8, 8});
  LifelineName other;
  other.token = {8, 8};
  EXPECT_TRUE(soon([&] {
    own.poll();
    return !lives.alive(elsewhere(other));
  }));
  EXPECT_TRUE(own.alive(own.name()));
  EXPECT_TRUE(lives.alive(own.name()));
}

// A port that another process has got since.
TEST(Lifeline, AnotherProcessAtThePortIsALoss) {
  End own(2);
  End other(3);
  LifelineName before = other.name();
  ++before.token[0];
  EXPECT_TRUE(soon([&] {
    other.poll();
    return !own.alive(before);
  }));
  EXPECT_TRUE(own.alive(other.name()));
}

// Likewise a process of another program, which may speak first.
TEST(Lifeline, AnotherProgramAtThePortIsALoss) {
  const Listener other(16);
  End own(2);
  EXPECT_TRUE(own.alive(other.name));
  int socket = -1;
  ASSERT_TRUE(soon([&] {
    socket = ::accept4(other.socket, nullptr, nullptr, SOCK_CLOEXEC);
    return socket >= 0;
  }));
  const std::array<char, 64> banner{"SSH-2.0"};
  EXPECT_EQ(::send(socket, banner.data(), banner.size(), 0), ssize_t{banner.size()});
  EXPECT_TRUE(soon([&] { return !own.alive(other.name); }));
  ::close(socket);
}

}  // namespace
}  // namespace oriel
