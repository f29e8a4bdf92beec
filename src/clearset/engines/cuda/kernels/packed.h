// Positions of tokens as the quick kernels read them, and sums in a fixed order.
#pragma once

#include "common.h"

// A position is 9 bits of slot, counted from the first one of its feature, and 23 bits of fraction; positions stand feature
// by feature, `stride` from one to the next. A bit of `starts` says that a token is the first of its set, `before` how many
// sets begin before each 32 tokens.
struct Packed {
  const uint* positions;
  int64 stride;
  const int64* offsets;
  const uint* starts;
  const int* before;
};

__device__ __forceinline__ int slot_of(uint position) { return position >> 23; }

// One more than the fraction, which is its bits with the exponent of one.
__device__ __forceinline__ float one_and_fraction_of(uint position) {
  return __uint_as_float(0x3f800000u | (position & 0x7fffffu));
}

// Where the slots of each feature begin. Each has a slot more than the tables, so that the neighbour of a feature's last slot
// is not the first one of the next.
__constant__ int FIRST_SLOTS[D + 1];

// Calibrated values of a token: `lines` hold the step from a slot to the next, and what is left of the slot's value without it.
__device__ __forceinline__ void calibrate(const uint (&position)[D], const float2* lines, float (&calibrated)[D]) {
#pragma unroll
  for (int d = 0; d < D; ++d) {
    const float2 line = lines[FIRST_SLOTS[d] + slot_of(position[d])];
    calibrated[d] = fmaf(one_and_fraction_of(position[d]), line.y, line.x);
  }
}

// Means over sets of the scores of their tokens, for the sets of a block (one thread each). `score_tokens(first, count,
// scores)` writes the scores of neighbouring tokens.
template <int capacity, class Scores>
__device__ __forceinline__ void average_sets(const Batch& batch, const int64* offsets, int rows, int row, float* means,
                                             const Scores& score_tokens) {
  __shared__ float scores[capacity];
  const int64 first = int64(blockIdx.x) * blockDim.x;
  if (first >= batch.n_sets) return;
  const int64 left = batch.n_sets - first, count = left < blockDim.x ? left : blockDim.x;
  const int64* own = offsets + batch.first_set + first;
  const int64 begin = own[0], stop = own[count];
  const bool used = threadIdx.x < count;
  const int64 own_begin = used ? own[threadIdx.x] : 0, own_stop = used ? own[threadIdx.x + 1] : 0;
  double sum = 0;
  for (int64 at = begin; at < stop; at += capacity) {
    const int n = stop - at < capacity ? int(stop - at) : capacity;
    score_tokens(at, n, scores);
    __syncthreads();
    const int low = own_begin > at ? (own_begin - at < n ? int(own_begin - at) : n) : 0;
    const int high = own_stop > at ? (own_stop - at < n ? int(own_stop - at) : n) : 0;
    float part = 0;
    for (int i = low; i < high; ++i) part += scores[i];
    sum += part;
    __syncthreads();
  }
  if (used) means[(first + threadIdx.x) * rows + row] = float(sum / double(own_stop - own_begin));
}

// The position of a lane's token among 32.
__device__ __forceinline__ void read_positions(const Packed& sets, int64 tile, uint (&position)[D]) {
  const uint* from = sets.positions + tile * LANES;
#pragma unroll
  for (int d = 0; d < D; ++d) position[d] = __ldg(from + d * sets.stride + threadIdx.x % LANES);
}

// What `Packed` says of 32 tokens.
struct Starts {
  uint bits;
  int before;
};

// Reads the gradient by the score of a lane's token, which all tokens of a set have in common: it takes two reads, of which
// the first is to be made well before the second.
struct UpstreamReader {
  const uint* all_starts;
  const int* all_before;
  const float* upstream;
  int64 first_token, last_token, first_set;
  int rows;

  __device__ UpstreamReader(const Packed& sets, const Batch& batch, const float* upstream, int rows, int row)
      : all_starts(sets.starts), all_before(sets.before), upstream(upstream + row), first_token(batch.first_token),
        last_token(batch.last_token), first_set(batch.first_set), rows(rows) {}

  __device__ __forceinline__ Starts starts(int64 tile) const { return {__ldg(all_starts + tile), __ldg(all_before + tile)}; }

  __device__ __forceinline__ float read(int64 tile, const Starts& starts) const {
    const int lane = threadIdx.x % LANES;
    const int64 token = tile * LANES + lane;
    if (token < first_token || token >= last_token) return 0.0f;
    const int set = starts.before + __popc(starts.bits & (0xffffffffu >> (31 - lane))) - 1;
    return __ldg(upstream + (set - first_set) * rows);
  }
};
