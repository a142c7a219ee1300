// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/fuzz/operation.hpp"

namespace fuzz {

/// A notification that this rank is going to get on a window.
struct Notification {
  int source;
  Plan plan;
  std::size_t moved;  // elements
  /// The bytes stay as the operation has left them, until the end of the round.
  bool lasting;

  long bytes() const { return static_cast<long>(moved) * plan.there.bytes(); }
};

/// The notifications of one round on one window, and the requests that take them, in one of several
/// ways.
class Notifications {
 public:
  /// The operation of a source is about to be planned: it may overwrite what earlier ones of that
  /// source have written.
  void overwrite(int source, const Plan& plan) {
    const long low = plan.start + plan.there.low();
    const long high = plan.start + plan.there.high();
    for (Notification& one : all_) {
      const long first = one.plan.start + one.plan.there.low();
      const long last = one.plan.start + one.plan.there.high();
      if (one.source == source && first < high && low < last) one.lasting = false;
    }
  }
  void expect_from(int source, const Plan& plan, std::size_t moved) {
    const bool written = plan.kind != Kind::get && plan.exact;
    all_.push_back({source, plan, moved, written});
  }

  /// Makes the requests, of which some are started at once.
  void prepare(const Subject& subject, Random& random) {
    enum Way { all, by_source, by_tag, by_both, one_by_one, ways };
    const int way = random.below(ways + 1);
    // Requests that are not persistent name a tag each, or none of them does.
    const bool any_tag = random.chance(50);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      Take take;
      take.once = way == ways;
      take.source = way == by_source || way == by_both ? all_[i].source : MPI_ANY_SOURCE;
      const bool named = way == by_tag || way == by_both || (take.once && !any_tag);
      take.tag = named ? all_[i].plan.tag : MPI_ANY_TAG;
      const auto known = std::ranges::find_if(takes_, [&](const Take& other) {
        return way < one_by_one && other.source == take.source && other.tag == take.tag;
      });
      if (known != takes_.end()) {
        ++known->count;
      } else {
        takes_.push_back(take);
      }
    }
    for (std::size_t i = takes_.size(); i > 1; --i) {
      std::swap(takes_[i - 1], takes_[random.below(i)]);
    }
    counted_ = subject.await_counters(random);
    if (!random.chance(50)) return;
    for (Take& take : takes_) start(subject, take);
  }

  /// Takes them all. The data of each are there.
  void take(const Subject& subject, Random& random) {
    std::vector<bool> taken(all_.size());
    for (Take& take : takes_) {
      if (take.request == MPI_REQUEST_NULL) {
        if (random.chance(20)) probe(subject, take);
        start(subject, take);
      }
      MPI_Status status{};
      wait(subject, take, random, status);
      if (!take.once) MPI_Request_free(&take.request);
      CHECK(take.request == MPI_REQUEST_NULL);
      check_status(subject, take, status, taken);
      if (take.count > 1) check_bytes(subject, take);
    }
    check_bytes(subject, Take{});
    for (MPI_Request& request : counted_) {
      MPI_Status status{};
      note("waiting for a counter", subject.number());
      right(subject, "MPI_Wait", MPI_Wait(&request, &status));
    }
  }

  /// Collective: all ranks have taken theirs. There are no others.
  static void expect_none(const Subject& subject) {
    note("ORIEL_Notify_iprobe", subject.number());
    int flag = 77;
    MPI_Status status{};
    expect(notified().Notify_iprobe(subject.win, MPI_ANY_SOURCE, MPI_ANY_TAG, &flag, &status),
           MPI_SUCCESS, [&] { return subject.describe("ORIEL_Notify_iprobe"); });
    if (flag == 0) return;
    support::fail(__FILE__, __LINE__,
                  subject.describe("ORIEL_Notify_iprobe") + ": a notification of rank " +
                      std::to_string(status.MPI_SOURCE) + " with tag " +
                      std::to_string(status.MPI_TAG) + " is one too many.");
  }

 private:
  /// A request.
  struct Take {
    int source = MPI_ANY_SOURCE;
    int tag = MPI_ANY_TAG;
    int count = 1;
    bool once = false;  // not persistent
    MPI_Request request = MPI_REQUEST_NULL;

    bool takes(const Notification& one) const {
      return (source == MPI_ANY_SOURCE || source == one.source) &&
             (tag == MPI_ANY_TAG || tag == one.plan.tag);
    }
  };

  static void right(const Subject& subject, const char* call, int code) {
    expect(code, MPI_SUCCESS, [&] { return subject.describe(call); });
  }
  static void start(const Subject& subject, Take& take) {
    if (take.once) {
      note("ORIEL_Win_wait_notify", subject.number());
      return right(subject, "ORIEL_Win_wait_notify",
                   notified().Win_wait_notify(subject.win, take.tag, &take.request));
    }
    note("ORIEL_Notify_init", subject.number());
    right(subject, "ORIEL_Notify_init",
          notified().Notify_init(subject.win, take.source, take.tag, take.count, &take.request));
    right(subject, "MPI_Start", MPI_Start(&take.request));
  }
  void probe(const Subject& subject, const Take& take) const {
    note("ORIEL_Notify_probe", subject.number());
    MPI_Status status{};
    right(subject, "ORIEL_Notify_probe",
          notified().Notify_probe(subject.win, take.source, take.tag, &status));
    std::vector<bool> none(all_.size());
    check_status(subject, take, status, none);
  }
  static void wait(const Subject& subject, Take& take, Random& random, MPI_Status& status) {
    note("waiting for a notification", subject.number());
    if (random.chance(60)) return right(subject, "MPI_Wait", MPI_Wait(&take.request, &status));
    for (int flag = 0; flag == 0;) {
      right(subject, "MPI_Test", MPI_Test(&take.request, &flag, &status));
    }
  }
  /// The status is that of a notification that has not been taken before.
  void check_status(const Subject& subject, const Take& take, const MPI_Status& status,
                    std::vector<bool>& taken) const {
    int bytes = -1;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Notification& one = all_[i];
      if (taken[i] || !take.takes(one) || one.source != status.MPI_SOURCE ||
          one.plan.tag != status.MPI_TAG || one.bytes() != bytes) {
        continue;
      }
      taken[i] = take.count == 1;
      return;
    }
    support::fail(__FILE__, __LINE__,
                  subject.describe("a notification") + ": none of " + std::to_string(bytes) +
                      " bytes from rank " + std::to_string(status.MPI_SOURCE) + " with tag " +
                      std::to_string(status.MPI_TAG) + " is expected.");
  }
  void check_bytes(const Subject& subject, const Take& take) const {
    const auto* base = static_cast<const std::byte*>(subject.base);
    const std::vector<std::byte>& model = subject.model[static_cast<std::size_t>(subject.rank)];
    for (const Notification& one : all_) {
      if (!one.lasting || !take.takes(one)) continue;
      const auto bytes = static_cast<std::size_t>(one.plan.there.bytes());
      for (std::size_t i = 0; i < one.moved; ++i) {
        const long place = one.plan.start + one.plan.there.place(static_cast<int>(i));
        if (std::memcmp(base + place, model.data() + place, bytes) == 0) continue;
        support::fail(__FILE__, __LINE__,
                      subject.describe(name_of(one.plan.kind)) + " has notified, but its element " +
                          std::to_string(i) + ", at byte " + std::to_string(place) +
                          ", is not there.");
      }
    }
  }

  std::vector<Notification> all_;
  std::vector<Take> takes_;
  std::vector<MPI_Request> counted_;  // for counters
};

}  // namespace fuzz
