// Arrays that Python hands over to training, and those that it gets back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "checks.h"

template <class T>
using Vector = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Matrix = nanobind::ndarray<const T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Ints = Vector<int64_t>;

template <class T, class Array>
std::vector<T> copied(const Array& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

inline int64_t length(size_t size) { return static_cast<int64_t>(size); }

// numpy has arrays whose numbers stand at odd addresses.
template <class Array>
void check_aligned(const char* name, const Array& array) {
  if (reinterpret_cast<uintptr_t>(array.data()) % alignof(typename Array::Scalar) != 0)
    refuse(std::string(name) + " is not aligned; hand over a copy.");
}

inline void check_all(const char* name, const int64_t* numbers, int64_t count, int64_t limit) {
  for (int64_t i = 0; i < count; ++i)
    if (numbers[i] < 0 || numbers[i] >= limit) refuse_range(name, numbers[i], 0, limit - 1);
}

// A copy, in double.
template <class U>
nanobind::object given(const U* values, std::initializer_list<size_t> shape) {
  size_t size = 1;
  for (const size_t extent : shape) size *= extent;
  double* data = new double[std::max<size_t>(size, 1)];
  nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  std::transform(values, values + size, data, [](U value) { return static_cast<double>(value); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, double>(data, shape, owner));
}
