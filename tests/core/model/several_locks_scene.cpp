// SPDX-License-Identifier: BSD-3-Clause
#include "several_locks_scene.hpp"

#include <utility>

namespace oriel::model {

SeveralLocksScene::SeveralLocksScene(Scripts scripts) : scripts_(std::move(scripts)) {
  for (int lock = 0; lock < locks; ++lock) locks_.emplace_back(ranks());
  for (int rank = 0; rank < ranks(); ++rank) all_.push_back(rank);
  for (const int rank : all_) sharers_.emplace_back(rank, true, all_);
}

std::string SeveralLocksScene::description() const {
  std::string all = "several locks";
  for (const std::string& script : scripts_)
    all += (&script == &scripts_[0] ? " " : " | ") + script;
  return all;
}

void SeveralLocksScene::name_words(Programs& programs) {
  for (int number = 0; number < locks; ++number) {
    Lock& lock = locks_[static_cast<std::size_t>(number)];
    const auto of = [&](const char* name) { return name + std::to_string(number); };
    Control::Block& block = lock.control.block();
    block.lock.holders.name(programs, of("holders"));
    block.lock.line.name(programs, of("line"));
    block.lock.contended.name(programs, of("contended"));
    block.lock.head.name(programs, of("head"));
    block.lock.tail.name(programs, of("tail"));
    block.lock.joiners.name(programs, of("joiners"));
    block.lock.last.name(programs, of("last"));
    block.lock.streak.name(programs, of("streak"));
    lock.data.name(programs, of("data"));
    for (const int rank : all_) {
      const auto of_rank = [&](const char* name) {
        return of(name) + "[" + std::to_string(rank) + "]";
      };
      block.slots()[rank].locked.name(programs, of_rank("locked"));
      block.slots()[rank].locked.give(programs, rank);
      LockNode& node = block.nodes()[rank];
      node.state.name(programs, of_rank("state"));
      node.next.name(programs, of_rank("next"));
      node.exclusive.name(programs, of_rank("exclusive"));
      node.joins.name(programs, of_rank("joins"));
      node.has_piggyback.name(programs, of_rank("carries"));
    }
  }
}

void SeveralLocksScene::play(int rank) {
  const std::string& script = scripts_[static_cast<std::size_t>(rank)];
  // As LockOrder does, unless the order is broken on purpose.
  const bool in_order = !mutated_code("requested before the earlier one is held");
  std::uint64_t stage = 0;
  std::array<bool, locks> awaited{};
  for (const char digit : script) {
    const auto number = static_cast<std::size_t>(digit - '0');
    awaited[number] = !request(rank, locks_[number]);
    if (in_order && std::exchange(awaited[number], false)) await(rank, locks_[number]);
    forget(8 * ++stage + (awaited[0] ? 1 : 0) + (awaited[1] ? 2 : 0));
  }
  for (std::size_t number = 0; number < awaited.size(); ++number) {
    if (awaited[number]) await(rank, locks_[number]);
  }
  forget(8 * ++stage);
  for (const char digit : script) {
    Lock& lock = locks_[static_cast<std::size_t>(digit - '0')];
    const std::uint32_t before = lock.data;
    lock.data = before + 1;
    expect(lock.data == before + 1, "two writers at a time");
  }
  for (const char digit : script) {
    forget(8 * ++stage);
    give_back(rank, locks_[static_cast<std::size_t>(digit - '0')]);
  }
}

bool SeveralLocksScene::request(int rank, Lock& lock) {
  return LockLine(lock.control.block(), sharers_[static_cast<std::size_t>(rank)])
      .acquire(rank, true, false);
}

void SeveralLocksScene::await(int rank, Lock& lock) {
  for (const Loop loop;; loop.again()) {
    const LockNode& node = lock.control.block().nodes()[rank];
    if (node.state.load(std::memory_order_acquire) != LockNode::waiting) return;
  }
}

void SeveralLocksScene::give_back(int rank, Lock& lock) {
  LockLine line(lock.control.block(), sharers_[static_cast<std::size_t>(rank)]);
  if (line.release(rank, true)) return;
  std::vector<int> told;
  line.hand_on(told, [](const Piggyback&) { return true; });
}

std::string SeveralLocksScene::check_end(State& state, Programs& programs) {
  for (std::size_t number = 0; number < locks_.size(); ++number) {
    std::uint32_t writes = 0;
    for (const std::string& script : scripts_)
      writes += script.find(static_cast<char>('0' + number)) != std::string::npos ? 1 : 0;
    if (state.fixed.plain[programs.plain(&locks_[number].data)] != writes)
      return "writes were lost";
  }
  return {};
}

}  // namespace oriel::model
