// rho for a batch of means: calibrators, one lattice of size 2 in every input and the output calibrator, for each of the
// set functions that stand side by side.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "checks.h"
#include "rho_reader.h"

namespace nb = nanobind;

namespace {

template <class T>
Rho<T> describe(const Matrix<T>& means, const Matrix<T>& calibrators, const Matrix<T>& vertices, const Matrix<T>& output) {
  const int64_t n_sets = length(means.shape(0)), n_means = length(means.shape(1));
  const int64_t n_functions = length(output.shape(0)), n_keypoints = length(output.shape(1));
  check_range("The number of functions", n_functions, 1, kMaxInt32);
  const int64_t width = n_means / n_functions;
  check_range("The number of means of a function", width, 1, 30);
  check_range("The number of keypoints", n_keypoints, 2, kMaxInt32);
  check_array("means", means, {n_sets, n_functions * width});
  check_array("calibrators", calibrators, {n_functions * width, n_keypoints});
  check_array("vertices", vertices, {n_functions, int64_t{1} << width});
  check_array("output", output, {n_functions, n_keypoints});
  return {n_sets,       n_functions,        width,           n_keypoints,
          means.data(), calibrators.data(), vertices.data(), output.data()};
}

template <class T>
void rho_forward(Matrix<T> means, Matrix<T> calibrators, Matrix<T> vertices, Matrix<T> output, MatrixOut<T> outputs) {
  nb::gil_scoped_release release;
  const Rho<T> rho = describe(means, calibrators, vertices, output);
  check_array("outputs", outputs, {rho.n_sets, rho.n_functions});
  RhoReader<T> reader(rho);
  T* to = outputs.data();
  for (int64_t set = 0; set < rho.n_sets; ++set)
    for (int64_t c = 0; c < rho.n_functions; ++c) *to++ = reader.read(set, c).value;
}

// The gradients of the tables are summed in double, set after set.
template <class T>
void rho_backward(Matrix<T> means, Matrix<T> calibrators, Matrix<T> vertices, Matrix<T> output, Matrix<T> grad_outputs,
                  MatrixOut<T> grad_means, MatrixOut<T> grad_calibrators, MatrixOut<T> grad_vertices,
                  MatrixOut<T> grad_output) {
  nb::gil_scoped_release release;
  const Rho<T> rho = describe(means, calibrators, vertices, output);
  const int64_t n_functions = rho.n_functions, width = rho.width, n_keypoints = rho.n_keypoints;
  const int64_t row = width * n_keypoints, corners = rho.n_corners();
  check_array("grad_outputs", grad_outputs, {rho.n_sets, n_functions});
  check_array("grad_means", grad_means, {rho.n_sets, n_functions * width});
  check_array("grad_calibrators", grad_calibrators, {n_functions * width, n_keypoints});
  check_array("grad_vertices", grad_vertices, {n_functions, corners});
  check_array("grad_output", grad_output, {n_functions, n_keypoints});
  RhoReader<T> reader(rho);
  std::vector<double> sums(static_cast<size_t>(n_functions * (row + corners + n_keypoints)));
  double* calibrator_sums = sums.data();
  double* vertex_sums = calibrator_sums + n_functions * row;
  double* output_sums = vertex_sums + n_functions * corners;
  const T* upstream = grad_outputs.data();
  T* mean_gradient = grad_means.data();
  for (int64_t set = 0; set < rho.n_sets; ++set)
    for (int64_t c = 0; c < n_functions; ++c, ++upstream, mean_gradient += width)
      reader.add_gradients(reader.read(set, c), *upstream, calibrator_sums + c * row, vertex_sums + c * corners,
                           output_sums + c * n_keypoints, mean_gradient);

  const auto round = [](const double* from, const double* to, const MatrixOut<T>& gradient) {
    std::transform(from, to, gradient.data(), [](double sum) { return static_cast<T>(sum); });
  };
  round(calibrator_sums, vertex_sums, grad_calibrators);
  round(vertex_sums, output_sums, grad_vertices);
  round(output_sums, sums.data() + sums.size(), grad_output);
}

template <class T>
void bind_precision(nb::module_& module, const std::string& precision) {
  module.def(("rho_forward_" + precision).c_str(), &rho_forward<T>, nb::arg("means").noconvert(),
             nb::arg("calibrators").noconvert(), nb::arg("vertices").noconvert(), nb::arg("output").noconvert(),
             nb::arg("outputs").noconvert());
  module.def(("rho_backward_" + precision).c_str(), &rho_backward<T>, nb::arg("means").noconvert(),
             nb::arg("calibrators").noconvert(), nb::arg("vertices").noconvert(), nb::arg("output").noconvert(),
             nb::arg("grad_outputs").noconvert(), nb::arg("grad_means").noconvert(),
             nb::arg("grad_calibrators").noconvert(), nb::arg("grad_vertices").noconvert(),
             nb::arg("grad_output").noconvert());
}

}  // namespace

void bind_rho(nb::module_& module) {
  bind_precision<float>(module, "float32");
  bind_precision<double>(module, "float64");
}
