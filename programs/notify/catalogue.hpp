// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "bench/notify_api.hpp"
#include "bench/row.hpp"
#include "busy_wait.hpp"
#include "counter.hpp"
#include "counter_api.hpp"
#include "fence.hpp"
#include "flag.hpp"
#include "get.hpp"
#include "job.hpp"
#include "message_row.hpp"
#include "notification.hpp"
#include "post_start.hpp"
#include "put.hpp"
#include "recorder.hpp"
#include "window_row.hpp"

namespace notify {

/// Round trips that can be played, and how a rank makes them.
struct Entry {
  Label label;
  std::function<std::unique_ptr<bench::Row>(const Job&)> make;
};

using Sizes = std::vector<std::size_t>;

template <typename Synchronization, typename Transfer>
void add(std::vector<Entry>& entries, Label label, const Sizes& sizes) {
  for (const std::size_t bytes : sizes) {
    label.size = bytes;
    entries.push_back({label, [bytes](const Job& job) -> std::unique_ptr<bench::Row> {
                         return std::make_unique<WindowRow<Synchronization, Transfer>>(job, bytes);
                       }});
  }
}

/// Messages come first: a program that has no window yet pays nothing for the library. They stand
/// for both directions, because whoever has received knows as much as whoever has got.
inline std::vector<Entry> message_entries(const Sizes& sizes) {
  std::vector<Entry> entries;
  for (const std::size_t bytes : sizes) {
    entries.push_back(
        {{"put", "messages", bytes}, [bytes](const Job& job) -> std::unique_ptr<bench::Row> {
           return std::make_unique<MessageRow>(job, bytes);
         }});
  }
  return entries;
}

inline std::vector<Entry> window_entries(const Sizes& sizes) {
  using AtOnce = Notification<Completion::at_once>;
  using ForReuse = Notification<Completion::for_reuse>;
  std::vector<Entry> entries;
  add<BusyWait, Put>(entries, {"put", "busy_wait", 0}, sizes);
  add<FlagBehind, Put>(entries, {"put", "flag", 0}, sizes);
  add<Fence, Put>(entries, {"put", "fence", 0}, sizes);
  add<PostStart, Put>(entries, {"put", "pscw", 0}, sizes);
  add<FlagBehind, Get>(entries, {"get", "flag", 0}, sizes);
  add<Fence, Get>(entries, {"get", "fence", 0}, sizes);
  add<PostStart, Get>(entries, {"get", "pscw", 0}, sizes);
  if (CounterApi().usable()) {
    add<Counter, Put>(entries, {"put", "counter", 0}, sizes);
    add<Counter, Get>(entries, {"get", "counter", 0}, sizes);
  }
  if (bench::NotifyApi().complete()) {
    const Sizes nothing = {0};  // the latency L of the model
    add<ForReuse, Put>(entries, {"put", "put_notify", 0}, nothing);
    add<ForReuse, Put>(entries, {"put", "put_notify", 0}, sizes);
    add<AtOnce, Put>(entries, {"put", "put_notify_flush", 0}, sizes);
    add<AtOnce, Get>(entries, {"get", "get_notify", 0}, sizes);
  }
  return entries;
}

}  // namespace notify
