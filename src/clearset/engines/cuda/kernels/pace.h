// How far a training has got, in the memory of the device.
#pragma once

#ifndef REAL
#define REAL double
#endif

// How a training goes on; the first ten fields are the host's.
struct Pace {
  double learning_rate, n_steps, warm_up, smoothness, steepest, most_slope;
  double adagrad, light_touch, at_first, least_scatter;
  double step, level, total, loss, diverged;
  double rate, rho_rate, decay, smoothing, first_share, second_root, share;
  double scales[6];  // of calibration, vertices, corrections; rho's output, vertices, calibrators
};

__device__ __forceinline__ double unscaled(double sum, double scale) { return scale == 0.0 ? 0.0 : sum / scale; }
