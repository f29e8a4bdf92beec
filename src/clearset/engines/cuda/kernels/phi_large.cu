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

// The same, from 0.
__device__ __forceinline__ void product(float (&sum)[4], uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(0.0f));
}

// Adds products of one first factor with N second ones, or begins with them. What adds to the same sums stands far apart, for
// it has to wait.
template <bool begins, int N>
__device__ __forceinline__ void multiply(float (&sums)[N][4], const Pair (&a)[4], const Pair (&b)[N][2]) {
#pragma unroll
  for (int n = 0; n < N; ++n)
    if (begins)
      product(sums[n], a[0].low, a[1].low, a[2].low, a[3].low, b[n][0].high, b[n][1].high);
    else
      multiply(sums[n], a[0].low, a[1].low, a[2].low, a[3].low, b[n][0].high, b[n][1].high);
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
  float third;                // the calibrated value of the third feature from the end
  float by_before, by_last;   // the weights that the last two features give to this lane's vertices
  float heads[N > 3 ? N - 3 : 1];
  float weights_of_heads[Q];

  __device__ __forceinline__ void read(const float* calibrated, const Side& before, const Side& last) {  // (N, 32), a token's
#pragma unroll
    for (int d = 0; d < N - 3; ++d) heads[d] = calibrated[d * LANES];
    third = calibrated[(N - 3) * LANES];
    by_before = before.weight(calibrated[(N - 2) * LANES]);
    by_last = last.weight(calibrated[(N - 1) * LANES]);
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

  __device__ __forceinline__ float base() const { return by_before * by_last; }

  // The sum over this lane's vertices of their weights times values, without the last two features.
  __device__ __forceinline__ float fold(const float (&low)[Q], const float (&high)[Q]) const {
    float sum = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) sum = fmaf(weights_of_heads[q], fmaf(third, high[q] - low[q], low[q]), sum);
    return sum;
  }

  // This lane's part of the slopes along all features.
  __device__ __forceinline__ void slopes(const float (&low)[Q], const float (&high)[Q], const Side& before, const Side& last,
                                         float* slopes) const {
    float lines[Q], by_third = 0, rest = 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const float step = high[q] - low[q];
      lines[q] = fmaf(third, step, low[q]);
      by_third = fmaf(weights_of_heads[q], step, by_third);
      rest = fmaf(weights_of_heads[q], lines[q], rest);
    }
    slopes[N - 1] = rest * (by_before * last.sign);
    slopes[N - 2] = rest * (by_last * before.sign);
    slopes[N - 3] = base() * by_third;
    if constexpr (N == 4) slopes[0] = base() * (lines[1] - lines[0]);
    if constexpr (N == 5) {
      const float below = lines[1] - lines[0], above = lines[3] - lines[2];
      slopes[1] = base() * fmaf(heads[0], above - below, below);
      slopes[0] = base() * fmaf(heads[1], (lines[3] - lines[1]) - (lines[2] - lines[0]), lines[2] - lines[0]);
    }
  }
};

// Products of the weights of 16 tokens with C: results[q][0..3] are those of the tokens g (twice) and g + 8 (twice).
template <int N, int OTHER>
__device__ __forceinline__ void times_vertices(const Half<N> (&halves)[2], const uint4* factor,
                                               float (&results)[(1 << OTHER) / 8][4]) {
  constexpr int K = (1 << N) / 8, Q = (1 << OTHER) / 8;
  float above[2], below[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    above[r] = halves[r].base() * halves[r].third;
    below[r] = halves[r].base() - above[r];
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    Pair own[4], other[Q][2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      own[r] = split(halves[r].weights_of_heads[k] * below[r]);
      own[2 + r] = split(halves[r].weights_of_heads[k] * above[r]);
    }
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const uint4 both = factor[(q * K + k) * LANES + threadIdx.x % LANES];
      other[q][0] = {both.x, both.y};
      other[q][1] = {both.z, both.w};
    }
    if (k == 0)
      multiply<true>(results, own, other);
    else
      multiply<false>(results, own, other);
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
  __shared__ uint4 factor[(U / 8) * (V / 8) * LANES];
  __shared__ float staged[256 / LANES][D][LANES];
  extern __shared__ float2 lines[];
  load_factor<V, U, true>(vertices + row * U * V, factor);
  for (int i = threadIdx.x; i < n_slots; i += blockDim.x) lines[i] = all_lines[row * n_slots + i];
  __syncthreads();
  const int lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
  const Side before(t & 2), last(t & 1);
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
        for (int r = 0; r < 2; ++r) v[r].read(&own[A][16 * tile + 8 * r + g], before, last);
        float results[U / 8][4];
        times_vertices<B, A>(v, factor, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          Half<A> u;
          u.read(&own[0][16 * tile + 8 * r + g], before, last);
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

// As for fewer features.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1)
backward(Packed sets, const Batch* batch, const float2* all_lines, const float* vertices, int n_slots, int rows, int row,
         const float* upstream, double* partial) {
  __shared__ uint4 of_u[(U / 8) * (V / 8) * LANES], of_v[(U / 8) * (V / 8) * LANES];
  extern __shared__ float columns[];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES, g = lane / 4, t = lane % 4;
  const Side before(t & 2), last(t & 1), ends[3] = {Side(g & 4), Side(g & 2), Side(g & 1)};
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
        u[r].read(own + 16 * tile + 8 * r + g, before, last);
        v[r].read(own + A * LANES + 16 * tile + 8 * r + g, before, last);
      }
      {
        float results[U / 8][4];
        times_vertices<B, A>(v, of_v, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float low[U / 8], high[U / 8];
          take(results, r, low, high);
          u[r].slopes(low, high, before, last, slopes[r]);
        }
      }
      {
        float results[V / 8][4];
        times_vertices<A, B>(u, of_u, results);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float low[V / 8], high[V / 8];
          take(results, r, low, high);
          v[r].slopes(low, high, before, last, slopes[r] + A);
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
        if (k == 0)
          multiply<true>(sums[m], both, right);
        else
          multiply<false>(sums[m], both, right);
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
