// phi of seven to ten features: one lattice of size 2, whose value is u'Cv, with u and v the weights of the vertices of each
// half of the features, on tensor cores. Numbers are split into two of 11 bits, and three products of these are as exact as a
// product in single precision.
//
// A warp takes 32 tokens in two tiles of 16. Lane 4 g + t holds the weights of the tokens g and g + 8 at the vertices
// 8 q + 2 t + b: the last feature of a half says b, the two before t, and those before them q. This is how tensor cores take
// the first factor of a product in half precision, and how they leave the result.
#include "packed.h"

constexpr int A = (D + 1) / 2 < 4 ? 4 : (D + 1) / 2, B = D - A;
constexpr int U = 1 << A, V = 1 << B;
constexpr int HALF = (D + 1) / 2;

struct Pair {
  uint high, low;
};

// A number as two of the format of tensor cores that has the range of single precision.
__device__ __forceinline__ Pair split(float x) {
  const uint high = __float_as_uint(x) & 0xffffe000u;
  return {high, __float_as_uint(x - __uint_as_float(high))};
}

// Two numbers in [-1, 1], each as two of half precision: the rest of 2 ** -25 that is lost is none in single precision.
__device__ __forceinline__ Pair split(float even, float odd) {
  Pair both;
  float left, right;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both.high) : "f"(odd), "f"(even));
  asm("{.reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
      : "=f"(left), "=f"(right)
      : "r"(both.high));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both.low) : "f"(odd - right), "f"(even - left));
  return both;
}

#define MULTIPLY(format, sum, a0, a1, a2, a3, b0, b1)                                                             \
  asm("mma.sync.aligned." format ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                  \
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                                    \
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))

// Adds 16 x 8 products of 16 numbers each of half precision, or of 8 numbers each of the longer format.
struct Halves {
  static __device__ __forceinline__ void multiply(float (&sum)[4], uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
    MULTIPLY("m16n8k16.row.col.f32.f16.f16", sum, a0, a1, a2, a3, b0, b1);
  }
};

struct Longer {
  static __device__ __forceinline__ void multiply(float (&sum)[4], uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
    MULTIPLY("m16n8k8.row.col.f32.tf32.tf32", sum, a0, a1, a2, a3, b0, b1);
  }
};

// Adds products of one first factor with N second ones. What adds to the same sums stands far apart, for it has to wait.
template <class Format, int N>
__device__ __forceinline__ void multiply(float (&sums)[N][4], const Pair (&a)[4], const Pair (&b)[N][2]) {
#pragma unroll
  for (int n = 0; n < N; ++n) Format::multiply(sums[n], a[0].low, a[1].low, a[2].low, a[3].low, b[n][0].high, b[n][1].high);
#pragma unroll
  for (int n = 0; n < N; ++n) Format::multiply(sums[n], a[0].high, a[1].high, a[2].high, a[3].high, b[n][0].low, b[n][1].low);
#pragma unroll
  for (int n = 0; n < N; ++n)
    Format::multiply(sums[n], a[0].high, a[1].high, a[2].high, a[3].high, b[n][0].high, b[n][1].high);
}

// C as the second factor: an entry for each tile of 8 columns, each 16 rows, and each lane, with all four rows of a lane. Where
// there are only 8 rows, the others are 0.
template <int K, int N, bool turned>
__device__ __forceinline__ void load_factor(const float* vertices, uint4* factor) {
  constexpr int steps = (K + 15) / 16;
  for (int i = threadIdx.x; i < (N / 8) * steps * LANES; i += blockDim.x) {
    const int lane = i % LANES, k = i / LANES % steps, q = i / LANES / steps;
    const int column = 8 * q + lane / 4, first = 16 * k + 2 * (lane % 4);
    const auto at = [&](int row) { return row < K ? (turned ? vertices[column * V + row] : vertices[row * V + column]) : 0.0f; };
    const Pair near = split(at(first), at(first + 1)), far = split(at(first + 8), at(first + 9));
    factor[i] = {near.high, near.low, far.high, far.low};
  }
}

constexpr int FACTOR_OF_U = (V / 8) * ((U + 15) / 16) * LANES, FACTOR_OF_V = (U / 8) * ((V + 15) / 16) * LANES;

// What a calibrated value gives to a vertex: itself above, and what is left of one below. Where this depends on the lane,
// `sign` is 1 or -1 and `rest` 0 or 1.
struct Side {
  float sign, rest;

  __device__ __forceinline__ explicit Side(bool above) : sign(above ? 1.0f : -1.0f), rest(above ? 0.0f : 1.0f) {}
  __device__ __forceinline__ float weight(float calibrated) const { return fmaf(calibrated, sign, rest); }
};

// One half of the features of a token, as a lane holds it.
template <int N>
struct Half {
  static constexpr int Q = 1 << (N - 3);
  float last;                // the calibrated value of the last feature
  float by_first, by_second; // the weights that the two features before it give to this lane's vertices
  float heads[N > 3 ? N - 3 : 1];
  float weights_of_heads[Q];

  __device__ __forceinline__ void read(const float* calibrated, const Side& first, const Side& second) {  // (N, 32), a token's
#pragma unroll
    for (int d = 0; d < N - 3; ++d) heads[d] = calibrated[d * LANES];
    by_first = first.weight(calibrated[(N - 3) * LANES]);
    by_second = second.weight(calibrated[(N - 2) * LANES]);
    last = calibrated[(N - 1) * LANES];
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

  __device__ __forceinline__ float base() const { return by_first * by_second; }

  // The sum over this lane's vertices of their weights times values, without the two features before the last.
  __device__ __forceinline__ float fold(const float (&low)[Q], const float (&high)[Q]) const {
    float sum = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) sum = fmaf(weights_of_heads[q], fmaf(last, high[q] - low[q], low[q]), sum);
    return sum;
  }

  // This lane's part of the slopes along all features.
  __device__ __forceinline__ void slopes(const float (&low)[Q], const float (&high)[Q], const Side& first, const Side& second,
                                         float* slopes) const {
    float lines[Q], by_last = 0, rest = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const float step = high[q] - low[q];
      lines[q] = fmaf(last, step, low[q]);
      by_last = fmaf(weights_of_heads[q], step, by_last);
      rest = fmaf(weights_of_heads[q], lines[q], rest);
    }
    slopes[N - 1] = base() * by_last;
    slopes[N - 2] = rest * (by_first * second.sign);
    slopes[N - 3] = rest * (by_second * first.sign);
    if constexpr (N == 4) slopes[0] = base() * (lines[1] - lines[0]);
    if constexpr (N == 5) {
      const float below = lines[1] - lines[0], above = lines[3] - lines[2];
      slopes[1] = base() * fmaf(heads[0], above - below, below);
      slopes[0] = base() * fmaf(heads[1], (lines[3] - lines[1]) - (lines[2] - lines[0]), lines[2] - lines[0]);
    }
  }
};

// Products of the weights of 16 tokens with C: results[q] are those of the token g at b = 0 and 1, then of g + 8.
template <int N, int OTHER>
__device__ __forceinline__ void times_vertices(const Half<N> (&halves)[2], const uint4* factor,
                                               float (&results)[(1 << OTHER) / 8][4]) {
  constexpr int Q = (1 << OTHER) / 8, OWN = Half<N>::Q, steps = (OWN + 1) / 2;
#pragma unroll
  for (int q = 0; q < Q; ++q)
#pragma unroll
    for (int i = 0; i < 4; ++i) results[q][i] = 0.0f;
  float above[2], below[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    above[r] = halves[r].base() * halves[r].last;
    below[r] = halves[r].base() - above[r];
  }
#pragma unroll
  for (int k = 0; k < steps; ++k) {
    Pair own[4], others[Q][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int q = 2 * k + i / 2, r = i % 2;
      const float head = q < OWN ? halves[r].weights_of_heads[q < OWN ? q : 0] : 0.0f;
      own[i] = split(head * below[r], head * above[r]);
    }
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const uint4 rows = factor[(q * steps + k) * LANES + threadIdx.x % LANES];
      others[q][0] = {rows.x, rows.y};
      others[q][1] = {rows.z, rows.w};
    }
    multiply<Halves>(results, own, others);
  }
}

// `scale` times the weights of one half of the features of a token at the vertices g, g + 8, ..., where `ends` are of g.
template <int N>
__device__ __forceinline__ void weigh_vertices(const float* calibrated, float scale, const Side (&ends)[3],
                                               Pair (&weights)[(1 << N) / 8][2], int r) {
  float products[(1 << N) / 8];
  products[0] = scale * ends[0].weight(calibrated[(N - 3) * LANES]) * ends[1].weight(calibrated[(N - 2) * LANES]) *
                ends[2].weight(calibrated[(N - 1) * LANES]);
#pragma unroll
  for (int d = 0; d < N - 3; ++d)
#pragma unroll
    for (int i = (1 << d) - 1; i >= 0; --i) {
      const float above = products[i] * calibrated[d * LANES];
      products[2 * i] = products[i] - above;
      products[2 * i + 1] = above;
    }
#pragma unroll
  for (int i = 0; i < (1 << N) / 8; ++i) weights[i][r] = split(products[i]);
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
