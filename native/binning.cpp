// Where values stand between the keypoints of a numeric feature; clearset.sets holds the same in numpy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bindings.h"
#include "checks.h"

namespace nb = nanobind;

namespace {

using Values = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
using Keypoints = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Row = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Values are placed a block at a time, so that the comparisons with a keypoint are made side by side.
constexpr size_t kBlock = 256;

template <class T>
void place_values(Values values, Keypoints keypoints, int32_t first_slot, Row<int32_t> slots, Row<T> fractions) {
  const size_t count = values.size(), n = keypoints.size();
  check_range("The number of keypoints", static_cast<int64_t>(n), 2, kMaxInt32);
  check_length("slots", slots.size(), count);
  check_length("fractions", fractions.size(), count);
  check_range("first_slot", first_slot, 0, kMaxInt32 - static_cast<int64_t>(n));
  const double* points = keypoints.data();
  check_rising("keypoints", points, n);
  const double low = points[0], high = points[n - 1];
  // Halved first: the difference of two finite numbers may overflow, that of their halves cannot.
  std::vector<double> halves(n), widths(n);
  for (size_t i = 0; i < n; ++i) halves[i] = points[i] / 2;
  for (size_t i = 0; i + 1 < n; ++i) widths[i] = halves[i + 1] - halves[i];
  const int64_t stride = values.stride(0);
  const int32_t missing = static_cast<int32_t>(n);
  nb::gil_scoped_release release;
  alignas(64) double clamped[kBlock];
  alignas(64) int64_t segments[kBlock];
  for (size_t start = 0; start < count; start += kBlock) {
    const size_t size = std::min(kBlock, count - start);
    for (size_t i = 0; i < size; ++i) {
      const double value = values.data()[static_cast<int64_t>(start + i) * stride];
      clamped[i] = value < low ? low : value > high ? high : value;
    }
    std::fill_n(segments, size, 0);
    for (size_t j = 1; j + 1 < n; ++j)
      for (size_t i = 0; i < size; ++i) segments[i] += clamped[i] >= points[j];
    for (size_t i = 0; i < size; ++i) {
      const int64_t segment = segments[i];
      const T fraction = static_cast<T>((clamped[i] / 2 - halves[segment]) / widths[segment]);
      // One position has one name: a fraction that rounds to 1 is the next keypoint.
      const bool full = fraction == T(1), absent = clamped[i] != clamped[i];
      slots.data()[start + i] = first_slot + (absent ? missing : static_cast<int32_t>(segment) + full);
      fractions.data()[start + i] = full || absent ? T(0) : fraction;
    }
  }
}

}  // namespace

void bind_binning(nb::module_& module) {
  const auto bind = [&](auto function) {
    module.def("place_values", function, nb::arg("values").noconvert(), nb::arg("keypoints").noconvert(),
               nb::arg("first_slot"), nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(),
               "Write slots and fractions of values; not-a-number stands in the slot after the keypoints.");
  };
  bind(&place_values<float>);
  bind(&place_values<double>);
}
