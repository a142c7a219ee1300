// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/activation.hpp"
#include "core/atomic_set.hpp"
#include "core/control.hpp"
#include "core/done_word.hpp"
#include "core/epoch.hpp"
#include "core/error.hpp"
#include "core/fence_count.hpp"
#include "core/lock_queue.hpp"
#include "core/message.hpp"
#include "core/operation.hpp"
#include "core/transport.hpp"
#include "core/update.hpp"

namespace oriel {

class Process;
struct Board;
struct Offer;

/// How this process reaches a rank's window memory.
enum class Path : std::uint8_t {
  mapped,  // loads, stores and CPU atomics at the call
  vm,      // private memory of a node peer: one system call at the call
  served   // messages, carried out by the target's engine
};

/// What a window knows about one of its ranks, given at creation.
struct Member {
  int process = 0;           // number in the transport
  std::uint32_t window = 0;  // the window's number there
  Path path = Path::mapped;
  bool private_memory = false;  // peers cannot map it: CPU atomics do not serve accumulates
  std::byte* base = nullptr;    // mapped: address here; our own rank: always our own address
  std::uint64_t address = 0;    // vm: address in the peer's process
  std::uint64_t size = 0;       // bytes
  std::uint64_t disp_unit = 1;
  ControlBlock* control = nullptr;  // null exactly when path is served, in both directions
  Doorbell* doorbell = nullptr;     // null exactly when control is
  Board* board = nullptr;           // vm: where it takes offers; null: nowhere
  bool direct = false;              // served: its memory is exposed to direct transfers,
  RemoteMemory memory;              // here

  // Where the window has an AtomicSet: of every rank, our own included.
  int atomic_process = 0;      // number in the transport for atomics
  RemoteMemory atomic_memory;  // exposed to them

  /// Bytes from the start of its window memory.
  std::uint64_t offset(std::int64_t displacement) const {
    return static_cast<std::uint64_t>(displacement) * disp_unit;
  }
};

struct WindowSpec {
  std::uint32_t id = 0;  // this process's number of the window, given once
  int rank = 0;
  std::vector<Member> members;  // by rank; members[rank].control is our own block, never null
  Reorder reorder;
  bool no_locks = false;
  /// Some rank of the window is remote to some other: fences are counted, and a sweep looks for
  /// messages. The same on all ranks.
  bool remote = false;
  /// Others may load and store our memory without a call (shared windows): a blocking lock must
  /// then hold the lock when it returns.
  bool shared = false;
  AtomicSet atomics;  // the same on all ranks
};

/// Assertions of the synchronization calls, as bits of their own; the boundary translates MPI's.
/// One byte: bools apart would be stored one by one and loaded as one word, which stalls.
struct Assert {
  bool no_check : 1 = false;
  bool no_store : 1 = false;
  bool no_put : 1 = false;
  bool no_precede : 1 = false;
  bool no_succeed : 1 = false;
  bool weak_unlock : 1 = false;  // the unlock need not wait until the operations are complete there
};

/// One rank's side of one RMA window: its epochs and the way to each peer.
///
/// Calls either finish (`done`), or are posted and tell the Completion in a later sweep of the
/// Process. Nothing here blocks. Not thread-safe; the caller serializes per Process.
class Window {
 public:
  Window(Process& process, WindowSpec spec);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  std::uint32_t id() const { return id_; }
  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(peers_.size()); }
  const Member& member(int rank) const { return peers_[static_cast<std::size_t>(rank)].member; }
  void set_reorder(Reorder reorder) { reorder_ = reorder; }
  Reorder reorder() const { return reorder_; }
  /// From now on peers' memory is touched by plain loads and stores (MPI_Win_shared_query).
  void set_shared() { shared_ = true; }
  bool shared() const { return shared_; }
  /// Some rank is remote to some other.
  bool counted() const { return count_ != nullptr; }
  /// Why the last failed call failed: the second half of a sentence.
  const char* reason() const { return reason_; }

  // Opening an epoch finishes at once (E2).
  Error post(std::span<const int> origins, Assert assertion);
  Error start(std::span<const int> targets, Assert assertion);
  Error lock(bool exclusive, int target, Assert assertion);
  Error lock_all(Assert assertion);
  /// Closes and opens, as the assertion tells; the outcome is that of the closing (E6). `barrier`:
  /// wait for all ranks even if no epoch can be open, as programs expect of a blocking fence
  /// without MPI_MODE_NOPRECEDE. Ranks need not agree on it. The caller makes no other call on the
  /// window before the completion: in the usual case the open epoch is not replaced but renewed,
  /// with the ways to its targets as they are.
  Outcome fence(Assert assertion, bool barrier, Completion* completion);

  // Closing.
  Outcome complete(Completion* completion);
  Outcome wait(Completion* completion);
  /// MPI_Win_test: closes the exposure epoch if it can complete now.
  Error test(bool& flag);
  Outcome unlock(int target, Completion* completion);
  Outcome unlock_all(Completion* completion);

  // Flushing; `local`: origin buffers only (E9).
  Outcome flush(int target, bool local, Completion* completion);
  Outcome flush_all(bool local, Completion* completion);
  /// MPI_Win_sync.
  Error sync();

  /// Whether a lock or lock_all epoch is open for `target`.
  bool passive(int target) const {
    return peers_[static_cast<std::size_t>(target)].lock != nullptr ||
           (access_ != nullptr && access_->kind == EpochKind::lock_all);
  }
  /// Whether the lock of `target` is held now; for a blocking lock that must hold it on return.
  bool lock_held(int target);

  /// Any operation. `done`: carried out, or recorded without a completion to call.
  Outcome issue(const Operation& operation);

  /// The hot path's question: where do `bytes` bytes at `displacement` of `target` lie in our
  /// address space, when operations to it may go straight there? Null: use issue().
  std::byte* direct(int target, std::int64_t displacement, std::uint64_t bytes) const {
    const Peer& peer = peers_[static_cast<std::size_t>(target)];
    if (peer.ready == nullptr || displacement < 0) return nullptr;
    const std::uint64_t offset = peer.member.offset(displacement);
    if (offset + bytes > peer.member.size || offset > peer.member.size) return nullptr;
    peer.ready->used = true;
    return peer.member.base + offset;
  }
  /// The hot path of accumulates: `count` elements in a row at both sides. False: use issue().
  bool reduce_directly(int target, std::int64_t displacement, const Reduction& reduction,
                       const void* origin, void* fetched, std::uint64_t count) {
    if (!atomics_.empty() && atomics_.has(bit(reduction.op), reduction.basic)) return false;
    std::byte* where = direct(target, displacement, count * reduction.element);
    if (where == nullptr) return false;
    reduce(reduction, peer(target), where, origin, fetched, count);
    return true;
  }
  /// Likewise of compare-and-swap.
  bool compare_swap_directly(int target, std::int64_t displacement, const Reduction& reduction,
                             const void* origin, const void* compare, void* result) {
    if (!atomics_.empty() && atomics_.has(compare_swap_bit, reduction.basic)) return false;
    std::byte* where = direct(target, displacement, reduction.element);
    if (where == nullptr) return false;
    compare_swap(reduction.element, peer(target), where, origin, compare, result);
    return true;
  }

  /// The hot path's question of a flush: everything issued to `target` in its lock or lock_all
  /// epoch is finished. False: use flush().
  bool flushed(int target) const {
    const Target* ready = peers_[static_cast<std::size_t>(target)].ready;
    if (ready == nullptr || !ready->passive || ready->finished != ready->issued ||
        ready->atomics != 0) {
      return false;
    }
    // What the next release of this process publishes must include the stores made so far.
    std::atomic_thread_fence(std::memory_order_release);
    return true;
  }

  /// Whether an epoch of any kind is open or not yet completed (MPI_Win_free asks).
  bool quiet() const { return first_ == nullptr && flushes_ == 0; }
  /// An epoch with something in it, open at the application level.
  bool open_epoch() const;

  /// A rank that something pending here waits for and that has ended; -1: none that we know of.
  /// Others are not asked after: a question may take a connection.
  int lost_peer();

  /// Carries everything that can go on, without blocking (E10). True if anything moved.
  bool sweep();
  /// Carries out what a node peer has offered; false: it is to do so itself.
  bool carry_out(Offer& offer);
  /// Takes a message of a remote peer. False: no such message can be; nothing has been changed.
  bool deliver(const Message& message, std::span<const std::byte> payload);
  /// A direct transfer or an atomic of this operation is over.
  void transferred(RecordedOperation& recorded, const Transfer& transfer);

 private:
  /// Messages of one origin that wait for their gates, in order of arrival.
  struct Held {
    std::deque<HeldMessage> lock, other;
  };

  /// One rank of the window. What the hot path reads comes first, in one cache line.
  struct alignas(cache_line) Peer {
    Target* ready = nullptr;  // set while operations of the open epoch may go straight to memory
    Member member;
    Slot* in = nullptr;          // what the peer tells us
    Slot* out = nullptr;         // where we tell the peer; null: by message
    Epoch* lock = nullptr;       // our open lock epoch
    Epoch* locking = nullptr;    // our epoch that has requested or holds the peer's lock
    Epoch* touched = nullptr;    // the open start, fence or lock_all epoch that has a Target for it
    Target* target = nullptr;    // that Target
    std::uint64_t accesses = 0;  // accesses requested to it (paper: a_l)
    std::uint64_t exposures = 0;      // exposures opened to it (paper: e_l)
    std::uint64_t lock_requests = 0;  // remote: lock requests sent to it
    DoneWord done;                    // access epochs to it that we have completed

    // Remote peers only.
    std::uint64_t lock_grants = 0;   // its lock requests that we have granted
    std::uint64_t ahead = 0;         // bytes sent to it that it may have to hold back
    std::uint64_t ahead_access = 0;  // the last access, lock request and fence epoch of those
    std::uint64_t ahead_lock = 0;
    std::uint64_t ahead_fence = 0;
    bool ahead_unchecked = false;  // and some of locks with NOCHECK, which only an answer settles
    Error failed = Error::none;    // an operation of its that had no reply
    // Weak unlocks that left it operations without a question: all, those that some later question
    // answers for, and those that have been answered for.
    std::uint64_t weak_sent = 0;
    std::uint64_t weak_asked = 0;
    std::uint64_t weak_answered = 0;
    std::uint64_t fence_answered = 0;  // the last fence that an answer says it has ended
    bool standing = false;             // it waits in our lock queue, and we in its place
    bool holding = false;              // it has our lock
    bool exclusive = false;            // that one
    std::unique_ptr<Held> held;
  };

  Error fail(Error error, const char* reason) {
    reason_ = reason;
    return error;
  }
  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  static bool remote(const Peer& peer) { return peer.member.control == nullptr; }
  bool valid_rank(int rank) const { return rank >= 0 && rank < ranks(); }
  void add_work(std::uint64_t amount = 1);
  void remove_work(std::uint64_t amount = 1);

  // epochs.cpp: the life of an epoch.
  Epoch& create(EpochKind kind);
  void open(Epoch& epoch);
  bool may_activate(const Epoch& epoch) const;
  void activate(Epoch& epoch);
  Outcome close(Epoch& epoch, Completion* completion);
  bool progress(Epoch& epoch);
  bool completed(Epoch& epoch);
  /// Completed, and no remote target may be holding its operations back: the next one may follow
  /// (E5). MPI_Win_complete need not wait for that.
  bool over(Epoch& epoch);
  /// A remote target learns by a mark that all of a fence epoch's operations have been sent.
  bool marked(const Target& target) { return remote(peer(target.rank)) && target.issued != 0; }
  void retire(Epoch& epoch);
  bool fence_over(Epoch& epoch);
  void announce_fence(std::uint64_t call);
  bool begin_count(Epoch& epoch);
  bool count_over(Epoch& epoch);
  /// A mapped peer has ended the last fence that we have ended: what others have sent it before
  /// that fence is in its memory.
  bool settled(const Peer& peer) const {
    return count_ == nullptr || peer.in->fence.load(std::memory_order_acquire) >= last_fence_;
  }
  bool may_renew_fence(Assert assertion) const;
  Outcome renew_fence(Completion* completion);
  bool renewed(Epoch& epoch);
  Error retire_unused_fence();

  // What weak unlocks have left: operations that may not be complete at their target.
  static bool weak_left(const Peer& peer) { return peer.weak_answered < peer.weak_sent; }
  /// Makes all targets of such operations targets of the lock_all epoch, which will ask for them.
  void touch_weak(Epoch& epoch);
  /// Asks for them; the next epoch that is not of a lock follows when they have been answered for.
  void settle_weak();
  bool weak_unasked(int rank) const;

  bool lock_lightly(bool exclusive, Peer& peer);
  Outcome unlock_lightly(Peer& peer);

  // targets.cpp: one target of an epoch.
  Target& add_target(Epoch& epoch, int rank);
  Target& touch(Epoch& epoch, int rank);
  bool advance(Epoch& epoch, Target& target);
  bool exposed(const Target& target);
  bool obtain(Epoch& epoch, Target& target);
  void request_lock(Epoch& epoch, Target& target, Peer& peer);
  bool tell(Epoch& epoch, Target& target);
  void give_back(Peer& peer, int origin, bool exclusive);
  LockLine lock_line(Peer& peer) { return LockLine(*peer.member.control, transport_, asymmetric_); }
  bool lock_granted(Target& target, Peer& peer);
  void send_errand(Epoch& epoch);
  void append(Target& target, RecordedOperation& recorded);
  RecordedOperation& record(const Operation& operation, Epoch& epoch, Target& target);
  void finish(RecordedOperation& recorded, Error error);
  void conclude(RecordedOperation& recorded, Error error);
  void satisfy_flushes(Target& target);
  void cover(Epoch& epoch, Target& target, bool local, FlushRequest*& request);
  Outcome covered(FlushRequest* request, Completion* completion);

  // lost_peer.cpp: whom something pending waits for.
  bool awaits_anybody(const Epoch& epoch);
  bool awaits(const Epoch& epoch, const Target& target);

  // steps.cpp: what one process tells another, by store or by message.
  void announce(Peer& peer, MessageKind kind, std::uint64_t word);
  void wake(Peer& peer);
  void send(Peer& peer, Message message, std::span<const std::byte> payload = {});
  void push();
  void send_count();

  // requests.cpp: operations on remote targets, at the origin.
  Outcome issue_remote(const Operation& operation, Epoch& epoch, Target& target);
  bool advance_remote(Epoch& epoch, Target& target);
  bool tell_remote(Epoch& epoch, Target& target);
  bool open_for(Epoch& epoch, Target& target);
  void settle_ahead(Peer& peer) const;
  bool may_send(Epoch& epoch, Target& target, std::uint64_t bytes);
  bool may_transfer(Epoch& epoch, Target& target);
  bool transmit(RecordedOperation& recorded);
  bool transmit_directly(RecordedOperation& recorded);
  bool transmit_by_messages(RecordedOperation& recorded);
  bool goes_directly(const Operation& operation) const;
  bool transmit_at_once(const Operation& operation, Epoch& epoch, Target& target);
  Message request(const Operation& operation, const Epoch& epoch, const Target& target) const;
  void send_piece(Message message, const Operation& operation, std::uint64_t first,
                  std::uint64_t bytes);
  void describe(const Layout& layout, Peer& peer);
  void ask(Epoch& epoch, Target& target);
  RecordedOperation& question(Epoch& epoch, Target& target);
  void send_question(RecordedOperation& question);
  static void note_asked(RecordedOperation& question, Peer& peer);
  Message of_lock(MessageKind kind, const Epoch& epoch) const;
  bool send_unlock(Epoch& epoch, Target& target);
  bool take_reply(const Message& message, std::span<const std::byte> payload);

  // atomics.cpp: accumulates by the transport's own atomics, on all targets alike.
  bool aligned(const Operation& operation) const;
  Outcome issue_atomic(const Operation& operation, Epoch& epoch, Target& target);
  bool transmit_atomic(RecordedOperation& recorded);

  // service.cpp: the same, at the target.
  bool take_gated(const Message& message, std::span<const std::byte> payload);
  bool gate_open(const Message& message);
  void carry_out(const Message& message, std::span<const std::byte> payload, const Layout* layout);
  void release_held(Peer& origin);
  void release_all_held();
  void reply_to(const Message& message, Error error, std::span<const std::byte> fetched = {});
  void serve(const Message& message, std::span<const std::byte> payload, const Layout* layout);
  Reduction reduction_of(const Message& message) const;
  Error check_request(const Message& message, const Layout* layout);
  void serve_run(const Message& message, std::byte* where, const std::byte* operands,
                 std::byte* fetched, std::uint64_t bytes);
  bool take_layout(const Message& message, std::span<const std::byte> payload);

  // data.cpp: the bytes of an operation.
  Error check(const Operation& operation, const Peer& peer);
  Error perform(const Operation& operation, Peer& peer);
  Error perform_mapped(const Operation& operation, Peer& peer, std::byte* base);
  Error perform_vm(const Operation& operation, Peer& peer, std::uint64_t base);
  Error copy_vm(const Operation& operation, Peer& peer, std::uint64_t base, std::uint64_t done);
  Update update(Peer& peer, const void* target, std::uint32_t element, std::uint64_t count) {
    const bool alone =
        count > most_atomics || peer.member.private_memory || !atomic_element(element, target);
    return Update(*peer.member.control, rank_, transport_, asymmetric_, alone);
  }
  void reduce(const Reduction& reduction, Peer& peer, void* target, const void* origin,
              void* fetched, std::uint64_t count) {
    const Update held = update(peer, target, reduction.element, count);
    (held.alone() ? reduce_plain : reduce_atomic)(reduction, target, origin, fetched, count);
  }
  void compare_swap(std::uint32_t element, Peer& peer, void* target, const void* origin,
                    const void* compare, void* result) {
    const Update held = update(peer, target, element, 1);
    (held.alone() ? compare_swap_plain : compare_swap_atomic)(element, target, origin, compare,
                                                              result);
  }
  static bool make_errand(const Operation& operation, const Peer& peer, Errand& errand);
  void run_errand(const Errand& errand, Peer& peer);

  // offers.cpp: operations that the owner of private memory carries out, if it happens to look.
  std::uint64_t offer(const Operation& operation, Peer& peer);
  bool post_offer(const Operation& operation, Peer& peer, std::uint64_t from, std::uint64_t bytes);
  bool await_offer(const Operation& operation, Peer& peer, std::uint64_t from);
  static bool take_back_offer(Peer& peer);
  bool carry_out_long(const Offer& offer, const Reduction& reduction, std::byte* where);
  /// After so many looks in vain at what a peer is copying: false if it has ended.
  bool still_copying(unsigned looks, const Peer& peer);

  /// More elements than this are updated alone: as many CPU atomics take a few microseconds, as
  /// asking for the right does.
  static constexpr std::uint64_t most_atomics = 512;

  Process& process_;
  Transport& transport_;
  std::uint32_t id_;
  int rank_;
  bool no_locks_;
  bool shared_;
  bool attending_;               // node peers may offer operations on our memory
  bool asymmetric_;              // all peers obey Transport::fence_peers()
  bool fence_possible_ = false;  // a fence epoch may be open somewhere (known to all ranks alike)
  Reorder reorder_;
  AtomicSet atomics_;
  const char* reason_ = "";
  std::vector<Peer> peers_;
  ControlBlock* mine_;
  Epoch* first_ = nullptr;  // all epochs from opening to completion, in opening order
  Epoch* last_ = nullptr;
  Epoch* access_ = nullptr;    // open start, fence or lock_all epoch
  Epoch* exposure_ = nullptr;  // open post epoch
  /// The lock epoch of the usual case: nothing pending, lock free, target reached without messages.
  /// It is active and granted from opening to closing and completes as it closes, so it needs no
  /// place in the list.
  Epoch light_;
  bool light_held_ = false;
  std::uint64_t open_locks_ = 0;
  std::uint64_t closed_ = 0;       // epochs closed and not completed
  std::uint64_t deferred_ = 0;     // epochs not yet active
  std::uint64_t weak_peers_ = 0;   // weak_left()
  std::uint64_t weak_closed_ = 0;  // epochs with a weak unlock, closed and not completed
  std::uint64_t events_ = 0;
  std::uint64_t fence_calls_ = 0;
  std::unique_ptr<FenceCount> count_;  // where some rank is remote to some other
  std::uint64_t last_fence_ = 0;       // likewise: the last closing fence that we have ended
  std::uint64_t open_fence_ = 0;       // the call that opened our active fence epoch
  std::uint64_t held_ = 0;             // messages held back
  std::uint64_t flushes_ = 0;          // pending flush requests
  std::uint64_t work_ = 0;             // our share of Process::pending()
  std::vector<int> standing_;       // remote origins in our lock queue, for whom we stand in line
  std::vector<int> told_;           // scratch of give_back
  std::vector<std::byte> scratch_;  // payload being put together, results being fetched
};

}  // namespace oriel
