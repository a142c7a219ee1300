# SPDX-License-Identifier: BSD-3-Clause
# Interface target with the warnings and sanitizers that all of our own code is compiled with.
add_library(oriel_warnings INTERFACE)
# Designated initializers leave defaults on purpose; GCC 12 misjudges concatenation of std::string
# (GCC bug 105651).
target_compile_options(oriel_warnings INTERFACE -Wall -Wextra -Wshadow
                       -Wno-missing-field-initializers
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CMAKE_UNITY_BUILD)  # where one file's names shadow those of the files before it
  target_compile_options(oriel_warnings INTERFACE -Wno-shadow)
endif()
if(ORIEL_WERROR)
  target_compile_options(oriel_warnings INTERFACE -Werror)
endif()
if(ORIEL_SANITIZE)
  add_compile_options(-O1)
endif()
if(ORIEL_SANITIZE STREQUAL "thread")
  # ThreadSanitizer does not model fences (-Wtsan). Ours order the program's data for whatever it
  # synchronizes with outside of Oriel; what Oriel shares is ordered by its own words.
  target_compile_options(oriel_warnings INTERFACE -fsanitize=thread -Wno-tsan)
  target_link_options(oriel_warnings INTERFACE -fsanitize=thread)
elseif(ORIEL_SANITIZE STREQUAL "address")
  # GCC warns about the moves of std::function (std::regex) if it instruments them.
  target_compile_options(oriel_warnings INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=undefined -Wno-maybe-uninitialized)
  target_link_options(oriel_warnings INTERFACE -fsanitize=address,undefined)
elseif(ORIEL_SANITIZE)
  message(FATAL_ERROR "ORIEL_SANITIZE is '${ORIEL_SANITIZE}'; it takes thread or address.")
endif()
