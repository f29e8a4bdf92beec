// The steps of an epoch as Python asks for them, and what of Python is called on the way.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "arrays.h"
#include "trainer.h"

inline Steps steps_of(int64_t count, int64_t batch_size) {
  Steps steps{{}, {}, 0};
  const int64_t size = std::min(batch_size, count);
  for (int64_t first = 0; first < count; first += size) {
    steps.ends.push_back(std::min(first + size, count));
    steps.totals.push_back(steps.ends.back() - first);
  }
  return steps;
}

// Where each lane of each step ends among `count` sets, and the sets of each step in all processes.
inline Steps steps_of_lanes(const Matrix<int64_t>& ends, const Ints& totals, int64_t count) {
  check_length("totals", totals.size(), ends.shape(0));
  check_range("The number of lanes", length(ends.shape(1)), 1, kMostSlices);
  check_aligned("ends", ends);
  check_aligned("totals", totals);
  int64_t before = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    check_range("An end", ends.data()[i], before, count);
    before = ends.data()[i];
  }
  if (totals.size() == 0 || before != count) refuse("The last step must end where the order does.");
  for (size_t i = 0; i < totals.size(); ++i)
    check_range("A total", totals.data()[i], 1, int64_t{1} << 44);
  return {copied<int64_t>(ends), copied<int64_t>(totals), length(ends.shape(1))};
}

// Has gradients and losses of lanes put together: `add_up` adds up arrays, in which those of other processes are 0.
struct Exchange {
  const nanobind::object& add_up;

  void operator()(std::vector<std::vector<double>>& gradients, std::vector<double>& losses) const {
    size_t size = losses.size();
    for (size_t lane = 0; lane < losses.size(); ++lane) size += gradients[lane].size();
    std::vector<double> numbers;
    numbers.reserve(size);
    numbers.assign(losses.begin(), losses.end());
    for (size_t lane = 0; lane < losses.size(); ++lane)
      numbers.insert(numbers.end(), gradients[lane].begin(), gradients[lane].end());
    // Python's own array: it may be kept for longer than this call.
    nanobind::gil_scoped_acquire gil;
    const nanobind::object array = given(numbers.data(), {numbers.size()});
    add_up(array);
    const double* from = nanobind::cast<VectorOut<double>>(array).data();
    std::copy_n(from, losses.size(), losses.begin());
    from += losses.size();
    for (size_t lane = 0; lane < losses.size(); from += gradients[lane++].size())
      std::copy_n(from, gradients[lane].size(), gradients[lane].begin());
  }
};

// Lets Python look for signals, but not after every short step.
class Signals {
 public:
  void operator()() const {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  mutable std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};
