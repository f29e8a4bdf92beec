// rho of one set: calibrators, one lattice of size 2 in every input and the output calibrator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

// A value moved into [low, high]; its derivative by the value is 1 inside and on the border, else 0. NaN stays NaN.
template <class T>
struct Clamped {
  T value;
  T slope;

  Clamped(T raw, T low, T high)
      : value(raw < low ? low : raw > high ? high : raw), slope(raw >= low && raw <= high ? T(1) : T(0)) {}
};

// Where an input stands between keypoints that are uniform on [-1, 1], and what a calibrator gives there.
template <class T>
struct OnLine {
  int64_t segment;
  T fraction;
  T value;
  T slope;  // derivative of the value by the input

  OnLine(T input, const T* table, int64_t n_keypoints) {
    const Clamped<T> inside(input, T(-1), T(1));
    const T segments_per_unit = static_cast<T>(n_keypoints - 1) / 2;
    const T place = (inside.value + 1) * segments_per_unit;
    // Written so that not-a-number, too, gives a segment that exists; the value then is not-a-number.
    segment = std::min(static_cast<int64_t>(place > 0 ? place : T(0)), n_keypoints - 2);
    fraction = place - static_cast<T>(segment);
    const T step = table[segment + 1] - table[segment];
    value = table[segment] + fraction * step;
    slope = inside.slope * segments_per_unit * step;
  }

  void add_gradient(double upstream, double* table_gradient) const {
    const double above = upstream * static_cast<double>(fraction);
    table_gradient[segment] += upstream - above;
    table_gradient[segment + 1] += above;
  }
};

template <class T>
struct Rho {
  int64_t n_sets;
  int64_t n_functions;
  int64_t width;
  int64_t n_keypoints;
  const T* means;        // (sets, functions, width)
  const T* calibrators;  // (functions, width, keypoints)
  const T* vertices;     // (functions, corners)
  const T* output;       // (functions, keypoints)

  int64_t n_corners() const { return int64_t{1} << width; }
};

// One set and one function after the other; the memory is shared by all of them.
template <class T>
class RhoReader {
 public:
  explicit RhoReader(const Rho<T>& rho)
      : rho_(rho), weights_(static_cast<size_t>(rho.n_corners())), folds_(2 * weights_.size()) {
    calibrated_.reserve(static_cast<size_t>(rho.width));
    places_.reserve(static_cast<size_t>(rho.width));
  }

  OnLine<T> read(int64_t set, int64_t function) {
    calibrated_.clear();
    places_.clear();
    for (int64_t k = 0; k < rho_.width; ++k) {
      const int64_t row = function * rho_.width + k;
      const T mean = rho_.means[set * rho_.n_functions * rho_.width + row];
      calibrated_.emplace_back(mean, rho_.calibrators + row * rho_.n_keypoints, rho_.n_keypoints);
      places_.emplace_back(calibrated_.back().value, T(0), T(1));
    }
    const T fused = fold(rho_.vertices + function * rho_.n_corners());
    return OnLine<T>(fused, rho_.output + function * rho_.n_keypoints, rho_.n_keypoints);
  }

  // Adds the gradients of what was read last; grad_means is of this set and function.
  void add_gradients(const OnLine<T>& output, T upstream, double* calibrators, double* vertices, double* output_table,
                     T* grad_means) {
    output.add_gradient(static_cast<double>(upstream), output_table);
    // The weights of the corners grow from one to all; on the way each input meets the difference of its own fold.
    weights_[0] = upstream * output.slope;
    int64_t half = 1;
    for (int64_t k = rho_.width - 1; k >= 0; --k, half *= 2) {
      const T* from = folds_.data() + 2 * rho_.n_corners() - 4 * half;
      T by_place = 0;
      for (int64_t j = 0; j < half; ++j) {
        by_place += weights_[j] * (from[half + j] - from[j]);
        weights_[half + j] = weights_[j] * places_[k].value;
        weights_[j] -= weights_[half + j];
      }
      const T by_calibrated = by_place * places_[k].slope;
      calibrated_[k].add_gradient(static_cast<double>(by_calibrated), calibrators + k * rho_.n_keypoints);
      grad_means[k] = by_calibrated * calibrated_[k].slope;
    }
    for (int64_t corner = 0; corner < half; ++corner) vertices[corner] += static_cast<double>(weights_[corner]);
  }

 private:
  // Folds the lattice one input at a time, the first one (of the largest stride) first. All folds are kept, one after the
  // other: 2^width entries, half as many, ..., 2, 1. So what was folded to `half` entries begins 4 * half before the end of
  // 2 * 2^width.
  T fold(const T* vertices) {
    T* from = folds_.data();
    std::copy_n(vertices, rho_.n_corners(), from);
    for (int64_t k = 0, half = rho_.n_corners() / 2; k < rho_.width; ++k, half /= 2) {
      T* to = from + 2 * half;
      const T place = places_[k].value;
      for (int64_t j = 0; j < half; ++j) to[j] = from[j] + place * (from[half + j] - from[j]);
      from = to;
    }
    return *from;
  }

  const Rho<T>& rho_;
  std::vector<OnLine<T>> calibrated_;
  std::vector<Clamped<T>> places_;
  std::vector<T> weights_, folds_;
};
