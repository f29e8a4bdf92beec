// phi with a value per class, forward and backward, for the slices of a training step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "corrections.h"
#include "crossed_tables.h"
#include "phi_pass.h"

// The kernels copy the tokens themselves. Where corrections are learned they see only those of a slice's tokens, numbered
// anew, so that nothing is as long as the table of all corrections.
template <class T>
class CrossedPass : public PhiPass<T> {
 public:
  CrossedPass(const Crossed<T>& crossed, const LabelledSets& sets, int n_workers, Corrections<T>* learned)
      : PhiPass<T>(sets), crossed_(crossed), learned_(learned), workers_(static_cast<size_t>(n_workers)) {
    tables_.place_keypoints(crossed_);
    for (Worker& worker : workers_) {
      worker.scratch = allocate(crossed_kernel<T>().scratch_bytes(crossed_));
      if (learned_) worker.numbers.assign(static_cast<size_t>(learned_->count()), -1);
    }
  }

  // Corrections that are applied and not learned.
  void set_corrections(const T* values) { crossed_.corrections = values; }
  std::vector<SliceCorrections>& slices() { return slices_; }

  void reserve(int n_slices, int64_t, int64_t tokens) override {
    if (!learned_) return;
    const size_t most = static_cast<size_t>(std::min(tokens, learned_->count()));
    const size_t entries = most * static_cast<size_t>(learned_->classes());
    if (slices_.size() < static_cast<size_t>(n_slices)) slices_.resize(static_cast<size_t>(n_slices));
    for (SliceCorrections& slice : slices_) {
      slice.tokens.reserve(most);
      slice.gradient.reserve(entries);
    }
    for (Worker& worker : workers_) worker.values.reserve(entries);
    learned_->reserve(static_cast<int64_t>(most) * n_slices);
  }

  void read_tables(const double* calibration, const double* vertices) override {
    tables_.read(crossed_, calibration, vertices);
  }

  int64_t gradient_size() const override {
    return 2 * crossed_.n_outputs * (int64_t{crossed_.n_slots} + crossed_.n_corners);
  }

  bool forward(int slice, int number, const int64_t* sets, int64_t n_sets, T* means) override {
    Worker& worker = workers_[number];
    Crossed<T> crossed = crossed_;
    crossed.sets = sets;
    if (!learned_) return crossed_kernel<T>().forward(crossed, {0, n_sets}, means, worker.scratch.get());
    const std::vector<int32_t>& tokens = slices_[slice].tokens;
    bool fits = number_corrections(slices_[slice].tokens, worker, sets, n_sets);
    show(crossed, worker, tokens.size());
    fits = fits && crossed_kernel<T>().forward(crossed, {0, n_sets}, means, worker.scratch.get());
    if (!fits) forget_numbers(worker, tokens);  // there is no way back, which would do it
    return fits;
  }

  bool backward(int slice, int number, const int64_t* sets, int64_t n_sets, const T* by_means, double* gradient) override {
    Worker& worker = workers_[number];
    Crossed<T> crossed = crossed_;
    crossed.sets = sets;
    double* by_low = gradient + 2 * crossed_.n_outputs * int64_t{crossed_.n_slots};
    const int64_t corners = crossed_.n_outputs * crossed_.n_corners;
    CrossedGradient to{gradient, by_low, by_low + corners, nullptr};
    if (!learned_) return crossed_kernel<T>().backward(crossed, {0, n_sets}, by_means, to, worker.scratch.get());
    SliceCorrections& corrections = slices_[slice];
    corrections.gradient.assign(corrections.tokens.size() * static_cast<size_t>(learned_->classes()), 0.0);
    to.corrections = corrections.gradient.data();
    show(crossed, worker, corrections.tokens.size());
    const bool fits = crossed_kernel<T>().backward(crossed, {0, n_sets}, by_means, to, worker.scratch.get());
    forget_numbers(worker, corrections.tokens);
    return fits;
  }

  void gradients(const double* total, double* by_calibration, double* by_vertices) const override {
    const int64_t outputs = crossed_.n_outputs, corners = crossed_.n_corners;
    slot_gradients(total, outputs, crossed_.n_slots, by_calibration);
    const double* by_low = total + 2 * outputs * int64_t{crossed_.n_slots};
    vertex_gradients(by_low, by_low + outputs * corners, outputs, corners, by_vertices);
  }

 private:
  struct Worker {
    AlignedMemory scratch;
    std::vector<int32_t> numbers;  // of each correction within the slice, or -1
    std::vector<T> values;         // of the slice's corrections
  };

  // False if a correction does not exist.
  bool number_corrections(std::vector<int32_t>& tokens, Worker& worker, const int64_t* sets, int64_t n_sets) const {
    tokens.clear();
    worker.values.clear();
    for (int64_t i = 0; i < n_sets; ++i)
      for (int64_t t = crossed_.offsets[sets[i]]; t < crossed_.offsets[sets[i] + 1]; ++t) {
        const int32_t token = crossed_.refined[t];
        if (token >= learned_->count()) return false;
        if (token < 0 || worker.numbers[token] >= 0) continue;
        worker.numbers[token] = static_cast<int32_t>(tokens.size());
        tokens.push_back(token);
        worker.values.insert(worker.values.end(), learned_->row(token), learned_->row(token + 1));
      }
    return true;
  }

  static void forget_numbers(Worker& worker, const std::vector<int32_t>& tokens) {
    for (const int32_t token : tokens) worker.numbers[token] = -1;
  }

  void show(Crossed<T>& crossed, const Worker& worker, size_t count) const {
    crossed.numbers = worker.numbers.data();
    crossed.corrections = worker.values.data();
    crossed.n_corrections = static_cast<int64_t>(count);
  }

  Crossed<T> crossed_;
  Corrections<T>* learned_;
  CrossedTables<T> tables_;
  std::vector<Worker> workers_;
  std::vector<SliceCorrections> slices_;
};
