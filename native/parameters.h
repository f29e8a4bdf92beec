// The five tables of a set function while they are trained: iterate, gradient, optimiser and running average.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

struct Table {
  int64_t start;  // among all parameters
  int64_t rows;
  int64_t columns;

  int64_t size() const { return rows * columns; }
  int64_t stop() const { return start + size(); }
};

// In the order of the layers, laid end to end.
struct Tables {
  Table calibration, vertices, rho_calibrators, rho_vertices, rho_output;

  Tables(int64_t functions, int64_t width, int64_t slots, int64_t n_vertices, int64_t keypoints)
      : calibration{0, functions * width, slots},
        vertices{calibration.stop(), functions * width, n_vertices},
        rho_calibrators{vertices.stop(), functions * width, keypoints},
        rho_vertices{rho_calibrators.stop(), functions, int64_t{1} << width},
        rho_output{rho_vertices.stop(), functions, keypoints} {}

  int64_t size() const { return rho_output.stop(); }
  const Table& of(int number) const { return (&calibration)[number]; }
};

// How strongly the running average favours late steps: the last 1 / (1 + kRecency) of all steps so far make up most of it,
// however long training has been.
constexpr double kRecency = 3.0;

// What a step counted from 1 has of the running average.
inline double share_of_step(int64_t step) { return (1.0 + kRecency) / (static_cast<double>(step) + kRecency); }

// A gradient below this is what rounding leaves of one that is 0. Adam and Adagrad divide by the size of gradients, so that
// a parameter that no set has touched would be moved by it, and then be pulled back too far by the penalty on bends.
constexpr double kLeastGradient = 1e-12;

class Parameters {
 public:
  Parameters(const double* initial, int64_t size, bool adagrad)
      : values(initial, initial + size), gradient(values.size()), average(values), adagrad_(adagrad),
        squares_(values.size()), momentum_(adagrad ? 0 : values.size()) {}

  // A step, counted from 1, for the parameters from `first` to `last` - 1.
  void move(int64_t first, int64_t last, double rate, int64_t step) {
    for (int64_t i = first; i < last; ++i)
      if (std::abs(gradient[i]) < kLeastGradient) gradient[i] = 0;
    if (adagrad_) {
      for (int64_t i = first; i < last; ++i) {
        squares_[i] += gradient[i] * gradient[i];
        values[i] -= rate * gradient[i] / (std::sqrt(squares_[i]) + 1e-10);
      }
      return;
    }
    constexpr double kFirst = 0.9, kSecond = 0.999;
    const double first_share = 1.0 - std::pow(kFirst, static_cast<double>(step));
    const double second_root = std::sqrt(1.0 - std::pow(kSecond, static_cast<double>(step)));
    const double scaled = rate / first_share;
    for (int64_t i = first; i < last; ++i) {
      momentum_[i] += (1.0 - kFirst) * (gradient[i] - momentum_[i]);
      squares_[i] = kSecond * squares_[i] + (1.0 - kSecond) * gradient[i] * gradient[i];
      values[i] -= scaled * momentum_[i] / (std::sqrt(squares_[i]) / second_root + 1e-8);
    }
  }

  bool finite() const {
    double product = 0;
    for (const double value : values) product += value * 0.0;
    return product == 0.0;
  }

  // Hands over what steps change, by name.
  template <class Visit>
  void visit_state(const Visit& visit) {
    visit("values", values.data(), values.size());
    visit("average", average.data(), average.size());
    visit("squares", squares_.data(), squares_.size());
    visit("momentum", momentum_.data(), momentum_.size());
  }

  void move_average(int64_t step) {
    const double share = share_of_step(step);
    for (size_t i = 0; i < values.size(); ++i) average[i] += share * (values[i] - average[i]);
  }

  std::vector<double> values, gradient, average;

 private:
  bool adagrad_;
  std::vector<double> squares_, momentum_;
};
