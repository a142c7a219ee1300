// SPDX-License-Identifier: BSD-3-Clause
// The report of a long wait, for the user.
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/process/call_site.hpp"
#include "engine/process/standard_error.hpp"
#include "engine/stalls/awaited_peers.hpp"
#include "engine/stalls/long_wait.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel {
namespace {

// The number of peers that are listed; the others are only counted.
constexpr std::size_t most_peers = 8;

std::string seconds(std::uint64_t nanoseconds) {
  return std::to_string(nanoseconds / 1'000'000'000) + " s";
}

/// The name of a process of the node in a sentence.
std::string process_name(ShmTransport& node, int process) {
  const int rank = node.rank_of(process);
  const std::string pid = "process " + std::to_string(node.name(process).arena.pid);
  return rank >= 0 ? "rank " + std::to_string(rank) + " of MPI_COMM_WORLD (" + pid + ")" : pid;
}

/// The reason of a wait in a sentence, such as "has waited for a lock".
const char* in_words(WaitReason reason) {
  switch (reason) {
    case WaitReason::lock:
      return "for a lock";
    case WaitReason::unlock:
      return "in an unlock";
    case WaitReason::fence:
      return "in a fence";
    case WaitReason::complete:
      return "in MPI_Win_complete";
    case WaitReason::exposure:
      return "in MPI_Win_wait";
    case WaitReason::flush:
      return "in a flush";
    case WaitReason::notification:
      return "for a notification";
    case WaitReason::request:
      return "for a request";
    case WaitReason::collective:
      return "in a persistent collective";
    case WaitReason::window:
      return "in a collective call on a window";
  }
  return "";
}

/// The state that the system reports of a process: 'R' runs, 'S' sleeps, 'T' is stopped, ... 0: the
/// state is not available, or the process is in another PID namespace.
char state_of(int pid) {
  char line[512];
  std::snprintf(line, sizeof line, "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(line, "re");
  if (file == nullptr) return 0;
  const std::size_t length = std::fread(line, 1, sizeof line - 1, file);
  std::fclose(file);
  line[length] = '\0';
  // The name, in parentheses, may contain any characters.
  const std::string_view text(line, length);
  const std::size_t end = text.rfind(") ");
  return end != std::string_view::npos && end + 2 < length ? text[end + 2] : '\0';
}

/// Follows the state of a process that shows no wait.
std::string how_long_quiet(const QuietPeers& quiet_peers, int process, std::uint64_t now) {
  const std::uint64_t since = quiet_peers.quiet_since(process);
  if (since == 0 || now < since + 1'000'000'000) return {};
  return "; for " + seconds(now - since) +
         " at least it has made no call on a window, except perhaps operations that go straight to "
         "memory, and their flushes";
}

std::string what_it_does(ShmTransport& node, const QuietPeers& quiet_peers, int process,
                         std::uint64_t now) {
  const char state = state_of(node.name(process).arena.pid);
  const auto shown = node.wait_sign(process).read();
  if (shown.has_value() && state != 'T' && state != 't') {
    std::string text = std::string("has waited ") +
                       in_words(static_cast<WaitReason>(shown->reason)) + " for " +
                       seconds(now - std::min(now, shown->since));
    const char* before = ", for ";
    for (const std::uint64_t id : shown->awaited) {
      if (shown->certain == 0 || id == 0) break;
      const int other = node.find(id);
      if (other < 0) continue;
      text += before + process_name(node, other);
      before = " and ";
    }
    return text;
  }
  switch (state) {
    case 'R':
      return "is in no call of Oriel's that waits; it runs" +
             how_long_quiet(quiet_peers, process, now);
    case 'T':
    case 't':
      return "has been stopped, by a signal or a debugger";
    case 'D':
      return "waits for the system, such as for a file";
    case 'S':
      return "is in no call of Oriel's that waits; it sleeps elsewhere, such as in another call of "
             "the MPI library" +
             how_long_quiet(quiet_peers, process, now);
    default:
      return "is in no call of Oriel's that waits";
  }
}

/// Processes that, with this one, wait for each other in a circle; empty: no circle is known.
class Circle {
 public:
  /// `awaited`: the peers that this process waits for.
  Circle(ShmTransport& node, const AwaitedPeers& awaited) : node_(node) {
    if (!awaited.exact) return;
    for (const AwaitedPeer& peer : awaited.peers) {
      if (follow(peer.process())) break;
    }
  }
  const std::vector<int>& members() const { return path_; }
  /// True if all waits of the circle are still as read: then they existed at the same time.
  bool holds() const {
    return !path_.empty() && std::all_of(seen_.begin(), seen_.end(), [this](const Seen& seen) {
      return node_.wait_sign(seen.process).read() == seen.shown;
    });
  }

 private:
  struct Seen {
    int process;
    ShownWait shown;
  };

  bool follow(int process) {
    if (process == node_.self()) return true;
    if (process < 0 || !visited_.insert(process).second) return false;
    const auto shown = node_.wait_sign(process).read();
    // Only waits that are certain prove a circle.
    if (!shown.has_value() || shown->certain == 0) return false;
    path_.push_back(process);
    seen_.push_back({process, *shown});
    for (const std::uint64_t id : shown->awaited) {
      if (id != 0 && follow(node_.find(id))) return true;
    }
    path_.pop_back();
    seen_.pop_back();
    return false;
  }

  ShmTransport& node_;
  std::set<int> visited_;
  std::vector<int> path_;
  std::vector<Seen> seen_;
};

std::string rank_name(int rank) {
  return "rank " + std::to_string(rank);
}

/// The condition in a sentence, such as "it waits for <condition>".
std::string condition_of(const Awaited& awaited, WaitReason reason) {
  using enum Awaited::Condition;
  const std::string rank = rank_name(awaited.rank);
  switch (awaited.condition) {
    case exposure:
      return rank + " to post";
    case completion:
      return rank + " to complete its access";
    case fence:
      // MPI_Win_free and other collective calls on a window use a fence.
      return rank + (reason == WaitReason::window ? " to make this call" : " to enter the fence");
    case lock:
      return "the lock of " + rank_name(awaited.target) +
             (awaited.rank >= 0 ? ", which " + rank + " holds"
                                : ", held by ranks that are not known");
    case lock_order:
      return "a lock that it asked for earlier, before it requests that of " +
             rank_name(awaited.target);
    case operations:
      return "operations to " + rank + " to be complete";
    case notification:
      return "a notification of " + rank;
  }
  return {};
}

std::string site_lines(const CallSite& site) {
  if (site.callers.empty()) return {};
  const CodePlace& caller = site.callers.front();
  char offset[32];
  std::snprintf(offset, sizeof offset, "0x%" PRIx64, caller.offset);
  return "  called by " + (caller.function.empty() ? "code" : caller.function) + " in " +
         caller.file + "; the line: addr2line -e " + caller.file + " " + offset + "\n";
}

/// True for the wait of a collective call, such as MPI_Win_create, for ranks that have not made the
/// call. The host does not report which ranks these are.
bool meets_ranks(const LongWait& wait) {
  return wait.wait().reason == WaitReason::window && wait.window() == 0;
}

std::string window_name(const Window& window) {
  const std::string given = printable(window.name());
  return (given.empty() ? "window number " + std::to_string(window.id())
                        : "window \"" + given + "\"") +
         ", in which this is rank " + std::to_string(window.rank()) + " of " +
         std::to_string(window.ranks());
}

}  // namespace

void QuietPeers::look(const AwaitedPeers& awaited, std::uint64_t now) {
  for (const AwaitedPeer& peer : awaited.peers) {
    const int process = peer.process();
    if (process < 0) continue;
    const std::uint64_t calls = node_.calls(process).locked();
    Seen& seen = seen_.try_emplace(process, Seen{calls, now}).first->second;
    if (seen.calls != calls) seen = {calls, now};
  }
}

std::uint64_t QuietPeers::quiet_since(int process) const {
  const std::uint64_t shown = node_.calls(process).quiet_since();
  if (shown != 0) return shown;
  const auto seen = seen_.find(process);
  return seen != seen_.end() ? seen->second.since : 0;
}

std::string LongWait::describe(const AwaitedPeers& awaited, std::uint64_t now) const {
  ShmTransport& node = engine_.running()->transports.shm();
  const CallSite site(frames_);
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::string text = "oriel: " + process_name(node, node.self()) + " on " + host +
                     " has waited for " + seconds(now - begun_) + " " +
                     (site.call.empty() ? in_words(wait_.reason) : "in " + site.call) + ".\n" +
                     site_lines(site);

  const Window* window = nullptr;
  const std::size_t listed = std::min(awaited.peers.size(), most_peers);
  for (const AwaitedPeer& peer : std::span(awaited.peers).first(listed)) {
    if (peer.window != window) {
      window = peer.window;
      text += "  on " + window_name(*window) +
              (awaited.exact ? ", it waits\n" : ", there is pending\n");
    }
    text += "    for " + condition_of(peer.awaited, wait_.reason) + ".";
    const int process = peer.process();
    if (process >= 0 && process != node.self()) {
      text += " That is " + process_name(node, process) + ", which " +
              what_it_does(node, quiet_peers_, process, now) + ".";
    } else if (peer.awaited.rank >= 0 && process < 0) {
      text += " That rank is on another node.";
    }
    text += "\n";
  }
  if (listed < awaited.peers.size()) {
    text += "  and for " + std::to_string(awaited.peers.size() - listed) + " others\n";
  }
  if (meets_ranks(*this)) {
    const char* ranks =
        site.call == "MPI_Finalize" ? "each window that has not been freed" : "the communicator";
    text += std::string("  All ranks of ") + ranks +
            " have to make this call. Which have not is not known.\n";
  } else if (listed == 0) {
    text += "  The rank that it waits for is not known.\n";
  }

  if (const Circle circle(node, awaited); circle.holds()) {
    text += "  These wait for one another, so that none can go on";
    text += engine_.lock.enabled() ? ", unless another thread of theirs ends it:" : ":";
    for (const int process : circle.members()) text += " " + process_name(node, process) + ",";
    text += " and this one.\n";
  }
  return text;
}

}  // namespace oriel
