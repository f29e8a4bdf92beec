// The nearest row of a table that obeys its constraints, by a block of threads (native/shapes.h, native/half_spaces.h).
#pragma once

#include "common.h"

__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }

// One row of a table, and where its constraints stand.
struct Row {
  int64 start, duals;
  double lower, upper;
  int columns, is_rho, squares, first_chain, last_chain, first_pin, last_pin, first_part, last_part, filling;
};

// Half-spaces over some columns of a row; `own` of them are the result's.
struct Part {
  int64 duals;  // from the row's first
  int first, size, width, first_entry, first_group, n_groups, first_own, n_own, boxed, filling;
};

struct Shapes {
  const Row* rows;
  const int2* chains;
  const int2* pins;
  const Part* parts;
  const int* groups;   // the last row, plus 1, of each group, whose rows share no column
  const int* columns;  // of half-spaces
  const double* coefficients;
  const int* own;
  const int* square_starts;
  const int* square_columns;
  const double* square_values;
};

// Pool adjacent violators: a block is merged into the one before it while its mean is lower.
__device__ void pool(double* x, int length, double* sums, double* means, double* counts) {
  int blocks = 0;
  for (int i = 0; i < length; ++i) {
    double sum = x[i], mean = sum, count = 1;
    while (blocks > 0 && means[blocks - 1] > mean) {
      --blocks;
      sum += sums[blocks];
      count += counts[blocks];
      mean = sum / count;
    }
    sums[blocks] = sum;
    means[blocks] = mean;
    counts[blocks++] = count;
  }
  for (int block = 0, i = 0; block < blocks; ++block)
    for (int j = 0; j < int(counts[block]); ++j) x[i++] = means[block];
}

__device__ __forceinline__ double clip(double x, double low, double high) { return fmin(fmax(x, low), high); }

__device__ double largest_of_block(double value) {
  __shared__ double largest[32];
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, step));
  __syncthreads();
  if (threadIdx.x % LANES == 0) largest[threadIdx.x / LANES] = value;
  __syncthreads();
  for (int w = 0; w < int(blockDim.x) / LANES; ++w) value = fmax(value, largest[w]);
  return value;
}

constexpr int MOST_SWEEPS = 1000;
constexpr double TOLERANCE = 1e-7;

// Hildreth's method from the multipliers of the last projection, as native/half_spaces.h, all rows of a group at once.
__device__ void project_on_half_spaces(const Shapes& shapes, const Part& part, const Row& row, double* values, double* duals,
                                       double* x, double* pull) {
  const int* columns = shapes.columns + part.first_entry;
  const double* coefficients = shapes.coefficients + part.first_entry;
  const int* groups = shapes.groups + part.first_group;
  const double lower = part.boxed ? row.lower : -infinity(), upper = part.boxed ? row.upper : infinity();
  const int n_rows = groups[part.n_groups - 1], width = part.width;
  const auto residual = [&](int r) {
    double sum = 0;
    for (int j = 0; j < width; ++j) sum += coefficients[r * width + j] * x[columns[r * width + j]];
    return sum;
  };
  const auto add = [&](int r, double amount) {
    for (int j = 0; j < width; ++j) x[columns[r * width + j]] += amount * coefficients[r * width + j];
  };
  double largest_value = 0, largest_point = 0;
  for (int i = threadIdx.x; i < part.size; i += blockDim.x) {
    x[i] = clip(values[i], lower, upper);
    largest_value = fmax(largest_value, fabs(values[i]));
    largest_point = fmax(largest_point, fabs(x[i]));
  }
  const double rounding = 8 * 2.220446049250313e-16 * largest_of_block(largest_value);
  const double limit = fmax(TOLERANCE * largest_of_block(largest_point), rounding);
  __syncthreads();
  int violated = 0;
  for (int r = threadIdx.x; r < n_rows; r += blockDim.x) violated |= residual(r) < -limit;
  if (!__syncthreads_or(violated)) {
    for (int r = threadIdx.x; r < n_rows; r += blockDim.x) duals[r] = 0;
  } else {
    for (int i = threadIdx.x; i < part.size; i += blockDim.x) x[i] = values[i];
    __syncthreads();
    for (int group = 0, first = 0; group < part.n_groups; first = groups[group++]) {
      for (int r = first + threadIdx.x; r < groups[group]; r += blockDim.x)
        if (duals[r] > 0) add(r, duals[r]);
      __syncthreads();
    }
    for (int i = threadIdx.x; i < part.size; i += blockDim.x) {
      const double inside = clip(x[i], lower, upper);
      pull[i] = inside - x[i];
      x[i] = inside;
    }
    __syncthreads();
    for (int sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
      int moved = 0;
      for (int group = 0, first = 0; group < part.n_groups; first = groups[group++]) {
        for (int r = first + threadIdx.x; r < groups[group]; r += blockDim.x) {
          const double step = fmax(-residual(r), -duals[r]);
          if (step == 0) continue;
          duals[r] += step;
          add(r, step);
          moved |= fabs(step) > limit;
        }
        __syncthreads();
      }
      if (part.boxed)
        for (int i = threadIdx.x; i < part.size; i += blockDim.x) {
          const double outside = x[i] - pull[i], inside = clip(outside, lower, upper);
          moved |= fabs(inside - x[i]) > limit;
          pull[i] = inside - outside;
          x[i] = inside;
        }
      if (!__syncthreads_or(moved)) break;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < part.n_own; i += blockDim.x) {
    const int column = shapes.own[part.first_own + i];
    values[column] = clip(x[column], row.lower, row.upper);
  }
  __syncthreads();
}
