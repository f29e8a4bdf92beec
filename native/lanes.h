// What phi_lanes.cpp and crossed_lanes.cpp share: lanes of tokens, lattices and slots. CMake compiles the two together, once
// per instruction set, so that the lattices are compiled once for both.
#pragma once

#include <cstdint>

#include <type_traits>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace PHI_ISA {

#if defined(__AVX512F__)
constexpr int kLaneBytes = 64;
#elif defined(__AVX2__)
constexpr int kLaneBytes = 32;
#else
constexpr int kLaneBytes = 16;
#endif

#include "phi_tile.h"

#include "phi_lattice.h"
#include "phi_slots.h"

// Lanes of gradients are added to the sums in double after this many additions, before rounding can pile up.
constexpr int kAdditionsPerSum = 128;

// A part of scratch memory, aligned for lanes.
template <class U>
static U* take(char*& scratch, int64_t count) {
  U* taken = reinterpret_cast<U*>(scratch);
  scratch += (count * static_cast<int64_t>(sizeof(U)) + 63) / 64 * 64;
  return taken;
}

// What to add to scores, and to take away again, so that they are rounded to a grid on which the sum of `count` of them, none
// beyond 1, is exact: then the order of tokens, and which of them are added together, changes no bit. Only scores in double,
// which is what predictions are made of; and up to 16,384 of them, because the grid must not become coarse.
template <class T>
static T grid_of(int64_t count) {
  if (std::is_same_v<T, float>) return T(0);
  const int bits = count > 1 ? 64 - __builtin_clzll(static_cast<uint64_t>(count - 1)) : 0;
  return static_cast<T>(3 << (bits < 12 ? bits : 12));
}

template <class T, class V>
static inline V on_grid(V score, T grid) {
  return std::is_same_v<T, float> ? score : (score + grid) - grid;
}

template <class U>
static void clear(U* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = U{};
}

}  // namespace PHI_ISA
