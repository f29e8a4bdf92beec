// phi with a value per class, then the mean over each chosen set: the functions that clearset.kernels calls. Here the chosen
// sets are cut into slices for the threads; what happens to a slice is in crossed_lanes.cpp.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "checks.h"
#include "crossed_tables.h"
#include "dispatch.h"
#include "slices.h"

namespace nb = nanobind;

namespace {

constexpr const char* kBadContents =
    "A chosen set does not exist or has no token, or a slot, a row or a correction lies outside its table.";

// What Python hands over. There need not be a table of corrections.
template <class T>
struct Inputs {
  Matrix<int32_t> slots;
  Matrix<T> fractions;
  Ints offsets;
  Vector<int32_t> rows, refined;
  Ints sets;
  Matrix<T> values;
  std::optional<Matrix<T>> corrections;
  Vector<T> keypoints;
  Matrix<T> calibration, vertices;

  int64_t n_tokens() const { return length(rows.size()); }
  int64_t n_chosen() const { return length(sets.size()); }
  int64_t n_plain() const { return length(slots.shape(0)); }
  int64_t n_classes() const { return length(values.shape(1)); }
  int64_t n_corrections() const { return corrections ? length(corrections->shape(0)) : 0; }
  int64_t n_outputs() const { return length(calibration.shape(0)); }
  int64_t n_slots() const { return length(calibration.shape(1)); }
  int64_t n_vertices() const { return int64_t{2} << n_plain(); }

  void check() const {
    check_range("The number of offsets", length(offsets.size()), 1, std::numeric_limits<int64_t>::max());
    check_range("The number of rows", length(values.shape(0)), 0, kMaxInt32);
    check_range("The number of corrections", n_corrections(), 0, kMaxInt32);
    check_range("The number of classes", n_classes(), 1, kMaxInt32);
    check_range("The number of outputs", n_outputs(), 0, 1 << 20);  // times features and a tile's tokens, below 2^31
    check_range("The number of slots", n_slots(), 1, kMaxInt32);
    check_range("The number of keypoints", length(keypoints.size()), 2, n_slots() - 1);
    check_range("The number of plain features", n_plain(), 0, kMaxLatticeFeatures - 1);
    check_array("slots", slots, {n_plain(), n_tokens()});
    check_array("fractions", fractions, {n_plain(), n_tokens()});
    check_array("refined", refined, {n_tokens()});
    if (corrections) check_array("corrections", *corrections, {n_corrections(), n_classes()});
    check_array("vertices", vertices, {n_outputs(), n_vertices()});
    check_aligned("offsets", offsets);
    check_aligned("rows", rows);
    check_aligned("sets", sets);
    check_aligned("values", values);
    check_aligned("keypoints", keypoints);
    check_aligned("calibration", calibration);
    if (!sets_exist()) refuse(kBadContents);
  }

  bool sets_exist() const {
    const int64_t* const begins = offsets.data();
    for (int64_t i = 0; i < n_chosen(); ++i) {
      const int64_t set = sets.data()[i];
      if (set < 0 || set >= length(offsets.size()) - 1) return false;
      if (begins[set] < 0 || begins[set] >= begins[set + 1] || begins[set + 1] > n_tokens()) return false;
    }
    return true;
  }
};

// One call: the arrays as the slices read them, the slices, and the memory that they work in.
template <class T>
struct Call {
  Crossed<T> crossed{};
  CrossedTables<T> tables;
  std::vector<SliceOfSets> slices;
  std::vector<AlignedMemory> scratch;

  Call(int threads, const Inputs<T>& inputs) {
    check_range("threads", threads, 1, kMaxInt32);
    inputs.check();
    crossed.n_tokens = inputs.n_tokens();
    crossed.n_plain = static_cast<int32_t>(inputs.n_plain());
    crossed.n_classes = static_cast<int32_t>(inputs.n_classes());
    crossed.n_outputs = static_cast<int32_t>(inputs.n_outputs());
    crossed.n_slots = static_cast<int32_t>(inputs.n_slots());
    crossed.n_keypoints = static_cast<int32_t>(inputs.keypoints.size());
    crossed.n_rows = length(inputs.values.shape(0));
    crossed.refines = inputs.corrections.has_value();
    crossed.n_corrections = inputs.n_corrections();
    crossed.n_corners = int64_t{1} << inputs.n_plain();
    crossed.slots = inputs.slots.data();
    crossed.fractions = inputs.fractions.data();
    crossed.offsets = inputs.offsets.data();
    crossed.rows = inputs.rows.data();
    crossed.refined = inputs.refined.data();
    crossed.sets = inputs.sets.data();
    crossed.values = inputs.values.data();
    crossed.corrections = inputs.corrections ? inputs.corrections->data() : nullptr;
    crossed.keypoints = inputs.keypoints.data();
    tables.place_keypoints(crossed);
    tables.read(crossed, inputs.calibration.data(), inputs.vertices.data());
    cut_into_slices(inputs.n_chosen());
    const int n_workers = std::min(threads, n_slices());
    for (int worker = 0; worker < n_workers; ++worker)
      scratch.push_back(allocate(crossed_kernel<T>().scratch_bytes(crossed)));
  }

  int64_t size_of(int64_t position) const {
    const int64_t set = crossed.sets[position];
    return crossed.offsets[set + 1] - crossed.offsets[set];
  }

  // Slices of whole sets. How many there are does not depend on the number of threads, so neither do the sums. A slice has
  // more work than clearing and adding its gradient; gradients of corrections may be large, so there are few of them.
  void cut_into_slices(int64_t n_chosen) {
    int64_t tokens = 0, done = 0;
    for (int64_t i = 0; i < n_chosen; ++i) tokens += size_of(i);
    const int64_t parameters = crossed.n_outputs * (2 * crossed.n_corners + crossed.n_slots) +
                               crossed.n_corrections * crossed.n_classes;
    const int64_t most = crossed.refines ? 4 : 16;
    const int64_t count =
        std::clamp<int64_t>(tokens * crossed.n_classes / std::max<int64_t>(4096, parameters), 1, most);
    int64_t first = 0;
    for (int64_t i = 0; i < n_chosen; ++i) {
      done += size_of(i);
      if (i + 1 < n_chosen && done < tokens * static_cast<int64_t>(slices.size() + 1) / count) continue;
      slices.push_back({first, i + 1});
      first = i + 1;
    }
  }
  int n_slices() const { return static_cast<int>(slices.size()); }
  int n_workers() const { return static_cast<int>(scratch.size()); }
};

template <class T>
void crossed_forward(int threads, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets, Vector<int32_t> rows,
                     Vector<int32_t> refined, Ints sets, Matrix<T> values, std::optional<Matrix<T>> corrections,
                     Vector<T> keypoints, Matrix<T> calibration, Matrix<T> vertices, CubeOut<T> means) {
  nb::gil_scoped_release release;
  const Inputs<T> inputs{slots, fractions, offsets, rows, refined, sets, values, corrections, keypoints, calibration, vertices};
  const Call<T> call(threads, inputs);
  check_array("means", means, {inputs.n_chosen(), inputs.n_classes(), inputs.n_outputs()});
  T* const to = means.data();
  if (!run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
        return crossed_kernel<T>().forward(call.crossed, call.slices[slice], to, call.scratch[worker].get());
      }))
    refuse(kBadContents);
}

template <class T>
void crossed_backward(int threads, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets, Vector<int32_t> rows,
                      Vector<int32_t> refined, Ints sets, Matrix<T> values, std::optional<Matrix<T>> corrections,
                      Vector<T> keypoints, Matrix<T> calibration, Matrix<T> vertices, Array<const T, 3> grad_means,
                      MatrixOut<T> grad_calibration, MatrixOut<T> grad_vertices, MatrixOut<T> grad_corrections) {
  nb::gil_scoped_release release;
  const Inputs<T> inputs{slots, fractions, offsets, rows, refined, sets, values, corrections, keypoints, calibration, vertices};
  const Call<T> call(threads, inputs);
  check_array("grad_means", grad_means, {inputs.n_chosen(), inputs.n_classes(), inputs.n_outputs()});
  check_array("grad_calibration", grad_calibration, {inputs.n_outputs(), inputs.n_slots()});
  check_array("grad_vertices", grad_vertices, {inputs.n_outputs(), inputs.n_vertices()});
  check_array("grad_corrections", grad_corrections, {inputs.n_corrections(), inputs.n_classes()});
  const int64_t n_outputs = inputs.n_outputs(), n_slots = inputs.n_slots(), corners = call.crossed.n_corners;
  const int64_t slot_sums = 2 * n_outputs * n_slots, corner_sums = n_outputs * corners;
  const int64_t size = slot_sums + 2 * corner_sums + inputs.n_corrections() * inputs.n_classes();
  std::vector<AlignedMemory> partial;
  for (int i = 0; i < std::max(1, call.n_slices()); ++i)
    partial.push_back(allocate(size * static_cast<int64_t>(sizeof(double))));
  const auto sums = [&](int slice) { return reinterpret_cast<double*>(partial[slice].get()); };
  if (call.n_slices() == 0) std::fill_n(sums(0), size, 0.0);
  if (!run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
        std::fill_n(sums(slice), size, 0.0);
        double* low = sums(slice) + slot_sums;
        return crossed_kernel<T>().backward(call.crossed, call.slices[slice], grad_means.data(),
                                            {sums(slice), low, low + corner_sums, low + 2 * corner_sums},
                                            call.scratch[worker].get());
      }))
    refuse(kBadContents);

  double* total = sums(0);
  for (int slice = 1; slice < call.n_slices(); ++slice)
    for (int64_t i = 0; i < size; ++i) total[i] += sums(slice)[i];
  slot_gradients(total, n_outputs, n_slots, grad_calibration.data());
  const double* by_low = total + slot_sums;
  const double* by_rise = by_low + corner_sums;
  vertex_gradients(by_low, by_rise, n_outputs, corners, grad_vertices.data());
  std::transform(by_rise + corner_sums, by_low + (size - slot_sums), grad_corrections.data(),
                 [](double value) { return static_cast<T>(value); });
}

template <class T>
void bind_precision(nb::module_& module, const std::string& precision) {
  const auto bind = [&](const char* name, auto function, const auto&... to) {
    module.def((name + precision).c_str(), function, nb::arg("threads"), nb::arg("slots").noconvert(),
               nb::arg("fractions").noconvert(), nb::arg("offsets").noconvert(), nb::arg("rows").noconvert(),
               nb::arg("refined").noconvert(), nb::arg("sets").noconvert(), nb::arg("values").noconvert(),
               nb::arg("corrections").noconvert().none(), nb::arg("keypoints").noconvert(),
               nb::arg("calibration").noconvert(), nb::arg("vertices").noconvert(), nb::arg(to).noconvert()...);
  };
  bind("crossed_forward_", &crossed_forward<T>, "means");
  bind("crossed_backward_", &crossed_backward<T>, "grad_means", "grad_calibration", "grad_vertices", "grad_corrections");
}

}  // namespace

void bind_crossed(nb::module_& module) {
  bind_precision<float>(module, "float32");
  bind_precision<double>(module, "float64");
}
