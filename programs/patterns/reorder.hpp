// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "scene.hpp"

/// The four reorder flags (E7, E13), "Nonblocking epochs in MPI one-sided communication", section
/// VIII-A2, Figures 7 to 11: each pattern is played with its flag off and on. Every rank opens its
/// second epoch after it closed the first, and only then waits for both.
namespace patterns {

/// A_A_A_R with post/start/complete/wait: O (rank 0) puts to T0 (rank 1), which posts late, and
/// then to T1 (rank 2).
inline void aaar_gats(Scene& scene) {
  enum { first_target, second_target, origin };
  scene.job().meet();
  const double begin = bench::now_us();
  if (scene.rank() == 0) {
    scene.epochs().start(scene.only(1));
    scene.put(0);
    const MPI_Request first = scene.epochs().complete();
    scene.epochs().start(scene.only(2));
    scene.put(1);
    const MPI_Request second = scene.epochs().complete();
    Epochs::finish(first, second);
    scene.measure(origin, begin);
  } else {
    if (scene.rank() == 1) scene.be_late();
    scene.epochs().post(scene.only(0));
    Epochs::finish(scene.epochs().wait());
    scene.measure(scene.rank() == 1 ? first_target : second_target, begin);
  }
}

/// A_A_A_R with locks: O0 (rank 0) works while it holds the lock of T0 (rank 2); O1 (rank 1) asks
/// for the lock of T0 and then for that of T1 (rank 3).
inline void aaar_lock(Scene& scene) {
  enum { first_origin, second_origin, transfer };
  scene.job().meet();
  if (scene.rank() == 0) {
    const double begin = bench::now_us();
    scene.epochs().lock(2);
    scene.put(0);
    Epochs::finish(scene.epochs().flush(2));  // the lock is held when this is complete
    scene.measure(transfer, begin);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    scene.be_late();
    Epochs::finish(scene.epochs().unlock(2));
    scene.measure(first_origin, begin);
  } else if (scene.rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double begin = bench::now_us();
    scene.epochs().lock(2);
    scene.put(1);
    const MPI_Request first = scene.epochs().unlock(2);
    scene.epochs().lock(3);
    scene.put(2);
    const MPI_Request second = scene.epochs().unlock(3);
    Epochs::finish(first, second);
    scene.measure(second_origin, begin);
  }
}

/// A_A_E_R: P2 exposes its memory to P0, which is late, and then puts to P1.
inline void aaer(Scene& scene) {
  enum { late_origin, target, both };
  scene.job().meet();
  const double begin = bench::now_us();
  if (scene.rank() == 0) {
    scene.be_late();
    scene.epochs().start(scene.only(2));
    scene.put(0);
    Epochs::finish(scene.epochs().complete());
    scene.measure(late_origin, begin);
  } else if (scene.rank() == 1) {
    scene.epochs().post(scene.only(2));
    Epochs::finish(scene.epochs().wait());
    scene.measure(target, begin);
  } else {
    scene.epochs().post(scene.only(0));
    const MPI_Request first = scene.epochs().wait();
    scene.epochs().start(scene.only(1));
    scene.put(1);
    const MPI_Request second = scene.epochs().complete();
    Epochs::finish(first, second);
    scene.measure(both, begin);
  }
}

/// E_A_E_R: T (rank 2) exposes its memory to O0 (rank 0), which is late, and then to O1 (rank 1).
inline void eaer(Scene& scene) {
  enum { late_origin, origin, both };
  scene.job().meet();
  const double begin = bench::now_us();
  if (scene.rank() == 2) {
    scene.epochs().post(scene.only(0));
    const MPI_Request first = scene.epochs().wait();
    scene.epochs().post(scene.only(1));
    const MPI_Request second = scene.epochs().wait();
    Epochs::finish(first, second);
    scene.measure(both, begin);
  } else {
    if (scene.rank() == 0) scene.be_late();
    scene.epochs().start(scene.only(2));
    scene.put(static_cast<std::size_t>(scene.rank()));
    Epochs::finish(scene.epochs().complete());
    scene.measure(scene.rank() == 0 ? late_origin : origin, begin);
  }
}

/// E_A_A_R: P2 puts to P0, which posts late, and then exposes its memory to P1.
inline void eaar(Scene& scene) {
  enum { late_target, origin, both };
  scene.job().meet();
  const double begin = bench::now_us();
  if (scene.rank() == 0) {
    scene.be_late();
    scene.epochs().post(scene.only(2));
    Epochs::finish(scene.epochs().wait());
    scene.measure(late_target, begin);
  } else if (scene.rank() == 1) {
    scene.epochs().start(scene.only(2));
    scene.put(1);
    Epochs::finish(scene.epochs().complete());
    scene.measure(origin, begin);
  } else {
    scene.epochs().start(scene.only(0));
    scene.put(0);
    const MPI_Request first = scene.epochs().complete();
    scene.epochs().post(scene.only(1));
    const MPI_Request second = scene.epochs().wait();
    Epochs::finish(first, second);
    scene.measure(both, begin);
  }
}

}  // namespace patterns
