// phi with a value per class, for one slice of the chosen sets: compiled once per instruction set (crossed_lanes.cpp) and
// chosen at run time (dispatch.cpp). Only plain structs stand here, for the reason that phi_lanes.h gives.
#pragma once

#include "phi_lanes.h"

// One call: everything that its slices share. Shapes in row-major order. A token and output fold the plain features to a
// line over the calibrated value: score = low + rise * calibrated.
template <class T>
struct Crossed {
  int64_t n_tokens;
  int32_t n_plain;
  int32_t n_classes;
  int32_t n_outputs;
  int32_t n_slots;
  int32_t n_keypoints;
  int64_t n_rows;
  bool refines;                // there is a table of corrections
  int64_t n_corrections;
  int64_t n_corners;           // of the plain features: half of the vertices
  const int32_t* slots;        // (plain features, tokens)
  const T* fractions;          // (plain features, tokens)
  const int64_t* offsets;      // (sets + 1)
  const int32_t* rows;         // (tokens)
  const int32_t* refined;      // (tokens)
  const int32_t* numbers;      // of every correction in `corrections`; null where they stand in their own order
  const int64_t* sets;         // (chosen sets)
  const T* values;             // (rows, classes)
  const T* corrections;        // (corrections, classes)
  const T* keypoints;          // (keypoints)
  const T* low;                // (outputs, corners): vertices where the crossed feature is at 0
  const T* rise;               // (outputs, corners): from there to where it is at 1
  // All tables end in kSlotsInRegisters entries that nobody needs. The last three are of the crossed feature, whose slots
  // are its segments and, with the number of keypoints as its number, "missing"; their steps are 0.
  const TableEntry<T>* table;     // (outputs, slots)
  const TableEntry<T>* starts;    // (keypoints + 1): the keypoint where a segment begins
  const TableEntry<T>* inverses;  // (keypoints + 1): one over the segment's width
  const TableEntry<T>* steps;     // (outputs, keypoints + 1): how far the calibrated value goes along the segment
};

// Gradients of one slice, summed in double.
struct CrossedGradient {
  double* calibration;  // (outputs, slots, 2): sums over a slot's tokens of g and of g * fraction
  double* low;          // (outputs, corners)
  double* rise;         // (outputs, corners)
  double* corrections;  // (corrections, classes)
};

template <class T>
struct CrossedKernel {
  // Bytes of scratch memory, aligned to 64, that one slice needs.
  int64_t (*scratch_bytes)(const Crossed<T>&);
  // Writes the means (chosen sets, classes, outputs) of the slice; false if a slot, a row or a correction does not exist,
  // found before it is read.
  bool (*forward)(const Crossed<T>&, SliceOfSets, T* means, char* scratch);
  // Adds to the gradient of the slice, for the gradient of the means; false as above.
  bool (*backward)(const Crossed<T>&, SliceOfSets, const T* grad_means, CrossedGradient, char* scratch);
};

namespace baseline {
extern const CrossedKernel<float> crossed_f32;
extern const CrossedKernel<double> crossed_f64;
}  // namespace baseline
namespace avx2 {
extern const CrossedKernel<float> crossed_f32;
extern const CrossedKernel<double> crossed_f64;
}  // namespace avx2
namespace avx512 {
extern const CrossedKernel<float> crossed_f32;
extern const CrossedKernel<double> crossed_f64;
}  // namespace avx512
