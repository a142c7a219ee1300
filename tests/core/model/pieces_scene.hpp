// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/pieces/own_pieces.hpp"
#include "core/pieces/shared_pieces.hpp"
#include "scenarios.hpp"

namespace oriel::model {

/// The first rank attaches and detaches pieces, the second one looks for them. A look stores
/// nothing, so that two ranks that look could do nothing that one cannot.
class PiecesScene final : public Scene {
 public:
  /// `changes`: each small letter attaches the piece there, of another length each time, or
  /// detaches it if it is attached; a capital letter removes it. `looks`: at whose addresses the
  /// second rank looks.
  PiecesScene(std::string changes, std::string looks);

  std::string description() const override;

 private:
  using Root = BasicPieceRoot<Words>;
  using Node = BasicPieceNode<Words>;
  /// There is one, in the scene.
  struct Segments {
    Node* nodes;

    Node* allocate(std::size_t segment, ArenaLocation& location) const;
  };
  using Tree = BasicPieceTree<Words, Segments>;

  static std::uint64_t address_of(char letter);
  int ranks() const override { return 2; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void change();
  void look();
  /// The result of a search after so many changes.
  PieceSearch expected(std::size_t changes, std::uint64_t address, MemoryRange& piece) const;

  std::string changes_;
  std::string looks_;
  Root root_;
  std::vector<Node> nodes_;
  Atomic<std::uint64_t> announced_;  // changes begun and changes made
};

}  // namespace oriel::model
