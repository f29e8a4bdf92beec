// What the kernels over slices of sets share: memory to work in, and threads.
#pragma once

#include <sys/mman.h>

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

// In large pages where the system has them: memory that is read anywhere and in no order is found faster in these.
inline AlignedMemory allocate_large(int64_t bytes) {
  constexpr int64_t kPage = int64_t{1} << 21;
  if (bytes < 2 * kPage) return allocate(bytes);
  AlignedMemory memory = allocate(bytes + kPage);
#if defined(MADV_HUGEPAGE)
  const uintptr_t first = (reinterpret_cast<uintptr_t>(memory.get()) + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), static_cast<size_t>(bytes / kPage * kPage), MADV_HUGEPAGE);
#endif
  return memory;
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
