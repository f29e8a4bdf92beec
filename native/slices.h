// What the kernels over slices of sets share: which instruction set to take, memory to work in, threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

enum class InstructionSet { baseline, avx2, avx512 };

// The best that the machine has, of those that were compiled.
inline InstructionSet instruction_set() {
#if defined(CLEARSET_X86)
  static const InstructionSet best = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      return InstructionSet::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::avx2;
    return InstructionSet::baseline;
  }();
  return best;
#else
  return InstructionSet::baseline;
#endif
}

// The kernel of the precision T.
template <class T, class Single, class Double>
const auto& of_precision(const Single& single, const Double& twice) {
  if constexpr (sizeof(T) == sizeof(float))
    return single;
  else
    return twice;
}

struct ReleaseAligned {
  void operator()(char* data) const { ::operator delete(data, std::align_val_t{64}); }
};
using AlignedMemory = std::unique_ptr<char, ReleaseAligned>;

inline AlignedMemory allocate(int64_t bytes) {
  return AlignedMemory(static_cast<char*>(::operator new(static_cast<size_t>(bytes), std::align_val_t{64})));
}

// Calls work(slice, worker) for every slice; worker numbers the thread, so that scratch memory can be one per thread.
template <class Work>
void run_slices(int n_slices, int n_workers, Work work) {
  std::atomic<int> next{0};
  const auto run = [&](int worker) {
    for (int slice = next++; slice < n_slices; slice = next++) work(slice, worker);
  };
  std::vector<std::thread> others;
  try {
    for (int worker = 1; worker < n_workers; ++worker) others.emplace_back(run, worker);
  } catch (const std::system_error&) {  // no more threads to be had: those that run do all the work
  }
  run(0);
  for (std::thread& other : others) other.join();
}
