// The work of one slice of the batch, compiled once per instruction set (phi_lanes.cpp) and chosen at run time
// (dispatch.cpp).
//
// Only plain structs stand here. An inline function of this header, or of the standard library, would be compiled for
// every instruction set under one name, and the linker might keep the copy that the machine cannot run.
#pragma once

#include <cstdint>

// The most features that fit in one lattice: 2^14 vertices.
constexpr int kMaxLatticeFeatures = 14;

// The most features whose corners are the columns of a lattice that is read in rows, see phi_rows.h.
constexpr int kMostColumns = 5;

struct Lattice {
  int n_features;
  const int32_t* features;
  const int32_t* strides;  // distance between neighbouring vertices along each feature
  int64_t first_vertex;
  int64_t n_vertices;
  bool single_cell;  // every size is 2, so that all tokens have the same corners
  // Of a lattice that is read in rows (phi_rows.h), whose last features are those of its columns; else no rows.
  int n_rows;
  int n_columns;         // features
  const int32_t* sizes;  // (features)
  const int32_t* order;  // (vertices): which vertex stands where in its rows
};

// A slot's calibrated value, and the step to the next slot's.
template <class T>
struct TableEntry {
  T value;
  T step;
};

// As many entries of a feature's table may be read at once, whether they are its own or not; so the table ends in as many
// entries that nobody needs.
constexpr int kSlotsInRegisters = 32;

// One call: everything that its slices share. Shapes in row-major order.
template <class T>
struct Phi {
  int64_t n_tokens;
  int32_t n_features;
  int32_t n_outputs;
  int32_t n_slots;
  int32_t n_lattices;
  int64_t n_vertices;
  const int32_t* slots;    // (features, tokens)
  const T* fractions;      // (features, tokens)
  const int64_t* offsets;  // (sets + 1)
  const TableEntry<T>* table;  // (outputs, slots), then kSlotsInRegisters more
  const T* vertices;       // (outputs, vertices)
  const int32_t* sizes;    // (features)
  const Lattice* lattices;
};

// Gradients of one slice, summed in double.
struct SliceGradient {
  double* calibration;  // (outputs, slots, 2): sums over a slot's tokens of g and of g * fraction
  double* vertices;     // (outputs, vertices)
};

// Keypoints of a numeric feature; "missing" stands in the slot after them.
struct Keypoints {
  const double* points;  // (count), rising
  const double* halves;  // (count): half of each
  const double* widths;  // (count): half of the distance to the next
  int32_t count;
  int32_t first_slot;
};

struct SliceOfSets {
  int64_t first;
  int64_t last;  // one past the end
};

template <class T>
struct PhiKernel {
  // Writes slots and fractions of values; not-a-number is missing.
  void (*place)(const double* values, int64_t stride, int64_t count, const Keypoints&, int32_t* slots, T* fractions);
  // Bytes of scratch memory, aligned to 64, that one slice needs.
  int64_t (*scratch_bytes)(const Phi<T>&);
  // Writes the means (sets, outputs) of the slice; false if a slot does not exist, found before it is read.
  bool (*forward)(const Phi<T>&, SliceOfSets, T* means, char* scratch);
  // Adds to the gradient of the slice, for the gradient of the means (sets, outputs); false as above.
  // Where by_fractions (features, tokens) is not null, adds the gradients of the slice's fractions to it.
  bool (*backward)(const Phi<T>&, SliceOfSets, const T* grad_means, SliceGradient, T* by_fractions, char* scratch);
};

namespace baseline {
extern const PhiKernel<float> kernel_f32;
extern const PhiKernel<double> kernel_f64;
}  // namespace baseline
namespace avx2 {
extern const PhiKernel<float> kernel_f32;
extern const PhiKernel<double> kernel_f64;
}  // namespace avx2
namespace avx512 {
extern const PhiKernel<float> kernel_f32;
extern const PhiKernel<double> kernel_f64;
}  // namespace avx512
