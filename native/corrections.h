// Corrections to the values of tokens while they are learned: only those of a step's tokens are touched by it.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "parameters.h"
#include "team.h"

// The tokens of a slice that have corrections, numbered in the order in which they are met, and their gradients.
struct SliceCorrections {
  std::vector<int32_t> tokens;
  std::vector<double> gradient;  // (tokens, classes)
};

// Adagrad, with a pull to 0. What happens in every step to every correction is made up for when a token is next touched:
// the pull of all steps since then is applied at once, and the running average moves as if it had been there all along.
template <class T>
class Corrections {
 public:
  Corrections(const double* initial, int64_t count, int64_t classes, double rate, double pull)
      : count_(count), classes_(classes), rate_(rate), pull_(pull), values_(initial, initial + size()), squares_(size()),
        average_(values_),
        touched_(static_cast<size_t>(count)), averaged_(static_cast<size_t>(count)), places_(static_cast<size_t>(count), -1),
        sums_(kParts), order_(kParts) {}

  int64_t count() const { return count_; }
  int64_t classes() const { return classes_; }
  const T* values() const { return values_.data(); }
  const T* row(int64_t token) const { return values_.data() + token * classes_; }

  // Makes room before threads work: they do not allocate.
  void reserve(int64_t tokens) {
    for (auto& sums : sums_) sums.reserve(static_cast<size_t>(tokens * classes_));
    for (auto& order : order_) order.reserve(static_cast<size_t>(tokens));
  }

  // Takes a step, counted from 1, for the tokens of all slices.
  void move(const std::vector<SliceCorrections>& slices, int n_slices, double decay, int64_t step, Team& team) {
    // Every token belongs to one part, so that the sums do not depend on how many there are.
    const int parts = team.size() > 1 ? kParts : 1;
    team.run(parts, [&](int part, int) {
      std::vector<double>& sums = sums_[part];
      std::vector<int32_t>& order = order_[part];
      sums.clear();
      order.clear();
      for (int slice = 0; slice < n_slices; ++slice)
        for (size_t i = 0; i < slices[slice].tokens.size(); ++i)
          if (slices[slice].tokens[i] % parts == part) add(slices[slice], i, sums, order);
      for (size_t i = 0; i < order.size(); ++i) {
        places_[order[i]] = -1;
        move_token(order[i], sums.data() + static_cast<int64_t>(i) * classes_, decay, step);
      }
    });
  }

  // Hands over what steps change, by name. Averages are not caught up: where they are changes their last bits.
  template <class Visit>
  void visit_state(const Visit& visit) {
    visit("corrections.values", values_.data(), values_.size());
    visit("corrections.squares", squares_.data(), squares_.size());
    visit("corrections.average", average_.data(), average_.size());
    visit("corrections.touched", touched_.data(), touched_.size());
    visit("corrections.averaged", averaged_.data(), averaged_.size());
  }

  // The running average after a step.
  const T* average(int64_t step) {
    for (int64_t token = 0; token < count_; ++token) catch_up(token, step);
    return average_.data();
  }

 private:
  static constexpr int kParts = 8;

  size_t size() const { return static_cast<size_t>(count_ * classes_); }

  void add(const SliceCorrections& slice, size_t i, std::vector<double>& sums, std::vector<int32_t>& order) {
    const int32_t token = slice.tokens[i];
    const double* from = slice.gradient.data() + static_cast<int64_t>(i) * classes_;
    if (places_[token] < 0) {
      places_[token] = static_cast<int32_t>(order.size());
      order.push_back(token);
      sums.insert(sums.end(), from, from + classes_);
      return;
    }
    double* to = sums.data() + places_[token] * classes_;
    for (int64_t c = 0; c < classes_; ++c) to[c] += from[c];
  }

  void move_token(int64_t token, const double* gradient, double decay, int64_t step) {
    catch_up(token, step - 1);
    const T pull = static_cast<T>(pull_ * static_cast<double>(step - touched_[token]));
    const T rate = static_cast<T>(rate_ * decay), share = static_cast<T>(share_of_step(step));
    T* __restrict values = values_.data() + token * classes_;
    T* __restrict squares = squares_.data() + token * classes_;
    T* __restrict average = average_.data() + token * classes_;
    for (int64_t c = 0; c < classes_; ++c) {
      const T slope = static_cast<T>(gradient[c]) + pull * values[c];
      squares[c] += slope * slope;
      values[c] -= rate * slope / (std::sqrt(squares[c]) + T(1e-10));
      average[c] += share * (values[c] - average[c]);
    }
    touched_[token] = averaged_[token] = step;
  }

  // The product of 1 - share_of_step over the steps in between, with which the distance of the average has shrunk: its
  // factors cancel but for four at each end.
  void catch_up(int64_t token, int64_t step) {
    static_assert(kRecency == 3.0);
    if (averaged_[token] == step) return;
    const double before = static_cast<double>(averaged_[token]), now = static_cast<double>(step);
    const T left = static_cast<T>(before / now * ((before + 1) / (now + 1)) * ((before + 2) / (now + 2)) *
                                  ((before + 3) / (now + 3)));
    const T* values = row(token);
    T* average = average_.data() + token * classes_;
    for (int64_t c = 0; c < classes_; ++c) average[c] = values[c] + left * (average[c] - values[c]);
    averaged_[token] = step;
  }

  int64_t count_, classes_;
  double rate_, pull_;
  std::vector<T> values_, squares_, average_;
  std::vector<int64_t> touched_, averaged_;  // the last step of each
  std::vector<int32_t> places_;
  std::vector<std::vector<double>> sums_;
  std::vector<std::vector<int32_t>> order_;
};
