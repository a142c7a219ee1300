// SPDX-License-Identifier: BSD-3-Clause
// Global Arrays by their own interface: patches of an array that all ranks write, read and add to,
// a shared counter that deals out the work, scattered elements, and a matrix product. All values
// are whole numbers, so that each result is exact.
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 240, TILE = 24, TILES = SIDE / TILE, ROUNDS = 6 };

static int faults;

static void expect(int right, const char* what) {
  if (right) return;
  if (faults++ < 5) printf("rank %d: %s\n", GA_Nodeid(), what);
}

static double value_at(int i, int j) {
  return 3.0 * i + 5.0 * j;
}

static int make_array(char* name, int type, int dimensions, int* sizes) {
  int chunk[2] = {-1, -1};
  const int array = NGA_Create(type, dimensions, sizes, name, chunk);
  if (array == 0) GA_Error("NGA_Create", 0);
  return array;
}

// Tiles are dealt out by a counter; a rank writes its tiles, and all ranks read all of them.
static void deal_out_tiles(int matrix, int counter) {
  double tile[TILE][TILE];
  GA_Zero(counter);
  int first[1] = {0};
  int stride[1] = {TILE};
  for (;;) {
    const long task = NGA_Read_inc(counter, first, 1);
    if (task >= TILES * TILES) break;
    int low[2] = {(int)(task / TILES) * TILE, (int)(task % TILES) * TILE};
    int high[2] = {low[0] + TILE - 1, low[1] + TILE - 1};
    for (int i = 0; i < TILE; ++i)
      for (int j = 0; j < TILE; ++j) tile[i][j] = value_at(low[0] + i, low[1] + j);
    NGA_Put(matrix, low, high, tile, stride);
  }
  GA_Sync();
  static double whole[SIDE][SIDE];
  int low[2] = {0, 0}, high[2] = {SIDE - 1, SIDE - 1}, row[1] = {SIDE};
  NGA_Get(matrix, low, high, whole, row);
  int right = 1;
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) right &= whole[i][j] == value_at(i, j);
  expect(right, "the tiles that were put are not those that are got");
  GA_Sync();
}

// Every rank adds to patches that overlap those of the others.
static void accumulate(int matrix) {
  static double ones[SIDE][SIDE];
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) ones[i][j] = 1;
  GA_Zero(matrix);
  double scale = 2;
  int stride[1] = {SIDE};
  for (int round = 0; round < ROUNDS; ++round) {
    int low[2] = {round, 2 * round};
    int high[2] = {SIDE - 1 - round, SIDE - 1};
    NGA_Acc(matrix, low, high, ones, stride, &scale);
  }
  GA_Sync();
  static double whole[SIDE][SIDE];
  int low[2] = {0, 0}, high[2] = {SIDE - 1, SIDE - 1};
  NGA_Get(matrix, low, high, whole, stride);
  int right = 1;
  for (int i = 0; i < SIDE; ++i) {
    for (int j = 0; j < SIDE; ++j) {
      int rounds = 0;
      for (int round = 0; round < ROUNDS; ++round)
        rounds += i >= round && i <= SIDE - 1 - round && j >= 2 * round;
      right &= whole[i][j] == scale * rounds * GA_Nnodes();
    }
  }
  expect(right, "the sum of all accumulates is wrong");
  GA_Sync();
}

// Single elements all over the array.
static void scatter(int matrix) {
  enum { COUNT = 300 };
  static double values[COUNT];
  static int places[COUNT][2];
  int* each[COUNT];
  const int ranks = GA_Nnodes();
  for (int k = 0; k < COUNT; ++k) {
    const int number = k * ranks + GA_Nodeid();
    places[k][0] = number * 7 % SIDE;
    places[k][1] = number / SIDE * 11 % SIDE;
    each[k] = places[k];
    values[k] = value_at(places[k][0], places[k][1]);
  }
  NGA_Scatter(matrix, values, each, COUNT);
  GA_Sync();
  for (int k = 0; k < COUNT; ++k) values[k] = -1;
  NGA_Gather(matrix, values, each, COUNT);
  int right = 1;
  for (int k = 0; k < COUNT; ++k) right &= values[k] == value_at(places[k][0], places[k][1]);
  expect(right, "gathered elements are not those that were scattered");
  GA_Sync();
}

// The product of two matrices of rank one, whose elements are known.
static void multiply(int a, int b, int c) {
  int low[2], high[2], stride[1];
  double* part;
  const int both[2] = {a, b};
  for (int which = 0; which < 2; ++which) {
    NGA_Distribution(both[which], GA_Nodeid(), low, high);
    if (low[0] < 0 || high[0] < low[0]) continue;
    NGA_Access(both[which], low, high, &part, stride);
    for (int i = low[0]; i <= high[0]; ++i)
      for (int j = low[1]; j <= high[1]; ++j)
        part[(i - low[0]) * stride[0] + j - low[1]] = which == 0 ? i % 5 : j % 7;
    NGA_Release_update(both[which], low, high);
  }
  GA_Sync();
  GA_Dgemm('n', 'n', SIDE, SIDE, SIDE, 1.0, a, b, 0.0, c);
  static double whole[SIDE][SIDE];
  int start[2] = {0, 0}, end[2] = {SIDE - 1, SIDE - 1}, row[1] = {SIDE};
  NGA_Get(c, start, end, whole, row);
  int right = 1;
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) right &= whole[i][j] == (double)SIDE * (i % 5) * (j % 7);
  expect(right, "the product of two matrices is wrong");
  GA_Sync();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(C_DBL, 4000000, 4000000);
  int square[2] = {SIDE, SIDE}, one[1] = {1};
  const int a = make_array("a", C_DBL, 2, square);
  const int b = make_array("b", C_DBL, 2, square);
  const int c = make_array("c", C_DBL, 2, square);
  const int counter = make_array("counter", C_LONG, 1, one);
  for (int round = 0; round < ROUNDS; ++round) {
    deal_out_tiles(a, counter);
    accumulate(b);
    scatter(c);
    multiply(a, b, c);
  }
  GA_Igop(&faults, 1, "+");
  if (GA_Nodeid() == 0 && faults == 0) printf("Global Arrays: all right\n");
  GA_Destroy(counter);
  GA_Destroy(c);
  GA_Destroy(b);
  GA_Destroy(a);
  GA_Terminate();
  MPI_Finalize();
  return faults != 0;
}
