// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/info/window_info.hpp"

#include <oriel/oriel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "core/base/settings.hpp"
#include "core/base/shared_words.hpp"
#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

/// A reorder key: the paper's name for it, and the paper's abbreviation, which is short enough for
/// every host.
struct ReorderKey {
  const char* name;
  const char* abbreviation;
  bool Reorder::* flag;

  /// The name by which MPI_Win_get_info reports it.
  const char* reported() const {
    return std::strlen(name) < MPI_MAX_INFO_KEY ? name : abbreviation;
  }
};
constexpr std::array reorder_keys{
    ReorderKey{"MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", "A_A_A_R", &Reorder::access_after_access},
    ReorderKey{"MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER", "A_A_E_R", &Reorder::access_after_exposure},
    ReorderKey{"MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER", "E_A_E_R",
               &Reorder::exposure_after_exposure},
    ReorderKey{"MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER", "E_A_A_R", &Reorder::exposure_after_access},
};

/// Reads a key. A value that is not valid for the key changes nothing.
template <typename Accepts>
void read_key(MPI_Info info, const char* key, std::string& value, Accepts&& accepts) {
  auto given = info_value(info, key);
  if (given && accepts(*given)) value = std::move(*given);
}

void read_key(MPI_Info info, const char* key, bool& value) {
  const auto given = info_value(info, key);
  if (!given) return;
  if (*given == "true" || *given == "1") value = true;
  if (*given == "false" || *given == "0") value = false;
}

void read_key(MPI_Info info, const char* key, Published<bool>& value) {
  bool taken = value.load();
  read_key(info, key, taken);
  value.store(taken);
}

/// Reads a key whose value is one of two words: false for `no`, true for `yes`.
void read_key(MPI_Info info, const char* key, Published<bool>& value, std::string_view no,
              std::string_view yes) {
  const auto given = info_value(info, key);
  if (given && (*given == no || *given == yes)) value.store(*given == yes);
}

/// The values of ORIEL_AWAIT_ACCESS, by AccessAwaited.
constexpr std::array<const char*, 3> access_awaited_words{"completion", "result", "opening"};

/// Sets `awaited` if the text is a value of ORIEL_AWAIT_ACCESS.
void read_word(std::string_view text, AccessAwaited& awaited) {
  const auto* const found = std::ranges::find(access_awaited_words, text);
  if (found == access_awaited_words.end()) return;
  awaited = static_cast<AccessAwaited>(found - access_awaited_words.begin());
}

/// Returns whether accepts() accepts each word of a list that is separated by commas.
template <typename Accepts>
bool all_words(std::string_view value, Accepts&& accepts) {
  while (true) {
    const std::string_view word = value.substr(0, value.find(','));
    if (!accepts(word)) return false;
    if (word.size() == value.size()) return true;
    value.remove_prefix(word.size() + 1);
  }
}

/// True for a valid value of accumulate_ordering.
bool orders(std::string_view value) {
  static constexpr std::array<std::string_view, 4> words{"rar", "raw", "war", "waw"};
  return value == "none" || all_words(value, [](std::string_view word) {
           return std::ranges::find(words, word) != words.end();
         });
}

/// The ops in a value of which_accumulate_ops; none: the value is not valid.
std::optional<OpSet> named_ops(std::string_view value) {
  struct Name {
    std::string_view name;
    OpSet ops;
  };
  static constexpr std::array names{
      Name{"replace", bit(Op::replace)}, Name{"no_op", bit(Op::no_op)},
      Name{"sum", bit(Op::sum)},         Name{"prod", bit(Op::prod)},
      Name{"min", bit(Op::min)},         Name{"max", bit(Op::max)},
      Name{"land", bit(Op::land)},       Name{"lor", bit(Op::lor)},
      Name{"lxor", bit(Op::lxor)},       Name{"band", bit(Op::band)},
      Name{"bor", bit(Op::bor)},         Name{"bxor", bit(Op::bxor)},
      Name{"minloc", bit(Op::minloc)},   Name{"maxloc", bit(Op::maxloc)},
      Name{"cswap", compare_swap_bit},   Name{"any_op", every_op},
  };
  OpSet ops = 0;
  const bool known = all_words(value, [&](std::string_view word) {
    const auto* const found = std::ranges::find(names, word, &Name::name);
    if (found == names.end()) return false;
    ops |= found->ops;
    return true;
  });
  return known ? std::optional(ops) : std::nullopt;
}

/// The decimal number of this type in a value; none: the value is not one.
template <typename Number>
std::optional<Number> number_in(std::string_view value) {
  Number number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

/// True for a nonnegative int.
bool counts(std::string_view value) {
  return number_in<int>(value).value_or(-1) >= 0;
}

/// True for a number of bytes.
bool measures(std::string_view value) {
  return number_in<std::uint64_t>(value).has_value();
}

/// True for an alignment that Oriel can give memory and that memory does not have by default.
bool aligns(std::string_view value) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const std::uint64_t bytes = number_in<std::uint64_t>(value).value_or(0);
  return std::has_single_bit(bytes) && bytes > cache_line && bytes <= most;
}

}  // namespace

void WindowInfo::read(MPI_Info info) {
  read_word(setting_text("ORIEL_AWAIT_ACCESS"), access_awaited);
  read_key(info, "accumulate_ops", accumulate_ops,
           [](std::string_view value) { return value == "same_op" || value == "same_op_no_op"; });
  read_key(info, "mpi_accumulate_granularity", accumulate_granularity, measures);
  read_key(info, "which_accumulate_ops", which_accumulate_ops,
           [](std::string_view value) { return named_ops(value).has_value(); });
  read_key(info, "mpi_minimum_memory_alignment", minimum_alignment, aligns);
  read_key(info, ORIEL_ASSERT_MAX_NUM_NOTIFY, max_num_notify, counts);
  update(info);
}

void WindowInfo::update(MPI_Info info) {
  // On an existing window this key does not move memory. MPI_Win_get_info reports the last value
  // set, as on MPICH.
  read_key(info, "alloc_shared_noncontig", alloc_shared_noncontig);
  read_key(info, "no_locks", no_locks);
  read_key(info, "same_size", same_size);
  read_key(info, "same_disp_unit", same_disp_unit);
  read_key(info, "accumulate_ordering", accumulate_ordering, orders);
  read_key(info, "mpi_assert_memory_alloc_kinds", asserted_alloc_kinds,
           [](std::string_view) { return true; });
  read_key(info, ORIEL_WEAK_UNLOCK, weak_unlock);
  if (const auto given = info_value(info, ORIEL_AWAIT_ACCESS)) read_word(*given, access_awaited);
  if (intrinsic == Intrinsic::as_asked) {
    // Open MPI's name for the next key.
    read_key(info, "acc_single_intrinsic", accumulate_intrinsic);
    read_key(info, "mpi_assert_accumulate_intrinsic", accumulate_intrinsic);
  }
  read_key(info, ORIEL_WIN_ORDER, order);
  read_key(info, ORIEL_WIN_SCOPE, thread_scope, "process", "thread");
  for (const ReorderKey& key : reorder_keys) {
    read_key(info, key.name, reorder.*key.flag);
    read_key(info, key.abbreviation, reorder.*key.flag);
  }
}

WindowTerms WindowInfo::terms() const {
  WindowTerms terms;
  terms.alignment = alignment();
  terms.noncontiguous = alloc_shared_noncontig;
  terms.intrinsic = accumulate_intrinsic.load();
  terms.ordered = order.load();
  terms.ops = named_ops(which_accumulate_ops).value_or(every_op);
  terms.atomicity.granularity = number_in<std::uint64_t>(accumulate_granularity).value_or(0);
  terms.atomicity.same_op = accumulate_ops == "same_op";
  terms.no_locks = no_locks;
  terms.reorder = reorder;
  return terms;
}

int WindowInfo::write(MPI_Info info) const {
  const auto truth = [](bool value) { return value ? "true" : "false"; };
  struct Entry {
    const char* key;
    const char* value;
  };
  const std::array entries{
      Entry{"no_locks", truth(no_locks)},
      Entry{"same_size", truth(same_size)},
      Entry{"same_disp_unit", truth(same_disp_unit)},
      Entry{"alloc_shared_noncontig", truth(alloc_shared_noncontig)},
      Entry{"accumulate_ordering", accumulate_ordering.c_str()},
      Entry{"accumulate_ops", accumulate_ops.c_str()},
      Entry{"mpi_accumulate_granularity", accumulate_granularity.c_str()},
      Entry{"mpi_assert_accumulate_intrinsic", truth(accumulate_intrinsic.load())},
      Entry{"which_accumulate_ops", which_accumulate_ops.c_str()},
      Entry{"mpi_minimum_memory_alignment", minimum_alignment.c_str()},
      Entry{"mpi_memory_alloc_kinds", alloc_kinds.c_str()},
      Entry{"mpi_assert_memory_alloc_kinds", asserted_alloc_kinds.c_str()},
      Entry{ORIEL_ASSERT_MAX_NUM_NOTIFY, max_num_notify.c_str()},
      Entry{ORIEL_WEAK_UNLOCK, truth(weak_unlock)},
      Entry{ORIEL_AWAIT_ACCESS, access_awaited_words[static_cast<std::size_t>(access_awaited)]},
      Entry{ORIEL_WIN_ORDER, truth(order.load())},
      Entry{ORIEL_WIN_SCOPE, thread_scope.load() ? "thread" : "process"},
  };
  for (const Entry& entry : entries) {
    // Info values may not be empty, so an assertion that was not made is left out.
    if (*entry.value == '\0') continue;
    const int code = host_mpi().Info_set(info, entry.key, entry.value);
    if (code != MPI_SUCCESS) return code;
  }
  for (const ReorderKey& key : reorder_keys) {
    const char* value = reorder.*key.flag ? "1" : "0";
    const int code = host_mpi().Info_set(info, key.reported(), value);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

bool asserts(MPI_Info info, const char* key) {
  bool value = false;
  read_key(info, key, value);
  return value;
}

int WindowInfo::most_counters() const {
  const int most = number_in<int>(max_num_notify).value_or(0);
  return most != 0 ? most : std::numeric_limits<int>::max();
}

int WindowInfo::suggested_counters() const {
  constexpr int cheap = 65536;  // 4 MiB
  return std::min(most_counters(), cheap);
}

std::size_t WindowInfo::alignment() const {
  return number_in<std::size_t>(minimum_alignment).value_or(cache_line);
}

void WindowInfo::lower_alignment(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  minimum_alignment = std::to_string(std::min<std::uintptr_t>(alignment(), address & -address));
}

}  // namespace oriel::mpi
