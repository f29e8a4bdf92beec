// The rest of a step: what the gradients of all tokens add up to, the optimiser, constraints and the running average, in
// double precision. The five tables stand end to end, as in native/parameters.h.
#include "common.h"

#ifndef REAL
#define REAL double
#endif

constexpr int SUMS = 5;     // of rho.cu
constexpr double PI = 3.141592653589793;
constexpr int SAMPLES = 128;  // constraints that Light Touch looks at in a step

// How a training goes on; the fields up to `batches` are the host's.
struct Pace {
  double learning_rate, n_steps, warm_up, smoothness, steepest, most_slope;
  double adagrad, light_touch;
  double step, level, total, loss, diverged;
  double rate, rho_rate, decay, first_share, second_root, share;
  double scales[6];  // of calibration, vertices, corrections; rho's output, vertices, calibrators
};

// The tables' sizes: where each begins, and the end.
struct Sizes {
  int64 calibration, vertices, rho_calibrators, rho_vertices, rho_output, end;
};

// Adds up what the blocks of `learn` have, and makes ready for a step.
extern "C" __global__ void __launch_bounds__(256) set_pace(Pace* pace, const Batch* batch, const double* sums, int threads) {
  __shared__ double totals[SUMS];
  const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const int64 blocks = (batch->n_sets + threads - 1) / threads;
  if (warp < SUMS) {
    double sum = 0;
    for (int64 i = lane; i < blocks; i += LANES) sum += sums[i * SUMS + warp];
    sum = sum_of_warp(sum);
    if (lane == 0) totals[warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x) return;
  Pace& p = *pace;
  p.loss = totals[0] / double(batch->n_sets);
  p.total += totals[0];
  p.level = p.step == 0 ? p.loss : p.level + 0.05 * (p.loss - p.level);
  p.decay = 0.05 + 0.95 * (1.0 + cos(PI * p.step / p.n_steps)) / 2.0;
  p.rate = p.learning_rate * p.decay;
  p.rho_rate = p.rate * fmin(1.0, p.step / p.warm_up);
  p.step += 1;
  p.first_share = 1.0 - pow(0.9, p.step);
  p.second_root = sqrt(1.0 - pow(0.999, p.step));
  p.share = 4.0 / (p.step + 3.0);
  // No sum of parts can exceed these, so whole numbers of 2 ** -60 of them do not overflow.
  const double whole = 1152921504606846976.0;
  const double most[6] = {totals[4] * p.steepest, totals[4], totals[4] * p.most_slope, totals[1], totals[2], totals[3]};
  for (int i = 0; i < 6; ++i) {
    const double scale = whole / most[i];
    p.scales[i] = isfinite(scale) ? scale : 0.0;
    if (!isfinite(most[i])) p.diverged = 1;
  }
  if (!isfinite(p.loss)) p.diverged = 1;
}

__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }

__device__ __forceinline__ double unscaled(double sum, double scale) { return scale == 0.0 ? 0.0 : sum / scale; }

// Gradients from whole numbers, (copies, parameters), which are set back to 0.
extern "C" __global__ void exact_gradients(const Pace* pace, Sizes sizes, int64* sums, int copies, double* gradient) {
  const int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= sizes.end) return;
  int64 sum = 0;
  for (int copy = 0; copy < copies; ++copy) {
    sum += sums[copy * sizes.end + i];
    sums[copy * sizes.end + i] = 0;
  }
  const int scale = i < sizes.vertices ? 0 : i < sizes.rho_calibrators ? 1 : i < sizes.rho_vertices ? 5 : i < sizes.rho_output ? 4 : 3;
  gradient[i] = unscaled(double(sum), pace->scales[scale]);
}

// Gradients from what blocks have added up, a warp for each: phi's is (rows, blocks, n_slots + vertices), rho's (blocks,
// parameters). places[slot] is where the quick kernels have a slot.
extern "C" __global__ void __launch_bounds__(128)
summed_gradients(Sizes sizes, const double* phi, const double* rho, const int* places, int n_slots, int n_padded, int n_vertices,
                 int blocks, double* gradient) {
  const int64 i = (int64(blockIdx.x) * blockDim.x + threadIdx.x) / LANES;
  if (i >= sizes.end) return;
  const int lane = threadIdx.x % LANES, phi_size = n_padded + n_vertices;
  const double* from;
  int64 apart;
  if (i < sizes.rho_calibrators) {
    const bool calibrates = i < sizes.vertices;
    const int64 place = calibrates ? i : i - sizes.vertices, row = place / (calibrates ? n_slots : n_vertices);
    const int column = calibrates ? places[place % n_slots] : n_padded + int(place % n_vertices);
    from = phi + row * blocks * phi_size + column;
    apart = phi_size;
  } else {
    from = rho + (i - sizes.rho_calibrators);
    apart = sizes.end - sizes.rho_calibrators;
  }
  double sum = 0;
  for (int block = lane; block < blocks; block += LANES) sum += from[block * apart];
  sum = sum_of_warp(sum);
  if (lane == 0) gradient[i] = sum;
}

// Copies the tables to REAL, phi's calibrators to the lines of the quick kernels (rows, n_padded), and its vertices to the
// coefficients of polynomials in the calibrated values.
extern "C" __global__ void read_tables(const double* values, Sizes sizes, REAL* tables, float2* lines, const int* places,
                                       int n_slots, int n_padded, float* monomials, int n_vertices) {
  const int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= sizes.end) return;
  tables[i] = REAL(values[i]);
  if (lines && i < sizes.vertices) {
    const int slot = int(i % n_slots);
    const bool last = slot + 1 == n_slots || places[slot + 1] != places[slot] + 1;
    const float step = last ? 0.0f : float(values[i + 1]) - float(values[i]);
    lines[i / n_slots * n_padded + places[slot]] = {float(values[i]) - step, step};
  }
  if (monomials && i >= sizes.vertices && i < sizes.rho_calibrators) {
    const int64 place = i - sizes.vertices;
    const int subset = int(place % n_vertices);
    const double* row = values + i - subset;
    double sum = 0;
    for (int part = subset;; part = (part - 1) & subset) {
      sum += __popc(subset ^ part) & 1 ? -row[part] : row[part];
      if (!part) break;
    }
    monomials[place] = float(sum);
  }
}

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

struct Parameters {
  double* values;
  double* gradient;
  double* average;
  double* squares;
  double* momentum;
  double* duals;
  double* scratch;  // four for each parameter
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

// One step of the optimiser for a row of a table (a block each), then the nearest row that obeys its constraints, and the
// running average. Without `moves` only the constraints. Afterwards the next batch's turn has come.
extern "C" __global__ void __launch_bounds__(256)
update(Pace* pace, Batch* batch, const int64* offsets, Parameters all, Shapes shapes, int in_shared, int moves) {
  extern __shared__ double shared[];
  const Row row = shapes.rows[blockIdx.x];
  const int columns = row.columns;
  double* x = columns <= in_shared ? shared : all.scratch + 4 * row.start;
  double *one = x + columns, *two = one + columns, *three = two + columns;
  double* values = all.values + row.start;
  const double factor = 2.0 * pace->smoothness * pace->level, rate = row.is_rho ? pace->rho_rate : pace->rate;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const int64 at = row.start + i;
    double value = values[i];
    if (moves) {
      double slope = all.gradient[at];
      if (row.squares >= 0) {
        const int* starts = shapes.square_starts + row.squares;
        double sum = 0;
        for (int j = starts[i]; j < starts[i + 1]; ++j) sum += shapes.square_values[j] * values[shapes.square_columns[j]];
        slope += factor * sum;
      }
      if (pace->adagrad != 0) {
        all.squares[at] += slope * slope;
        value -= rate * slope / (sqrt(all.squares[at]) + 1e-10);
      } else {
        all.momentum[at] += (1.0 - 0.9) * (slope - all.momentum[at]);
        all.squares[at] = 0.999 * all.squares[at] + (1.0 - 0.999) * slope * slope;
        value -= rate / pace->first_share * all.momentum[at] / (sqrt(all.squares[at]) / pace->second_root + 1e-8);
      }
    }
    if (!isfinite(value)) pace->diverged = 1;
    x[i] = value;
  }
  __syncthreads();
  if (!moves || pace->light_touch == 0) {
    for (int c = row.first_chain + threadIdx.x; c < row.last_chain; c += blockDim.x) {
      const int2 chain = shapes.chains[c];
      pool(x + chain.x, chain.y - chain.x, one + chain.x, two + chain.x, three + chain.x);
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += blockDim.x) x[i] = clip(x[i], row.lower, row.upper);
  __syncthreads();
  if (!moves || pace->light_touch == 0) {
    for (int p = row.first_part; p < row.last_part; ++p) {
      const Part part = shapes.parts[p];
      project_on_half_spaces(shapes, part, row, x + part.first, all.duals + row.duals + part.duals, one, two);
    }
    for (int p = row.first_pin + threadIdx.x; p < row.last_pin; p += blockDim.x) {
      x[shapes.pins[p].x] = row.lower;
      x[shapes.pins[p].y - 1] = row.upper;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    values[i] = x[i];
    double& average = all.average[row.start + i];
    average = moves ? average + pace->share * (x[i] - average) : x[i];
  }
  if (moves && blockIdx.x == 0 && threadIdx.x == 0) {
    batch->done += batch->batch_size;
    const int64 left = batch->count - batch->done;
    batch->n_sets = left < batch->batch_size ? (left > 0 ? left : 0) : batch->batch_size;
    batch->first_set = offsets ? (batch->start + batch->done) % batch->count : batch->start + batch->done;
    if (batch->n_sets && offsets) {
      batch->first_token = offsets[batch->first_set];
      batch->last_token = offsets[batch->first_set + batch->n_sets];
    }
  }
}

// Light Touch (native/penalties.h): a few constraints are drawn from a learned distribution, their mean violation is added to
// the objective, and the distribution moves towards those that were violated. `entries` are four for each constraint.
extern "C" __global__ void __launch_bounds__(SAMPLES)
touch_lightly(const Batch* batch, const double* values, double* gradient, const int64* entries, const double* coefficients,
              int count, double* log_weights, double* chances, const double* draws) {
  __shared__ int chosen[SAMPLES];
  __shared__ double violations[SAMPLES];
  double largest = -infinity();
  for (int i = 0; i < count; ++i) largest = fmax(largest, log_weights[i]);
  for (int i = threadIdx.x; i < count; i += blockDim.x) chances[i] = exp(log_weights[i] - largest);
  __syncthreads();
  if (threadIdx.x == 0) {
    double total = 0, sum = 0;
    for (int i = 0; i < count; ++i) total += chances[i];
    for (int i = 0; i < count; ++i) chances[i] = sum += 0.5 * chances[i] / total + 0.5 / count;
  }
  __syncthreads();
  const double wanted = draws[batch->done / batch->batch_size * SAMPLES + threadIdx.x] * chances[count - 1];
  int low = 0, high = count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (chances[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  double sum = 0;
  for (int j = 4 * low; j < 4 * low + 4; ++j) sum += coefficients[j] * values[entries[j]];
  chosen[threadIdx.x] = low;
  violations[threadIdx.x] = fmax(-sum, 0.0);
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 0; i < SAMPLES; ++i) {
    log_weights[chosen[i]] += 10.0 * violations[i] / SAMPLES;
    if (violations[i] == 0) continue;
    for (int j = 4 * chosen[i]; j < 4 * chosen[i] + 4; ++j) gradient[entries[j]] -= 20.0 / SAMPLES * coefficients[j];
  }
}

// Corrections while they are learned (native/corrections.h): only those of the step's tokens move, by Adagrad with a pull to 0;
// what happens to the others is made up for when they are next touched.
struct Corrections {
  REAL* values;
  REAL* squares;
  REAL* average;
  int64* sums;
  const int* touched;  // the step that touched a token last, and the ones before and of its average
  int* moved;
  int* averaged;
  int count, classes;
  double rate, pull;
};

__device__ __forceinline__ REAL caught_up(REAL average, REAL value, int averaged, double now) {
  const double before = averaged;
  if (before == now) return average;
  const double left = before / now * ((before + 1) / (now + 1)) * ((before + 2) / (now + 2)) * ((before + 3) / (now + 3));
  return value + REAL(left) * (average - value);
}

extern "C" __global__ void move_corrections(const Pace* pace, Corrections all) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x, step = int(pace->step);
  if (token >= all.count || all.touched[token] != step) return;
  const REAL pull = REAL(all.pull * (step - all.moved[token])), rate = REAL(all.rate * pace->decay);
  for (int c = 0; c < all.classes; ++c) {
    const int64 i = int64(token) * all.classes + c;
    const REAL average = caught_up(all.average[i], all.values[i], all.averaged[token], step - 1);
    const REAL slope = REAL(unscaled(double(all.sums[i]), pace->scales[2])) + pull * all.values[i];
    all.sums[i] = 0;
    all.squares[i] += slope * slope;
    all.values[i] -= rate * slope / (REAL(sqrt(double(all.squares[i]))) + REAL(1e-10));
    all.average[i] = average + REAL(pace->share) * (all.values[i] - average);
  }
  all.moved[token] = all.averaged[token] = step;
}

// The running average of all corrections after the last step.
extern "C" __global__ void average_corrections(const Pace* pace, Corrections all) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x, step = int(pace->step);
  if (token >= all.count || step == 0) return;
  for (int c = 0; c < all.classes; ++c) {
    const int64 i = int64(token) * all.classes + c;
    all.average[i] = caught_up(all.average[i], all.values[i], all.averaged[token], step);
  }
  all.averaged[token] = step;
}
