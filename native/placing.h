// Where values stand between keypoints. Part of phi_lanes.cpp, inside its namespace.
#pragma once

// Values are placed a block at a time, so that the comparisons with a keypoint are made side by side.
constexpr int kBlock = 256;

template <class T>
static void place_block(const double* __restrict values, int64_t stride, int count, const Keypoints& keypoints,
                        int32_t* __restrict slots, T* __restrict fractions) {
  const double low = keypoints.points[0], high = keypoints.points[keypoints.count - 1];
  alignas(64) double clamped[kBlock], begins[kBlock], widths[kBlock];
  alignas(64) int64_t segments[kBlock];
  for (int i = 0; i < count; ++i) {
    const double value = values[i * stride];
    clamped[i] = value < low ? low : value > high ? high : value;
    segments[i] = 0;
  }
  for (int j = 1; j < keypoints.count - 1; ++j) {
    const double point = keypoints.points[j];
    for (int i = 0; i < count; ++i) segments[i] += clamped[i] >= point;
  }
  for (int i = 0; i < count; ++i) {
    begins[i] = keypoints.halves[segments[i]];
    widths[i] = keypoints.widths[segments[i]];
  }
  for (int i = 0; i < count; ++i) {
    const T fraction = static_cast<T>((clamped[i] / 2 - begins[i]) / widths[i]);
    // One position has one name: a fraction that rounds to 1 is the next keypoint.
    const bool full = fraction == T(1), absent = clamped[i] != clamped[i];
    slots[i] = keypoints.first_slot + (absent ? keypoints.count : static_cast<int32_t>(segments[i]) + full);
    fractions[i] = full || absent ? T(0) : fraction;
  }
}

template <class T>
static void place(const double* values, int64_t stride, int64_t count, const Keypoints& keypoints, int32_t* slots,
                  T* fractions) {
  for (int64_t start = 0; start < count; start += kBlock) {
    const int size = count - start < kBlock ? static_cast<int>(count - start) : kBlock;
    place_block(values + start * stride, stride, size, keypoints, slots + start, fractions + start);
  }
}
