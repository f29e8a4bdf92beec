// phi with a value per class, then the mean over each chosen set: the functions that clearset.kernels calls. Here the chosen
// sets are cut into slices for the threads; what happens to a slice is in crossed_lanes.cpp.
#include <algorithm>
#include <atomic>
#include <vector>

#include "bindings.h"
#include "crossed_lanes.h"
#include "slices.h"

namespace nb = nanobind;

namespace {

template <class T>
const CrossedKernel<T>& kernel() {
#if defined(CLEARSET_X86)
  if (instruction_set() == InstructionSet::avx512) return of_precision<T>(avx512::crossed_f32, avx512::crossed_f64);
  if (instruction_set() == InstructionSet::avx2) return of_precision<T>(avx2::crossed_f32, avx2::crossed_f64);
#endif
  return of_precision<T>(baseline::crossed_f32, baseline::crossed_f64);
}

// corrections is -1 where there is no table of them.
struct Sizes {
  int64_t tokens, sets, chosen, rows, corrections, classes, outputs, slots, keypoints, plain;
};

// In the order in which clearset.kernels hands them over.
struct Inputs {
  Address slots, fractions, offsets, rows, refined, sets, values, corrections, keypoints, calibration, vertices;
};

// One call: the arrays as the slices read them, the slices, and the memory that they work in.
template <class T>
struct Call {
  Crossed<T> crossed;
  std::vector<TableEntry<T>> table, starts, inverses, steps;
  std::vector<T> rise;
  std::vector<T> low;
  std::vector<SliceOfSets> slices;
  std::vector<AlignedMemory> scratch;

  Call(int threads, const Sizes& sizes, const Inputs& inputs) {
    crossed.n_tokens = sizes.tokens;
    crossed.n_plain = static_cast<int32_t>(sizes.plain);
    crossed.n_classes = static_cast<int32_t>(sizes.classes);
    crossed.n_outputs = static_cast<int32_t>(sizes.outputs);
    crossed.n_slots = static_cast<int32_t>(sizes.slots);
    crossed.n_keypoints = static_cast<int32_t>(sizes.keypoints);
    crossed.n_rows = sizes.rows;
    crossed.refines = sizes.corrections >= 0;
    crossed.n_corrections = std::max<int64_t>(0, sizes.corrections);
    crossed.n_corners = int64_t{1} << sizes.plain;
    crossed.slots = at<const int32_t>(inputs.slots);
    crossed.fractions = at<const T>(inputs.fractions);
    crossed.offsets = at<const int64_t>(inputs.offsets);
    crossed.rows = at<const int32_t>(inputs.rows);
    crossed.refined = at<const int32_t>(inputs.refined);
    crossed.sets = at<const int64_t>(inputs.sets);
    crossed.values = at<const T>(inputs.values);
    crossed.corrections = at<const T>(inputs.corrections);
    crossed.keypoints = at<const T>(inputs.keypoints);
    fill_tables(at<const T>(inputs.calibration));
    split_vertices(at<const T>(inputs.vertices));
    cut_into_slices(sizes.chosen);
    const int n_workers = std::min(threads, n_slices());
    for (int worker = 0; worker < n_workers; ++worker)
      scratch.push_back(allocate(kernel<T>().scratch_bytes(crossed)));
  }

  // Reads the calibration as if it ended in one more slot, with the value of the last.
  void fill_tables(const T* calibration) {
    const int64_t outputs = crossed.n_outputs, slots = crossed.n_slots, keypoints = crossed.n_keypoints;
    for (int64_t k = 0; k < outputs; ++k, calibration += slots) {
      for (int64_t s = 0; s < slots; ++s)
        table.push_back({calibration[s], s + 1 < slots ? calibration[s + 1] - calibration[s] : T(0)});
      for (int64_t s = 0; s <= keypoints; ++s) steps.push_back({s + 1 < keypoints ? table[k * slots + s].step : T(0), T(0)});
    }
    for (int64_t s = 0; s <= keypoints; ++s) {
      const bool segment = s + 1 < keypoints;
      starts.push_back({segment ? crossed.keypoints[s] : T(0), T(0)});
      inverses.push_back({segment ? 1 / (crossed.keypoints[s + 1] - crossed.keypoints[s]) : T(0), T(0)});
    }
    for (auto* entries : {&table, &starts, &inverses, &steps}) entries->resize(entries->size() + kSlotsInRegisters);
    crossed.table = table.data();
    crossed.starts = starts.data();
    crossed.inverses = inverses.data();
    crossed.steps = steps.data();
  }

  void split_vertices(const T* vertices) {
    const int64_t corners = crossed.n_corners;
    for (int64_t k = 0; k < crossed.n_outputs; ++k, vertices += 2 * corners)
      for (int64_t v = 0; v < corners; ++v) {
        low.push_back(vertices[v]);
        rise.push_back(vertices[corners + v] - vertices[v]);
      }
    crossed.low = low.data();
    crossed.rise = rise.data();
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

bool sets_exist(const Sizes& sizes, const int64_t* offsets, const int64_t* sets) {
  for (int64_t i = 0; i < sizes.chosen; ++i) {
    if (sets[i] < 0 || sets[i] >= sizes.sets) return false;
    const int64_t begin = offsets[sets[i]], end = offsets[sets[i] + 1];
    if (begin < 0 || begin >= end || end > sizes.tokens) return false;
  }
  return true;
}

// False if something that a set or a token points to cannot be, found before anything is read with it.
template <class T>
bool crossed_forward(int threads, const Sizes& sizes, const Inputs& inputs, Address means) {
  if (!sets_exist(sizes, at<const int64_t>(inputs.offsets), at<const int64_t>(inputs.sets))) return false;
  Call<T> call(threads, sizes, inputs);
  std::atomic<bool> all_exist{true};
  run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
    if (!kernel<T>().forward(call.crossed, call.slices[slice], at<T>(means), call.scratch[worker].get()))
      all_exist = false;
  });
  return all_exist;
}

// Only for inputs that crossed_forward has accepted.
template <class T>
void crossed_backward(int threads, const Sizes& sizes, const Inputs& inputs, Address grad_means,
                      Address grad_calibration, Address grad_vertices, Address grad_corrections) {
  Call<T> call(threads, sizes, inputs);
  const int64_t rows = sizes.outputs, n_slots = sizes.slots, corners = call.crossed.n_corners;
  const int64_t slot_sums = 2 * rows * n_slots, corner_sums = rows * corners;
  const int64_t size = slot_sums + 2 * corner_sums + call.crossed.n_corrections * sizes.classes;
  std::vector<AlignedMemory> partial(static_cast<size_t>(std::max(1, call.n_slices())));
  const auto sums = [&](int slice) { return reinterpret_cast<double*>(partial[slice].get()); };
  const auto begin = [&](int slice) {
    partial[slice] = allocate(size * static_cast<int64_t>(sizeof(double)));
    std::fill_n(sums(slice), size, 0.0);
  };
  if (call.n_slices() == 0) begin(0);
  run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
    begin(slice);
    double* low = sums(slice) + slot_sums;
    kernel<T>().backward(call.crossed, call.slices[slice], at<const T>(grad_means),
                         {sums(slice), low, low + corner_sums, low + 2 * corner_sums}, call.scratch[worker].get());
  });

  double* total = sums(0);
  for (int slice = 1; slice < call.n_slices(); ++slice)
    for (int64_t i = 0; i < size; ++i) total[i] += sums(slice)[i];
  // A token with gradient g at (slot, fraction) gives g - g * fraction to its slot and g * fraction to the next.
  for (int64_t k = 0; k < rows; ++k) {
    double from_below = 0;
    for (int64_t s = 0; s < n_slots; ++s) {
      const double all = total[2 * (k * n_slots + s)], above = total[2 * (k * n_slots + s) + 1];
      const double kept = s + 1 < n_slots ? all - above : all;
      at<T>(grad_calibration)[k * n_slots + s] = static_cast<T>(kept + from_below);
      from_below = above;
    }
  }
  const double* by_low = total + slot_sums;
  const double* by_rise = by_low + corner_sums;
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t v = 0; v < corners; ++v) {
      T* to = at<T>(grad_vertices) + 2 * k * corners + v;
      to[0] = static_cast<T>(by_low[k * corners + v] - by_rise[k * corners + v]);
      to[corners] = static_cast<T>(by_rise[k * corners + v]);
    }
  std::transform(by_rise + corner_sums, by_low + (size - slot_sums), at<T>(grad_corrections),
                 [](double value) { return static_cast<T>(value); });
}

}  // namespace

void bind_crossed(nb::module_& module) {
  nb::class_<Sizes>(module, "CrossedSizes")
      .def("__init__", [](Sizes* self, int64_t tokens, int64_t sets, int64_t chosen, int64_t rows, int64_t corrections,
                          int64_t classes, int64_t outputs, int64_t slots, int64_t keypoints, int64_t plain) {
        new (self) Sizes{tokens, sets, chosen, rows, corrections, classes, outputs, slots, keypoints, plain};
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
