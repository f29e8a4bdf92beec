// Training as Python sees it: a trainer is told of tables, data, penalties and constraints, and then runs epochs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "bindings.h"
#include "trainer.h"

namespace nb = nanobind;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ints = Vector<int64_t>;

template <class T, class Array>
std::vector<T> copied(const Array& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

// Each thread has memory of its own, and is started for every epoch.
constexpr int kMostThreads = 256;

int64_t length(size_t size) { return static_cast<int64_t>(size); }

// There are sets, each of them has tokens, and the last ends at the last of these.
void check_sets(const Ints& offsets, int64_t n_tokens) {
  bool fits = offsets.size() > 1 && offsets.data()[0] == 0 && offsets.data()[offsets.size() - 1] == n_tokens;
  for (size_t set = 1; fits && set < offsets.size(); ++set) fits = offsets.data()[set - 1] < offsets.data()[set];
  if (!fits) refuse("The offsets of the sets do not rise from 0 to the number of tokens.");
}

void check_all(const char* name, const int64_t* numbers, int64_t count, int64_t limit) {
  for (int64_t i = 0; i < count; ++i)
    if (numbers[i] < 0 || numbers[i] >= limit) refuse_range(name, numbers[i], 0, limit - 1);
}

// Numbers of tokens: from `least` to `limit` - 1.
void check_tokens(const char* name, const int32_t* numbers, size_t count, int64_t least, int64_t limit) {
  if (count == 0) return;
  const auto [lowest, highest] = range_of(numbers, count);
  check_range(name, lowest, least, limit - 1);
  check_range(name, highest, least, limit - 1);
}

// numpy has arrays whose numbers stand at odd addresses.
template <class Array>
void check_aligned(const char* name, const Array& array) {
  if (reinterpret_cast<uintptr_t>(array.data()) % alignof(typename Array::Scalar) != 0)
    refuse(std::string(name) + " is not aligned; hand over a copy.");
}

// A copy, in double.
template <class U>
nb::object given(const U* values, std::initializer_list<size_t> shape) {
  size_t size = 1;
  for (const size_t extent : shape) size *= extent;
  double* data = new double[std::max<size_t>(size, 1)];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  std::transform(values, values + size, data, [](U value) { return static_cast<double>(value); });
  return nb::cast(nb::ndarray<nb::numpy, double>(data, shape, owner));
}

// True for as long as it lives.
class Flag {
 public:
  explicit Flag(bool& flag) : flag_(flag) { flag_ = true; }
  Flag(const Flag&) = delete;
  ~Flag() { flag_ = false; }

 private:
  bool& flag_;
};

// What Python hands over is kept for as long as the trainer reads it.
template <class T>
class PythonTrainer {
 public:
  PythonTrainer(const PhiLayout& layout, int64_t functions, int64_t width, int64_t slots, int64_t keypoints,
                Vector<double> initial, const std::string& loss, double quantile, const Pace& pace)
      : layout_(layout),
        trainer_(checked(layout, functions, width, slots, keypoints, initial), initial.data(), Loss(loss, quantile), pace) {}

  struct Labels {
    std::optional<Ints> chosen;
    Vector<double> targets, weights;
  };

  void plain(bool validates, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets, std::optional<Ints> chosen,
             Vector<double> targets, Vector<double> weights) {
    const int64_t n_tokens = length(slots.shape(1));
    if (length(slots.shape(0)) != layout_.n_features() || fractions.shape(0) != slots.shape(0) ||
        fractions.shape(1) != slots.shape(1))
      refuse("slots and fractions must both have the shape (features, tokens).");
    const Tables& tables = idle().tables();
    if (trainer_.learns_corrections()) refuse("Corrections are learned from values by class only.");
    check_sets(offsets, n_tokens);
    check_tokens("A slot", slots.data(), slots.size(), 0, tables.calibration.columns);
    check_numbers<T>("fractions", fractions.data(), fractions.size(), 0, 1);
    Arrays arrays = kept(slots, fractions, offsets);
    const TokenPlaces<T> places{slots.data(), fractions.data(), offsets.data(), n_tokens,
                                static_cast<int32_t>(layout_.n_features())};
    const LabelledSets sets = checked(offsets, n_tokens, {chosen, targets, weights}, tables.rho_output.rows);
    take(validates, plain_pass(validates, SetStore<T>(places, sets)), tables.rho_output.rows, {chosen, targets, weights},
         std::move(arrays));
  }

  // Large data are handed over block by block: slots are looked at by the kernels only.
  void packed(bool validates, Vector<uint32_t> packed, Ints offsets, Vector<int32_t> first_slots, Vector<int32_t> bits,
              Vector<double> targets, Vector<double> weights) {
    static_assert(std::is_same_v<T, float>);
    const Tables& tables = idle().tables();
    const int64_t n_features = layout_.n_features(), n_sets = length(offsets.size()) - 1;
    check_range("The number of sets", n_sets, 1, std::numeric_limits<int64_t>::max());
    const int64_t n_tokens = offsets.data()[n_sets];
    check_length("first_slots", first_slots.size(), static_cast<size_t>(n_features));
    check_length("bits", bits.size(), static_cast<size_t>(n_features));
    check_range("The number of tokens", n_tokens, 1, int64_t{1} << 44);
    check_length("packed", packed.size(), static_cast<size_t>(n_features * n_tokens));
    check_sets(offsets, n_tokens);
    PackedPlaces places{packed.data(), offsets.data(), n_sets, {}};
    for (int64_t d = 0; d < n_features; ++d) {
      check_range("A first slot", first_slots.data()[d], 0, tables.calibration.columns - 1);
      check_range("The number of bits", bits.data()[d], 1, 31);
      places.coding.push_back({first_slots.data()[d], bits.data()[d]});
    }
    if (trainer_.learns_corrections()) refuse("Corrections are learned from values by class only.");
    const Labels labels{std::nullopt, targets, weights};
    checked(offsets, n_tokens, labels, tables.rho_output.rows);
    take(validates, plain_pass(validates, PackedStore(std::move(places))), tables.rho_output.rows, labels,
         kept(packed, offsets));
  }

  void crossed(bool validates, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets, Vector<int32_t> rows,
               Vector<int32_t> corrected, Matrix<T> values, Vector<T> keypoints, std::optional<Ints> chosen,
               Vector<double> targets, Vector<double> weights) {
    const int64_t n_tokens = length(rows.size()), n_plain = layout_.n_features() - 1;
    const Tables& tables = idle().tables();
    check_range("The number of plain features", n_plain, 0, kMaxLatticeFeatures - 1);
    if (length(slots.shape(0)) != n_plain || length(slots.shape(1)) != n_tokens || fractions.shape(0) != slots.shape(0) ||
        fractions.shape(1) != slots.shape(1) || corrected.size() != rows.size())
      refuse("slots and fractions must have the shape (features - 1, tokens), rows and corrected the length of tokens.");
    if (tables.rho_output.rows != 1) refuse("One function serves all classes; received several.");
    check_range("The number of vertices", tables.vertices.columns, int64_t{2} << n_plain, int64_t{2} << n_plain);
    check_range("The number of keypoints", length(keypoints.size()), 2, tables.calibration.columns - 1);
    check_range("The number of classes", length(values.shape(1)), 1, kMaxInt32);
    check_range("The number of rows", length(values.shape(0)), 0, kMaxInt32);
    check_sets(offsets, n_tokens);
    check_tokens("A slot", slots.data(), slots.size(), 0, tables.calibration.columns);
    check_tokens("A row", rows.data(), rows.size(), -1, length(values.shape(0)));
    check_numbers<T>("fractions", fractions.data(), fractions.size(), 0, 1);
    check_finite("keypoints", keypoints.data(), keypoints.size());
    if (trainer_.learns_corrections())
      check_tokens("A correction", corrected.data(), corrected.size(), -1, trainer_.n_corrections());
    Arrays arrays = kept(slots, fractions, offsets, rows, corrected, values, keypoints);
    Crossed<T> crossed{};
    crossed.n_tokens = n_tokens;
    crossed.n_plain = static_cast<int32_t>(n_plain);
    crossed.n_classes = static_cast<int32_t>(values.shape(1));
    crossed.n_outputs = static_cast<int32_t>(tables.calibration.rows);
    crossed.n_slots = static_cast<int32_t>(tables.calibration.columns);
    crossed.n_keypoints = static_cast<int32_t>(keypoints.size());
    crossed.n_rows = length(values.shape(0));
    crossed.refines = trainer_.learns_corrections();
    if (crossed.refines) check_range("The number of classes", crossed.n_classes, trainer_.n_classes(), trainer_.n_classes());
    crossed.n_corrections = trainer_.n_corrections();
    crossed.n_corners = int64_t{1} << n_plain;
    crossed.slots = slots.data();
    crossed.fractions = fractions.data();
    crossed.offsets = offsets.data();
    crossed.rows = rows.data();
    crossed.refined = corrected.data();
    crossed.values = values.data();
    crossed.keypoints = keypoints.data();
    const LabelledSets sets = checked(offsets, n_tokens, {chosen, targets, weights}, crossed.n_classes);
    auto pass = std::make_unique<CrossedPass<T>>(crossed, sets, n_workers(validates), validates ? nullptr : corrections_);
    take(validates, std::move(pass), crossed.n_classes, {chosen, targets, weights}, std::move(arrays));
  }

  void correct(Matrix<double> initial, double rate, double pull) {
    const int64_t count = length(initial.shape(0)), classes = length(initial.shape(1));
    check_range("The number of corrections", count, 1, kMaxInt32);
    check_range("The number of classes", classes, 1, kMaxInt32);
    check_finite("initial", initial.data(), initial.size());
    check_number("rate", rate, 0);
    check_number("pull", pull, 0);
    if (idle().has_training() || trainer_.has_validation()) refuse("Tell of corrections before the sets.");
    corrections_ = trainer_.learn_corrections(initial.data(), count, classes, rate, pull);
  }

  void smooth(double strength) {
    check_number("strength", strength, 0);
    idle().smoothness(strength);
  }

  void add_squares(int table, Vector<int32_t> starts, Vector<int32_t> columns, Vector<double> values) {
    const Table& where = table_of(table);
    if (!trainer_.is_smooth()) refuse("Tell of the strength of smoothness before its squares.");
    check_length("starts", starts.size(), static_cast<size_t>(where.columns + 1));
    check_length("values", values.size(), columns.size());
    check_range("The last start", starts.data()[starts.size() - 1], length(columns.size()), length(columns.size()));
    for (size_t i = 0; i + 1 < starts.size(); ++i)
      check_range("A start", starts.data()[i], 0, starts.data()[i + 1]);
    for (size_t i = 0; i < columns.size(); ++i) check_range("A column", columns.data()[i], 0, where.columns - 1);
    check_finite("values", values.data(), values.size());
    trainer_.smoothness().add({where, copied<int32_t>(starts), copied<int32_t>(columns), copied<double>(values)});
  }

  size_t add_shape(int table, double lower, double upper, Matrix<int64_t> chains, Matrix<int64_t> pinned) {
    const Table& where = table_of(table);
    if (!(lower <= upper)) refuse("The lower bound of a table is above the upper one.");
    const auto read = [&](const Matrix<int64_t>& from, int64_t least) {
      std::vector<Chain> read;
      if (from.shape(1) != 2) refuse("Chains must have the shape (chains, 2): start and stop.");
      for (size_t i = 0; i < from.shape(0); ++i) {
        check_range("The stop of a chain", from(i, 1), 0, where.columns);
        check_range("The start of a chain", from(i, 0), 0, from(i, 1) - least);
        read.push_back({from(i, 0), from(i, 1)});
      }
      return read;
    };
    // Pinned chains have ends; ends have values.
    if (pinned.shape(0) > 0 && !std::isfinite(upper - lower)) refuse("Bounds at which ends are pinned must be finite.");
    trainer_.add_shape(TableShape(where, lower, upper, read(chains, 0), read(pinned, 1)));
    return n_shapes_++;
  }

  void add_half_spaces(size_t shape, int64_t first, int64_t size, Matrix<int32_t> indices, Matrix<double> coefficients,
                       Vector<int32_t> own, bool boxed) {
    if (shape >= n_shapes_) refuse("There is no shape of that number.");
    TableShape& to = idle().shape(shape);
    const Table& where = to.table();
    check_range("The first column", first, 0, where.columns);
    check_range("The number of columns", size, 0, where.columns - first);
    if (coefficients.shape(0) != indices.shape(0) || coefficients.shape(1) != indices.shape(1))
      refuse("indices and coefficients have different shapes; there is one coefficient for each index.");
    for (size_t i = 0; i < indices.size(); ++i) check_range("An index of a half-space", indices.data()[i], 0, size - 1);
    for (size_t i = 0; i < own.size(); ++i) check_range("A column", own.data()[i], 0, size - 1);
    check_finite("coefficients", coefficients.data(), coefficients.size());
    switch (indices.shape(1)) {
      case 2:
        return to.add(half_spaces<2>(to, first, size, indices, coefficients, own, boxed));
      case 3:
        return to.add(half_spaces<3>(to, first, size, indices, coefficients, own, boxed));
      case 4:
        return to.add(half_spaces<4>(to, first, size, indices, coefficients, own, boxed));
      default:
        refuse("Rows of half-spaces must have 2, 3 or 4 entries.");
    }
  }

  void touch_lightly(Matrix<int64_t> indices, Matrix<double> coefficients) {
    if (indices.shape(1) != 4 || coefficients.shape(1) != 4 || coefficients.shape(0) != indices.shape(0))
      refuse("Constraints must have the shape (constraints, 4).");
    check_all("An index of a constraint", indices.data(), length(indices.size()), idle().tables().size());
    check_finite("coefficients", coefficients.data(), coefficients.size());
    trainer_.touch_lightly(LightTouch(copied<int64_t>(indices), copied<double>(coefficients)));
    touches_lightly_ = true;
  }

  void begin() { idle().begin(); }

  // With lanes: where each lane of each step ends in the order, and the sets of the step in all processes, whose lanes
  // `exchange` puts together: it adds up arrays, in which those of others are 0.
  double epoch(Ints order, std::optional<Vector<double>> draws, std::optional<Matrix<int64_t>> ends,
               std::optional<Ints> totals, nb::object exchange) {
    if (!idle().has_training()) refuse("There is nothing to learn from.");
    const int64_t count = length(order.size());
    check_aligned("order", order);
    check_range("The number of sets", count, exchange.is_none() ? 1 : 0, trainer_.n_training());
    check_all("A labelled set", order.data(), count, trainer_.n_training());
    if (totals.has_value() != ends.has_value() || (!exchange.is_none() && !ends))
      refuse("ends and totals belong together, and exchange to both.");
    if (ends && trainer_.learns_corrections()) refuse("Corrections are learned without lanes.");
    const typename Trainer<T>::Steps steps = ends ? steps_of_lanes(*ends, *totals, count) : steps_of(count);
    const size_t n_draws = touches_lightly_ ? steps.totals.size() * static_cast<size_t>(LightTouch::kSamples) : 0;
    check_length("draws", draws ? draws->size() : 0, n_draws);
    if (draws) {
      check_aligned("draws", *draws);
      check_numbers("draws", draws->data(), draws->size(), 0.0, 1.0);
    }
    const double* drawn = touches_lightly_ ? draws->data() : nullptr;
    const Flag works(works_);
    try {
      nb::gil_scoped_release release;
      if (exchange.is_none())
        return trainer_.epoch(order.data(), steps, drawn, [](auto&, auto&) {}, Signals());
      return trainer_.epoch(order.data(), steps, drawn, Exchange{exchange}, Signals());
    } catch (const Diverged& diverged) {
      PyErr_SetString(PyExc_FloatingPointError, diverged.what());
      throw nb::python_error();
    }
  }

  double validation_loss() {
    if (!idle().has_validation()) refuse("There is nothing to validate on.");
    const Flag works(works_);
    nb::gil_scoped_release release;
    return trainer_.validation_loss(Signals());
  }

  nb::object average() { return given(idle().average().data(), {trainer_.average().size()}); }

  nb::object average_corrections() {
    const T* values = idle().average_corrections();
    if (values == nullptr) return nb::none();
    return given(values, {static_cast<size_t>(trainer_.n_corrections()), static_cast<size_t>(trainer_.n_classes())});
  }

 private:
  using Arrays = std::vector<nb::ndarray<nb::ro>>;

  // Has gradients and losses of lanes put together.
  struct Exchange {
    const nb::object& add_up;

    void operator()(std::vector<std::vector<double>>& gradients, std::vector<double>& losses) const {
      std::vector<double> numbers(losses);
      for (size_t lane = 0; lane < losses.size(); ++lane)
        numbers.insert(numbers.end(), gradients[lane].begin(), gradients[lane].end());
      {
        nb::gil_scoped_acquire gil;
        const nb::ndarray<nb::numpy, double, nb::ndim<1>> array(numbers.data(), {numbers.size()}, nb::handle());
        add_up(nb::cast(array, nb::rv_policy::reference));
      }
      const double* from = numbers.data();
      std::copy_n(from, losses.size(), losses.begin());
      from += losses.size();
      for (size_t lane = 0; lane < losses.size(); from += gradients[lane++].size())
        std::copy_n(from, gradients[lane].size(), gradients[lane].begin());
    }
  };

  typename Trainer<T>::Steps steps_of(int64_t count) const {
    typename Trainer<T>::Steps steps{{}, {}, 0};
    const int64_t size = std::min(trainer_.pace().batch_size, count);
    for (int64_t first = 0; first < count; first += size) {
      steps.ends.push_back(std::min(first + size, count));
      steps.totals.push_back(steps.ends.back() - first);
    }
    return steps;
  }

  static typename Trainer<T>::Steps steps_of_lanes(const Matrix<int64_t>& ends, const Ints& totals, int64_t count) {
    check_length("totals", totals.size(), ends.shape(0));
    check_range("The number of lanes", length(ends.shape(1)), 1, kMostSlices);
    check_aligned("ends", ends);
    check_aligned("totals", totals);
    int64_t before = 0;
    for (size_t i = 0; i < ends.size(); ++i) {
      check_range("An end", ends.data()[i], before, count);
      before = ends.data()[i];
    }
    if (totals.size() == 0 || before != count) refuse("The last step must end where the order does.");
    for (size_t i = 0; i < totals.size(); ++i)
      check_range("A total", totals.data()[i], 1, std::numeric_limits<int64_t>::max());
    return {copied<int64_t>(ends), copied<int64_t>(totals), length(ends.shape(1))};
  }

  template <class Store>
  std::unique_ptr<PhiPass<T>> plain_pass(bool validates, Store store) {
    const Tables& tables = trainer_.tables();
    return std::make_unique<PlainPass<T, Store>>(layout_, std::move(store), tables.calibration.rows,
                                                 tables.calibration.columns, n_workers(validates));
  }

  // Lets Python look for signals, but not after every short step.
  class Signals {
   public:
    void operator()() const {
      const auto now = std::chrono::steady_clock::now();
      if (now - last_ < std::chrono::milliseconds(50)) return;
      last_ = now;
      nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }

   private:
    mutable std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  };

  // While it works, which it does without Python's lock, another thread or the handler of a signal may ask for something.
  Trainer<T>& idle() {
    if (works_) refuse("The trainer is at work; wait until the call that it is at has returned.");
    return trainer_;
  }

  int n_workers(bool validates) const {
    const int threads = trainer_.pace().threads;
    return validates ? threads : std::min(threads, kMostSlices);
  }

  static Tables checked(const PhiLayout& layout, int64_t functions, int64_t width, int64_t slots, int64_t keypoints,
                        const Vector<double>& initial) {
    check_range("The number of functions", functions, 1, 1 << 20);
    check_range("The width", width, 1, 20);
    check_range("The number of slots", slots, 1, kMaxInt32);
    check_range("The number of keypoints", keypoints, 2, kMaxInt32);
    check_range("The number of vertices", layout.n_vertices(), 1, kMaxInt32);
    const Tables tables(functions, width, slots, layout.n_vertices(), keypoints);
    check_length("initial", initial.size(), static_cast<size_t>(tables.size()));
    check_finite("initial", initial.data(), initial.size());
    return tables;
  }

  const Table& table_of(int number) {
    check_range("The number of a table", number, 0, 4);
    return idle().tables().of(number);
  }

  template <int width>
  static std::unique_ptr<HalfSpaces> half_spaces(const TableShape& shape, int64_t first, int64_t size,
                                                 const Matrix<int32_t>& indices, const Matrix<double>& coefficients,
                                                 const Vector<int32_t>& own, bool boxed) {
    return std::make_unique<HalfSpacesOf<width>>(copied<int32_t>(indices), copied<double>(coefficients), first,
                                                 copied<int32_t>(own), size, shape.table().rows, shape.lower(),
                                                 shape.upper(), boxed);
  }

  static LabelledSets checked(const Ints& offsets, int64_t n_tokens, const Labels& labels, int64_t outputs) {
    const int64_t n_sets = length(offsets.size()) - 1, count = length(labels.targets.size());
    check_length("weights", labels.weights.size(), labels.targets.size());
    check_range("The number of labels", count, 1, std::numeric_limits<int64_t>::max());
    if (labels.chosen) {
      check_length("chosen", labels.chosen->size(), labels.targets.size());
      check_aligned("An array", *labels.chosen);
      check_all("A chosen set", labels.chosen->data(), count, n_sets);
    } else {
      check_range("The number of labels", count, n_sets, n_sets);
    }
    check_numbers("weights", labels.weights.data(), labels.weights.size(), 0.0, std::numeric_limits<double>::max());
    if (outputs > 1)
      for (int64_t i = 0; i < count; ++i)
        if (!is_class(labels.targets.data()[i], outputs)) refuse("A label is not the number of a class.");
    return {offsets.data(), labels.chosen ? labels.chosen->data() : nullptr, n_sets, n_tokens};
  }

  // From here on the trainer reads the arrays.
  void take(bool validates, std::unique_ptr<PhiPass<T>> pass, int64_t outputs, const Labels& labels, Arrays arrays) {
    keep(arrays, labels.targets, labels.weights);
    if (labels.chosen) keep(arrays, *labels.chosen);
    Labelled<T> labelled{std::move(pass), labels.targets.data(), labels.weights.data(), length(labels.targets.size()), outputs};
    validates ? trainer_.validate_on(std::move(labelled)) : trainer_.learn_from(std::move(labelled));
    arrays_[validates].swap(arrays);  // those of before are let go only now
  }

  template <class... Given>
  static void keep(Arrays& arrays, const Given&... given) {
    (check_aligned("An array", given), ...);
    (arrays.emplace_back(given.handle()), ...);
  }

  template <class... Given>
  static Arrays kept(const Given&... given) {
    Arrays arrays;
    keep(arrays, given...);
    return arrays;
  }

  const PhiLayout& layout_;
  Trainer<T> trainer_;
  Corrections<T>* corrections_ = nullptr;
  size_t n_shapes_ = 0;
  bool touches_lightly_ = false, works_ = false;
  Arrays arrays_[2];  // of training, and of validation
};

template <class T>
void bind_trainer(nb::module_& module, const char* name) {
  using Class = PythonTrainer<T>;
  nb::class_<Class> bound(module, name);
  if constexpr (std::is_same_v<T, float>)
    bound.def("packed", &Class::packed, nb::arg("validates"), nb::arg("packed").noconvert(), nb::arg("offsets").noconvert(),
              nb::arg("first_slots").noconvert(), nb::arg("bits").noconvert(), nb::arg("targets").noconvert(),
              nb::arg("weights").noconvert());
  bound
      .def(nb::init<const PhiLayout&, int64_t, int64_t, int64_t, int64_t, Vector<double>, const std::string&, double,
                    const Pace&>(),
           nb::keep_alive<1, 2>(), nb::arg("layout"), nb::arg("functions"), nb::arg("width"), nb::arg("slots"),
           nb::arg("keypoints"), nb::arg("initial").noconvert(), nb::arg("loss"), nb::arg("quantile"), nb::arg("pace"))
      .def("plain", &Class::plain, nb::arg("validates"), nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(),
           nb::arg("offsets").noconvert(), nb::arg("chosen").noconvert().none(), nb::arg("targets").noconvert(),
           nb::arg("weights").noconvert())
      .def("crossed", &Class::crossed, nb::arg("validates"), nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(),
           nb::arg("offsets").noconvert(), nb::arg("rows").noconvert(), nb::arg("corrected").noconvert(),
           nb::arg("values").noconvert(), nb::arg("keypoints").noconvert(), nb::arg("chosen").noconvert().none(),
           nb::arg("targets").noconvert(), nb::arg("weights").noconvert())
      .def("correct", &Class::correct, nb::arg("initial").noconvert(), nb::arg("rate"), nb::arg("pull"))
      .def("smooth", &Class::smooth, nb::arg("strength"))
      .def("add_squares", &Class::add_squares, nb::arg("table"), nb::arg("starts").noconvert(),
           nb::arg("columns").noconvert(), nb::arg("values").noconvert())
      .def("add_shape", &Class::add_shape, nb::arg("table"), nb::arg("lower"), nb::arg("upper"),
           nb::arg("chains").noconvert(), nb::arg("pinned").noconvert())
      .def("add_half_spaces", &Class::add_half_spaces, nb::arg("shape"), nb::arg("first"), nb::arg("size"),
           nb::arg("indices").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("own").noconvert(), nb::arg("boxed"))
      .def("touch_lightly", &Class::touch_lightly, nb::arg("indices").noconvert(), nb::arg("coefficients").noconvert())
      .def("begin", &Class::begin)
      .def("epoch", &Class::epoch, nb::arg("order").noconvert(), nb::arg("draws").noconvert().none(),
           nb::arg("ends").noconvert().none() = nb::none(), nb::arg("totals").noconvert().none() = nb::none(),
           nb::arg("exchange").none() = nb::none())
      .def("validation_loss", &Class::validation_loss)
      .def("average", &Class::average)
      .def("average_corrections", &Class::average_corrections);
}

// Losses of every set and their derivatives by its outputs.
nb::object losses_of(const std::string& name, double quantile, Matrix<double> outputs, Vector<double> targets) {
  const size_t sets = outputs.shape(0), n = outputs.shape(1);
  check_length("targets", targets.size(), sets);
  check_range("The number of outputs", length(n), 1, kMaxInt32);
  const Loss loss(name, quantile);
  std::vector<double> values(sets), slopes(sets * n);
  for (size_t i = 0; i < sets; ++i) {
    const double target = targets.data()[i];
    if (n > 1 && !is_class(target, length(n))) refuse("A label is not the number of a class.");
    values[i] = loss_of_set(loss, outputs.data() + i * n, length(n), target, 1.0, slopes.data() + i * n);
  }
  return nb::make_tuple(given(values.data(), {sets}), given(slopes.data(), {sets, n}));
}

}  // namespace

void bind_train(nb::module_& module) {
  nb::class_<Pace>(module, "Pace")
      .def("__init__", [](Pace* self, double learning_rate, int64_t n_steps, int64_t warm_up, int64_t batch_size, int threads,
                          bool adagrad) {
        check_range("The number of steps", n_steps, 1, std::numeric_limits<int64_t>::max());
        check_range("warm_up", warm_up, 1, std::numeric_limits<int64_t>::max());
        check_range("batch_size", batch_size, 1, std::numeric_limits<int64_t>::max());
        check_range("threads", threads, 1, kMaxInt32);
        check_number("learning_rate", learning_rate, 0);
        new (self) Pace{learning_rate, n_steps, warm_up, batch_size, std::min(threads, kMostThreads), adagrad};
      });
  module.def("losses", &losses_of, nb::arg("name"), nb::arg("quantile"), nb::arg("outputs").noconvert(),
             nb::arg("targets").noconvert());
  bind_trainer<float>(module, "Trainer_float32");
  bind_trainer<double>(module, "Trainer_float64");
}
