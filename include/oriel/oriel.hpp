// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file oriel.hpp
 * MPI's one-sided communication and the ORIEL_ calls for C++20: windows, epochs, requests and
 * notifications as objects. Header-only; each function is an inline call of the C function of the
 * same name. The constructor of a nonblocking epoch also completes the request of that call.
 *
 * Rules common to all headers of oriel/cpp
 *  - Names are those of C without the prefix: MPI_Win_flush is window.flush, ORIEL_Put_notify is
 *    window.put_notify. A function means what the C function means, and blocks where it blocks.
 *  - Displacements and counts are in elements of the window's type T, whose MPI datatype is
 *    datatype<T>::get(). Displacements on a dynamic window are addresses.
 *  - A function whose C function fails throws oriel::error with the C function's error code. On the
 *    path without an error, no function throws, allocates memory or calls anything but MPI.
 *  - Only functions that are used call ORIEL_ functions: a program that uses MPI's part alone needs
 *    no Oriel, neither to link nor to run. A program that uses more is linked with Oriel, as in C,
 *    or is compiled with ORIEL_WEAK (oriel/cpp/weak.hpp).
 *
 * Source: MPI-4.1, chapter 12, and the sources that the headers of the ORIEL_ calls name.
 * docs/cpp.md explains the design.
 */
#pragma once

#ifdef ORIEL_WEAK
#include <oriel/cpp/weak.hpp>
#endif
#include <oriel/cpp/buffer.hpp>
#include <oriel/cpp/datatype.hpp>
#include <oriel/cpp/epoch.hpp>
#include <oriel/cpp/error.hpp>
#include <oriel/cpp/notify_request.hpp>
#include <oriel/cpp/request.hpp>
#include <oriel/cpp/window.hpp>
#include <oriel/cpp/window_handle.hpp>
#include <oriel/cpp/window_view.hpp>
