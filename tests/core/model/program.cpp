// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <algorithm>
#include <cstdlib>

#include "memory.hpp"

namespace oriel::model {
namespace {

std::uint8_t number(std::vector<const void*>& known, const void* address, int most) {
  const auto found = std::ranges::find(known, address);
  if (found == known.end()) {
    if (static_cast<int>(known.size()) == most) std::abort();  // too many words for this checker
    known.push_back(address);
    return static_cast<std::uint8_t>(known.size() - 1);
  }
  return static_cast<std::uint8_t>(found - known.begin());
}

}  // namespace

std::uint8_t Programs::atomic(const void* address) {
  return number(atomics_, address, most_atomics);
}

std::uint8_t Programs::plain(const void* address) {
  return number(plains_, address, most_plain);
}

int Programs::owner(const void* address) const {
  const auto found = owners_.find(address);
  return found == owners_.end() ? -1 : found->second;
}

std::string Programs::name(Kind kind, int word) const {
  const bool plain = kind == Kind::read_plain || kind == Kind::write_plain;
  const auto& words = plain ? plains_ : atomics_;
  const auto found = names_.find(words[static_cast<std::size_t>(word)]);
  return found == names_.end() ? "word " + std::to_string(word) : found->second;
}

bool Programs::mutated(Mutation::Kind kind, const void* address) const {
  if (mutation_.kind != kind) return false;
  const auto found = names_.find(address);
  return found != names_.end() &&
         found->second.substr(0, found->second.find('[')) == mutation_.word;
}

std::uint32_t Programs::start(int rank) {
  return discover(rank, {}, {});
}

std::uint32_t Programs::next(std::uint32_t node, std::uint64_t answer) {
  for (const auto& [known, to] : nodes_[node].next) {
    if (known == answer) return to;
  }
  std::vector<std::uint64_t> answers = nodes_[node].answers;
  std::vector<std::uint32_t> trail = nodes_[node].trail;
  answers.push_back(answer);
  trail.push_back(node);
  const std::uint32_t to = discover(nodes_[node].rank, std::move(answers), std::move(trail));
  nodes_[node].next.emplace_back(answer, to);
  return to;
}

std::uint32_t Programs::discover(int rank, std::vector<std::uint64_t> answers,
                                 std::vector<std::uint32_t> trail) {
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({rank, {}, std::move(answers), std::move(trail), {}});
  // The run asks where it is: this node is the end of its trail.
  const std::vector<std::uint64_t> known = nodes_[id].answers;
  std::vector<std::uint32_t> passed = nodes_[id].trail;
  passed.push_back(id);
  Run run(*this, rank, known, passed);
  const Step step = run.go(code_);
  nodes_[id].step = step;
  if (step.kind != Kind::jump) return id;
  // Nothing that the rank remembers differs from what it remembered there.
  const auto [place, fresh] = places_.try_emplace({rank, step.value}, 0);
  if (!fresh) return place->second;
  if (const auto head = static_cast<std::uint32_t>(step.expected); head != 0) {
    return place->second = head - 1;
  }
  const std::uint32_t to = next(id, 0);
  places_[{rank, step.value}] = to;
  return to;
}

std::uint32_t Run::place() const {
  return trail_[std::min(done_, trail_.size() - 1)];
}

std::uint32_t Run::found_dead_since(std::size_t done) const {
  std::uint32_t ranks = 0;
  for (const auto& [when, rank] : found_dead_) ranks |= when > done ? 1U << rank : 0;
  return ranks;
}

std::uint64_t Run::step(const Step& step) {
  if (stopped_) return 0;
  if (late_pending_ && step.kind != Kind::load) issue_late();
  if (found_) {
    // A step without an answer may be a destructor's, so what follows it was let run on.
    if (!step.asks() && step.kind != Kind::jump && step.kind != Kind::fail) return 0;
    stopped_ = true;
    throw Stop();
  }
  if (done_ == answers_.size()) {
    found_ = true;
    found_step_ = step;
    if (!step.asks() && step.kind != Kind::jump && step.kind != Kind::fail) return 0;
    stopped_ = true;
    throw Stop();
  }
  const std::uint64_t answer = answers_[done_++];
  if (step.kind == Kind::alive && answer == 0) found_dead_.emplace_back(done_, step.word);
  if (late_pending_) issue_late();
  return answer;
}

void Run::store(const Step& step, bool late) {
  if (!late) {
    this->step(step);
    return;
  }
  if (stopped_) return;
  if (late_pending_) issue_late();
  late_pending_ = true;
  late_ = step;
}

void Run::issue_late() {
  late_pending_ = false;
  step(late_);
}

void Run::fail(const std::string& why) {
  Step step;
  step.kind = Kind::fail;
  step.text = why;
  this->step(step);
  std::abort();  // a failed step has no answer
}

Step Run::go(const Programs::Code& code) {
  Run* const before = current_;
  current_ = this;
  try {
    code(rank_);
    if (late_pending_) issue_late();
  } catch (const Stop&) {
  }
  current_ = before;
  return found_ ? found_step_ : Step{};
}

}  // namespace oriel::model
