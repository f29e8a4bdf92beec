// What all kernels share: the sets of a step, and sums in a fixed order.
#pragma once

typedef unsigned int uint;
typedef long long int64;

constexpr int LANES = 32;

// The sets that a step is about: a run of sets, or of their order. An epoch goes from `start` on.
struct Batch {
  int64 first_set, n_sets, first_token, last_token;
  int64 start, done, batch_size, count;
};

__device__ __forceinline__ double sum_of_warp(double value) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// A lane's own column of sums: nothing is shared, so nothing needs an order. Slots are 32 entries apart.
__device__ __forceinline__ float* column_of(float* columns, int n_slots) {
  return columns + (threadIdx.x / LANES) * n_slots * LANES + threadIdx.x % LANES;
}

// Sums the columns of all warps of a block, row by row: `columns` is (warps, `apart`), of which the first `n_rows` x 32 of each
// warp count.
__device__ __forceinline__ void sum_columns(const float* columns, int n_rows, int apart, double* sums) {
  const int warps = blockDim.x / LANES, warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  __syncthreads();
  for (int row = warp; row < n_rows; row += warps) {
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += columns[w * apart + row * LANES + lane];
    sum = sum_of_warp(sum);
    if (lane == 0) sums[row] = sum;
  }
  __syncthreads();
}
