// Checks of what Python hands over. Each costs at most one pass over an array that is read anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

// Becomes Python's ValueError. Messages are put together out of the way of the loops that check.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(const std::string& message) { throw std::invalid_argument(message); }

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_range(const char* name, int64_t value, int64_t least,
                                                                int64_t most) {
  refuse(std::string(name) + " is " + std::to_string(value) + "; it must lie in [" + std::to_string(least) + ", " +
         std::to_string(most) + "].");
}

inline void check_range(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most) refuse_range(name, value, least, most);
}

inline void check_length(const char* name, size_t received, size_t expected) {
  if (received != expected)
    refuse(std::string(name) + " has " + std::to_string(received) + " entries; it must have " + std::to_string(expected) + ".");
}

// The least and the most of at least one number.
inline std::pair<int32_t, int32_t> range_of(const int32_t* numbers, size_t count) {
  int32_t least = numbers[0], most = numbers[0];
  for (size_t i = 1; i < count; ++i) {
    least = numbers[i] < least ? numbers[i] : least;
    most = numbers[i] > most ? numbers[i] : most;
  }
  return {least, most};
}

// Not-a-number does not pass, nor does infinity.
inline void check_number(const char* name, double value, double least) {
  if (!(value >= least && value <= std::numeric_limits<double>::max()))
    refuse(std::string(name) + " is " + std::to_string(value) + "; it must be finite and at least " +
           std::to_string(least) + ".");
}

template <class T>
void check_numbers(const char* name, const T* values, size_t count, T least, T most) {
  bool fits = true;
  for (size_t i = 0; i < count; ++i) fits &= values[i] >= least && values[i] <= most;
  if (!fits)
    refuse(std::string(name) + " must hold numbers from " + std::to_string(least) + " to " + std::to_string(most) + ".");
}

template <class T>
void check_finite(const char* name, const T* values, size_t count) {
  bool fits = true;
  for (size_t i = 0; i < count; ++i) fits &= values[i] - values[i] == 0;
  if (!fits) refuse(std::string(name) + " must hold finite numbers.");
}

template <class T>
void check_rising(const char* name, const T* values, size_t count) {
  check_finite(name, values, count);
  for (size_t i = 1; i < count; ++i)
    if (!(values[i - 1] < values[i])) refuse(std::string(name) + " must rise.");
}

// Row b of a ragged array is what stands from offsets[b] to offsets[b + 1].
inline void check_offsets(const int64_t* offsets, size_t n_offsets, size_t n_entries) {
  bool fits = n_offsets > 0 && offsets[0] == 0 && offsets[n_offsets - 1] == static_cast<int64_t>(n_entries);
  for (size_t i = 1; fits && i < n_offsets; ++i) fits = offsets[i - 1] <= offsets[i];
  if (!fits) refuse("offsets must rise from 0 to the number of codes, " + std::to_string(n_entries) + ".");
}
