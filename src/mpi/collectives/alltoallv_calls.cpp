// SPDX-License-Identifier: BSD-3-Clause
// ORIEL_Alltoallv_init, and the calls of MPI_Alltoallv_init that Oriel carries out.
#include <oriel/profiling.h>

#include <charconv>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/settings.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/gathered_alltoallw.hpp"
#include "mpi/calls/parameters.hpp"
#include "mpi/collectives/agreement.hpp"
#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/collectives/alltoallv_tasks.hpp"
#include "mpi/collectives/auto_choice.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/plan_collective.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"
#include "transport/shm/clock.hpp"

namespace oriel::mpi {
namespace {

/// True if a plan may carry out the collective. For `automatic` that is decided when the plan is
/// made.
constexpr bool by_plan(Algorithm algorithm) {
  return algorithm == Algorithm::automatic || algorithm == Algorithm::notified ||
         algorithm == Algorithm::notified_hierarchy;
}
/// True if the algorithm puts into a window on the receive buffers (ReceiveWindow).
constexpr bool needs_window(Algorithm algorithm) {
  return algorithm == Algorithm::fence || algorithm == Algorithm::fence_hierarchy ||
         algorithm == Algorithm::lock || algorithm == Algorithm::lock_hierarchy;
}
/// True if each rank holds a lock of its own part of that window except during a round.
constexpr bool locks(Algorithm algorithm) {
  return algorithm == Algorithm::lock || algorithm == Algorithm::lock_hierarchy;
}
/// True if puts to other nodes are issued before puts on the node.
constexpr bool far_first(Algorithm algorithm) {
  return algorithm == Algorithm::fence_hierarchy || algorithm == Algorithm::lock_hierarchy;
}

/// Reads the number of times that the program will start the request, from the info key
/// ORIEL_ALLTOALLV_STARTS; none if the info does not have the key.
Failure read_starts(MPI_Info info, std::optional<std::uint64_t>& starts) {
  starts.reset();
  const std::optional<std::string> given = info_value(info, ORIEL_ALLTOALLV_STARTS);
  if (!given) return {};
  std::uint64_t number = 0;
  const char* const end = given->data() + given->size();
  const auto [stopped, error] = std::from_chars(given->data(), end, number);
  if (error != std::errc() || stopped != end || number == 0) {
    return said(MPI_ERR_INFO_VALUE, "the info key oriel_alltoallv_starts is \"" + *given +
                                        "\"; it takes a whole number from 1 on");
  }
  starts = number;
  return {};
}

/// Measures the time since its construction.
class Lap {
 public:
  double microseconds() const { return static_cast<double>(nanoseconds_now() - began_) / 1000; }

 private:
  std::uint64_t began_ = nanoseconds_now();
};

/// Makes the request of a persistent alltoallv on one rank. All ranks do this, and all raise the
/// fault of any of them.
class AlltoallvMaker {
 public:
  AlltoallvMaker(const char* call, const AlltoallvArguments& arguments, MPI_Comm communicator,
                 int rank, MPI_Info info)
      : call_(call), arguments_(arguments), communicator_(communicator), rank_(rank), info_(info) {}

  int make(MPI_Request* request) {
    if (const int code = making_.open(call_, communicator_); code != MPI_SUCCESS) return code;
    Failure bad = check_outputs(request);
    if (!bad) bad = prepare();
    // A plan is made for each algorithm, because this checks that all ranks use the same one.
    static const Schedule nothing;
    const Schedule& planned = by_plan(algorithm_) ? made_.schedule : nothing;
    Plan* plan = nullptr;
    AutoChoice choice(call_, *making_.state(), rank_, arguments_.ranks);
    PlanTerms terms;
    if (algorithm_ == Algorithm::automatic) {
      terms = choice.terms(!bad && host_accepts(arguments_) && host_accepts_own_block(), starts_);
    }
    Lap lap;
    if (const int code =
            make_plan(call_, communicator_, making_.plan_window(), planned,
                      Signature(CollectiveKind::alltoallv, algorithm_), bad, plan, terms);
        code != MPI_SUCCESS) {
      return code;
    }
    if (algorithm_ == Algorithm::automatic) {
      algorithm_ = choice.made_by(*plan);
      if (algorithm_ == Algorithm::automatic) {
        return make_tried(*plan, lap.microseconds(), choice.tried(), request);
      }
      set_area();
    }
    // If true, another plan, which gathers blocks, carries out the collective.
    const bool gathered = algorithm_ == Algorithm::notified_hierarchy && gathers();
    if (by_plan(algorithm_) && !gathered) {
      return making_.finish(*plan, std::move(made_.memory), request);
    }
    {
      const Guard guard(engine.lock);
      making_.plan_window().core().free(*plan);
    }
    if (gathered) {
      if (const int code = make_gathered_plan(call_, communicator_, making_.plan_window(), rank_,
                                              buffers_, arguments_.in_place, made_, plan);
          code != MPI_SUCCESS) {
        return code;
      }
      return making_.finish(*plan, std::move(made_.memory), request);
    }
    std::unique_ptr<CollectiveTask> task;
    if (const int code = make_task(algorithm_, task); code != MPI_SUCCESS) return code;
    return making_.finish(std::move(task), std::move(made_.memory), request);
  }

 private:
  Failure prepare() {
    {
      const Guard guard(engine.lock);
      if (const Failure bad = read_buffers(arguments_, buffers_)) return bad;
    }
    if (const Failure bad = check_overlap(arguments_.receive, buffers_.receives)) return bad;
    if (const Failure bad = read_algorithm(info_, algorithm_)) return bad;
    if (const Failure bad = read_starts(info_, starts_)) return bad;
    set_area();
    if (!needs_window(algorithm_) && !by_plan(algorithm_) && !host_accepts(arguments_)) {
      return {MPI_ERR_COUNT, "the MPI library's own collective does not take such large counts"};
    }
    return make_schedule();
  }

  void set_area() {
    if (needs_window(algorithm_)) area_ = area_of(buffers_.receives, rank_, locks(algorithm_));
  }

  Failure make_schedule() {
    if (algorithm_ == Algorithm::two_sided) return {};
    try {
      made_ = buffers_.schedule(rank_, arguments_.in_place);
    } catch (const std::bad_alloc&) {
      return no_memory;
    }
    return {};
  }

  /// True if notified_hierarchy has blocks to gather; otherwise it is the same as notified.
  bool gathers() { return gathers_anywhere(NodeMap(rank_, making_.plan_window().core().nodes())); }

  /// Makes a request whose first starts show which algorithm is fastest. `plan`: the plan of
  /// `notified`, whose making took `making` microseconds.
  int make_tried(Plan& plan, double making, ExchangeTimes::Line line, MPI_Request* request) {
    auto tried = std::make_unique<TriedCollective>(call_, making_.state(), rank_, std::move(line));
    tried->add(Algorithm::notified, std::make_unique<PlanCollective>(making_.state(), plan),
               std::move(made_.memory), making);
    int code = add_others(*tried, making);
    if (code == MPI_SUCCESS) code = tried->make_sum_collectives(communicator_);
    if (code != MPI_SUCCESS) {
      const Guard guard(engine.lock);
      tried->let_go();
      return code;
    }
    return making_.finish(std::move(tried), {}, request);
  }

  int add_others(TriedCollective& tried, double making) {
    Lap lap;
    if (gathers()) {
      Plan* plan = nullptr;
      MadeSchedule made;
      if (const int code = make_gathered_plan(call_, communicator_, making_.plan_window(), rank_,
                                              buffers_, arguments_.in_place, made, plan);
          code != MPI_SUCCESS) {
        return code;
      }
      tried.add(Algorithm::notified_hierarchy,
                std::make_unique<PlanCollective>(making_.state(), *plan), std::move(made.memory),
                making + lap.microseconds());
      lap = Lap();
    }
    std::unique_ptr<CollectiveTask> task;
    if (const int code = make_task(Algorithm::two_sided, task); code != MPI_SUCCESS) return code;
    tried.add(Algorithm::two_sided, std::move(task), {}, making + lap.microseconds());
    return MPI_SUCCESS;
  }

  /// Makes a task that no plan carries out.
  int make_task(Algorithm algorithm, std::unique_ptr<CollectiveTask>& task) {
    offer(algorithm);
    if (const int code = agree(call_, communicator_, rank_, mine_, theirs_); code != MPI_SUCCESS) {
      return code;
    }
    if (needs_window(algorithm)) return task_in_window(task);
    made_ = {};
    return make_host_collective(call_, with_counts_of_senders(), making_.state(),
                                common(&Offer::usable), info_, task);
  }

  void offer(Algorithm algorithm) {
    mine_.resize(static_cast<std::size_t>(arguments_.ranks));
    Offer to_all;
    to_all.send_kind = buffers_.send_kind;
    to_all.receive_kind = buffers_.receive_kind;
    {
      const Guard guard(engine.lock);
      to_all.usable = needs_window(algorithm) ? making_.state()->windows().fitting(area_)
                                              : making_.state()->idle_duplicates();
      to_all.idle = making_.state()->windows().idle();
    }
    for (std::size_t other = 0; other < mine_.size(); ++other) {
      mine_[other] = to_all;
      mine_[other].sends = bytes_in(buffers_.sends[other]);
      mine_[other].space = bytes_in(buffers_.receives[other]);
      // Empty for the host's own collective, which needs no window.
      if (other < area_.offsets.size()) {
        mine_[other].offset = static_cast<std::int64_t>(area_.offsets[other]);
      }
    }
  }

  /// The bits that are set in the offers of all ranks.
  std::uint64_t common(std::uint64_t Offer::* bits) const {
    std::uint64_t all = ~std::uint64_t{0};
    for (const Offer& offer : theirs_) all &= offer.*bits;
    return all;
  }

  /// True if this rank's block to itself is a whole number of the elements that it receives. Open
  /// MPI refuses other blocks, but only from a rank to itself.
  bool host_accepts_own_block() const {
    const auto own = static_cast<std::size_t>(rank_);
    const std::uint64_t size = buffers_.receives[own].layout->size();
    return arguments_.in_place || size == 0 || bytes_in(buffers_.sends[own]) % size == 0;
  }

  /// The arguments with receive counts that are equal to the senders' counts, which hosts require:
  /// some wait forever for data that are not sent. In place, one array has both counts.
  AlltoallvArguments with_counts_of_senders() const {
    AlltoallvArguments exact = arguments_;
    for (std::size_t from = 0; !exact.in_place && from < theirs_.size(); ++from) {
      const std::uint64_t size = buffers_.receives[from].layout->size();
      if (size == 0) continue;
      exact.receive.counts[from] = static_cast<MPI_Count>((theirs_[from].sends + size - 1) / size);
    }
    return exact;
  }

  int task_in_window(std::unique_ptr<CollectiveTask>& task) {
    ReceiveWindow* window = nullptr;
    {
      const Guard guard(engine.lock);
      window = making_.state()->windows().acquire(common(&Offer::usable));
      making_.state()->windows().retire_old(common(&Offer::idle));
    }
    if (window == nullptr) {
      const int code = making_.state()->windows().make(call_, communicator_, rank_, area_, window);
      if (code != MPI_SUCCESS) return code;
    }
    task = make_window_collective(making_.state(), *window, std::move(made_.schedule), area_,
                                  theirs_, far_first(algorithm_));
    return MPI_SUCCESS;
  }

  const char* call_;
  const AlltoallvArguments& arguments_;
  MPI_Comm communicator_;
  int rank_;
  MPI_Info info_;
  AlltoallvBuffers buffers_;
  Algorithm algorithm_ = Algorithm::automatic;
  std::optional<std::uint64_t> starts_;
  MadeSchedule made_;
  ReceiveArea area_;
  CollectiveMaking making_;
  std::vector<Offer> mine_;
  std::vector<Offer> theirs_;
};

template <typename Count, typename Displacement>
int alltoallv_init(const char* call, ORIEL_ALLTOALLV_ARGS(Count, Displacement), MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
  AlltoallvArguments arguments;
  CollectiveCaller caller;
  if (const int code = find_caller(call, comm, caller); code != MPI_SUCCESS) return code;
  arguments.ranks = caller.ranks;
  const auto ranks = static_cast<std::size_t>(caller.ranks);
  arguments.large = sizeof(Count) > sizeof(int);
  arguments.in_place = sendbuf == MPI_IN_PLACE;
  if (!arguments.in_place) {
    arguments.send = AlltoallvSide("sendcounts", sendbuf, sendcounts, sdispls, sendtype, ranks);
  }
  arguments.receive = AlltoallvSide("recvcounts", recvbuf, recvcounts, rdispls, recvtype, ranks);
  if (runtime.disabled()) {
    return host_alltoallv_init(call, arguments, comm, info, request);
  }
  return AlltoallvMaker(call, arguments, comm, caller.rank, info).make(request);
}

#if ORIEL_HOST_PERSISTENT_COLLECTIVES

/// True if Oriel carries out a call of MPI's own name. The host carries out those on
/// intercommunicators, unless the info has the key ORIEL_ALLTOALLV.
bool asked_for(MPI_Info info, MPI_Comm communicator, bool large) {
  static const bool always = setting_bool("ORIEL_COLLECTIVES");
  if (runtime.disabled()) return false;
  return info_value(info, ORIEL_ALLTOALLV).has_value() ||
         (always && !intercommunicator(communicator)) || !host_has_alltoallv_init(large);
}

#endif

}  // namespace

}  // namespace oriel::mpi

using namespace oriel::mpi;

#define ORIEL_ALLTOALLV_CALL(Count, Displacement, suffix)                                    \
  ORIEL_CALL(Alltoallv_init##suffix)                                                         \
  (ORIEL_ALLTOALLV_ARGS(Count, Displacement), MPI_Comm comm, MPI_Info info,                  \
   MPI_Request * request) {                                                                  \
    return alltoallv_init("ORIEL_Alltoallv_init" #suffix, ORIEL_ALLTOALLV_NAMES, comm, info, \
                          request);                                                          \
  }
ORIEL_ALLTOALLV_CALL(int, int, )
ORIEL_ALLTOALLV_CALL(MPI_Count, MPI_Aint, _c)

#define ORIEL_MPI_ALLTOALLV_CALL(Count, Displacement, suffix)                               \
  ORIEL_MPI_CALL(Alltoallv_init##suffix)                                                    \
  (ORIEL_ALLTOALLV_ARGS(Count, Displacement), MPI_Comm comm, MPI_Info info,                 \
   MPI_Request * request) {                                                                 \
    if (!asked_for(info, comm, sizeof(Count) > sizeof(int))) {                              \
      return host_mpi().Alltoallv_init##suffix(ORIEL_ALLTOALLV_NAMES, comm, info, request); \
    }                                                                                       \
    return alltoallv_init("MPI_Alltoallv_init" #suffix, ORIEL_ALLTOALLV_NAMES, comm, info,  \
                          request);                                                         \
  }
#if ORIEL_HOST_PERSISTENT_COLLECTIVES
ORIEL_MPI_ALLTOALLV_CALL(int, int, )
#endif
#if ORIEL_HOST_LARGE_COUNTS
ORIEL_MPI_ALLTOALLV_CALL(MPI_Count, MPI_Aint, _c)
#endif
