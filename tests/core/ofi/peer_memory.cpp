// SPDX-License-Identifier: BSD-3-Clause
// Measures the memory of a process over the number of its peers on other nodes:
//
//     peer_memory [--most KB] PEERS...
//
// The process attaches so many peers, one number after the other, and exchanges a message with each
// new one. Each line has the memory of one new peer when it is attached, after the messages, and
// when unused buffers have been given back. One other process has the endpoints of all peers.
// --most: the program fails if the peers behind the first number need more in the end.
// ORIEL_OFI_PROVIDER and ORIEL_OFI_LIBRARY name what is measured.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "transport/ofi/network.hpp"
#include "transport/ofi/ofi_networks.hpp"

namespace oriel {
namespace {

constexpr std::array<std::byte, 64> few_bytes{};
// Slabs and pools, which do not depend on the number of peers.
constexpr long steady_bytes = 512 * 1024;
// The exit status if there is no network: the test is skipped.
constexpr int no_network = 77;

[[noreturn]] void fail(const std::string& sentence) {
  std::fprintf(stderr, "peer_memory: %s\n", sentence.c_str());
  std::exit(1);
}

struct Pipe {
  Pipe() {
    if (::pipe(ends.data()) != 0) fail("no pipe");
  }
  template <typename Word>
  void write(const Word& word) const {
    if (::write(ends[1], &word, sizeof word) != static_cast<ssize_t>(sizeof word)) fail("no peers");
  }
  template <typename Word>
  Word read() const {
    Word word;
    if (::read(ends[0], &word, sizeof word) != static_cast<ssize_t>(sizeof word)) fail("no peers");
    return word;
  }
  bool readable() const {
    pollfd asked{ends[0], POLLIN, 0};
    return ::poll(&asked, 1, 0) > 0;
  }

  std::array<int, 2> ends{};
};

std::unique_ptr<Network> open_any() {
  std::string error;
  OfiNetworks networks;
  const OfferedNetworks offered = networks.offered(error);
  if (offered.none()) {
    std::fprintf(stderr, "peer_memory: %s\n", error.c_str());
    std::exit(no_network);
  }
  auto made = networks.open_network(offered.networks.front().network, RankPosition(), error);
  if (made == nullptr) fail(error);
  return made;
}

int attach(Network& network, const NetworkName& name) {
  std::string error;
  const int number = network.attach(name, error);
  if (number < 0) fail(error);
  return number;
}

void send(Network& network, int process) {
  network.send(process, few_bytes, {});
}

/// Answers each message to an endpoint of the peers. Does not return.
[[noreturn]] void answer(const Pipe& requests, const Pipe& names) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // So that many endpoints fit into one process.
  ::setenv("FI_TCP_MAX_RX_SIZE", "1024", 0);
  ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "8", 0);
  ::setenv("FI_OFI_RXM_MSG_TX_SIZE", "8", 0);
  const auto measured = requests.read<NetworkName>();
  std::vector<std::unique_ptr<Network>> peers;
  while (true) {
    if (requests.readable()) {
      for (int more = requests.read<int>(); more > 0; --more) {
        peers.push_back(open_any());
        attach(*peers.back(), measured);
        names.write(peers.back()->name());
      }
    }
    for (const auto& peer : peers) {
      if (!peer->receive().empty()) send(*peer, 0);
      peer->push();
    }
  }
}

/// The bytes of the process's own memory that are in use.
long anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8) * 1024;
  }
  fail("/proc/self/status has no line RssAnon");
}

/// Looks at the network until it has given back unused buffers.
void idle(Network& network) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
  while (std::chrono::steady_clock::now() < until) network.receive();
}

/// Exchanges a message with each of these peers.
void exchange_with(Network& network, const std::vector<int>& peers) {
  for (const int peer : peers) send(network, peer);
  network.push();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  std::size_t answers = 0;
  while (answers < peers.size() || !network.drained()) {
    if (!network.receive().empty()) ++answers;
    network.push();
    if (std::chrono::steady_clock::now() > until) fail("a peer does not answer");
  }
}

double kilobytes_each(long bytes, std::size_t count) {
  return static_cast<double>(bytes) / 1024 / static_cast<double>(count);
}

int measure(const Pipe& requests, const Pipe& names, const std::vector<int>& counts, long most) {
  const long nothing = anonymous_bytes();
  const std::unique_ptr<Network> network = open_any();
  requests.write(network->name());
  const long first = anonymous_bytes();
  std::printf("%s\nthe endpoint: %ld KB\n", network->description().c_str(),
              (first - nothing) / 1024);
  std::printf("KB for each new peer:\n%8s %10s %14s %14s\n", "peers", "attached", "with messages",
              "idle again");
  int attached = 0;
  long of_first_peers = 0;
  for (const int count : counts) {
    std::vector<int> peers;
    requests.write(count - attached);
    const long before = anonymous_bytes();
    for (; attached < count; ++attached)
      peers.push_back(attach(*network, names.read<NetworkName>()));
    const long then = anonymous_bytes();
    exchange_with(*network, peers);
    const long busy = anonymous_bytes();
    idle(*network);
    if (count == counts.front()) of_first_peers = anonymous_bytes();
    std::printf("%8d %10.1f %14.1f %14.1f\n", count, kilobytes_each(then - before, peers.size()),
                kilobytes_each(busy - before, peers.size()),
                kilobytes_each(anonymous_bytes() - before, peers.size()));
  }
  const long more = anonymous_bytes() - of_first_peers - steady_bytes;
  if (most == 0 || more <= most * 1024 * (attached - counts.front())) return 0;
  std::printf("more than %ld KB for each peer\n", most);
  return 1;
}

int run(int count, char** arguments) {
  std::vector<int> counts;
  long most = 0;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--most") == 0 && i + 1 < count) {
      most = std::atol(arguments[++i]);
    } else {
      counts.push_back(std::atoi(arguments[i]));
    }
  }
  if (counts.empty() || counts.front() < 1 ||
      std::ranges::adjacent_find(counts, std::ranges::greater_equal{}) != counts.end()) {
    fail("usage: peer_memory [--most KB] PEERS..., rising");
  }
  const Pipe requests;
  const Pipe names;
  const pid_t child = ::fork();
  if (child == 0) answer(requests, names);
  if (child < 0) fail("no process");
  const int status = measure(requests, names, counts, most);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return status;
}

}  // namespace
}  // namespace oriel

int main(int count, char** arguments) {
  return oriel::run(count, arguments);
}
