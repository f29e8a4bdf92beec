// Training as Python sees it: a trainer is told of tables, data, penalties and constraints, and then runs epochs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <limits>
#include <optional>
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

int64_t length(size_t size) { return static_cast<int64_t>(size); }

// Every set has tokens; the last ends at the last of them.
void check_sets(const Ints& offsets, int64_t n_tokens) {
  bool fits = offsets.size() > 0 && offsets.data()[0] == 0 && offsets.data()[offsets.size() - 1] == n_tokens;
  for (size_t set = 1; fits && set < offsets.size(); ++set) fits = offsets.data()[set - 1] < offsets.data()[set];
  if (!fits) refuse("The offsets of the sets do not rise from 0 to the number of tokens.");
}

void check_all(const char* name, const int64_t* numbers, int64_t count, int64_t limit) {
  for (int64_t i = 0; i < count; ++i)
    if (numbers[i] < 0 || numbers[i] >= limit) refuse_range(name, numbers[i], 0, limit - 1);
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

// What Python hands over is kept for as long as the trainer reads it.
template <class T>
class PythonTrainer {
 public:
  PythonTrainer(const PhiLayout& layout, int64_t functions, int64_t width, int64_t slots, int64_t keypoints,
                Vector<double> initial, const std::string& loss, double quantile, const Pace& pace)
      : layout_(layout),
        trainer_(checked(layout, functions, width, slots, keypoints, initial.size()), initial.data(), Loss(loss, quantile), pace) {}

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
    check_sets(offsets, n_tokens);
    const Tables& tables = trainer_.tables();
    const TokenPlaces<T> places{slots.data(), fractions.data(), offsets.data(), n_tokens,
                                static_cast<int32_t>(layout_.n_features())};
    auto pass = std::make_unique<PlainPass<T>>(layout_, places, length(offsets.size()) - 1, tables.calibration.rows,
                                               tables.calibration.columns, trainer_.pace().threads);
    take(validates, std::move(pass), offsets, tables.rho_output.rows, {chosen, targets, weights});
    keep(slots, fractions, offsets);
  }

  void crossed(bool validates, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets, Vector<int32_t> rows,
               Vector<int32_t> corrected, Matrix<T> values, Vector<T> keypoints, std::optional<Ints> chosen,
               Vector<double> targets, Vector<double> weights) {
    const int64_t n_tokens = length(rows.size()), n_plain = layout_.n_features() - 1;
    const Tables& tables = trainer_.tables();
    if (length(slots.shape(0)) != n_plain || length(slots.shape(1)) != n_tokens || fractions.shape(0) != slots.shape(0) ||
        fractions.shape(1) != slots.shape(1) || corrected.size() != rows.size())
      refuse("slots and fractions must have the shape (features - 1, tokens), rows and corrected the length of tokens.");
    if (tables.rho_output.rows != 1) refuse("One function serves all classes; received several.");
    check_range("The number of vertices", tables.vertices.columns, int64_t{2} << n_plain, int64_t{2} << n_plain);
    check_range("The number of keypoints", length(keypoints.size()), 2, tables.calibration.columns - 1);
    check_range("The number of classes", length(values.shape(1)), 1, kMaxInt32);
    check_sets(offsets, n_tokens);
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
    if (crossed.refines)
      for (int64_t t = 0; t < n_tokens; ++t)
        if (crossed.refined[t] < -1 || crossed.refined[t] >= crossed.n_corrections)
          refuse_range("A correction", crossed.refined[t], -1, crossed.n_corrections - 1);
    auto pass = std::make_unique<CrossedPass<T>>(crossed, trainer_.pace().threads, validates ? nullptr : corrections_);
    take(validates, std::move(pass), offsets, crossed.n_classes, {chosen, targets, weights});
    keep(slots, fractions, offsets, rows, corrected, values, keypoints);
  }

  void correct(Matrix<double> initial, double rate, double pull) {
    const int64_t count = length(initial.shape(0)), classes = length(initial.shape(1));
    check_range("The number of corrections", count, 1, kMaxInt32);
    check_range("The number of classes", classes, 1, kMaxInt32);
    if (trainer_.has_training()) refuse("Tell of corrections before the sets.");
    corrections_ = trainer_.learn_corrections(initial.data(), count, classes, rate, pull);
  }

  void smooth(double strength) { trainer_.smoothness(strength); }

  void add_squares(int table, Vector<int32_t> starts, Vector<int32_t> columns, Vector<double> values) {
    const Table& where = table_of(table);
    check_length("starts", starts.size(), static_cast<size_t>(where.columns + 1));
    check_length("values", values.size(), columns.size());
    check_range("The last start", starts.data()[starts.size() - 1], length(columns.size()), length(columns.size()));
    for (size_t i = 0; i + 1 < starts.size(); ++i)
      check_range("A start", starts.data()[i], 0, starts.data()[i + 1]);
    for (size_t i = 0; i < columns.size(); ++i) check_range("A column", columns.data()[i], 0, where.columns - 1);
    trainer_.smoothness().add({where, copied<int32_t>(starts), copied<int32_t>(columns), copied<double>(values)});
  }

  size_t add_shape(int table, double lower, double upper, Matrix<int64_t> chains, Matrix<int64_t> pinned) {
    const Table& where = table_of(table);
    if (!(lower <= upper)) refuse("The lower bound of a table is above the upper one.");
    const auto read = [&](const Matrix<int64_t>& from) {
      std::vector<Chain> read;
      if (from.shape(1) != 2) refuse("Chains must have the shape (chains, 2): start and stop.");
      for (size_t i = 0; i < from.shape(0); ++i) {
        check_range("The stop of a chain", from(i, 1), 0, where.columns);
        check_range("The start of a chain", from(i, 0), 0, from(i, 1));
        read.push_back({from(i, 0), from(i, 1)});
      }
      return read;
    };
    trainer_.add_shape(TableShape(where, lower, upper, read(chains), read(pinned)));
    return n_shapes_++;
  }

  void add_half_spaces(size_t shape, int64_t first, int64_t size, Matrix<int32_t> indices, Matrix<double> coefficients,
                       Vector<int32_t> own, bool boxed) {
    if (shape >= n_shapes_) refuse("There is no shape of that number.");
    TableShape& to = trainer_.shape(shape);
    const Table& where = to.table();
    check_range("The first column", first, 0, where.columns);
    check_range("The number of columns", size, 0, where.columns - first);
    if (coefficients.shape(0) != indices.shape(0) || coefficients.shape(1) != indices.shape(1))
      refuse("indices and coefficients have different shapes; there is one coefficient for each index.");
    for (size_t i = 0; i < indices.size(); ++i) check_range("An index of a half-space", indices.data()[i], 0, size - 1);
    for (size_t i = 0; i < own.size(); ++i) check_range("A column", own.data()[i], 0, size - 1);
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
    check_all("An index of a constraint", indices.data(), length(indices.size()), trainer_.tables().size());
    trainer_.touch_lightly(LightTouch(copied<int64_t>(indices), copied<double>(coefficients)));
    touches_lightly_ = true;
  }

  void begin() { trainer_.begin(); }

  double epoch(Ints order, std::optional<Vector<double>> draws) {
    if (!trainer_.has_training()) refuse("There is nothing to learn from.");
    const int64_t count = length(order.size()), size = trainer_.pace().batch_size;
    check_range("The number of sets", count, 1, trainer_.n_training());
    check_all("A labelled set", order.data(), count, trainer_.n_training());
    if (touches_lightly_)
      check_length("draws", draws ? draws->size() : 0, static_cast<size_t>((count + size - 1) / size * LightTouch::kSamples));
    try {
      nb::gil_scoped_release release;
      auto last = std::chrono::steady_clock::now();
      return trainer_.epoch(order.data(), count, touches_lightly_ ? draws->data() : nullptr, [&] {
        const auto now = std::chrono::steady_clock::now();
        if (now - last < std::chrono::milliseconds(50)) return;
        last = now;
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      });
    } catch (const Diverged& diverged) {
      PyErr_SetString(PyExc_FloatingPointError, diverged.what());
      throw nb::python_error();
    }
  }

  double validation_loss() {
    if (!trainer_.has_validation()) refuse("There is nothing to validate on.");
    nb::gil_scoped_release release;
    return trainer_.validation_loss();
  }

  nb::object average() const { return given(trainer_.average().data(), {trainer_.average().size()}); }

  nb::object average_corrections() {
    const T* values = trainer_.average_corrections();
    if (values == nullptr) return nb::none();
    return given(values, {static_cast<size_t>(trainer_.n_corrections()), static_cast<size_t>(trainer_.n_classes())});
  }

 private:
  static Tables checked(const PhiLayout& layout, int64_t functions, int64_t width, int64_t slots, int64_t keypoints,
                        size_t size) {
    check_range("The number of functions", functions, 1, 1 << 20);
    check_range("The width", width, 1, 20);
    check_range("The number of slots", slots, 1, kMaxInt32);
    check_range("The number of keypoints", keypoints, 2, kMaxInt32);
    const Tables tables(functions, width, slots, layout.n_vertices(), keypoints);
    check_length("initial", size, static_cast<size_t>(tables.size()));
    return tables;
  }

  const Table& table_of(int number) const {
    check_range("The number of a table", number, 0, 4);
    return trainer_.tables().of(number);
  }

  template <int width>
  static std::unique_ptr<HalfSpaces> half_spaces(const TableShape& shape, int64_t first, int64_t size,
                                                 const Matrix<int32_t>& indices, const Matrix<double>& coefficients,
                                                 const Vector<int32_t>& own, bool boxed) {
    return std::make_unique<HalfSpacesOf<width>>(copied<int32_t>(indices), copied<double>(coefficients), first,
                                                 copied<int32_t>(own), size, shape.table().rows, shape.lower(),
                                                 shape.upper(), boxed);
  }

  void take(bool validates, std::unique_ptr<PhiPass<T>> pass, const Ints& offsets, int64_t outputs, const Labels& labels) {
    const int64_t n_sets = length(offsets.size()) - 1, count = length(labels.targets.size());
    check_length("weights", labels.weights.size(), labels.targets.size());
    check_range("The number of labels", count, 1, std::numeric_limits<int64_t>::max());
    if (labels.chosen) {
      check_length("chosen", labels.chosen->size(), labels.targets.size());
      check_all("A chosen set", labels.chosen->data(), count, n_sets);
      keep(*labels.chosen);
    } else {
      check_range("The number of labels", count, n_sets, n_sets);
    }
    if (outputs > 1)
      for (int64_t i = 0; i < count; ++i)
        if (!(labels.targets.data()[i] >= 0 && labels.targets.data()[i] < static_cast<double>(outputs)))
          refuse("A label is not the number of a class.");
    keep(labels.targets, labels.weights);
    Labelled<T> labelled{std::move(pass), labels.chosen ? labels.chosen->data() : nullptr, labels.targets.data(),
                         labels.weights.data(), count, outputs};
    validates ? trainer_.validate_on(std::move(labelled)) : trainer_.learn_from(std::move(labelled));
  }

  template <class... Arrays>
  void keep(const Arrays&... arrays) {
    (kept_.emplace_back(arrays.handle()), ...);
  }

  const PhiLayout& layout_;
  Trainer<T> trainer_;
  Corrections<T>* corrections_ = nullptr;
  size_t n_shapes_ = 0;
  bool touches_lightly_ = false;
  std::vector<nb::ndarray<nb::ro>> kept_;
};

template <class T>
void bind_trainer(nb::module_& module, const char* name) {
  using Class = PythonTrainer<T>;
  nb::class_<Class>(module, name)
      .def(nb::init<const PhiLayout&, int64_t, int64_t, int64_t, int64_t, Vector<double>, const std::string&, double,
                    const Pace&>(),
           nb::keep_alive<1, 2>())
      .def("plain", &Class::plain, nb::arg("validates"), nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(),
           nb::arg("offsets").noconvert(), nb::arg("chosen").noconvert().none(), nb::arg("targets").noconvert(),
           nb::arg("weights").noconvert())
      .def("crossed", &Class::crossed, nb::arg("validates"), nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(),
           nb::arg("offsets").noconvert(), nb::arg("rows").noconvert(), nb::arg("corrected").noconvert(),
           nb::arg("values").noconvert(), nb::arg("keypoints").noconvert(), nb::arg("chosen").noconvert().none(),
           nb::arg("targets").noconvert(), nb::arg("weights").noconvert())
      .def("correct", &Class::correct)
      .def("smooth", &Class::smooth)
      .def("add_squares", &Class::add_squares)
      .def("add_shape", &Class::add_shape)
      .def("add_half_spaces", &Class::add_half_spaces)
      .def("touch_lightly", &Class::touch_lightly)
      .def("begin", &Class::begin)
      .def("epoch", &Class::epoch, nb::arg("order").noconvert(), nb::arg("draws").noconvert().none())
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
    if (n > 1 && !(target >= 0 && target < static_cast<double>(n))) refuse("A label is not the number of a class.");
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
        check_range("threads", threads, 1, 1 << 16);
        new (self) Pace{learning_rate, n_steps, warm_up, batch_size, threads, adagrad};
      });
  module.def("losses", &losses_of, nb::arg("name"), nb::arg("quantile"), nb::arg("outputs").noconvert(),
             nb::arg("targets").noconvert());
  bind_trainer<float>(module, "Trainer_float32");
  bind_trainer<double>(module, "Trainer_float64");
}
