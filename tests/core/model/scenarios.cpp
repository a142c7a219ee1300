// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios.hpp"

namespace oriel::model {
namespace {

std::string of(const char* name, int rank) {
  return std::string(name) + "[" + std::to_string(rank) + "]";
}

std::string joined(const std::vector<std::string>& scripts, const Sharers& sharers) {
  std::string all;
  for (const std::string& script : scripts) all += (all.empty() ? "" : " | ") + script;
  return all + (sharers.asymmetric() ? "" : ", fences on both sides");
}

}  // namespace

Result Scene::search(const Mutation& mutation, int kills, std::uint64_t most_states) {
  Programs programs([this](int rank) { play(rank); }, mutation);
  name_words(programs);
  return model::search(programs, {ranks(), kills, most_states},
                       [&](State& state) { return check_end(state, programs); });
}

LockScene::LockScene(Scripts scripts, bool asymmetric)
    : scripts_(std::move(scripts)), control_(ranks()) {
  for (int rank = 0; rank < ranks(); ++rank) sharers_.emplace_back(rank, asymmetric);
}

std::string LockScene::description() const {
  return "lock " + joined(scripts_, sharers_[0]);
}

void LockScene::name_words(Programs& programs) {
  Control::Block& block = control_.block();
  block.lock.holders.name(programs, "holders");
  block.lock.line.name(programs, "line");
  block.lock.contended.name(programs, "contended");
  block.lock.head.name(programs, "head");
  block.lock.tail.name(programs, "tail");
  block.lock.joiners.name(programs, "joiners");
  block.lock.last.name(programs, "last");
  block.lock.streak.name(programs, "streak");
  data_.name(programs, "data");
  for (int rank = 0; rank < ranks(); ++rank) {
    block.slots()[rank].locked.name(programs, of("locked", rank));
    LockNode& node = block.nodes()[rank];
    node.state.name(programs, of("state", rank));
    node.next.name(programs, of("next", rank));
    node.exclusive.name(programs, of("exclusive", rank));
    node.joins.name(programs, of("joins", rank));
    node.carries.name(programs, of("carries", rank));
    node.errand.name(programs, of("errand", rank));
  }
}

void LockScene::play(int rank) {
  const std::string& script = scripts_[static_cast<std::size_t>(rank)];
  for (std::size_t turn = 0; turn < script.size(); ++turn) {
    this->turn(rank, script[turn]);
    forget(turn);
  }
}

void LockScene::turn(int rank, char what) {
  Sharers& sharers = sharers_[static_cast<std::size_t>(rank)];
  const bool exclusive = what == 'x' || what == 'e';
  LockLine line(control_.block(), sharers);
  if (!line.acquire(rank, exclusive, what == 'j')) {
    Errand errand;
    errand.offset = static_cast<std::uint64_t>(rank) + 1;
    if (what == 'e') line.leave(rank, errand);
    if (!granted(rank)) return;
    if (what == 'e' && control_.block().nodes()[rank].state.load(std::memory_order_relaxed) ==
                           LockNode::carried_out) {
      return;
    }
  }
  if (exclusive) {
    write();
  } else {
    const std::uint32_t before = data_;
    expect(before == data_, "a writer is beside a reader");
  }
  if (line.release(rank, exclusive)) return;
  std::vector<int> told;
  line.hand_on(told, [&](const Errand& errand) {
    expect(errand.offset != 0, "an errand was not to be seen");
    write();
    return true;
  });
}

void LockScene::write() {
  const std::uint32_t before = data_;
  data_ = before + 1;
  expect(data_ == before + 1, "two writers at a time");
}

// As a blocking call of MPI waits.
bool LockScene::granted(int rank) {
  for (const Loop loop;; loop.again()) {
    if (control_.block().nodes()[rank].state.load(std::memory_order_acquire) != LockNode::waiting) {
      return true;
    }
    for (int other = 0; other < ranks(); ++other) {
      if (other != rank && !Sharers::lives(static_cast<std::uint32_t>(other))) return false;
    }
  }
}

std::string LockScene::check_end(State& state, Programs& programs) {
  std::uint32_t writes = 0;
  for (const std::string& script : scripts_) {
    for (const char what : script) writes += what == 'x' || what == 'e' ? 1 : 0;
  }
  Control::Block& block = control_.block();
  const auto latest = [&](const auto& word) { return state.latest(programs.atomic(&word)); };
  if (state.fixed.plain[programs.plain(&data_)] != writes) return "writes were lost";
  if (latest(block.lock.line) != 0) return "the line is not empty at the end";
  const std::uint64_t holders = latest(block.lock.holders);
  if (holders == 0) return {};
  for (int rank = 0; rank < ranks(); ++rank) {
    if (holders == (std::uint64_t{1} << 62 | static_cast<std::uint64_t>(rank)) &&
        latest(block.slots()[rank].locked) == 0) {
      return {};
    }
  }
  return "somebody holds the lock at the end";
}

UpdateScene::UpdateScene(Scripts scripts, bool asymmetric)
    : scripts_(std::move(scripts)), control_(ranks()) {
  for (int rank = 0; rank < ranks(); ++rank) sharers_.emplace_back(rank, asymmetric);
}

std::string UpdateScene::description() const {
  return "update " + joined(scripts_, sharers_[0]);
}

void UpdateScene::name_words(Programs& programs) {
  control_.block().updater.name(programs, "updater");
  element_.name(programs, "element");
  for (int rank = 0; rank < ranks(); ++rank) {
    control_.block().slots()[rank].updating.name(programs, of("updating", rank));
  }
}

void UpdateScene::play(int rank) {
  const std::string& script = scripts_[static_cast<std::size_t>(rank)];
  for (std::size_t turn = 0; turn < script.size(); ++turn) {
    update(rank, script[turn] == 'a');
    forget(turn);
  }
}

// An update alone is a plain load and a plain store: what no order holds back may be lost.
void UpdateScene::update(int rank, bool alone) {
  const Update held(control_.block(), sharers_[static_cast<std::size_t>(rank)], alone);
  if (held.lost()) return;
  expect(!alone || held.alone(), "not alone");
  if (held.alone()) {
    const std::uint32_t before = element_.load(std::memory_order_relaxed);
    element_.store(before + 1, std::memory_order_relaxed);
  } else {
    element_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::string UpdateScene::check_end(State& state, Programs& programs) {
  std::uint64_t updates = 0;
  for (const std::string& script : scripts_) updates += script.size();
  return state.latest(programs.atomic(&element_)) == updates ? "" : "updates were lost";
}

SleepScene::SleepScene(int storers, int words, int sleepers)
    : storers_(storers), words_(words), sleepers_(sleepers), sleeper_(storers, true) {}

std::string SleepScene::description() const {
  return "sleep: storers " + std::to_string(storers_) + ", words " + std::to_string(words_) +
         ", sleepers " + std::to_string(sleepers_);
}

void SleepScene::name_words(Programs& programs) {
  bell_.sleeping.name(programs, "sleeping");
  bell_.rings.name(programs, "rings");
  for (int rank = 0; rank < storers_; ++rank) {
    const Stored& stored = stored_[static_cast<std::size_t>(rank)];
    stored.word.name(programs, of("stored", rank));
    for (const auto& data : stored.data) data.name(programs, of("data", rank));
  }
}

void SleepScene::play(int rank) {
  for (std::uint32_t value = 1; value <= static_cast<std::uint32_t>(words_); ++value) {
    if (rank < storers_) {
      store(rank, value);
    } else {
      for (int storer = 0; storer < storers_; ++storer) await(storer, value);
    }
    forget(value);
  }
}

void SleepScene::store(int storer, std::uint32_t value) {
  Stored& stored = stored_[static_cast<std::size_t>(storer)];
  stored.data[value] = value;
  stored.word.store(value, std::memory_order_release);
  if (!bell_.asked_to_ring()) return;
  bell_.ring();
  bell_.rings.wake();
}

void SleepScene::await(int storer, std::uint32_t value) {
  Stored& stored = stored_[static_cast<std::size_t>(storer)];
  if (stored.word.load(std::memory_order_acquire) < value) {
    bell_.lie_down();
    sleeper_.fence();
    for (const Loop loop;; loop.again()) {
      const std::uint32_t heard = bell_.heard();
      if (stored.word.load(std::memory_order_acquire) >= value) break;
      bell_.rings.sleep_while(heard);
    }
    bell_.rise();
  }
  expect(stored.data[value] == value, "what the word announces is not there");
}

std::string SleepScene::check_end(State& state, Programs& programs) {
  return state.latest(programs.atomic(&bell_.sleeping)) == 0 ? "" : "somebody still sleeps";
}

}  // namespace oriel::model
