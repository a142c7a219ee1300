// SPDX-License-Identifier: BSD-3-Clause
// Messages of random lengths among four processes over the card, without an MPI: expected and
// unexpected ones, tagged ones and ones for buffers that take several. Each process checks that it
// gets each message once, its bytes and its origin, and that tagged ones go to receives in order,
// also those that arrive before it knows their origin. Prints `ok`.
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "opened.hpp"

namespace {

using card::call;
using card::expect;

constexpr std::size_t ranks = 4;
constexpr unsigned messages = 2000;     // of each kind, to each peer
constexpr std::size_t longest = 20000;  // more than the card sends before the receive is known
constexpr unsigned number_bits = 16;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;
constexpr unsigned most_under_way = 64;
constexpr unsigned limit_s = 100;

/// What the processes share.
struct Board {
  std::array<card::Name, ranks> names;
  std::atomic<unsigned> arrived;
};

std::byte byte_of(std::uint64_t message, std::size_t index) {
  return static_cast<std::byte>(message * 31 + index * 7);
}

class Rank {
 public:
  Rank(Board& board, std::size_t self) : board_(&board), self_(self), random_(self) {
    call(fi_setopt(&card_.endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &longest,
                   sizeof longest));
    board.names[self] = card_.name;
    for (Bytes& room : rooms_) post(room);
  }

  void run() {
    meet();
    if (self_ == 0) take_from_strangers();
    for (const card::Name& name : board_->names) card_.insert(name);
    while (received_ < 2 * messages * (ranks - 1) || sends_under_way_ != 0 || left_to_send()) {
      if (random_() % 4 != 0) send_one();
      if (random_() % 4 == 0) post_one();
      progress();
    }
    meet();  // The others may still fetch messages of this process.
  }

 private:
  enum class Way : std::uint8_t { tagged, plain };
  static constexpr std::size_t ways = 2;
  using Bytes = std::vector<std::byte>;
  struct Receive {
    std::size_t origin;
    unsigned number;
    Bytes bytes = Bytes(longest);
  };

  static std::uint64_t name_of(std::size_t origin, std::uint64_t number) {
    return origin << number_bits | number;
  }
  std::size_t count(Way way, std::size_t origin) const {
    return got_[origin][static_cast<std::size_t>(way)].count();
  }

  /// A barrier, which goes on taking messages.
  void meet() {
    const unsigned all = (board_->arrived.fetch_add(1) / ranks + 1) * ranks;
    while (board_->arrived.load() < all) {
      progress();
      ::sched_yield();
    }
  }

  /// Takes messages until each of the others has sent some, of both kinds in all likelihood.
  void take_from_strangers() {
    constexpr unsigned some = 30;
    const auto enough = [this](std::size_t origin) { return count(Way::plain, origin) >= some; };
    for (std::size_t origin = 1; origin < ranks; ++origin) {
      while (!enough(origin)) progress();
    }
  }

  bool left_to_send() const {
    return std::ranges::any_of(sent_, [&](const auto& to) {
      return &to != &sent_[self_] &&
             std::ranges::any_of(to, [](unsigned sent) { return sent != messages; });
    });
  }

  /// A message's number is in its data or tag. Of its tag, receives ignore the number.
  void send_one() {
    const std::size_t to = random_() % ranks;
    const auto way = static_cast<Way>(random_() % ways);
    unsigned& number = sent_[to][static_cast<std::size_t>(way)];
    if (to == self_ || number == messages || sends_under_way_ == most_under_way) return;
    const bool is_short = random_() % 2 != 0;
    auto message = std::make_unique<Bytes>(random_() % (is_short ? 100 : longest));
    const std::size_t length = message->size();
    for (std::size_t i = 0; i < length; ++i) (*message)[i] = byte_of(number, i);
    const std::uint64_t name = name_of(self_, number);
    const bool injected = is_short && random_() % 2 != 0;
    const std::byte* bytes = message->data();
    ssize_t code = 0;
    if (way == Way::tagged) {
      code = injected ? fi_tinject(card_.endpoint, bytes, length, to, name)
                      : fi_tsend(card_.endpoint, bytes, length, nullptr, to, name, message.get());
    } else {
      code = injected
                 ? fi_injectdata(card_.endpoint, bytes, length, name, to)
                 : fi_senddata(card_.endpoint, bytes, length, nullptr, name, to, message.get());
    }
    if (code == -FI_EAGAIN) return;
    call(code);
    ++number;
    if (injected) return;
    message.release();  // take() deletes it.
    ++sends_under_way_;
  }

  void post_one() {
    const std::size_t from = random_() % ranks;
    if (from == self_ || posted_[from] == messages) return;
    auto* receive = new Receive{from, posted_[from]};  // take() deletes it.
    call(fi_trecv(card_.endpoint, receive->bytes.data(), receive->bytes.size(), nullptr, from,
                  name_of(from, 0), number_mask, receive));
    ++posted_[from];
  }

  void post(Bytes& room) {
    const iovec run{room.data(), room.size()};
    fi_msg message{};
    message.msg_iov = &run;
    message.iov_count = 1;
    message.addr = FI_ADDR_UNSPEC;
    message.context = &room;
    call(fi_recvmsg(card_.endpoint, &message, FI_MULTI_RECV));
  }

  void progress() {
    std::array<fi_cq_tagged_entry, 8> entries;
    std::array<fi_addr_t, 8> sources{};
    const ssize_t count =
        fi_cq_readfrom(card_.queue, entries.data(), entries.size(), sources.data());
    if (count == -FI_EAGAIN) return;
    expect(count > 0, "an error in the queue", count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) take(entries[i], sources[i]);
  }

  void take(const fi_cq_tagged_entry& entry, fi_addr_t source) {
    if ((entry.flags & FI_SEND) != 0) {
      delete static_cast<Bytes*>(entry.op_context);
      --sends_under_way_;
    } else if ((entry.flags & FI_TAGGED) != 0) {
      auto* receive = static_cast<Receive*>(entry.op_context);
      expect(receive->origin == source, "the source of a tagged message", source);
      expect(entry.tag == name_of(source, receive->number), "a message not of its receive",
             receive->number);
      check(Way::tagged, entry.tag, {receive->bytes.data(), entry.len});
      delete receive;
    } else {
      expect(self_ == 0 || source == entry.data >> number_bits, "a message's source", source);
      check(Way::plain, entry.data, {static_cast<const std::byte*>(entry.buf), entry.len});
      if ((entry.flags & FI_MULTI_RECV) != 0) post(*static_cast<Bytes*>(entry.op_context));
    }
  }

  void check(Way way, std::uint64_t name, std::span<const std::byte> bytes) {
    const std::uint64_t number = name & number_mask;
    auto got = got_[name >> number_bits][static_cast<std::size_t>(way)][number];
    expect(!got, "a message that arrives twice", static_cast<long>(number));
    got = true;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      expect(bytes[i] == byte_of(number, i), "a message's byte", static_cast<long>(i));
    }
    ++received_;
  }

  Board* board_;
  std::size_t self_;
  std::mt19937 random_;
  card::Opened card_{FI_MSG | FI_TAGGED | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE};
  std::array<Bytes, 2> rooms_{Bytes(3 * longest), Bytes(3 * longest)};  // for several messages
  std::array<std::array<unsigned, ways>, ranks> sent_{};
  std::array<std::array<std::bitset<messages>, ways>, ranks> got_;
  std::array<unsigned, ranks> posted_{};
  unsigned received_ = 0;
  unsigned sends_under_way_ = 0;
};

}  // namespace

int main() {
  void* memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* board = new (memory) Board;
  std::array<pid_t, ranks> processes{};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    processes[rank] = ::fork();
    if (processes[rank] != 0) continue;
    ::alarm(limit_s);
    Rank(*board, rank).run();
    std::_Exit(0);
  }
  for (std::size_t ended = 0; ended < ranks; ++ended) {
    int status = 0;
    *std::ranges::find(processes, ::wait(&status)) = 0;
    if (status == 0) continue;
    for (const pid_t process : processes) {
      if (process != 0) ::kill(process, SIGKILL);
    }
    return 1;
  }
  std::puts("ok");
  return 0;
}
