// Labelled sets that Python hands over to training: checked, and kept for as long as the trainer reads them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "trainer.h"

using KeptArrays = std::vector<nanobind::ndarray<nanobind::ro>>;

struct Labels {
  std::optional<Ints> chosen;  // the set of each label; none: the labels are those of all sets
  Vector<double> targets, weights;
};

// What sets are handed over to.
template <class T>
struct SetsReader {
  const PhiLayout& layout;
  const Tables& tables;
  Corrections<T>* corrections;  // null where none are learned
  bool validates;
  int threads;

  int n_workers() const { return validates ? threads : std::min(threads, kMostSlices); }
};

// Sets that were checked, and the arrays in which they are.
template <class T>
struct HandedSets {
  Labelled<T> labelled;
  KeptArrays arrays;
};

namespace handed {

template <class... Given>
void check_all_aligned(const Given&... given) {
  (check_aligned("An array", given), ...);
}

// There are sets, each of them has tokens, and the last ends at the last of these.
inline void check_sets(const Ints& offsets, int64_t n_tokens) {
  bool fits = offsets.size() > 1 && offsets.data()[0] == 0 && offsets.data()[offsets.size() - 1] == n_tokens;
  for (size_t set = 1; fits && set < offsets.size(); ++set) fits = offsets.data()[set - 1] < offsets.data()[set];
  if (!fits) refuse("The offsets of the sets do not rise from 0 to the number of tokens.");
}

// Numbers of tokens: from `least` to `limit` - 1.
inline void check_tokens(const char* name, const int32_t* numbers, size_t count, int64_t least, int64_t limit) {
  if (count == 0) return;
  const auto [lowest, highest] = range_of(numbers, count);
  check_range(name, lowest, least, limit - 1);
  check_range(name, highest, least, limit - 1);
}

inline LabelledSets checked(const Ints& offsets, int64_t n_tokens, const Labels& labels, int64_t outputs) {
  const int64_t n_sets = length(offsets.size()) - 1, count = length(labels.targets.size());
  check_length("weights", labels.weights.size(), labels.targets.size());
  check_all_aligned(labels.targets, labels.weights);
  check_range("The number of labels", count, 1, std::numeric_limits<int64_t>::max());
  if (labels.chosen) {
    check_length("chosen", labels.chosen->size(), labels.targets.size());
    check_all_aligned(*labels.chosen);
    check_all("A chosen set", labels.chosen->data(), count, n_sets);
  } else {
    check_range("The number of labels", count, n_sets, n_sets);
  }
  check_numbers("weights", labels.weights.data(), labels.weights.size(), 0.0, std::numeric_limits<double>::max());
  if (outputs > 1)
    for (int64_t i = 0; i < count; ++i)
      if (!is_class(labels.targets.data()[i], outputs)) refuse("A label is not the number of a class.");
  return {offsets.data(), labels.chosen ? labels.chosen->data() : nullptr, n_sets, n_tokens};
}

template <class... Given>
void keep(KeptArrays& arrays, const Given&... given) {
  (arrays.emplace_back(given.handle()), ...);
}

template <class T, class... Given>
HandedSets<T> labelled(std::unique_ptr<PhiPass<T>> pass, int64_t outputs, const Labels& labels, const Given&... given) {
  KeptArrays arrays;
  keep(arrays, given..., labels.targets, labels.weights);
  if (labels.chosen) keep(arrays, *labels.chosen);
  return {{std::move(pass), labels.targets.data(), labels.weights.data(), length(labels.targets.size()), outputs},
          std::move(arrays)};
}

template <class T, class Store>
std::unique_ptr<PhiPass<T>> plain_pass(const SetsReader<T>& to, Store store) {
  return std::make_unique<PlainPass<T, Store>>(to.layout, std::move(store), to.tables.calibration.rows,
                                               to.tables.calibration.columns, to.n_workers());
}

}  // namespace handed

template <class T>
HandedSets<T> plain_sets(const SetsReader<T>& to, const Matrix<int32_t>& slots, const Matrix<T>& fractions,
                         const Ints& offsets, const Labels& labels) {
  const int64_t n_tokens = length(slots.shape(1));
  handed::check_all_aligned(slots, fractions, offsets);
  if (length(slots.shape(0)) != to.layout.n_features() || fractions.shape(0) != slots.shape(0) ||
      fractions.shape(1) != slots.shape(1))
    refuse("slots and fractions must both have the shape (features, tokens).");
  if (to.corrections) refuse("Corrections are learned from values by class only.");
  handed::check_sets(offsets, n_tokens);
  handed::check_tokens("A slot", slots.data(), slots.size(), 0, to.tables.calibration.columns);
  check_numbers<T>("fractions", fractions.data(), fractions.size(), 0, 1);
  const TokenPlaces<T> places{slots.data(), fractions.data(), offsets.data(), n_tokens,
                              static_cast<int32_t>(to.layout.n_features())};
  const LabelledSets sets = handed::checked(offsets, n_tokens, labels, to.tables.rho_output.rows);
  return handed::labelled(handed::plain_pass(to, SetStore<T>(places, sets)), to.tables.rho_output.rows, labels, slots,
                          fractions, offsets);
}

// Large data are handed over block by block: slots are looked at by the kernels only.
inline HandedSets<float> packed_sets(const SetsReader<float>& to, const Vector<uint32_t>& packed, const Ints& offsets,
                                     const Vector<int32_t>& first_slots, const Vector<int32_t>& bits, const Labels& labels) {
  handed::check_all_aligned(packed, offsets, first_slots, bits);
  const int64_t n_features = to.layout.n_features(), n_sets = length(offsets.size()) - 1;
  check_range("The number of sets", n_sets, 1, std::numeric_limits<int64_t>::max());
  const int64_t n_tokens = offsets.data()[n_sets];
  check_length("first_slots", first_slots.size(), static_cast<size_t>(n_features));
  check_length("bits", bits.size(), static_cast<size_t>(n_features));
  check_range("The number of tokens", n_tokens, 1, int64_t{1} << 44);
  check_length("packed", packed.size(), static_cast<size_t>(n_features * n_tokens));
  handed::check_sets(offsets, n_tokens);
  PackedPlaces places{packed.data(), offsets.data(), n_sets, {}};
  for (int64_t d = 0; d < n_features; ++d) {
    check_range("A first slot", first_slots.data()[d], 0, to.tables.calibration.columns - 1);
    check_range("The number of bits", bits.data()[d], 1, 31);
    places.coding.push_back({first_slots.data()[d], bits.data()[d]});
  }
  if (to.corrections) refuse("Corrections are learned from values by class only.");
  handed::checked(offsets, n_tokens, labels, to.tables.rho_output.rows);
  return handed::labelled(handed::plain_pass(to, PackedStore(std::move(places))), to.tables.rho_output.rows, labels, packed,
                          offsets);
}

// Tokens with a value for each class.
template <class T>
struct CrossedArrays {
  Matrix<int32_t> slots;
  Matrix<T> fractions;
  Ints offsets;
  Vector<int32_t> rows, corrected;
  Matrix<T> values;
  Vector<T> keypoints;
};

template <class T>
HandedSets<T> crossed_sets(const SetsReader<T>& to, const CrossedArrays<T>& from, const Labels& labels) {
  const auto& [slots, fractions, offsets, rows, corrected, values, keypoints] = from;
  handed::check_all_aligned(slots, fractions, offsets, rows, corrected, values, keypoints);
  const int64_t n_tokens = length(rows.size()), n_plain = to.layout.n_features() - 1;
  check_range("The number of plain features", n_plain, 0, kMaxLatticeFeatures - 1);
  if (length(slots.shape(0)) != n_plain || length(slots.shape(1)) != n_tokens || fractions.shape(0) != slots.shape(0) ||
      fractions.shape(1) != slots.shape(1) || corrected.size() != rows.size())
    refuse("slots and fractions must have the shape (features - 1, tokens), rows and corrected the length of tokens.");
  if (to.tables.rho_output.rows != 1) refuse("One function serves all classes; received several.");
  check_range("The number of vertices", to.tables.vertices.columns, int64_t{2} << n_plain, int64_t{2} << n_plain);
  check_range("The number of keypoints", length(keypoints.size()), 2, to.tables.calibration.columns - 1);
  check_range("The number of classes", length(values.shape(1)), 1, kMaxInt32);
  check_range("The number of rows", length(values.shape(0)), 0, kMaxInt32);
  handed::check_sets(offsets, n_tokens);
  handed::check_tokens("A slot", slots.data(), slots.size(), 0, to.tables.calibration.columns);
  handed::check_tokens("A row", rows.data(), rows.size(), -1, length(values.shape(0)));
  check_numbers<T>("fractions", fractions.data(), fractions.size(), 0, 1);
  check_finite("keypoints", keypoints.data(), keypoints.size());
  if (to.corrections)
    handed::check_tokens("A correction", corrected.data(), corrected.size(), -1, to.corrections->count());
  Crossed<T> crossed{};
  crossed.n_tokens = n_tokens;
  crossed.n_plain = static_cast<int32_t>(n_plain);
  crossed.n_classes = static_cast<int32_t>(values.shape(1));
  crossed.n_outputs = static_cast<int32_t>(to.tables.calibration.rows);
  crossed.n_slots = static_cast<int32_t>(to.tables.calibration.columns);
  crossed.n_keypoints = static_cast<int32_t>(keypoints.size());
  crossed.n_rows = length(values.shape(0));
  if (to.corrections) {
    crossed.refines = true;
    check_range("The number of classes", crossed.n_classes, to.corrections->classes(), to.corrections->classes());
    crossed.n_corrections = to.corrections->count();
  }
  crossed.n_corners = int64_t{1} << n_plain;
  crossed.slots = slots.data();
  crossed.fractions = fractions.data();
  crossed.offsets = offsets.data();
  crossed.rows = rows.data();
  crossed.refined = corrected.data();
  crossed.values = values.data();
  crossed.keypoints = keypoints.data();
  const LabelledSets sets = handed::checked(offsets, n_tokens, labels, crossed.n_classes);
  auto pass = std::make_unique<CrossedPass<T>>(crossed, sets, to.n_workers(), to.validates ? nullptr : to.corrections);
  return handed::labelled<T>(std::move(pass), crossed.n_classes, labels, slots, fractions, offsets, rows, corrected, values,
                             keypoints);
}
