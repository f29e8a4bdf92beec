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

// clearset.functions.Interactions: the gradient of the squared parts of a lattice that depend on two inputs or more. With
// N = sum over inputs of (identity - average along the input), a part of k inputs is multiplied by k, so that N (N - 1) / 2
// counts its pairs and N (N - 1) (N - 2) / 6 its triples.
struct Interactions {
  Table table;
  int64_t first;
  std::vector<int32_t> sizes;
  double pairs, triples;
  std::vector<double> one, two;  // as long as the lattice

  void add(double factor, const double* parameters, double* gradient) {
    const int64_t n = static_cast<int64_t>(one.size());
    for (int64_t member = 0; member < table.rows; ++member) {
      const int64_t at = table.start + member * table.columns + first;
      count(parameters + at, one.data());
      count(one.data(), two.data());
      double* to = gradient + at;
      for (int64_t i = 0; i < n; ++i) {
        two[i] -= one[i];
        to[i] += factor * pairs / 2.0 * two[i];
      }
      if (triples == 0.0) continue;
      count(two.data(), one.data());
      for (int64_t i = 0; i < n; ++i) to[i] += factor * triples / 6.0 * (one[i] - 2.0 * two[i]);
    }
  }

 private:
  // N times the values of the lattice.
  void count(const double* __restrict from, double* __restrict to) const {
    const int64_t n = static_cast<int64_t>(one.size());
    const double inputs = static_cast<double>(sizes.size());
    for (int64_t i = 0; i < n; ++i) to[i] = inputs * from[i];
    int64_t stride = n;
    for (const int64_t size : sizes) {
      stride /= size;
      if (size == 2) {
        subtract_halves(from, to, stride);
        continue;
      }
      for (int64_t start = 0; start < n; start += size * stride)
        for (int64_t i = start; i < start + stride; ++i) {
          double mean = 0;
          for (int64_t j = 0; j < size; ++j) mean += from[i + j * stride];
          mean /= static_cast<double>(size);
          for (int64_t j = 0; j < size; ++j) to[i + j * stride] -= mean;
        }
    }
  }

  void subtract_halves(const double* __restrict from, double* __restrict to, int64_t stride) const {
    const int64_t n = static_cast<int64_t>(one.size());
    for (int64_t start = 0; start < n; start += 2 * stride)
      for (int64_t i = start; i < start + stride; ++i) {
        const double mean = 0.5 * (from[i] + from[i + stride]);
        to[i] -= mean;
        to[i + stride] -= mean;
      }
  }
};

// clearset.functions.Smoothness: weighed against the running average of the loss.
class Smoothness {
 public:
  Smoothness(double strength, double at_first, double least_scatter)
      : strength_(strength), at_first_(at_first), least_scatter_(least_scatter) {}
  void add(Squares squares) { squares_.push_back(std::move(squares)); }
  void add(Interactions interactions) { interactions_.push_back(std::move(interactions)); }

  // `progress` is the share of the steps that are done.
  void add_gradient(double loss, double progress, const double* parameters, double* gradient) {
    level_ = std::isnan(level_) ? loss : level_ + 0.05 * (loss - level_);
    const double share = std::pow(at_first_, std::max(0.0, 1.0 - 2.0 * progress));
    const double factor = 2.0 * strength_ * share * std::max(level_, least_scatter_);
    for (const Squares& squares : squares_) squares.add(factor, parameters, gradient);
    for (Interactions& interactions : interactions_) interactions.add(factor, parameters, gradient);
  }

  template <class Visit>
  void visit_state(const Visit& visit) {
    visit("level", &level_, 1);
  }

 private:
  double strength_, at_first_, least_scatter_;
  double level_ = std::nan("");
  std::vector<Squares> squares_;
  std::vector<Interactions> interactions_;
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
