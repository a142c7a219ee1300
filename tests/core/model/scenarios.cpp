// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios.hpp"

#include <algorithm>

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

/// Of another thread of the first rank.
bool of_thread(const std::string& script) {
  return script.find_first_not_of("wv") == std::string::npos;
}

}  // namespace

Result Scene::search(const Mutation& mutation, int kills, std::uint64_t most_states) {
  Programs programs([this](int rank) { play(rank); }, mutation);
  name_words(programs);
  return model::search(programs, {ranks(), kills, most_states, leads_},
                       [&](State& state) { return check_end(state, programs); });
}

LockScene::LockScene(Scripts scripts, bool asymmetric)
    : scripts_(std::move(scripts)), control_(ranks()) {
  for (int rank = 0; rank < ranks(); ++rank) all_.push_back(rank);
  for (const int rank : all_) sharers_.emplace_back(rank, asymmetric, all_);
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
  block.lock.shared_streak.name(programs, "shared_streak");
  block.lock.phases.name(programs, "phases");
  data_.name(programs, "data");
  for (int rank = 0; rank < ranks(); ++rank) {
    block.slots()[rank].locked.name(programs, of("locked", rank));
    block.slots()[rank].locked.give(programs, rank);
    LockNode& node = block.nodes()[rank];
    node.state.name(programs, of("state", rank));
    node.next.name(programs, of("next", rank));
    node.exclusive.name(programs, of("exclusive", rank));
    node.joins.name(programs, of("joins", rank));
    node.has_piggyback.name(programs, of("carries", rank));
    node.piggyback.name(programs, of("piggyback", rank));
  }
}

void LockScene::play(int rank) {
  const std::string& script = scripts_[static_cast<std::size_t>(rank)];
  for (std::size_t number = 0; number < script.size(); ++number) turn(rank, number, script[number]);
}

void LockScene::turn(int rank, std::size_t number, char what) {
  Sharers& sharers = sharers_[static_cast<std::size_t>(rank)];
  const bool exclusive = what == 'x' || what == 'e';
  // Where it is says all that it goes on with.
  const auto come_to = [&](std::uint64_t stage) { forget(8 * number + stage); };
  LockLine line(control_.block(), sharers);
  if (!line.acquire(rank, exclusive, what == 'j')) {
    come_to(0);
    Piggyback piggyback;
    piggyback.offset = static_cast<std::uint64_t>(rank) + 1;
    if (what == 'e') line.add_piggyback(rank, piggyback);
    if (!granted(rank)) return come_to(4);
    if (what == 'e' && control_.block().nodes()[rank].state.load(std::memory_order_relaxed) ==
                           LockNode::piggyback_done) {
      return come_to(4);
    }
  }
  come_to(1);
  if (exclusive) {
    write();
  } else {
    const std::uint32_t before = data_;
    expect(before == data_, "a writer is beside a reader");
  }
  come_to(2);
  if (line.release(rank, exclusive)) return come_to(4);
  come_to(3);
  std::vector<int> told;
  line.hand_on(told, [&](const Piggyback& piggyback) {
    expect(piggyback.offset != 0, "a piggyback was not to be seen");
    write();
    return true;
  });
  come_to(4);
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
  const auto unheld = [&](int rank) { return latest(block.slots()[rank].locked) == 0; };
  if (!std::all_of(all_.begin(), all_.end(), unheld)) return "somebody's word says that it is held";
  const bool uncounted = holders >> 61 == 1 && (holders & 0xffffffff) == 0;
  if (holders == 0 || uncounted) return {};
  for (int rank = 0; rank < ranks(); ++rank) {
    if (holders == (std::uint64_t{1} << 62 | static_cast<std::uint64_t>(rank))) return {};
  }
  return "somebody holds the lock at the end";
}

UpdateScene::UpdateScene(Scripts scripts, bool asymmetric)
    : scripts_(std::move(scripts)),
      threads_(static_cast<int>(std::ranges::count_if(scripts_, of_thread))),
      control_(ranks()),
      lines_(new Line[scripts_.size()]) {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!of_thread(scripts_[static_cast<std::size_t>(rank)])) sharing_.push_back(rank);
  }
  for (int rank = 0; rank < ranks(); ++rank) {
    const bool thread = of_thread(scripts_[static_cast<std::size_t>(rank)]);
    sharers_.emplace_back(thread ? 0 : rank, asymmetric, sharing_, this);
    line_of(rank).number = thread ? static_cast<std::uint32_t>(1 + rank - ranks() + threads_) : 0;
  }
}

std::span<const UpdateScene::Line> UpdateScene::of_rank(int rank) const {
  const std::string& script = scripts_[static_cast<std::size_t>(rank)];
  const bool own = script.find_first_of("klwv") != std::string::npos;
  if (rank == 0 && threads_ != 0) return {lines_.get(), static_cast<std::size_t>(1 + threads_)};
  return {lines_.get() + threads_ + rank, own ? std::size_t{1} : 0};
}

std::string UpdateScene::description() const {
  return "update " + joined(scripts_, sharers_[0]);
}

void UpdateScene::name_words(Programs& programs) {
  control_.block().updater.name(programs, "updater");
  control_.block().turn.name(programs, "turn");
  control_.block().singles.name(programs, "singles");
  element_.name(programs, "element");
  for (int rank = 0; rank < ranks(); ++rank) {
    control_.block().slots()[rank].updating.name(programs, of("updating", rank));
    lines_[static_cast<std::size_t>(rank)].updating.name(programs, of("thread", rank));
  }
  given_up_.name(programs, "given up");
}

void UpdateScene::play(int rank) {
  const std::string& script = scripts_[static_cast<std::size_t>(rank)];
  for (std::size_t turn = 0; turn < script.size(); ++turn) {
    const char what = script[turn];
    if (what == 'w' || what == 'v') {
      update_unlocked(rank, what == 'v');
    } else {
      update(rank, what);
    }
    forget(turn);
  }
}

/// Threads come last among the scripts, and their lines behind that of the first rank.
UpdateScene::Line& UpdateScene::line_of(int rank) {
  const int first_thread = ranks() - threads_;
  const int line = rank >= first_thread ? 1 + rank - first_thread : rank + (rank != 0) * threads_;
  return lines_[static_cast<std::size_t>(line)];
}

void UpdateScene::update_unlocked(int rank, bool whole) {
  HotUpdate held(control_.block(), sharers_[static_cast<std::size_t>(rank)], &line_of(rank));
  if (held.by_elements() && !whole) {
    count(false);
  } else if (held.alone() || held.acquire_turn(whole)) {
    count(true);
  } else {
    given_up_.fetch_add(1, std::memory_order_relaxed);
  }
}

void UpdateScene::update(int rank, char what) {
  const bool whole = what == 'a' || what == 'l';
  const bool thread = what == 'k' || what == 'l';
  const Update held(control_.block(), sharers_[static_cast<std::size_t>(rank)], whole,
                    thread ? &line_of(rank) : nullptr);
  if (held.lost()) return;
  expect(!whole || held.alone(), "not alone");
  count(held.alone());
}

// An update alone is a plain load and a plain store: what no order holds back may be lost.
void UpdateScene::count(bool alone) {
  if (alone) {
    const std::uint32_t before = element_.load(std::memory_order_relaxed);
    element_.store(before + 1, std::memory_order_relaxed);
  } else {
    element_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::string UpdateScene::check_end(State& state, Programs& programs) {
  std::uint64_t updates = 0;
  for (const std::string& script : scripts_) updates += script.size();
  const std::uint64_t made = state.latest(programs.atomic(&element_));
  const std::uint64_t given_up = state.latest(programs.atomic(&given_up_));
  return made + given_up == updates ? "" : "updates were lost";
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
      const std::uint32_t heard = bell_.read_rings();
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

TreeScene::TreeScene(int ranks, int fences) : ranks_(ranks), fences_(fences) {}

std::string TreeScene::description() const {
  return "fence tree: ranks " + std::to_string(ranks_) + ", fences " + std::to_string(fences_);
}

void TreeScene::name_words(Programs& programs) {
  tree().word(0).name(programs, "over");
  tree().word(1).name(programs, "left");
  const auto words = Tree::bytes(static_cast<std::size_t>(ranks_)) / cache_line;
  for (std::size_t i = 2; i < words; ++i) tree().word(i).name(programs, "count");
  mapped_.name(programs, "mapped");
  for (const auto& fence : written_) {
    for (int rank = 0; rank < ranks_; ++rank) {
      fence[static_cast<std::size_t>(rank)].name(programs, of("written", rank));
    }
  }
}

void TreeScene::play(int rank) {
  for (int fence = 1; fence <= fences_; ++fence) {
    auto& written = written_[static_cast<std::size_t>(fence)];
    written[static_cast<std::size_t>(rank)] = 1;
    const auto number = static_cast<std::uint64_t>(fence);
    tree().arrive(static_cast<std::size_t>(rank), number);
    for (const Loop loop; !tree().over(number); loop.again()) {
    }
    for (int other = 0; other < ranks_; ++other) {
      expect(written[static_cast<std::size_t>(other)] == 1, "what was written before is not there");
    }
    forget(number);
  }
  expect(mapped_ == 0, "the tree is gone");
  tree().depart();
  if (rank != 0) return;
  for (const Loop loop; !tree().all_departed(); loop.again()) {
  }
  mapped_ = 1;
}

WatchScene::WatchScene(int watchers) {
  for (int rank = 0; rank <= watchers; ++rank) sharers_.emplace_back(rank, true);
}

std::string WatchScene::description() const {
  return "watched word: watchers " + std::to_string(ranks() - 1);
}

void WatchScene::name_words(Programs& programs) {
  number_.name(programs, "number");
  watchers_.name(programs, "watchers");
  data_.name(programs, "data");
  for (int rank = 1; rank < ranks(); ++rank) {
    bells_[static_cast<std::size_t>(rank)].sleeping.name(programs, of("sleeping", rank));
    bells_[static_cast<std::size_t>(rank)].rings.name(programs, of("rings", rank));
  }
}

void WatchScene::play(int rank) {
  if (rank == 0) {
    announce();
  } else {
    await(static_cast<std::size_t>(rank));
  }
}

void WatchScene::announce() {
  data_ = 1;
  if (!Watched(number_, watchers_).announce(1)) return;
  for (std::size_t rank = 1; rank < sharers_.size(); ++rank) {
    if (!bells_[rank].asked_to_ring()) continue;
    bells_[rank].ring();
    bells_[rank].rings.wake();
  }
}

void WatchScene::await(std::size_t rank) {
  Watched word(number_, watchers_);
  BasicDoorbell<Words>& bell = bells_[rank];
  if (!word.announced(1) && !word.watch(1)) {
    bell.lie_down();
    sharers_[rank].fence();
    for (const Loop loop;; loop.again()) {
      const std::uint32_t heard = bell.read_rings();
      if (word.announced(1)) break;
      bell.rings.sleep_while(heard);
    }
    bell.rise();
    word.unwatch();
  }
  expect(data_ == 1, "what the number announces is not there");
}

std::string WatchScene::check_end(State& state, Programs& programs) {
  return state.latest(programs.atomic(&watchers_)) == 0 ? "" : "somebody still watches";
}

template <bool numbered>
MailboxScene<numbered>::MailboxScene(Scripts scripts) : scripts_(std::move(scripts)) {
  for (int rank = 0; rank < ranks(); ++rank) sharers_.emplace_back(rank, true);
}

template <bool numbered>
std::string MailboxScene<numbered>::description() const {
  return (numbered ? "notifications " : "mailbox ") + joined(scripts_, sharers_[0]);
}

template <bool numbered>
void MailboxScene<numbered>::name_words(Programs& programs) {
  ends_.head.name(programs, "head");
  ends_.tail.name(programs, "tail");
  for (std::size_t i = 0; i < count; ++i) {
    first_[i].name(programs, of("state", static_cast<int>(i)));
    data_[i].name(programs, of("data", static_cast<int>(i)));
  }
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    claims_[i].position.name(programs, of("position", static_cast<int>(i)));
    claims_[i].reader.name(programs, of("reader", static_cast<int>(i)));
    claims_[i].bytes.name(programs, of("bytes", static_cast<int>(i)));
  }
}

template <bool numbered>
void MailboxScene<numbered>::play(int rank) {
  if (rank != reader()) {
    const auto producer = static_cast<std::size_t>(rank);
    std::uint64_t head = 0;
    for (std::size_t record = 0; record < scripts_[producer].size(); ++record) {
      send(producer, record, head);
      forget(record << 8 | head);
    }
    return;
  }
  std::array<std::size_t, most_producers> taken{};
  std::size_t all = 0;
  for (const std::string& script : scripts_) all += script.size();
  for (std::size_t i = 0; i < all; ++i) {
    const std::optional<std::size_t> whose = next(taken);
    if (!whose.has_value()) return;
    ++taken[*whose];
    forget(taken[0] << 8 | taken[1]);
  }
}

namespace {

std::uint32_t content(std::size_t producer, std::size_t record) {
  return static_cast<std::uint32_t>(producer << 8 | (record + 1));
}

}  // namespace

template <bool numbered>
void MailboxScene<numbered>::send(std::size_t producer, std::size_t record, std::uint64_t& head) {
  const auto cells = static_cast<std::uint32_t>(scripts_[producer][record] - '0');
  Ring ring = this->ring();
  std::optional<std::uint64_t> position;
  for (const Loop loop;; loop.again()) {
    position = ring.reserve(claims_[producer], static_cast<std::int32_t>(producer), cells, head);
    if (position.has_value()) break;
    if (!Sharers::lives(static_cast<std::uint32_t>(reader()))) return;
  }
  for (std::uint64_t i = 0; i < cells; ++i) {
    data_[(*position + i) % count] = content(producer, record);
    // The bytes of a record begin behind its state, and end anywhere.
    if (i != 0) first_[(*position + i) % count].store(~std::uint64_t{0}, std::memory_order_relaxed);
  }
  ring.publish(*position, Ring::Phase::committed);
}

template <bool numbered>
std::optional<std::size_t> MailboxScene<numbered>::next(
    const std::array<std::size_t, most_producers>& taken) {
  Ring ring = this->ring();
  Sharers& sharers = sharers_[static_cast<std::size_t>(reader())];
  for (const Loop loop;; loop.again()) {
    const std::uint64_t state = ring.state_at_front();
    if (Ring::phase_of(state) == Ring::Phase::committed) return take(ring, state, taken);
    if (ring.stalled()) {
      ring.skip_dead(
          [&](std::int32_t pid) { return sharers.alive(static_cast<std::uint32_t>(pid)); }) ||
          ring.skip_claimed([&](auto&& visit) {
            for (std::size_t producer = 0; producer < scripts_.size(); ++producer) {
              visit(claims_[producer],
                    [&] { return sharers.alive(static_cast<std::uint32_t>(producer)); });
            }
          });
    } else if (over(ring, taken)) {
      return std::nullopt;
    }
  }
}

template <bool numbered>
std::size_t MailboxScene<numbered>::take(Ring& ring, std::uint64_t state,
                                         const std::array<std::size_t, most_producers>& taken) {
  const std::uint64_t position = ring.front();
  const std::uint32_t found = data_[position % count];
  const std::size_t producer = found >> 8;
  expect(producer < scripts_.size() && taken[producer] < scripts_[producer].size() &&
             found == content(producer, taken[producer]),
         "another record than the next one of its producer");
  const std::uint32_t cells = numbered ? 1 : Ring::bytes_of(state);
  expect(cells == static_cast<std::uint32_t>(scripts_[producer][taken[producer]] - '0'),
         "a record of another length");
  for (std::uint64_t i = 1; i < cells; ++i) {
    expect(data_[(position + i) % count] == found, "a record that is not whole");
  }
  ring.release_front(cells);
  return producer;
}

/// Nothing lies there, and whoever has more to send is dead.
template <bool numbered>
bool MailboxScene<numbered>::over(Ring& ring,
                                  const std::array<std::size_t, most_producers>& taken) {
  bool somebody_died = false;
  for (std::size_t producer = 0; producer < scripts_.size(); ++producer) {
    if (taken[producer] == scripts_[producer].size()) continue;
    if (Sharers::lives(static_cast<std::uint32_t>(producer))) return false;
    somebody_died = true;
  }
  return somebody_died && ends_.tail.load(std::memory_order_acquire) == ring.front() &&
         Ring::phase_of(ring.state_at_front()) == Ring::Phase::free;
}

template <bool numbered>
std::string MailboxScene<numbered>::check_end(State& state, Programs& programs) {
  const auto latest = [&](const auto& word) { return state.latest(programs.atomic(&word)); };
  if (latest(ends_.head) != latest(ends_.tail)) return "something is left in the mailbox";
  for (const Word& word : first_) {
    if (!numbered && latest(word) != 0) return "a free cell is not clean";
  }
  return {};
}

template class MailboxScene<false>;
template class MailboxScene<true>;

}  // namespace oriel::model
