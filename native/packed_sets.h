// Positions of tokens as training reads them: the sets of a batch stand anywhere in memory, which is slow to answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

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

// What is copied too far is written again by the next set, or stands in this much room behind the last.
constexpr int64_t kRun = 16;

// Copies slots and fractions of some sets side by side, feature by feature; `offsets` say where each of them begins. From
// one feature to the next it is `stride`, the number of tokens and room for a run.
template <class T>
class SetStore {
 public:
  SetStore(const TokenPlaces<T>& places, int64_t) : places_(places) {}

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
};

// In single precision, where data are large: a slot and a fraction share 32 bits, as exact as the fraction was, and the
// features of a set stand together.
template <>
class SetStore<float> {
 public:
  SetStore(const TokenPlaces<float>& places, int64_t n_sets)
      : places_(places), coding_(static_cast<size_t>(places.n_features)),
        memory_(allocate_large(4 * (places.n_features * places.n_tokens + kRun))),
        packed_(reinterpret_cast<uint32_t*>(memory_.get())) {
    std::fill_n(packed_ + places.n_features * places.n_tokens, kRun, uint32_t{0});
    for (int32_t d = 0; d < places.n_features; ++d) {
      const auto [least, most] = std::minmax_element(places.slots + d * places.n_tokens, places.slots + (d + 1) * places.n_tokens);
      uint32_t bits = 1;
      while ((int64_t{1} << bits) <= int64_t{*most} - *least) ++bits;
      coding_[d] = {*least, bits};
    }
    for (int64_t set = 0; set < n_sets; ++set) pack(set);
  }

  void copy(const int64_t* sets, int64_t n_sets, const int64_t* offsets, int64_t stride, int32_t* slots,
            float* fractions) const {
    constexpr int64_t kAhead = 12;
    const int64_t features = places_.n_features;
    for (int64_t i = 0; i < n_sets; ++i) {
      if (i + kAhead < n_sets) fetch(sets[i + kAhead]);
      const uint32_t* __restrict from = packed_ + features * places_.offsets[sets[i]];
      const int64_t size = offsets[i + 1] - offsets[i];
      for (int64_t d = 0; d < features; ++d, from += size) {
        const uint32_t shift = 32 - coding_[d].bits, mask = (uint32_t{1} << shift) - 1;
        const int32_t first = coding_[d].first_slot;
        const float unit = 1.0f / static_cast<float>(uint32_t{1} << shift);
        int32_t* __restrict to_slots = slots + d * stride + offsets[i];
        float* __restrict to_fractions = fractions + d * stride + offsets[i];
        for (int64_t start = 0; start < size; start += kRun)
          for (int64_t t = start; t < start + kRun; ++t) {
            to_slots[t] = first + static_cast<int32_t>(from[t] >> shift);
            to_fractions[t] = unit * static_cast<float>(static_cast<int32_t>(from[t] & mask));
          }
      }
    }
  }

 private:
  // The slot is counted from the first that occurs, in the high bits.
  struct Coding {
    int32_t first_slot;
    uint32_t bits;
  };

  void pack(int64_t set) {
    const int64_t begin = places_.offsets[set], size = places_.offsets[set + 1] - begin;
    uint32_t* to = packed_ + places_.n_features * begin;
    for (int32_t d = 0; d < places_.n_features; ++d, to += size) {
      const int32_t* slots = places_.slots + d * places_.n_tokens + begin;
      const float* fractions = places_.fractions + d * places_.n_tokens + begin;
      const uint32_t shift = 32 - coding_[d].bits, most = (uint32_t{1} << shift) - 1;
      const float whole = static_cast<float>(uint32_t{1} << shift);
      for (int64_t t = 0; t < size; ++t) {
        const uint32_t fraction = std::min(static_cast<uint32_t>(fractions[t] * whole), most);
        to[t] = static_cast<uint32_t>(slots[t] - coding_[d].first_slot) << shift | fraction;
      }
    }
  }

  void fetch(int64_t set) const {
    const char* from = reinterpret_cast<const char*>(packed_ + places_.n_features * places_.offsets[set]);
    const int64_t bytes = 4 * places_.n_features * (places_.offsets[set + 1] - places_.offsets[set]);
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at);
  }

  TokenPlaces<float> places_;
  std::vector<Coding> coding_;
  AlignedMemory memory_;
  uint32_t* packed_;
};
