// SPDX-License-Identifier: BSD-3-Clause
// This library's static objects, local ones included, live until the process ends: their
// destructors never run. When one thread calls exit(), other threads go on, possibly within an MPI
// call, and a destructor would take the engine and its memory from under them. The kernel takes
// back all that a process holds. Agent, which has to stop its thread at exit, registers that with
// on_exit(): atexit() ends here, too.
//
// The compiler registers the destructor of each static object through this function. The library's
// own definition is not exported, so the host and the program keep the C library's.

extern "C" [[gnu::used, gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void*), void*,
                                                                     void*) {
  return 0;
}
