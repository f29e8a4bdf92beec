// Losses of one set and their derivatives by its outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "checks.h"

enum class LossName { kSquaredError, kAbsoluteError, kQuantile, kPoisson, kLogLoss, kHinge, kBinaryLogLoss };

struct Loss {
  LossName name;
  double quantile;

  Loss(const std::string& wanted, double quantile) : name(find(wanted)), quantile(quantile) {
    if (!(quantile >= 0 && quantile <= 1)) refuse("The quantile is " + std::to_string(quantile) + "; it must lie in [0, 1].");
  }

 private:
  static LossName find(const std::string& wanted) {
    static constexpr const char* names[] = {"squared_error", "absolute_error", "quantile",       "poisson",
                                            "log_loss",      "hinge",          "binary_log_loss"};
    for (int i = 0; i < 7; ++i)
      if (wanted == names[i]) return static_cast<LossName>(i);
    refuse("There is no loss '" + wanted + "'.");
  }
};

namespace losses {

inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

inline double sigmoid(double x) {
  const double small = std::exp(-std::abs(x));
  return (x < 0 ? small : 1.0) / (1.0 + small);
}

// Loss of one output for a target, and its derivative.
inline double of_number(const Loss& loss, double output, double target, double& slope) {
  const double error = target - output;
  switch (loss.name) {
    case LossName::kSquaredError:
      slope = -2.0 * error;
      return error * error;
    case LossName::kAbsoluteError:
      slope = error > 0 ? -1.0 : error < 0 ? 1.0 : 0.0;
      return std::abs(error);
    case LossName::kQuantile:
      slope = error > 0 ? -loss.quantile : 1.0 - loss.quantile;
      return -slope * error;
    case LossName::kPoisson: {
      // Half the deviance: 0 where the output is right.
      const double expected = std::exp(output);
      slope = expected - target;
      return expected - target * output + (target > 0 ? target * std::log(target) : 0.0) - target;
    }
    case LossName::kHinge: {
      const double sign = 2.0 * target - 1.0, margin = 1.0 - sign * output;
      slope = margin >= 0 ? -sign : 0.0;
      return std::max(margin, 0.0);
    }
    default:
      slope = sigmoid(output) - target;
      return softplus(output) - target * output;
  }
}

}  // namespace losses

inline bool is_class(double target, int64_t n_classes) {
  return target >= 0 && target < static_cast<double>(n_classes) && target == std::floor(target);
}

// Returns the loss of one set and writes `factor` times its derivative by each of its outputs. With one output the target
// is a number, or class 0 or 1; with several it is the number of the class.
template <class T>
double loss_of_set(const Loss& loss, const T* outputs, int64_t n_outputs, double target, double factor, T* gradient) {
  if (n_outputs == 1) {
    double slope;
    const double value = losses::of_number(loss, static_cast<double>(outputs[0]), target, slope);
    gradient[0] = static_cast<T>(factor * slope);
    return value;
  }
  const int64_t label = static_cast<int64_t>(target);
  if (loss.name != LossName::kLogLoss) {
    // Each class on its own: is it the label or not?
    double value = 0;
    for (int64_t c = 0; c < n_outputs; ++c) {
      double slope;
      value += losses::of_number(loss, static_cast<double>(outputs[c]), c == label ? 1.0 : 0.0, slope);
      gradient[c] = static_cast<T>(factor * slope);
    }
    return value;
  }
  const double largest = static_cast<double>(*std::max_element(outputs, outputs + n_outputs));
  double total = 0;
  for (int64_t c = 0; c < n_outputs; ++c) {
    const double share = std::exp(static_cast<double>(outputs[c]) - largest);
    gradient[c] = static_cast<T>(share);
    total += share;
  }
  const double scale = factor / total;
  for (int64_t c = 0; c < n_outputs; ++c) gradient[c] = static_cast<T>(scale * static_cast<double>(gradient[c]));
  gradient[label] -= static_cast<T>(factor);
  return largest + std::log(total) - static_cast<double>(outputs[label]);
}
