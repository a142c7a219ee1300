// SPDX-License-Identifier: BSD-3-Clause
#include "search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <vector>

namespace oriel::model {
namespace {

/// What a rank does next, in a state: which of the messages it reads, or where it stores.
struct Move {
  std::uint8_t rank = 0;
  std::uint8_t choice = 0;
  bool kill = false;
};

/// The states seen, by their hash.
class Seen {
 public:
  Seen() : slots_(std::size_t{1} << 16) {}

  /// Its number, and whether it is new.
  std::pair<std::uint32_t, bool> add(std::uint64_t hash) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = place(slots_, hash);
    if (slot.number != 0) return {slot.number - 1, false};
    slot = {hash, ++size_};
    return {size_ - 1, true};
  }
  std::uint32_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t number = 0;  // + 1
  };
  static Slot& place(std::vector<Slot>& slots, std::uint64_t hash) {
    std::size_t at = hash & (slots.size() - 1);
    while (slots[at].number != 0 && slots[at].hash != hash) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }
  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& slot : slots_) {
      if (slot.number != 0) place(larger, slot.hash) = slot;
    }
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;
  std::uint32_t size_ = 0;
};

/// States that wait for their turn, in as few bytes as they have.
class Frontier {
 public:
  void push(const State& state) {
    if (chunks_.empty() || chunks_.back().size() > chunk_bytes) chunks_.emplace_back();
    std::vector<std::byte>& bytes = chunks_.back();
    append(bytes, &state.fixed, sizeof state.fixed);
    append(bytes, state.messages.data(), state.fixed.messages * sizeof(Message));
  }
  bool empty() const {
    return chunks_.empty() || (chunks_.size() == 1 && at_ == chunks_[0].size());
  }
  void pop(State& state) {
    if (at_ == chunks_.front().size()) {
      chunks_.pop_front();
      at_ = 0;
    }
    const std::byte* from = chunks_.front().data() + at_;
    std::memcpy(&state.fixed, from, sizeof state.fixed);
    const std::size_t rest = state.fixed.messages * sizeof(Message);
    std::memcpy(state.messages.data(), from + sizeof state.fixed, rest);
    at_ += sizeof state.fixed + rest;
  }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  static void append(std::vector<std::byte>& to, const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    to.insert(to.end(), from, from + bytes);
  }
  std::deque<std::vector<std::byte>> chunks_;
  std::size_t at_ = 0;
};

class Search {
 public:
  Search(Programs& programs, const Bounds& bounds, const std::function<std::string(State&)>& at_end)
      : programs_(programs), bounds_(bounds), at_end_(at_end) {}

  Result run() {
    State state = first();
    for (const Lead& lead : bounds_.leads) follow(state, lead);
    if (!arrive(state, 0, {})) return result_;
    for (std::uint32_t from = 0; !frontier_.empty(); ++from) {
      frontier_.pop(state);
      if (seen_.size() > bounds_.most_states) {
        result_.complete = false;
        break;
      }
      if (!expand(state, from)) break;
    }
    result_.states = seen_.size();
    result_.nodes = programs_.nodes();
    if (result_.violation.empty() && result_.complete) look_for_stuck();
    return result_;
  }

 private:
  State first() {
    State state;
    state.fixed.kills = static_cast<std::uint8_t>(bounds_.kills);
    for (int rank = 0; rank < most_ranks; ++rank) {
      if (rank >= bounds_.ranks) {
        state.fixed.over |= 1 << rank;
      } else {
        state.fixed.node[rank] = programs_.start(rank);
      }
    }
    for (int rank = 0; rank < bounds_.ranks; ++rank) hurry(state, rank);
    return state;
  }

  void follow(State& state, const Lead& lead) {
    constexpr int most_steps = 200;
    for (int steps = 0; !state.gone(lead.rank) && violation_.empty(); ++steps) {
      if (!lead.until.empty() && (steps == most_steps || next_step(state, lead.rank) == lead.until))
        return;
      take(state, lead.rank, choices(state, lead.rank) - 1);
      if (violation_.empty()) hurry(state, lead.rank);
      if (lead.until.empty()) return;
    }
  }
  /// As the lines of a trace begin.
  std::string next_step(const State& state, int rank) const {
    const Step& step = programs_.step(state.fixed.node[rank]);
    const std::string word = programs_.name(step.kind, step.word);
    switch (step.kind) {
      case Kind::load:
        return "load " + word;
      case Kind::store:
        return "store " + word + " = " + std::to_string(step.value);
      case Kind::exchange:
        return "exchange " + word;
      case Kind::add:
        return "add " + word;
      case Kind::compare_exchange:
        return "compare-exchange " + word;
      default:
        return {};
    }
  }

  bool expand(const State& from, std::uint32_t number) {
    State& state = scratch_;
    for (int rank = 0; rank < bounds_.ranks; ++rank) {
      if (from.gone(rank)) continue;
      if (from.fixed.kills != 0) {
        state.become(from);
        --state.fixed.kills;
        state.fixed.dead |= 1 << rank;
        state.fixed.asleep[rank] = 0;
        state.fixed.node[rank] = 0;
        if (!arrive(state, number, {static_cast<std::uint8_t>(rank), 0, true})) return false;
      }
      if (from.fixed.asleep[rank] != 0) continue;
      const int choices = this->choices(from, rank);
      for (int choice = 0; choice < choices; ++choice) {
        state.become(from);
        const Move move{static_cast<std::uint8_t>(rank), static_cast<std::uint8_t>(choice), false};
        if (!take(state, rank, choice)) continue;
        if (violation_.empty()) hurry(state, rank);
        if (!arrive(state, number, move)) return false;
      }
    }
    return true;
  }

  int choices(const State& state, int rank) {
    const Step& step = programs_.step(state.fixed.node[rank]);
    switch (step.kind) {
      case Kind::load:
      case Kind::exchange:
      case Kind::add:
        return state.count(step.word) - state.oldest(rank, step.word, step.order);
      case Kind::compare_exchange:
        return state.count(step.word) - state.fixed.view[rank].at[step.word];
      case Kind::store:
        return state.count(step.word) - state.oldest(rank, step.word, step.order);
      default:
        return 1;
    }
  }

  /// False: not one of the rank's choices after all.
  bool take(State& state, int rank, int choice) {
    const Step& step = programs_.step(state.fixed.node[rank]);
    const int word = step.word;
    std::uint64_t answer = 0;
    switch (step.kind) {
      case Kind::load:
        answer = state.load(rank, word, state.oldest(rank, word, step.order) + choice, step.order);
        break;
      case Kind::store: {
        const int index = state.oldest(rank, word, step.order) + choice + 1;
        if (!state.open_before(word, index)) return false;
        state.store(rank, word, index, step.value, step.order);
        break;
      }
      case Kind::exchange:
      case Kind::add: {
        const int index = state.oldest(rank, word, step.order) + choice;
        if (!state.open_before(word, index + 1)) return false;
        answer = state.begin(word)[index].value;
        state.modify(rank, word, index, step.kind == Kind::add ? answer + step.value : step.value,
                     step.order);
        break;
      }
      case Kind::compare_exchange: {
        const int index = state.fixed.view[rank].at[word] + choice;
        answer = state.begin(word)[index].value;
        const bool same = answer == step.expected;
        if (index < state.oldest(rank, word, same ? step.order : step.failing)) return false;
        if (same && !state.open_before(word, index + 1)) return false;
        if (same) {
          state.modify(rank, word, index, step.value, step.order);
        } else {
          state.load(rank, word, index, step.failing);
        }
        break;
      }
      case Kind::read_plain: {
        std::uint32_t value = 0;
        if (!state.read_plain(rank, word, value))
          violation_ = "a race: read of " + programs_.name(step.kind, word);
        answer = value;
        break;
      }
      case Kind::write_plain:
        if (!state.write_plain(rank, word, static_cast<std::uint32_t>(step.value))) {
          violation_ = "a race: write of " + programs_.name(step.kind, word);
        }
        break;
      case Kind::fence:
        state.fence();
        break;
      case Kind::alive:
        answer = (state.fixed.dead >> word & 1) == 0 ? 1 : 0;
        if (answer == 0) state.fixed.view[rank].join(state.fixed.view[word]);
        break;
      case Kind::sleep:
        // The kernel looks at the word and goes to sleep in one step.
        state.fixed.view[rank].at[word] = static_cast<std::uint8_t>(state.count(word) - 1);
        if (state.latest(word) == step.expected) {
          state.fixed.asleep[rank] = static_cast<std::uint8_t>(word + 1);
        }
        break;
      case Kind::wake:
        for (std::uint8_t& asleep : state.fixed.asleep) asleep = asleep == word + 1 ? 0 : asleep;
        break;
      case Kind::jump:
      case Kind::over:
      case Kind::fail:
        break;
    }
    go_on(state, rank, answer);
    return true;
  }

  void go_on(State& state, int rank, std::uint64_t answer) {
    const std::uint32_t node = programs_.next(state.fixed.node[rank], answer);
    state.fixed.node[rank] = node;
    const Step& step = programs_.step(node);
    if (step.kind == Kind::fail) violation_ = "rank " + std::to_string(rank) + ": " + step.text;
    if (step.kind == Kind::over) {
      state.fixed.over |= 1 << rank;
      state.fixed.node[rank] = 0;
    }
  }

  /// Steps that commute with all of the others' are taken at once: what is plain (or races, which
  /// is found in any order), looks whether somebody lives when nobody dies, and loads of what
  /// nobody else stores.
  void hurry(State& state, int rank) {
    while (violation_.empty() && !state.gone(rank) && state.fixed.asleep[rank] == 0) {
      const Step& step = programs_.step(state.fixed.node[rank]);
      const bool plain = step.kind == Kind::read_plain || step.kind == Kind::write_plain;
      const bool none_dies = step.kind == Kind::alive && state.fixed.kills == 0;
      const bool own = step.kind == Kind::load && step.own;
      if (!plain && !none_dies && !own) return;
      take(state, rank, 0);
    }
  }

  bool finished(const State& state) const {
    return (state.fixed.dead | state.fixed.over) == (1 << most_ranks) - 1;
  }

  /// False: the search is over.
  bool arrive(State& state, std::uint32_t from, Move move) {
    if (violation_.empty() && finished(state) && state.fixed.dead == 0) violation_ = at_end_(state);
    if (!violation_.empty()) {
      result_.violation = violation_;
      moves_.push_back(move);
      parents_.push_back(from);
      trace(static_cast<std::uint32_t>(parents_.size() - 1));
      return false;
    }
    state.normalize();
    const auto [number, fresh] = seen_.add(state.hash());
    ++result_.steps;
    edges_.emplace_back(from, number);
    if (!fresh) return true;
    parents_.push_back(from);
    moves_.push_back(move);
    frontier_.push(state);
    if (finished(state)) ends_.push_back(number);
    return true;
  }

  /// Some state from which nobody gets to the end.
  void look_for_stuck() {
    const std::size_t states = seen_.size();
    std::vector<std::uint32_t> first(states + 1);
    for (const auto& [from, to] : edges_) ++first[to + 1];
    for (std::size_t i = 0; i < states; ++i) first[i + 1] += first[i];
    std::vector<std::uint32_t> into(edges_.size());
    std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
    for (const auto& [from, to] : edges_) into[fill[to]++] = from;
    std::vector<bool> good(states);
    std::vector<std::uint32_t> stack = ends_;
    for (const std::uint32_t end : ends_) good[end] = true;
    while (!stack.empty()) {
      const std::uint32_t state = stack.back();
      stack.pop_back();
      for (std::uint32_t i = first[state]; i < first[state + 1]; ++i) {
        if (good[into[i]]) continue;
        good[into[i]] = true;
        stack.push_back(into[i]);
      }
    }
    const auto stuck = std::ranges::find(good, false);
    if (stuck == good.end()) return;
    result_.violation = "stuck: not all ranks that live can finish";
    trace(static_cast<std::uint32_t>(stuck - good.begin()));
  }

  std::string describe(const State& state, const Move& move, State& mutable_state) {
    std::string line = "  rank " + std::to_string(move.rank) + ": ";
    if (move.kill) return line + "killed";
    const Step& step = programs_.step(state.fixed.node[move.rank]);
    const auto name = [&] { return programs_.name(step.kind, step.word); };
    const auto chosen = [&](int first) {
      return std::to_string(mutable_state.begin(step.word)[first + move.choice].value) + " (" +
             std::to_string(mutable_state.count(step.word) - first - move.choice - 1) + " behind)";
    };
    const int oldest = mutable_state.oldest(move.rank, step.word % most_atomics, step.order);
    const int seen = state.fixed.view[move.rank].at[step.word % most_atomics];
    switch (step.kind) {
      case Kind::load:
        return line + "load " + name() + " -> " + chosen(oldest);
      case Kind::store:
        return line + "store " + name() + " = " + std::to_string(step.value);
      case Kind::exchange:
        return line + "exchange " + name() + " = " + std::to_string(step.value) + ", was " +
               chosen(oldest);
      case Kind::add:
        return line + "add " + name() + " + " +
               std::to_string(static_cast<std::int64_t>(step.value)) + ", was " + chosen(oldest);
      case Kind::compare_exchange:
        return line + "compare-exchange " + name() + " " + std::to_string(step.expected) + " -> " +
               std::to_string(step.value) + ", was " + chosen(seen);
      case Kind::fence:
        return line + "membarrier";
      case Kind::alive:
        return line + "does rank " + std::to_string(step.word) + " live?";
      case Kind::sleep:
        return line + "sleep while " + name() + " = " + std::to_string(step.expected);
      case Kind::wake:
        return line + "wake those asleep on " + name();
      default:
        return line + "a step";
    }
  }

  /// The way to a state, from its parents.
  void trace(std::uint32_t number) {
    std::vector<Move> moves;
    for (std::uint32_t at = number; at != 0; at = parents_[at]) moves.push_back(moves_[at]);
    violation_.clear();
    State state = first();
    for (const Lead& lead : bounds_.leads) follow(state, lead);
    state.normalize();
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
      State copy = state;
      result_.trace += describe(state, *move, copy) + "\n";
      if (move->kill) {
        --state.fixed.kills;
        state.fixed.dead |= 1 << move->rank;
        state.fixed.asleep[move->rank] = 0;
        state.fixed.node[move->rank] = 0;
      } else {
        take(state, move->rank, move->choice);
        if (violation_.empty()) hurry(state, move->rank);
      }
      state.normalize();
    }
  }

  Programs& programs_;
  Bounds bounds_;
  const std::function<std::string(State&)>& at_end_;
  Result result_;
  std::string violation_;
  State scratch_;
  Seen seen_;
  Frontier frontier_;
  std::vector<std::uint32_t> parents_;
  std::vector<Move> moves_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace

Result search(Programs& programs, const Bounds& bounds,
              const std::function<std::string(State&)>& at_end) {
  return Search(programs, bounds, at_end).run();
}

}  // namespace oriel::model
