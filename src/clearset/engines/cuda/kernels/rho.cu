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

  __device__ void read(REAL input, const REAL* table, int n_keypoints) {
    const REAL per_unit = REAL(n_keypoints - 1) / 2, place = (clamped(input, REAL(-1), REAL(1)) + 1) * per_unit;
    segment = place > 0 ? int(place) : 0;
    if (segment > n_keypoints - 2) segment = n_keypoints - 2;
    fraction = place - REAL(segment);
    const REAL step = table[segment + 1] - table[segment];
    value = table[segment] + fraction * step;
    slope = slope_of_clamped(input, REAL(-1), REAL(1)) * per_unit * step;
  }
};

struct Reading {
  OnLine inputs[WIDTH], output;
  Cell<WIDTH> cell;

  __device__ void read(const Rho& rho, const REAL* means, int f) {
    cell.begin(0);
    for (int k = 0; k < WIDTH; ++k) {
      inputs[k].read(means[k], rho.calibrators + (f * WIDTH + k) * rho.n_keypoints, rho.n_keypoints);
      cell.add(clamped(inputs[k].value, REAL(0), REAL(1)), 2);
    }
    cell.finish([](int) { return 2; });
    output.read(cell.value(rho.vertices + (f << WIDTH)), rho.output + f * rho.n_keypoints, rho.n_keypoints);
  }

  // The derivatives by the calibrated inputs, from that by the output.
  __device__ void by_calibrated(const Rho& rho, int f, REAL by_output, REAL (&by_calibrated)[WIDTH]) const {
    for (int k = 0; k < WIDTH; ++k) by_calibrated[k] = 0;
    const REAL by_fused = by_output * output.slope;
    const REAL* vertices = rho.vertices + (f << WIDTH);
    cell.add_slopes([&](int v) { return by_fused * vertices[v]; }, by_calibrated);
    for (int k = 0; k < WIDTH; ++k) by_calibrated[k] *= slope_of_clamped(inputs[k].value, REAL(0), REAL(1));
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

constexpr int SUMS = 5;  // the loss, and sums of absolute values of gradients: by outputs, fused, calibrated, means

// The loss of the sets of a batch, their gradients by outputs and by means, and sums of each block. With `divided`,
// gradients by means are those by the score of one token.
extern "C" __global__ void __launch_bounds__(128)
learn(Rho rho, Labels labels, Batch* batch, int outputs, int divided, const REAL* means, REAL* by_outputs, REAL* by_means,
      double* sums) {
  const int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x;
  double own[SUMS] = {0, 0, 0, 0, 0};
  if (i < batch->n_sets) {
    const int64 set = labels.order ? labels.order[batch->first_set + i] : batch->first_set + i;
    REAL* results = by_outputs + i * outputs;
    Reading reading;
    for (int o = 0; o < outputs; ++o) {
      reading.read(rho, means + (i * outputs + o) * WIDTH, rho.functions == 1 ? 0 : o);
      results[o] = reading.output.value;
    }
    const double weight = labels.weights[set];
    own[0] = weight * loss_of_set(labels, results, outputs, labels.targets[set], weight / double(batch->n_sets));
    const REAL size = divided ? REAL(labels.offsets[set + 1] - labels.offsets[set]) : REAL(1);
    for (int o = 0; o < outputs; ++o) {
      const int f = rho.functions == 1 ? 0 : o;
      if (outputs > 1) reading.read(rho, means + (i * outputs + o) * WIDTH, f);
      REAL by_calibrated[WIDTH];
      reading.by_calibrated(rho, f, results[o], by_calibrated);
      own[1] += fabs(double(results[o]));
      own[2] += fabs(double(results[o] * reading.output.slope));
      for (int k = 0; k < WIDTH; ++k) {
        const REAL by_mean = by_calibrated[k] * reading.inputs[k].slope;
        own[3] += fabs(double(by_calibrated[k]));
        own[4] += fabs(double(by_mean));
        by_means[(i * outputs + o) * WIDTH + k] = by_mean / size;
      }
    }
  }
  __shared__ double parts[128 / LANES][SUMS];
  for (int s = 0; s < SUMS; ++s) {
    const double sum = sum_of_warp(own[s]);
    if (threadIdx.x % LANES == 0) parts[threadIdx.x / LANES][s] = sum;
  }
  __syncthreads();
  if (threadIdx.x < SUMS) {
    double sum = 0;
    for (int w = 0; w < 128 / LANES; ++w) sum += parts[w][threadIdx.x];
    sums[int64(blockIdx.x) * SUMS + threadIdx.x] = sum;
  }
}

// Visits the gradients by rho's tables of the sets of a batch: add(place among the tables, amount).
template <class Add>
__device__ __forceinline__ void visit_gradients(const Rho& rho, const Batch& batch, int outputs, const REAL* means,
                                                const REAL* by_outputs, const Add& add) {
  const int V = rho.n_keypoints, vertices = rho.functions * WIDTH * V, output = vertices + (rho.functions << WIDTH);
  for (int64 i = int64(blockIdx.x) * blockDim.x + threadIdx.x; i < batch.n_sets; i += int64(gridDim.x) * blockDim.x)
    for (int o = 0; o < outputs; ++o) {
      const int f = rho.functions == 1 ? 0 : o;
      const REAL by_output = by_outputs[i * outputs + o];
      Reading reading;
      reading.read(rho, means + (i * outputs + o) * WIDTH, f);
      const OnLine& end = reading.output;
      add(0, output + f * V + end.segment, by_output * (1 - end.fraction));
      add(0, output + f * V + end.segment + 1, by_output * end.fraction);
      const REAL by_fused = by_output * end.slope;
      reading.cell.visit([&](int corner, const REAL* prefixes, int) {
        add(1, vertices + (f << WIDTH) + corner, by_fused * prefixes[WIDTH]);
      });
      REAL by_calibrated[WIDTH];
      reading.by_calibrated(rho, f, by_output, by_calibrated);
      for (int k = 0; k < WIDTH; ++k) {
        const OnLine& line = reading.inputs[k];
        const int first = (f * WIDTH + k) * V + line.segment;
        add(2, first, by_calibrated[k] * (1 - line.fraction));
        add(2, first + 1, by_calibrated[k] * line.fraction);
      }
    }
}

// Gradients by rho's tables, laid end to end, as whole numbers.
extern "C" __global__ void __launch_bounds__(128)
rho_gradients(Rho rho, Batch* batch, int outputs, const REAL* means, const REAL* by_outputs, const double* scales, int64* sums) {
  visit_gradients(rho, *batch, outputs, means, by_outputs,
                  [&](int table, int place, REAL amount) { add_exactly(sums + place, double(amount), scales[table]); });
}

// The same, each lane in a column of its own: partial is (blocks, parameters).
extern "C" __global__ void __launch_bounds__(256, 1)
rho_columns(Rho rho, Batch* batch, int outputs, const REAL* means, const REAL* by_outputs, int size, double* partial) {
  extern __shared__ float columns[];
  for (int i = threadIdx.x; i < size * int(blockDim.x); i += blockDim.x) columns[i] = 0.0f;
  __syncthreads();
  float* column = column_of(columns, size);
  visit_gradients(rho, *batch, outputs, means, by_outputs,
                  [&](int, int place, REAL amount) { column[place * LANES] += float(amount); });
  sum_columns(columns, size, size * LANES, partial + int64(blockIdx.x) * size);
}
