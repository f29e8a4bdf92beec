// phi, then the mean over each set: the functions that clearset.kernels calls. Here a batch is cut into slices for the
// threads; what happens to a slice is in phi_lanes.cpp.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "checks.h"
#include "dispatch.h"
#include "phi_tables.h"
#include "slices.h"

namespace nb = nanobind;

namespace {

// Slices of whole sets. How many there are does not depend on the number of threads, so neither do the sums: the result
// has the same bits on one thread and on many. A slice has at least as many tokens as there are parameters, so that
// clearing and adding its gradient costs less than making it.
template <class T>
std::vector<SliceOfSets> cut_into_slices(const Phi<T>& phi, int64_t n_sets) {
  const int64_t n_parameters = phi.n_outputs * (phi.n_vertices + phi.n_slots);
  const int64_t count = std::clamp<int64_t>(phi.n_tokens / std::max<int64_t>(2048, n_parameters), 1, 16);
  std::vector<SliceOfSets> slices;
  int64_t first = 0;
  for (int64_t i = 1; i <= count; ++i) {
    const int64_t* cut = std::lower_bound(phi.offsets, phi.offsets + n_sets, phi.n_tokens * i / count);
    const int64_t last = i == count ? n_sets : cut - phi.offsets;
    if (first < last) slices.push_back({first, last});
    first = std::max(first, last);
  }
  return slices;
}

// Where Python looks which of the two it is.
constexpr const char* kBadContents =
    "The offsets of the sets do not rise from 0 to the number of tokens, or a slot lies outside the calibration.";

bool every_set_has_tokens(const int64_t* offsets, int64_t n_sets, int64_t n_tokens) {
  bool fits = offsets[0] == 0 && offsets[n_sets] == n_tokens;
  for (int64_t set = 0; set < n_sets; ++set) fits &= offsets[set] < offsets[set + 1];
  return fits;
}

// One call: the arrays as the slices read them, the slices, and the memory that they work in.
template <class T>
struct Call {
  Phi<T> phi;
  std::vector<TableEntry<T>> table;
  std::vector<SliceOfSets> slices;
  std::vector<AlignedMemory> scratch;

  Call(const PhiLayout& layout, int threads, const Matrix<int32_t>& slots, const Matrix<T>& fractions, const Ints& offsets,
       const Matrix<T>& calibration, const Matrix<T>& vertices) {
    const int64_t n_tokens = length(slots.shape(1)), n_sets = length(offsets.size()) - 1;
    const int64_t n_outputs = length(calibration.shape(0)), n_slots = length(calibration.shape(1));
    check_range("threads", threads, 1, kMaxInt32);
    check_range("The number of outputs", n_outputs, 0, kMaxInt32);
    check_range("The number of slots", n_slots, 1, kMaxInt32);
    check_range("The number of sets", n_sets, 0, n_tokens);
    check_array("slots", slots, {layout.n_features(), n_tokens});
    check_array("fractions", fractions, {layout.n_features(), n_tokens});
    check_array("calibration", calibration, {n_outputs, n_slots});
    check_array("vertices", vertices, {n_outputs, layout.n_vertices()});
    check_aligned("offsets", offsets);
    layout.describe(phi);
    phi.n_tokens = n_tokens;
    phi.n_outputs = static_cast<int32_t>(n_outputs);
    phi.n_slots = static_cast<int32_t>(n_slots);
    phi.slots = slots.data();
    phi.fractions = fractions.data();
    phi.offsets = offsets.data();
    phi.vertices = vertices.data();
    if (!every_set_has_tokens(phi.offsets, n_sets, n_tokens)) refuse(kBadContents);
    fill_table(calibration.data(), n_outputs, n_slots, table);
    phi.table = table.data();
    slices = cut_into_slices(phi, n_sets);
    const int n_workers = std::min(threads, static_cast<int>(slices.size()));
    for (int worker = 0; worker < n_workers; ++worker) scratch.push_back(allocate(phi_kernel<T>().scratch_bytes(phi)));
  }

  int n_slices() const { return static_cast<int>(slices.size()); }
  int n_workers() const { return static_cast<int>(scratch.size()); }
};

template <class T>
void phi_forward(const PhiLayout& layout, int threads, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets,
                 Matrix<T> calibration, Matrix<T> vertices, MatrixOut<T> means) {
  nb::gil_scoped_release release;
  const Call<T> call(layout, threads, slots, fractions, offsets, calibration, vertices);
  check_array("means", means, {length(offsets.size()) - 1, call.phi.n_outputs});
  T* const to = means.data();
  if (!run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
        return phi_kernel<T>().forward(call.phi, call.slices[slice], to, call.scratch[worker].get());
      }))
    refuse(kBadContents);
}

template <class T>
void phi_backward(const PhiLayout& layout, int threads, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets,
                  Matrix<T> calibration, Matrix<T> vertices, Matrix<T> grad_means, MatrixOut<T> grad_calibration,
                  MatrixOut<T> grad_vertices, std::optional<MatrixOut<T>> grad_fractions) {
  nb::gil_scoped_release release;
  const Call<T> call(layout, threads, slots, fractions, offsets, calibration, vertices);
  const int64_t n_outputs = call.phi.n_outputs, n_slots = call.phi.n_slots;
  check_array("grad_means", grad_means, {length(offsets.size()) - 1, n_outputs});
  check_array("grad_calibration", grad_calibration, {n_outputs, n_slots});
  check_array("grad_vertices", grad_vertices, {n_outputs, layout.n_vertices()});
  // By the fractions only where they are wanted.
  if (grad_fractions) check_array("grad_fractions", *grad_fractions, {layout.n_features(), call.phi.n_tokens});
  T* const by_fractions = grad_fractions ? grad_fractions->data() : nullptr;
  if (by_fractions) std::fill_n(by_fractions, grad_fractions->size(), T(0));
  const int64_t rows = n_outputs, all_vertices = rows * call.phi.n_vertices;
  const int64_t size = 2 * rows * n_slots + all_vertices;
  std::vector<AlignedMemory> partial;
  for (int i = 0; i < std::max(1, call.n_slices()); ++i) {
    partial.push_back(allocate(size * static_cast<int64_t>(sizeof(double))));
    std::fill_n(reinterpret_cast<double*>(partial.back().get()), size, 0.0);
  }
  const auto values = [&](int slice) { return reinterpret_cast<double*>(partial[slice].get()); };
  if (!run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
        return phi_kernel<T>().backward(call.phi, call.slices[slice], grad_means.data(),
                                        {values(slice), values(slice) + 2 * rows * n_slots}, by_fractions,
                                        call.scratch[worker].get());
      }))
    refuse(kBadContents);

  double* total = values(0);
  for (int slice = 1; slice < call.n_slices(); ++slice)
    for (int64_t i = 0; i < size; ++i) total[i] += values(slice)[i];
  slot_gradients(total, rows, n_slots, grad_calibration.data());
  std::transform(total + 2 * rows * n_slots, total + size, grad_vertices.data(),
                 [](double value) { return static_cast<T>(value); });
}

template <class T>
void bind_precision(nb::module_& module, const std::string& precision) {
  module.def(("phi_forward_" + precision).c_str(), &phi_forward<T>, nb::arg("layout"), nb::arg("threads"),
             nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("calibration").noconvert(), nb::arg("vertices").noconvert(), nb::arg("means").noconvert());
  module.def(("phi_backward_" + precision).c_str(), &phi_backward<T>, nb::arg("layout"), nb::arg("threads"),
             nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("calibration").noconvert(), nb::arg("vertices").noconvert(), nb::arg("grad_means").noconvert(),
             nb::arg("grad_calibration").noconvert(), nb::arg("grad_vertices").noconvert(),
             nb::arg("grad_fractions").noconvert().none());
}

}  // namespace

void bind_phi(nb::module_& module) {
  nb::class_<PhiLayout>(module, "PhiLayout")
      .def(nb::init<std::vector<int32_t>, std::vector<std::vector<int32_t>>>());
  bind_precision<float>(module, "float32");
  bind_precision<double>(module, "float64");
}
