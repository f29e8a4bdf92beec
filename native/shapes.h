// Every constraint of a set function, and the projection of its tables onto them; clearset.functions.ShapeConstraints holds
// the same in numpy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "half_spaces.h"
#include "parameters.h"

// To within this of the largest value, in at most so many sweeps: the next step moves everything again.
constexpr double kTrainingTolerance = 1e-7;
constexpr int64_t kTrainingSweeps = 300;

// Half-spaces over some columns of a table, for each of its rows; every projection starts from the multipliers of the last.
class HalfSpaces {
 public:
  virtual ~HalfSpaces() = default;
  virtual void project(double* row, int64_t member) = 0;
  virtual std::vector<double>& multipliers() = 0;
};

template <int width>
class HalfSpacesOf : public HalfSpaces {
 public:
  // `own` are the columns, counted from `first`, that the result is for.
  HalfSpacesOf(std::vector<int32_t> indices, std::vector<double> coefficients, int64_t first, std::vector<int32_t> own,
               int64_t size, int64_t members, double lower, double upper, bool boxed)
      : indices_(std::move(indices)), coefficients_(std::move(coefficients)), first_(first), own_(std::move(own)),
        lower_(lower), upper_(upper), point_(static_cast<size_t>(size)), n_rows_(indices_.size() / width),
        duals_(n_rows_ * static_cast<size_t>(members)),
        solver_(indices_.data(), coefficients_.data(), n_rows_, static_cast<size_t>(size),
                boxed ? lower : -std::numeric_limits<double>::infinity(),
                boxed ? upper : std::numeric_limits<double>::infinity()) {}

  void project(double* row, int64_t member) override {
    std::copy_n(row + first_, point_.size(), point_.begin());
    solver_.solve(point_.data(), duals_.data() + static_cast<size_t>(member) * n_rows_, kTrainingTolerance, kTrainingSweeps);
    for (const int32_t column : own_) row[first_ + column] = std::min(std::max(point_[column], lower_), upper_);
  }

  std::vector<double>& multipliers() override { return duals_; }

 private:
  std::vector<int32_t> indices_;
  std::vector<double> coefficients_;
  int64_t first_;
  std::vector<int32_t> own_;
  double lower_, upper_;
  std::vector<double> point_;
  size_t n_rows_;
  std::vector<double> duals_;
  HalfSpaceSolver<width> solver_;
};

struct Chain {
  int64_t start;
  int64_t stop;
};

// The constraints of one table.
class TableShape {
 public:
  TableShape(Table table, double lower, double upper, std::vector<Chain> chains, std::vector<Chain> pinned)
      : table_(table), lower_(lower), upper_(upper), chains_(std::move(chains)), pinned_(std::move(pinned)),
        sums_(static_cast<size_t>(table.columns)), means_(sums_.size()), counts_(sums_.size()) {}

  void add(std::unique_ptr<HalfSpaces> part) { parts_.push_back(std::move(part)); }
  const Table& table() const { return table_; }
  double lower() const { return lower_; }
  double upper() const { return upper_; }

  void project(double* parameters) {
    for (int64_t member = 0; member < table_.rows; ++member) {
      double* row = parameters + table_.start + member * table_.columns;
      for (const Chain& chain : chains_)
        pool_adjacent_violators(row + chain.start, static_cast<size_t>(chain.stop - chain.start), sums_.data(),
                                means_.data(), counts_.data());
      clip(row);
      for (auto& part : parts_) part->project(row, member);
      for (const Chain& ends : pinned_) {
        row[ends.start] = lower_;
        row[ends.stop - 1] = upper_;
      }
    }
  }

  // Hands over the multipliers of each part, by a name that begins with the given one.
  template <class Visit>
  void visit_state(const std::string& name, const Visit& visit) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::vector<double>& multipliers = parts_[i]->multipliers();
      visit(name + "." + std::to_string(i), multipliers.data(), multipliers.size());
    }
  }

  void project_bounds(double* parameters) const {
    for (int64_t member = 0; member < table_.rows; ++member) clip(parameters + table_.start + member * table_.columns);
  }

 private:
  void clip(double* row) const {
    for (int64_t i = 0; i < table_.columns; ++i) row[i] = std::min(std::max(row[i], lower_), upper_);
  }

  Table table_;
  double lower_, upper_;
  std::vector<Chain> chains_, pinned_;
  std::vector<std::unique_ptr<HalfSpaces>> parts_;
  std::vector<double> sums_, means_;
  std::vector<size_t> counts_;
};
