// phi of up to six features: one lattice of size 2. A lane takes a token. Scores and slopes come from the lattice as a
// polynomial, u'Mv, with u and v the products of the calibrated values of each half of the features; gradients by vertices
// from the vertices' weights, which are exactly 0 where a token has no part in a vertex.
#include "packed.h"

constexpr int A = (D + 1) / 2, B = D / 2;
constexpr int U = 1 << A, V = 1 << B;

__constant__ float MONOMIALS[U * V];

// Products of all subsets of N features, the last of which varies fastest; the first product is 1.
template <int N>
__device__ __forceinline__ void monomials(const float* calibrated, float (&products)[1 << N]) {
  products[0] = 1.0f;
#pragma unroll
  for (int d = N - 1; d >= 0; --d) {
    const int half = 1 << (N - 1 - d);
    products[half] = calibrated[d];
#pragma unroll
    for (int i = 1; i < half; ++i) products[half + i] = products[i] * calibrated[d];
  }
}

// The derivatives of the polynomial `coefficients` . `products` by each of N features.
template <int N>
__device__ __forceinline__ void slopes_of(const float (&products)[1 << N], const float* coefficients, float* slopes) {
#pragma unroll
  for (int d = 0; d < N; ++d) {
    const int own = 1 << (N - 1 - d);
    float sum = coefficients[own];
#pragma unroll
    for (int i = own + 1; i < 1 << N; ++i)
      if (i & own) sum = fmaf(coefficients[i], products[i & ~own], sum);
    slopes[d] = sum;
  }
}

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

__device__ __forceinline__ float phi(const uint (&position)[D], const float2* lines) {
  float calibrated[D], u[U], v[V];
  calibrate(position, lines, calibrated);
  monomials<A>(calibrated, u);
  monomials<B>(calibrated + A, v);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < U; ++i) {
    float inner = MONOMIALS[i * V];
#pragma unroll
    for (int j = 1; j < V; ++j) inner = fmaf(MONOMIALS[i * V + j], v[j], inner);
    sum = i ? fmaf(u[i], inner, sum) : inner;
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
  const UpstreamReader reader(sets, *batch, upstream, rows, row);
  const int warps = blockDim.x / LANES;
  const int64 end = (batch->last_token + LANES - 1) / LANES, step = int64(gridDim.x) * warps;
  int64 tile = batch->first_token / LANES + int64(blockIdx.x) * warps + threadIdx.x / LANES;
  uint next[D];
  float next_up = 0;
  Starts starts{0, 0};
  if (tile < end) {
    read_positions(sets, tile, next);
    next_up = reader.read(tile, reader.starts(tile));
  }
  if (tile + step < end) starts = reader.starts(tile + step);
  for (; tile < end; tile += step) {
    uint position[D];
#pragma unroll
    for (int d = 0; d < D; ++d) position[d] = next[d];
    const float up = next_up;
    if (tile + step < end) {
      read_positions(sets, tile + step, next);
      next_up = reader.read(tile + step, starts);
      if (tile + 2 * step < end) starts = reader.starts(tile + 2 * step);
    }
    float calibrated[D], slopes[D];
    calibrate(position, lines, calibrated);
    {
      float u[U], v[V], inner[U];
      monomials<A>(calibrated, u);
      monomials<B>(calibrated + A, v);
#pragma unroll
      for (int i = 0; i < U; ++i) {
        inner[i] = MONOMIALS[i * V];
#pragma unroll
        for (int j = 1; j < V; ++j) inner[i] = fmaf(MONOMIALS[i * V + j], v[j], inner[i]);
      }
      slopes_of<A>(u, inner, slopes);
#pragma unroll
      for (int j = 0; j < V; ++j) {
        inner[j] = MONOMIALS[j];
#pragma unroll
        for (int i = 1; i < U; ++i) inner[j] = fmaf(MONOMIALS[i * V + j], u[i], inner[j]);
      }
      slopes_of<B>(v, inner, slopes + A);
    }
    {
      float u[U], v[V];
      weigh<A>(calibrated, u);
      weigh<B>(calibrated + A, v);
#pragma unroll
      for (int i = 0; i < U; ++i) {
        const float amount = up * u[i];
#pragma unroll
        for (int j = 0; j < V; ++j) by_vertices[i * V + j] = fmaf(amount, v[j], by_vertices[i * V + j]);
      }
    }
    // Features have slots of their own, so all of them are read before any is written.
    float below[D], above[D];
    int places[D];
#pragma unroll
    for (int d = 0; d < D; ++d) {
      places[d] = (FIRST_SLOTS[d] + slot_of(position[d])) * LANES;
      below[d] = column[places[d]];
      above[d] = column[places[d] + LANES];
    }
#pragma unroll
    for (int d = 0; d < D; ++d) {
      const float amount = up * slopes[d];
      const float part = fmaf(amount, one_and_fraction_of(position[d]), -amount);
      column[places[d]] = below[d] + (amount - part);
      column[places[d] + LANES] = above[d] + part;
    }
  }
  partial += int64(blockIdx.x) * (n_slots + U * V);
  sum_columns(columns, n_slots, n_slots * LANES, partial);
  // The columns' memory is free now; the vertices take turns in it.
  constexpr int most = U * V < 8 ? U * V : 8;
#pragma unroll
  for (int i = 0; i < U * V; i += most) {
#pragma unroll
    for (int j = 0; j < most; ++j) column[j * LANES] = by_vertices[i + j];
    sum_columns(columns, most, n_slots * LANES, partial + n_slots + i);
  }
}
