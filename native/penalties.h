// What is added to the loss: smoothness, and Light Touch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parameters.h"

// The gradient of squared bends and twists: a sparse matrix times each row of a table.
struct Squares {
  Table table;
  std::vector<int32_t> starts, columns;
  std::vector<double> values;

  void add(double factor, const double* parameters, double* gradient) const {
    for (int64_t member = 0; member < table.rows; ++member) {
      const double* row = parameters + table.start + member * table.columns;
      double* to = gradient + table.start + member * table.columns;
      for (size_t i = 0; i + 1 < starts.size(); ++i) {
        double sum = 0;
        for (int32_t j = starts[i]; j < starts[i + 1]; ++j) sum += values[j] * row[columns[j]];
        to[i] += factor * sum;
      }
    }
  }
};

// clearset.functions.Smoothness: weighed against the running average of the loss.
class Smoothness {
 public:
  explicit Smoothness(double strength) : strength_(strength) {}
  void add(Squares squares) { squares_.push_back(std::move(squares)); }

  void add_gradient(double loss, const double* parameters, double* gradient) {
    level_ = std::isnan(level_) ? loss : level_ + 0.05 * (loss - level_);
    for (const Squares& squares : squares_) squares.add(2.0 * strength_ * level_, parameters, gradient);
  }

  template <class Visit>
  void visit_state(const Visit& visit) {
    visit("level", &level_, 1);
  }

 private:
  double strength_;
  double level_ = std::nan("");
  std::vector<Squares> squares_;
};

// Each step looks at a few of the constraints, drawn from a learned distribution, adds their mean violation to the
// objective, and moves the distribution towards those that were violated.
class LightTouch {
 public:
  static constexpr int kSamples = 128;  // of a step

  // Half-spaces over all parameters laid end to end, four entries each.
  LightTouch(std::vector<int64_t> indices, std::vector<double> coefficients)
      : indices_(std::move(indices)), coefficients_(std::move(coefficients)), log_weights_(indices_.size() / 4),
        chances_(log_weights_.size()) {}

  // `draws` are uniform on [0, 1).
  void add_gradient(const double* draws, const double* parameters, double* gradient) {
    if (log_weights_.empty()) return;
    add_up_chances();
    std::vector<size_t>& chosen = chosen_;
    chosen.clear();
    std::vector<double>& violations = violations_;
    violations.clear();
    for (int i = 0; i < kSamples; ++i) {
      const auto place = std::upper_bound(chances_.begin(), chances_.end() - 1, draws[i] * chances_.back());
      chosen.push_back(static_cast<size_t>(place - chances_.begin()));
    }
    for (const size_t row : chosen) {
      double sum = 0;
      for (size_t j = 4 * row; j < 4 * row + 4; ++j) sum += coefficients_[j] * parameters[indices_[j]];
      violations.push_back(std::max(-sum, 0.0));
    }
    for (size_t i = 0; i < chosen.size(); ++i) {
      log_weights_[chosen[i]] += kRate * violations[i] / kSamples;
      if (violations[i] == 0.0) continue;
      for (size_t j = 4 * chosen[i]; j < 4 * chosen[i] + 4; ++j)
        gradient[indices_[j]] -= kStrength / kSamples * coefficients_[j];
    }
  }

  template <class Visit>
  void visit_state(const Visit& visit) {
    visit("log_weights", log_weights_.data(), log_weights_.size());
  }

 private:
  static constexpr double kStrength = 20.0;  // in units of the loss per unit of violation
  static constexpr double kRate = 10.0;      // how fast the distribution learns

  // Half of the chance is spread evenly, so that no constraint is forgotten.
  void add_up_chances() {
    const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
    double total = 0, sum = 0;
    for (size_t i = 0; i < chances_.size(); ++i) total += chances_[i] = std::exp(log_weights_[i] - largest);
    for (double& chance : chances_) chance = sum += 0.5 * chance / total + 0.5 / static_cast<double>(chances_.size());
  }

  std::vector<int64_t> indices_;
  std::vector<double> coefficients_, log_weights_, chances_;
  std::vector<size_t> chosen_;
  std::vector<double> violations_;
};
