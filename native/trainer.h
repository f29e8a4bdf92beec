// One training of a set function: batches, gradients, optimiser, constraints and running average.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checks.h"
#include "corrections.h"
#include "crossed_pass.h"
#include "losses.h"
#include "penalties.h"
#include "phi_pass.h"
#include "rho_pass.h"
#include "shapes.h"
#include "team.h"

struct Diverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The fields of clearset.engines.Schedule, as far as a step needs them.
struct Pace {
  double learning_rate;
  int64_t n_steps;
  int64_t warm_up;  // steps in which the rate of rho rises to that of phi
  int64_t batch_size;
  int threads;
  bool adagrad;

  double progress(int64_t step) const { return static_cast<double>(step) / static_cast<double>(n_steps); }

  // The share of the learning rate that is left: it falls to 0.05 by a cosine.
  double decay(int64_t step) const { return 0.05 + 0.95 * (1.0 + std::cos(M_PI * progress(step))) / 2.0; }
};

// Sets of a step are cut into at most so many slices; more threads have nothing to do.
constexpr int kMostSlices = 16;

// The steps of an epoch: where each ends in the order of sets, or where each of its lanes does. A lane is a slice that is
// the same whoever works on it; without lanes, sets are cut into slices of about the same size.
struct Steps {
  std::vector<int64_t> ends;    // (steps) or (steps, lanes)
  std::vector<int64_t> totals;  // (steps): sets of all processes, of which these may be a share
  int64_t lanes;                // 0 without lanes
};

// Labelled sets. A set has `outputs` outputs: of as many functions, or of one function for as many classes.
template <class T>
struct Labelled {
  std::unique_ptr<PhiPass<T>> pass;
  const double* targets;  // (count)
  const double* weights;  // (count)
  int64_t count;
  int64_t outputs;

  bool has(int64_t number) const {
    return number >= 0 && number < count && pass->has_set(pass->set_of(number)) &&
           (outputs == 1 || is_class(targets[number], outputs));
  }
};

template <class T>
class Trainer {
 public:
  Trainer(const Tables& tables, const double* initial, const Loss& loss, const Pace& pace)
      : tables_(tables), loss_(loss), pace_(pace), parameters_(initial, tables.size(), pace.adagrad) {
    const int64_t rho_size = tables.size() - tables.rho_calibrators.start;
    rho_tables_.resize(static_cast<size_t>(rho_size));
  }

  const Tables& tables() const { return tables_; }
  const Pace& pace() const { return pace_; }
  void learn_from(Labelled<T> data) { training_ = std::move(data); }
  void validate_on(Labelled<T> data) { validation_ = std::move(data); }
  Corrections<T>* learn_corrections(const double* initial, int64_t count, int64_t classes, double rate, double pull) {
    corrections_ = std::make_unique<Corrections<T>>(initial, count, classes, rate, pull);
    return corrections_.get();
  }
  Smoothness& smoothness(double strength, double at_first, double least_scatter) {
    return smoothness_.emplace(strength, at_first, least_scatter);
  }
  Smoothness& smoothness() { return smoothness_.value(); }
  TableShape& add_shape(TableShape shape) { return shapes_.emplace_back(std::move(shape)); }
  TableShape& shape(size_t number) { return shapes_.at(number); }
  void touch_lightly(LightTouch penalty) { light_touch_.emplace(std::move(penalty)); }
  bool learns_corrections() const { return corrections_ != nullptr; }
  bool has_training() const { return training_.pass != nullptr; }
  bool has_validation() const { return validation_.pass != nullptr; }
  bool is_smooth() const { return smoothness_.has_value(); }
  int64_t n_training() const { return training_.count; }

  // Starts from the nearest parameters that satisfy all constraints.
  void begin() {
    for (TableShape& shape : shapes_) shape.project(parameters_.values.data());
    parameters_.average = parameters_.values;
  }

  // Goes through the training sets in an order and returns the mean loss on the way. `draws` are for Light Touch, kSamples
  // of them for each step. `exchange` puts together the lanes of all processes, `look` is called after every step.
  template <class Exchange, class Look>
  double epoch(const int64_t* order, const Steps& steps, const double* draws, const Exchange& exchange, const Look& look) {
    Team team(workers_that(true));
    double total = 0;
    int64_t first = 0, count = 0;
    const int64_t per_step = std::max<int64_t>(1, steps.lanes);
    for (size_t i = 0; i < steps.totals.size(); ++i) {
      const int64_t* ends = steps.ends.data() + static_cast<int64_t>(i) * per_step;
      const int64_t last = ends[per_step - 1];
      set_sets(training_, order + first, last - first);
      if (steps.lanes > 0)
        cut_into_lanes(first, ends, steps.lanes);
      else
        cut(training_, true);
      total += static_cast<double>(steps.totals[i]) * step(team, steps.totals[i], draws, exchange);
      first = last;
      count += steps.totals[i];
      if (draws) draws += LightTouch::kSamples;
      look();
    }
    return total / static_cast<double>(count);
  }

  // The loss of the running average on validation data. `look` is called now and then.
  template <class Look>
  double validation_loss(const Look& look) {
    if (corrections_) {
      static_cast<CrossedPass<T>&>(*validation_.pass).set_corrections(corrections_->average(step_));
    }
    read_tables(*validation_.pass, parameters_.average.data());
    set_sets(validation_, nullptr, validation_.count);
    cut(validation_, false);
    Team team(workers_that(false));
    total_ = validation_.count;
    return run_slices_of(team, validation_, false, look) / static_cast<double>(total_);
  }

  // Hands over what steps change, by name. All else is given when a trainer is made, or made anew in every step.
  template <class Visit>
  void visit_state(const Visit& visit) {
    visit("step", &step_, 1);
    parameters_.visit_state(visit);
    if (smoothness_) smoothness_->visit_state(visit);
    if (light_touch_) light_touch_->visit_state(visit);
    if (corrections_) corrections_->visit_state(visit);
    for (size_t i = 0; i < shapes_.size(); ++i) shapes_[i].visit_state("multipliers." + std::to_string(i), visit);
  }

  const std::vector<double>& average() const { return parameters_.average; }
  // Of the corrections; null where none are learned.
  const T* average_corrections() { return corrections_ ? corrections_->average(step_) : nullptr; }
  int64_t n_corrections() const { return corrections_ ? corrections_->count() : 0; }
  int64_t n_classes() const { return corrections_ ? corrections_->classes() : 0; }

 private:
  struct Worker {
    std::vector<T> means, outputs, by_outputs, by_means;
    std::unique_ptr<RhoPass<T>> rho;
  };

  // ---- slices of a batch

  // Says which labelled sets are worked on next.
  void set_sets(const Labelled<T>& data, const int64_t* numbers, int64_t count) {
    sets_.resize(static_cast<size_t>(count));
    numbers_.resize(sets_.size());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t number = numbers_[i] = numbers ? numbers[i] : i;
      if (!data.has(number)) refuse("Arrays have changed since they were checked: a label, a set or a class does not exist.");
      sets_[i] = data.pass->set_of(number);
    }
  }

  // Cuts the sets where lanes end. A lane may be empty.
  void cut_into_lanes(int64_t begin, const int64_t* ends, int64_t lanes) {
    slices_.clear();
    int64_t first = 0, most_tokens = 0, most_sets = 0;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t last = ends[lane] - begin;
      int64_t tokens = 0;
      for (int64_t i = first; i < last; ++i) tokens += training_.pass->size_of_set(sets_[i]);
      slices_.push_back({first, last});
      most_tokens = std::max(most_tokens, tokens);
      most_sets = std::max(most_sets, last - first);
      first = last;
    }
    reserve(training_, most_sets, most_tokens, true);
  }

  // Cuts the sets into slices of about the same number of tokens. How many there are does not depend on the number of
  // threads, so neither do the sums. A slice has more work than clearing and adding its gradient.
  void cut(const Labelled<T>& data, bool learns) {
    const int64_t count = static_cast<int64_t>(sets_.size());
    int64_t tokens = 0;
    for (const int64_t set : sets_) tokens += data.pass->size_of_set(set);
    const int64_t classes = data.outputs / tables_.rho_output.rows;
    const int64_t least = learns ? std::max<int64_t>(256, gradient_size(data)) : 2048;
    const int64_t n_slices = std::clamp<int64_t>(tokens * classes / least, 1, learns ? kMostSlices : count);
    slices_.clear();
    int64_t first = 0, done = 0, done_before = 0, most_tokens = 0, most_sets = 0;
    for (int64_t i = 0; i < count; ++i) {
      done += data.pass->size_of_set(sets_[i]);
      if (i + 1 < count && done * n_slices < tokens * static_cast<int64_t>(slices_.size() + 1)) continue;
      slices_.push_back({first, i + 1});
      most_tokens = std::max(most_tokens, done - done_before);
      most_sets = std::max(most_sets, i + 1 - first);
      first = i + 1;
      done_before = done;
    }
    reserve(data, most_sets, most_tokens, learns);
  }

  void reserve(const Labelled<T>& data, int64_t most_sets, int64_t most_tokens, bool learns) {
    const int n_slices = static_cast<int>(slices_.size());
    data.pass->reserve(n_slices, most_sets, most_tokens);
    workers_.resize(std::max(workers_.size(), static_cast<size_t>(workers_that(learns))));
    const size_t n_outputs = static_cast<size_t>(most_sets * data.outputs), n_means = n_outputs * width();
    for (Worker& worker : workers_) {
      for (std::vector<T>* values : {&worker.means, &worker.by_means})
        if (values->size() < n_means) values->resize(n_means);
      for (std::vector<T>* values : {&worker.outputs, &worker.by_outputs})
        if (values->size() < n_outputs) values->resize(n_outputs);
      if (!worker.rho) worker.rho = std::make_unique<RhoPass<T>>(rho());
      worker.rho->reserve(most_sets * data.outputs / tables_.rho_output.rows);
    }
    losses_.assign(static_cast<size_t>(n_slices), 0.0);
    if (learns && gradients_.size() < static_cast<size_t>(n_slices)) gradients_.resize(static_cast<size_t>(n_slices));
    for (std::vector<double>& gradient : gradients_) gradient.resize(static_cast<size_t>(gradient_size(training_)));
  }

  // For the slices that were cut, or for any that learn.
  int workers_that(bool learns) const {
    return learns ? std::min(pace_.threads, kMostSlices) : std::min(pace_.threads, static_cast<int>(slices_.size()));
  }

  Rho<T> rho() const {
    const T* calibrators = rho_tables_.data();
    const T* vertices = calibrators + tables_.rho_calibrators.size();
    const T* output = vertices + tables_.rho_vertices.size();
    return {0, tables_.rho_output.rows, width(), tables_.rho_output.columns, nullptr, calibrators, vertices, output};
  }

  int64_t width() const { return tables_.calibration.rows / tables_.rho_output.rows; }
  int64_t rho_size() const { return static_cast<int64_t>(rho_tables_.size()); }
  int64_t gradient_size(const Labelled<T>& data) const { return data.pass->gradient_size() + rho_size(); }

  void read_tables(PhiPass<T>& pass, const double* values) {
    pass.read_tables(values + tables_.calibration.start, values + tables_.vertices.start);
    const double* rho = values + tables_.rho_calibrators.start;
    std::transform(rho, rho + rho_tables_.size(), rho_tables_.begin(), [](double v) { return static_cast<T>(v); });
  }

  // The sum of the losses of the sets that were cut. `look` is called after every so many slices.
  template <class Look>
  double run_slices_of(Team& team, const Labelled<T>& data, bool learns, const Look& look) {
    constexpr int kSlicesTogether = 1024;
    const int n_slices = static_cast<int>(slices_.size());
    fits_ = true;
    for (int first = 0; first < n_slices; first += kSlicesTogether) {
      team.run(std::min(kSlicesTogether, n_slices - first), [&](int slice, int worker) {
        if (!run_slice(data, first + slice, worker, learns)) fits_ = false;
      });
      if (!fits_) refuse("A slot, a row or a correction lies outside its table.");
      look();
    }
    double total = 0;
    for (const double loss : losses_) total += loss;
    return total;
  }

  bool run_slice(const Labelled<T>& data, int slice, int number, bool learns) {
    Worker& worker = workers_[number];
    const int64_t first = slices_[slice].first, n_sets = slices_[slice].last - first, outputs = data.outputs;
    if (learns) std::fill(gradients_[slice].begin(), gradients_[slice].end(), 0.0);
    if (n_sets == 0) return true;
    if (!data.pass->forward(slice, number, sets_.data() + first, n_sets, worker.means.data())) return false;
    const int64_t n_rows = n_sets * outputs / tables_.rho_output.rows;
    worker.rho->forward(worker.means.data(), n_rows, worker.outputs.data());
    double loss = 0;
    for (int64_t i = 0; i < n_sets; ++i) {
      const int64_t label = numbers_[first + i];
      const double weight = data.weights[label];
      loss += weight * loss_of_set(loss_, worker.outputs.data() + i * outputs, outputs, data.targets[label],
                                   weight / static_cast<double>(total_), worker.by_outputs.data() + i * outputs);
    }
    losses_[slice] = loss;
    if (!learns) return true;
    double* gradient = gradients_[slice].data();
    double* by_calibrators = gradient + data.pass->gradient_size();
    double* by_vertices = by_calibrators + tables_.rho_calibrators.size();
    double* by_output = by_vertices + tables_.rho_vertices.size();
    worker.rho->backward(worker.by_outputs.data(), n_rows, {by_calibrators, by_vertices, by_output}, worker.by_means.data());
    return data.pass->backward(slice, number, sets_.data() + first, n_sets, worker.by_means.data(), gradient);
  }

  // ---- a step

  // Returns the mean loss of `total` sets, of which those that were cut are this process's share.
  template <class Exchange>
  double step(Team& team, int64_t total, const double* draws, const Exchange& exchange) {
    read_tables(*training_.pass, parameters_.values.data());
    total_ = total;
    run_slices_of(team, training_, true, [] {});
    exchange(gradients_, losses_);
    double loss = 0;
    for (const double of_slice : losses_) loss += of_slice;
    loss /= static_cast<double>(total);
    add_up_gradients();
    double* gradient = parameters_.gradient.data();
    if (light_touch_) light_touch_->add_gradient(draws, parameters_.values.data(), gradient);
    if (smoothness_) smoothness_->add_gradient(loss, pace_.progress(step_), parameters_.values.data(), gradient);
    const double decay = pace_.decay(step_), rate = pace_.learning_rate * decay;
    // Rho can only rise: were it as quick as phi, it would learn to be flat wherever phi is not yet right, and leave phi
    // without a gradient to get right by.
    const double rho_rate = rate * std::min(1.0, static_cast<double>(step_) / static_cast<double>(pace_.warm_up));
    ++step_;
    parameters_.move(0, tables_.rho_calibrators.start, rate, step_);
    parameters_.move(tables_.rho_calibrators.start, tables_.size(), rho_rate, step_);
    if (corrections_) {
      auto& slices = static_cast<CrossedPass<T>&>(*training_.pass).slices();
      corrections_->move(slices, static_cast<int>(slices_.size()), decay, step_, team);
    }
    if (!parameters_.finite())
      throw Diverged("Training has diverged: parameters are no longer finite. Use a smaller learning_rate.");
    for (TableShape& shape : shapes_)
      light_touch_ ? shape.project_bounds(parameters_.values.data()) : shape.project(parameters_.values.data());
    parameters_.move_average(step_);
    return loss;
  }

  void add_up_gradients() {
    double* total = gradients_[0].data();
    const int64_t size = gradient_size(training_);
    for (size_t slice = 1; slice < slices_.size(); ++slice)
      for (int64_t i = 0; i < size; ++i) total[i] += gradients_[slice][i];
    double* gradient = parameters_.gradient.data();
    training_.pass->gradients(total, gradient + tables_.calibration.start, gradient + tables_.vertices.start);
    std::copy_n(total + training_.pass->gradient_size(), rho_size(), gradient + tables_.rho_calibrators.start);
  }

  Tables tables_;
  Loss loss_;
  Pace pace_;
  Parameters parameters_;
  Labelled<T> training_{}, validation_{};
  std::unique_ptr<Corrections<T>> corrections_;
  std::optional<Smoothness> smoothness_;
  std::optional<LightTouch> light_touch_;
  std::vector<TableShape> shapes_;
  int64_t step_ = 0;
  int64_t total_ = 1;  // sets of which the mean is taken

  std::vector<T> rho_tables_;
  std::vector<int64_t> sets_, numbers_;
  std::vector<SliceOfSets> slices_;
  std::vector<double> losses_;
  std::vector<std::vector<double>> gradients_;
  std::vector<Worker> workers_;
  std::atomic<bool> fits_{true};
};
