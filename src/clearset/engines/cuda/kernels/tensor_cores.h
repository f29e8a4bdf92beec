// A lattice of size 2 whose value is u'Cv, with u and v the weights of the vertices of each half of the features, on tensor
// cores. Numbers are split into two of 11 bits, and three products of these are as exact as a product in single precision.
//
// A tile has 16 tokens. Lane 4 g + t holds the weights of the tokens g and g + 8 at the vertices 8 q + 2 t + b: the last
// feature of a half says b, the two before t, and those before them q. This is how tensor cores take the first factor of a
// product in half precision, and how they leave the result.
#pragma once

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
    const auto at = [&](int row) {
      if (row >= K) return 0.0f;
      return turned ? vertices[column * V + row] : vertices[row * V + column];
    };
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
