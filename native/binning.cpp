// Where values stand between the keypoints of a numeric feature; clearset.sets holds the same in numpy.
#include <nanobind/nanobind.h>

#include <cstdint>

#include "arrays.h"
#include "bindings.h"
#include "checks.h"
#include "dispatch.h"
#include "keypoints.h"

namespace nb = nanobind;

namespace {

template <class T>
void place_values(Strided values, Vector<double> keypoints, int32_t first_slot, VectorOut<int32_t> slots, VectorOut<T> fractions) {
  check_length("slots", slots.size(), values.size());
  check_length("fractions", fractions.size(), values.size());
  check_aligned("values", values);
  check_aligned("keypoints", keypoints);
  check_aligned("slots", slots);
  check_aligned("fractions", fractions);
  const KeypointTable table(keypoints.data(), static_cast<int64_t>(keypoints.size()), first_slot);
  nb::gil_scoped_release release;
  phi_kernel<T>().place(values.data(), values.stride(0), static_cast<int64_t>(values.size()), table.seen(), slots.data(),
                        fractions.data());
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
