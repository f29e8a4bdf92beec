// phi with a value per class, then the mean over each chosen set: the functions that clearset.kernels calls. Here the chosen
// sets are cut into slices for the threads; what happens to a slice is in crossed_lanes.cpp.
#include <algorithm>
#include <vector>

#include "bindings.h"
#include "checks.h"
#include "crossed_tables.h"
#include "dispatch.h"
#include "slices.h"

namespace nb = nanobind;

namespace {

// corrections is -1 where there is no table of them.
struct Sizes {
  int64_t tokens, sets, chosen, rows, corrections, classes, outputs, slots, keypoints, plain;

  void check() const {
    constexpr int64_t any = std::numeric_limits<int64_t>::max() - 1;
    check_range("The number of tokens", tokens, 0, any);
    check_range("The number of sets", sets, 0, any);
    check_range("The number of chosen sets", chosen, 0, any);
    check_range("The number of rows", rows, 0, kMaxInt32);
    check_range("The number of corrections", corrections, -1, kMaxInt32);
    check_range("The number of classes", classes, 1, kMaxInt32);
    check_range("The number of outputs", outputs, 0, 1 << 20);  // times features and a tile's tokens, below 2^31
    check_range("The number of slots", slots, 1, kMaxInt32);
    check_range("The number of keypoints", keypoints, 2, slots - 1);
    check_range("The number of plain features", plain, 0, kMaxLatticeFeatures - 1);
  }
  bool refine() const { return corrections >= 0; }
  int64_t vertices() const { return int64_t{2} << plain; }
};

constexpr const char* kBadContents =
    "A chosen set does not exist or has no token, or a slot, a row or a correction lies outside its table.";

// In the order in which clearset.kernels hands them over.
struct Inputs {
  Address slots, fractions, offsets, rows, refined, sets, values, corrections, keypoints, calibration, vertices;
};

bool sets_exist(const Sizes& sizes, const int64_t* offsets, const int64_t* sets) {
  for (int64_t i = 0; i < sizes.chosen; ++i) {
    if (sets[i] < 0 || sets[i] >= sizes.sets) return false;
    const int64_t begin = offsets[sets[i]], end = offsets[sets[i] + 1];
    if (begin < 0 || begin >= end || end > sizes.tokens) return false;
  }
  return true;
}

// One call: the arrays as the slices read them, the slices, and the memory that they work in.
template <class T>
struct Call {
  Crossed<T> crossed{};
  CrossedTables<T> tables;
  std::vector<SliceOfSets> slices;
  std::vector<AlignedMemory> scratch;

  Call(int threads, const Sizes& sizes, const Inputs& inputs) {
    check_range("threads", threads, 1, kMaxInt32);
    crossed.n_tokens = sizes.tokens;
    crossed.n_plain = static_cast<int32_t>(sizes.plain);
    crossed.n_classes = static_cast<int32_t>(sizes.classes);
    crossed.n_outputs = static_cast<int32_t>(sizes.outputs);
    crossed.n_slots = static_cast<int32_t>(sizes.slots);
    crossed.n_keypoints = static_cast<int32_t>(sizes.keypoints);
    crossed.n_rows = sizes.rows;
    crossed.refines = sizes.refine();
    crossed.n_corrections = std::max<int64_t>(0, sizes.corrections);
    crossed.n_corners = int64_t{1} << sizes.plain;
    crossed.slots = array_at<const int32_t>("slots", inputs.slots, {sizes.plain, sizes.tokens});
    crossed.fractions = array_at<const T>("fractions", inputs.fractions, {sizes.plain, sizes.tokens});
    crossed.offsets = array_at<const int64_t>("offsets", inputs.offsets, {sizes.sets + 1});
    crossed.rows = array_at<const int32_t>("rows", inputs.rows, {sizes.tokens});
    crossed.refined = array_at<const int32_t>("refined", inputs.refined, {sizes.tokens});
    crossed.sets = array_at<const int64_t>("sets", inputs.sets, {sizes.chosen});
    crossed.values = array_at<const T>("values", inputs.values, {sizes.rows, sizes.classes});
    crossed.corrections = array_at<const T>("corrections", inputs.corrections, {crossed.n_corrections, sizes.classes});
    crossed.keypoints = array_at<const T>("keypoints", inputs.keypoints, {sizes.keypoints});
    if (!sets_exist(sizes, crossed.offsets, crossed.sets)) refuse(kBadContents);
    tables.place_keypoints(crossed);
    tables.read(crossed, array_at<const T>("calibration", inputs.calibration, {sizes.outputs, sizes.slots}),
                array_at<const T>("vertices", inputs.vertices, {sizes.outputs, sizes.vertices()}));
    cut_into_slices(sizes.chosen);
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
void crossed_forward(int threads, const Sizes& sizes, const Inputs& inputs, Address means) {
  const Call<T> call(threads, sizes, inputs);
  T* const to = array_at<T>("means", means, {sizes.chosen, sizes.classes, sizes.outputs});
  if (!run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
        return crossed_kernel<T>().forward(call.crossed, call.slices[slice], to, call.scratch[worker].get());
      }))
    refuse(kBadContents);
}

template <class T>
void crossed_backward(int threads, const Sizes& sizes, const Inputs& inputs, Address grad_means,
                      Address grad_calibration, Address grad_vertices, Address grad_corrections) {
  const Call<T> call(threads, sizes, inputs);
  const T* const upstream =
      array_at<const T>("grad_means", grad_means, {sizes.chosen, sizes.classes, sizes.outputs});
  T* const by_calibration = array_at<T>("grad_calibration", grad_calibration, {sizes.outputs, sizes.slots});
  T* const by_vertices = array_at<T>("grad_vertices", grad_vertices, {sizes.outputs, sizes.vertices()});
  T* const by_corrections =
      array_at<T>("grad_corrections", grad_corrections, {call.crossed.n_corrections, sizes.classes});
  const int64_t rows = sizes.outputs, n_slots = sizes.slots, corners = call.crossed.n_corners;
  const int64_t slot_sums = 2 * rows * n_slots, corner_sums = rows * corners;
  const int64_t size = slot_sums + 2 * corner_sums + call.crossed.n_corrections * sizes.classes;
  std::vector<AlignedMemory> partial;
  for (int i = 0; i < std::max(1, call.n_slices()); ++i)
    partial.push_back(allocate(size * static_cast<int64_t>(sizeof(double))));
  const auto sums = [&](int slice) { return reinterpret_cast<double*>(partial[slice].get()); };
  if (call.n_slices() == 0) std::fill_n(sums(0), size, 0.0);
  if (!run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
        std::fill_n(sums(slice), size, 0.0);
        double* low = sums(slice) + slot_sums;
        return crossed_kernel<T>().backward(call.crossed, call.slices[slice], upstream,
                                            {sums(slice), low, low + corner_sums, low + 2 * corner_sums},
                                            call.scratch[worker].get());
      }))
    refuse(kBadContents);

  double* total = sums(0);
  for (int slice = 1; slice < call.n_slices(); ++slice)
    for (int64_t i = 0; i < size; ++i) total[i] += sums(slice)[i];
  slot_gradients(total, rows, n_slots, by_calibration);
  const double* by_low = total + slot_sums;
  const double* by_rise = by_low + corner_sums;
  vertex_gradients(by_low, by_rise, rows, corners, by_vertices);
  std::transform(by_rise + corner_sums, by_low + (size - slot_sums), by_corrections,
                 [](double value) { return static_cast<T>(value); });
}

}  // namespace

void bind_crossed(nb::module_& module) {
  nb::class_<Sizes>(module, "CrossedSizes")
      .def("__init__", [](Sizes* self, int64_t tokens, int64_t sets, int64_t chosen, int64_t rows, int64_t corrections,
                          int64_t classes, int64_t outputs, int64_t slots, int64_t keypoints, int64_t plain) {
        const Sizes sizes{tokens, sets, chosen, rows, corrections, classes, outputs, slots, keypoints, plain};
        sizes.check();
        new (self) Sizes(sizes);
      });
  nb::class_<Inputs>(module, "CrossedInputs")
      .def("__init__", [](Inputs* self, Address slots, Address fractions, Address offsets, Address rows, Address refined,
                          Address sets, Address values, Address corrections, Address keypoints, Address calibration,
                          Address vertices) {
        new (self) Inputs{slots,       fractions, offsets,     rows,    refined, sets, values,
                          corrections, keypoints, calibration, vertices};
      });
  module.def("crossed_forward_float32", &crossed_forward<float>, nb::call_guard<nb::gil_scoped_release>());
  module.def("crossed_forward_float64", &crossed_forward<double>, nb::call_guard<nb::gil_scoped_release>());
  module.def("crossed_backward_float32", &crossed_backward<float>, nb::call_guard<nb::gil_scoped_release>());
  module.def("crossed_backward_float64", &crossed_backward<double>, nb::call_guard<nb::gil_scoped_release>());
}
