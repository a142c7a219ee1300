// SPDX-License-Identifier: BSD-3-Clause
#include "errand_scene.hpp"

#include <algorithm>
#include <utility>

namespace oriel::model {

ErrandScene::ErrandScene(Scripts scripts, std::uint32_t declined)
    : scripts_(std::move(scripts)), declined_(declined) {
  for (int rank = 0; rank < ranks(); ++rank) sharers_.emplace_back(rank, true);
}

std::string ErrandScene::description() const {
  std::string all = "errands";
  for (const std::string& script : scripts_)
    all += (&script == &scripts_[0] ? " " : " | ") + script;
  return all + (declined_ != 0 ? ", " + std::to_string(declined_) + " declined" : "");
}

void ErrandScene::name_words(Programs& programs) {
  cell_.state.name(programs, "errand");
  cell_.errand.name(programs, "content");
  cell_.claimed.name(programs, "claimed");
  cell_.drawn.name(programs, "drawn");
  cell_.failed.name(programs, "failed");
  cell_.operation.name(programs, "operation");
  cell_.origin_pid.name(programs, "pid");
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    sums_[i].name(programs, "sum[" + std::to_string(i) + "]");
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      chunk_sums_[i][chunk].name(programs, "chunk[" + std::to_string(i) + "]");
    }
    over_[i].name(programs, "over[" + std::to_string(i) + "]");
  }
}

void ErrandScene::play(int rank) {
  if (rank == owner()) {
    serve();
  } else {
    send(static_cast<std::size_t>(rank));
  }
}

void ErrandScene::send(std::size_t origin) {
  std::uint32_t expected = 0;
  std::uint32_t expected_of_chunks = 0;
  for (const char what : scripts_[origin]) {
    std::uint32_t sum = 0;
    if (what == 'c') {
      if (!add_to_chunks(origin)) return;
      ++expected_of_chunks;
      for (const Plain<std::uint32_t>& of_chunk : chunk_sums_[origin]) {
        expect(of_chunk == expected_of_chunks, "a chunk was carried out twice, or never");
      }
      forget(expected << 8 | expected_of_chunks);
      continue;
    }
    if (!add(origin, what == 'p', sum)) return;
    expect(sum == ++expected, "an errand was carried out twice, or never");
    forget(expected << 8 | expected_of_chunks);
  }
  over_[origin].store(1, std::memory_order_release);
}

bool ErrandScene::add(std::size_t origin, bool patient, std::uint32_t& sum) {
  if (cell_.claim()) {
    cell_.ask(static_cast<std::uint32_t>(origin));
    if (patient || cell_.answered() || !cell_.withdraw()) {
      if (!answered()) return false;
      if (cell_.read_answer(sum)) return true;
    }
  }
  // By a system call.
  sums_[origin] += 1;
  sum = sums_[origin];
  return true;
}

bool ErrandScene::answered() {
  for (const Loop loop;; loop.again()) {
    if (cell_.answered()) return true;
    if (!sharers_[0].alive(static_cast<std::uint32_t>(owner()))) return cell_.answered();
  }
}

bool ErrandScene::add_to_chunks(std::size_t origin) {
  if (!cell_.claim()) {
    for (std::uint32_t number = 0; number < chunks; ++number) add_to_chunk(origin, number);
    return true;
  }
  cell_.ask_in_chunks(static_cast<std::uint32_t>(origin), static_cast<std::uint32_t>(origin));
  for (const Loop loop;; loop.again()) {
    const std::uint32_t number = cell_.draw_first(chunks);
    if (number == no_chunk) break;
    add_to_chunk(origin, number);
  }
  if (!end_chunks()) return false;
  if (const std::uint32_t number = cell_.declined_chunk();
      number != no_chunk && !mutated_code("failed chunk forgotten")) {
    add_to_chunk(origin, number);
  }
  cell_.release_claim();
  return true;
}

bool ErrandScene::end_chunks() {
  for (const Loop loop;; loop.again()) {
    if (cell_.end_chunks()) return true;
    if (!sharers_[0].alive(static_cast<std::uint32_t>(owner()))) return cell_.end_chunks();
  }
}

void ErrandScene::serve_chunk(std::uint32_t& taken) {
  const std::uint32_t origin = cell_.operation;
  expect(origin < scripts_.size() && cell_.origin_pid == origin,
         "chunks were taken before they were there");
  std::uint32_t number = cell_.draw_last(chunks);
  if (number != no_chunk && mutated_code("chunks from one end")) number = chunks - 1 - number;
  if (number == no_chunk) {
    cell_.finish();
  } else if (taken++ < declined_) {
    cell_.decline_chunk(number);
  } else {
    add_to_chunk(origin, number);
    cell_.put_back();
  }
  forget(taken);
}

void ErrandScene::serve() {
  std::uint32_t taken = 0;
  for (const Loop loop;; loop.again()) {
    if (cell_.begin_in_chunks()) {
      serve_chunk(taken);
      continue;
    }
    if (!cell_.begin()) {
      if (all_over()) return;
      continue;
    }
    const std::uint32_t origin = cell_.errand;
    expect(origin < scripts_.size(), "an errand was taken before it was there");
    if (taken++ < declined_) {
      cell_.decline();
    } else {
      sums_[origin] += 1;
      cell_.hand_back(sums_[origin]);
    }
    forget(taken);
  }
}

bool ErrandScene::all_over() {
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    if (over_[i].load(std::memory_order_acquire) == 0 &&
        Sharers::lives(static_cast<std::uint32_t>(i))) {
      return false;
    }
  }
  return true;
}

std::string ErrandScene::check_end(State& state, Programs& programs) {
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    const auto in_chunks = static_cast<std::size_t>(std::ranges::count(scripts_[i], 'c'));
    if (state.fixed.plain[programs.plain(&sums_[i])] != scripts_[i].size() - in_chunks) {
      return "an errand was lost";
    }
    for (const Plain<std::uint32_t>& of_chunk : chunk_sums_[i]) {
      if (state.fixed.plain[programs.plain(&of_chunk)] != in_chunks) return "a chunk was lost";
    }
  }
  return state.latest(programs.atomic(&cell_.claimed)) == 0 ? "" : "an errand was left behind";
}

}  // namespace oriel::model
