// Losses as Python asks for them, outside of training.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "arrays.h"
#include "losses.h"

namespace nb = nanobind;

namespace {

// Losses of every set and their derivatives by its outputs.
nb::object losses_of(const std::string& name, double quantile, Matrix<double> outputs, Vector<double> targets) {
  const size_t sets = outputs.shape(0), n = outputs.shape(1);
  check_length("targets", targets.size(), sets);
  check_aligned("outputs", outputs);
  check_aligned("targets", targets);
  check_range("The number of outputs", length(n), 1, kMaxInt32);
  const Loss loss(name, quantile);
  std::vector<double> values(sets), slopes(sets * n);
  for (size_t i = 0; i < sets; ++i) {
    const double target = targets.data()[i];
    if (n > 1 && !is_class(target, length(n))) refuse("A label is not the number of a class.");
    values[i] = loss_of_set(loss, outputs.data() + i * n, length(n), target, 1.0, slopes.data() + i * n);
  }
  return nb::make_tuple(given(values.data(), {sets}), given(slopes.data(), {sets, n}));
}

}  // namespace

void bind_losses(nb::module_& module) {
  module.def("losses", &losses_of, nb::arg("name"), nb::arg("quantile"), nb::arg("outputs").noconvert(),
             nb::arg("targets").noconvert());
}
