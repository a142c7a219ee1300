// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "scene.hpp"

/// The five inefficiency patterns (E13), "Nonblocking epochs in MPI one-sided communication",
/// section VIII-A1, Figures 2 to 6. P0, P1, P2 are the ranks 0, 1, 2.
namespace patterns {

/// P0 opens its exposure epoch late; P2 puts to P0 and then has 1 MB to send to P1.
inline void late_post(Scene& scene) {
  enum { access_epoch, subsequent, cumulative };
  scene.job().meet();
  const double begin = bench::now_us();
  const std::span<std::byte> message = scene.message();
  const int count = static_cast<int>(message.size());
  if (scene.rank() == 0) {
    scene.be_late();
    scene.epochs().post(scene.only(2));
    Epochs::finish(scene.epochs().wait());
  } else if (scene.rank() == 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(message.data(), count, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &request);
    scene.job().finish(request);
  } else {
    scene.epochs().start(scene.only(0));
    scene.put(0);
    const MPI_Request closed = scene.epochs().complete();
    if (scene.epochs().blocking()) scene.measure(access_epoch, begin);
    MPI_Send(message.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    scene.measure(subsequent, begin);
    Epochs::finish(closed);
    if (!scene.epochs().blocking()) scene.measure(access_epoch, begin);
    scene.measure(cumulative, begin);
  }
}

/// The origin works inside its access epoch, after its put; the target waits for the epoch's end.
inline void late_complete(Scene& scene) {
  enum { target_epoch, origin_epoch };
  scene.job().meet();
  const double begin = bench::now_us();
  if (scene.rank() == 0) {
    scene.epochs().start(scene.only(1));
    scene.put(0);
    if (scene.epochs().blocking()) {
      scene.be_late();
      scene.epochs().complete();
    } else {
      const MPI_Request closed = scene.epochs().complete();
      scene.be_late();
      Epochs::finish(closed);
    }
    scene.measure(origin_epoch, begin);
  } else {
    scene.epochs().post(scene.only(0));
    Epochs::finish(scene.epochs().wait());
    scene.measure(target_epoch, begin);
  }
}

/// The target closes its fence epoch while the put is under way and then has 1000 microseconds of
/// work. The reference is the same without the put.
inline void early_fence(Scene& scene) {
  enum { cumulative, transfer };
  scene.job().meet();
  Epochs::finish(scene.epochs().fence(MPI_MODE_NOPRECEDE));
  const double begin = bench::now_us();
  if (scene.rank() == 0) {
    if (!scene.turn().reference) scene.put(0);
    Epochs::finish(scene.epochs().fence(MPI_MODE_NOSUCCEED));
    if (!scene.turn().reference) scene.measure(transfer, begin);
  } else {
    const MPI_Request closed = scene.epochs().fence(MPI_MODE_NOSUCCEED);
    scene.work();
    Epochs::finish(closed);
    scene.measure(cumulative, begin);
  }
  if (scene.turn().reference) scene.no_data();
}

/// The origin works before it closes the fence epoch in which it put; the target waits in its
/// fence.
inline void wait_at_fence(Scene& scene) {
  enum { target_epoch, origin_epoch };
  scene.job().meet();
  Epochs::finish(scene.epochs().fence(MPI_MODE_NOPRECEDE));
  const double begin = bench::now_us();
  if (scene.rank() == 0) {
    scene.put(0);
    if (scene.epochs().blocking()) {
      scene.be_late();
      scene.epochs().fence(MPI_MODE_NOSUCCEED);
    } else {
      const MPI_Request closed = scene.epochs().fence(MPI_MODE_NOSUCCEED);
      scene.be_late();
      Epochs::finish(closed);
    }
    scene.measure(origin_epoch, begin);
  } else {
    Epochs::finish(scene.epochs().fence(MPI_MODE_NOSUCCEED));
    scene.measure(target_epoch, begin);
  }
}

/// O0 (rank 0) and O1 (rank 1) lock T (rank 2), O0 first; O0 works before it unlocks.
inline void late_unlock(Scene& scene) {
  enum { first_lock, second_lock };
  const int target = 2;
  scene.job().meet();
  const double begin = bench::now_us();
  if (scene.rank() == 0) {
    scene.epochs().lock(target);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    scene.put(0);
    if (scene.epochs().blocking()) {
      scene.be_late();
      scene.epochs().unlock(target);
    } else {
      const MPI_Request closed = scene.epochs().unlock(target);
      scene.be_late();
      Epochs::finish(closed);
    }
    scene.measure(first_lock, begin);
  } else if (scene.rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double locked = bench::now_us();
    scene.epochs().lock(target);
    scene.put(1);
    Epochs::finish(scene.epochs().unlock(target));
    scene.measure(second_lock, locked);
  }
}

}  // namespace patterns
