// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/fabric_errors.hpp"

#include <gtest/gtest.h>

namespace oriel {
namespace {

TEST(FabricErrors, ShortagesPass) {
  for (const int code : {FI_EAGAIN, FI_EINTR, FI_ENOMEM, FI_EBUSY, FI_ENOBUFS, FI_EALREADY, 269}) {
    EXPECT_EQ(meaning_of(code), FabricError::passing) << code;
    EXPECT_EQ(meaning_of(-code), FabricError::passing) << code;
  }
}

TEST(FabricErrors, ProvidersReportLostPeers) {
  for (const int code : {FI_ECANCELED, FI_ENOTCONN,                     // tcp, verbs
                         FI_ECONNREFUSED, FI_ECONNRESET, FI_ETIMEDOUT,  // tcp, ofi_rxm
                         FI_ECONNABORTED, FI_EHOSTUNREACH,              // efa, cxi
                         FI_ENETUNREACH, FI_ESHUTDOWN, FI_ENETDOWN,     // psm3
                         FI_EHOSTDOWN}) {
    EXPECT_EQ(meaning_of(code), FabricError::peer_gone) << code;
    EXPECT_EQ(meaning_of(-code), FabricError::peer_gone) << code;
  }
}

TEST(FabricErrors, OthersAreThoseOfTheOperation) {
  for (const int code : {FI_EIO, FI_EINVAL, FI_EMSGSIZE, FI_EACCES, FI_EPERM, FI_EREMOTEIO,
                         static_cast<int>(FI_EOTHER), static_cast<int>(FI_ETRUNC),
                         static_cast<int>(FI_EOVERRUN), static_cast<int>(FI_ENOKEY), FI_EBADF,
                         FI_ENOSYS, FI_EOPNOTSUPP, FI_ENOENT, FI_EMFILE, FI_ENOSPC, FI_ENODEV}) {
    EXPECT_EQ(meaning_of(code), FabricError::refused) << code;
  }
}

}  // namespace
}  // namespace oriel
