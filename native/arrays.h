// Arrays of numpy's that Python hands over, and those that it gets back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "checks.h"

template <class T, int dimensions>
using Array = nanobind::ndarray<T, nanobind::ndim<dimensions>, nanobind::c_contig, nanobind::device::cpu>;

// What is read.
template <class T>
using Vector = Array<const T, 1>;
template <class T>
using Matrix = Array<const T, 2>;
using Ints = Vector<int64_t>;
using Strided = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::device::cpu>;  // a column of a table, say

// What is written.
template <class T>
using VectorOut = Array<T, 1>;
template <class T>
using MatrixOut = Array<T, 2>;
template <class T>
using CubeOut = Array<T, 3>;

template <class T, class From>
std::vector<T> copied(const From& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

inline int64_t length(size_t size) { return static_cast<int64_t>(size); }

// numpy has arrays whose numbers stand at odd addresses.
template <class From>
void check_aligned(const char* name, const From& array) {
  if (reinterpret_cast<uintptr_t>(array.data()) % alignof(typename From::Scalar) != 0)
    refuse(std::string(name) + " is not aligned; hand over a copy.");
}

template <class From>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_shape(const char* name, const From& array,
                                                         std::initializer_list<int64_t> shape) {
  std::string received, wanted;
  for (size_t i = 0; i < array.ndim(); ++i) received += (i ? ", " : "") + std::to_string(array.shape(i));
  for (const int64_t extent : shape) wanted += (wanted.empty() ? "" : ", ") + std::to_string(extent);
  refuse(std::string(name) + " has the shape (" + received + "); it must be (" + wanted + ").");
}

// An array of this shape, that can be read.
template <class From>
void check_array(const char* name, const From& array, std::initializer_list<int64_t> shape) {
  const int64_t* extent = shape.begin();
  for (size_t i = 0; i < shape.size(); ++i)
    if (length(array.shape(i)) != extent[i]) refuse_shape(name, array, shape);
  check_aligned(name, array);
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
