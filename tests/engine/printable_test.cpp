// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/standard_error.hpp"

#include <gtest/gtest.h>

namespace oriel {
namespace {

TEST(Printable, ControlsAreSpaces) {
  EXPECT_EQ(printable("a\x1b[31m\tb\nc\x7f"), "a [31m b c ");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "b"),
            "a b");
}

TEST(Printable, LettersStay) {
  EXPECT_EQ(printable("w\xc3\xafn \xc2\xa0\xe2\x82\xac"), "w\xc3\xafn \xc2\xa0\xe2\x82\xac");
  EXPECT_EQ(printable("cut\xc2"), "cut\xc2");
}

}  // namespace
}  // namespace oriel
