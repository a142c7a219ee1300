! SPDX-License-Identifier: BSD-3-Clause
! Heat in a square plate by explicit steps, in coarrays: each image has some rows and puts its edges
! into its neighbours. The plate begins with the slowest mode, which each step multiplies by a known
! factor.
program heat
  use iso_fortran_env, only: real64
  implicit none
  integer, parameter :: side = 256, steps = 1000
  real(real64), parameter :: pi = acos(-1.0_real64), ratio = 0.2_real64
  real(real64), allocatable :: plate(:, :)[:], next(:, :)
  real(real64) :: width, factor, error
  integer :: me, images, rows, first, step, i, j

  me = this_image()
  images = num_images()
  if (mod(side, images) /= 0) error stop 'the number of images does not divide 256'
  rows = side/images
  first = (me - 1)*rows
  width = pi/(side + 1)
  allocate (plate(0:side + 1, 0:rows + 1)[*])
  allocate (next(0:side + 1, 0:rows + 1))
  do j = 0, rows + 1
    do i = 0, side + 1
      plate(i, j) = sin(i*width)*sin((first + j)*width)
    end do
  end do
  sync all
  do step = 1, steps
    do j = 1, rows
      do i = 1, side
        next(i, j) = plate(i, j) + ratio*(plate(i - 1, j) + plate(i + 1, j) + plate(i, j - 1) + &
                                          plate(i, j + 1) - 4*plate(i, j))
      end do
    end do
    sync all
    plate(1:side, 1:rows) = next(1:side, 1:rows)
    if (me > 1) plate(1:side, rows + 1)[me - 1] = next(1:side, 1)
    if (me < images) plate(1:side, 0)[me + 1] = next(1:side, rows)
    sync all
  end do
  factor = (1 - 8*ratio*sin(width/2)**2)**steps
  error = 0
  do j = 1, rows
    do i = 1, side
      error = max(error, abs(plate(i, j) - factor*sin(i*width)*sin((first + j)*width)))
    end do
  end do
  call co_max(error)
  if (me == 1) print '(a, es12.4, a)', 'heat: largest error ', error, merge(' right', ' wrong', error < 1e-10_real64)
end program
