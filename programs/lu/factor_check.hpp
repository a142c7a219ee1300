// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/job.hpp"
#include "bench/lapack.hpp"
#include "layout.hpp"
#include "matrix.hpp"
#include "own_rows.hpp"

namespace lu {

/// Checks factorizations, and ends the job where one is wrong. The errors are the largest of all,
/// in units of ||A|| n eps, in the Frobenius norm.
class FactorCheck {
 public:
  FactorCheck(const Layout& layout, const bench::Job& job) : layout_(layout), job_(job) {}

  /// The rows are brought together from the ranks that have computed them. `arrived` gives the
  /// place of a row that another rank has sent to this one. Collective.
  template <typename Arrived>
  void check(const Matrix& matrix, const OwnRows& own, Arrived&& arrived) {
    std::vector<double> rows(own.values().size() * static_cast<std::size_t>(layout_.ranks()));
    const int part = static_cast<int>(own.values().size());
    MPI_Allgather(own.values().data(), part, MPI_DOUBLE, rows.data(), part, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    std::vector<double> factors;  // row by row: L left of the diagonal, and U
    factors.reserve(order() * order());
    for (int row = 0; row < layout_.order(); ++row) {
      const auto place = static_cast<std::size_t>(layout_.owner(row)) * own.values().size() +
                         static_cast<std::size_t>(row / layout_.ranks()) * order();
      const double* const begin = &rows[place];
      factors.insert(factors.end(), begin, begin + order());
      if (!layout_.owns(row)) compare(row, begin + row, arrived(row));
    }
    if (layout_.rank() == 0) {
      compare_with_lapack(matrix, factors);
      multiply(matrix, factors);
    }
    job_.barrier();  // the others leave the core to rank 0
  }

  /// ||A - L U||.
  double residual() const { return residual_; }
  /// Distance to the factors that LAPACK computes.
  double difference() const { return difference_; }

 private:
  static constexpr double largest_error = 30;  // LAPACK's own tests accept this much

  std::size_t order() const { return static_cast<std::size_t>(layout_.order()); }

  void compare(int row, const double* sent, const double* arrived) const {
    if (std::equal(sent, sent + layout_.length(row), arrived)) return;
    bench::fail("row " + std::to_string(row) + " of U has not arrived on rank " +
                std::to_string(layout_.rank()) + " as rank " + std::to_string(layout_.owner(row)) +
                " has computed it.");
  }

  void compare_with_lapack(const Matrix& matrix, const std::vector<double>& factors) {
    const int n = layout_.order();
    std::vector<double> lapacks(order() * order());  // column by column
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < n; ++row) lapacks[place(column, row)] = matrix.element(row, column);
    }
    std::vector<int> pivots(order());
    if (!bench::lapack::getrf(n, lapacks.data(), pivots.data())) {
      bench::fail("LAPACK found a singular matrix of order " + std::to_string(n) + ".");
    }
    for (int row = 0; row < n; ++row) {
      if (pivots[static_cast<std::size_t>(row)] == row + 1) continue;
      bench::fail("LAPACK swapped row " + std::to_string(row) +
                  ": its factors cannot be compared.");
    }
    const double error = relative(matrix, [&](int row, int column) {
      return factors[place(row, column)] - lapacks[place(column, row)];
    });
    take(error, difference_, "the distance from LAPACK's factors");
  }

  void multiply(const Matrix& matrix, const std::vector<double>& factors) {
    const int n = layout_.order();
    std::vector<double> product(order() * order());  // row by row: first L
    for (int row = 0; row < n; ++row) {
      std::copy_n(&factors[place(row, 0)], row, &product[place(row, 0)]);
      product[place(row, row)] = 1;
    }
    // To LAPACK, which reads columns, U is a lower triangle: U^T L^T is (L U)^T.
    bench::lapack::trmm(n, factors.data(), product.data());
    const double error = relative(matrix, [&](int row, int column) {
      return matrix.element(row, column) - product[place(row, column)];
    });
    take(error, residual_, "||A - L U||");
  }

  std::size_t place(int major, int minor) const {
    return static_cast<std::size_t>(major) * order() + static_cast<std::size_t>(minor);
  }

  template <typename Difference>
  double relative(const Matrix& matrix, Difference&& difference) const {
    double squares = 0;
    double squares_of_matrix = 0;
    for (int row = 0; row < layout_.order(); ++row) {
      for (int column = 0; column < layout_.order(); ++column) {
        squares += std::pow(difference(row, column), 2);
        squares_of_matrix += std::pow(matrix.element(row, column), 2);
      }
    }
    const double eps = std::numeric_limits<double>::epsilon() / 2;  // as LAPACK's tests have it
    return std::sqrt(squares / squares_of_matrix) / (layout_.order() * eps);
  }

  void take(double error, double& largest, const std::string& what) const {
    if (!(error <= largest_error)) {
      bench::fail("the factors of a matrix of order " + std::to_string(layout_.order()) +
                  " are wrong: " + what + " / (||A|| n eps) is " + std::to_string(error) +
                  " and should be at most " + std::to_string(largest_error) + ".");
    }
    largest = std::max(largest, error);
  }

  const Layout& layout_;
  const bench::Job& job_;
  double residual_ = 0;
  double difference_ = 0;
};

}  // namespace lu
