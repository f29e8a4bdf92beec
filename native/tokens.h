// What mining and finding tokens share: arrays from and to Python, and threads that Ctrl-C can stop.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrays.h"
#include "checks.h"
#include "workers.h"

namespace nb = nanobind;

// An array of numpy's that is still to be filled.
template <class T>
struct NewArray {
  explicit NewArray(size_t rows, size_t columns = 0)
      : shape{rows, columns}, data(new T[std::max<size_t>(rows * (columns ? columns : 1), 1)]) {}

  nb::object give() {
    nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data.release(), shape[1] ? 2 : 1, shape, owner));
  }

  size_t shape[2];
  std::unique_ptr<T[]> data;
};

// Runs work(worker) in threads. The calling thread, which holds the GIL, lets go of it, but calls watch() with it now
// and then and looks for signals; what either throws, or a worker, ends the work by `stop` and is thrown again here.
template <class Work, class Watch>
void run_watched(int threads, std::atomic<bool>& stop, const Work& work, const Watch& watch) {
  nb::gil_scoped_release release;
  Workers workers(work, stop);
  if (workers.start(0, threads, true) == 0) workers.run(0);  // no thread can be had: nobody watches, but the work is done
  while (!workers.wait(std::chrono::milliseconds(50))) {
    if (stop) continue;
    try {
      nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      watch();
    } catch (...) {
      workers.fail();
    }
  }
  workers.finish();
}
