// Corrections while they are learned (native/corrections.h): only those of the step's tokens move, by Adagrad with a pull to 0;
// what happens to the others is made up for when they are next touched.
#include "common.h"
#include "pace.h"

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
