// SPDX-License-Identifier: BSD-3-Clause

// The tree of "Notified Access: Extending Remote Memory Access Programming Models for
// Producer-Consumer Synchronization", section VI-B: each inner rank adds the contributions of its
// up to 16 children to its own and passes the sums on to its parent. A plain MPI program: it runs
// on the host MPI alone and with Oriel preloaded, where it has notified access. `oriel bench tree`
// starts it both ways in turn and compares. One JSON line per variant and size: the time from
// the moment at which all ranks begin until the root has the sums, in microseconds.

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

#include "bench/failure.hpp"
#include "bench/job.hpp"
#include "bench/notify_api.hpp"
#include "bench/samples.hpp"
#include "bench/stopwatch.hpp"
#include "bench/window.hpp"
#include "tree/fence.hpp"
#include "tree/flags.hpp"
#include "tree/get_notify.hpp"
#include "tree/host_reduce.hpp"
#include "tree/messages.hpp"
#include "tree/notify.hpp"
#include "tree/options.hpp"
#include "tree/post_start.hpp"
#include "tree/shape.hpp"
#include "tree/tree_row.hpp"

namespace tree {
namespace {

class Tree {
 public:
  explicit Tree(const Options& options) : options_(options), shape_(options.arity) {
    if (shape_.ranks() < 2) {
      bench::fail("a tree needs two ranks, and the job has one; start it with -n 2 or more.");
    }
  }

  template <typename Variant>
  void play(std::string_view name) {
    if (!options_.variants.includes(name)) return;
    ++played_;
    for (const std::size_t bytes : options_.sizes) {
      TreeRow<Variant> row(job_, shape_, options_.memory, bytes / sizeof(double));
      bench::Stopwatch stopwatch(options_.batches, options_.batch_us, bench::Whose::rank_0);
      const std::vector<double> samples = stopwatch.samples(row);
      if (!shape_.root()) continue;
      std::printf("{\"variant\":\"%.*s\",\"bytes\":%zu,\"ranks\":%d,\"arity\":%d,\"rounds\":%lld,",
                  static_cast<int>(name.size()), name.data(), bytes, shape_.ranks(), shape_.arity(),
                  static_cast<long long>(stopwatch.rounds_per_batch()));
      bench::print_samples(samples);
    }
  }

  int played() const { return played_; }

 private:
  const Options& options_;
  const bench::Job job_;
  Shape shape_;
  int played_ = 0;
};

void run(const Options& options) {
  Tree tree(options);
  // Without windows first: a program that has none yet pays nothing for the library.
  tree.play<Messages>("messages");
  tree.play<HostReduce>("reduce");
  tree.play<Fence>("fence");
  tree.play<PostStart>("post_start");
  tree.play<Flags>("flag");
  if (bench::NotifyApi().complete()) {
    tree.play<Notify>("notify");
    tree.play<GetNotify>("get_notify");
  }
  if (tree.played() == 0) {
    bench::fail(
        "none of the variants asked for is there; leave --variant away to see all. notify "
        "and get_notify need Oriel: start the program with oriel run.");
  }
}

}  // namespace
}  // namespace tree

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tree::run(tree::Options(argc, argv));
  MPI_Finalize();
}
