// A lattice of any size and number of features, vertex by vertex of the cell around a point, in REAL.
#pragma once

#ifndef REAL
#define REAL double
#endif

// A value moved into [low, high]; not-a-number stays. Its derivative is 1 inside and on the border, else 0.
__device__ __forceinline__ REAL clamped(REAL value, REAL low, REAL high) {
  return value < low ? low : value > high ? high : value;
}

__device__ __forceinline__ REAL slope_of_clamped(REAL value, REAL low, REAL high) {
  return value >= low && value <= high ? REAL(1) : REAL(0);
}

// A cell of `depth` features; the first varies slowest.
template <int MOST>
struct Cell {
  int depth, base;
  REAL fractions[MOST];
  int strides[MOST];

  __device__ void begin(int first_vertex) {
    depth = 0;
    base = first_vertex;
  }

  // Adds a feature at `place` between 0 and size - 1; the strides are set later.
  __device__ void add(REAL place, int size) {
    int low = place > REAL(0) ? int(place) : 0;
    if (low > size - 2) low = size - 2;
    fractions[depth] = place - REAL(low);
    strides[depth] = low;  // for the moment
    ++depth;
  }

  // `sizes(i)` is the size along the i-th of the features.
  template <class Sizes>
  __device__ void finish(const Sizes& sizes) {
    int stride = 1;
    for (int i = depth - 1; i >= 0; --i) {
      base += strides[i] * stride;
      strides[i] = stride;
      stride *= sizes(i);
    }
  }

  // Calls visit(weight, vertex, prefixes) for all vertices; prefixes[i] is the product of the weights before feature i.
  template <class Visit>
  __device__ void visit(const Visit& visit) const {
    REAL prefixes[MOST + 1];
    int vertices[MOST + 1];
    prefixes[0] = 1;
    vertices[0] = base;
    for (int corner = 0; corner < 1 << depth; ++corner) {
      for (int i = corner ? depth - __ffs(corner) : 0; i < depth; ++i) {
        const bool above = corner >> (depth - 1 - i) & 1;
        prefixes[i + 1] = prefixes[i] * (above ? fractions[i] : 1 - fractions[i]);
        vertices[i + 1] = vertices[i] + (above ? strides[i] : 0);
      }
      visit(corner, prefixes, vertices[depth]);
    }
  }

  __device__ REAL value(const REAL* vertices) const {
    REAL sum = 0;
    visit([&](int, const REAL* prefixes, int vertex) { sum += prefixes[depth] * vertices[vertex]; });
    return sum;
  }

  // Adds to slopes the derivatives by the fractions of sum over vertices of weight times value(vertex).
  template <class Value>
  __device__ void add_slopes(const Value& value, REAL* slopes) const {
    visit([&](int corner, const REAL* prefixes, int vertex) {
      REAL rest = value(vertex);
      for (int i = depth - 1; i >= 0; --i) {
        const bool above = corner >> (depth - 1 - i) & 1;
        slopes[i] += above ? prefixes[i] * rest : -(prefixes[i] * rest);
        rest *= above ? fractions[i] : 1 - fractions[i];
      }
    });
  }
};

// Sums that come out the same in any order: parts of a known scale, as whole numbers.
__device__ __forceinline__ void add_exactly(int64* sum, double amount, double scale) {
  const int64 whole = __double2ll_rn(amount * scale);
  if (whole) atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(whole));
}
