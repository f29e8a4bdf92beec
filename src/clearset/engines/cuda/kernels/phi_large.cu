// phi of seven to ten features: one lattice of size 2, on tensor cores (tensor_cores.h). A warp takes 32 tokens in two tiles of
// 16.
#include "tensor_cores.h"

extern "C" __global__ void __launch_bounds__(256)
forward(Packed sets, const Batch* batch, const float2* all_lines, const float* vertices, int n_slots, int rows, int row,
        float* means) {
  __shared__ uint4 factor[FACTOR_OF_V];
  __shared__ float staged[256 / LANES][D][LANES];
  extern __shared__ float2 lines[];
  load_factor<V, U, true>(vertices + row * U * V, factor);
  for (int i = threadIdx.x; i < n_slots; i += blockDim.x) lines[i] = all_lines[row * n_slots + i];
  __syncthreads();
  const int lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
  const Side first_side(t & 2), second_side(t & 1);
  float(&own)[D][LANES] = staged[threadIdx.x / LANES];
  average_sets<4096>(*batch, sets.offsets, rows, row, means, [&](int64 first, int count, float* scores) {
    const uint* from = sets.positions + first;
    // What is read beyond the last token does not count; there is room for it.
    uint next[D];
    int begin = threadIdx.x - lane;
#pragma unroll
    for (int d = 0; d < D; ++d) next[d] = __ldg(from + d * sets.stride + begin + lane);
    for (; begin < count; begin += 256) {
      float calibrated[D];
      calibrate(next, lines, calibrated);
      __syncwarp();
#pragma unroll
      for (int d = 0; d < D; ++d) own[d][lane] = calibrated[d];
      __syncwarp();
#pragma unroll
      for (int d = 0; d < D; ++d)
        next[d] = __ldg(from + d * sets.stride + begin + 256 + lane);
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
        Half<B> v[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) v[r].read(&own[A][16 * tile + 8 * r + g], first_side, second_side);
        float results[U / 8][4];
        times_vertices<B, A>(v, factor, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          Half<A> u;
          u.read(&own[0][16 * tile + 8 * r + g], first_side, second_side);
          float low[U / 8], high[U / 8];
          take(results, r, low, high);
          float sum = u.base() * u.fold(low, high);
          sum += __shfl_xor_sync(0xffffffffu, sum, 1);
          sum += __shfl_xor_sync(0xffffffffu, sum, 2);
          const int place = begin + 16 * tile + 8 * r + g;
          if (t == 0 && place < count) scores[place] = sum;
        }
      }
    }
  });
}

// As for fewer features. Lanes of an even number add up slots of the first half of the features only, the others of the
// second half, so that columns need only `n_rows`, as many as the larger half has slots.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1)
backward(Packed sets, const Batch* batch, const float2* all_lines, const float* vertices, int n_slots, int n_rows, int rows,
         int row, const float* upstream, double* partial) {
  __shared__ uint4 of_u[FACTOR_OF_U], of_v[FACTOR_OF_V];
  extern __shared__ float columns[];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES, g = lane / 4, t = lane % 4;
  const Side first_side(t & 2), second_side(t & 1), ends[3] = {Side(g & 4), Side(g & 2), Side(g & 1)};
  float* own = columns + warps * n_rows * LANES + warp * (2 * D + 1) * LANES;  // calibrated (D, 32), then upstream (32)
  uint* packed = reinterpret_cast<uint*>(own + (D + 1) * LANES);                // (D, 32)
  float2* lines = reinterpret_cast<float2*>(columns + warps * (n_rows + 2 * D + 1) * LANES);
  load_factor<V, U, true>(vertices + row * U * V, of_v);
  load_factor<U, V, false>(vertices + row * U * V, of_u);
  for (int i = threadIdx.x; i < n_slots; i += blockDim.x) lines[i] = all_lines[row * n_slots + i];
  for (int i = threadIdx.x; i < n_rows * int(blockDim.x); i += blockDim.x) columns[i] = 0.0f;
  __syncthreads();
  float* column = column_of(columns, n_rows) - (t & 1 ? FIRST_SLOTS[HALF] : 0) * LANES;
  float by_vertices[U / 16][V / 8][4];
#pragma unroll
  for (int m = 0; m < U / 16; ++m)
#pragma unroll
    for (int q = 0; q < V / 8; ++q)
#pragma unroll
      for (int i = 0; i < 4; ++i) by_vertices[m][q][i] = 0.0f;
  const int64 end = (batch->last_token + LANES - 1) / LANES, step = int64(gridDim.x) * warps;
  int64 at = batch->first_token / LANES + int64(blockIdx.x) * warps + warp;
  const UpstreamReader reader(sets, *batch, upstream, rows, row);
  uint next[D];
  float next_up = 0;
  Starts starts{0, 0};
  if (at < end) {
    read_positions(sets, at, next);
    next_up = reader.read(at, reader.starts(at));
  }
  if (at + step < end) starts = reader.starts(at + step);
  for (; at < end; at += step) {
    float calibrated[D];
    calibrate(next, lines, calibrated);
    __syncwarp();
#pragma unroll
    for (int d = 0; d < D; ++d) {
      own[d * LANES + lane] = calibrated[d];
      packed[d * LANES + lane] = next[d];
    }
    own[D * LANES + lane] = next_up;
    __syncwarp();
    if (at + step < end) {
      read_positions(sets, at + step, next);
      next_up = reader.read(at + step, starts);
      if (at + 2 * step < end) starts = reader.starts(at + 2 * step);
    }
#pragma unroll 1
    for (int tile = 0; tile < 2; ++tile) {
      float slopes[2][2 * HALF];
      if (2 * HALF > D) slopes[0][2 * HALF - 1] = slopes[1][2 * HALF - 1] = 0.0f;
      Half<A> u[2];
      Half<B> v[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        u[r].read(own + 16 * tile + 8 * r + g, first_side, second_side);
        v[r].read(own + A * LANES + 16 * tile + 8 * r + g, first_side, second_side);
      }
      {
        float results[U / 8][4];
        times_vertices<B, A>(v, of_v, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float low[U / 8], high[U / 8];
          take(results, r, low, high);
          u[r].slopes(low, high, first_side, second_side, slopes[r]);
        }
      }
      {
        float results[V / 8][4];
        times_vertices<A, B>(u, of_u, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float low[V / 8], high[V / 8];
          take(results, r, low, high);
          v[r].slopes(low, high, first_side, second_side, slopes[r] + A);
        }
      }
      // Four lanes have parts of the slopes of two tokens; each gets the sums of one half of the features of one token.
      float sums[HALF];
#pragma unroll
      for (int d = 0; d < 2 * HALF; ++d) {
        const float given = t & 2 ? slopes[0][d] : slopes[1][d], kept = t & 2 ? slopes[1][d] : slopes[0][d];
        slopes[0][d] = kept + __shfl_xor_sync(0xffffffffu, given, 2);
      }
#pragma unroll
      for (int d = 0; d < HALF; ++d) {
        const float given = t & 1 ? slopes[0][d] : slopes[0][HALF + d], kept = t & 1 ? slopes[0][HALF + d] : slopes[0][d];
        sums[d] = kept + __shfl_xor_sync(0xffffffffu, given, 1);
      }
      const int place = 16 * tile + 4 * (t & 2) + g, first_feature = t & 1 ? HALF : 0;
      const float amount = own[D * LANES + place];
      // Features have slots of their own, so all of them are read before any is written.
      float below[HALF], above[HALF];
      int places[HALF];
      uint positions[HALF];
#pragma unroll
      for (int d = 0; d < HALF; ++d) {
        const int feature = first_feature + d < D ? first_feature + d : 0;
        positions[d] = packed[feature * LANES + place];
        places[d] = (FIRST_SLOTS[feature] + slot_of(positions[d])) * LANES;
        if (first_feature + d >= D) continue;
        below[d] = column[places[d]];
        above[d] = column[places[d] + LANES];
      }
#pragma unroll
      for (int d = 0; d < HALF; ++d) {
        if (first_feature + d >= D) continue;
        const float whole = amount * sums[d], part = fmaf(whole, one_and_fraction_of(positions[d]), -whole);
        column[places[d]] = below[d] + (whole - part);
        column[places[d] + LANES] = above[d] + part;
      }
    }
    // The gradient by vertices sums over tokens, so they are the inner dimension here: lane 4 g + t has the tokens t and
    // t + 4, and the vertices g, g + 8, ... Tensor cores do not round but cut off, so long sums are made without them.
    float sums[U / 16][V / 8][4];
#pragma unroll
    for (int m = 0; m < U / 16; ++m)
#pragma unroll
      for (int q = 0; q < V / 8; ++q)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[m][q][i] = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      Pair left[U / 8][2], right[V / 8][2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float* from = own + 8 * k + 4 * r + t;
        weigh_vertices<A>(from, from[D * LANES], ends, left, r);
        weigh_vertices<B>(from + A * LANES, 1.0f, ends, right, r);
      }
#pragma unroll
      for (int m = 0; m < U / 16; ++m) {
        const Pair both[4] = {left[2 * m][0], left[2 * m + 1][0], left[2 * m][1], left[2 * m + 1][1]};
        multiply<Longer>(sums[m], both, right);
      }
    }
#pragma unroll
    for (int m = 0; m < U / 16; ++m)
#pragma unroll
      for (int q = 0; q < V / 8; ++q)
#pragma unroll
        for (int i = 0; i < 4; ++i) by_vertices[m][q][i] += sums[m][q][i];
  }
  partial += int64(blockIdx.x) * (n_slots + U * V);
  __syncthreads();
  for (int slot = warp; slot < n_slots; slot += warps) {
    const int second = slot >= FIRST_SLOTS[HALF];
    double sum = 0;
    if (second == (lane & 1))
      for (int w = 0; w < warps; ++w) sum += columns[(w * n_rows + slot - second * FIRST_SLOTS[HALF]) * LANES + lane];
    sum = sum_of_warp(sum);
    if (lane == 0) partial[slot] = sum;
  }
  __syncthreads();
  // What each lane of a warp has is of its own vertices, so only warps are added up.
  double* sums = partial + n_slots;
#pragma unroll
  for (int m = 0; m < U / 16; ++m)
#pragma unroll
    for (int q = 0; q < V / 8; ++q) {
#pragma unroll
      for (int i = 0; i < 4; ++i) columns[(warp * 4 + i) * LANES + lane] = by_vertices[m][q][i];
      __syncthreads();
      if (warp < 4) {
        double sum = 0;
        for (int w = 0; w < warps; ++w) sum += columns[(w * 4 + warp) * LANES + lane];
        const int i = warp;
        sums[(16 * m + 8 * (i >> 1) + g) * V + 8 * q + 2 * t + (i & 1)] = sum;
      }
      __syncthreads();
    }
}
