// SPDX-License-Identifier: BSD-3-Clause
#include "laden_scene.hpp"

#include <algorithm>
#include <utility>

namespace oriel::model {
namespace {

std::string of(const char* name, std::size_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

std::uint32_t content(std::size_t producer, std::size_t record) {
  return static_cast<std::uint32_t>(producer << 8 | (record + 1));
}

/// What the reader's program makes of it.
std::uint32_t overwritten(std::uint32_t content) {
  return content | 0x8000;
}

}  // namespace

LadenScene::LadenScene(Scripts scripts, bool overwrites, bool asymmetric)
    : scripts_(std::move(scripts)), overwrites_(overwrites) {
  for (int rank = 0; rank < ranks(); ++rank) sharers_.emplace_back(rank, asymmetric);
}

std::string LadenScene::description() const {
  std::string all = "inlined stores";
  for (const std::string& script : scripts_)
    all += (&script == &scripts_[0] ? " " : " | ") + script;
  return all + (overwrites_ ? ", overwritten" : "") +
         (sharers_[0].asymmetric() ? "" : ", fences on both sides");
}

void LadenScene::name_words(Programs& programs) {
  ends_.head.name(programs, "head");
  ends_.taking.name(programs, "taking");
  ends_.tail.name(programs, "tail");
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    published_[i].name(programs, of("published", i));
  }
  for (std::size_t i = 0; i < count; ++i) {
    states_[i].name(programs, of("state", i));
    lines_[i].name(programs, of("line", i));
  }
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    claims_[i].position.name(programs, of("position", i));
    claims_[i].reader.name(programs, of("reader", i));
    claims_[i].bytes.name(programs, of("bytes", i));
    for (std::size_t k = 0; k < most_records; ++k) memory_[i][k].name(programs, of("memory", k));
  }
}

std::size_t LadenScene::records_of(std::size_t producer) const {
  const std::string& script = scripts_[producer];
  return script.size() - static_cast<std::size_t>(std::ranges::count(script, 'f'));
}

void LadenScene::play(int rank) {
  if (rank == reader()) {
    consume();
  } else {
    produce(static_cast<std::size_t>(rank));
  }
}

void LadenScene::produce(std::size_t producer) {
  std::uint64_t head = 0;
  std::size_t records = 0;
  std::vector<std::uint64_t> laden;
  for (const char what : scripts_[producer]) {
    if (what == 'f') {
      if (!flush(producer, laden, records)) return;
      laden.clear();
    } else {
      const auto position = send(producer, records++, what == 'i', head);
      if (!position.has_value()) return;
      published_[producer] = static_cast<std::uint32_t>(records);
      if (what == 'i') laden.push_back(*position);
    }
    std::uint64_t known = records << 8 | head;
    for (const std::uint64_t position : laden) known |= std::uint64_t{1} << (16 + position);
    forget(known);
  }
}

std::optional<std::uint64_t> LadenScene::send(std::size_t producer, std::size_t record,
                                              bool inlined, std::uint64_t& head) {
  Ring ring = this->ring();
  std::optional<std::uint64_t> position;
  for (const Loop loop;; loop.again()) {
    position = ring.reserve(claims_[producer], static_cast<std::int32_t>(producer), 0, head);
    if (position.has_value()) break;
    if (!Sharers::lives(static_cast<std::uint32_t>(reader()))) return std::nullopt;
  }
  lines_[*position % count] = content(producer, record);
  if (!inlined) memory_[producer][record] = content(producer, record);
  ring.publish(*position, inlined ? Ring::Phase::laden : Ring::Phase::committed);
  return position;
}

bool LadenScene::flush(std::size_t producer, const std::vector<std::uint64_t>& laden,
                       std::size_t records) {
  Ring ring = this->ring();
  const auto pid = static_cast<std::int32_t>(producer);
  Sharers& sharers = sharers_[producer];
  if (ring.begin_recall(laden, pid)) sharers.fence();
  const bool made = ring.finish_recall(laden, pid, sharers, static_cast<std::uint32_t>(reader()),
                                       [&](std::uint64_t position) {
                                         const std::uint32_t carried = lines_[position % count];
                                         memory_[producer][(carried & 0xff) - 1] = carried;
                                       });
  if (!made) return false;
  for (std::size_t record = 0; record < records && !overwrites_; ++record) {
    expect(memory_[producer][record] == content(producer, record),
           "a flush returned before a store was made");
  }
  return true;
}

void LadenScene::consume() {
  Taken taken{};
  std::size_t all = 0;
  for (std::size_t producer = 0; producer < scripts_.size(); ++producer)
    all += records_of(producer);
  for (std::size_t i = 0; i < all; ++i) {
    if (!take_next(taken)) return;
    forget(taken[0] << 8 | taken[1]);
  }
}

bool LadenScene::take_next(Taken& taken) {
  Ring ring = this->ring();
  Sharers& sharers = sharers_[static_cast<std::size_t>(reader())];
  for (const Loop loop;; loop.again()) {
    const auto phase = Ring::phase_of(ring.state_at_front());
    if (phase == Ring::Phase::committed ||
        (phase == Ring::Phase::laden && ring.begin_store(sharers.asymmetric()))) {
      take(ring, phase == Ring::Phase::laden, taken);
      return true;
    }
    if (phase == Ring::Phase::laden) continue;
    if (ring.stalled()) {
      const auto alive = [&](std::int32_t pid) {
        return sharers.alive(static_cast<std::uint32_t>(pid));
      };
      ring.revive_dead(alive) || ring.skip_dead(alive) || ring.skip_claimed([&](auto&& visit) {
        for (std::size_t producer = 0; producer < scripts_.size(); ++producer) {
          visit(claims_[producer],
                [&] { return sharers.alive(static_cast<std::uint32_t>(producer)); });
        }
      });
    } else if (over(ring, taken)) {
      return false;
    }
  }
}

void LadenScene::take(Ring& ring, bool inlined, Taken& taken) {
  const std::uint32_t found = lines_[ring.front() % count];
  const std::size_t producer = found >> 8;
  const std::size_t record = (found & 0xff) - 1;
  expect(producer < scripts_.size() && record < records_of(producer) && record == taken[producer],
         "another record than the next one of its producer");
  if (inlined) memory_[producer][record] = found;
  ring.release_front(0);
  expect(memory_[producer][record] == found, "a notification came before its store");
  if (overwrites_) memory_[producer][record] = overwritten(found);
  taken[producer] = record + 1;
}

/// Nothing lies there, and whoever has more to send is dead.
bool LadenScene::over(Ring& ring, const Taken& taken) {
  bool somebody_died = false;
  for (std::size_t producer = 0; producer < scripts_.size(); ++producer) {
    if (taken[producer] == records_of(producer)) continue;
    if (Sharers::lives(static_cast<std::uint32_t>(producer))) return false;
    somebody_died = true;
  }
  if (!somebody_died || ends_.tail.load(std::memory_order_acquire) != ring.front() ||
      Ring::phase_of(ring.state_at_front()) != Ring::Phase::free) {
    return false;
  }
  for (std::size_t producer = 0; producer < scripts_.size(); ++producer) {
    if (taken[producer] == records_of(producer)) continue;
    expect(taken[producer] >= published_[producer], "what the dead had published is lost");
  }
  return true;
}

std::string LadenScene::check_end(State& state, Programs& programs) {
  const auto latest = [&](const auto& word) { return state.latest(programs.atomic(&word)); };
  if (latest(ends_.head) != latest(ends_.tail)) return "something is left in the queue";
  for (std::size_t producer = 0; producer < scripts_.size(); ++producer) {
    for (std::size_t record = 0; record < records_of(producer); ++record) {
      const std::uint32_t stored = content(producer, record);
      if (state.fixed.plain[programs.plain(&memory_[producer][record])] !=
          (overwrites_ ? overwritten(stored) : stored)) {
        return "a store was made twice, or never";
      }
    }
  }
  return {};
}

}  // namespace oriel::model
