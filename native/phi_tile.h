// Tokens side by side: what the parts of phi_lanes.cpp share. Inside its namespace.
#pragma once

template <class T>
struct Vector {
  typedef T type __attribute__((vector_size(kLaneBytes)));
};

// Tokens side by side: two registers, so that what is shared by all tokens is loaded once for both.
template <class T>
struct Lanes {
  static constexpr int count = 2 * kLaneBytes / sizeof(T);
  typename Vector<T>::type low, high;

  friend Lanes operator+(const Lanes& x, const Lanes& y) { return {x.low + y.low, x.high + y.high}; }
  friend Lanes operator-(const Lanes& x, const Lanes& y) { return {x.low - y.low, x.high - y.high}; }
  friend Lanes operator*(const Lanes& x, const Lanes& y) { return {x.low * y.low, x.high * y.high}; }
  friend Lanes operator*(T x, const Lanes& y) { return {x * y.low, x * y.high}; }
  Lanes& operator+=(const Lanes& other) { return *this = *this + other; }
};

template <class T>
static inline const Lanes<T>& load(const T* from) {
  return *reinterpret_cast<const Lanes<T>*>(from);
}

// Where the slots of one feature have been so far, both ends included.
struct SlotSpan {
  uint32_t first;
  uint32_t last;
};

// Tokens that are worked on together: few enough for the first cache, padded with zeros to whole lanes.
constexpr int kTile = 128;
template <class T>
struct Tile {
  int tokens;
  int padded;
  T* within;        // (features, kTile): place inside the cell
  int32_t* cells;   // (features, kTile): which cell; zero where the size is 2
  T* scores;        // (kTile)
  T* slopes;        // (features, kTile): derivative of within by the calibrated value, zero where clamped
  T* upstream;      // (kTile): gradient of the scores
  T* gradients;     // (features, kTile): gradient of within
  SlotSpan* spans;  // (features)
  // Of the largest lattice, see phi_lattice.h.
  Lanes<T>* heaps;          // (heap_nodes)
  int32_t* corner_offsets;  // (corners of a cell)
};
