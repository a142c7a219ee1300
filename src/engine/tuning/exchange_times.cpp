// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tuning/exchange_times.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/settings.hpp"

namespace oriel {
namespace {

constexpr std::size_t most_fields = 15;
/// Valid numbers of fields of a line. Algorithms without fields have not been measured.
constexpr std::array<std::size_t, 3> numbers_of_fields{9, 11, most_fields};
/// Enough for thousands of lines. A longer file is not one of Oriel's.
constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr double most_times_the_ranks = 2;
constexpr double most_times_the_bytes = 2;

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stopped == end;
}

bool read_time(std::string_view text, double& time) {
  return read_number(text, time) && std::isfinite(time) && time >= 0;
}

using Words = std::array<std::string_view, most_fields>;

/// Splits a line into fields and returns their number; 0: too many.
std::size_t split(std::string_view text, Words& words) {
  std::size_t fields = 0;
  for (bool more = true; more; ++fields) {
    if (fields == most_fields) return 0;
    const std::size_t end = text.find('\t');
    words.at(fields) = text.substr(0, end);
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  return fields;
}

bool read_both(ExchangeTimes::Cost& cost, std::string_view start, std::string_view making) {
  return read_time(start, cost.start) && read_time(making, cost.making);
}

/// None if the line is malformed.
std::optional<ExchangeTimes::Line> to_line(std::string_view text) {
  Words words;
  const std::size_t fields = split(text, words);
  if (std::ranges::find(numbers_of_fields, fields) == numbers_of_fields.end()) return std::nullopt;
  ExchangeTimes::Line line;
  line.processor = words[0];
  line.mpi = words[1];
  const bool key = !line.processor.empty() && !line.mpi.empty() &&
                   read_number(words[2], line.ranks) && line.ranks > 0 &&
                   read_number(words[3], line.nodes) && line.nodes > 0 &&
                   line.nodes <= line.ranks && read_number(words[4], line.bytes);
  if (!key || !read_both(line.of(Algorithm::notified), words[5], words[7]) ||
      !read_both(line.of(Algorithm::two_sided), words[6], words[8]) ||
      line.of(Algorithm::notified).start <= 0 || line.of(Algorithm::two_sided).start <= 0) {
    return std::nullopt;
  }
  std::size_t next = 9;
  for (const Algorithm more : {Algorithm::notified_hierarchy, Algorithm::fence, Algorithm::lock}) {
    if (next == fields) break;
    if (!read_both(line.of(more), words.at(next), words.at(next + 1))) return std::nullopt;
    next += 2;
  }
  return line;
}

/// The larger number divided by the smaller one.
double ratio(double a, double b) {
  return std::max(a, b) / std::min(a, b);
}

double bytes_apart(std::uint64_t a, std::uint64_t b) {
  return ratio(static_cast<double>(std::max<std::uint64_t>(a, 1)),
               static_cast<double>(std::max<std::uint64_t>(b, 1)));
}

bool same_key(const ExchangeTimes::Line& a, const ExchangeTimes::Line& b) {
  return a.bytes == b.bytes && a.ranks == b.ranks && a.nodes == b.nodes && a.mpi == b.mpi &&
         a.processor == b.processor;
}

const char* variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

/// The content of the file; empty if it cannot be read (`fault` then has the reason, unless there
/// is no such file).
std::string text_of(const std::string& path, std::string& fault) {
  if (path.empty()) return {};
  struct stat found{};
  if (stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    fault = "it is not a regular file";  // reading another file, such as a pipe, might never end
    return {};
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (file == nullptr) {
    if (errno != ENOENT && errno != ENOTDIR) {
      fault = std::string("it cannot be read: ") + std::strerror(errno);
    }
    return {};
  }
  std::string text(most_bytes + 1, '\0');
  errno = 0;
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    fault = std::string("it cannot be read: ") + std::strerror(errno);
    return {};
  }
  if (text.size() > most_bytes) {
    fault = "it is longer than 1 MiB, and counts as nothing";
    return {};
  }
  return text;
}

}  // namespace

const char* name_of(Algorithm algorithm) {
  constexpr std::array<const char*, algorithms> names{
      "notified", "notified_hierarchy", "two_sided",      "fence",
      "lock",     "fence_hierarchy",    "lock_hierarchy", "auto"};
  return names.at(static_cast<std::size_t>(algorithm));
}

Algorithm ExchangeTimes::Line::cheapest(bool gathers, std::optional<std::uint64_t> starts) const {
  auto best = Algorithm::notified;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < costs.size(); ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    const Cost& cost = costs.at(at);
    if (cost.start <= 0 || (algorithm == Algorithm::notified_hierarchy && !gathers)) continue;
    double all = cost.start;
    if (starts) all = cost.making + static_cast<double>(*starts) * cost.start;
    if (all >= least) continue;
    best = algorithm;
    least = all;
  }
  return best;
}

bool ExchangeTimes::Line::like(std::uint64_t longest) const {
  return bytes_apart(bytes, longest) <= most_times_the_bytes;
}

std::string ExchangeTimes::Line::times() const {
  std::string times;
  for (std::size_t at = 0; at < costs.size(); ++at) {
    if (costs.at(at).start <= 0) continue;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s%s %.3g us", times.empty() ? "" : ", ",
                  name_of(static_cast<Algorithm>(at)), costs.at(at).start);
    times += text.data();
  }
  return times;
}

ExchangeTimes ExchangeTimes::parse(std::string_view text) {
  ExchangeTimes times;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (whole.empty() || whole.front() == '#') continue;
    if (auto line = to_line(whole)) {
      times.add(std::move(*line));
    } else if (times.fault_.empty()) {
      times.fault_ = "line " + std::to_string(number) +
                     " is not what `oriel bench alltoallv` writes, and counts as nothing";
    }
  }
  return times;
}

ExchangeTimes ExchangeTimes::read(const std::string& path) {
  std::string fault;
  ExchangeTimes times = parse(text_of(path, fault));
  if (!fault.empty()) times.fault_ = std::move(fault);
  return times;
}

void ExchangeTimes::add(Line line) {
  const auto old = std::ranges::find_if(lines_, [&](const Line& l) { return same_key(l, line); });
  if (old != lines_.end()) {
    *old = std::move(line);
  } else {
    lines_.push_back(std::move(line));
  }
}

const ExchangeTimes::Line* ExchangeTimes::nearest(std::string_view processor, std::string_view mpi,
                                                  int ranks, bool several_nodes,
                                                  std::uint64_t bytes) const {
  const Line* best = nullptr;
  // The distances of the best line's ranks and bytes; ranks are compared first.
  std::pair<double, double> best_apart;
  for (const Line& line : lines_) {
    if (line.processor != processor || line.mpi != mpi || (line.nodes > 1) != several_nodes) {
      continue;
    }
    const std::pair apart(ratio(line.ranks, ranks), bytes_apart(line.bytes, bytes));
    if (apart.first > most_times_the_ranks || (best != nullptr && apart >= best_apart)) continue;
    best = &line;
    best_apart = apart;
  }
  return best;
}

std::string ExchangeTimes::path() {
  const std::string told = setting_text("ORIEL_MEASURED");
  if (!told.empty()) return setting_bool("ORIEL_MEASURED") ? told : std::string();
  std::string cache = variable("XDG_CACHE_HOME");
  // The XDG base directory specification excludes relative paths.
  if (cache.empty() || cache.front() != '/') {
    const std::string home = variable("HOME");
    if (home.empty()) return {};
    cache = home + "/.cache";
  }
  return cache + "/oriel/alltoallv";
}

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) break;
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    if (first == std::string::npos) break;
    std::string name = line.substr(first, line.find_last_not_of(" \t") - first + 1);
    std::ranges::replace(name, '\t', ' ');
    return name;
  }
  return "unknown";
}

}  // namespace oriel
