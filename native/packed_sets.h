// Positions of tokens as training reads them: the sets of a batch stand anywhere in memory, which is slow to answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
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
  SetStore(const TokenPlaces<T>& places, const LabelledSets& sets, int64_t) : places_(places), sets_(sets) {}

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

// In single precision, where data are large: a slot and a fraction share 32 bits, as exact as the fraction was, the
// features of a set stand together, and the sets in the order of their labels. Nothing is read from the arrays afterwards.
template <>
class SetStore<float> {
 public:
  SetStore(const TokenPlaces<float>& places, const LabelledSets& sets, int64_t n_labels)
      : n_features_(places.n_features), coding_(static_cast<size_t>(places.n_features)),
        offsets_(static_cast<size_t>(n_labels + 1)) {
    for (int64_t i = 0; i < n_labels; ++i) {
      const int64_t set = sets.chosen ? sets.chosen[i] : i;
      offsets_[i + 1] = offsets_[i] + sets.offsets[set + 1] - sets.offsets[set];
    }
    memory_ = allocate_large(4 * (n_features_ * offsets_.back() + kRun));
    packed_ = reinterpret_cast<uint32_t*>(memory_.get());
    std::fill_n(packed_ + n_features_ * offsets_.back(), kRun, uint32_t{0});
    for (int32_t d = 0; d < places.n_features; ++d) {
      const auto [least, most] = range_of(places.slots + d * places.n_tokens, static_cast<size_t>(places.n_tokens));
      uint32_t bits = 1;
      while ((int64_t{1} << bits) <= int64_t{most} - least) ++bits;
      coding_[d] = {least, bits};
    }
    // In the order of memory, which is read in twice as many places as it is written to.
    std::vector<int64_t> labels(static_cast<size_t>(n_labels));
    std::iota(labels.begin(), labels.end(), int64_t{0});
    if (sets.chosen) labels = sorted_by(sets.chosen, sets.n_sets, n_labels);
    for (const int64_t label : labels) pack(places, sets.offsets[sets.chosen ? sets.chosen[label] : label], label);
  }

  LabelledSets sets() const { return {offsets_.data(), nullptr, static_cast<int64_t>(offsets_.size()) - 1, offsets_.back()}; }

  void copy(const int64_t* sets, int64_t n_sets, const int64_t* offsets, int64_t stride, int32_t* slots,
            float* fractions) const {
    for (int64_t i = 0; i < n_sets; ++i) {
      if (i + kAhead < n_sets) fetch(sets[i + kAhead]);
      const uint32_t* __restrict from = packed_ + n_features_ * offsets_[sets[i]];
      const int64_t size = offsets[i + 1] - offsets[i];
      for (int64_t d = 0; d < n_features_; ++d, from += size) {
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
  // Sets that stand anywhere in memory are fetched so many before they are read.
  static constexpr int64_t kAhead = 12;

  // The slot is counted from the first that occurs, in the high bits.
  struct Coding {
    int32_t first_slot;
    uint32_t bits;
  };

  // The tokens that begin at `begin` are those of a label.
  void pack(const TokenPlaces<float>& places, int64_t begin, int64_t label) {
    const int64_t size = offsets_[label + 1] - offsets_[label];
    uint32_t* to = packed_ + n_features_ * offsets_[label];
    for (int32_t d = 0; d < places.n_features; ++d, to += size) {
      const int32_t* slots = places.slots + d * places.n_tokens + begin;
      const float* fractions = places.fractions + d * places.n_tokens + begin;
      const int32_t shift = 32 - static_cast<int32_t>(coding_[d].bits), first = coding_[d].first_slot;
      for (int64_t start = 0; start < size; start += kRun) {
        uint32_t run[kRun];
        const int64_t count = std::min(kRun, size - start);
        if (begin + start + kRun <= places.n_tokens)  // a whole run is quicker, and what is too much of it is not kept
          pack_run<kRun>(slots + start, fractions + start, kRun, first, shift, run);
        else
          pack_run<0>(slots + start, fractions + start, count, first, shift, run);
        std::memcpy(to + start, run, static_cast<size_t>(4 * count));
      }
    }
  }

  template <int64_t known>
  static void pack_run(const int32_t* slots, const float* fractions, int64_t count, int32_t first, int32_t shift,
                       uint32_t* run) {
    // Signed, because processors convert to signed integers at once; there is always a bit for the slot.
    const int32_t most = static_cast<int32_t>((uint32_t{1} << shift) - 1);
    const float whole = static_cast<float>(uint32_t{1} << shift);
    for (int64_t t = 0; t < (known > 0 ? known : count); ++t) {
      const int32_t fraction = static_cast<int32_t>(fractions[t] * whole);
      run[t] = static_cast<uint32_t>(slots[t] - first) << shift | static_cast<uint32_t>(fraction < most ? fraction : most);
    }
  }

  // The labels in the order of their sets.
  static std::vector<int64_t> sorted_by(const int64_t* chosen, int64_t n_sets, int64_t n_labels) {
    std::vector<int64_t> ends(static_cast<size_t>(n_sets + 1)), sorted(static_cast<size_t>(n_labels));
    for (int64_t i = 0; i < n_labels; ++i) ++ends[chosen[i] + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (int64_t i = 0; i < n_labels; ++i) sorted[ends[chosen[i]]++] = i;
    return sorted;
  }

  void fetch(int64_t set) const {
    const char* from = reinterpret_cast<const char*>(packed_ + n_features_ * offsets_[set]);
    const int64_t bytes = 4 * n_features_ * (offsets_[set + 1] - offsets_[set]);
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at);
  }

  int64_t n_features_;
  std::vector<Coding> coding_;
  std::vector<int64_t> offsets_;
  AlignedMemory memory_;
  uint32_t* packed_;
};
