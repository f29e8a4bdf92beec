// What steps have changed of a training, as arrays by name: enough to go on from there, in another process.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "arrays.h"
#include "trainer.h"

// Copies of the arrays.
template <class T>
nanobind::dict state_of(Trainer<T>& trainer) {
  namespace nb = nanobind;
  nb::dict state;
  trainer.visit_state([&](const std::string& name, const auto* values, size_t count) {
    using Value = std::remove_const_t<std::remove_pointer_t<decltype(values)>>;
    auto* copy = new Value[std::max<size_t>(count, 1)];
    nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<Value*>(p); });
    std::copy_n(values, count, copy);
    state[name.c_str()] = nb::cast(nb::ndarray<nb::numpy, Value>(copy, {count}, owner));
  });
  return state;
}

// Puts the arrays back into a trainer of the same problem; one that does not fit leaves it as it was.
template <class T>
void put_back(Trainer<T>& trainer, const nanobind::dict& state) {
  namespace nb = nanobind;
  size_t known = 0;
  const auto each = [&](const auto& use) {
    trainer.visit_state([&](const std::string& name, auto* values, size_t count) {
      using Value = std::remove_pointer_t<decltype(values)>;
      Vector<Value> array;
      if (!state.contains(name.c_str()) || !nb::try_cast<Vector<Value>>(state[name.c_str()], array, false))
        refuse("The state of a training lacks the array '" + name + "', or has it with other numbers.");
      check_length(name.c_str(), array.size(), count);
      check_aligned(name.c_str(), array);
      use(name, array.data(), values, count);
    });
  };
  each([&](const std::string& name, [[maybe_unused]] const auto* from, auto*, [[maybe_unused]] size_t count) {
    ++known;
    if constexpr (std::is_same_v<decltype(from), const int64_t*>)  // numbers of steps
      for (size_t i = 0; i < count; ++i) check_range(name.c_str(), from[i], 0, trainer.pace().n_steps);
  });
  if (state.size() != known) refuse("The state of a training has arrays that this one does not know.");
  each([](const std::string&, const auto* from, auto* to, size_t count) { std::copy_n(from, count, to); });
}
