// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_errno.h>

#include <cstdint>

namespace oriel {

/// The meaning of an error code of libfabric for the operation that has it.
enum class FabricError : std::uint8_t {
  passing,    // a shortage: the operation may succeed if it is repeated
  peer_gone,  // the peer has ended or cannot be reached
  refused     // this operation is refused; others may succeed
};

/// `code`: of a call or of a completion, with either sign; not 0. Providers differ: a send whose
/// connection breaks ends with ECANCELED by tcp and verbs, which cancel all that is queued there;
/// efa reports ENOTCONN, ECONNABORTED or EHOSTUNREACH, cxi EHOSTUNREACH or ENOTCONN, psm3
/// ENETUNREACH, ESHUTDOWN or ETIMEDOUT. verbs and cxi report everything else as EIO.
constexpr FabricError meaning_of(long code) {
  switch (code < 0 ? -code : code) {
    case FI_EAGAIN:
    case FI_EINTR:
    case FI_ENOMEM:
    case FI_EBUSY:
    case FI_ENOBUFS:
    case FI_EALREADY:
    case 269:  // FI_ENORX, of libfabric 1.13: the peer has no receive posted now
      return FabricError::passing;
    case FI_ECANCELED:
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case FI_EHOSTUNREACH:
    case FI_EHOSTDOWN:
    case FI_ENETUNREACH:
    case FI_ENETDOWN:
    case FI_ETIMEDOUT:
      return FabricError::peer_gone;
    default:
      return FabricError::refused;
  }
}

}  // namespace oriel
