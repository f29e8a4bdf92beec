// phi, then the mean over each set: the functions that clearset.kernels calls. Here a batch is cut into slices for the
// threads; what happens to a slice is in phi_lanes.cpp.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "bindings.h"
#include "phi_lanes.h"
#include "slices.h"

namespace nb = nanobind;

namespace {

// clearset.kernels.Layout as the kernels read it.
class PhiLayout {
 public:
  PhiLayout(std::vector<int32_t> sizes, std::vector<std::vector<int32_t>> subsets,
            std::vector<std::vector<int32_t>> strides, const std::vector<int64_t>& vertex_offsets)
      : sizes_(std::move(sizes)), subsets_(std::move(subsets)), strides_(std::move(strides)) {
    for (size_t e = 0; e < subsets_.size(); ++e) {
      const bool single_cell =
          std::all_of(subsets_[e].begin(), subsets_[e].end(), [this](int32_t d) { return sizes_[d] == 2; });
      lattices_.push_back({static_cast<int>(subsets_[e].size()), subsets_[e].data(), strides_[e].data(),
                           vertex_offsets[e], single_cell});
    }
    n_vertices_ = vertex_offsets.back();
  }
  PhiLayout(const PhiLayout&) = delete;

  template <class T>
  void describe(Phi<T>& phi) const {
    phi.sizes = sizes_.data();
    phi.lattices = lattices_.data();
    phi.n_lattices = static_cast<int32_t>(lattices_.size());
    phi.n_features = static_cast<int32_t>(sizes_.size());
    phi.n_vertices = n_vertices_;
  }

 private:
  std::vector<int32_t> sizes_;
  std::vector<std::vector<int32_t>> subsets_, strides_;
  std::vector<Lattice> lattices_;
  int64_t n_vertices_;
};

template <class T>
const PhiKernel<T>& kernel() {
#if defined(CLEARSET_X86)
  if (instruction_set() == InstructionSet::avx512) return of_precision<T>(avx512::kernel_f32, avx512::kernel_f64);
  if (instruction_set() == InstructionSet::avx2) return of_precision<T>(avx2::kernel_f32, avx2::kernel_f64);
#endif
  return of_precision<T>(baseline::kernel_f32, baseline::kernel_f64);
}

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

// One call: the arrays as the slices read them, the slices, and the memory that they work in.
template <class T>
struct Call {
  Phi<T> phi;
  std::vector<TableEntry<T>> table;
  std::vector<SliceOfSets> slices;
  std::vector<AlignedMemory> scratch;

  Call(const PhiLayout& layout, int threads, int64_t n_tokens, int64_t n_sets, int64_t n_outputs, int64_t n_slots,
       Address slots, Address fractions, Address offsets, Address calibration, Address vertices) {
    layout.describe(phi);
    phi.n_tokens = n_tokens;
    phi.n_outputs = static_cast<int32_t>(n_outputs);
    phi.n_slots = static_cast<int32_t>(n_slots);
    phi.slots = at<const int32_t>(slots);
    phi.fractions = at<const T>(fractions);
    phi.offsets = at<const int64_t>(offsets);
    phi.vertices = at<const T>(vertices);
    fill_table(at<const T>(calibration));
    slices = cut_into_slices(phi, n_sets);
    const int n_workers = std::min(threads, static_cast<int>(slices.size()));
    for (int worker = 0; worker < n_workers; ++worker) scratch.push_back(allocate(kernel<T>().scratch_bytes(phi)));
  }

  // Reads the calibration as if it ended in one more slot, with the value of the last.
  void fill_table(const T* calibration) {
    const int64_t rows = phi.n_outputs, slots = phi.n_slots;
    table.reserve(static_cast<size_t>(rows * slots + kSlotsInRegisters));
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t s = 0; s < slots; ++s) {
        const T value = calibration[k * slots + s];
        table.push_back({value, s + 1 < slots ? calibration[k * slots + s + 1] - value : T(0)});
      }
    table.resize(table.size() + kSlotsInRegisters);
    phi.table = table.data();
  }
  int n_slices() const { return static_cast<int>(slices.size()); }
  int n_workers() const { return static_cast<int>(scratch.size()); }
};

bool every_set_has_tokens(const int64_t* offsets, int64_t n_sets, int64_t n_tokens) {
  bool fits = offsets[0] == 0 && offsets[n_sets] == n_tokens;
  for (int64_t set = 0; set < n_sets; ++set) fits &= offsets[set] < offsets[set + 1];
  return fits;
}

// False if offsets or slots cannot be, found before anything is read with them.
template <class T>
bool phi_forward(const PhiLayout& layout, int threads, int64_t n_tokens, int64_t n_sets, int64_t n_outputs,
                 int64_t n_slots, Address slots, Address fractions, Address offsets, Address calibration,
                 Address vertices, Address means) {
  if (!every_set_has_tokens(at<const int64_t>(offsets), n_sets, n_tokens)) return false;
  Call<T> call(layout, threads, n_tokens, n_sets, n_outputs, n_slots, slots, fractions, offsets, calibration, vertices);
  std::atomic<bool> slots_exist{true};
  run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
    if (!kernel<T>().forward(call.phi, call.slices[slice], at<T>(means), call.scratch[worker].get())) slots_exist = false;
  });
  return slots_exist;
}

// Only for inputs that phi_forward has accepted.
template <class T>
void phi_backward(const PhiLayout& layout, int threads, int64_t n_tokens, int64_t n_sets, int64_t n_outputs,
                  int64_t n_slots, Address slots, Address fractions, Address offsets, Address calibration,
                  Address vertices, Address grad_means, Address grad_calibration, Address grad_vertices) {
  Call<T> call(layout, threads, n_tokens, n_sets, n_outputs, n_slots, slots, fractions, offsets, calibration, vertices);
  const int64_t rows = n_outputs, all_vertices = rows * call.phi.n_vertices;
  const int64_t size = 2 * rows * n_slots + all_vertices;
  std::vector<AlignedMemory> partial;
  for (int i = 0; i < std::max(1, call.n_slices()); ++i) {
    partial.push_back(allocate(size * static_cast<int64_t>(sizeof(double))));
    std::fill_n(reinterpret_cast<double*>(partial.back().get()), size, 0.0);
  }
  const auto values = [&](int slice) { return reinterpret_cast<double*>(partial[slice].get()); };
  run_slices(call.n_slices(), call.n_workers(), [&](int slice, int worker) {
    kernel<T>().backward(call.phi, call.slices[slice], at<const T>(grad_means),
                         {values(slice), values(slice) + 2 * rows * n_slots}, call.scratch[worker].get());
  });

  double* total = values(0);
  for (int slice = 1; slice < call.n_slices(); ++slice)
    for (int64_t i = 0; i < size; ++i) total[i] += values(slice)[i];
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
  std::transform(total + 2 * rows * n_slots, total + size, at<T>(grad_vertices),
                 [](double value) { return static_cast<T>(value); });
}

}  // namespace

void bind_phi(nb::module_& module) {
  nb::class_<PhiLayout>(module, "PhiLayout")
      .def(nb::init<std::vector<int32_t>, std::vector<std::vector<int32_t>>, std::vector<std::vector<int32_t>>,
                    const std::vector<int64_t>&>());
  module.def("phi_forward_float32", &phi_forward<float>, nb::call_guard<nb::gil_scoped_release>());
  module.def("phi_forward_float64", &phi_forward<double>, nb::call_guard<nb::gil_scoped_release>());
  module.def("phi_backward_float32", &phi_backward<float>, nb::call_guard<nb::gil_scoped_release>());
  module.def("phi_backward_float64", &phi_backward<double>, nb::call_guard<nb::gil_scoped_release>());
}
