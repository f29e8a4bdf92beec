// phi of seven to ten features: one lattice of size 2, whose value is u'Cv as for fewer features, on tensor cores. Numbers are
// split into two of 11 bits, and three products of these are as exact as a product in single precision.
//
// A warp takes 32 tokens in two tiles of 16. Lane 4 g + t holds the weights of the tokens g and g + 8 at the vertices
// 8 q + 4 h + t: the last two features of a half say t, the one before h, and those before q. Columns of products are
// numbered so that their results lie in the same way.
#include "packed.h"

constexpr int A = (D + 1) / 2 < 4 ? 4 : (D + 1) / 2, B = D - A;
constexpr int U = 1 << A, V = 1 << B;
constexpr int HALF = (D + 1) / 2;

struct Pair {
  uint high, low;
};

__device__ __forceinline__ Pair split(float x) {
  const uint high = __float_as_uint(x) & 0xffffe000u;
  return {high, __float_as_uint(x - __uint_as_float(high))};
}

__device__ __forceinline__ void multiply(float (&sum)[4], uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Adds products of one first factor with N second ones. What adds to the same sums stands far apart, for it has to wait.
template <int N>
__device__ __forceinline__ void multiply(float (&sums)[N][4], const Pair (&a)[4], const Pair (&b)[N][2]) {
#pragma unroll
  for (int n = 0; n < N; ++n) multiply(sums[n], a[0].low, a[1].low, a[2].low, a[3].low, b[n][0].high, b[n][1].high);
#pragma unroll
  for (int n = 0; n < N; ++n) multiply(sums[n], a[0].high, a[1].high, a[2].high, a[3].high, b[n][0].low, b[n][1].low);
#pragma unroll
  for (int n = 0; n < N; ++n) multiply(sums[n], a[0].high, a[1].high, a[2].high, a[3].high, b[n][0].high, b[n][1].high);
}

// C as the second factor: an entry for each tile of 8 columns, each 8 rows, and each lane, with both rows of a lane. The
// number of the column that lane 4 g + t has is 8 q + 4 (g & 1) + (g >> 1).
template <int K, int N, bool turned>
__device__ __forceinline__ void load_factor(const float* vertices, uint4* factor) {
  for (int i = threadIdx.x; i < (N / 8) * (K / 8) * LANES; i += blockDim.x) {
    const int lane = i % LANES, k = i / LANES % (K / 8), q = i / LANES / (K / 8), g = lane / 4;
    const int column = 8 * q + 4 * (g & 1) + (g >> 1), row = 8 * k + lane % 4;
    const Pair first = split(turned ? vertices[column * V + row] : vertices[row * V + column]);
    const Pair second = split(turned ? vertices[column * V + row + 4] : vertices[(row + 4) * V + column]);
    factor[i] = {first.high, first.low, second.high, second.low};
  }
}

__device__ __forceinline__ float weight(float calibrated, bool above) { return above ? calibrated : 1.0f - calibrated; }

#ifndef TILES
#define TILES 2
#define STEPS 2
#endif
constexpr int UNROLLED_TILES = TILES, UNROLLED_STEPS = STEPS;

// One half of the features of a token, as a lane holds it.
template <int N>
struct Half {
  static constexpr int Q = 1 << (N - 3);
  float before, last, third;  // the calibrated values of the last two features and of the one before
  float heads[N > 3 ? N - 3 : 1];
  float weights_of_heads[Q];
  float base;

  __device__ __forceinline__ void read(const float* calibrated, int t) {  // (N, 32), of one token
#pragma unroll
    for (int d = 0; d < N - 3; ++d) heads[d] = calibrated[d * LANES];
    third = calibrated[(N - 3) * LANES];
    before = calibrated[(N - 2) * LANES];
    last = calibrated[(N - 1) * LANES];
    base = weight(before, t & 2) * weight(last, t & 1);
    weights_of_heads[0] = 1.0f;
#pragma unroll
    for (int d = 0; d < N - 3; ++d)
#pragma unroll
      for (int i = (1 << d) - 1; i >= 0; --i) {
        const float above = weights_of_heads[i] * heads[d];
        weights_of_heads[2 * i] = weights_of_heads[i] - above;
        weights_of_heads[2 * i + 1] = above;
      }
  }

  __device__ __forceinline__ void weights(int q, float& low, float& high) const {
    const float both = weights_of_heads[q] * base;
    high = both * third;
    low = both - high;
  }

  // The sum over this lane's vertices of their weights times `values`, without the last two features.
  __device__ __forceinline__ float fold(const float (&low)[Q], const float (&high)[Q]) const {
    float sum = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) sum = fmaf(weights_of_heads[q], fmaf(third, high[q] - low[q], low[q]), sum);
    return sum;
  }

  // This lane's part of the slopes along all features.
  __device__ __forceinline__ void slopes(const float (&low)[Q], const float (&high)[Q], int t, float* slopes) const {
    float lines[Q], by_third = 0, rest = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const float step = high[q] - low[q];
      lines[q] = fmaf(third, step, low[q]);
      by_third = fmaf(weights_of_heads[q], step, by_third);
      rest = fmaf(weights_of_heads[q], lines[q], rest);
    }
    slopes[N - 1] = t & 1 ? rest * weight(before, t & 2) : -rest * weight(before, t & 2);
    slopes[N - 2] = t & 2 ? rest * weight(last, t & 1) : -rest * weight(last, t & 1);
    slopes[N - 3] = base * by_third;
    if constexpr (N == 4) slopes[0] = base * (lines[1] - lines[0]);
    if constexpr (N == 5) {
      const float below = lines[1] - lines[0], above = lines[3] - lines[2];
      slopes[1] = base * fmaf(heads[0], above - below, below);
      slopes[0] = base * fmaf(heads[1], (lines[3] - lines[1]) - (lines[2] - lines[0]), lines[2] - lines[0]);
    }
  }
};

// Products of the weights of 16 tokens with C: results[q][0..3] are those of the tokens g (twice) and g + 8 (twice).
template <int N, int OTHER>
__device__ __forceinline__ void times_vertices(const Half<N> (&halves)[2], const uint4* factor,
                                               float (&results)[(1 << OTHER) / 8][4]) {
  constexpr int K = (1 << N) / 8, Q = (1 << OTHER) / 8;
#pragma unroll
  for (int q = 0; q < Q; ++q)
#pragma unroll
    for (int i = 0; i < 4; ++i) results[q][i] = 0.0f;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    Pair own[4], other[Q][2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float low, high;
      halves[r].weights(k, low, high);
      own[r] = split(low);
      own[2 + r] = split(high);
    }
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const uint4 both = factor[(q * K + k) * LANES + threadIdx.x % LANES];
      other[q][0] = {both.x, both.y};
      other[q][1] = {both.z, both.w};
    }
    multiply(results, own, other);
  }
}

template <int Q>
__device__ __forceinline__ void take(const float (&results)[Q][4], int r, float (&low)[Q], float (&high)[Q]) {
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    low[q] = results[q][2 * r];
    high[q] = results[q][2 * r + 1];
  }
}

extern "C" __global__ void __launch_bounds__(256)
forward(Packed sets, const Batch* batch, const float2* all_lines, const float* vertices, int n_slots, int rows, int row,
        float* means) {
  __shared__ uint4 factor[(U / 8) * (V / 8) * LANES];
  __shared__ float staged[256 / LANES][D][LANES];
  extern __shared__ float2 lines[];
  load_factor<V, U, true>(vertices + row * U * V, factor);
  for (int i = threadIdx.x; i < n_slots; i += blockDim.x) lines[i] = all_lines[row * n_slots + i];
  __syncthreads();
  const int lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
  float(&own)[D][LANES] = staged[threadIdx.x / LANES];
  average_sets<4096>(*batch, sets.offsets, rows, row, means, [&](int64 first, int count, float* scores) {
    const uint* from = sets.positions + first;
    uint next[D];
    int begin = threadIdx.x - lane;
#pragma unroll
    for (int d = 0; d < D; ++d) next[d] = begin + lane < count ? __ldg(from + d * sets.stride + begin + lane) : 0u;
    for (; begin < count; begin += 256) {
      float calibrated[D];
      calibrate(next, lines, calibrated);
      __syncwarp();
#pragma unroll
      for (int d = 0; d < D; ++d) own[d][lane] = calibrated[d];
      __syncwarp();
#pragma unroll
      for (int d = 0; d < D; ++d)
        next[d] = begin + 256 + lane < count ? __ldg(from + d * sets.stride + begin + 256 + lane) : 0u;
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
        Half<B> v[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) v[r].read(&own[A][16 * tile + 8 * r + g], t);
        float results[U / 8][4];
        times_vertices<B, A>(v, factor, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          Half<A> u;
          u.read(&own[0][16 * tile + 8 * r + g], t);
          float low[U / 8], high[U / 8];
          take(results, r, low, high);
          float sum = u.base * u.fold(low, high);
          sum += __shfl_xor_sync(0xffffffffu, sum, 1);
          sum += __shfl_xor_sync(0xffffffffu, sum, 2);
          const int place = begin + 16 * tile + 8 * r + g;
          if (t == 0 && place < count) scores[place] = sum;
        }
      }
    }
  });
}

// As for fewer features.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1)
backward(Packed sets, const Batch* batch, const float2* all_lines, const float* vertices, int n_slots, int rows, int row,
         const float* upstream, double* partial) {
  __shared__ uint4 of_u[(U / 8) * (V / 8) * LANES], of_v[(U / 8) * (V / 8) * LANES];
  extern __shared__ float columns[];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES, g = lane / 4, t = lane % 4;
  float* own = columns + warps * n_slots * LANES + warp * (2 * D + 1) * LANES;  // calibrated (D, 32), then upstream (32)
  uint* packed = reinterpret_cast<uint*>(own + (D + 1) * LANES);                // (D, 32)
  float2* lines = reinterpret_cast<float2*>(columns + warps * (n_slots + 2 * D + 1) * LANES);
  load_factor<V, U, true>(vertices + row * U * V, of_v);
  load_factor<U, V, false>(vertices + row * U * V, of_u);
  for (int i = threadIdx.x; i < n_slots; i += blockDim.x) lines[i] = all_lines[row * n_slots + i];
  for (int i = threadIdx.x; i < n_slots * int(blockDim.x); i += blockDim.x) columns[i] = 0.0f;
  __syncthreads();
  float* column = column_of(columns, n_slots);
  float by_vertices[U / 16][V / 8][4];
#pragma unroll
  for (int m = 0; m < U / 16; ++m)
#pragma unroll
    for (int q = 0; q < V / 8; ++q)
#pragma unroll
      for (int i = 0; i < 4; ++i) by_vertices[m][q][i] = 0.0f;
  const int64 end = (batch->last_token + LANES - 1) / LANES, step = int64(gridDim.x) * warps;
  int64 at = batch->first_token / LANES + int64(blockIdx.x) * warps + warp;
  const UpstreamReader reader{sets, *batch, upstream + row, rows};
  uint next[D];
  read_positions(sets, at, end, next);
  float next_up = reader.read(at, end, reader.starts(at, end));
  Starts starts = reader.starts(at + step, end);
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
    read_positions(sets, at + step, end, next);
    next_up = reader.read(at + step, end, starts);
    starts = reader.starts(at + 2 * step, end);
#pragma unroll UNROLLED_TILES
    for (int tile = 0; tile < 2; ++tile) {
      float slopes[2][2 * HALF];
      if (2 * HALF > D) slopes[0][2 * HALF - 1] = slopes[1][2 * HALF - 1] = 0.0f;
      Half<A> u[2];
      Half<B> v[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        u[r].read(own + 16 * tile + 8 * r + g, t);
        v[r].read(own + A * LANES + 16 * tile + 8 * r + g, t);
      }
      {
        float results[U / 8][4];
        times_vertices<B, A>(v, of_v, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float low[U / 8], high[U / 8];
          take(results, r, low, high);
          u[r].slopes(low, high, t, slopes[r]);
        }
      }
      {
        float results[V / 8][4];
        times_vertices<A, B>(u, of_u, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float low[V / 8], high[V / 8];
          take(results, r, low, high);
          v[r].slopes(low, high, t, slopes[r] + A);
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
#pragma unroll UNROLLED_STEPS
    for (int k = 0; k < 4; ++k) {
      Pair left[U / 8][2], right[V / 8][2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float* from = own + 8 * k + 4 * r + t;
        const float scale = from[D * LANES] * weight(from[(A - 3) * LANES], g & 4) * weight(from[(A - 2) * LANES], g & 2) *
                            weight(from[(A - 1) * LANES], g & 1);
#pragma unroll
        for (int m = 0; m < U / 8; ++m) {
          float product = scale;
#pragma unroll
          for (int d = 0; d < A - 3; ++d) product *= weight(from[d * LANES], m >> (A - 4 - d) & 1);
          left[m][r] = split(product);
        }
        const float* other = from + A * LANES;
        const float base = weight(other[(B - 3) * LANES], g & 4) * weight(other[(B - 2) * LANES], g & 2) *
                           weight(other[(B - 1) * LANES], g & 1);
#pragma unroll
        for (int q = 0; q < V / 8; ++q) {
          float product = base;
#pragma unroll
          for (int d = 0; d < B - 3; ++d) product *= weight(other[d * LANES], q >> (B - 4 - d) & 1);
          right[q][r] = split(product);
        }
      }
#pragma unroll
      for (int m = 0; m < U / 16; ++m) {
        const Pair both[4] = {left[2 * m][0], left[2 * m + 1][0], left[2 * m][1], left[2 * m + 1][1]};
        multiply(sums[m], both, right);
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
  sum_columns(columns, n_slots, n_slots * LANES, partial);
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
