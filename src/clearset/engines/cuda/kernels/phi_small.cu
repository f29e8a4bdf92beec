// phi of up to six features: one lattice of size 2, whose value is u'Cv, with u and v the weights of the vertices of each
// half of the features. A lane takes a token.
#include "packed.h"

constexpr int A = (D + 1) / 2, B = D / 2;
constexpr int U = 1 << A, V = 1 << B;

__constant__ float VERTICES[U * V];

// The weights of all vertices of N features, the last of which varies fastest.
template <int N>
__device__ __forceinline__ void weigh(const float* calibrated, float (&weights)[1 << N]) {
  weights[0] = 1.0f;
#pragma unroll
  for (int d = 0; d < N; ++d)
#pragma unroll
    for (int i = (1 << d) - 1; i >= 0; --i) {
      const float above = weights[i] * calibrated[d];
      weights[2 * i] = weights[i] - above;
      weights[2 * i + 1] = above;
    }
}

// The slopes of a lattice of N features along each of them; the vertices are overwritten.
template <int N>
__device__ __forceinline__ void slopes_of(const float* calibrated, float (&vertices)[1 << N], float* slopes) {
#pragma unroll
  for (int d = N - 1; d >= 0; --d) {
    // What is left is a lattice of the features before d.
    float steps[1 << (N > 0 ? N - 1 : 0)];
#pragma unroll
    for (int i = 0; i < 1 << d; ++i) {
      steps[i] = vertices[2 * i + 1] - vertices[2 * i];
      vertices[i] = fmaf(calibrated[d], steps[i], vertices[2 * i]);
    }
#pragma unroll
    for (int e = d - 1; e >= 0; --e)
#pragma unroll
      for (int i = 0; i < 1 << e; ++i) steps[i] = fmaf(calibrated[e], steps[2 * i + 1] - steps[2 * i], steps[2 * i]);
    slopes[d] = steps[0];
  }
}

__device__ __forceinline__ float phi(const uint (&position)[D], const float2* lines) {
  float calibrated[D], u[U], v[V];
  calibrate(position, lines, calibrated);
  weigh<A>(calibrated, u);
  weigh<B>(calibrated + A, v);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < U; ++i) {
    float inner = VERTICES[i * V] * v[0];
#pragma unroll
    for (int j = 1; j < V; ++j) inner = fmaf(VERTICES[i * V + j], v[j], inner);
    sum = fmaf(u[i], inner, sum);
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(256, 4)
forward(Packed sets, const Batch* batch, const float2* all_lines, int n_slots, int rows, int row, float* means) {
  extern __shared__ float2 lines[];
  for (int i = threadIdx.x; i < n_slots; i += blockDim.x) lines[i] = all_lines[row * n_slots + i];
  __syncthreads();
  average_sets<4096>(*batch, sets.offsets, rows, row, means, [&](int64 first, int count, float* scores) {
    const uint* from = sets.positions + first;
#pragma unroll 2
    for (int i = threadIdx.x; i < count; i += 256) {
      uint position[D];
#pragma unroll
      for (int d = 0; d < D; ++d) position[d] = __ldg(from + d * sets.stride + i);
      scores[i] = phi(position, lines);
    }
  });
}

// Tokens that a lane works on at once.
#ifndef TOGETHER
#define TOGETHER 2
#endif

// Adds up the gradients by slots and vertices of one row: `partial` is (blocks, n_slots + vertices). `upstream` is the
// gradient by a set's mean over its number of tokens.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1)
backward(Packed sets, const Batch* batch, const float2* all_lines, int n_slots, int rows, int row, const float* upstream,
         double* partial) {
  extern __shared__ float columns[];
  float2* lines = reinterpret_cast<float2*>(columns + (blockDim.x / LANES) * n_slots * LANES);
  for (int i = threadIdx.x; i < n_slots; i += blockDim.x) lines[i] = all_lines[row * n_slots + i];
  for (int i = threadIdx.x; i < n_slots * int(blockDim.x); i += blockDim.x) columns[i] = 0.0f;
  __syncthreads();
  float* column = column_of(columns, n_slots);
  float by_vertices[U * V];
#pragma unroll
  for (int i = 0; i < U * V; ++i) by_vertices[i] = 0.0f;
  const int warps = blockDim.x / LANES;
  const int64 end = (batch->last_token + LANES - 1) / LANES, step = int64(gridDim.x) * warps * TOGETHER;
  int64 tile = batch->first_token / LANES + (int64(blockIdx.x) * warps + threadIdx.x / LANES) * TOGETHER;
  const UpstreamReader reader{sets, *batch, upstream + row, rows};
  uint next[TOGETHER][D];
  float next_up[TOGETHER];
  Starts starts[TOGETHER];
#pragma unroll
  for (int n = 0; n < TOGETHER; ++n) {
    read_positions(sets, tile + n, end, next[n]);
    next_up[n] = reader.read(tile + n, end, reader.starts(tile + n, end));
    starts[n] = reader.starts(tile + n + step, end);
  }
  for (; tile < end; tile += step) {
    uint position[TOGETHER][D];
    float up[TOGETHER];
#pragma unroll
    for (int n = 0; n < TOGETHER; ++n) {
#pragma unroll
      for (int d = 0; d < D; ++d) position[n][d] = next[n][d];
      up[n] = next_up[n];
      read_positions(sets, tile + n + step, end, next[n]);
      next_up[n] = reader.read(tile + n + step, end, starts[n]);
      starts[n] = reader.starts(tile + n + 2 * step, end);
    }
    float slopes[TOGETHER][D];
#pragma unroll
    for (int n = 0; n < TOGETHER; ++n) {
      float calibrated[D], u[U], v[V];
      calibrate(position[n], lines, calibrated);
      weigh<A>(calibrated, u);
      weigh<B>(calibrated + A, v);
      {
        float inner[U];
#pragma unroll
        for (int i = 0; i < U; ++i) {
          inner[i] = VERTICES[i * V] * v[0];
#pragma unroll
          for (int j = 1; j < V; ++j) inner[i] = fmaf(VERTICES[i * V + j], v[j], inner[i]);
        }
        slopes_of<A>(calibrated, inner, slopes[n]);
      }
      {
        float inner[V];
#pragma unroll
        for (int j = 0; j < V; ++j) {
          inner[j] = VERTICES[j] * u[0];
#pragma unroll
          for (int i = 1; i < U; ++i) inner[j] = fmaf(VERTICES[i * V + j], u[i], inner[j]);
        }
        slopes_of<B>(calibrated + A, inner, slopes[n] + A);
      }
#pragma unroll
      for (int i = 0; i < U; ++i) {
        const float amount = up[n] * u[i];
#pragma unroll
        for (int j = 0; j < V; ++j) by_vertices[i * V + j] = fmaf(amount, v[j], by_vertices[i * V + j]);
      }
    }
    // Features have slots of their own, so all of them are read before any is written.
#pragma unroll
    for (int n = 0; n < TOGETHER; ++n) {
      float below[D], above[D];
      int places[D];
#pragma unroll
      for (int d = 0; d < D; ++d) {
        places[d] = (FIRST_SLOTS[d] + slot_of(position[n][d])) * LANES;
        below[d] = column[places[d]];
        above[d] = column[places[d] + LANES];
      }
#pragma unroll
      for (int d = 0; d < D; ++d) {
        const float amount = up[n] * slopes[n][d];
        const float part = fmaf(amount, one_and_fraction_of(position[n][d]), -amount);
        column[places[d]] = below[d] + (amount - part);
        column[places[d] + LANES] = above[d] + part;
      }
    }
  }
  partial += int64(blockIdx.x) * (n_slots + U * V);
  sum_columns(columns, n_slots, n_slots * LANES, partial);
  // The columns' memory is free now; the vertices take turns in it.
  constexpr int most = 2;
#pragma unroll
  for (int i = 0; i < U * V; i += most) {
#pragma unroll
    for (int j = 0; j < most; ++j) column[j * LANES] = by_vertices[i + j];
    sum_columns(columns, most, n_slots * LANES, partial + n_slots + i);
  }
}
