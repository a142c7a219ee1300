// SPDX-License-Identifier: BSD-3-Clause
// The words that processes share without a lock, in all that a few ranks can do with them: the code
// is the one that runs in production, see memory.hpp for the memory under it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "biased_scene.hpp"
#include "errand_scene.hpp"
#include "laden_scene.hpp"
#include "meeting_scene.hpp"
#include "pieces_scene.hpp"
#include "scenarios.hpp"
#include "several_locks_scene.hpp"
#include "version_scene.hpp"

namespace oriel::model {
namespace {

using Scripts = std::vector<std::string>;
using Kind = Mutation::Kind;

std::unique_ptr<Scene> lock(const Scripts& scripts, bool asymmetric = true) {
  return std::make_unique<LockScene>(scripts, asymmetric);
}
std::unique_ptr<Scene> several_locks(const Scripts& scripts) {
  return std::make_unique<SeveralLocksScene>(scripts);
}
std::unique_ptr<Scene> update(const Scripts& scripts, bool asymmetric = true) {
  return std::make_unique<UpdateScene>(scripts, asymmetric);
}
std::unique_ptr<Scene> sleep(int storers, int words, int sleepers) {
  return std::make_unique<SleepScene>(storers, words, sleepers);
}

std::unique_ptr<Scene> tree(int ranks, int fences) {
  return std::make_unique<TreeScene>(ranks, fences);
}
std::unique_ptr<Scene> watch(int watchers) {
  return std::make_unique<WatchScene>(watchers);
}
std::unique_ptr<Scene> mailbox(const Scripts& scripts) {
  return std::make_unique<MailboxScene<false>>(scripts);
}
std::unique_ptr<Scene> notifications(const Scripts& scripts) {
  return std::make_unique<MailboxScene<true>>(scripts);
}
std::unique_ptr<Scene> inlined(const Scripts& scripts, bool overwrites, bool asymmetric = true) {
  return std::make_unique<LadenScene>(scripts, overwrites, asymmetric);
}
std::unique_ptr<Scene> biased(const Scripts& scripts, bool asymmetric = true) {
  return std::make_unique<BiasedScene>(scripts, asymmetric);
}
std::unique_ptr<Scene> errands(const Scripts& scripts, std::uint32_t declined = 0) {
  return std::make_unique<ErrandScene>(scripts, declined);
}
std::unique_ptr<Scene> pieces(const std::string& changes, const std::string& looks) {
  return std::make_unique<PiecesScene>(changes, looks);
}
std::unique_ptr<Scene> version(int changes, int readers, int looks) {
  return std::make_unique<VersionScene>(changes, readers, looks);
}
std::unique_ptr<Scene> meeting(int uses, int pieces, MeetingScene::Movers movers, bool sleep,
                               bool failing = false) {
  return std::make_unique<MeetingScene>(uses, pieces, movers, sleep, failing);
}
std::unique_ptr<Scene> cells(int uses, int pieces, bool sleep) {
  return std::make_unique<CellScene>(uses, pieces, sleep);
}

/// The whole space, without a violation.
void holds(const std::unique_ptr<Scene>& scene, int kills = 0) {
  constexpr std::uint64_t most_states = 60'000'000;
  const Result result = scene->search({}, kills, most_states);
  std::printf("  %-44s %s %9llu states %10llu steps\n", scene->description().c_str(),
              kills == 0 ? "      " : "killed", static_cast<unsigned long long>(result.states),
              static_cast<unsigned long long>(result.steps));
  EXPECT_EQ(result.violation, "") << scene->description() << "\n" << result.trace;
  EXPECT_TRUE(result.complete) << scene->description();
}

/// Spaces that take minutes.
bool soaking() {
  return std::getenv("ORIEL_MODEL_LARGE") != nullptr;
}

TEST(Model, ALockExcludesAndIsHandedOn) {
  for (const Scripts& scripts :
       {Scripts{"xx", "xx"}, {"sx", "xs"}, {"xe", "ex"}, {"xj", "jx"}, {"ej", "se"}}) {
    holds(lock(scripts));
  }
  for (const Scripts& scripts : {Scripts{"xxx", "x"}, {"ex", "se"}}) holds(lock(scripts, false));
}

// A streak of the first rank lets it become the keeper once more, see Words::long_streak.
TEST(Model, AKeeperComesBack) {
  holds(lock({"xxxx", "xx"}));
  holds(lock({"xxxx", "xx"}, false));
}

// Shared holders are not counted until there has been an exclusive one, and again after a streak.
TEST(Model, UncountedHoldersComeBack) {
  for (const Scripts& scripts :
       {Scripts{"ss", "sx"}, {"sss", "x"}, {"sjs", "x"}, {"xsx", "s"}, {"ssssss", "xx"}}) {
    holds(lock(scripts));
    holds(lock(scripts, false));
  }
}

/// A rank has seen that there may be uncounted holders, says that it is one, and has looked at the
/// line, all of it before an exclusive request of the next rank lines up; between these there was
/// an exclusive holder, and now the third rank begins another phase of uncounted holders.
std::unique_ptr<Scene> stale_phase() {
  auto scene = lock({"ss", "xx", "sss"});
  scene->begin({{0, "store locked[0] = 0"},
                {0, ""},
                {0, "store locked[0] = 2"},
                {1, "exchange holders"},
                {1, ""},
                {1, ""},
                {2, "add holders"},
                {2, ""},
                {2, "load line"},
                {2, ""},
                {2, "add holders"},
                {1, "load contended"},
                {1, ""},
                {1, ""},
                {2, ""},
                {2, "load line"},
                {2, ""},
                {2, "load contended"},
                {2, ""},
                {2, ""},
                {0, ""},
                {0, ""}});
  return scene;
}

TEST(Model, AnUncountedHolderIsOfOnePhase) {
  holds(stale_phase());
}

TEST(Model, ThreeRanksShareALock) {
  holds(lock({"j", "s", "x"}));
  if (!soaking()) return;
  for (const Scripts& scripts : {Scripts{"s", "s", "x"},
                                 {"s", "x", "x"},
                                 {"x", "x", "x"},
                                 {"e", "x", "s"},
                                 {"e", "e", "x"},
                                 {"xx", "x", "s"},
                                 {"xxxx", "xxx"}}) {
    holds(lock(scripts));
  }
  holds(lock({"j", "s", "x"}, false));
}

// E18: ranks that take their locks in one order do not wait for one another; others do.
TEST(Model, SeveralLocksInOneOrder) {
  holds(several_locks({"01", "01"}));
  holds(several_locks({"01", "1"}));
  if (soaking()) holds(several_locks({"01", "0", "1"}));
  const Result unordered = several_locks({"01", "10"})->search({}, 0, 20'000'000);
  EXPECT_EQ(unordered.violation, "stuck: not all ranks that live can finish") << unordered.trace;
}

TEST(Model, UpdatesExcludeOneAnother) {
  for (const Scripts& scripts : {Scripts{"ea", "e"},
                                 {"eea", "ea"},
                                 {"aa", "ee"},
                                 {"aa", "aa"},
                                 {"a", "aee"},
                                 {"e", "e", "a"},
                                 {"e", "e", "e"},
                                 {"a", "a", "a"}}) {
    holds(update(scripts));
    holds(update(scripts, false));
  }
  if (!soaking()) return;
  for (const Scripts& scripts : {Scripts{"ee", "e", "a"}, {"ea", "ae", "e"}}) {
    holds(update(scripts));
  }
}

// G8: threads update in lines of their own, while the right to update alone comes and goes.
TEST(Model, ThreadsUpdateWithoutTheLock) {
  for (const Scripts& scripts : {Scripts{"kww", "ea"},
                                 {"lvw", "ke"},
                                 {"kw", "kw"},
                                 {"elw", "a"},
                                 {"e", "e", "ww"},
                                 {"ae", "kw", "w"}}) {
    holds(update(scripts));
    holds(update(scripts, false));
  }
  for (const Scripts& scripts : {Scripts{"kww", "a"}, {"kw", "e", "a"}}) holds(update(scripts), 1);
  if (soaking()) holds(update({"kw", "ae", "ww"}));
}

TEST(Model, AWakeUpIsNotLost) {
  holds(sleep(1, 3, 1));
  holds(sleep(2, 2, 1));
  holds(sleep(1, 2, 2));
}

TEST(Model, ATreeCountsFences) {
  holds(tree(2, 3));
  holds(tree(3, 1));
  holds(tree(3, 2));
}

TEST(Model, AnAnnouncementIsNotMissed) {
  holds(watch(1));
  holds(watch(2));
}

TEST(Model, RecordsAreReadInOrder) {
  holds(mailbox({"12"}));
  holds(mailbox({"2222"}));
  holds(mailbox({"1", "2"}));
  if (soaking()) holds(mailbox({"12", "21"}));
  holds(notifications({"11111"}));
  holds(notifications({"1", "1"}));
  if (soaking()) holds(notifications({"11", "1"}));
}

TEST(Model, AKilledProducerCostsItsRecord) {
  holds(mailbox({"12"}), 1);
  holds(mailbox({"1", "2"}), 1);
  if (soaking()) holds(mailbox({"12", "2"}), 1);
  holds(notifications({"111"}), 1);
  holds(notifications({"1", "1"}), 1);
}

// N5: a store that travels in the line of its notification is made once, by the target or by the
// origin's flush, before either of them relies on it.
TEST(Model, AnInlinedStoreIsMadeOnce) {
  for (const bool overwrites : {false, true}) {
    for (const Scripts& scripts :
         {Scripts{"if"}, {"cif"}, {"ifif"}, {"iif"}, {"iiif"}, {"i", "if"}}) {
      holds(inlined(scripts, overwrites));
    }
    for (const Scripts& scripts : {Scripts{"if"}, {"iif"}}) {
      holds(inlined(scripts, overwrites, false));
    }
    if (soaking()) holds(inlined({"if", "if"}, overwrites));
  }
}

TEST(Model, AKilledRankHoldsUpNoFlush) {
  for (const Scripts& scripts : {Scripts{"if"}, {"iif"}, {"c", "if"}}) {
    holds(inlined(scripts, false), 1);
  }
}

// The program and its agent (E10).
TEST(Model, TheAgentTriesALock) {
  for (const bool asymmetric : {true, false}) {
    for (const char* usual : {"a", "t", "aa", "ta", "att"}) {
      for (const char* seldom : {"t", "tt"}) holds(biased({usual, seldom}, asymmetric));
    }
  }
}

// It becomes a mutex: nobody has it by the old way when that is over.
TEST(Model, ABiasIsRevoked) {
  for (const bool asymmetric : {true, false}) {
    for (const Scripts& scripts :
         {Scripts{"aa", "r"}, {"ta", "r"}, {"at", "tr"}, {"a", "t", "r"}, {"at", "tt", "r"}}) {
      holds(biased(scripts, asymmetric));
    }
  }
}

// Private memory: its owner carries an errand out, or its origin does what it was about.
TEST(Model, AnErrandIsCarriedOutOnce) {
  for (const Scripts& scripts :
       {Scripts{"pp"}, {"ww"}, {"wpw"}, {"p", "p"}, {"w", "p"}, {"ww", "w"}, {"pw", "wp"}}) {
    for (const std::uint32_t declined : {0U, 1U}) holds(errands(scripts, declined));
  }
}

TEST(Model, AChunkIsCarriedOutOnce) {
  for (const Scripts& scripts : {Scripts{"c"}, {"cc"}, {"cp"}, {"wc"}, {"c", "c"}, {"c", "w"}}) {
    for (const std::uint32_t declined : {0U, 1U}) holds(errands(scripts, declined));
  }
}

TEST(Model, AKilledRankHoldsUpNoErrand) {
  for (const Scripts& scripts : {Scripts{"pp"}, {"wp"}, {"p", "p"}, {"w", "pp"}, {"c"}, {"cp"}}) {
    holds(errands(scripts), 1);
  }
}

// Node peers of a dynamic window's rank find what it attaches and detaches without asking it (G2).
// The scripts insert, replace and erase nodes with two children, and below others, on both sides.
TEST(Model, APieceIsFoundAsItWasAtOneMoment) {
  for (const auto& [changes, looks] : {std::pair{"aAaA", "aa"},
                                       {"abAa", "aa"},
                                       {"abcBb", "c"},
                                       {"bdcBD", "c"},
                                       {"bdcBDbC", "c"},
                                       {"cfd", "f"},
                                       {"ecd", "c"},
                                       {"dceD", "d"},
                                       {"dcfD", "f"},
                                       {"aaaa", "aa"},
                                       {"abba", "ab"},
                                       {"bdccc", "c"},
                                       {"bdcdDb", "c"}}) {
    holds(pieces(changes, looks));
  }
  if (!soaking()) return;
  for (const auto& [changes, looks] : {std::pair{"bdcBDbC", "bcd"}, {"abcBbACb", "cab"}}) {
    holds(pieces(changes, looks));
  }
}

TEST(Model, AKilledOwnerHoldsUpNoLook) {
  for (const auto& [changes, looks] :
       {std::pair{"abAa", "aa"}, {"bdcBD", "c"}, {"dceD", "d"}, {"aaaa", "a"}}) {
    holds(pieces(changes, looks), 1);
  }
  if (soaking()) holds(pieces("bdcBDbC", "cc"), 1);
}

// Threads read what another one changes without its lock: handles, pieces that were found (G8).
TEST(Model, WordsAreReadInOneVersion) {
  holds(version(3, 1, 2));
  holds(version(2, 2, 1));
  if (soaking()) holds(version(3, 2, 2));
}

constexpr auto both = MeetingScene::Movers::both;
constexpr auto by_sender = MeetingScene::Movers::sender;
constexpr auto by_receiver = MeetingScene::Movers::receiver;

// C4: the pieces of a long message are moved by either side, whoever comes second, use after use.
TEST(Model, TwoSidesMeet) {
  for (const auto movers : {both, by_sender, by_receiver}) {
    for (const bool sleep : {false, true}) {
      for (const int pieces : {1, 2}) {
        holds(meeting(2, pieces, movers, sleep));
        holds(meeting(3, pieces, movers, sleep));
      }
      for (const int uses : {1, 2}) holds(meeting(uses, 2, movers, sleep, true));
    }
  }
  holds(meeting(2, 3, both, false));
}

TEST(Model, AKilledSideLeavesNoHalfPiece) {
  for (const auto movers : {both, by_sender, by_receiver}) {
    for (const int pieces : {1, 2}) holds(meeting(2, pieces, movers, false), 1);
  }
}

// C4: short messages, and pieces of what has gaps, go by two cells in turn.
TEST(Model, CellsAreFilledAndClearedInTurn) {
  for (const bool sleep : {false, true}) {
    holds(cells(3, 1, sleep));
    holds(cells(2, 2, sleep));
    holds(cells(2, 3, sleep));
  }
  holds(cells(4, 1, false), 1);
}

// One rank is killed, before any of its steps. The others come to an end.
TEST(Model, NobodyWaitsForTheDead) {
  for (const Scripts& scripts : {Scripts{"xx", "xx"}, {"sx", "xs"}, {"xe", "ex"}, {"xj", "jx"}}) {
    holds(lock(scripts), 1);
  }
  for (const Scripts& scripts : {Scripts{"eea", "ea"}, {"e", "e", "a"}, {"a", "a", "e"}}) {
    holds(update(scripts), 1);
  }
  if (!soaking()) return;
  for (const Scripts& scripts : {Scripts{"x", "x", "x"}, {"e", "s", "x"}}) holds(lock(scripts), 1);
}

/// A fault on purpose, and a scenario that finds it.
struct Mutant {
  const char* what;
  Mutation mutation;
  std::unique_ptr<Scene> (*scene)();
  int kills = 0;
};

const Mutant mutants[] = {
    {"lock: no membarrier", {Kind::no_fence, ""}, [] { return lock({"xx", "x"}); }},
    {"lock: guard dropped without release",
     {Kind::unrelease, "line"},
     [] { return lock({"x", "x"}); }},
    {"lock: guard taken without acquire",
     {Kind::unacquire, "line"},
     [] { return lock({"x", "x"}); }},
    {"lock: given back without release",
     {Kind::unrelease, "holders"},
     [] { return lock({"s", "x"}); }},
    {"lock: taken without acquire", {Kind::unacquire, "holders"}, [] { return lock({"s", "x"}); }},
    {"lock: keeper gives back without release",
     {Kind::unrelease, "locked"},
     [] { return lock({"xx", "x"}); }},
    {"lock: taken away without acquire",
     {Kind::unacquire, "locked"},
     [] { return lock({"xx", "x"}); }},
    {"lock: granted without release", {Kind::unrelease, "state"}, [] { return lock({"x", "x"}); }},
    {"lock: grant seen without acquire",
     {Kind::unacquire, "state"},
     [] { return lock({"x", "x"}); }},
    {"lock: contended cleared without release",
     {Kind::unrelease, "contended"},
     [] { return lock({"xxxx", "xx"}); }},
    {"lock: contended read out of order",
     {Kind::unacquire, "contended"},
     [] { return lock({"xxxx", "xx"}); }},
    {"lock: keeper looks before its store",
     {Kind::late, "locked"},
     [] { return lock({"xx", "x"}); }},
    {"lock: no membarrier, uncounted holder",
     {Kind::no_fence, ""},
     [] { return lock({"ss", "x"}); }},
    {"lock: phases of uncounted holders look alike", {Kind::skip, "phases"}, stale_phase},
    {"lock: uncounted holder looks before its store",
     {Kind::late, "locked"},
     [] { return lock({"ss", "x"}); }},
    {"lock: uncounted holder gives back without release",
     {Kind::unrelease, "locked"},
     [] { return lock({"ss", "x"}); }},
    {"lock: uncounted holders looked for without acquire",
     {Kind::unacquire, "locked"},
     [] { return lock({"ss", "x"}); }},
    {"lock: grant forgotten", {Kind::skip, "state"}, [] { return lock({"xx", "xx"}); }},
    {"update: no membarrier", {Kind::no_fence, ""}, [] { return update({"ee", "a"}); }},
    {"update: ended without release",
     {Kind::unrelease, "updating"},
     [] { return update({"e", "a"}); }},
    {"update: end seen without acquire",
     {Kind::unacquire, "updating"},
     [] { return update({"e", "a"}); }},
    {"update: right passed without release",
     {Kind::unrelease, "updater"},
     [] { return update({"e", "e", "a"}); }},
    {"update: right taken without acquire",
     {Kind::unacquire, "updater"},
     [] { return update({"e", "e", "a"}); }},
    {"update: looks before its store",
     {Kind::late, "updating"},
     [] { return update({"ee", "a"}); }},
    {"update: not announced", {Kind::skip, "updating"}, [] { return update({"e", "a"}); }},
    {"update: turn not taken", {Kind::skip, "turn"}, [] { return update({"aa", "aa"}); }},
    {"update: turn ended without release",
     {Kind::unrelease, "turn"},
     [] { return update({"aa", "aa"}); }},
    {"update: turn taken without acquire",
     {Kind::unacquire, "turn"},
     [] { return update({"aa", "aa"}); }},
    {"thread's update: no membarrier", {Kind::no_fence, ""}, [] { return update({"kww", "ea"}); }},
    {"thread's update: looks before its store",
     {Kind::late, "thread"},
     [] { return update({"kww", "ea"}); }},
    {"thread's update: not announced",
     {Kind::skip, "thread"},
     [] { return update({"kww", "ea"}); }},
    {"thread's update: ended without release",
     {Kind::unrelease, "thread"},
     [] { return update({"kww", "ea"}); }},
    {"thread's update: end seen without acquire",
     {Kind::unacquire, "thread"},
     [] { return update({"kww", "ea"}); }},
    {"thread's update: a dead rank awaited",
     {Kind::trusting, ""},
     [] { return update({"kw", "a"}); },
     1},
    {"lock: a dead rank's guard awaited", {Kind::trusting, ""}, [] { return lock({"x", "x"}); }, 1},
    {"update: a dead rank awaited", {Kind::trusting, ""}, [] { return update({"e", "a"}); }, 1},
    {"several locks: requested at once",
     {Kind::code, "requested before the earlier one is held"},
     [] { return several_locks({"01", "01"}); }},
    {"biased lock: no membarrier", {Kind::no_fence, ""}, [] { return biased({"a", "t"}); }},
    {"biased lock: usual side looks before its store",
     {Kind::late, "held"},
     [] { return biased({"a", "t"}); }},
    {"biased lock: given back without release",
     {Kind::unrelease, "held"},
     [] { return biased({"a", "t"}, false); }},
    {"biased lock: taken without acquire, seldom side",
     {Kind::unacquire, "held"},
     [] { return biased({"a", "t"}, false); }},
    {"biased lock: seldom side gives back without release",
     {Kind::unrelease, "trying"},
     [] { return biased({"a", "t"}); }},
    {"biased lock: taken without acquire",
     {Kind::unacquire, "trying"},
     [] { return biased({"a", "t"}); }},
    {"biased lock: try not said", {Kind::skip, "trying"}, [] { return biased({"aa", "t"}); }},
    {"biased lock: revoked without release",
     {Kind::unrelease, "trying"},
     [] { return biased({"a", "t", "r"}); }},
    {"errand: handed over without release",
     {Kind::unrelease, "errand"},
     [] { return errands({"p"}); }},
    {"errand: taken without acquire", {Kind::unacquire, "errand"}, [] { return errands({"p"}); }},
    {"errand: next one claimed without acquire",
     {Kind::unacquire, "claimed"},
     [] { return errands({"p", "p"}); }},
    {"errand: let go without release",
     {Kind::unrelease, "claimed"},
     [] { return errands({"w", "w"}); }},
    {"errand: claimed by two", {Kind::skip, "claimed"}, [] { return errands({"pp", "p"}); }},
    {"errand: chunks handed over without release",
     {Kind::unrelease, "errand"},
     [] { return errands({"c"}); }},
    {"errand: chunks taken without acquire",
     {Kind::unacquire, "errand"},
     [] { return errands({"c"}); }},
    {"errand: chunks drawn from one end by both",
     {Kind::code, "chunks from one end"},
     [] { return errands({"c"}); }},
    {"errand: a chunk that has failed forgotten",
     {Kind::code, "failed chunk forgotten"},
     [] { return errands({"c"}, 1); }},
    {"errand: a dead owner of a chunk awaited",
     {Kind::trusting, ""},
     [] { return errands({"c"}); },
     1},
    {"errand: a dead owner awaited", {Kind::trusting, ""}, [] { return errands({"p"}); }, 1},
    {"sleep: no membarrier", {Kind::no_fence, ""}, [] { return sleep(1, 1, 1); }},
    {"sleep: word stored without release",
     {Kind::unrelease, "stored"},
     [] { return sleep(1, 1, 1); }},
    {"sleep: word read without acquire",
     {Kind::unacquire, "stored"},
     [] { return sleep(1, 1, 1); }},
    {"sleep: storer looks before its store", {Kind::late, "stored"}, [] { return sleep(1, 1, 1); }},
    {"sleep: ring forgotten", {Kind::skip, "rings"}, [] { return sleep(1, 1, 1); }},
    {"sleep: rung without release", {Kind::unrelease, "rings"}, [] { return sleep(1, 1, 1); }},
    {"sleep: ring heard without acquire",
     {Kind::unacquire, "rings"},
     [] { return sleep(1, 1, 1); }},
    {"tree: counted without release", {Kind::unrelease, "count"}, [] { return tree(3, 1); }},
    {"tree: counted without acquire", {Kind::unacquire, "count"}, [] { return tree(3, 1); }},
    {"tree: over without release", {Kind::unrelease, "over"}, [] { return tree(2, 1); }},
    {"tree: over seen without acquire", {Kind::unacquire, "over"}, [] { return tree(2, 1); }},
    {"tree: over forgotten", {Kind::skip, "over"}, [] { return tree(2, 1); }},
    {"tree: left without release", {Kind::unrelease, "left"}, [] { return tree(2, 1); }},
    {"tree: left seen without acquire", {Kind::unacquire, "left"}, [] { return tree(2, 1); }},
    {"watch: announced without release", {Kind::unrelease, "number"}, [] { return watch(1); }},
    {"watch: seen without acquire", {Kind::unacquire, "number"}, [] { return watch(1); }},
    {"watch: watchers not counted", {Kind::skip, "watchers"}, [] { return watch(1); }},
    {"watch: no membarrier", {Kind::no_fence, ""}, [] { return watch(1); }},
    {"mailbox: committed without release",
     {Kind::unrelease, "state"},
     [] { return mailbox({"1"}); }},
    {"mailbox: read without acquire", {Kind::unacquire, "state"}, [] { return mailbox({"1"}); }},
    {"mailbox: freed without release", {Kind::unrelease, "head"}, [] { return mailbox({"2222"}); }},
    {"mailbox: reserved without acquire",
     {Kind::unacquire, "head"},
     [] { return mailbox({"2222"}); }},
    {"mailbox: cells not zeroed", {Kind::skip, "state"}, [] { return mailbox({"2"}); }},
    {"mailbox: no claim", {Kind::skip, "position"}, [] { return mailbox({"12"}); }, 1},
    {"mailbox: a claim without its length",
     {Kind::skip, "bytes"},
     [] { return mailbox({"12"}); },
     1},
    {"mailbox: claims of others not seen",
     {Kind::unrelease, "tail"},
     [] { return mailbox({"1", "2"}); },
     1},
    {"mailbox: tail seen without acquire",
     {Kind::unacquire, "tail"},
     [] { return mailbox({"1", "2"}); },
     1},
    {"mailbox: a dead producer awaited",
     {Kind::trusting, ""},
     [] { return mailbox({"1", "1"}); },
     1},
    {"notifications: committed without release",
     {Kind::unrelease, "state"},
     [] { return notifications({"1"}); }},
    {"notifications: read without acquire",
     {Kind::unacquire, "state"},
     [] { return notifications({"1"}); }},
    {"notifications: freed without release",
     {Kind::unrelease, "head"},
     [] { return notifications({"111"}); }},
    {"notifications: reserved without acquire",
     {Kind::unacquire, "head"},
     [] { return notifications({"111"}); }},
    {"notifications: no claim", {Kind::skip, "position"}, [] { return notifications({"11"}); }, 1},
    {"notifications: a dead producer awaited",
     {Kind::trusting, ""},
     [] { return notifications({"1", "1"}); },
     1},
    {"inlined: no membarrier", {Kind::no_fence, ""}, [] { return inlined({"if"}, true); }},
    {"inlined: target looks before its store",
     {Kind::late, "taking"},
     [] { return inlined({"if"}, true); }},
    {"inlined: not announced", {Kind::skip, "taking"}, [] { return inlined({"if"}, true); }},
    {"inlined: announced without release",
     {Kind::unrelease, "taking"},
     [] { return inlined({"if", "i"}, true); }},
    {"inlined: announcement seen without acquire",
     {Kind::unacquire, "taking"},
     [] { return inlined({"if", "i"}, true); }},
    {"inlined: made without release",
     {Kind::unrelease, "head"},
     [] { return inlined({"if"}, false); }},
    {"inlined: seen without acquire",
     {Kind::unacquire, "head"},
     [] { return inlined({"if"}, false); }},
    {"inlined: given back without release",
     {Kind::unrelease, "state"},
     [] { return inlined({"if"}, true); }},
    {"inlined: a dead target awaited",
     {Kind::trusting, ""},
     [] { return inlined({"if"}, false); },
     1},
    {"pieces: top stored without release",
     {Kind::unrelease, "top"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: top loaded without acquire",
     {Kind::unacquire, "top"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: a segment's location not stored",
     {Kind::skip, "segment"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: address stored without release",
     {Kind::unrelease, "address"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: address loaded without acquire",
     {Kind::unacquire, "address"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: bytes stored without release",
     {Kind::unrelease, "bytes"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: bytes loaded without acquire",
     {Kind::unacquire, "bytes"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: location stored without release",
     {Kind::unrelease, "location"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: location loaded without acquire",
     {Kind::unacquire, "location"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: extent stored without release",
     {Kind::unrelease, "extent"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: extent loaded without acquire",
     {Kind::unacquire, "extent"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: a detach stored without release",
     {Kind::unrelease, "detached"},
     [] { return pieces("abba", "b"); }},
    {"pieces: a detach loaded without acquire",
     {Kind::unacquire, "detached"},
     [] { return pieces("abab", "a"); }},
    {"pieces: children stored without release",
     {Kind::unrelease, "children"},
     [] { return pieces("abAa", "a"); }},
    {"pieces: children loaded without acquire",
     {Kind::unacquire, "children"},
     [] { return pieces("abAa", "a"); }},
    {"version: never odd or even again", {Kind::skip, "version"}, [] { return version(2, 1, 1); }},
    {"version: stored without release",
     {Kind::unrelease, "version"},
     [] { return version(2, 1, 1); }},
    {"version: loaded without acquire",
     {Kind::unacquire, "version"},
     [] { return version(2, 1, 1); }},
    {"version: a word stored without release",
     {Kind::unrelease, "second"},
     [] { return version(2, 1, 1); }},
    {"version: a word loaded without acquire",
     {Kind::unacquire, "second"},
     [] { return version(2, 1, 1); }},
    {"sleep: sleeping not set", {Kind::skip, "sleeping"}, [] { return sleep(1, 1, 1); }},
    {"meeting: arrived without release, sender",
     {Kind::unrelease, "arrivals", 0},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: arrived without release, receiver",
     {Kind::unrelease, "arrivals", 1},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: arrival seen without acquire, sender",
     {Kind::unacquire, "arrivals", 0},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: arrival seen without acquire, receiver",
     {Kind::unacquire, "arrivals", 1},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: moved without release, sender",
     {Kind::unrelease, "moved", 0},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: moved without release, receiver",
     {Kind::unrelease, "moved", 1},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: end seen without acquire, sender",
     {Kind::unacquire, "moved", 0},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: end seen without acquire, receiver",
     {Kind::unacquire, "moved", 1},
     [] { return meeting(2, 2, both, false); }},
    {"meeting: arrival forgotten",
     {Kind::skip, "arrivals"},
     [] { return meeting(1, 1, both, false); }},
    {"meeting: moving not counted",
     {Kind::skip, "moved"},
     [] { return meeting(1, 1, both, false); }},
    {"meeting: failure not told",
     {Kind::skip, "failed, odd"},
     [] { return meeting(1, 2, both, false, true); }},
    {"meeting: failure not of this use",
     {Kind::code, "failure not of this use"},
     [] { return meeting(2, 1, both, false, true); }},
    {"meeting: no membarrier", {Kind::no_fence, ""}, [] { return meeting(1, 1, by_sender, true); }},
    {"meeting: ring forgotten", {Kind::skip, "rings"}, [] { return meeting(1, 1, both, true); }},
    {"meeting: buffer made ready after arrival",
     {Kind::code, "buffer made ready after arrival"},
     [] { return meeting(1, 1, both, false); }},
    {"meeting: times left after arrival",
     {Kind::code, "times left after arrival"},
     [] { return meeting(2, 1, both, false); }},
    {"meeting: no look whether both have met",
     {Kind::code, "no look whether both have met"},
     [] { return meeting(1, 1, both, false); }},
    {"meeting: moved is said before the copy",
     {Kind::code, "moved is said before the copy"},
     [] { return meeting(1, 1, both, false); }},
    {"meeting: one piece too many",
     {Kind::code, "one piece too many"},
     [] { return meeting(1, 1, both, false); }},
    {"meeting: over one piece early",
     {Kind::code, "over one piece early"},
     [] { return meeting(1, 2, both, false); }},
    {"meeting: no wake-up at arrival, sender moves",
     {Kind::code, "no wake-up at arrival"},
     [] { return meeting(1, 1, by_sender, true); }},
    {"meeting: no wake-up at arrival, receiver moves",
     {Kind::code, "no wake-up at arrival"},
     [] { return meeting(1, 1, by_receiver, true); }},
    {"meeting: no wake-up at the end",
     {Kind::code, "no wake-up at the end"},
     [] { return meeting(1, 1, both, true); }},
    {"meeting: a dead side awaited",
     {Kind::trusting, ""},
     [] { return meeting(1, 1, both, false); },
     1},
    {"cells: filled without release",
     {Kind::unrelease, "cell", 0},
     [] { return cells(3, 1, false); }},
    {"cells: seen without acquire",
     {Kind::unacquire, "cell", 1},
     [] { return cells(3, 1, false); }},
    {"cells: cleared without release",
     {Kind::unrelease, "cell", 1},
     [] { return cells(3, 1, false); }},
    {"cells: seen empty without acquire",
     {Kind::unacquire, "cell", 0},
     [] { return cells(3, 1, false); }},
    {"cells: not filled", {Kind::skip, "cell", 0}, [] { return cells(1, 1, false); }},
    {"cells: not cleared", {Kind::skip, "cell", 1}, [] { return cells(3, 1, false); }},
    {"cells: not looked at", {Kind::code, "cell not looked at"}, [] { return cells(3, 1, false); }},
    {"cells: filled before it is written",
     {Kind::code, "filled before it is written"},
     [] { return cells(1, 1, false); }},
    {"cells: cleared before it is read",
     {Kind::code, "cleared before it is read"},
     [] { return cells(3, 1, false); }},
    {"cells: no membarrier", {Kind::no_fence, ""}, [] { return cells(3, 1, true); }},
    {"cells: receiver not woken",
     {Kind::code, "receiver not woken"},
     [] { return cells(1, 1, true); }},
    {"cells: sender not woken", {Kind::code, "sender not woken"}, [] { return cells(3, 1, true); }},
    {"cells: the wrong cell looked at before waking",
     {Kind::code, "looks at its own cell"},
     [] { return cells(3, 1, true); }},
    {"cells: no fence between a piece and the next sleep",
     {Kind::code, "lies on after a piece"},
     [] { return cells(1, 4, true); }},
    {"cells: a dead side awaited", {Kind::trusting, ""}, [] { return cells(1, 1, false); }, 1},
};

TEST(Model, FindsEachMutant) {
  for (const Mutant& mutant : mutants) {
    const std::unique_ptr<Scene> scene = mutant.scene();
    constexpr std::uint64_t most_states = 2'000'000;
    ASSERT_EQ(scene->search({}, mutant.kills, most_states).violation, "") << mutant.what;
    const Result result = scene->search(mutant.mutation, mutant.kills, most_states);
    std::printf("  %-42s %s\n", mutant.what, result.violation.c_str());
    EXPECT_NE(result.violation, "") << mutant.what << " is not found";
  }
}

}  // namespace
}  // namespace oriel::model
