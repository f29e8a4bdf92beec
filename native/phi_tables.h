// Layout and tables of phi as the kernels read them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "checks.h"
#include "phi_lanes.h"

// clearset.functions.Layout as the kernels read it.
class PhiLayout {
 public:
  PhiLayout(std::vector<int32_t> sizes, std::vector<std::vector<int32_t>> subsets)
      : sizes_(std::move(sizes)), subsets_(std::move(subsets)), strides_(subsets_.size()), rows_(subsets_.size()) {
    for (const int32_t size : sizes_) check_range("A lattice size", size, 2, kMaxInt32);
    if (subsets_.empty()) refuse("subsets is empty; give the features of each lattice.");
    for (size_t e = 0; e < subsets_.size(); ++e) {
      const int64_t vertices = fill_strides(subsets_[e], strides_[e]);
      const bool single_cell =
          std::all_of(subsets_[e].begin(), subsets_[e].end(), [this](int32_t d) { return sizes_[d] == 2; });
      lattices_.push_back({static_cast<int>(subsets_[e].size()), subsets_[e].data(), strides_[e].data(), n_vertices_,
                           vertices, single_cell, 0, 0, nullptr, nullptr});
      if (!single_cell) read_in_rows(subsets_[e], strides_[e], rows_[e], lattices_.back());
      n_vertices_ += vertices;
    }
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

  int64_t n_features() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t n_vertices() const { return n_vertices_; }

 private:
  // In C order, the last feature varies fastest. Returns the number of vertices.
  int64_t fill_strides(const std::vector<int32_t>& subset, std::vector<int32_t>& strides) const {
    check_range("The number of features of a lattice", static_cast<int64_t>(subset.size()), 1, kMaxLatticeFeatures);
    strides.resize(subset.size());
    int64_t stride = 1;
    for (size_t i = subset.size(); i-- > 0;) {
      check_range("A feature of a lattice", subset[i], 0, n_features() - 1);
      if (std::count(subset.begin(), subset.end(), subset[i]) > 1)
        refuse("A lattice has feature " + std::to_string(subset[i]) + " more than once; name each once.");
      strides[i] = static_cast<int32_t>(stride);
      stride *= sizes_[subset[i]];
      check_range("The number of vertices of a lattice", stride, 1, int64_t{1} << kMaxLatticeFeatures);
    }
    return stride;
  }

  struct Rows {
    std::vector<int32_t> sizes, order;
  };

  // Puts the features of size 2 last, of which the last are those of the columns, and notes which vertex stands where then.
  // Only where the lattice has at most 3.5 times the vertices of one cell, as of three sizes of 3: with more, rows cost more
  // than the cells of single tokens where registers are short.
  void read_in_rows(std::vector<int32_t>& subset, std::vector<int32_t>& strides, Rows& rows, Lattice& lattice) const {
    const int n = lattice.n_features;
    const auto is_large = [this](int32_t d) { return sizes_[d] > 2; };
    const int n_small = n - static_cast<int>(std::count_if(subset.begin(), subset.end(), is_large));
    const int n_columns = std::min({n_small, (n + 1) / 2, kMostColumns});
    if (2 * lattice.n_vertices > 7 * (int64_t{1} << n)) return;
    std::vector<std::pair<int32_t, int32_t>> features;
    for (int i = 0; i < n; ++i) features.push_back({subset[i], strides[i]});
    std::stable_partition(features.begin(), features.end(), [&](const auto& f) { return is_large(f.first); });
    rows.order = {0};
    for (int i = 0; i < n; ++i) {
      std::tie(subset[i], strides[i]) = features[i];
      rows.sizes.push_back(sizes_[subset[i]]);
      std::vector<int32_t> longer;
      for (const int32_t vertex : rows.order)
        for (int32_t c = 0; c < rows.sizes[i]; ++c) longer.push_back(vertex + c * strides[i]);
      rows.order = std::move(longer);
    }
    lattice.n_rows = static_cast<int>(lattice.n_vertices >> n_columns);
    lattice.n_columns = n_columns;
    lattice.sizes = rows.sizes.data();
    lattice.order = rows.order.data();
  }

  std::vector<int32_t> sizes_;
  std::vector<std::vector<int32_t>> subsets_, strides_;
  std::vector<Rows> rows_;
  std::vector<Lattice> lattices_;
  int64_t n_vertices_ = 0;
};

// Reads a calibration (outputs, slots) as if each row ended in one more slot, with the value of the last.
template <class Number, class T>
void fill_table(const Number* calibration, int64_t n_outputs, int64_t n_slots, std::vector<TableEntry<T>>& table) {
  table.assign(static_cast<size_t>(n_outputs * n_slots + kSlotsInRegisters), TableEntry<T>{});
  for (int64_t k = 0; k < n_outputs; ++k, calibration += n_slots)
    for (int64_t s = 0; s < n_slots; ++s) {
      const Number step = s + 1 < n_slots ? calibration[s + 1] - calibration[s] : Number(0);
      table[k * n_slots + s] = {static_cast<T>(calibration[s]), static_cast<T>(step)};
    }
}

// A token with gradient g at (slot, fraction) gives g - g * fraction to its slot and g * fraction to the next. The kernels
// add up g and g * fraction for every slot: sums (outputs, slots, 2).
template <class T>
void slot_gradients(const double* sums, int64_t n_outputs, int64_t n_slots, T* by_calibration) {
  for (int64_t k = 0; k < n_outputs; ++k) {
    double from_below = 0;
    for (int64_t s = 0; s < n_slots; ++s, sums += 2) {
      const double kept = s + 1 < n_slots ? sums[0] - sums[1] : sums[0];
      *by_calibration++ = static_cast<T>(kept + from_below);
      from_below = sums[1];
    }
  }
}
