// phi of sets whose tokens are given by their values: a few sets at a time are placed between the keypoints, scored and
// averaged while they are in the first caches.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "checks.h"
#include "dispatch.h"
#include "keypoints.h"
#include "phi_tables.h"
#include "slices.h"

namespace nb = nanobind;

namespace {

// Tokens of a slice: few enough for the second cache.
constexpr int64_t kTokens = 1024;

// A feature's values, of tokens or of whole sets, and where they stand: between keypoints, or each code in its own slot.
class ValueColumn {
 public:
  ValueColumn(Strided values, bool per_set, std::optional<Vector<double>> keypoints, std::optional<Vector<int32_t>> slots_of_codes,
              int32_t first_slot, int32_t missing_slot)
      : values_(values), per_set_(per_set), slots_of_codes_(slots_of_codes), missing_(missing_slot) {
    if (keypoints.has_value() == slots_of_codes.has_value()) refuse("A column has either keypoints or codes.");
    check_aligned("values", values);
    if (keypoints) check_aligned("keypoints", *keypoints);
    if (slots_of_codes) check_aligned("slots_of_codes", *slots_of_codes);
    if (keypoints)
      keypoints_ = std::make_shared<KeypointTable>(keypoints->data(), static_cast<int64_t>(keypoints->size()), first_slot);
  }

  size_t size() const { return values_.size(); }
  bool per_set() const { return per_set_; }
  int32_t missing() const { return missing_; }

  void place(int64_t first, int64_t count, int32_t* slots, double* fractions) const {
    const double* from = values_.data() + first * values_.stride(0);
    if (keypoints_) return phi_kernel<double>().place(from, values_.stride(0), count, keypoints_->seen(), slots, fractions);
    const int64_t n_codes = static_cast<int64_t>(slots_of_codes_->size());
    for (int64_t i = 0; i < count; ++i) {
      const double code = from[i * values_.stride(0)];
      const bool known = code >= 0 && code < static_cast<double>(n_codes);
      slots[i] = known ? slots_of_codes_->data()[static_cast<int64_t>(code)] : missing_;
      fractions[i] = 0;
    }
  }

 private:
  Strided values_;
  bool per_set_;
  std::shared_ptr<KeypointTable> keypoints_;
  std::optional<Vector<int32_t>> slots_of_codes_;
  int32_t missing_;
};

// What a thread works with.
struct Worker {
  std::vector<int32_t> slots, placed_slots;
  std::vector<double> fractions, placed_fractions;
  std::vector<int64_t> offsets;
  AlignedMemory scratch;
};

class Call {
 public:
  Call(const Phi<double>& phi, const std::vector<const ValueColumn*>& columns, const Ints& offsets, MatrixOut<double>& means, int threads)
      : phi_(phi), columns_(columns), offsets_(offsets.data()), means_(means.data()) {
    const int64_t n_sets = static_cast<int64_t>(offsets.size()) - 1;
    for (int64_t first = 0, last = 0; first < n_sets; first = last) {
      int64_t tokens = 0;
      do tokens += size_of(last++);
      while (last < n_sets && tokens + size_of(last) <= kTokens);
      slices_.push_back({first, last});
      most_tokens_ = std::max(most_tokens_, tokens);
      most_sets_ = std::max(most_sets_, last - first);
    }
    workers_.resize(static_cast<size_t>(std::min<int64_t>(threads, std::max<int64_t>(1, n_slices()))));
    for (Worker& worker : workers_) {
      const size_t tokens = static_cast<size_t>(most_tokens_), entries = tokens * columns.size();
      worker.slots.resize(entries);
      worker.fractions.resize(entries);
      worker.placed_slots.resize(static_cast<size_t>(std::max(most_tokens_, most_sets_)));
      worker.placed_fractions.resize(worker.placed_slots.size());
      worker.offsets.resize(static_cast<size_t>(most_sets_ + 1));
      worker.scratch = allocate(phi_kernel<double>().scratch_bytes(phi));
    }
  }

  bool run() {
    return run_slices(n_slices(), static_cast<int>(workers_.size()),
                      [this](int slice, int worker) { return run_slice(slices_[slice], workers_[worker]); });
  }

 private:
  int n_slices() const { return static_cast<int>(slices_.size()); }
  // An empty set counts as one token whose token features are missing.
  int64_t size_of(int64_t set) const { return std::max<int64_t>(1, offsets_[set + 1] - offsets_[set]); }

  bool run_slice(SliceOfSets sets, Worker& worker) {
    const int64_t n_sets = sets.last - sets.first;
    worker.offsets[0] = 0;
    for (int64_t i = 0; i < n_sets; ++i) worker.offsets[i + 1] = worker.offsets[i] + size_of(sets.first + i);
    const int64_t n_tokens = worker.offsets[n_sets], given = offsets_[sets.last] - offsets_[sets.first];
    for (size_t d = 0; d < columns_.size(); ++d) {
      const ValueColumn& column = *columns_[d];
      int32_t* slots = worker.slots.data() + static_cast<int64_t>(d) * n_tokens;
      double* fractions = worker.fractions.data() + static_cast<int64_t>(d) * n_tokens;
      if (!column.per_set() && given == n_tokens)
        column.place(offsets_[sets.first], n_tokens, slots, fractions);
      else
        spread(column, sets, worker, slots, fractions);
    }
    Phi<double> phi = phi_;
    phi.n_tokens = n_tokens;
    phi.slots = worker.slots.data();
    phi.fractions = worker.fractions.data();
    phi.offsets = worker.offsets.data();
    return phi_kernel<double>().forward(phi, {0, n_sets}, means_ + sets.first * phi_.n_outputs, worker.scratch.get());
  }

  // Values of whole sets go to each of their tokens; where sets are empty, token values leave a place out.
  void spread(const ValueColumn& column, SliceOfSets sets, Worker& worker, int32_t* slots, double* fractions) const {
    const int64_t n_sets = sets.last - sets.first, start = offsets_[sets.first];
    const bool per_set = column.per_set();
    column.place(per_set ? sets.first : start, per_set ? n_sets : offsets_[sets.last] - start, worker.placed_slots.data(),
                 worker.placed_fractions.data());
    for (int64_t i = 0; i < n_sets; ++i) {
      const int64_t to = worker.offsets[i], size = worker.offsets[i + 1] - to, from = offsets_[sets.first + i] - start;
      if (per_set) {
        std::fill_n(slots + to, size, worker.placed_slots[i]);
        std::fill_n(fractions + to, size, worker.placed_fractions[i]);
      } else if (offsets_[sets.first + i + 1] - start == from) {
        slots[to] = column.missing();
        fractions[to] = 0;
      } else {
        std::copy_n(worker.placed_slots.data() + from, size, slots + to);
        std::copy_n(worker.placed_fractions.data() + from, size, fractions + to);
      }
    }
  }

  const Phi<double>& phi_;
  const std::vector<const ValueColumn*>& columns_;
  const int64_t* offsets_;
  double* means_;
  std::vector<SliceOfSets> slices_;
  int64_t most_tokens_ = 0, most_sets_ = 0;
  std::vector<Worker> workers_;
};

void means_of_values(const PhiLayout& layout, Matrix<double> calibration, Matrix<double> vertices,
                     std::vector<const ValueColumn*> columns, Ints offsets, int threads, MatrixOut<double> means) {
  check_range("threads", threads, 1, kMaxInt32);
  const size_t n_outputs = calibration.shape(0);
  check_range("The number of slots", static_cast<int64_t>(calibration.shape(1)), 1, kMaxInt32);
  check_length("columns", columns.size(), static_cast<size_t>(layout.n_features()));
  check_array("vertices", vertices, {length(n_outputs), layout.n_vertices()});
  check_aligned("calibration", calibration);
  check_aligned("offsets", offsets);
  check_range("The number of offsets", static_cast<int64_t>(offsets.size()), 1, std::numeric_limits<int64_t>::max());
  const size_t n_sets = offsets.size() - 1;
  const int64_t n_tokens = offsets.data()[n_sets];
  bool rises = offsets.data()[0] == 0;
  for (size_t set = 0; set < n_sets; ++set) rises &= offsets.data()[set] <= offsets.data()[set + 1];
  if (!rises) refuse("The offsets of the sets do not rise from 0.");
  check_range("The number of tokens", n_tokens, 0, int64_t{1} << 44);  // with columns of whole sets, no array has so many
  for (const ValueColumn* column : columns) {
    if (column == nullptr) refuse("A column is missing.");
    check_length("A column", column->size(), column->per_set() ? n_sets : static_cast<size_t>(n_tokens));
  }
  check_array("means", means, {length(n_sets), length(n_outputs)});
  Phi<double> phi{};
  layout.describe(phi);
  phi.n_outputs = static_cast<int32_t>(n_outputs);
  phi.n_slots = static_cast<int32_t>(calibration.shape(1));
  phi.vertices = vertices.data();
  std::vector<TableEntry<double>> table;
  fill_table(calibration.data(), phi.n_outputs, phi.n_slots, table);
  phi.table = table.data();
  nb::gil_scoped_release release;
  if (!Call(phi, columns, offsets, means, threads).run()) refuse("A slot lies outside the calibration.");
}

}  // namespace

void bind_predict(nb::module_& module) {
  nb::class_<ValueColumn>(module, "ValueColumn")
      .def(nb::init<Strided, bool, std::optional<Vector<double>>, std::optional<Vector<int32_t>>, int32_t, int32_t>(),
           nb::arg("values").noconvert(), nb::arg("per_set"), nb::arg("keypoints").noconvert().none(),
           nb::arg("slots_of_codes").noconvert().none(), nb::arg("first_slot"), nb::arg("missing_slot"));
  module.def("means_of_values", &means_of_values, nb::arg("layout"), nb::arg("calibration").noconvert(),
             nb::arg("vertices").noconvert(), nb::arg("columns"), nb::arg("offsets").noconvert(), nb::arg("threads"),
             nb::arg("means").noconvert());
}
