// Positions of tokens as training reads them: as two arrays, or packed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "checks.h"
#include "slices.h"

// Slots and fractions (features, tokens) of whole sets, and where the tokens of each set begin. There is a token, slots are
// not negative, and fractions lie in [0, 1].
template <class T>
struct TokenPlaces {
  const int32_t* slots;
  const T* fractions;
  const int64_t* offsets;
  int64_t n_tokens;
  int32_t n_features;
};

// The sets of some labels, in the order of these. Where `chosen` is null, the labels are those of all sets.
struct LabelledSets {
  const int64_t* offsets;
  const int64_t* chosen;
  int64_t n_sets;
  int64_t n_tokens;
};

// What is copied too far is written again by the next set, or stands in this much room behind the last.
constexpr int64_t kRun = 16;

// Copies slots and fractions of some sets side by side, feature by feature; `offsets` say where each of them begins. From
// one feature to the next it is `stride`, the number of tokens and room for a run.
template <class T>
class SetStore {
 public:
  SetStore(const TokenPlaces<T>& places, const LabelledSets& sets) : places_(places), sets_(sets) {}

  LabelledSets sets() const { return sets_; }

  void copy(const int64_t* sets, int64_t n_sets, const int64_t* offsets, int64_t stride, int32_t* slots, T* fractions) const {
    for (int32_t d = 0; d < places_.n_features; ++d)
      for (int64_t i = 0; i < n_sets; ++i) {
        const int64_t from = d * places_.n_tokens + places_.offsets[sets[i]], to = d * stride + offsets[i];
        std::copy_n(places_.slots + from, offsets[i + 1] - offsets[i], slots + to);
        std::copy_n(places_.fractions + from, offsets[i + 1] - offsets[i], fractions + to);
      }
  }

 private:
  TokenPlaces<T> places_;
  LabelledSets sets_;
};

// How a slot and a fraction share 32 bits: the slot, counted from the first of its feature, stands in the high bits. That
// is as exact as a fraction in single precision.
struct Coding {
  int32_t first_slot;
  int32_t bits;
};

// The features of a set stand together: (features, tokens) for one set after the other.
struct PackedPlaces {
  const uint32_t* packed;
  const int64_t* offsets;
  int64_t n_sets;
  std::vector<Coding> coding;

  int64_t n_features() const { return static_cast<int64_t>(coding.size()); }
  int64_t n_tokens() const { return offsets[n_sets]; }
};

template <bool whole>
inline void unpack(const uint32_t* __restrict from, int64_t size, Coding coding, int32_t* __restrict slots,
                   float* __restrict fractions) {
  const uint32_t shift = 32 - static_cast<uint32_t>(coding.bits), mask = (uint32_t{1} << shift) - 1;
  const float unit = 1.0f / static_cast<float>(uint32_t{1} << shift);
  const uint32_t first_slot = static_cast<uint32_t>(coding.first_slot);  // sums go round: a slot that is too large is negative
  for (int64_t start = 0; start < size; start += kRun) {
    const int64_t stop = whole ? start + kRun : std::min(start + kRun, size);
    for (int64_t t = start; t < stop; ++t) {
      slots[t] = static_cast<int32_t>(first_slot + (from[t] >> shift));
      // Signed, because processors convert signed integers at once; there is always a bit for the slot.
      fractions[t] = unit * static_cast<float>(static_cast<int32_t>(from[t] & mask));
    }
  }
}

// In single precision, where data are large.
class PackedStore {
 public:
  explicit PackedStore(PackedPlaces places) : places_(std::move(places)) {}

  LabelledSets sets() const { return {places_.offsets, nullptr, places_.n_sets, places_.n_tokens()}; }

  void copy(const int64_t* sets, int64_t n_sets, const int64_t* offsets, int64_t stride, int32_t* slots,
            float* fractions) const {
    const uint32_t* end = places_.packed + places_.n_features() * places_.n_tokens();
    for (int64_t i = 0; i < n_sets; ++i) {
      if (i + kAhead < n_sets) fetch(sets[i + kAhead]);
      const uint32_t* from = places_.packed + places_.n_features() * places_.offsets[sets[i]];
      const int64_t size = offsets[i + 1] - offsets[i];
      for (int64_t d = 0; d < places_.n_features(); ++d, from += size) {
        int32_t* to_slots = slots + d * stride + offsets[i];
        float* to_fractions = fractions + d * stride + offsets[i];
        // Runs are quicker; behind the last token there may be no memory to read.
        if (end - from >= size + kRun)
          unpack<true>(from, size, places_.coding[d], to_slots, to_fractions);
        else
          unpack<false>(from, size, places_.coding[d], to_slots, to_fractions);
      }
    }
  }

 private:
  // Sets that stand anywhere in memory are fetched so many before they are read.
  static constexpr int64_t kAhead = 12;

  void fetch(int64_t set) const {
    const char* from = reinterpret_cast<const char*>(places_.packed + places_.n_features() * places_.offsets[set]);
    const int64_t bytes = 4 * places_.n_features() * (places_.offsets[set + 1] - places_.offsets[set]);
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at);
  }

  PackedPlaces places_;
};
