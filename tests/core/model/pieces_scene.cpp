// SPDX-License-Identifier: BSD-3-Clause
#include "pieces_scene.hpp"

#include <iterator>
#include <map>
#include <utility>

namespace oriel::model {
namespace {

constexpr ArenaLocation where{64, 128};

bool is_capital(char letter) {
  return letter < 'a';
}
char small(char letter) {
  return is_capital(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// By the change that attaches it: none of its words is the same in two of them.
MemoryRange attached_by(std::uint64_t change, std::uint64_t address) {
  return {address, change, {change, change}};
}

}  // namespace

PiecesScene::PiecesScene(std::string changes, std::string looks)
    : changes_(std::move(changes)),
      looks_(std::move(looks)),
      nodes_(DoublingSegments::entries(0)) {}

std::string PiecesScene::description() const {
  return "pieces " + changes_ + " | " + looks_;
}

// By their hashes b is above d, then come e, c, f and a: so the letters choose the tree's shape.
std::uint64_t PiecesScene::address_of(char letter) {
  return 80 + 16 * static_cast<std::uint64_t>(small(letter) - 'a');
}

PiecesScene::Node* PiecesScene::Segments::allocate(std::size_t segment,
                                                   ArenaLocation& location) const {
  location = where;
  return segment == 0 ? nodes : nullptr;
}

void PiecesScene::name_words(Programs& programs) {
  const auto own = [&](const Atomic<std::uint64_t>& word, const std::string& name) {
    word.name(programs, name);
    word.give(programs, 0);
  };
  own(root_.top, "top");
  own(root_.segments[0].offset, "segment");
  own(root_.segments[0].extent_bytes, "segment");
  own(announced_, "announced");
  constexpr std::size_t most_used = 8;
  for (std::size_t i = 0; i < most_used; ++i) {
    const std::string number = "[" + std::to_string(i + 1) + "]";
    own(nodes_[i].piece.address, "address" + number);
    own(nodes_[i].piece.bytes, "bytes" + number);
    own(nodes_[i].piece.location.offset, "location" + number);
    own(nodes_[i].piece.location.extent_bytes, "extent" + number);
    own(nodes_[i].detached, "detached" + number);
    own(nodes_[i].children, "children" + number);
  }
}

void PiecesScene::play(int rank) {
  if (rank == 0) {
    change();
  } else {
    look();
  }
}

void PiecesScene::change() {
  Segments segments{nodes_.data()};
  Tree tree(root_, segments);
  std::map<char, bool> attached;
  for (std::uint64_t made = 0; made < changes_.size(); ++made) {
    const char letter = changes_[made];
    announced_.store(2 * made + 1, std::memory_order_release);
    expect(tree.reserve(), "there is no room");
    if (is_capital(letter)) {
      tree.forget(address_of(letter));
      attached[small(letter)] = false;
    } else if (std::exchange(attached[letter], !attached[letter])) {
      tree.detach(address_of(letter), made + 1);
    } else {
      tree.attach(attached_by(made + 1, address_of(letter)));
    }
    announced_.store(2 * made + 2, std::memory_order_release);
  }
}

void PiecesScene::look() {
  std::uint64_t last = 0;
  for (std::size_t turn = 0; turn < looks_.size(); ++turn) {
    const std::uint64_t made_before = announced_.load(std::memory_order_acquire) / 2;
    bool mapped = false;
    const auto nodes = [&](std::size_t segment) -> const Node* {
      if (!std::exchange(mapped, true)) {
        const ArenaLocation location = root_.segments[segment].get();
        expect(location.offset == where.offset && location.extent_bytes == where.extent_bytes,
               "a node was reached before its segment");
      }
      return nodes_.data();
    };
    const std::uint64_t address = address_of(looks_[turn]);
    MemoryRange found;
    std::uint64_t top = 0;
    const PieceSearch result = find_piece(root_, nodes, address, found, top);
    const std::uint64_t begun_behind = (announced_.load(std::memory_order_relaxed) + 1) / 2;
    const std::uint64_t version = top >> Root::number_bits;
    expect(made_before <= version && last <= version, "what is found was true before the look");
    expect(version <= begun_behind, "what is found was true behind the look");
    MemoryRange wanted;
    expect(result == expected(version, address, wanted), "a piece too many or too few");
    expect(result == PieceSearch::none ||
               (found.address == wanted.address && found.bytes == wanted.bytes &&
                found.location.offset == wanted.location.offset &&
                found.location.extent_bytes == wanted.location.extent_bytes),
           "another piece, or words of two");
    last = version;
    forget(turn << 32 | last);
  }
}

PieceSearch PiecesScene::expected(std::size_t changes, std::uint64_t address,
                                  MemoryRange& piece) const {
  struct Expected {
    std::uint64_t attached_by;
    bool detached;
  };
  std::map<std::uint64_t, Expected> pieces;
  for (std::size_t i = 0; i < changes; ++i) {
    const std::uint64_t begin = address_of(changes_[i]);
    const auto found = pieces.find(begin);
    if (is_capital(changes_[i])) {
      pieces.erase(found);
    } else if (found != pieces.end() && !found->second.detached) {
      found->second.detached = true;
    } else {
      pieces[begin] = {i + 1, false};
    }
  }
  const auto next = pieces.upper_bound(address);
  if (next == pieces.begin()) return PieceSearch::none;
  const auto& [begin, last] = *std::prev(next);
  piece = attached_by(last.attached_by, begin);
  return last.detached ? PieceSearch::detached : PieceSearch::found;
}

std::string PiecesScene::check_end(State& state, Programs& programs) {
  return state.latest(programs.atomic(&root_.top)) >> Root::number_bits == changes_.size()
             ? ""
             : "changes were lost";
}

}  // namespace oriel::model
