// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/unused_cards.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "core/base/settings.hpp"
#include "transport/ofi/offers.hpp"

namespace oriel {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> entries;
  for (fs::directory_iterator next(folder, failed), end; !failed && next != end;
       next.increment(failed)) {
    entries.push_back(next->path());
  }
  std::ranges::sort(entries);
  return entries;
}

/// Returns whether any port of a device of the class infiniband is active.
bool is_active(const fs::path& device) {
  return std::ranges::any_of(entries_of(device / "ports"), [](const fs::path& port) {
    std::ifstream file(port / "state");
    std::string state;
    return std::getline(file, state) && state.find("ACTIVE") != std::string::npos;
  });
}

/// libfabric's provider for a device of the class infiniband.
std::string provider_of(const fs::path& device) {
  std::error_code failed;
  const std::string driver = fs::read_symlink(device / "device" / "driver", failed).filename();
  if (driver == "efa") return "efa";
  return driver == "hfi1" ? "opx" : "verbs;ofi_rxm";
}

std::string reason_for(const std::string& provider, std::span<const Card> offered) {
  if (std::ranges::find(offered, provider, &Card::provider) != offered.end()) {
    return "some rank does not have it, or could not open it";
  }
  for (const char* setting : {"ORIEL_OFI_PROVIDER", "ORIEL_OFI_DOMAIN"}) {
    const std::string wanted = setting_text(setting);
    if (!wanted.empty()) return std::string(setting) + " is " + wanted;
  }
  return "this libfabric does not offer it; name one that does with ORIEL_OFI_LIBRARY";
}

std::string sentence(const fs::path& device, const std::string& provider,
                     std::span<const Card> offered) {
  return device.filename().string() + " (provider " + provider +
         ") is there and not used, because " + reason_for(provider, offered);
}

}  // namespace

std::string unused_cards(std::span<const Card> offered, const std::string& classes) {
  for (const fs::path& device : entries_of(fs::path(classes) / "cxi")) {
    return sentence(device, "cxi", offered);
  }
  for (const fs::path& device : entries_of(fs::path(classes) / "infiniband")) {
    if (is_active(device)) return sentence(device, provider_of(device), offered);
  }
  return {};
}

}  // namespace oriel
