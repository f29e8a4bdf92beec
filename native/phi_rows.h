// A lattice of which some features have more than two vertices, for a tile of tokens. Part of phi_lanes.cpp, inside its
// namespace.
//
// As in phi_lattice.h, vertices are a matrix of rows and columns: with weights p of the rows and q of the columns, the value
// is the sum over a, b of p_a * q_b * vertex_ab. The columns are the corners of features of size 2, up to kMostColumns of
// them. The rows are all vertices of all other features, and a token's weight of a row is zero unless the row belongs to its
// cell. So all tokens read the same vertices, side by side, in loops whose length the compiler knows: with one size of 3,
// half as many again as with sizes of 2 only. A token that looks up the corners of its own cell takes up to ten times as
// long.
//
// PhiLayout decides which lattices are read in this way, and in which order the rows stand: the features of more than two
// vertices come first, because the fold over rows, from the last feature to the first, has the fewest nodes there. A node of
// such a feature picks the two values beside the token's cell out of its children's.
//
// A weight of zero keeps the values of other cells out as long as they are finite.
#pragma once

// The features of rows, for the tokens side by side.
template <class T>
struct Rows {
  using V = Lanes<T>;
  int n;
  const int32_t* sizes;
  int n_rows;
  int nodes[kMaxLatticeFeatures];  // of each feature: the rows of all features before it
  V within[kMaxLatticeFeatures], cells[kMaxLatticeFeatures];
  V* values;   // (rows), then of nodes
  V* weights;  // (rows), which stand behind those of the nodes: the root's, its children's, and so on

  Rows(const Lattice& lattice, V* memory)
      : n(lattice.n_features - lattice.n_columns), sizes(lattice.sizes), n_rows(1), values(memory) {
    weights = values + lattice.n_rows;
    for (int i = 0; i < n; ++i) {
      nodes[i] = n_rows;
      weights += n_rows;
      n_rows *= sizes[i];
    }
  }

  void enter(const Tile<T>& tile, const int32_t* features, int first) {
    for (int i = 0; i < n; ++i) {
      within[i] = load(tile.within + features[i] * kTile + first);
      if (sizes[i] == 2) continue;
      const int32_t* numbers = tile.cells + features[i] * kTile + first;
      alignas(kLaneBytes) T cell[V::count];
      for (int lane = 0; lane < V::count; ++lane) cell[lane] = static_cast<T>(numbers[lane]);
      cells[i] = load(cell);
    }
  }

  void spread() {
    V* below = values + n_rows;
    below[0] = {1 + V{}.low, 1 + V{}.high};
    for (int i = 0; i < n; ++i) {
      const V* above = below;
      below += nodes[i];
      const int size = sizes[i];
      for (int j = 0; j < nodes[i]; ++j) {
        const V high = above[j] * within[i], low = above[j] - high;
        if (size == 2) {
          below[2 * j] = low;
          below[2 * j + 1] = high;
        } else {
          for (int c = 0; c < size; ++c) below[size * j + c] = where(i, c, low, where(i, c - 1, high, V{}));
        }
      }
    }
  }

  // In place: a node's value is written where all that stood there has been read.
  V fold() {
    for (int i = n - 1; i >= 0; --i)
      for (int j = 0; j < nodes[i]; ++j) {
        const Neighbours near = neighbours(i, j);
        values[j] = near.low + within[i] * near.rise;
      }
    return values[0];
  }

  // Derivative of the fold by each feature's place, after `spread`.
  void fold_slopes(V* slopes) {
    const V* of_nodes = weights;
    for (int i = n - 1; i >= 0; --i) {
      of_nodes -= nodes[i];
      V slope = {};
      for (int j = 0; j < nodes[i]; ++j) {
        const Neighbours near = neighbours(i, j);
        slope += of_nodes[j] * near.rise;
        values[j] = near.low + within[i] * near.rise;
      }
      slopes[i] = slope;
    }
  }

 private:
  struct Neighbours {
    V low, rise;
  };

  // The first for tokens in this cell along feature i, the second for others.
  V where(int i, int cell, const V& in, const V& elsewhere) const {
    const T number = static_cast<T>(cell);
    return {cells[i].low == number ? in.low : elsewhere.low, cells[i].high == number ? in.high : elsewhere.high};
  }

  // Of the cell, among the values of the children of node j of feature i.
  Neighbours neighbours(int i, int j) const {
    const V* children = values + sizes[i] * j;
    Neighbours near{children[0], children[1] - children[0]};
    for (int c = 1; c < sizes[i] - 1; ++c) {
      near.low = where(i, c, children[c], near.low);
      near.rise = where(i, c, children[c + 1] - children[c], near.rise);
    }
    return near;
  }
};

// What rows take from the tile, in lanes: nodes have two children or more, so that there are fewer of them than rows.
constexpr int64_t row_nodes(int64_t n_rows) { return 3 * n_rows; }

template <class Count, class T>
static void read_rows(Count n, const Tile<T>& tile, const Lattice& lattice, const T* vertices) {
  using V = Lanes<T>;
  constexpr int columns = 1 << Count::value;
  const int32_t* column_features = lattice.features + lattice.n_features - n;
  Rows<T> rows(lattice, tile.heaps);
  for (int t = 0; t < tile.padded; t += V::count) {
    V within[most_of<Count> + 1], weights[2 * columns];
    for (int i = 0; i < n; ++i) within[i] = load(tile.within + column_features[i] * kTile + t);
    spread(n, within, weights);
    rows.enter(tile, lattice.features, t);
    for (int a = 0; a < rows.n_rows; ++a) {
      V row = {};
#pragma GCC unroll 8
      for (int b = 0; b < columns; ++b) row += vertices[a * columns + b] * weights[columns + b];
      rows.values[a] = row;
    }
    *reinterpret_cast<V*>(tile.scores + t) += rows.fold();
  }
}

// As many rows at a time as `group`, so that a column's weights and value are loaded and stored once for all.
template <int group, int columns, class T>
[[gnu::always_inline]] static inline void add_rows(int a, Rows<T>& rows, const Lanes<T>* column_weights,
                                                   const Lanes<T>* weighted, Lanes<T>* column_values,
                                                   SharedCorners<T>& corners) {
  using V = Lanes<T>;
  V row[group] = {}, row_weight[group];
  for (int i = 0; i < group; ++i) row_weight[i] = rows.weights[a + i];
#pragma GCC unroll 8
  for (int b = 0; b < columns; ++b) {
    const V column_weight = column_weights[b], upstream_weight = weighted[b];
    V column = column_values[b];
    for (int i = 0; i < group; ++i) {
      const T corner = corners.at((a + i) * columns + b);
      row[i] += corner * column_weight;
      column += corner * row_weight[i];
      corners.add((a + i) * columns + b, row_weight[i], upstream_weight);
    }
    column_values[b] = column;
  }
  for (int i = 0; i < group; ++i) rows.values[a + i] = row[i];
}

template <class Count, class T>
static void rows_gradient(Count n, const Tile<T>& tile, const Lattice& lattice, SharedCorners<T> corners) {
  using V = Lanes<T>;
  constexpr int columns = 1 << Count::value;
  const int n_others = lattice.n_features - n;
  Rows<T> rows(lattice, tile.heaps);
  for (int t = 0; t < tile.padded; t += V::count) {
    V within[most_of<Count> + 1], slopes[kMaxLatticeFeatures];
    V column_weights[2 * columns], column_values[2 * columns], weighted[columns];
    const V upstream = load(tile.upstream + t);
    for (int i = 0; i < n; ++i) within[i] = load(tile.within + lattice.features[n_others + i] * kTile + t);
    spread(n, within, column_weights);
    for (int b = 0; b < columns; ++b) weighted[b] = column_weights[columns + b] * upstream;
    for (int b = 0; b < columns; ++b) column_values[columns + b] = V{};
    rows.enter(tile, lattice.features, t);
    rows.spread();
    int a = 0;
    for (; a + 1 < rows.n_rows; a += 2)
      add_rows<2, columns>(a, rows, column_weights + columns, weighted, column_values + columns, corners);
    if (a < rows.n_rows)
      add_rows<1, columns>(a, rows, column_weights + columns, weighted, column_values + columns, corners);
    rows.fold_slopes(slopes);
    fold_slopes(n, within, column_weights, column_values, slopes + n_others);
    for (int i = 0; i < lattice.n_features; ++i)
      *reinterpret_cast<V*>(tile.gradients + lattice.features[i] * kTile + t) += upstream * slopes[i];
  }
}

// From the number of columns at run time to one that the compiler knows.
template <bool backward, int n = 0, class T>
static void run_rows(const Tile<T>& tile, const Lattice& lattice, const SharedCorners<T>& corners) {
  if constexpr (n < kMostColumns) {
    if (lattice.n_columns > n) return run_rows<backward, n + 1>(tile, lattice, corners);
  }
  if constexpr (backward)
    rows_gradient(Constant<n>{}, tile, lattice, corners);
  else
    read_rows(Constant<n>{}, tile, lattice, corners.vertices);
}
