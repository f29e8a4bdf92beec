// Training as Python sees it: a trainer is told of tables, data, penalties and constraints, and then runs epochs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.h"
#include "arrays.h"
#include "handed_sets.h"
#include "handed_steps.h"
#include "trainer.h"
#include "trainer_state.h"

namespace nb = nanobind;

namespace {

// Each thread has memory of its own, and is started for every epoch.
constexpr int kMostThreads = 256;

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

  void plain(bool validates, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets, std::optional<Ints> chosen,
             Vector<double> targets, Vector<double> weights) {
    take(validates, plain_sets(reader(validates), slots, fractions, offsets, {chosen, targets, weights}));
  }

  void packed(bool validates, Vector<uint32_t> packed, Ints offsets, Vector<int32_t> first_slots, Vector<int32_t> bits,
              Vector<double> targets, Vector<double> weights) {
    static_assert(std::is_same_v<T, float>);
    take(validates, packed_sets(reader(validates), packed, offsets, first_slots, bits, {std::nullopt, targets, weights}));
  }

  void crossed(bool validates, Matrix<int32_t> slots, Matrix<T> fractions, Ints offsets, Vector<int32_t> rows,
               Vector<int32_t> corrected, Matrix<T> values, Vector<T> keypoints, std::optional<Ints> chosen,
               Vector<double> targets, Vector<double> weights) {
    const CrossedArrays<T> arrays{slots, fractions, offsets, rows, corrected, values, keypoints};
    take(validates, crossed_sets(reader(validates), arrays, {chosen, targets, weights}));
  }

  void correct(Matrix<double> initial, double rate, double pull) {
    const int64_t count = length(initial.shape(0)), classes = length(initial.shape(1));
    check_range("The number of corrections", count, 1, kMaxInt32);
    check_range("The number of classes", classes, 1, kMaxInt32);
    check_aligned("initial", initial);
    check_finite("initial", initial.data(), initial.size());
    check_number("rate", rate, 0);
    check_number("pull", pull, 0);
    if (idle().has_training() || trainer_.has_validation()) refuse("Tell of corrections before the sets.");
    corrections_ = trainer_.learn_corrections(initial.data(), count, classes, rate, pull);
  }

  void smooth(double strength, double at_first, double least_scatter) {
    check_number("strength", strength, 0);
    check_number("at_first", at_first, 0);
    check_number("least_scatter", least_scatter, 0);
    idle().smoothness(strength, at_first, least_scatter);
  }

  void add_squares(int table, Vector<int32_t> starts, Vector<int32_t> columns, Vector<double> values) {
    const Table& where = table_of(table);
    if (!trainer_.is_smooth()) refuse("Tell of the strength of smoothness before its squares.");
    check_length("starts", starts.size(), static_cast<size_t>(where.columns + 1));
    check_length("values", values.size(), columns.size());
    check_aligned("starts", starts);
    check_aligned("columns", columns);
    check_aligned("values", values);
    check_range("The last start", starts.data()[starts.size() - 1], length(columns.size()), length(columns.size()));
    for (size_t i = 0; i + 1 < starts.size(); ++i)
      check_range("A start", starts.data()[i], 0, starts.data()[i + 1]);
    for (size_t i = 0; i < columns.size(); ++i) check_range("A column", columns.data()[i], 0, where.columns - 1);
    check_finite("values", values.data(), values.size());
    trainer_.smoothness().add({where, copied<int32_t>(starts), copied<int32_t>(columns), copied<double>(values)});
  }

  void add_interactions(int table, int64_t first, Vector<int32_t> sizes, double pairs, double triples) {
    const Table& where = table_of(table);
    if (!trainer_.is_smooth()) refuse("Tell of the strength of smoothness before its interactions.");
    check_number("pairs", pairs, 0);
    check_number("triples", triples, 0);
    check_range("The first column", first, 0, where.columns);
    check_aligned("sizes", sizes);
    int64_t vertices = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      check_range("A size", sizes.data()[d], 2, where.columns);
      vertices *= sizes.data()[d];
      check_range("The number of vertices", vertices, 1, where.columns - first);
    }
    check_range("The number of vertices", vertices, 1, where.columns - first);
    const std::vector<double> empty(static_cast<size_t>(vertices));
    trainer_.smoothness().add(Interactions{where, first, copied<int32_t>(sizes), pairs, triples, empty, empty});
  }

  size_t add_shape(int table, double lower, double upper, Matrix<int64_t> chains, Matrix<int64_t> pinned) {
    const Table& where = table_of(table);
    if (!(lower <= upper)) refuse("The lower bound of a table is above the upper one.");
    const auto read = [&](const Matrix<int64_t>& from, int64_t least) {
      check_aligned("A chain", from);
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
    check_aligned("indices", indices);
    check_aligned("coefficients", coefficients);
    check_aligned("own", own);
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
    check_aligned("indices", indices);
    check_aligned("coefficients", coefficients);
    check_all("An index of a constraint", indices.data(), length(indices.size()), idle().tables().size());
    check_finite("coefficients", coefficients.data(), coefficients.size());
    trainer_.touch_lightly(LightTouch(copied<int64_t>(indices), copied<double>(coefficients)));
    touches_lightly_ = true;
  }

  void begin() { idle().begin(); }

  // With lanes: where each lane of each step ends in the order, and the sets of the step in all processes, whose lanes
  // `exchange` puts together.
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
    const Steps steps = ends ? steps_of_lanes(*ends, *totals, count) : steps_of(count, trainer_.pace().batch_size);
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

  nb::dict state() { return state_of(idle()); }

  void resume(const nb::dict& state) { put_back(idle(), state); }

  nb::object average() { return given(idle().average().data(), {trainer_.average().size()}); }

  nb::object average_corrections() {
    const T* values = idle().average_corrections();
    if (values == nullptr) return nb::none();
    return given(values, {static_cast<size_t>(trainer_.n_corrections()), static_cast<size_t>(trainer_.n_classes())});
  }

 private:
  // While it works, which it does without Python's lock, another thread or the handler of a signal may ask for something.
  Trainer<T>& idle() {
    if (works_) refuse("The trainer is at work; wait until the call that it is at has returned.");
    return trainer_;
  }

  SetsReader<T> reader(bool validates) {
    return {layout_, idle().tables(), corrections_, validates, trainer_.pace().threads};
  }

  // From here on the trainer reads the arrays.
  void take(bool validates, HandedSets<T> sets) {
    validates ? trainer_.validate_on(std::move(sets.labelled)) : trainer_.learn_from(std::move(sets.labelled));
    arrays_[validates].swap(sets.arrays);  // those of before are let go only now
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
    check_aligned("initial", initial);
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

  const PhiLayout& layout_;
  Trainer<T> trainer_;
  Corrections<T>* corrections_ = nullptr;
  size_t n_shapes_ = 0;
  bool touches_lightly_ = false, works_ = false;
  KeptArrays arrays_[2];  // of training, and of validation
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
      .def("smooth", &Class::smooth, nb::arg("strength"), nb::arg("at_first"), nb::arg("least_scatter"))
      .def("add_interactions", &Class::add_interactions, nb::arg("table"), nb::arg("first"), nb::arg("sizes").noconvert(),
           nb::arg("pairs"), nb::arg("triples"))
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
      .def("average_corrections", &Class::average_corrections)
      .def("state", &Class::state)
      .def("resume", &Class::resume, nb::arg("state"));
}

}  // namespace

void bind_train(nb::module_& module) {
  nb::class_<Pace>(module, "Pace")
      .def("__init__", [](Pace* self, double learning_rate, int64_t n_steps, int64_t warm_up, int64_t batch_size, int threads,
                          bool adagrad) {
        check_range("The number of steps", n_steps, 1, int64_t{1} << 44);
        check_range("warm_up", warm_up, 1, std::numeric_limits<int64_t>::max());
        check_range("batch_size", batch_size, 1, std::numeric_limits<int64_t>::max());
        check_range("threads", threads, 1, kMaxInt32);
        check_number("learning_rate", learning_rate, 0);
        new (self) Pace{learning_rate, n_steps, warm_up, batch_size, std::min(threads, kMostThreads), adagrad};
      });
  bind_trainer<float>(module, "Trainer_float32");
  bind_trainer<double>(module, "Trainer_float64");
}
