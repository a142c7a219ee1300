// SPDX-License-Identifier: BSD-3-Clause
// B2, B4: a process that only computes lives; one that has ended does not, nor does one whose node
// is silent. No answer while connecting tells nothing, and strangers tell nothing either.
#include "transport/ofi/lifeline.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
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
#include "transport/ofi/node_addresses.hpp"
#include "transport/ofi/node_probe.hpp"
#include "transport/ofi/tcp_socket.hpp"

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

/// An address of 127.0.0.0/8.
constexpr IpAddress local(std::uint32_t number) {
  return IpAddress::v4((std::uint32_t{127} << 24) + number);
}

NodeAddresses endpoint_at(std::uint32_t node) {
  const sockaddr_in place = loopback((std::uint32_t{127} << 24) + node);
  return addresses_of_endpoint(std::as_bytes(std::span(&place, 1)));
}

/// A node whose endpoints have no IP addresses. It has these addresses.
NodeAddresses node_at(std::uint32_t node, const std::vector<IpAddress>& addresses) {
  NodeAddresses own;
  own.node = {node, 1};
  for (const IpAddress& one : addresses) own.all.push_back({one});
  return own;
}

/// At an address of 127.0.0.0/8, which stands for a node.
struct End : Lifeline {
  explicit End(std::uint32_t node = 1, int timeout = timeout_s)
      : Lifeline(endpoint_at(node), timeout) {}
  explicit End(NodeAddresses own, int timeout = timeout_s) : Lifeline(std::move(own), timeout) {}
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

/// A process with a lifeline that it never polls, or also polls.
class Computing {
 public:
  explicit Computing(std::uint32_t node = 1) : Computing(endpoint_at(node), false) {}
  Computing(const NodeAddresses& own, bool polls) {
    Pipe to_parent;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::alarm(60);
      End lifeline(own);
      to_parent.put(lifeline.name());
      while (true) {
        if (polls) lifeline.poll();
        ::usleep(10'000);
      }
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
    name.port = ntohs(bind(socket).sin_port);
    EXPECT_EQ(::listen(socket, backlog), 0);
    name.refusing_port = ntohs(bind(refusing).sin_port);
    name.addresses[0] = local(1);
    name.of_endpoint = 1;
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
  name.addresses = listener.name.addresses;
  name.port = listener.name.port;
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
    sockaddr_in place = loopback();
    std::memcpy(&place.sin_addr, &to.addresses[0].bytes[12], sizeof place.sin_addr);
    place.sin_port = htons(to.port);
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

TEST(Lifeline, SaysWhyItDoesNotListen) {
  EXPECT_EQ(End().error(), 0);
  EXPECT_EQ(End(NodeAddresses()).error(), 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const int error = End().error();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(error, EMFILE);
}

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
// A child of a fork that goes on has copies of all descriptors.
TEST(Lifeline, EndsWithItsProcessAndNotWithAChildOfIt) {
  Pipe from_child;
  End here(2);
  auto parent = std::make_unique<End>(1);
  const LifelineName name = parent->name();
  here.watch(name);
  ASSERT_TRUE(soon([&] {
    here.poll();
    parent->poll();
    return here.connections() == 1 && parent->connections() == 1;
  }));
  const shm_test::Child child([&] {
    close_sockets_of_parent();
    from_child.put(1);
    return ::pause();
  });
  from_child.get<int>();
  EXPECT_TRUE(here.alive(name));
  parent.reset();
  EXPECT_TRUE(soon([&] { return !here.alive(name); }));
}

TEST(Lifeline, WithoutAnAddress) {
  Lifeline none(NodeAddresses(), timeout_s);
  EXPECT_EQ(none.name().port, 0U);
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

TEST(Lifeline, AQuestionWithoutAnAnswerIsGivenUp) {
  const Listener walled(0);
  walled.fall_silent();
  End own(2, 3);
  EXPECT_TRUE(own.alive(walled.name));
  EXPECT_EQ(own.connections(), 1U);
  EXPECT_TRUE(soon([&] {
    own.poll();
    return own.connections() == 0;
  }));
  EXPECT_TRUE(own.alive(walled.name));
}

// A window is made with a process that has been asked for.
TEST(Lifeline, ALinkReplacesAQuestion) {
  End own(2);
  auto asks = std::make_unique<End>(3);
  const LifelineName name = asks->name();
  ASSERT_TRUE(soon([&] {
    own.poll();
    return asks->alive(own.name()) && own.connections() == 1;
  }));
  asks->watch(own.name());
  EXPECT_TRUE(stays(2, [&] {
    own.poll();
    asks->poll();
    return asks->connections() == 1;
  }));
  asks = nullptr;
  EXPECT_TRUE(soon([&] { return !own.alive(elsewhere(name)); }));
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

// The peer's kernel has no space for the connection, but refuses probes.
TEST(Lifeline, SilenceBeforeTheFirstWordIsNoLossIfTheNodeAnswers) {
  const Listener peer(16);
  End own(2, 1);
  own.watch(peer.name);
  const Silenced link(peer);
  int again = -1;
  EXPECT_TRUE(soon([&] {
    again = ::accept4(peer.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return !own.alive(peer.name) || again >= 0;
  }));
  EXPECT_TRUE(own.alive(peer.name));
  ::close(again);
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

/// The name of a process of a node with several addresses, at the port of this listener, which
/// listens at local(1) only.
LifelineName with_addresses(const Listener& listener, const std::vector<IpAddress>& addresses) {
  LifelineName name = listener.name;
  name.of_endpoint = 0;
  std::ranges::copy(addresses, name.addresses.begin());
  return name;
}

// An address may lead to the wrong node, which refuses connections.
TEST(LifelineAddresses, ARefusalAtAnAddressThatIsNotProvedIsNoLoss) {
  const Listener peer(16);
  LifelineName lives = with_addresses(peer, {local(70), local(71)});
  End own(node_at(2, {local(2)}), 1);
  own.watch(lives);
  lives.token = {5, 6};
  EXPECT_TRUE(stays(3, [&] { return own.alive(lives) && own.alive(peer.name); }));
}

/// The next connection to a listening socket, while poll() is called again and again; -1: none
/// came.
template <typename Poll>
int await_connection(int listening, Poll&& poll) {
  int socket = -1;
  EXPECT_TRUE(soon([&] {
    poll();
    socket = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return socket >= 0;
  }));
  return socket;
}

TEST(LifelineAddresses, TheNextAddressIsTried) {
  const Listener peer(16);
  End own(node_at(2, {local(2)}));
  own.watch(with_addresses(peer, {local(70), local(71), local(1)}));
  const int socket = await_connection(peer.socket, [&] { own.poll(); });
  EXPECT_GE(socket, 0);
  ::close(socket);
}

// Nothing answers at the first address: its node drops what arrives.
TEST(LifelineAddresses, TheNextAddressIsTriedWhereNothingAnswers) {
  const Listener peer(16);
  const int silent = open_socket(local(72));
  sockaddr_in place = loopback((std::uint32_t{127} << 24) + 72);
  place.sin_port = htons(peer.name.port);
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  drop_arrivals(silent);
  ASSERT_EQ(::listen(silent, 1), 0);
  End own(node_at(2, {local(2)}), 60);
  own.watch(with_addresses(peer, {local(72), local(1)}));
  const int socket = await_connection(peer.socket, [&] { own.poll(); });
  EXPECT_GE(socket, 0);
  ::close(socket);
  ::close(silent);
}

// An answer at an address proves it for all processes of the node.
TEST(LifelineAddresses, ARefusalAtAnAddressThatHasAnsweredIsALoss) {
  const NodeAddresses node = node_at(5, {local(70), local(71)});
  Computing answers(node, true);
  Computing ended(node, false);
  ended.end();
  End own(node_at(2, {local(2)}), 1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(own.alive(ended.name()));
    ::usleep(10'000);
  }
  own.watch(answers.name());
  EXPECT_TRUE(soon([&] { return !own.alive(ended.name()); }));
  EXPECT_TRUE(own.alive(answers.name()));
  answers.end();
  EXPECT_TRUE(soon([&] { return !own.alive(answers.name()); }));
}

// A process of the node that begins a connection proves the address from which it does.
TEST(LifelineAddresses, ARefusalAtAnAddressThatHasAskedIsALoss) {
  const NodeAddresses node = node_at(5, {local(70), local(1)});
  Computing ended(node, false);
  ended.end();
  End own(node_at(2, {local(2)}), 1);
  {
    End asks(node);
    ASSERT_TRUE(soon([&] {
      asks.alive(own.name());
      own.poll();
      return own.connections() == 1;
    }));
  }
  EXPECT_TRUE(soon([&] { return !own.alive(ended.name()); }));
}

// Processes of one node need no proof.
TEST(LifelineAddresses, ARefusalOnTheOwnNodeIsALoss) {
  const NodeAddresses node = node_at(5, {local(70)});
  Computing ended(node, false);
  ended.end();
  End own(node);
  EXPECT_TRUE(soon([&] { return !own.alive(ended.name()); }));
}

/// Returns whether both ends have their answers after some calls in a row. The calls take less time
/// than usually passes between two polls.
bool answer_each_other(Lifeline& one, Lifeline& other) {
  constexpr int calls = 1000;
  for (int i = 0; i < calls; ++i) {
    const bool first = one.links_answered();
    if (other.links_answered() && first) return true;
    ::sched_yield();
  }
  return false;
}

// A window is made on two nodes. No process polls after that.
TEST(LifelineAddresses, AWindowAwaitsItsLinksInBothDirections) {
  End watches(node_at(2, {local(2)}), 1);
  auto watched = std::make_unique<End>(node_at(5, {local(70), local(5)}), 1);
  EXPECT_TRUE(watches.links_answered());
  watches.watch(watched->name());
  watched->expect(watches.name());
  EXPECT_FALSE(watches.links_answered());
  EXPECT_TRUE(answer_each_other(watches, *watched));
  EXPECT_EQ(watched->connections(), 1U);
  // Its loss counts from now on.
  const LifelineName name = watched->name();
  watched = nullptr;
  EXPECT_TRUE(soon([&] { return !watches.alive(name); }));
}

// Further windows of the same processes.
TEST(LifelineAddresses, AWindowAwaitsNewLinksOnly) {
  End watches(node_at(2, {local(2)}));
  End watched(node_at(5, {local(5)}));
  const auto make_window = [&] {
    watches.watch(watched.name());
    watched.expect(watches.name());
  };
  make_window();
  EXPECT_FALSE(watches.links_answered());
  ASSERT_TRUE(soon([&] { return watched.links_answered() && watches.links_answered(); }));
  make_window();
  EXPECT_TRUE(watches.links_answered());
  EXPECT_TRUE(watched.links_answered());
  // The link is there already when it is expected.
  End early(node_at(6, {local(6)}));
  early.watch(watched.name());
  ASSERT_TRUE(soon([&] {
    watched.poll();
    return early.links_answered();
  }));
  watched.expect(early.name());
  EXPECT_TRUE(watched.links_answered());
}

// A firewall hides the nodes from each other.
TEST(LifelineAddresses, AWindowAwaitsALinkForASecondAndOnce) {
  const Listener walled(0);
  walled.fall_silent();
  const LifelineName hidden = with_addresses(walled, {local(1)});
  End watches(node_at(2, {local(2)}));
  End expects(node_at(6, {local(6)}));
  watches.watch(hidden);
  expects.expect(hidden);
  for (End* end : {&watches, &expects}) {
    EXPECT_FALSE(end->links_answered());
    EXPECT_TRUE(soon([&] { return end->links_answered(); }));
  }
  watches.watch(hidden);
  expects.expect(hidden);
  EXPECT_TRUE(watches.links_answered());
  EXPECT_TRUE(expects.links_answered());
}

// Their losses count at once.
TEST(LifelineAddresses, AWindowAwaitsNoLinkThatNeedsNoProof) {
  const Listener peer(16);
  End by_endpoint(2);
  const LifelineName neighbour = [&] {
    LifelineName name = with_addresses(peer, {local(1)});
    name.node = {5, 1};
    return name;
  }();
  End on_node(node_at(5, {local(5)}));
  by_endpoint.watch(peer.name);
  by_endpoint.expect(peer.name);
  on_node.watch(neighbour);
  on_node.expect(neighbour);
  EXPECT_TRUE(by_endpoint.links_answered());
  EXPECT_TRUE(on_node.links_answered());
}

// A process without a lifeline neither begins a link nor answers one.
TEST(LifelineAddresses, AWindowAwaitsNoProcessWithoutALifeline) {
  End own(node_at(2, {local(2)}));
  End none(node_at(5, {}));
  own.watch(none.name());
  own.expect(none.name());
  none.watch(own.name());
  none.expect(own.name());
  EXPECT_TRUE(own.links_answered());
  EXPECT_TRUE(none.links_answered());
}

/// Accepts a connection and shows the token of the process that listens there.
int answer(const Listener& listener, End& own) {
  const int socket = await_connection(listener.socket, [&] { own.poll(); });
  const LifelineName::Words& token = own.name().token;
  const LifelineName::Words& self = listener.name.token;
  const LifelineName::Words& node = listener.name.node;
  const std::array<std::uint64_t, 7> word{0,       token[0], token[1], self[0],
                                          self[1], node[0],  node[1]};
  EXPECT_EQ(::send(socket, &word, sizeof word, MSG_NOSIGNAL), ssize_t{sizeof word});
  EXPECT_TRUE(soon([&] {
    own.poll();
    std::array<std::uint64_t, 7> heard{};
    return ::recv(socket, &heard, sizeof heard, MSG_DONTWAIT) == sizeof heard;
  }));
  for (int i = 0; i < 30; ++i) {
    own.poll();
    ::usleep(10'000);
  }
  return socket;
}

/// Connects to this process and shows its token.
Stranger member_at(End& own, LifelineName::Words process, LifelineName::Words node) {
  Stranger member(own.name());
  member.tell(0, own.name().token, process, node);
  EXPECT_TRUE(soon([&] {
    own.poll();
    std::array<std::uint64_t, 7> heard{};
    return ::recv(member.socket, &heard, sizeof heard, MSG_DONTWAIT) == sizeof heard;
  }));
  return member;
}

/// The name of a process of this node at a port that takes connections and does not answer.
LifelineName elsewhere(LifelineName::Words process, LifelineName::Words node) {
  LifelineName name;
  name.token = process;
  name.node = node;
  return elsewhere(name);
}

constexpr LifelineName::Words joined_token{9, 9};
constexpr LifelineName::Words beside_token{9, 8};
constexpr LifelineName::Words joined_node{8, 8};

// Both ends of a link watch each other.
TEST(LifelineAddresses, TheEndOfALinkThatAnotherProcessHasBegunIsALoss) {
  End own(node_at(2, {local(2)}));
  {
    const Stranger member = member_at(own, joined_token, joined_node);
    EXPECT_TRUE(own.alive(elsewhere(joined_token, joined_node)));
  }
  EXPECT_TRUE(soon([&] { return !own.alive(elsewhere(joined_token, joined_node)); }));
  EXPECT_TRUE(own.alive(elsewhere(beside_token, joined_node)));
}

// With several addresses, a connection of this process's own tells.
TEST(LifelineAddresses, AResetOfALinkThatAnotherProcessHasBegunIsALossAtTheEndpointOnly) {
  End at_endpoint(2);
  End at_node(node_at(3, {local(3)}));
  for (End* own : {&at_endpoint, &at_node}) {
    {
      const Stranger member = member_at(*own, joined_token, joined_node);
      constexpr linger reset{1, 0};
      ASSERT_EQ(::setsockopt(member.socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    }
    EXPECT_TRUE(soon([&] {
      own->poll();
      return own->connections() == 0;
    }));
    EXPECT_EQ(own->alive(elsewhere(joined_token, joined_node)), own == &at_node);
  }
}

TEST(LifelineAddresses, SilenceOfALinkThatAnotherProcessHasBegunIsALossAtTheEndpointOnly) {
  End at_endpoint(2, 1);
  End at_node(node_at(3, {local(3)}), 1);
  for (End* own : {&at_endpoint, &at_node}) {
    const Stranger member = member_at(*own, joined_token, joined_node);
    drop_arrivals(member.socket);
    EXPECT_TRUE(soon([&] {
      own->poll();
      return own->connections() == 0;
    }));
    EXPECT_EQ(own->alive(elsewhere(beside_token, joined_node)), own == &at_node);
  }
}

// Its words are not understood, so the connection is closed.
TEST(Lifeline, AWordThatIsNoLossEndsTheConnectionAndIsNoLoss) {
  constexpr std::uint64_t unknown_kind = 9;
  End own(2);
  const Stranger member = member_at(own, joined_token, joined_node);
  member.tell(unknown_kind, {}, {});
  EXPECT_TRUE(soon([&] {
    own.poll();
    return own.connections() == 0;
  }));
  EXPECT_TRUE(own.alive(elsewhere(joined_token, joined_node)));
}

/// A second address of the listener's node, at the port of the first one.
int listen_beside(const Listener& first, std::uint32_t host) {
  const int socket = open_socket(local(host));
  sockaddr_in place = loopback((std::uint32_t{127} << 24) + host);
  place.sin_port = htons(first.name.port);
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  EXPECT_EQ(::listen(socket, 16), 0);
  return socket;
}

// It may be that of another node.
TEST(LifelineAddresses, SilenceAtAnAddressThatIsNotProvedIsNoLoss) {
  const Listener peer(16);
  const LifelineName name = with_addresses(peer, {local(1)});
  End own(node_at(2, {local(2)}), 1);
  own.watch(name);
  const int link = await_connection(peer.socket, [&] { own.poll(); });
  ASSERT_GE(link, 0);
  std::array<std::uint64_t, 7> heard{};
  ASSERT_TRUE(soon([&] {
    own.poll();
    return ::recv(link, &heard, sizeof heard, MSG_DONTWAIT) == sizeof heard;
  }));
  drop_arrivals(link);
  peer.fall_silent();
  EXPECT_TRUE(stays(4, [&] { return own.alive(name); }));
  ::close(link);
}

TEST(LifelineAddresses, AProvedAddressIsTriedFirst) {
  const Listener peer(16);
  const int unproved = listen_beside(peer, 74);
  End own(node_at(2, {local(2)}));
  own.watch(with_addresses(peer, {local(1)}));
  const int link = answer(peer, own);
  LifelineName neighbour = with_addresses(peer, {local(74), local(1)});
  neighbour.token = {5, 6};
  const int question = await_connection(peer.socket, [&] { own.alive(neighbour); });
  EXPECT_GE(question, 0);
  EXPECT_LT(::accept4(unproved, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), 0);
  for (const int socket : {unproved, link, question}) ::close(socket);
}

// A node is silent only if it is so at all its addresses: one that answers keeps it alive.
TEST(LifelineAddresses, SilenceAtOneAddressIsNoLoss) {
  const Listener peer(16);
  const int second = listen_beside(peer, 73);
  const LifelineName name = with_addresses(peer, {local(1), local(73)});
  End own(node_at(2, {local(2)}), 1);
  own.watch(name);
  const int first = answer(peer, own);
  drop_arrivals(first);
  peer.fall_silent();
  const int other = await_connection(second, [&] { own.poll(); });
  EXPECT_GE(other, 0);
  EXPECT_TRUE(stays(3, [&] { return own.alive(name); }));
  drop_arrivals(other);
  drop_arrivals(second);
  EXPECT_TRUE(soon([&] { return !own.alive(name); }));
  for (const int socket : {first, second, other}) ::close(socket);
}

// An address at which nothing was heard in the beginning may be the only one that is left.
TEST(LifelineAddresses, AnAddressThatHasFailedBeforeIsTriedAgain) {
  const Listener peer(16);
  const LifelineName computes = with_addresses(peer, {local(75), local(1)});
  End own(node_at(2, {local(2)}), 1);
  own.watch(computes);
  const int unanswered = await_connection(peer.socket, [&] { own.poll(); });
  ASSERT_GE(unanswered, 0);
  LifelineName answers = computes;
  answers.token = {5, 6};
  own.watch(answers);
  const int answered = answer(peer, own);
  const int second = listen_beside(peer, 75);
  drop_arrivals(unanswered);
  drop_arrivals(answered);
  peer.fall_silent();
  int links = 0;
  EXPECT_TRUE(soon([&] {
    own.poll();
    links += ::accept4(second, nullptr, nullptr, SOCK_CLOEXEC) >= 0 ? 1 : 0;
    return links == 2 || !own.alive(computes);
  }));
  EXPECT_TRUE(own.alive(computes));
  for (const int socket : {unanswered, answered, second}) ::close(socket);
}

// The kernel of a live node resets a connection that it has given up during a silence.
TEST(LifelineAddresses, AResetIsNoLossWhileTheProcessListens) {
  const Listener peer(16);
  const LifelineName name = with_addresses(peer, {local(1)});
  End own(node_at(2, {local(2)}));
  own.watch(name);
  const int first = answer(peer, own);
  constexpr linger reset{1, 0};
  ASSERT_EQ(::setsockopt(first, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
  ::close(first);
  int again = -1;
  EXPECT_TRUE(soon([&] {
    again = ::accept4(peer.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return !own.alive(name) || again >= 0;
  }));
  EXPECT_TRUE(own.alive(name));
  ::close(again);
}

// The times are the test's own.
TEST(NodeProbe, FindsSilenceOfFourSecondsAfterAnAnswer) {
  constexpr std::uint64_t second = 1'000'000'000;
  const Listener peer(0);
  NodeProbe probe;
  probe.begin(local(1), peer.name.refusing_port, 100 * second);
  ::usleep(10'000);  // the kernel refuses it
  EXPECT_FALSE(probe.finds_silence(100 * second, second));
  peer.fall_silent();
  constexpr std::uint64_t silent = 102 * second;
  EXPECT_FALSE(probe.finds_silence(silent, second));
  EXPECT_FALSE(probe.finds_silence(silent + 4 * second, second));
  EXPECT_FALSE(probe.finds_silence(silent + 4 * second + 1, 5 * second));
  EXPECT_TRUE(probe.finds_silence(silent + 4 * second + 1, second));
  // The node has been heard otherwise meanwhile.
  probe.end();
  EXPECT_FALSE(probe.finds_silence(silent + 5 * second, second));
  EXPECT_FALSE(probe.finds_silence(silent + 8 * second, second));
  EXPECT_TRUE(probe.finds_silence(silent + 10 * second, second));
  probe.end();
}

}  // namespace
}  // namespace oriel
