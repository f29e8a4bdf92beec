// Threads whose failures arrive in the thread that waits for them.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

// Memory that is kept free for somebody else.
class Reserve {
 public:
  Reserve() : data_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Reserve(const Reserve&) = delete;
  ~Reserve() {
    if (exists()) munmap(data_, kBytes);
  }
  bool exists() const { return data_ != MAP_FAILED; }

 private:
  static constexpr size_t kBytes = 1 << 20;
  void* data_;
};

// Runs work(worker) for the workers 0, 1, ... What one of them throws sets `stop`, which the work looks at, and is thrown
// again by finish(); the threads are joined in any case. An exception that left a thread would end the process.
template <class Work>
class Workers {
 public:
  Workers(const Work& work, std::atomic<bool>& stop) : work_(work), stop_(stop) {}
  Workers(const Workers&) = delete;
  ~Workers() { join(); }

  // Starts threads for the workers from `first` to `last` - 1. There may be fewer, even none, where no more threads can be
  // had; the work is shared out such that those that run do all of it. Returns how many were started.
  //
  // A thread's first exception takes memory that the C library must have: without it the process ends. So where work may
  // run out of memory and throw, each thread throws once before any of them works, with memory kept free for it.
  int start(int first, int last, bool may_throw) {
    threads_.reserve(static_cast<size_t>(last > first ? last - first : 0));
    std::unique_lock<std::mutex> lock(mutex_);
    for (int worker = first; worker < last; ++worker) {
      std::optional<Reserve> reserve;
      if (may_throw && !reserve.emplace().exists()) break;
      try {
        threads_.emplace_back([this, worker, may_throw] {
          if (may_throw) throw_once();
          run(worker);
          end();
        });
      } catch (const std::exception&) {  // no thread, or no memory for one
        break;
      }
      ++running_;
      reserve.reset();
      if (may_throw) changed_.wait(lock, [this] { return ready_ == running_; });
    }
    all_started_ = true;
    changed_.notify_all();
    return static_cast<int>(threads_.size());
  }

  // Does a worker's part in the calling thread.
  void run(int worker) noexcept {
    try {
      work_(worker);
    } catch (...) {
      fail();
    }
  }

  // Keeps the exception that is being handled, unless there is one already, and ends the work.
  void fail() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = std::current_exception();
    stop_ = true;
  }

  // Tells whether all threads have ended, after at most the given time.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return running_ == 0; });
  }

  void finish() {
    join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void throw_once() noexcept {
    std::unique_lock<std::mutex> lock(mutex_);  // which start() holds until the reserve is free
    try {
      throw 0;
    } catch (int) {
    }
    ++ready_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return all_started_; });
  }

  void end() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const Work& work_;
  std::atomic<bool>& stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0, ready_ = 0;
  bool all_started_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};
