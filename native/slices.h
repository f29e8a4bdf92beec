// What the kernels over slices of sets share: memory to work in, and threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "workers.h"

struct ReleaseAligned {
  void operator()(char* data) const { ::operator delete(data, std::align_val_t{64}); }
};
using AlignedMemory = std::unique_ptr<char, ReleaseAligned>;

inline AlignedMemory allocate(int64_t bytes) {
  return AlignedMemory(static_cast<char*>(::operator new(static_cast<size_t>(bytes), std::align_val_t{64})));
}

// Calls work(slice, worker) for every slice, until one returns false; then so does this. worker numbers the thread, so
// that scratch memory can be one per thread. Work neither allocates nor throws, so threads may start at once.
template <class Work>
bool run_slices(int n_slices, int n_workers, const Work& work) {
  std::atomic<int> next{0};
  std::atomic<bool> stop{false};
  const auto run = [&](int worker) {
    for (int slice = next++; slice < n_slices && !stop; slice = next++)
      if (!work(slice, worker)) stop = true;
  };
  Workers workers(run, stop);
  workers.start(1, n_workers, false);
  workers.run(0);
  workers.finish();
  return !stop;
}
