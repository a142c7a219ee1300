// SPDX-License-Identifier: BSD-3-Clause
// B14: a node's card that a network of software leaves unused is named.
#include "transport/ofi/unused_cards.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "transport/ofi/offers.hpp"

namespace oriel {
namespace {

namespace fs = std::filesystem;

/// A folder of device classes.
class UnusedCards : public ::testing::Test {
 protected:
  ~UnusedCards() override { fs::remove_all(classes_); }

  void add(const std::string& name, const std::string& state, const std::string& driver) {
    const fs::path device = classes_ / "infiniband" / name;
    fs::create_directories(device / "ports" / "1");
    fs::create_directories(device / "device");
    std::ofstream(device / "ports" / "1" / "state") << state << "\n";
    fs::create_symlink("../drivers/" + driver, device / "device" / "driver");
  }

  fs::path classes_ = fs::temp_directory_path() / ("oriel_classes." + std::to_string(::getpid()));
};

TEST_F(UnusedCards, AreNoneOnAMachineWithoutCards) {
  EXPECT_EQ(unused_cards({}, classes_), "");
  fs::create_directories(classes_ / "infiniband");
  EXPECT_EQ(unused_cards({}, classes_), "");
}

TEST_F(UnusedCards, AreThoseWhoseLinkIsUp) {
  add("mlx5_0", "1: DOWN", "mlx5_core");
  EXPECT_EQ(unused_cards({}, classes_), "");
  add("mlx5_1", "4: ACTIVE", "mlx5_core");
  EXPECT_EQ(unused_cards({}, classes_),
            "mlx5_1 (provider verbs;ofi_rxm) is there and not used, because this libfabric does "
            "not offer it; name one that does with ORIEL_OFI_LIBRARY");
  Card card;
  card.provider = "verbs;ofi_rxm";
  EXPECT_EQ(unused_cards(std::span(&card, 1), classes_),
            "mlx5_1 (provider verbs;ofi_rxm) is there and not used, because some rank does not "
            "have it, or could not open it");
}

TEST_F(UnusedCards, HaveTheProviderOfTheirDriver) {
  add("rdmap0s6", "4: ACTIVE", "efa");
  EXPECT_TRUE(unused_cards({}, classes_).starts_with("rdmap0s6 (provider efa) is there"));
  add("hfi1_0", "4: ACTIVE", "hfi1");
  EXPECT_TRUE(unused_cards({}, classes_).starts_with("hfi1_0 (provider opx) is there"));
  fs::create_directories(classes_ / "cxi" / "cxi0");
  EXPECT_TRUE(unused_cards({}, classes_).starts_with("cxi0 (provider cxi) is there"));
}

}  // namespace
}  // namespace oriel
