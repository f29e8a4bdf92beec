// Euclidean projection of one vector onto a chain, and onto half-spaces in a box.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// Pool adjacent violators: a block is merged into the one before it while its mean is lower.
// Equal means stay apart, so a chain that is in order already is not touched by rounding.
inline void pool_adjacent_violators(double* first, size_t length, double* sums, double* means, size_t* counts) {
  size_t blocks = 0;
  for (size_t i = 0; i < length; ++i) {
    double sum = first[i];
    double mean = sum;
    size_t count = 1;
    while (blocks > 0 && means[blocks - 1] > mean) {
      --blocks;
      sum += sums[blocks];
      count += counts[blocks];
      mean = sum / static_cast<double>(count);
    }
    sums[blocks] = sum;
    means[blocks] = mean;
    counts[blocks] = count;
    ++blocks;
  }
  for (size_t block = 0; block < blocks; ++block) {
    first = std::fill_n(first, counts[block], means[block]);
  }
}

// One member of the batch. Rows are normalised to length one, so a row's residual is the distance to its plane.
template <int width>
class HalfSpaceSolver {
 public:
  HalfSpaceSolver(const int32_t* indices, const double* coefficients, size_t rows, size_t size, double lower, double upper)
      : indices_(indices), coefficients_(coefficients), rows_(rows), size_(size), lower_(lower), upper_(upper),
        boxed_(std::isfinite(lower) || std::isfinite(upper)), x_(size), free_point_(size), pull_(size), trial_(size), held_(size) {}

  // Overwrites values by their projection and duals by its multipliers; done once no step of a sweep exceeds the tolerance.
  void solve(double* values, double* duals, double tolerance, int64_t max_sweeps) {
    double largest_value = 0.0, largest_point = 0.0;
    for (size_t i = 0; i < size_; ++i) {
      x_[i] = clip(values[i]);
      largest_value = std::max(largest_value, std::abs(values[i]));
      largest_point = std::max(largest_point, std::abs(x_[i]));
    }
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * largest_value;
    const double limit = std::max(tolerance * largest_point, rounding);
    if (feasible(limit)) {
      std::copy(x_.begin(), x_.end(), values);
      std::fill(duals, duals + rows_, 0.0);
      return;
    }
    restart(values, duals);
    for (int64_t sweeps = 1; sweeps <= max_sweeps; ++sweeps) {
      if (sweep(duals) <= limit) break;
      if (sweeps % kSweepsPerFace == 0) {
        restart(values, duals);
        minimise_on_faces(duals, 0.1 * limit);
      }
    }
    std::copy(x_.begin(), x_.end(), values);
  }

 private:
  static constexpr int64_t kSweepsPerFace = 3;
  static constexpr size_t kMaxConjugateSteps = 200;
  // With many rows, sweeps find the rows that count in less time than faces left one by one.
  static constexpr size_t kManyRows = 128;
  static constexpr int kMaxFaces = 30;
  static constexpr double kFlat = 1e-28;

  double clip(double value) const { return std::min(std::max(value, lower_), upper_); }

  double residual(size_t row, const double* point) const {
    double sum = 0.0;
    for (int j = 0; j < width; ++j) sum += coefficients_[row * width + j] * point[indices_[row * width + j]];
    return sum;
  }

  void add_row(size_t row, double amount, double* point) const {
    for (int j = 0; j < width; ++j) point[indices_[row * width + j]] += amount * coefficients_[row * width + j];
  }

  bool feasible(double limit) const {
    for (size_t row = 0; row < rows_; ++row) {
      if (residual(row, x_.data()) < -limit) return false;
    }
    return true;
  }

  // x = clip(y + A^T duals), computed afresh: whatever the duals, it belongs to the current y.
  void restart(const double* values, const double* duals) {
    std::copy(values, values + size_, free_point_.begin());
    for (size_t row = 0; row < rows_; ++row) {
      if (duals[row] > 0.0) add_row(row, duals[row], free_point_.data());
    }
    for (size_t i = 0; i < size_; ++i) {
      x_[i] = clip(free_point_[i]);
      pull_[i] = x_[i] - free_point_[i];
    }
  }

  // Hildreth: each row, then the box, is made optimal in turn. Returns the largest step.
  double sweep(double* duals) {
    double largest = 0.0;
    for (size_t row = 0; row < rows_; ++row) {
      const double step = std::max(-residual(row, x_.data()), -duals[row]);
      if (step != 0.0) {
        duals[row] += step;
        add_row(row, step, x_.data());
        largest = std::max(largest, std::abs(step));
      }
    }
    if (boxed_) {
      for (size_t i = 0; i < size_; ++i) {
        const double outside = x_[i] - pull_[i];
        const double inside = clip(outside);
        largest = std::max(largest, std::abs(inside - x_[i]));
        pull_[i] = inside - outside;
        x_[i] = inside;
      }
    }
    return largest;
  }

  // Minimises over the duals that are positive, then over those that are left, until all of them stay positive.
  void minimise_on_faces(double* duals, double limit) {
    const int most = rows_ > kManyRows ? 1 : kMaxFaces;
    for (int faces = 0; faces < most; ++faces) {
      face_.clear();
      for (size_t row = 0; row < rows_; ++row) {
        if (duals[row] > 0.0) face_.push_back(row);
      }
      for (size_t i = 0; i < size_; ++i) held_[i] = pull_[i] != 0.0;
      step_towards_minimum(limit);
      zeros_.resize(face_.size());
      for (size_t k = 0; k < face_.size(); ++k) {
        zeros_[k] = step_[k] < 0.0 ? -duals[face_[k]] / step_[k] : std::numeric_limits<double>::infinity();
      }
      // Steps that drop many duals at once are tried first; the last one needs no luck.
      if (!accept(duals, 1.0) && !accept(duals, 0.25) && !accept(duals, best_part())) return;
      bool same = true;
      for (size_t row : face_) same = same && duals[row] > 0.0;
      for (size_t i = 0; i < size_; ++i) same = same && held_[i] == (pull_[i] != 0.0);
      if (same) return;
    }
  }

  // Conjugate gradients on the face, coordinates at a bound held there.
  void step_towards_minimum(double limit) {
    const size_t count = face_.size();
    gradient_.resize(count);
    rest_.resize(count);
    direction_.resize(count);
    step_.assign(count, 0.0);
    double rest_square = 0.0;
    for (size_t k = 0; k < count; ++k) {
      gradient_[k] = residual(face_[k], x_.data());
      rest_[k] = direction_[k] = -gradient_[k];
      rest_square += rest_[k] * rest_[k];
    }
    const size_t most = std::min(2 * count, kMaxConjugateSteps);
    for (size_t iteration = 0; iteration < most && rest_square > limit * limit; ++iteration) {
      std::fill(trial_.begin(), trial_.end(), 0.0);
      for (size_t k = 0; k < count; ++k) add_row(face_[k], direction_[k], trial_.data());
      double curvature = 0.0, direction_square = 0.0;
      for (size_t k = 0; k < count; ++k) direction_square += direction_[k] * direction_[k];
      for (size_t i = 0; i < size_; ++i) {
        if (pull_[i] != 0.0) trial_[i] = 0.0;
        curvature += trial_[i] * trial_[i];
      }
      if (curvature <= kFlat * direction_square) {
        step_to_release();
        return;
      }
      const double length = rest_square / curvature;
      double next_square = 0.0;
      for (size_t k = 0; k < count; ++k) {
        step_[k] += length * direction_[k];
        rest_[k] -= length * residual(face_[k], trial_.data());
        next_square += rest_[k] * rest_[k];
      }
      const double ratio = next_square / rest_square;
      for (size_t k = 0; k < count; ++k) direction_[k] = rest_[k] + ratio * direction_[k];
      rest_square = next_square;
    }
  }

  // Where bounds hold all that a direction would move, f falls along it in a line, until it sets a coordinate free.
  void step_to_release() {
    std::vector<double>& held = trial_;
    std::copy(pull_.begin(), pull_.end(), held.begin());
    std::vector<double> image(size_, 0.0);
    for (size_t k = 0; k < face_.size(); ++k) {
      add_row(face_[k], -step_[k], held.data());
      add_row(face_[k], direction_[k], image.data());
    }
    double length = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < size_; ++i) {
      if (pull_[i] != 0.0 && held[i] * image[i] > 0.0) length = std::min(length, held[i] / image[i]);
    }
    if (!std::isfinite(length)) return;
    for (size_t k = 0; k < face_.size(); ++k) step_[k] += length * direction_[k];
  }

  // Where the dual objective is least between no step and the first dual that vanishes, or the whole step. Along a step that
  // moves z by w its slope is w . clip(z + t w): it only grows, in a straight line between the places at which a coordinate
  // reaches or leaves a bound.
  double best_part() {
    double most = 1.0;
    for (double zero : zeros_) most = std::min(most, zero);
    if (!boxed_) return most;
    std::vector<double>& way = trial_;
    std::fill(way.begin(), way.end(), 0.0);
    for (size_t k = 0; k < face_.size(); ++k) add_row(face_[k], step_[k], way.data());
    const auto slope = [&](double length) {
      double sum = 0.0;
      for (size_t i = 0; i < size_; ++i) sum += way[i] * clip(free_point_[i] + length * way[i]);
      return sum;
    };
    places_.assign(1, 0.0);
    for (size_t i = 0; i < size_; ++i) {
      for (double bound : {lower_, upper_}) {
        const double place = (bound - free_point_[i]) / way[i];
        if (place > 0.0 && place < most) places_.push_back(place);
      }
    }
    places_.push_back(most);
    std::sort(places_.begin(), places_.end());
    size_t low = 0, high = places_.size() - 1;
    while (low + 1 < high) {
      const size_t middle = (low + high) / 2;
      (slope(places_[middle]) > 0.0 ? high : low) = middle;
    }
    const double before = slope(places_[low]), after = slope(places_[high]);
    const double part = after > 0.0 ? -before / (after - before) : 1.0;
    return places_[low] + part * (places_[high] - places_[low]);
  }

  // Takes the step if the dual objective falls. Its change is summed from differences, so it is reliable down to rounding.
  bool accept(double* duals, double length) {
    std::copy(free_point_.begin(), free_point_.end(), trial_.begin());
    double change = 0.0;
    for (size_t k = 0; k < face_.size(); ++k) {
      const double step = zeros_[k] <= length ? -duals[face_[k]] : length * step_[k];
      change += step * gradient_[k];
      add_row(face_[k], step, trial_.data());
    }
    for (size_t i = 0; i < size_; ++i) {
      const double inside = clip(trial_[i]), moved = inside - x_[i];
      change += moved * (0.5 * moved + (trial_[i] - inside));
    }
    if (!(change < 0.0)) return false;
    for (size_t k = 0; k < face_.size(); ++k) {
      double& dual = duals[face_[k]];
      // A dual that is stopped at 0 is 0 without rounding.
      dual = zeros_[k] <= length ? 0.0 : dual + length * step_[k];
    }
    free_point_.swap(trial_);
    for (size_t i = 0; i < size_; ++i) {
      x_[i] = clip(free_point_[i]);
      pull_[i] = x_[i] - free_point_[i];
    }
    return true;
  }

  const int32_t* indices_;
  const double* coefficients_;
  size_t rows_, size_;
  double lower_, upper_;
  bool boxed_;
  std::vector<double> x_, free_point_, pull_, trial_;
  std::vector<size_t> face_;
  std::vector<bool> held_;
  std::vector<double> gradient_, rest_, direction_, step_, zeros_, places_;
};
