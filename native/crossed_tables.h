// Tables of phi with a value per class, as the kernels read them.
#pragma once

#include <cstdint>
#include <vector>

#include "crossed_lanes.h"
#include "phi_tables.h"

template <class T>
class CrossedTables {
 public:
  // Once for all calls with the same keypoints.
  void place_keypoints(Crossed<T>& crossed) {
    const int64_t keypoints = crossed.n_keypoints;
    starts_.assign(static_cast<size_t>(keypoints + 1 + kSlotsInRegisters), TableEntry<T>{});
    inverses_ = starts_;
    for (int64_t s = 0; s + 1 < keypoints; ++s) {
      starts_[s].value = crossed.keypoints[s];
      inverses_[s].value = 1 / (crossed.keypoints[s + 1] - crossed.keypoints[s]);
    }
    crossed.starts = starts_.data();
    crossed.inverses = inverses_.data();
  }

  // From calibration (outputs, slots) and vertices (outputs, 2, corners).
  template <class Number>
  void read(Crossed<T>& crossed, const Number* calibration, const Number* vertices) {
    const int64_t outputs = crossed.n_outputs, slots = crossed.n_slots, segments = crossed.n_keypoints + 1;
    fill_table(calibration, outputs, slots, table_);
    steps_.assign(static_cast<size_t>(outputs * segments + kSlotsInRegisters), TableEntry<T>{});
    for (int64_t k = 0; k < outputs; ++k)
      for (int64_t s = 0; s + 2 < segments; ++s) steps_[k * segments + s].value = table_[k * slots + s].step;
    const int64_t corners = crossed.n_corners;
    low_.resize(static_cast<size_t>(outputs * corners));
    rise_.resize(low_.size());
    for (int64_t k = 0; k < outputs; ++k, vertices += 2 * corners)
      for (int64_t v = 0; v < corners; ++v) {
        low_[k * corners + v] = static_cast<T>(vertices[v]);
        rise_[k * corners + v] = static_cast<T>(vertices[corners + v] - vertices[v]);
      }
    crossed.table = table_.data();
    crossed.steps = steps_.data();
    crossed.low = low_.data();
    crossed.rise = rise_.data();
  }

 private:
  std::vector<TableEntry<T>> table_, starts_, inverses_, steps_;
  std::vector<T> low_, rise_;
};

// Gradients by vertices (outputs, 2, corners) from those by low and rise.
template <class T>
void vertex_gradients(const double* by_low, const double* by_rise, int64_t n_outputs, int64_t n_corners, T* by_vertices) {
  for (int64_t k = 0; k < n_outputs; ++k, by_vertices += n_corners)
    for (int64_t v = 0; v < n_corners; ++v, ++by_low, ++by_rise, ++by_vertices) {
      by_vertices[0] = static_cast<T>(*by_low - *by_rise);
      by_vertices[n_corners] = static_cast<T>(*by_rise);
    }
}
