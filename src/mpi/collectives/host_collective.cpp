// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/alltoallv_tasks.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mpi/collectives/agreement.hpp"
#include "mpi/host/host_library.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/runtime/runtime.hpp"
#include "transport/shm/clock.hpp"

namespace oriel::mpi {
namespace {

template <typename Count, typename Displacement>
using InitCall = int (*)(const void*, const Count*, const Displacement*, MPI_Datatype, void*,
                         const Count*, const Displacement*, MPI_Datatype, MPI_Comm, MPI_Info,
                         MPI_Request*);

template <typename Count, typename Displacement>
using NonblockingCall = int (*)(const void*, const Count*, const Displacement*, MPI_Datatype, void*,
                                const Count*, const Displacement*, MPI_Datatype, MPI_Comm,
                                MPI_Request*);

/// The host's function of one of these names; null: it has none. They are looked up, because an
/// older mpi.h does not declare them.
template <typename Call>
Call find_any(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* found = find_host_symbol(name)) return reinterpret_cast<Call>(found);
  }
  return nullptr;
}

InitCall<int, int> usual_call() {
  // Open MPI 4.1 has it as an extension.
  static const auto found =
      find_any<InitCall<int, int>>({"PMPI_Alltoallv_init", "PMPIX_Alltoallv_init"});
  return found;
}

InitCall<MPI_Count, MPI_Aint> large_call() {
  static const auto found = find_any<InitCall<MPI_Count, MPI_Aint>>({"PMPI_Alltoallv_init_c"});
  return found;
}

NonblockingCall<MPI_Count, MPI_Aint> large_nonblocking_call() {
  static const auto found = find_any<NonblockingCall<MPI_Count, MPI_Aint>>({"PMPI_Ialltoallv_c"});
  return found;
}

/// One side with int counts, as calls without large counts take them.
struct IntSide {
  IntSide() = default;
  explicit IntSide(const AlltoallvSide& side)
      : counts(side.counts.begin(), side.counts.end()),
        displacements(side.displacements.begin(), side.displacements.end()) {}
  std::vector<int> counts;
  std::vector<int> displacements;
};

bool fit_into_ints(const AlltoallvSide& side) {
  constexpr auto most = std::numeric_limits<int>::max();
  for (std::size_t rank = 0; rank < side.counts.size(); ++rank) {
    const MPI_Aint displacement = side.displacements[rank];
    const bool near = displacement <= most && displacement >= -most;
    if (side.counts[rank] > most || (side.counts[rank] != 0 && !near)) return false;
  }
  return true;
}

bool fit_into_ints(const AlltoallvArguments& arguments) {
  return fit_into_ints(arguments.receive) && (arguments.in_place || fit_into_ints(arguments.send));
}

/// Calls a function of the host with the counts of `sent` and `received`.
template <typename Call, typename Side, typename... Rest>
int call_alltoallv(Call&& function, const AlltoallvArguments& arguments, const Side& sent,
                   const Side& received, Rest... rest) {
  const void* from = arguments.in_place ? MPI_IN_PLACE : arguments.send.buffer;
  const AlltoallvSide& receive = arguments.receive;
  return function(from, sent.counts.data(), sent.displacements.data(), arguments.sent().type,
                  receive.buffer, received.counts.data(), received.displacements.data(),
                  receive.type, rest...);
}

/// MPI_Alltoallv_init with the counts of `sent` and `received`, or MPI_Alltoallv_init_c.
int init_by_host(const AlltoallvArguments& arguments, const IntSide& sent, const IntSide& received,
                 MPI_Comm communicator, MPI_Info info, MPI_Request* request) {
  if (arguments.large && host_has_alltoallv_init(true)) {
    return call_alltoallv(large_call(), arguments, arguments.sent(), arguments.receive,
                          communicator, info, request);
  }
  return call_alltoallv(usual_call(), arguments, sent, received, communicator, info, request);
}

/// Returns whether the type is predefined, so that the program cannot free it.
bool predefined_type(MPI_Datatype type) {
  const Guard guard(engine.lock);
  const Datatypes::Known* known = runtime.datatypes.find_committed(type);
  return known->basic != nullptr && known->basic->handle == type;
}

class HostCollective final : public CollectiveTask {
 public:
  HostCollective(const AlltoallvArguments& arguments, std::shared_ptr<CollectiveState> state)
      : arguments_(arguments), state_(std::move(state)), communicator_(state_->communicator()) {
    const auto size = static_cast<int>(arguments_.receive.counts.size());
    for (int rank = 0; rank < size; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const bool sends = !arguments_.in_place && arguments_.send.counts[at] != 0;
      if (sends || arguments_.receive.counts[at] != 0) partners_.push_back(rank);
    }
  }
  ~HostCollective() override {
    int ended = 0;
    host_mpi().Finalized(&ended);
    // Hosts do not free a request that waits for a rank that has ended.
    if (ended != 0 || active_) return;
    if (persistent_ && request_ != MPI_REQUEST_NULL) host_mpi().Request_free(&request_);
    for (MPI_Datatype& type : kept_) {
      if (type != MPI_DATATYPE_NULL) host_mpi().Type_free(&type);
    }
  }

  int prepare(std::uint64_t idle, MPI_Info info) {
    // A host's call that is refused on some ranks leaves the nonblocking collectives of its
    // communicator out of step. Without the hook the ranks agree on the failure by these.
    if (!ORIEL_HOST_COLLECTIVES_KEEP_COMM || !host_alltoallv_init_works() || !progress.hooked() ||
        state_->out_of_step()) {
      if (const int code = state_->acquire_duplicate(idle, duplicate_); code != MPI_SUCCESS)
        return code;
      duplicated_ = true;
      communicator_ = state_->duplicate(duplicate_);
    }
    AlltoallvSide& receive = arguments_.receive;
    AlltoallvSide& send = arguments_.in_place ? receive : arguments_.send;
    for (auto [side, kept] : {std::pair(&receive, &kept_[0]), std::pair(&send, &kept_[1])}) {
      if (predefined_type(side->type)) continue;
      const int code = host_mpi().Type_dup(side->type, kept);
      if (code != MPI_SUCCESS) return code;
      side->type = *kept;
    }
    send_ = IntSide(send);
    receive_ = IntSide(receive);
    persistent_ = host_alltoallv_init_works();
    if (!persistent_) return MPI_SUCCESS;
    // This object keeps the arrays, because hosts may read them until the request is freed.
    return init_by_host(arguments_, send_, receive_, communicator_, info, &request_);
  }

  /// Keeps the plan window open until let_go(): the window's Region reports ranks that have ended.
  void watch() {
    const Guard guard(engine.lock);
    state_->plan_window().add_watcher();
  }

  Failure start() override {
    if (persistent_) {
      code_ = host_mpi().Start(&request_);
    } else if (arguments_.large && large_nonblocking_call() != nullptr) {
      code_ = call_alltoallv(large_nonblocking_call(), arguments_, arguments_.sent(),
                             arguments_.receive, communicator_, &request_);
    } else {
      code_ = call_alltoallv(host_mpi().Ialltoallv, arguments_, send_, receive_, communicator_,
                             &request_);
    }
    active_ = code_ == MPI_SUCCESS;
    return failure();
  }
  bool done() override {
    int flag = 0;
    if (active_) code_ = host_mpi().Test(&request_, &flag, MPI_STATUS_IGNORE);
    if (flag != 0 || code_ != MPI_SUCCESS) active_ = false;
    return !active_;
  }
  /// Tests repeatedly, because MPI_Wait may wait forever for a rank that has ended.
  bool wait_in_host() override {
    const Pace& pace = engine.running()->pace;
    const std::uint64_t end = nanoseconds_now() + longest_in_host;
    // With the lock, because another thread that finds a lost rank may test this request, too.
    const auto over = [this] {
      const Guard guard(engine.lock);
      return done();
    };
    StepCount polls;
    while (!over()) {
      if (pace.yield_after_poll(polls) && nanoseconds_now() > end) break;
    }
    return true;
  }
  Failure outcome() const override {
    if (code_ == MPI_SUCCESS) return {};
    const int rank = lost_partner();
    if (rank < 0) return failure();
    return said(MPI_ERR_OTHER, "rank " + std::to_string(rank) +
                                   " of the communicator has ended or cannot be reached");
  }
  void abandon() override {}
  void let_go() override {
    state_->plan_window().remove_watcher();
    if (duplicated_ && !active_) state_->release_duplicate(duplicate_);
  }
  int lost() override { return lost_partner(); }

 private:
  static constexpr std::uint64_t longest_in_host =
      200'000'000;  // in nanoseconds; then the caller checks for lost ranks

  int lost_partner() const {
    Region& region = state_->plan_window().core().resources().region;
    const auto lost = std::ranges::find_if(
        partners_, [&](int rank) { return rank != region.rank() && !region.alive(rank); });
    return lost != partners_.end() ? *lost : -1;
  }
  Failure failure() const {
    if (code_ == MPI_SUCCESS) return {};
    Explanation fault =
        fault_of_host(code_, state_->plan_window().core().resources().region.rank());
    return said(fault.error_class, std::move(fault.reason));
  }

  AlltoallvArguments arguments_;
  IntSide send_;  // kept, because the host reads the arrays later
  IntSide receive_;
  std::array<MPI_Datatype, 2> kept_{MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  std::shared_ptr<CollectiveState> state_;
  bool duplicated_ = false;
  std::size_t duplicate_ = 0;  // the number of the duplicate: see CollectiveState
  std::vector<int> partners_;  // ranks that it sends data to or receives data from
  MPI_Comm communicator_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool persistent_ = false;
  bool active_ = false;
  int code_ = MPI_SUCCESS;
};

}  // namespace

bool host_has_alltoallv_init(bool large) {
  return large ? large_call() != nullptr : usual_call() != nullptr;
}

bool host_alltoallv_init_works() {
  // Intel MPI 2021.18: a persistent collective whose request reuses the memory of a freed request
  // of MPI_Recv_init moves no data and is reported as complete.
  static const bool works =
      usual_call() != nullptr && library_version().find("Intel(R) MPI") == std::string::npos;
  return works;
}

bool host_accepts(const AlltoallvArguments& arguments) {
  const bool large = host_alltoallv_init_works() ? host_has_alltoallv_init(true)
                                                 : large_nonblocking_call() != nullptr;
  return (arguments.large && large) || fit_into_ints(arguments);
}

int host_alltoallv_init(const char* call, const AlltoallvArguments& arguments,
                        MPI_Comm communicator, MPI_Info info, MPI_Request* request) {
  if (!host_has_alltoallv_init(false)) {
    return raise(communicator, call, MPI_ERR_OTHER,
                 "Oriel is disabled, and the MPI library has no MPI_Alltoallv_init");
  }
  if (!(arguments.large && host_has_alltoallv_init(true)) && !fit_into_ints(arguments)) {
    return raise(communicator, call, MPI_ERR_COUNT,
                 "a count or displacement does not fit into an int, Oriel is disabled, and the MPI "
                 "library has no MPI_Alltoallv_init_c");
  }
  return init_by_host(arguments, IntSide(arguments.sent()), IntSide(arguments.receive),
                      communicator, info, request);
}

int make_host_collective(const char* call, const AlltoallvArguments& arguments,
                         const std::shared_ptr<CollectiveState>& state, std::uint64_t idle,
                         MPI_Info info, std::unique_ptr<CollectiveTask>& task) {
  MPI_Comm communicator = state->communicator();
  auto made = std::make_unique<HostCollective>(arguments, state);
  Explanation fault;
  if (const int code = made->prepare(idle, info); code != MPI_SUCCESS) {
    fault = fault_of_host(code, state->plan_window().core().resources().region.rank());
  }
  if (const int code = agree_on_fault(call, communicator, fault); code != MPI_SUCCESS) {
    // The host may have begun a collective on some ranks only: later tasks use duplicates
    // (prepare()).
    state->put_out_of_step();
    return code;
  }
  made->watch();
  task = std::move(made);
  return MPI_SUCCESS;
}

}  // namespace oriel::mpi
