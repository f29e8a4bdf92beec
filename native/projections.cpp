// Euclidean projections onto chains and onto half-spaces in a box; clearset.functions.projections holds the same in numpy.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "checks.h"
#include "half_spaces.h"

namespace nb = nanobind;

namespace {

void check_bounds(double lower, double upper) {
  if (!(lower <= upper))
    refuse("The bounds are " + std::to_string(lower) + " and " + std::to_string(upper) + "; the lower one comes first.");
}

// ---------------------------------------------------------------------------------------------------- chains

void project_chains(MatrixOut<double> values, Ints starts, Ints stops, double lower, double upper) {
  const size_t members = values.shape(0), size = values.shape(1), chains = starts.shape(0);
  check_length("stops", stops.shape(0), chains);
  check_aligned("values", values);
  check_aligned("starts", starts);
  check_aligned("stops", stops);
  for (size_t chain = 0; chain < chains; ++chain) {
    check_range("The stop of a chain", stops.data()[chain], 0, static_cast<int64_t>(size));
    check_range("The start of a chain", starts.data()[chain], 0, stops.data()[chain]);
  }
  check_bounds(lower, upper);
  std::vector<double> sums(size), means(size);
  std::vector<size_t> counts(size);
  for (size_t member = 0; member < members; ++member) {
    double* row = values.data() + member * size;
    for (size_t chain = 0; chain < chains; ++chain) {
      const int64_t start = starts.data()[chain], stop = stops.data()[chain];
      pool_adjacent_violators(row + start, static_cast<size_t>(stop - start), sums.data(), means.data(), counts.data());
    }
    for (size_t i = 0; i < size; ++i) row[i] = std::min(std::max(row[i], lower), upper);
  }
}

// ----------------------------------------------------------------------------------------------- half-spaces

// Where numbers are not finite no sweep is the last, and Python cannot interrupt them.
constexpr int64_t kMostSweeps = 1'000'000;

template <int width>
void project_members(MatrixOut<double>& values, MatrixOut<double>& duals, const Matrix<int32_t>& indices, const Matrix<double>& coefficients, double lower,
                     double upper, double tolerance, int64_t max_sweeps) {
  const size_t size = values.shape(1), rows = indices.shape(0);
  HalfSpaceSolver<width> solver(indices.data(), coefficients.data(), rows, size, lower, upper);
  for (size_t member = 0; member < values.shape(0); ++member) {
    solver.solve(values.data() + member * size, duals.data() + member * rows, tolerance, max_sweeps);
  }
}

void project_half_spaces(MatrixOut<double> values, MatrixOut<double> duals, Matrix<int32_t> indices,
                         Matrix<double> coefficients, double lower, double upper, double tolerance, int64_t max_sweeps) {
  const size_t rows = indices.shape(0);
  if (duals.shape(0) != values.shape(0) || duals.shape(1) != rows)
    refuse("duals have the shape (" + std::to_string(duals.shape(0)) + ", " + std::to_string(duals.shape(1)) +
           "); it must be (members, rows), (" + std::to_string(values.shape(0)) + ", " + std::to_string(rows) + ").");
  if (coefficients.shape(0) != rows || coefficients.shape(1) != indices.shape(1))
    refuse("indices and coefficients have different shapes; there is one coefficient for each index.");
  check_aligned("values", values);
  check_aligned("duals", duals);
  check_aligned("indices", indices);
  check_aligned("coefficients", coefficients);
  for (size_t i = 0; i < indices.size(); ++i)
    check_range("An index of a half-space", indices.data()[i], 0, static_cast<int64_t>(values.shape(1)) - 1);
  check_bounds(lower, upper);
  if (!(tolerance >= 0)) refuse("tolerance is " + std::to_string(tolerance) + "; it must not be negative.");
  check_range("max_sweeps", max_sweeps, 0, kMostSweeps);
  switch (indices.shape(1)) {
    case 2:
      return project_members<2>(values, duals, indices, coefficients, lower, upper, tolerance, max_sweeps);
    case 3:
      return project_members<3>(values, duals, indices, coefficients, lower, upper, tolerance, max_sweeps);
    case 4:
      return project_members<4>(values, duals, indices, coefficients, lower, upper, tolerance, max_sweeps);
    default:
      throw nb::value_error("Rows of half-spaces must have 2, 3 or 4 entries.");
  }
}

}  // namespace

void bind_projections(nb::module_& module) {
  module.def("project_chains", &project_chains, nb::arg("values").noconvert(), nb::arg("starts").noconvert(),
             nb::arg("stops").noconvert(), nb::arg("lower"), nb::arg("upper"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Project chains of every row of values in place.");
  module.def("project_half_spaces", &project_half_spaces, nb::arg("values").noconvert(), nb::arg("duals").noconvert(),
             nb::arg("indices").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("lower"),
             nb::arg("upper"), nb::arg("tolerance"), nb::arg("max_sweeps"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Project every row of values onto normalised half-spaces and a box in place.");
}
