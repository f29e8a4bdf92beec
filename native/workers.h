// Threads whose failures arrive in the thread that waits for them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

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
  int start(int first, int last) {
    threads_.reserve(static_cast<size_t>(last > first ? last - first : 0));
    for (int worker = first; worker < last; ++worker) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++running_;
      }
      try {
        threads_.emplace_back([this, worker] {
          run(worker);
          end_one();
        });
      } catch (const std::exception&) {  // no thread, or no memory for one
        end_one();
        break;
      }
    }
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
    return ended_.wait_for(lock, time, [this] { return running_ == 0; });
  }

  void finish() {
    join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void end_one() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    ended_.notify_all();
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const Work& work_;
  std::atomic<bool>& stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int running_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};
