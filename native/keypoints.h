// Keypoints of a numeric feature as the lanes read them.
#pragma once

#include <cstdint>
#include <vector>

#include "checks.h"
#include "phi_lanes.h"

// Halved: the difference of two finite numbers may overflow, that of their halves cannot.
class KeypointTable {
 public:
  KeypointTable(const double* points, int64_t count, int32_t first_slot)
      : points_(points, points + count), halves_(points_.size()), widths_(points_.size(), 1.0), first_slot_(first_slot) {
    check_range("The number of keypoints", count, 2, kMaxInt32);
    check_range("first_slot", first_slot, 0, kMaxInt32 - count);
    check_rising("keypoints", points_.data(), points_.size());
    for (size_t i = 0; i < points_.size(); ++i) halves_[i] = points_[i] / 2;
    for (size_t i = 0; i + 1 < points_.size(); ++i) widths_[i] = halves_[i + 1] - halves_[i];
  }

  Keypoints seen() const {
    return {points_.data(), halves_.data(), widths_.data(), static_cast<int32_t>(points_.size()), first_slot_};
  }

 private:
  std::vector<double> points_, halves_, widths_;
  int32_t first_slot_;
};
