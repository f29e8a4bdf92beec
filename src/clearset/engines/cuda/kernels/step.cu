// The rest of a step: what the gradients of all tokens add up to, the optimiser, constraints and the running average, in
// double precision. The five tables stand end to end, as in native/parameters.h.
#include "common.h"
#include "pace.h"
#include "projection.h"

constexpr int SUMS = 5;     // of rho.cu
constexpr double PI = 3.141592653589793;
constexpr int SAMPLES = 128;  // constraints that Light Touch looks at in a step

// The tables' sizes: where each begins, and the end.
struct Sizes {
  int64 calibration, vertices, rho_calibrators, rho_vertices, rho_output, end;
};

// Adds up what the blocks of `learn` have, and makes ready for a step.
extern "C" __global__ void __launch_bounds__(256) set_pace(Pace* pace, const Batch* batch, const double* sums, int n_blocks) {
  __shared__ double totals[SUMS];
  const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  if (warp < SUMS) {
    double sum = 0;
    for (int i = lane; i < n_blocks; i += LANES) sum += sums[i * SUMS + warp];
    sum = sum_of_warp(sum);
    if (lane == 0) totals[warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x) return;
  Pace& p = *pace;
  p.loss = totals[0] / double(batch->n_sets);
  p.total = totals[0] + (batch->done ? p.total : 0.0);
  p.level = p.step == 0 ? p.loss : p.level + 0.05 * (p.loss - p.level);
  const double rising = pow(p.at_first, fmax(0.0, 1.0 - 2.0 * p.step / p.n_steps));
  p.smoothing = 2.0 * p.smoothness * rising * fmax(p.level, p.least_scatter);
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

// Gradients from whole numbers, (copies, parameters), which are set back to 0.
extern "C" __global__ void exact_gradients(const Pace* pace, Sizes sizes, int64* sums, int copies, double* gradient) {
  const int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= sizes.end) return;
  int64 sum = 0;
  for (int copy = 0; copy < copies; ++copy) {
    sum += sums[copy * sizes.end + i];
    sums[copy * sizes.end + i] = 0;
  }
  const int of_phi = i < sizes.vertices ? 0 : 1, of_rho = i < sizes.rho_vertices ? 5 : i < sizes.rho_output ? 4 : 3;
  const int scale = i < sizes.rho_calibrators ? of_phi : of_rho;
  gradient[i] = unscaled(double(sum), pace->scales[scale]);
}

// Gradients from what blocks have added up, a warp for each: phi's is (rows, blocks, n_slots + vertices), rho's (blocks,
// parameters). places[slot] is where the quick kernels have a slot.
extern "C" __global__ void __launch_bounds__(128)
summed_gradients(Sizes sizes, const double* phi, const double* rho, const int* places, int n_slots, int n_padded,
                 int n_vertices, int blocks, double* gradient) {
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

struct Parameters {
  double* values;
  double* gradient;
  double* average;
  double* squares;
  double* momentum;
  double* duals;
  double* scratch;  // four for each parameter
};

// One step of the optimiser for a row of a table (a block each), then the nearest row that obeys its constraints, and the
// running average. Without `moves` only the constraints. Afterwards the next batch's turn has come.
extern "C" __global__ void __launch_bounds__(1024)
update(Pace* pace, Batch* batch, const int64* offsets, Parameters all, Shapes shapes, int in_shared, int moves) {
  extern __shared__ double shared[];
  const Row row = shapes.rows[blockIdx.x];
  const int columns = row.columns;
  double* x = columns <= in_shared ? shared : all.scratch + 4 * row.start;
  double *one = x + columns, *two = one + columns, *three = two + columns;
  double* values = all.values + row.start;
  const double factor = pace->smoothing, rate = row.is_rho ? pace->rho_rate : pace->rate;
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
      if (fabs(slope) < 1e-12) slope = 0;  // what rounding leaves of 0 (native/parameters.h)
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
