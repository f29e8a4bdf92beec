// phi and the mean over each set, forward and backward, for the slices of a training step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dispatch.h"
#include "packed_sets.h"
#include "phi_tables.h"
#include "slices.h"

// A slice is some of the sets of a step. It is worked on by one thread, forward and then backward.
template <class T>
class PhiPass {
 public:
  explicit PhiPass(const LabelledSets& sets) : sets_(sets) {}
  virtual ~PhiPass() = default;

  int64_t set_of(int64_t label) const { return sets_.chosen ? sets_.chosen[label] : label; }
  int64_t size_of_set(int64_t set) const { return sets_.offsets[set + 1] - sets_.offsets[set]; }
  // Arrays stay in the hands of Python, where they may change after they were checked.
  bool has_set(int64_t set) const {
    return set >= 0 && set < sets_.n_sets && sets_.offsets[set] >= 0 && sets_.offsets[set] < sets_.offsets[set + 1] &&
           sets_.offsets[set + 1] <= sets_.n_tokens;
  }

  // Makes room for slices of at most so many sets and tokens: threads do not allocate.
  virtual void reserve(int n_slices, int64_t sets, int64_t tokens) = 0;
  virtual void read_tables(const double* calibration, const double* vertices) = 0;
  // Doubles of a slice's gradient.
  virtual int64_t gradient_size() const = 0;
  // Writes the means (sets, functions, width); false if a slot or a row does not exist.
  virtual bool forward(int slice, int worker, const int64_t* sets, int64_t n_sets, T* means) = 0;
  // Adds to the gradient of the slice.
  virtual bool backward(int slice, int worker, const int64_t* sets, int64_t n_sets, const T* by_means, double* gradient) = 0;
  // From the gradients of all slices, added up.
  virtual void gradients(const double* total, double* by_calibration, double* by_vertices) const = 0;

 protected:
  LabelledSets sets_;
};

// Plain features: the tokens of a slice are copied side by side, from where the store has them.
template <class T, class Store>
class PlainPass : public PhiPass<T> {
 public:
  PlainPass(const PhiLayout& layout, Store store, int64_t n_outputs, int64_t n_slots, int n_workers)
      : PhiPass<T>(store.sets()), store_(std::move(store)), workers_(static_cast<size_t>(n_workers)) {
    layout.describe(phi_);
    phi_.n_outputs = static_cast<int32_t>(n_outputs);
    phi_.n_slots = static_cast<int32_t>(n_slots);
    vertices_.resize(static_cast<size_t>(n_outputs * phi_.n_vertices));
    for (Worker& worker : workers_) worker.scratch = allocate(phi_kernel<T>().scratch_bytes(phi_));
  }

  void reserve(int, int64_t sets, int64_t tokens) override {
    for (Worker& worker : workers_) {
      const size_t entries = static_cast<size_t>(phi_.n_features * (tokens + kRun));
      // Each for itself: where memory ends between the two, the next call goes on from there.
      if (worker.slots.size() < entries) worker.slots.resize(entries);
      if (worker.fractions.size() < entries) worker.fractions.resize(entries);
      if (worker.offsets.size() <= static_cast<size_t>(sets)) worker.offsets.resize(static_cast<size_t>(sets + 1));
    }
  }

  void read_tables(const double* calibration, const double* vertices) override {
    fill_table(calibration, phi_.n_outputs, phi_.n_slots, table_);
    std::transform(vertices, vertices + vertices_.size(), vertices_.begin(), [](double v) { return static_cast<T>(v); });
    phi_.table = table_.data();
    phi_.vertices = vertices_.data();
  }

  int64_t gradient_size() const override { return phi_.n_outputs * (2 * int64_t{phi_.n_slots} + phi_.n_vertices); }

  bool forward(int, int number, const int64_t* sets, int64_t n_sets, T* means) override {
    Worker& worker = workers_[number];
    worker.offsets[0] = 0;
    for (int64_t i = 0; i < n_sets; ++i) worker.offsets[i + 1] = worker.offsets[i] + this->size_of_set(sets[i]);
    worker.stride = worker.offsets[n_sets] + kRun;
    store_.copy(sets, n_sets, worker.offsets.data(), worker.stride, worker.slots.data(), worker.fractions.data());
    return phi_kernel<T>().forward(seen_by(worker), {0, n_sets}, means, worker.scratch.get());
  }

  bool backward(int, int number, const int64_t*, int64_t n_sets, const T* by_means, double* gradient) override {
    Worker& worker = workers_[number];
    const SliceGradient to{gradient, gradient + 2 * phi_.n_outputs * int64_t{phi_.n_slots}};
    return phi_kernel<T>().backward(seen_by(worker), {0, n_sets}, by_means, to, nullptr, worker.scratch.get());
  }

  void gradients(const double* total, double* by_calibration, double* by_vertices) const override {
    slot_gradients(total, phi_.n_outputs, phi_.n_slots, by_calibration);
    std::copy_n(total + 2 * phi_.n_outputs * int64_t{phi_.n_slots}, vertices_.size(), by_vertices);
  }

 private:
  struct Worker {
    std::vector<int32_t> slots;
    std::vector<T> fractions;
    std::vector<int64_t> offsets;
    int64_t stride;
    AlignedMemory scratch;
  };

  Phi<T> seen_by(const Worker& worker) const {
    Phi<T> phi = phi_;
    phi.n_tokens = worker.stride;
    phi.slots = worker.slots.data();
    phi.fractions = worker.fractions.data();
    phi.offsets = worker.offsets.data();
    return phi;
  }

  Phi<T> phi_{};
  Store store_;
  std::vector<TableEntry<T>> table_;
  std::vector<T> vertices_;
  std::vector<Worker> workers_;
};
