// rho, losses, and their gradients: calibrators, one lattice of size 2 in each of WIDTH inputs, an output calibrator. A thread
// takes a set.
#include "common.h"
#include "lattice.h"

enum LossName { SQUARED_ERROR, ABSOLUTE_ERROR, QUANTILE, POISSON, LOG_LOSS, HINGE, BINARY_LOG_LOSS };

struct Rho {
  const REAL* calibrators;  // (functions, WIDTH, keypoints)
  const REAL* vertices;     // (functions, 2 ** WIDTH)
  const REAL* output;       // (functions, keypoints)
  int functions;            // 1, or as many as outputs
  int n_keypoints;
};

struct Labels {
  const double* targets;
  const double* weights;
  const int64* order;
  const int64* offsets;  // of the sets' tokens
  int loss;
  double quantile;
};

// Where an input stands between keypoints that are uniform on [-1, 1], and what a calibrator gives there.
struct OnLine {
  int segment;
  REAL fraction, value, slope;

  __device__ __forceinline__ void read(REAL input, const REAL* table, int n_keypoints) {
    const REAL per_unit = REAL(n_keypoints - 1) / 2, place = (clamped(input, REAL(-1), REAL(1)) + 1) * per_unit;
    segment = place > 0 ? int(place) : 0;
    if (segment > n_keypoints - 2) segment = n_keypoints - 2;
    fraction = place - REAL(segment);
    const REAL step = table[segment + 1] - table[segment];
    value = table[segment] + fraction * step;
    slope = slope_of_clamped(input, REAL(-1), REAL(1)) * per_unit * step;
  }
};

// Where calibrated inputs stand in the lattice.
#if WIDTH <= 4
struct Lattice {
  REAL places[WIDTH], weights[1 << WIDTH];

  __device__ __forceinline__ void enter(const REAL (&inputs)[WIDTH]) {
    weights[0] = 1;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
      places[k] = inputs[k];
#pragma unroll
      for (int i = (1 << k) - 1; i >= 0; --i) {
        const REAL above = weights[i] * places[k];
        weights[2 * i] = weights[i] - above;
        weights[2 * i + 1] = above;
      }
    }
  }

  __device__ __forceinline__ REAL value(const REAL* vertices) const {
    REAL sum = 0;
#pragma unroll
    for (int i = 0; i < 1 << WIDTH; ++i) sum += weights[i] * vertices[i];
    return sum;
  }

  __device__ __forceinline__ void slopes(const REAL* vertices, REAL (&slopes)[WIDTH]) const {
    REAL left[1 << WIDTH];
#pragma unroll
    for (int i = 0; i < 1 << WIDTH; ++i) left[i] = vertices[i];
#pragma unroll
    for (int k = WIDTH - 1; k >= 0; --k) {
      REAL steps[1 << WIDTH];
#pragma unroll
      for (int i = 0; i < 1 << k; ++i) {
        steps[i] = left[2 * i + 1] - left[2 * i];
        left[i] = left[2 * i] + places[k] * steps[i];
      }
#pragma unroll
      for (int e = k - 1; e >= 0; --e)
#pragma unroll
        for (int i = 0; i < 1 << e; ++i) steps[i] = steps[2 * i] + places[e] * (steps[2 * i + 1] - steps[2 * i]);
      slopes[k] = steps[0];
    }
  }

  template <class Visit>
  __device__ __forceinline__ void visit(const Visit& visit) const {
#pragma unroll
    for (int i = 0; i < 1 << WIDTH; ++i) visit(i, weights[i]);
  }
};
#else
struct Lattice {
  Cell<WIDTH> cell;

  __device__ void enter(const REAL (&inputs)[WIDTH]) {
    cell.begin(0);
    for (int k = 0; k < WIDTH; ++k) cell.add(inputs[k], 2);
    cell.finish([](int) { return 2; });
  }

  __device__ REAL value(const REAL* vertices) const { return cell.value(vertices); }

  __device__ void slopes(const REAL* vertices, REAL (&slopes)[WIDTH]) const {
    for (int k = 0; k < WIDTH; ++k) slopes[k] = 0;
    cell.add_slopes([&](int v) { return vertices[v]; }, slopes);
  }

  template <class Visit>
  __device__ void visit(const Visit& visit) const {
    cell.visit([&](int corner, const REAL* prefixes, int) { visit(corner, prefixes[WIDTH]); });
  }
};
#endif

struct Reading {
  OnLine inputs[WIDTH], output;
  Lattice lattice;

  __device__ __forceinline__ void read(const Rho& rho, const REAL* means, int f) {
    REAL places[WIDTH];
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
      inputs[k].read(means[k], rho.calibrators + (f * WIDTH + k) * rho.n_keypoints, rho.n_keypoints);
      places[k] = clamped(inputs[k].value, REAL(0), REAL(1));
    }
    lattice.enter(places);
    output.read(lattice.value(rho.vertices + (f << WIDTH)), rho.output + f * rho.n_keypoints, rho.n_keypoints);
  }

  // The derivatives by the calibrated inputs, from that by the output.
  __device__ __forceinline__ void by_calibrated(const Rho& rho, int f, REAL by_output, REAL (&by_calibrated)[WIDTH]) const {
    lattice.slopes(rho.vertices + (f << WIDTH), by_calibrated);
#pragma unroll
    for (int k = 0; k < WIDTH; ++k)
      by_calibrated[k] *= by_output * output.slope * slope_of_clamped(inputs[k].value, REAL(0), REAL(1));
  }
};

// Outputs (sets, outputs) of means (sets, outputs, WIDTH).
extern "C" __global__ void apply_rho(Rho rho, const REAL* means, int64 count, int outputs, REAL* results) {
  const int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count * outputs) return;
  Reading reading;
  reading.read(rho, means + i * WIDTH, rho.functions == 1 ? 0 : int(i % outputs));
  results[i] = reading.output.value;
}

__device__ double loss_of_number(const Labels& labels, double output, double target, double& slope) {
  const double error = target - output;
  switch (labels.loss) {
    case SQUARED_ERROR:
      slope = -2.0 * error;
      return error * error;
    case ABSOLUTE_ERROR:
      slope = error > 0 ? -1.0 : error < 0 ? 1.0 : 0.0;
      return fabs(error);
    case QUANTILE:
      slope = error > 0 ? -labels.quantile : 1.0 - labels.quantile;
      return -slope * error;
    case POISSON: {
      const double expected = exp(output);
      slope = expected - target;
      return expected - target * output + (target > 0 ? target * log(target) : 0.0) - target;
    }
    case HINGE: {
      const double sign = 2.0 * target - 1.0, margin = 1.0 - sign * output;
      slope = margin >= 0 ? -sign : 0.0;
      return margin > 0 ? margin : margin == margin ? 0.0 : margin;
    }
    default: {
      const double small = exp(-fabs(output));
      slope = (output < 0 ? small : 1.0) / (1.0 + small) - target;
      return fmax(output, 0.0) + log1p(small) - target * output + 0.0 * output;
    }
  }
}

// The loss of one set; outputs become `factor` times its derivatives by them.
__device__ double loss_of_set(const Labels& labels, REAL* outputs, int n_outputs, double target, double factor) {
  double slope;
  if (n_outputs == 1) {
    const double value = loss_of_number(labels, outputs[0], target, slope);
    outputs[0] = REAL(factor * slope);
    return value;
  }
  const int label = int(target);
  if (labels.loss != LOG_LOSS) {
    // Each class on its own: is it the label or not?
    double value = 0;
    for (int c = 0; c < n_outputs; ++c) {
      value += loss_of_number(labels, outputs[c], c == label ? 1.0 : 0.0, slope);
      outputs[c] = REAL(factor * slope);
    }
    return value;
  }
  double largest = outputs[0], total = 0;
  for (int c = 1; c < n_outputs; ++c) largest = fmax(largest, double(outputs[c]));
  for (int c = 0; c < n_outputs; ++c) total += exp(outputs[c] - largest);
  const double value = largest + log(total) - outputs[label];
  for (int c = 0; c < n_outputs; ++c)
    outputs[c] = REAL(factor * (exp(outputs[c] - largest) / total - (c == label ? 1.0 : 0.0)));
  return value;
}

// Hands the gradients of one output by rho's tables to add(table, place among all tables, amount); table 0 is the output
// calibrator, 1 the lattice, 2 the calibrators.
template <class Add>
__device__ __forceinline__ void add_gradients(const Rho& rho, int f, const Reading& reading, REAL by_output,
                                              const REAL (&by_calibrated)[WIDTH], const Add& add) {
  const int V = rho.n_keypoints, vertices = rho.functions * WIDTH * V, output = vertices + (rho.functions << WIDTH);
  const OnLine& end = reading.output;
  add(0, output + f * V + end.segment, by_output * (1 - end.fraction));
  add(0, output + f * V + end.segment + 1, by_output * end.fraction);
  const REAL by_fused = by_output * end.slope;
  reading.lattice.visit([&](int corner, REAL weight) { add(1, vertices + (f << WIDTH) + corner, by_fused * weight); });
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) {
    const OnLine& line = reading.inputs[k];
    const int first = (f * WIDTH + k) * V + line.segment;
    add(2, first, by_calibrated[k] * (1 - line.fraction));
    add(2, first + 1, by_calibrated[k] * line.fraction);
  }
}

constexpr int SUMS = 5;  // the loss, and sums of absolute values of gradients: by outputs, fused, calibrated, means
constexpr int MOST_WARPS = 32;

// What a set leaves on the way: its loss, gradients by outputs and by means, and with `add(table, place, amount)` its part of
// the gradients by rho's tables, which stand end to end.
template <class Add>
__device__ __forceinline__ void learn_from_set(const Rho& rho, const Labels& labels, const Batch& batch, int outputs,
                                               int divided, int64 i, const REAL* means, REAL* by_outputs, REAL* by_means,
                                               double (&sums)[SUMS], const Add& add) {
  const int64 set = labels.order ? labels.order[batch.first_set + i] : batch.first_set + i;
  REAL* results = by_outputs + i * outputs;
  Reading reading;
  for (int o = 0; o < outputs; ++o) {
    reading.read(rho, means + (i * outputs + o) * WIDTH, rho.functions == 1 ? 0 : o);
    results[o] = reading.output.value;
  }
  const double weight = labels.weights[set];
  sums[0] += weight * loss_of_set(labels, results, outputs, labels.targets[set], weight / double(batch.n_sets));
  const REAL size = divided ? REAL(labels.offsets[set + 1] - labels.offsets[set]) : REAL(1);
  for (int o = 0; o < outputs; ++o) {
    const int f = rho.functions == 1 ? 0 : o;
    if (outputs > 1) reading.read(rho, means + (i * outputs + o) * WIDTH, f);
    const REAL by_output = results[o];
    REAL by_calibrated[WIDTH];
    reading.by_calibrated(rho, f, by_output, by_calibrated);
    sums[1] += fabs(double(by_output));
    sums[2] += fabs(double(by_output * reading.output.slope));
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) {
      const REAL by_mean = by_calibrated[k] * reading.inputs[k].slope;
      sums[3] += fabs(double(by_calibrated[k]));
      sums[4] += fabs(double(by_mean));
      by_means[(i * outputs + o) * WIDTH + k] = by_mean / size;
    }
    add_gradients(rho, f, reading, by_output, by_calibrated, add);
  }
}

// Writes the sums of a block, for which every warp has a place.
__device__ __forceinline__ void add_up_block(const double (&own)[SUMS], double (&parts)[MOST_WARPS][SUMS], double* sums) {
  for (int s = 0; s < SUMS; ++s) {
    const double sum = sum_of_warp(own[s]);
    if (threadIdx.x % LANES == 0) parts[threadIdx.x / LANES][s] = sum;
  }
  __syncthreads();
  if (threadIdx.x < SUMS) {
    double sum = 0;
    for (int w = 0; w < int(blockDim.x) / LANES; ++w) sum += parts[w][threadIdx.x];
    sums[int64(blockIdx.x) * SUMS + threadIdx.x] = sum;
  }
}

// The loss of the sets of a batch, their gradients by outputs and by means, and sums of each block. With `divided`,
// gradients by means are those by the score of one token.
extern "C" __global__ void __launch_bounds__(128)
learn(Rho rho, Labels labels, Batch* batch, int outputs, int divided, const REAL* means, REAL* by_outputs, REAL* by_means,
      double* sums) {
  __shared__ double parts[MOST_WARPS][SUMS];
  const int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  double own[SUMS] = {0, 0, 0, 0, 0};
  if (i < batch->n_sets)
    learn_from_set(rho, labels, *batch, outputs, divided, i, means, by_outputs, by_means, own, [](int, int, REAL) {});
  add_up_block(own, parts, sums);
}

// The same, and the gradients by rho's tables, each lane in a column of its own: partial is (blocks, size).
extern "C" __global__ void __launch_bounds__(MOST_WARPS * LANES, 1)
learn_in_columns(Rho rho, Labels labels, Batch* batch, int outputs, int divided, const REAL* means, REAL* by_outputs,
                 REAL* by_means, double* sums, int size, double* partial) {
  extern __shared__ float columns[];
  __shared__ double parts[MOST_WARPS][SUMS];
  for (int i = threadIdx.x; i < size * int(blockDim.x); i += blockDim.x) columns[i] = 0.0f;
  __syncthreads();
  float* column = column_of(columns, size);
  double own[SUMS] = {0, 0, 0, 0, 0};
  const Batch run = *batch;
  for (int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x; i < run.n_sets; i += int64(gridDim.x) * blockDim.x)
    learn_from_set(rho, labels, run, outputs, divided, i, means, by_outputs, by_means, own,
                   [&](int, int place, REAL amount) { column[place * LANES] += float(amount); });
  add_up_block(own, parts, sums);
  sum_columns(columns, size, size * LANES, partial + int64(blockIdx.x) * size);
}

// Gradients by rho's tables as whole numbers, once their scales are known.
extern "C" __global__ void __launch_bounds__(128)
rho_gradients(Rho rho, Batch* batch, int outputs, const REAL* means, const REAL* by_outputs, const double* scales,
              int64* sums) {
  const int64 count = batch->n_sets * outputs, step = int64(gridDim.x) * blockDim.x;
  for (int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const int f = rho.functions == 1 ? 0 : int(i % outputs);
    Reading reading;
    reading.read(rho, means + i * WIDTH, f);
    REAL by_calibrated[WIDTH];
    reading.by_calibrated(rho, f, by_outputs[i], by_calibrated);
    add_gradients(rho, f, reading, by_outputs[i], by_calibrated,
                  [&](int table, int place, REAL amount) { add_exactly(sums + place, double(amount), scales[table]); });
  }
}
