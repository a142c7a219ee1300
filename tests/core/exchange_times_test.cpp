// SPDX-License-Identifier: BSD-3-Clause
// What was measured of exchanges of all with all (C4): how the file is read, whatever is in it, and
// which of its lines is the nearest.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "engine/tuning/exchange_times.hpp"

namespace oriel::test {
namespace {

std::string line_of(int ranks, int nodes, std::uint64_t bytes, const std::string& times = "2\t1",
                    const std::string& mpi = "mpich 5", const std::string& processor = "Xeon") {
  return processor + '\t' + mpi + '\t' + std::to_string(ranks) + '\t' + std::to_string(nodes) +
         '\t' + std::to_string(bytes) + '\t' + times + "\t10\t0\n";
}

/// Of the line with the nearest length; 0: nothing is near.
std::uint64_t nearest(const ExchangeTimes& measured, int ranks, std::uint64_t bytes,
                      bool several_nodes = false) {
  const ExchangeTimes::Line* line =
      measured.nearest("Xeon", "mpich 5", ranks, several_nodes, bytes);
  return line != nullptr ? line->bytes : 0;
}

TEST(ExchangeTimes, ReadsLines) {
  const ExchangeTimes measured = ExchangeTimes::parse(
      "# a comment\n\nSome CPU @ 2 GHz\topenmpi 5.0.11\t4\t2\t"
      "32768\t12.5\t1e3\t150\t0\n" +
      line_of(2, 1, 8));
  EXPECT_EQ(measured.fault(), "");
  ASSERT_EQ(measured.lines().size(), 2u);
  const ExchangeTimes::Line& line = measured.lines().front();
  EXPECT_EQ(line.processor, "Some CPU @ 2 GHz");
  EXPECT_EQ(line.mpi, "openmpi 5.0.11");
  EXPECT_EQ(line.ranks, 4);
  EXPECT_EQ(line.nodes, 2);
  EXPECT_EQ(line.bytes, 32768u);
  EXPECT_EQ(line.of(Algorithm::notified).start, 12.5);
  EXPECT_EQ(line.of(Algorithm::two_sided).start, 1000);
  EXPECT_EQ(line.of(Algorithm::notified).making, 150);
  EXPECT_EQ(line.of(Algorithm::two_sided).making, 0);
  EXPECT_EQ(line.of(Algorithm::notified_hierarchy).start, 0);
  EXPECT_EQ(line.cheapest(true), Algorithm::notified);
  EXPECT_EQ(measured.lines().back().cheapest(true), Algorithm::two_sided);
}

TEST(ExchangeTimes, PrefersNotifiedWhereBothAreAsFast) {
  const ExchangeTimes measured = ExchangeTimes::parse(line_of(2, 1, 8, "1.5\t1.5"));
  EXPECT_EQ(measured.lines().front().cheapest(true), Algorithm::notified);
}

/// A line that has been measured since there is notified_hierarchy.
ExchangeTimes with_hierarchy(const std::string& times, const std::string& hierarchy) {
  std::string line = line_of(4, 2, 8, times);
  line.insert(line.size() - 1, '\t' + hierarchy + "\t30");
  return ExchangeTimes::parse(line);
}

TEST(ExchangeTimes, KnowsTheHierarchyWhereItWasMeasured) {
  const ExchangeTimes measured = with_hierarchy("2\t3", "1.5");
  EXPECT_EQ(measured.fault(), "");
  ASSERT_EQ(measured.lines().size(), 1u);
  const ExchangeTimes::Line& line = measured.lines().front();
  EXPECT_EQ(line.of(Algorithm::notified_hierarchy).start, 1.5);
  EXPECT_EQ(line.of(Algorithm::notified_hierarchy).making, 30);
  EXPECT_EQ(line.cheapest(true), Algorithm::notified_hierarchy);
  EXPECT_EQ(line.cheapest(false), Algorithm::notified);
}

TEST(ExchangeTimes, ChoosesTheFastestOfThree) {
  const auto chosen = [](const std::string& times, const std::string& hierarchy, bool several) {
    const ExchangeTimes measured = with_hierarchy(times, hierarchy);
    return measured.lines().size() == 1 ? name_of(measured.lines().front().cheapest(several)) : "";
  };
  EXPECT_STREQ(chosen("3\t1", "2", true), "two_sided");
  EXPECT_STREQ(chosen("3\t2", "1", true), "notified_hierarchy");
  EXPECT_STREQ(chosen("3\t2", "1", false), "two_sided");
  EXPECT_STREQ(chosen("1\t2", "3", true), "notified");
  // Of some that are as fast the one that is made with least.
  EXPECT_STREQ(chosen("2\t2", "2", true), "notified");
  EXPECT_STREQ(chosen("3\t2", "2", true), "notified_hierarchy");
  EXPECT_STREQ(chosen("3\t2", "0", true), "two_sided");  // it was not measured
  for (const char* wrong : {"-1", "nan", ""}) EXPECT_STREQ(chosen("3\t2", wrong, true), "");
}

/// A line of all five, in microseconds of a start and of making a request.
ExchangeTimes of_all(const std::string& fence = "1\t1000", const std::string& lock = "2\t900") {
  return ExchangeTimes::parse("Xeon\tmpich 5\t4\t1\t8\t3\t2.5\t10\t110\t0\t0\t" + fence + '\t' +
                              lock + '\n');
}

TEST(ExchangeTimes, CountsTheMakingWhereTheNumberOfStartsIsKnown) {
  const ExchangeTimes measured = of_all();
  ASSERT_EQ(measured.lines().size(), 1u) << measured.fault();
  const ExchangeTimes::Line& line = measured.lines().front();
  EXPECT_EQ(line.of(Algorithm::lock).making, 900);
  EXPECT_EQ(line.cheapest(true), Algorithm::fence);
  EXPECT_EQ(line.cheapest(true, 1), Algorithm::notified);
  EXPECT_EQ(line.cheapest(true, 200), Algorithm::notified);  // 610, two_sided too
  EXPECT_EQ(line.cheapest(true, 201), Algorithm::two_sided);
  EXPECT_EQ(line.cheapest(true, 593), Algorithm::two_sided);  // 1592.5, fence 1593
  EXPECT_EQ(line.cheapest(true, 594), Algorithm::fence);
}

TEST(ExchangeTimes, ChoosesFenceAndLockWhereTheyWereFastest) {
  EXPECT_EQ(of_all("1\t1", "2\t1").lines().front().cheapest(true), Algorithm::fence);
  EXPECT_EQ(of_all("2\t1", "1\t1").lines().front().cheapest(true), Algorithm::lock);
  EXPECT_EQ(of_all("0\t0", "0\t0").lines().front().cheapest(true), Algorithm::two_sided);
}

TEST(ExchangeTimes, IsLikeWhatIsAtMostTwiceAsLong) {
  const ExchangeTimes measured = ExchangeTimes::parse(line_of(2, 1, 64));
  const ExchangeTimes::Line& line = measured.lines().front();
  for (const std::uint64_t like : {32, 64, 128}) EXPECT_TRUE(line.like(like)) << like;
  for (const std::uint64_t unlike : {0, 31, 129, 1 << 20})
    EXPECT_FALSE(line.like(unlike)) << unlike;
}

TEST(ExchangeTimes, CountsGarbledLinesAsNothing) {
  const std::string good = line_of(2, 1, 8);
  const std::string whole = good.substr(0, good.size() - 1);
  for (const std::string& bad :
       {std::string("nonsense"),
        std::string(3, '\0'),
        whole + "\t1",
        whole + "\t1\t1\t1",
        whole + "\t1\tx",
        whole + "x",
        whole + '\r',
        whole.substr(0, whole.size() - 2),
        std::string(8, '\t'),
        std::string(9, '\t'),
        line_of(0, 1, 8),
        line_of(-1, 1, 8),
        line_of(2, 0, 8),
        line_of(2, 3, 8),
        line_of(2, 1, 8, "0\t1"),
        line_of(2, 1, 8, "1\t-1"),
        line_of(2, 1, 8, "nan\t1"),
        line_of(2, 1, 8, "1\tinf"),
        line_of(2, 1, 8, "1\t1e999"),
        line_of(2, 1, 8, "1\t"),
        line_of(2, 1, 8, " 1\t1"),
        line_of(2, 1, 8, "1,5\t1"),
        line_of(2, 1, 8, "2\t1", ""),
        line_of(2, 1, 8, "2\t1", "mpich 5", ""),
        std::string("Xeon\tmpich 5\t99999999999\t1\t8\t1\t1\t0\t0"),
        std::string("Xeon\tmpich 5\t2\t1\t-8\t1\t1\t0\t0"),
        std::string("Xeon\tmpich 5\t2\t1\t99999999999999999999\t1\t1\t0\t0")}) {
    SCOPED_TRACE(bad);
    std::string text = line_of(2, 1, 64);
    text += bad;
    if (text.back() != '\n') text += '\n';
    const ExchangeTimes measured = ExchangeTimes::parse(text + line_of(2, 1, 512));
    ASSERT_EQ(measured.lines().size(), 2u);
    EXPECT_EQ(measured.lines().back().bytes, 512u);
    EXPECT_EQ(measured.fault().find("line 2 "), 0u) << measured.fault();
  }
}

TEST(ExchangeTimes, TellsTheFirstFault) {
  EXPECT_EQ(ExchangeTimes::parse("#\nx\ny").fault().find("line 2 "), 0u);
  EXPECT_TRUE(ExchangeTimes::parse("#\nx\ny").lines().empty());
  EXPECT_EQ(ExchangeTimes::parse("").fault(), "");
}

TEST(ExchangeTimes, BelievesTheLastLineOfAKey) {
  const ExchangeTimes measured =
      ExchangeTimes::parse(line_of(2, 1, 8, "1\t2") + line_of(4, 1, 8) + line_of(2, 1, 8, "2\t1"));
  ASSERT_EQ(measured.lines().size(), 2u);
  EXPECT_EQ(measured.lines().front().cheapest(true), Algorithm::two_sided);
}

TEST(ExchangeTimes, FindsTheNearestLength) {
  const ExchangeTimes measured =
      ExchangeTimes::parse(line_of(4, 1, 8) + line_of(4, 1, 512) + line_of(4, 1, 32768));
  EXPECT_EQ(nearest(measured, 4, 0), 8u);
  EXPECT_EQ(nearest(measured, 4, 8), 8u);
  EXPECT_EQ(nearest(measured, 4, 63), 8u);
  EXPECT_EQ(nearest(measured, 4, 65), 512u);
  EXPECT_EQ(nearest(measured, 4, 4095), 512u);
  EXPECT_EQ(nearest(measured, 4, 4097), 32768u);
  EXPECT_EQ(nearest(measured, 4, ~std::uint64_t{0}), 32768u);
}

TEST(ExchangeTimes, LooksAtTheRanksBeforeTheLength) {
  const ExchangeTimes measured = ExchangeTimes::parse(line_of(4, 1, 8) + line_of(8, 1, 512));
  EXPECT_EQ(nearest(measured, 4, 512), 8u);
  EXPECT_EQ(nearest(measured, 5, 512), 8u);
  EXPECT_EQ(nearest(measured, 6, 8), 512u);
  // Twice as many, or half: no more.
  EXPECT_EQ(nearest(measured, 2, 512), 8u);
  EXPECT_EQ(nearest(measured, 1, 8), 0u);
  EXPECT_EQ(nearest(measured, 16, 8), 512u);
  EXPECT_EQ(nearest(measured, 17, 512), 0u);
}

TEST(ExchangeTimes, KeepsNodesMpisAndProcessorsApart) {
  const ExchangeTimes measured = ExchangeTimes::parse(
      line_of(4, 1, 8) + line_of(4, 2, 16) + line_of(4, 1, 64, "2\t1", "mpich 6") +
      line_of(4, 1, 512, "2\t1", "mpich 5", "Xeon 2"));
  EXPECT_EQ(nearest(measured, 4, 512), 8u);
  EXPECT_EQ(nearest(measured, 4, 8, true), 16u);
  EXPECT_EQ(measured.nearest("Xeon", "", 4, false, 8), nullptr);
  EXPECT_EQ(measured.nearest("", "mpich 5", 4, false, 8), nullptr);
  EXPECT_EQ(measured.nearest("Xeon", "mpich", 4, false, 8), nullptr);
  EXPECT_EQ(measured.nearest("Xeon", "mpich 6", 4, true, 8), nullptr);
  EXPECT_EQ(ExchangeTimes().nearest("Xeon", "mpich 5", 4, false, 8), nullptr);
}

/// A folder of its own, and the variables that say where the file is.
class ExchangeTimesFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "oriel-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* variable : variables) {
      if (const char* value = std::getenv(variable)) before_[at(variable)] = value;
      unsetenv(variable);
    }
  }
  void TearDown() override {
    for (const char* variable : variables) {
      if (const auto& value = before_[at(variable)]) {
        setenv(variable, value->c_str(), 1);
      } else {
        unsetenv(variable);
      }
    }
    std::filesystem::remove_all(folder_);
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::string written(const std::string& text) const {
    std::ofstream(path("file")) << text;
    return path("file");
  }

 private:
  static constexpr const char* variables[] = {"ORIEL_MEASURED", "XDG_CACHE_HOME", "HOME"};
  static std::size_t at(const char* variable) {
    std::size_t place = 0;
    while (variables[place] != variable) ++place;
    return place;
  }

  std::filesystem::path folder_;
  std::optional<std::string> before_[3];
};

TEST_F(ExchangeTimesFile, IsReadWhereThereIsOne) {
  EXPECT_EQ(ExchangeTimes::read(written(line_of(2, 1, 8))).lines().size(), 1u);
  for (const std::string& none : {std::string(), path("none"), path("file") + "/none"}) {
    const ExchangeTimes measured = ExchangeTimes::read(none);
    EXPECT_TRUE(measured.lines().empty());
    EXPECT_EQ(measured.fault(), "");
  }
}

TEST_F(ExchangeTimesFile, CountsAsNothingWhereItCannotBeRead) {
  EXPECT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (const std::string& wrong :
       {path(""), path("fifo"), std::string("/dev/zero"), written(std::string(2 << 20, '#'))}) {
    SCOPED_TRACE(wrong);
    const ExchangeTimes measured = ExchangeTimes::read(wrong);
    EXPECT_TRUE(measured.lines().empty());
    EXPECT_NE(measured.fault(), "");
  }
}

TEST_F(ExchangeTimesFile, IsWhereTheVariablesSay) {
  EXPECT_EQ(ExchangeTimes::path(), "");
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(ExchangeTimes::path(), "/home/someone/.cache/oriel/alltoallv");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(ExchangeTimes::path(), "/home/someone/.cache/oriel/alltoallv");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(ExchangeTimes::path(), "/cache/oriel/alltoallv");
  setenv("ORIEL_MEASURED", "/some/file", 1);
  EXPECT_EQ(ExchangeTimes::path(), "/some/file");
  for (const char* none : {"0", "no", "false"}) {
    setenv("ORIEL_MEASURED", none, 1);
    EXPECT_EQ(ExchangeTimes::path(), "");
  }
  setenv("ORIEL_MEASURED", "", 1);
  EXPECT_EQ(ExchangeTimes::path(), "/cache/oriel/alltoallv");
}

TEST(ExchangeTimes, KnowsTheProcessor) {
  EXPECT_NE(processor_model(), "");
  EXPECT_EQ(processor_model().find_first_of("\t\n"), std::string::npos);
}

}  // namespace
}  // namespace oriel::test
