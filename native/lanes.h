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

template <class U>
static void clear(U* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = U{};
}

}  // namespace PHI_ISA
