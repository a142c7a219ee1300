// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with the arguments of one rank of a persistent alltoallv is an error of the call on
// every rank, with the class that oriel/collectives.h names, through the communicator's handler;
// the sentence says who and how much. No request is made, and the communicator stays usable.
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/alltoallv/exchange.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using alltoallv::Pattern;
using support::Program;

/// Calls of the handler of the communicator at hand, and of those that must not be called.
int handled = 0;
int strangers = 0;
MPI_Comm handled_for = MPI_COMM_NULL;

void handle(MPI_Comm* comm, int* /*code*/, ...) {
  ++handled;
  handled_for = *comm;
}
void handle_stranger(MPI_Comm* /*comm*/, int* /*code*/, ...) {
  ++strangers;
}

/// The arguments of one rank: right ones, for a test to spoil.
struct Arguments {
  Arguments(MPI_Comm communicator, int count) : comm(communicator), ranks(count) {
    MPI_Comm_rank(comm, &rank);
    const auto all = std::size_t(count);
    sent_memory.assign(8 * all, 1);
    received_memory.assign(8 * all, -1);
    sent.assign(all, 4);
    received.assign(all, 4);
    for (int peer = 0; peer < count; ++peer) places.push_back(8 * peer);
    sent_places = received_places = places;
    from = sent_memory.data();
    to = received_memory.data();
  }

  MPI_Comm comm;
  bool null_request = false;
  int rank = 0;
  int ranks = 0;
  std::vector<int> sent_memory, received_memory, sent, received, places;
  std::vector<int> sent_places, received_places;
  const void* from = nullptr;
  void* to = nullptr;
  MPI_Datatype sent_type = MPI_INT;
  MPI_Datatype received_type = MPI_INT;
  std::string algorithm = "auto";
  std::string starts = "1";

  int last() const { return ranks - 1; }
};

/// Whether a number stands in a sentence, alone and not as part of another one.
bool names(const std::string& sentence, long number) {
  const std::string digits = std::to_string(number);
  for (std::size_t at = sentence.find(digits); at != std::string::npos;
       at = sentence.find(digits, at + 1)) {
    const auto is_digit = [&](std::size_t place) {
      return place < sentence.size() && std::isdigit(static_cast<unsigned char>(sentence[place]));
    };
    if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + digits.size())) return true;
  }
  return false;
}

/// Two communicators of all ranks, one in the order of the world and one in the other, whose
/// handlers count; those of the world and of this rank alone must hear of nothing.
class Listening {
 public:
  explicit Listening(const Program& program) : program_(program) {
    MPI_Comm_create_errhandler(handle, &handler_);
    MPI_Comm_create_errhandler(handle_stranger, &stranger_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, stranger_);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, stranger_);
    for (const int key : {program.rank(), -program.rank()}) {
      MPI_Comm comm;
      MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
      MPI_Comm_set_errhandler(comm, handler_);
      comms_.push_back(comm);
    }
  }
  ~Listening() {
    for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler_);
    MPI_Errhandler_free(&stranger_);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  static constexpr int nobody = -1;

  /// In every way and on both communicators: spoils a rank's arguments, and expects the error. Its
  /// sentence has these numbers in it, and names the culprit to the others.
  void expect(int error_class, const std::vector<long>& numbers,
              const std::function<void(Arguments&)>& spoil, int culprit = nobody) const {
    for (const MPI_Comm comm : comms_) {
      for (const char* algorithm : alltoallv::algorithms) {
        Arguments arguments(comm, program_.size());
        arguments.algorithm = algorithm;
        spoil(arguments);
        const std::string sentence = refused(arguments, {error_class});
        // The rank itself need not be told which one it is.
        if (culprit != nobody && culprit != arguments.rank) expect_named(sentence, culprit);
        for (const long number : numbers) expect_named(sentence, number);
        for (const int value : arguments.received_memory) CHECK_EQUAL(value, -1);
      }
      expect_usable(comm);
    }
  }
  /// Makes the call, which fails with one of these classes. Returns the sentence.
  static std::string refused(const Arguments& of, std::vector<int> classes) {
    handled = strangers = 0;
    const support::Info info(
        {{ORIEL_ALLTOALLV, of.algorithm.c_str()}, {ORIEL_ALLTOALLV_STARTS, of.starts.c_str()}});
    MPI_Request request = MPI_REQUEST_NULL;
    const int code =
        alltoallv::calls().init(of.from, of.sent.data(), of.sent_places.data(), of.sent_type, of.to,
                                of.received.data(), of.received_places.data(), of.received_type,
                                of.comm, info, of.null_request ? nullptr : &request);
    const int found = support::error_class(code);
    bool expected = false;
    for (const int one : classes) expected = expected || found == one;
    if (!expected) CHECK_CLASS(code, classes.front());
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQUAL(handled, 1);
    CHECK_EQUAL(strangers, 0);
    CHECK(handled_for == of.comm);
    return support::class_name(code);
  }
  static void expect_named(const std::string& sentence, long number) {
    if (names(sentence, number)) return;
    support::fail(__FILE__, __LINE__,
                  std::to_string(number) + " does not stand in this sentence: " + sentence);
  }
  static void expect_usable(MPI_Comm comm) {
    const alltoallv::AllTypes types;
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    const alltoallv::Types& of = types.named("bytes");
    for (const char* algorithm : {"auto", "fence", "lock", "two_sided"}) {
      alltoallv::Exchange exchange(comm, {of, alltoallv::units(Pattern::holes, ranks, 1)});
      exchange.init(algorithm);
      exchange.run(0);
    }
  }
  MPI_Comm comm() const { return comms_.front(); }

 private:
  const Program& program_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
  MPI_Errhandler stranger_ = MPI_ERRHANDLER_NULL;
  std::vector<MPI_Comm> comms_;
};

/// One pair alone: more is sent than its receiver expects; the sender, or the receiver, is at
/// fault. A type of another size on one side, as well.
void truncated(const Program& program, const Listening& all) {
  const int last = program.size() - 1;
  all.expect(MPI_ERR_TRUNCATE, {0, last, 20, 16}, [](Arguments& of) {
    if (of.rank == 0) of.sent.back() = 5;
  });
  all.expect(MPI_ERR_TRUNCATE, {0, last, 16, 12}, [](Arguments& of) {
    if (of.rank == 0) of.received.back() = 3;
  });
  // Nothing is expected at all.
  all.expect(MPI_ERR_TRUNCATE, {0, last, 16}, [](Arguments& of) {
    if (of.rank == of.last()) of.received.front() = 0;
  });
}

void counts(const Program& program, const Listening& all) {
  const int last = program.size() - 1;
  all.expect(
      MPI_ERR_COUNT, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.sent.front() = -3;
      },
      last);
  all.expect(
      MPI_ERR_COUNT, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.received.front() = -1;
      },
      last);
}

void null_request(const Listening& all) {
  all.expect(MPI_ERR_ARG, {}, [](Arguments& of) { of.null_request = of.rank == of.last(); });
}

/// What arrives from two ranks would lie at the same place.
void overlapping(const Program& program, const Listening& all) {
  if (program.size() == 1) return;
  all.expect(
      MPI_ERR_BUFFER, {},
      [](Arguments& of) {
        if (of.rank == 0) of.received_places[1] = of.received_places[0] + 3;
      },
      0);
  // On the last rank, what comes from it and from the first.
  all.expect(
      MPI_ERR_BUFFER, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.received_places[0] = of.received_places.back();
      },
      program.size() - 1);
}

void datatypes(const Program& program, const Listening& all) {
  const int last = program.size() - 1;
  all.expect(
      MPI_ERR_TYPE, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.sent_type = MPI_DATATYPE_NULL;
      },
      last);
  all.expect(
      MPI_ERR_TYPE, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.received_type = MPI_DATATYPE_NULL;
      },
      last);
  // As many bytes, of another kind.
  all.expect(
      MPI_ERR_TYPE, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.sent_type = MPI_FLOAT;
      },
      last);
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  all.expect(
      MPI_ERR_TYPE, {},
      [type](Arguments& of) {
        if (of.rank == of.last()) of.received_type = type;  // which nobody has committed
      },
      last);
  MPI_Type_free(&type);
}

void buffers(const Program& program, const Listening& all) {
  all.expect(
      MPI_ERR_BUFFER, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.to = MPI_IN_PLACE;
      },
      program.size() - 1);
  all.expect(
      MPI_ERR_BUFFER, {},
      [](Arguments& of) {
        if (of.rank == of.last()) of.from = nullptr;
      },
      program.size() - 1);
}

void expect_quoted(const std::string& sentence, const std::string& value) {
  if (sentence.find(value) != std::string::npos) return;
  support::fail(__FILE__, __LINE__, value + " does not stand in this sentence: " + sentence);
}

/// Values that are none of the key's: on all ranks, and on one.
void info_values(const Program& program, const Listening& all) {
  for (const char* value : {"carrier-pigeon", "Fence", "fence_", "1"}) {
    Arguments of(all.comm(), program.size());
    of.algorithm = value;
    const std::string sentence = all.refused(of, {MPI_ERR_INFO_VALUE});
    expect_quoted(sentence, ORIEL_ALLTOALLV);
  }
  for (const char* value : {"0", "-1", "often", "1e3", "99999999999999999999"}) {
    Arguments of(all.comm(), program.size());
    of.starts = value;
    const std::string sentence = all.refused(of, {MPI_ERR_INFO_VALUE});
    expect_quoted(sentence, ORIEL_ALLTOALLV_STARTS);
  }
  Arguments of(all.comm(), program.size());
  if (of.rank == of.last()) of.algorithm = "carrier-pigeon";
  all.refused(of, {MPI_ERR_INFO_VALUE});
  all.expect_usable(all.comm());
  if (program.size() == 1) return;
  // Ranks that do not mean the same.
  of.algorithm = of.rank == of.last() ? "fence" : "lock";
  all.refused(of, {MPI_ERR_INFO_VALUE, MPI_ERR_ARG});
  all.expect_usable(all.comm());
}

/// By MPI's own name.
void standard_name(const Program& program, const Listening& all) {
  const auto init = alltoallv::standard_init();
  if (init == nullptr) return;
  const Arguments of(all.comm(), program.size());
  const support::Info info({{ORIEL_ALLTOALLV, "carrier-pigeon"}});
  handled = strangers = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      init(of.from, of.sent.data(), of.sent_places.data(), of.sent_type, of.to, of.received.data(),
           of.received_places.data(), of.received_type, of.comm, info, &request);
  CHECK_CLASS(code, MPI_ERR_INFO_VALUE);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(handled, 1);
  CHECK_EQUAL(strangers, 0);
  all.expect_usable(all.comm());
}

/// An intercommunicator, which has a handler of its own; and none at all.
void communicators(const Program& program, const Listening& all) {
  if (program.size() > 1) {
    const bool lower = program.rank() < program.size() / 2;
    MPI_Comm half;
    MPI_Comm inter;
    MPI_Comm_split(MPI_COMM_WORLD, lower ? 0 : 1, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, lower ? program.size() / 2 : 0, 1, &inter);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(inter, handler);
    MPI_Errhandler_free(&handler);
    int others = 0;
    MPI_Comm_remote_size(inter, &others);
    for (const char* algorithm : {"auto", "notified", "fence", "two_sided"}) {
      Arguments of(inter, others);
      of.algorithm = algorithm;
      all.refused(of, {MPI_ERR_COMM});
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
  Arguments of(all.comm(), program.size());
  handled = strangers = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(alltoallv::calls().init(of.from, of.sent.data(), of.sent_places.data(), MPI_INT,
                                      of.to, of.received.data(), of.received_places.data(), MPI_INT,
                                      MPI_COMM_NULL, MPI_INFO_NULL, &request),
              MPI_ERR_COMM);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(strangers, 1);  // that of the world, or of this rank alone
}

/// A rank whose arguments are wrong twice, and others that are wrong too: one error each.
void several(const Program& program, const Listening& all) {
  if (program.size() == 1) return;
  for (const char* algorithm : alltoallv::algorithms) {
    Arguments of(all.comm(), program.size());
    of.algorithm = algorithm;
    if (of.rank == 0) of.sent.back() = -1;
    if (of.rank == of.last()) of.sent_type = MPI_DATATYPE_NULL;
    all.refused(of, {MPI_ERR_COUNT, MPI_ERR_TYPE});
  }
  all.expect_usable(all.comm());
}

/// With large counts: those that no int holds are named as they are.
void large(const Program& program, const Listening& all) {
  const int last = program.size() - 1;
  for (const char* algorithm : alltoallv::algorithms) {
    const Arguments of(all.comm(), program.size());
    std::vector<MPI_Count> sent(of.sent.begin(), of.sent.end());
    const std::vector<MPI_Count> received(of.received.begin(), of.received.end());
    const std::vector<MPI_Aint> places(of.places.begin(), of.places.end());
    constexpr MPI_Count many = (MPI_Count{1} << 33) + 1;
    if (of.rank == 0) sent.back() = many;
    const support::Info info({{ORIEL_ALLTOALLV, algorithm}});
    handled = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const int code =
        alltoallv::calls().init_c(of.from, sent.data(), places.data(), MPI_INT, of.to,
                                  received.data(), places.data(), MPI_INT, of.comm, info, &request);
    CHECK_EQUAL(handled, 1);
    // A collective of the host's that takes no such count is why, too.
    if (program.host() == "openmpi" && support::error_class(code) == MPI_ERR_COUNT) continue;
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    const std::string sentence = support::class_name(code);
    for (const long number : {0L, long{last}, 4 * long{many}, 16L}) {
      all.expect_named(sentence, number);
    }
  }
  all.expect_usable(all.comm());
}

/// More than any machine has is kept of what is sent in place.
void beyond_memory(const Program& program, const Listening& all) {
  if (program.size() == 1) return;
  for (const char* algorithm : alltoallv::algorithms) {
    if (algorithm == std::string("two_sided")) continue;  // the host's, which keeps what it likes
    const Arguments of(all.comm(), program.size());
    std::vector<MPI_Count> counts(of.received.size(), 0);
    const std::vector<MPI_Aint> places(of.places.begin(), of.places.end());
    constexpr MPI_Count many = MPI_Count{1} << 60;
    if (of.rank == 0) counts.back() = many;
    if (of.rank == of.last()) counts.front() = many;
    const support::Info info({{ORIEL_ALLTOALLV, algorithm}});
    handled = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(
        alltoallv::calls().init_c(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, of.to,
                                  counts.data(), places.data(), MPI_BYTE, of.comm, info, &request),
        MPI_ERR_NO_MEM);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQUAL(handled, 1);
  }
  all.expect_usable(all.comm());
}

/// What only the host finds wrong, on one rank, is everybody's error as well. The host is one that
/// does: support/refusing_host.cpp.
void refused_by_host(const Program& program, const Listening& all) {
  if (std::getenv("ORIEL_TEST_REFUSING") == nullptr) return;
  Arguments of(all.comm(), program.size());
  of.algorithm = "two_sided";
  for (int i = 0; i < 3; ++i) {
    const std::string sentence = all.refused(of, {MPI_ERR_BUFFER});
    expect_quoted(sentence, "the MPI library's own collective");
  }
  unsetenv("ORIEL_TEST_REFUSING");  // from now on it agrees
  all.expect_usable(all.comm());
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  if (program.host_only()) return 0;  // no host looks at the arguments of others
  const Listening all(program);
  program.test("truncated", [&] { truncated(program, all); });
  program.test("counts", [&] { counts(program, all); });
  program.test("null request", [&] { null_request(all); });
  program.test("overlapping", [&] { overlapping(program, all); });
  program.test("datatypes", [&] { datatypes(program, all); });
  program.test("buffers", [&] { buffers(program, all); });
  program.test("info values", [&] { info_values(program, all); });
  program.test("standard name", [&] { standard_name(program, all); });
  program.test("communicators", [&] { communicators(program, all); });
  program.test("several", [&] { several(program, all); });
  program.test("large", [&] { large(program, all); });
  program.test("beyond memory", [&] { beyond_memory(program, all); });
  program.test("refused by the host", [&] { refused_by_host(program, all); });
}
