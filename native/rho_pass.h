// rho for the rows of a training step: forward, and backward from what forward has left.
#pragma once

#include <cstdint>
#include <vector>

#include "rho_reader.h"

// Where the gradients of rho's tables are added up, in double.
struct RhoGradient {
  double* calibrators;  // (functions, width, keypoints)
  double* vertices;     // (functions, corners)
  double* output;       // (functions, keypoints)
};

// A row has the means of all functions. With one mean for each function, the usual case, nothing is computed twice.
template <class T>
class RhoPass {
 public:
  explicit RhoPass(const Rho<T>& rho) : rho_(rho), reader_(rho_) {}
  RhoPass(const RhoPass&) = delete;

  void reserve(int64_t rows) {
    if (rho_.width == 1) lines_.reserve(static_cast<size_t>(rows * rho_.n_functions));
  }

  // Writes the outputs (rows, functions) that belong to means (rows, functions, width).
  void forward(const T* means, int64_t n_rows, T* outputs) {
    rho_.means = means;
    lines_.clear();
    for (int64_t row = 0; row < n_rows; ++row)
      for (int64_t f = 0; f < rho_.n_functions; ++f) {
        if (rho_.width > 1) {
          *outputs++ = reader_.read(row, f).value;
          continue;
        }
        lines_.emplace_back(rho_, *means++, f);
        *outputs++ = lines_.back().output.value;
      }
  }

  // For the rows of the last forward.
  void backward(const T* upstream, int64_t n_rows, const RhoGradient& gradient, T* by_means) {
    const int64_t width = rho_.width, keypoints = rho_.n_keypoints, corners = rho_.n_corners();
    const Line* line = lines_.data();
    for (int64_t row = 0; row < n_rows; ++row)
      for (int64_t f = 0; f < rho_.n_functions; ++f, ++upstream, by_means += width) {
        double* by_calibrators = gradient.calibrators + f * width * keypoints;
        double* by_vertices = gradient.vertices + f * corners;
        double* by_output = gradient.output + f * keypoints;
        if (width == 1)
          *by_means = line++->add_gradients(*upstream, by_calibrators, by_vertices, by_output);
        else
          reader_.add_gradients(reader_.read(row, f), *upstream, by_calibrators, by_vertices, by_output, by_means);
      }
  }

 private:
  // One mean on its way: the lattice is a line.
  struct Line {
    OnLine<T> calibrated;
    Clamped<T> place;
    T rise;
    OnLine<T> output;

    Line(const Rho<T>& rho, T mean, int64_t f)
        : calibrated(mean, rho.calibrators + f * rho.n_keypoints, rho.n_keypoints),
          place(calibrated.value, T(0), T(1)),
          rise(rho.vertices[2 * f + 1] - rho.vertices[2 * f]),
          output(rho.vertices[2 * f] + place.value * rise, rho.output + f * rho.n_keypoints, rho.n_keypoints) {}

    // Returns the gradient of the mean.
    T add_gradients(T upstream, double* calibrators, double* vertices, double* outputs) const {
      output.add_gradient(static_cast<double>(upstream), outputs);
      const T by_fused = upstream * output.slope;
      const double above = static_cast<double>(by_fused * place.value);
      vertices[0] += static_cast<double>(by_fused) - above;
      vertices[1] += above;
      const T by_calibrated = by_fused * rise * place.slope;
      calibrated.add_gradient(static_cast<double>(by_calibrated), calibrators);
      return by_calibrated * calibrated.slope;
    }
  };

  Rho<T> rho_;
  RhoReader<T> reader_;
  std::vector<Line> lines_;
};
