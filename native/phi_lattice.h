// One lattice for a tile of tokens, lanes of tokens side by side. Part of phi_lanes.cpp, inside its namespace.
//
// The features of a lattice are cut into a first and a second half. With the weights p (of the first half's corners) and
// q (of the second half's), the value is sum over a, b of p_a * q_b * corner_ab, so that
//
//     value = fold of (row_a = sum_b corner_ab * q_b) over the first half = fold of (column_b = sum_a p_a * corner_ab)
//
// The way back needs rows and columns and nothing else: three multiply-adds per corner, and no copy of the corners.
//
// Weights and folds stand in heaps: node 1 is the root, node j has the children 2j (low) and 2j + 1 (high), and the leaves
// begin at 2^N. Level i belongs to the half's feature i.
//
// Where all tokens share a cell, the compiler knows the number of features (a Constant). Where each token has a cell of its
// own, looking up its corners takes most of the time, and the number is an int: one function for all saves half a minute
// of compiling.
#pragma once

constexpr int kMostKnown = 10;

template <int n>
using Constant = std::integral_constant<int, n>;

// The most features that a number of features can be.
template <class Count>
constexpr int most_of = Count::value;
template <>
constexpr int most_of<int> = kMaxLatticeFeatures;

template <int n>
constexpr Constant<n / 2> half_of(Constant<n>) {
  return {};
}
constexpr int half_of(int n) { return n / 2; }
template <int n>
constexpr Constant<n - n / 2> other_half_of(Constant<n>) {
  return {};
}
constexpr int other_half_of(int n) { return n - n / 2; }

// The heaps of one lattice. Where the compiler knows the number of features, it keeps what it can in registers. Otherwise
// they may take 144 KB, too much for a stack: some C libraries give a thread 128 KB, and the stack of the main thread grows
// beyond that when it is touched, which ends the process where no memory is left.
template <class Count, class V>
struct Heaps {
  static constexpr int rows = 1 << half_of(Count{}), columns = 1 << other_half_of(Count{});
  V row_weights[2 * rows], row_values[2 * rows], column_weights[2 * columns], column_values[2 * columns];
  V weighted[columns];

  Heaps(Count, V*) {}
};

template <class V>
struct Heaps<int, V> {
  V *row_weights, *row_values, *column_weights, *column_values, *weighted;

  Heaps(int n, V* memory)
      : row_weights(memory),
        row_values(row_weights + (2 << half_of(n))),
        column_weights(row_values + (2 << half_of(n))),
        column_values(column_weights + (2 << other_half_of(n))),
        weighted(column_values + (2 << other_half_of(n))) {}
};

// What the heaps take from the tile, in lanes.
constexpr int64_t heap_nodes(int n) { return (int64_t{4} << half_of(n)) + (int64_t{5} << other_half_of(n)); }

// These three are always inlined and unrolled: otherwise the place of every node is computed while tokens wait.
template <class Count, class V>
[[gnu::always_inline]] static inline void spread(Count count, const V* within, V* weights) {
  const int n = count;
  weights[1] = {1 + V{}.low, 1 + V{}.high};
#pragma GCC unroll 8
  for (int level = 0; level < n; ++level)
#pragma GCC unroll 8
    for (int j = 1 << level; j < 2 << level; ++j) {
      weights[2 * j + 1] = weights[j] * within[level];
      weights[2 * j] = weights[j] - weights[2 * j + 1];
    }
}

template <class Count, class V>
[[gnu::always_inline]] static inline V fold(Count count, const V* within, V* values) {
  const int n = count;
#pragma GCC unroll 8
  for (int level = n - 1; level >= 0; --level)
#pragma GCC unroll 8
    for (int j = 1 << level; j < 2 << level; ++j)
      values[j] = values[2 * j] + within[level] * (values[2 * j + 1] - values[2 * j]);
  return values[1];
}

// Derivative of the fold by each feature's place: its differences, weighted by the features above it.
template <class Count, class V>
[[gnu::always_inline]] static inline void fold_slopes(Count count, const V* within, const V* weights, V* values, V* slopes) {
  const int n = count;
#pragma GCC unroll 8
  for (int level = n - 1; level >= 0; --level) {
    V slope = {};
#pragma GCC unroll 8
    for (int j = 1 << level; j < 2 << level; ++j) {
      V difference = values[2 * j + 1] - values[2 * j];
      slope += weights[j] * difference;
      values[j] = values[2 * j] + within[level] * difference;
    }
    slopes[level] = slope;
  }
}

// The corners of the only cell: the same for all tokens. Their gradient has lanes of its own, added up now and then.
template <class T>
struct SharedCorners {
  const T* vertices;
  typename Vector<T>::type* gradient;

  void enter(const Tile<T>&, int) {}
  T at(int corner) const { return vertices[corner]; }
  void add(int corner, const Lanes<T>& x, const Lanes<T>& y) {
    gradient[corner] += x.low * y.low;
    gradient[corner] += x.high * y.high;
  }
};

// The corners of the cell that each token stands in.
template <class T>
struct OwnCorners {
  const T* vertices;
  double* gradient;
  const Lattice* lattice;
  alignas(kLaneBytes) int32_t lowest[Lanes<T>::count];
  int32_t* corner_offsets;  // (corners)

  OwnCorners(const T* vertices, double* gradient, const Lattice& lattice, int32_t* corner_offsets)
      : vertices(vertices), gradient(gradient), lattice(&lattice), corner_offsets(corner_offsets) {
    corner_offsets[0] = 0;
    for (int i = 0, n = 1; i < lattice.n_features; ++i, n *= 2)
      for (int j = n - 1; j >= 0; --j) {
        corner_offsets[2 * j + 1] = corner_offsets[j] + lattice.strides[i];
        corner_offsets[2 * j] = corner_offsets[j];
      }
  }
  void enter(const Tile<T>& tile, int first) {
    int32_t sums[Lanes<T>::count] = {};
    for (int i = 0; i < lattice->n_features; ++i) {
      const int32_t* cells = tile.cells + lattice->features[i] * kTile + first;
      for (int lane = 0; lane < Lanes<T>::count; ++lane) sums[lane] += lattice->strides[i] * cells[lane];
    }
    for (int lane = 0; lane < Lanes<T>::count; ++lane) lowest[lane] = sums[lane];
  }
  Lanes<T> at(int corner) const {
    constexpr int half = Lanes<T>::count / 2;
    const T* from = vertices + corner_offsets[corner];
    Lanes<T> values;
    for (int lane = 0; lane < half; ++lane) values.low[lane] = from[lowest[lane]];
    for (int lane = 0; lane < half; ++lane) values.high[lane] = from[lowest[half + lane]];
    return values;
  }
  void add(int corner, const Lanes<T>& x, const Lanes<T>& y) {
    const Lanes<T> value = x * y;
    constexpr int half = Lanes<T>::count / 2;
    double* to = gradient + corner_offsets[corner];
    for (int lane = 0; lane < half; ++lane) to[lowest[lane]] += static_cast<double>(value.low[lane]);
    for (int lane = 0; lane < half; ++lane) to[lowest[half + lane]] += static_cast<double>(value.high[lane]);
  }
};

template <class Count, class T, class Corners>
static void read_lattice(Count n, const Tile<T>& tile, const int32_t* features, Corners& corners) {
  using V = Lanes<T>;
  const auto first_half = half_of(n);
  const auto second_half = other_half_of(n);
  const int rows = 1 << first_half, columns = 1 << second_half;
  for (int t = 0; t < tile.padded; t += Lanes<T>::count) {
    V within[most_of<Count>];
    for (int i = 0; i < n; ++i) within[i] = load(tile.within + features[i] * kTile + t);
    corners.enter(tile, t);
    Heaps<Count, V> heaps(n, tile.heaps);
    auto& weights = heaps.column_weights;
    auto& values = heaps.row_values;
    spread(second_half, within + first_half, weights);
    for (int a = 0; a < rows; ++a) {
      V row = {};
#pragma GCC unroll 8
      for (int b = 0; b < columns; ++b) row += corners.at(a * columns + b) * weights[columns + b];
      values[rows + a] = row;
    }
    *reinterpret_cast<V*>(tile.scores + t) += fold(first_half, within, values);
  }
}

template <class Count, class T, class Corners>
static void lattice_gradient(Count n, const Tile<T>& tile, const int32_t* features, Corners& corners) {
  using V = Lanes<T>;
  const auto first_half = half_of(n);
  const auto second_half = other_half_of(n);
  const int rows = 1 << first_half, columns = 1 << second_half;
  for (int t = 0; t < tile.padded; t += Lanes<T>::count) {
    V within[most_of<Count>], slopes[most_of<Count>];
    for (int i = 0; i < n; ++i) within[i] = load(tile.within + features[i] * kTile + t);
    corners.enter(tile, t);
    const V upstream = load(tile.upstream + t);
    Heaps<Count, V> heaps(n, tile.heaps);
    auto& [row_weights, row_values, column_weights, column_values, weighted] = heaps;
    spread(first_half, within, row_weights);
    spread(second_half, within + first_half, column_weights);
    for (int b = 0; b < columns; ++b) weighted[b] = column_weights[columns + b] * upstream;
    for (int b = 0; b < columns; ++b) column_values[columns + b] = V{};
    // Two rows at a time, so that a column's weights and value are loaded and stored once for both.
    constexpr int group = most_of<Count> < 2 || std::is_same_v<Corners, OwnCorners<T>> ? 1 : 2;
    for (int a = 0; a < rows; a += group) {
      // Weights are copied: for all the compiler knows, what is added to gradients might change them.
      V row[group] = {}, row_weight[group];
      for (int i = 0; i < group; ++i) row_weight[i] = row_weights[rows + a + i];
#pragma GCC unroll 8
      for (int b = 0; b < columns; ++b) {
        const V column_weight = column_weights[columns + b], upstream_weight = weighted[b];
        V column = column_values[columns + b];
        for (int i = 0; i < group; ++i) {
          const auto corner = corners.at((a + i) * columns + b);
          row[i] += corner * column_weight;
          column += corner * row_weight[i];
          corners.add((a + i) * columns + b, row_weight[i], upstream_weight);
        }
        column_values[columns + b] = column;
      }
      for (int i = 0; i < group; ++i) row_values[rows + a + i] = row[i];
    }
    fold_slopes(first_half, within, row_weights, row_values, slopes);
    fold_slopes(second_half, within + first_half, column_weights, column_values, slopes + first_half);
    for (int i = 0; i < n; ++i)
      *reinterpret_cast<V*>(tile.gradients + features[i] * kTile + t) += upstream * slopes[i];
  }
}

template <bool backward, class Count, class T, class Corners>
static void run_lattice(Count n, const Tile<T>& tile, const Lattice& lattice, Corners& corners) {
  if constexpr (backward)
    lattice_gradient(n, tile, lattice.features, corners);
  else
    read_lattice(n, tile, lattice.features, corners);
}

// From the number of features at run time to one that the compiler knows, if it is small.
template <bool backward, int D = 1, class T, class Corners>
static void run_known_lattice(const Tile<T>& tile, const Lattice& lattice, Corners& corners) {
  if (lattice.n_features == D)
    run_lattice<backward>(Constant<D>{}, tile, lattice, corners);
  else if constexpr (D < kMostKnown)
    run_known_lattice<backward, D + 1>(tile, lattice, corners);
  else
    run_lattice<backward>(int{lattice.n_features}, tile, lattice, corners);
}
