// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "choice.hpp"
#include "failure.hpp"
#include "window.hpp"

namespace bench {

/// An option of a program; each has a value.
struct Option {
  struct Value {
    std::string text;                            // what it is, in a sentence
    std::function<bool(std::string_view)> take;  // false: it is not that
    bool repeated = false;                       // the option may come again
  };
  std::string_view name;
  Value value;
};

/// Takes the command line. Ends the job with a sentence if it is not as these options say.
inline void take_options(int argc, char** argv, const std::vector<Option>& options) {
  for (int index = 1; index < argc; index += 2) {
    const std::string name = argv[index];
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& each) { return each.name == name; });
    if (option == options.end()) {
      std::string known;
      for (const auto& [other, value] : options) {
        known += (known.empty() ? "" : ", ") + std::string(other) + " (" + value.text +
                 (value.repeated ? "; again for more)" : ")");
      }
      fail("the option " + name + " is unknown; use " + known + ".");
    }
    if (index + 1 == argc) fail("the option " + name + " needs a value.");
    const std::string value = argv[index + 1];
    if (!option->value.take(value)) {
      fail("the option " + name + " takes " + option->value.text + ", not \"" + value + "\".");
    }
  }
}

/// Whole numbers that an option takes.
struct Limits {
  std::int64_t least = 1;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t multiple = 1;

  std::string text() const {
    const std::string what =
        multiple == 1 ? "a whole number" : "a multiple of " + std::to_string(multiple);
    if (most < std::numeric_limits<std::int64_t>::max()) {
      return what + " from " + std::to_string(least) + " to " + std::to_string(most);
    }
    return what + " above " + std::to_string(least - 1);
  }
  std::optional<std::int64_t> number(std::string_view value) const {
    std::int64_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    const bool whole = error == std::errc{} && end == value.data() + value.size();
    if (!whole || result < least || result > most || result % multiple != 0) return std::nullopt;
    return result;
  }
};

/// The variable that an option sets if it may be given once, or adds to if it may be repeated.
template <typename Into>
struct Destination {
  using What = Into;
  static constexpr bool repeated = false;
  static void put(Into& into, const What& what) { into = what; }
};
template <typename Element>
struct Destination<std::vector<Element>> {
  using What = Element;
  static constexpr bool repeated = true;
  static void put(std::vector<Element>& into, const What& what) { into.push_back(what); }
};
template <>
struct Destination<Choice> {
  using What = std::string_view;
  static constexpr bool repeated = true;
  static void put(Choice& into, What name) { into.add(name); }
};

template <typename Into>
Option::Value number(Into& into, Limits limits = {}) {
  using To = Destination<Into>;
  using Number = typename To::What;
  if constexpr (std::is_integral_v<Number> && sizeof(Number) < sizeof limits.most) {
    limits.most = std::min<std::int64_t>(limits.most, std::numeric_limits<Number>::max());
  }
  return {limits.text(),
          [&into, limits](std::string_view value) {
            const auto found = limits.number(value);
            if (found) To::put(into, static_cast<Number>(*found));
            return found.has_value();
          },
          To::repeated};
}

/// A name of these, and what it stands for.
template <typename Into>
Option::Value one_of(
    Into& into, std::vector<std::pair<std::string_view, typename Destination<Into>::What>> known) {
  std::string names;
  for (const auto& [name, what] : known) names += (names.empty() ? "" : ", ") + std::string(name);
  return {"one of " + names,
          [&into, known = std::move(known)](std::string_view value) {
            const auto found = std::find_if(known.begin(), known.end(),
                                            [&](const auto& each) { return each.first == value; });
            if (found != known.end()) Destination<Into>::put(into, found->second);
            return found != known.end();
          },
          Destination<Into>::repeated};
}

inline Option::Value one_of(Choice& into, const std::vector<std::string_view>& names) {
  std::vector<std::pair<std::string_view, std::string_view>> known;
  for (const std::string_view name : names) known.emplace_back(name, name);
  return one_of(into, std::move(known));
}

/// A kind of memory whose displacements begin at 0.
inline Option::Value memory(Memory& into) {
  return one_of(into, {{name_of(Memory::allocated), Memory::allocated},
                       {name_of(Memory::created), Memory::created}});
}

template <typename Into>
Option::Value name(Into& into) {
  return {"a name",
          [&into](std::string_view value) {
            Destination<Into>::put(into, typename Destination<Into>::What(value));
            return true;
          },
          Destination<Into>::repeated};
}

}  // namespace bench
