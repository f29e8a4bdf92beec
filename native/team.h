// Threads that stay together for the many short jobs of one call.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// A job is a number of items; every worker, the calling thread as worker 0, takes one after the other. Work neither throws
// nor allocates. Jobs follow each other within microseconds, so that workers look for the next one for a while before they
// sleep.
class Team {
 public:
  explicit Team(int n_workers) {
    threads_.reserve(static_cast<size_t>(n_workers > 1 ? n_workers - 1 : 0));
    try {
      for (int worker = 1; worker < n_workers; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::exception&) {  // fewer threads do the same work
    }
  }
  Team(const Team&) = delete;
  ~Team() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls work(item, worker) for the items 0 to n_items - 1.
  template <class Work>
  void run(int n_items, const Work& work) {
    if (threads_.empty() || n_items == 1) {
      for (int item = 0; item < n_items; ++item) work(item, 0);
      return;
    }
    call_ = [](const void* job, int item, int worker) { (*static_cast<const Work*>(job))(item, worker); };
    job_ = &work;
    done_.store(0, std::memory_order_relaxed);
    const uint64_t number = (left_.load(std::memory_order_relaxed) >> 32) + 1;
    left_.store(number << 32 | static_cast<uint32_t>(n_items));
    if (asleep_.load() > 0) {
      { const std::lock_guard<std::mutex> lock(mutex_); }  // whoever is about to sleep has looked, or will be woken
      wake_.notify_all();
    }
    while (take_one(0)) {
    }
    for (int turns = 0; done_.load(std::memory_order_acquire) < n_items; ++turns) pause(turns);
  }

 private:
  static constexpr int kTurnsAwake = 2000;

  static void pause(int turns) {
    if (turns > kTurnsAwake) std::this_thread::yield();
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  // The low half counts the items that are left, the high half the jobs: an item is only taken from the job that was seen.
  bool take_one(int worker) {
    uint64_t seen = left_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(seen) > 0)
      if (left_.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel)) {
        call_(job_, static_cast<int>(static_cast<uint32_t>(seen)) - 1, worker);
        done_.fetch_add(1, std::memory_order_release);
        return true;
      }
    return false;
  }

  void serve(int worker) {
    for (int turns = 0; !ends_.load(std::memory_order_relaxed);) {
      if (take_one(worker)) {
        turns = 0;
      } else if (++turns < kTurnsAwake) {
        pause(turns);
      } else {
        std::unique_lock<std::mutex> lock(mutex_);
        ++asleep_;
        wake_.wait(lock, [this] { return ends_ || static_cast<uint32_t>(left_.load()) > 0; });
        --asleep_;
        turns = 0;
      }
    }
  }

  std::atomic<uint64_t> left_{0};
  std::atomic<int> done_{0}, asleep_{0};
  std::atomic<bool> ends_{false};
  void (*call_)(const void*, int, int) = nullptr;
  const void* job_ = nullptr;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};
