! SPDX-License-Identifier: BSD-3-Clause
! Poisson's equation in a cube by conjugate gradients, in coarrays: planes of the cube are dealt out
! to the images, which get their neighbours' outer planes and sum by collectives. A counter on image 1
! deals out the columns of the right side; an image puts its columns wherever they belong.
program poisson
  use iso_fortran_env, only: real64, lock_type
  implicit none
  integer, parameter :: side = 64, limit = 400
  real(real64), allocatable :: direction(:, :, :)[:], right_side(:, :, :)[:]
  real(real64), allocatable :: solution(:, :, :), residual(:, :, :), product(:, :, :), known(:, :, :)
  type(lock_type) :: guard[*]
  integer :: next_column[*], column
  integer :: columns_written[*]
  real(real64) :: rho, rho_before, alpha, error, width
  integer :: me, images, planes, first, step, i, j, k, owner, total

  me = this_image()
  images = num_images()
  if (mod(side, images) /= 0) error stop 'the number of images does not divide 64'
  planes = side/images
  first = (me - 1)*planes
  allocate (direction(0:side + 1, 0:side + 1, 0:planes + 1)[*])
  allocate (right_side(side, side, planes)[*])
  allocate (solution(side, side, planes), residual(side, side, planes))
  allocate (product(side, side, planes), known(side, side, planes))
  width = 1.0_real64/(side + 1)
  do k = 1, planes
    do j = 1, side
      do i = 1, side
        known(i, j, k) = value_at(i, j, first + k)
      end do
    end do
  end do
  next_column = 0
  columns_written = 0
  right_side = 0
  sync all

  ! The right side, column by column.
  do
    lock (guard[1])
    column = next_column[1]
    next_column[1] = column + 1
    unlock (guard[1])
    if (column >= side*side) exit
    j = mod(column, side) + 1
    k = column/side + 1
    owner = (k - 1)/planes + 1
    right_side(:, j, k - (owner - 1)*planes)[owner] = [(operator_at(i, j, k), i=1, side)]
    lock (guard[owner])
    columns_written[owner] = columns_written[owner] + 1
    unlock (guard[owner])
  end do
  sync all
  total = columns_written
  call co_sum(total)

  direction = 0
  solution = 0
  residual = right_side
  direction(1:side, 1:side, 1:planes) = residual
  rho = sum(residual**2)
  call co_sum(rho)
  do step = 1, limit
    sync all
    if (me > 1) direction(:, :, 0) = direction(:, :, planes)[me - 1]
    if (me < images) direction(:, :, planes + 1) = direction(:, :, 1)[me + 1]
    do k = 1, planes
      do j = 1, side
        do i = 1, side
          product(i, j, k) = 6*direction(i, j, k) - direction(i - 1, j, k) - direction(i + 1, j, k) - &
            direction(i, j - 1, k) - direction(i, j + 1, k) - direction(i, j, k - 1) - direction(i, j, k + 1)
        end do
      end do
    end do
    alpha = sum(direction(1:side, 1:side, 1:planes)*product)
    call co_sum(alpha)
    alpha = rho/alpha
    solution = solution + alpha*direction(1:side, 1:side, 1:planes)
    residual = residual - alpha*product
    rho_before = rho
    rho = sum(residual**2)
    call co_sum(rho)
    if (rho < 1e-22_real64) exit
    sync all
    direction(1:side, 1:side, 1:planes) = residual + rho/rho_before*direction(1:side, 1:side, 1:planes)
  end do
  error = maxval(abs(solution - known))
  call co_max(error)
  if (me == 1) print '(a, i0, a, es12.4, a, i0, a)', 'poisson: steps ', step, ', largest error ', error, &
    ', columns ', total, merge(' right', ' wrong', error < 1e-8_real64 .and. total == side*side)

contains
  pure real(real64) function value_at(i, j, k)
    integer, intent(in) :: i, j, k
    real(real64) :: x, y, z
    x = i*width
    y = j*width
    z = k*width
    value_at = x*(1 - x)*y*(1 - y)*z*(1 - z)*(1 + x + 2*y*z)
  end function
  ! Zero outside, by its factors.
  pure real(real64) function operator_at(i, j, k)
    integer, intent(in) :: i, j, k
    operator_at = 6*value_at(i, j, k) - value_at(i - 1, j, k) - value_at(i + 1, j, k) - &
                  value_at(i, j - 1, k) - value_at(i, j + 1, k) - value_at(i, j, k - 1) - value_at(i, j, k + 1)
  end function
end program
