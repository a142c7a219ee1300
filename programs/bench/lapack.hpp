// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <cstddef>

// Some builds of OpenBLAS put a prefix before every name and ask for this macro.
#ifndef BLAS_SYMBOL_PREFIX
#define BLAS_SYMBOL_PREFIX
#endif
#define BENCH_JOIN_NOW(prefix, name) prefix##name
#define BENCH_JOIN(prefix, name) BENCH_JOIN_NOW(prefix, name)
#define BENCH_FORTRAN(name) BENCH_JOIN(BLAS_SYMBOL_PREFIX, name##_)

// Fortran passes the length of each character argument behind all others.
extern "C" {
void BENCH_FORTRAN(dsyrk)(const char* uplo, const char* trans, const int* n, const int* k,
                          const double* alpha, const double* a, const int* lda, const double* beta,
                          double* c, const int* ldc, std::size_t, std::size_t);
void BENCH_FORTRAN(dgemm)(const char* transa, const char* transb, const int* m, const int* n,
                          const int* k, const double* alpha, const double* a, const int* lda,
                          const double* b, const int* ldb, const double* beta, double* c,
                          const int* ldc, std::size_t, std::size_t);
void BENCH_FORTRAN(dtrsm)(const char* side, const char* uplo, const char* transa, const char* diag,
                          const int* m, const int* n, const double* alpha, const double* a,
                          const int* lda, double* b, const int* ldb, std::size_t, std::size_t,
                          std::size_t, std::size_t);
void BENCH_FORTRAN(dtrmm)(const char* side, const char* uplo, const char* transa, const char* diag,
                          const int* m, const int* n, const double* alpha, const double* a,
                          const int* lda, double* b, const int* ldb, std::size_t, std::size_t,
                          std::size_t, std::size_t);
void BENCH_FORTRAN(dger)(const int* m, const int* n, const double* alpha, const double* x,
                         const int* incx, const double* y, const int* incy, double* a,
                         const int* lda);
void BENCH_FORTRAN(dpotrf)(const char* uplo, const int* n, double* a, const int* lda, int* info,
                           std::size_t);
void BENCH_FORTRAN(dgetrf)(const int* m, const int* n, double* a, const int* lda, int* pivots,
                           int* info);
}

namespace bench::lapack {

inline constexpr auto& dsyrk = BENCH_FORTRAN(dsyrk);
inline constexpr auto& dgemm = BENCH_FORTRAN(dgemm);
inline constexpr auto& dtrsm = BENCH_FORTRAN(dtrsm);
inline constexpr auto& dtrmm = BENCH_FORTRAN(dtrmm);
inline constexpr auto& dger = BENCH_FORTRAN(dger);
inline constexpr auto& dpotrf = BENCH_FORTRAN(dpotrf);
inline constexpr auto& dgetrf = BENCH_FORTRAN(dgetrf);

inline constexpr double minus_one = -1;
inline constexpr double one = 1;

// On squares of n x n doubles, column by column, where nothing else is said.

/// The lower triangle of c: c - a a^T.
inline void syrk(int n, const double* a, double* c) {
  dsyrk("L", "N", &n, &n, &minus_one, a, &n, &one, c, &n, 1, 1);
}

/// c - a b^T.
inline void gemm(int n, const double* a, const double* b, double* c) {
  dgemm("N", "T", &n, &n, &n, &minus_one, a, &n, b, &n, &one, c, &n, 1, 1);
}

/// b l^-T, where l is a lower triangle.
inline void trsm(int n, const double* l, double* b) {
  dtrsm("R", "L", "T", "N", &n, &n, &one, l, &n, b, &n, 1, 1, 1, 1);
}

/// The lower triangle's factor; false if the tile is not positive definite.
inline bool potrf(int n, double* a) {
  int info = 0;
  dpotrf("L", &n, a, &n, &info, 1);
  return info == 0;
}

/// l b, where l is a lower triangle.
inline void trmm(int n, const double* l, double* b) {
  dtrmm("L", "L", "N", "N", &n, &n, &one, l, &n, b, &n, 1, 1, 1, 1);
}

/// a - x y^T, for a part of m x n doubles of a matrix. `lda` doubles are between the columns of a,
/// and `incy` between the elements of y.
inline void ger(int m, int n, const double* x, const double* y, int incy, double* a, int lda) {
  constexpr int dense = 1;
  dger(&m, &n, &minus_one, x, &dense, y, &incy, a, &lda);
}

/// The factors L and U; `pivots` are the rows that were swapped, counted from 1. False if U is
/// singular.
inline bool getrf(int n, double* a, int* pivots) {
  int info = 0;
  dgetrf(&n, &n, a, &n, pivots, &info);
  return info == 0;
}

/// Every rank computes already. To be called before the first other call; where the library is not
/// OpenBLAS, the user's environment decides.
inline void use_one_thread() {
  for (const char* name : {"scipy_openblas_set_num_threads", "openblas_set_num_threads"}) {
    if (void* set = dlsym(RTLD_DEFAULT, name)) reinterpret_cast<void (*)(int)>(set)(1);
  }
}

}  // namespace bench::lapack
