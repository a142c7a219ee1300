// SPDX-License-Identifier: BSD-3-Clause
// The destructors of this library's static objects, local ones included, never run: the objects
// live until the process ends. When one thread calls exit(), other threads continue, possibly
// within an MPI call, and a destructor would destroy the engine and its memory while they use it.
// The kernel frees everything that a process has. Agent, which must stop its thread at exit,
// registers that by on_exit(), because atexit() also calls this function.
//
// The compiler registers the destructor of each static object through this function. The library's
// own definition is not exported, so the host and the program keep the C library's.

extern "C" [[gnu::used, gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void*), void*,
                                                                     void*) {
  return 0;
}
