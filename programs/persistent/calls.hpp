// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <utility>

#include "bench/lookup.hpp"
#include "buffers.hpp"
#include "collective.hpp"

namespace persistent {

/// A collective all of whose calls begin with the same arguments, to which `Self::call(function,
/// more...)` adds those that only some have. `Contents`: what is sent and received.
template <typename Self, auto blocking_call, auto nonblocking_call, typename Init,
          typename Contents = Buffers>
class Calls : public Collective {
 public:
  const std::string& name() const final { return name_; }
  void renew() final { contents_.renew(); }
  void renew_last() final { contents_.renew_last(); }
  void check(const std::string& variant) const final { contents_.check(variant); }
  int blocking() final { return self().call(blocking_call); }
  int nonblocking(MPI_Request* request) final { return self().call(nonblocking_call, request); }
  bool has(Maker maker) const final { return of(maker) != nullptr; }
  int init(Maker maker, MPI_Info info, MPI_Request* request) final {
    return self().call(of(maker), info, request);
  }

 protected:
  Calls(const std::string& name, Contents contents)
      : contents_(std::move(contents)),
        name_(name),
        mpi_(bench::look_up<Init>(("MPI_" + name + "_init").c_str())),
        oriel_(bench::look_up<Init>(("ORIEL_" + name + "_init").c_str())) {}

  Contents contents_;

 private:
  Self& self() { return static_cast<Self&>(*this); }
  Init of(Maker maker) const { return maker == Maker::mpi ? mpi_ : oriel_; }

  std::string name_;
  Init mpi_;
  Init oriel_;
};

}  // namespace persistent
