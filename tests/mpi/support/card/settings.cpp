// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace card {
namespace {

[[noreturn]] void refuse(const std::string& setting) {
  std::fprintf(stderr, "card: ORIEL_TEST_CARD has an unknown setting: %s\n", setting.c_str());
  std::abort();
}

double number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const double unit = *end == 'G' ? 1e9 : *end == 'M' ? 1e6 : *end == 'k' ? 1e3 : 1;
  return value * unit;
}

bool one_of(const std::string& value, const char* no, const char* yes) {
  if (value != no && value != yes) refuse(value);
  return value == yes;
}

Settings read() {
  Settings settings;
  const char* given = std::getenv("ORIEL_TEST_CARD");
  std::istringstream words(given != nullptr ? given : "");
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse(word);
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (name == "latency_ns") {
      settings.latency_ns = static_cast<std::uint64_t>(number(value));
    } else if (name == "rate") {
      settings.bytes_per_ns = number(value) / 1e9;
    } else if (name == "eager") {
      settings.eager = static_cast<std::uint64_t>(number(value));
    } else if (name == "inject") {
      settings.inject = static_cast<std::uint64_t>(number(value));
    } else if (name == "order") {
      settings.orders_writes = one_of(value, "messages", "all");
    } else if (name == "keys") {
      settings.caller_keys = one_of(value, "provider", "caller");
    } else if (name == "name") {
      settings.name = value;
    } else {
      refuse(word);
    }
  }
  return settings;
}

}  // namespace

const Settings& Settings::get() {
  static const Settings settings = read();
  return settings;
}

}  // namespace card
