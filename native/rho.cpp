// rho for a batch of means: calibrators, one lattice of size 2 in every input and the output calibrator, for each of the
// set functions that stand side by side.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bindings.h"
#include "checks.h"
#include "rho_reader.h"

namespace nb = nanobind;

namespace {

template <class T>
Rho<T> describe(int64_t n_sets, int64_t n_functions, int64_t width, int64_t n_keypoints, Address means,
                Address calibrators, Address vertices, Address output) {
  check_range("The number of sets", n_sets, 0, std::numeric_limits<int64_t>::max());
  check_range("The number of functions", n_functions, 1, kMaxInt32);
  check_range("The number of means of a function", width, 1, 30);
  check_range("The number of keypoints", n_keypoints, 2, kMaxInt32);
  return {n_sets,
          n_functions,
          width,
          n_keypoints,
          array_at<const T>("means", means, {n_sets, n_functions, width}),
          array_at<const T>("calibrators", calibrators, {n_functions, width, n_keypoints}),
          array_at<const T>("vertices", vertices, {n_functions, int64_t{1} << width}),
          array_at<const T>("output", output, {n_functions, n_keypoints})};
}

template <class T>
void rho_forward(int64_t n_sets, int64_t n_functions, int64_t width, int64_t n_keypoints, Address means,
                 Address calibrators, Address vertices, Address output, Address outputs) {
  const Rho<T> rho = describe<T>(n_sets, n_functions, width, n_keypoints, means, calibrators, vertices, output);
  RhoReader<T> reader(rho);
  T* to = array_at<T>("outputs", outputs, {n_sets, n_functions});
  for (int64_t set = 0; set < n_sets; ++set)
    for (int64_t c = 0; c < n_functions; ++c) *to++ = reader.read(set, c).value;
}

// The gradients of the tables are summed in double, set after set.
template <class T>
void rho_backward(int64_t n_sets, int64_t n_functions, int64_t width, int64_t n_keypoints, Address means,
                  Address calibrators, Address vertices, Address output, Address grad_outputs, Address grad_means,
                  Address grad_calibrators, Address grad_vertices, Address grad_output) {
  const Rho<T> rho = describe<T>(n_sets, n_functions, width, n_keypoints, means, calibrators, vertices, output);
  RhoReader<T> reader(rho);
  const int64_t row = width * n_keypoints, corners = rho.n_corners();
  std::vector<double> sums(static_cast<size_t>(n_functions * (row + corners + n_keypoints)));
  double* calibrator_sums = sums.data();
  double* vertex_sums = calibrator_sums + n_functions * row;
  double* output_sums = vertex_sums + n_functions * corners;
  const T* upstream = array_at<const T>("grad_outputs", grad_outputs, {n_sets, n_functions});
  T* mean_gradient = array_at<T>("grad_means", grad_means, {n_sets, n_functions, width});
  T* by_calibrators = array_at<T>("grad_calibrators", grad_calibrators, {n_functions, width, n_keypoints});
  T* by_vertices = array_at<T>("grad_vertices", grad_vertices, {n_functions, corners});
  T* by_output = array_at<T>("grad_output", grad_output, {n_functions, n_keypoints});
  for (int64_t set = 0; set < n_sets; ++set)
    for (int64_t c = 0; c < n_functions; ++c, ++upstream, mean_gradient += width)
      reader.add_gradients(reader.read(set, c), *upstream, calibrator_sums + c * row, vertex_sums + c * corners,
                           output_sums + c * n_keypoints, mean_gradient);

  const auto round = [](const double* from, const double* to, T* gradient) {
    std::transform(from, to, gradient, [](double sum) { return static_cast<T>(sum); });
  };
  round(calibrator_sums, vertex_sums, by_calibrators);
  round(vertex_sums, output_sums, by_vertices);
  round(output_sums, sums.data() + sums.size(), by_output);
}

}  // namespace

void bind_rho(nb::module_& module) {
  module.def("rho_forward_float32", &rho_forward<float>, nb::call_guard<nb::gil_scoped_release>());
  module.def("rho_forward_float64", &rho_forward<double>, nb::call_guard<nb::gil_scoped_release>());
  module.def("rho_backward_float32", &rho_backward<float>, nb::call_guard<nb::gil_scoped_release>());
  module.def("rho_backward_float64", &rho_backward<double>, nb::call_guard<nb::gil_scoped_release>());
}
