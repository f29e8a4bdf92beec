// phi with a value per class, then the mean over each chosen set, for one slice of them. CMake compiles this file once per
// instruction set, with PHI_ISA as the name of the namespace. The plain features are folded in lanes of tokens, as in
// phi_lanes.cpp, once for all classes; then every token runs over the classes in lanes.
#include "crossed_lanes.h"

#include "lanes.h"

namespace PHI_ISA {

#include "crossed_tile.h"

// ---- scratch memory

template <class T>
struct CrossedScratch {
  TokenTile<T> now, next;
  ClassBlock<T> block;
  int64_t entries;  // of the widest block
  SlotSpan* spans;  // (plain features)
  T* within;        // (outputs, plain features, kTile): calibrated and clamped
  T* inside;        // (outputs, plain features, kTile): 0 where clamped, else 1
  T* low;           // (outputs, kTile)
  T* rise;          // (outputs, kTile)
  T* by_low;        // (outputs, kTile): gradients of low and rise
  T* by_rise;       // (outputs, kTile)
  T* gradients;     // (plain features, kTile)
  Lanes<T>* heaps;  // (heap_nodes of the plain features)
  double* sums;     // (outputs, classes): of the set that a tile's end has cut
  typename Vector<T>::type* low_lanes;   // (outputs, corners)
  typename Vector<T>::type* rise_lanes;  // (outputs, corners)
  char* end;

  CrossedScratch(const Crossed<T>& crossed, char* memory) {
    const int64_t per_feature = static_cast<int64_t>(crossed.n_plain) * kTile, outputs = crossed.n_outputs;
    TokenTile<T>* const tiles[] = {&now, &next};
    for (TokenTile<T>* tile : tiles) {
      tile->parts = take<Part>(memory, kTile);
      tile->slots = take<int32_t>(memory, per_feature);
      tile->fractions = take<T>(memory, per_feature);
      tile->rows = take<int32_t>(memory, kTile);
      tile->refined = take<int32_t>(memory, kTile);
    }
    const int64_t widest = crossed.n_classes < Lanes<T>::count ? crossed.n_classes : Lanes<T>::count;
    entries = widest * kTile + Lanes<T>::count;
    block.segments = take<int32_t>(memory, entries);
    T** const of_values[] = {&block.values,     &block.fractions, &block.rates,
                             &block.calibrated, &block.gradients, &block.by_value};
    for (T** part : of_values) *part = take<T>(memory, entries);
    spans = take<SlotSpan>(memory, crossed.n_plain);
    within = take<T>(memory, outputs * per_feature);
    inside = take<T>(memory, outputs * per_feature);
    T** const of_tokens[] = {&low, &rise, &by_low, &by_rise};
    for (T** part : of_tokens) *part = take<T>(memory, outputs * kTile);
    gradients = take<T>(memory, per_feature);
    heaps = take<Lanes<T>>(memory, heap_nodes(crossed.n_plain));
    sums = take<double>(memory, outputs * crossed.n_classes);
    low_lanes = take<typename Vector<T>::type>(memory, outputs * crossed.n_corners);
    rise_lanes = take<typename Vector<T>::type>(memory, outputs * crossed.n_corners);
    end = memory;
  }
};

template <class T>
static int64_t scratch_bytes(const Crossed<T>& crossed) {
  return reinterpret_cast<intptr_t>(CrossedScratch<T>(crossed, nullptr).end);
}

// ---- the plain features

// False if a slot does not exist.
template <class T>
static bool calibrate_plain(const Crossed<T>& crossed, int output, const CrossedScratch<T>& scratch) {
  const TokenTile<T>& tile = scratch.now;
  for (int d = 0; d < crossed.n_plain; ++d) {
    T* __restrict within = scratch.within + (output * crossed.n_plain + d) * kTile;
    T* __restrict inside = scratch.inside + (output * crossed.n_plain + d) * kTile;
    while (!look_up(crossed.table + static_cast<int64_t>(output) * crossed.n_slots, scratch.spans[d],
                    tile.slots + d * kTile, tile.fractions + d * kTile, kTile, within))
      if (!widen(scratch.spans[d], tile.slots + d * kTile, kTile, crossed.n_slots)) return false;
    for (int t = 0; t < kTile; ++t) {
      const T value = within[t];
      inside[t] = value < 0 || value > 1 ? T(0) : T(1);
      within[t] = value < 0 ? T(0) : value > 1 ? T(1) : value;
    }
  }
  return true;
}

// Runs a lattice of the plain features over the tile. All sizes are 2, so no cells are needed.
template <bool backward, class T>
static void run_plain(const Crossed<T>& crossed, const CrossedScratch<T>& scratch, int output, const T* corners,
                      typename Vector<T>::type* corner_lanes, T* scores, T* upstream) {
  static const int32_t features[kMaxLatticeFeatures] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  const Lattice lattice{crossed.n_plain, features, nullptr, 0, crossed.n_corners, true, 0, 0, nullptr, nullptr};
  Tile<T> tile{};
  tile.tokens = tile.padded = kTile;
  tile.within = scratch.within + static_cast<int64_t>(output) * crossed.n_plain * kTile;
  tile.scores = scores;
  tile.upstream = upstream;
  tile.gradients = scratch.gradients;
  tile.heaps = scratch.heaps;
  SharedCorners<T> shared{corners + output * crossed.n_corners, corner_lanes + output * crossed.n_corners};
  run_known_lattice<backward, 0>(tile, lattice, shared);
}

// Begins the spans with the first tile; false if a slot does not exist.
template <class T>
static bool begin(const Crossed<T>& crossed, Walk& walk, CrossedScratch<T>& scratch) {
  // Lanes reach into the room behind the last token, where nothing else has written: no not-a-number may lie there.
  clear(scratch.block.calibrated, scratch.entries);
  if (!fill(crossed, walk, scratch.next)) return false;
  for (int d = 0; d < crossed.n_plain && scratch.next.tokens; ++d) {
    const uint32_t slot = static_cast<uint32_t>(scratch.next.slots[d * kTile]);  // a negative slot is a large one
    if (slot >= static_cast<uint32_t>(crossed.n_slots)) return false;
    scratch.spans[d] = {slot, slot};
  }
  return true;
}

// Takes the tile that was filled, and fills the one after it, so that its rows are on their way meanwhile.
template <class T>
static bool advance(const Crossed<T>& crossed, Walk& walk, CrossedScratch<T>& scratch) {
  const TokenTile<T> filled = scratch.next;
  scratch.next = scratch.now;
  scratch.now = filled;
  return fill(crossed, walk, scratch.next);
}

// Calls visit for every block of classes, with the values of the tile found and placed.
template <class T, class Visit>
static void each_block(const Crossed<T>& crossed, CrossedScratch<T>& scratch, Visit visit) {
  ClassBlock<T>& block = scratch.block;
  for (block.first = 0; block.first < crossed.n_classes; block.first += block.width) {
    const int left = crossed.n_classes - block.first;
    block.width = left < Lanes<T>::count ? left : Lanes<T>::count;
    gather_values(crossed, scratch.now, block);
    place_values(crossed, scratch.now, block);
    visit(block);
  }
}

// ---- the classes of a token, side by side

template <class T>
static inline Lanes<T> load_loose(const T* from) {
  Lanes<T> lanes;
  __builtin_memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

template <class V>
static inline V clamp(V x) {
  const V zero{}, one = zero + 1;
  return x < zero ? zero : x > one ? one : x;
}

template <class V>
static inline V zero_outside(V x, V value) {
  const V zero{}, one = zero + 1;
  return x < zero ? zero : x > one ? zero : value;
}

template <class T>
static inline T add_up(typename Vector<T>::type lanes) {
  constexpr int count = kLaneBytes / sizeof(T);
  decltype(lanes < lanes) places;
#pragma GCC unroll 4
  for (int half = count / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < count; ++i) places[i] = (i + half) % count;
    lanes += __builtin_shuffle(lanes, places);
  }
  return lanes[0];
}

// Adds the scores of a part's tokens to the sums of its set.
template <class T>
static void add_scores(const ClassBlock<T>& block, const Part& part, const T* low, const T* rise, double* sums) {
  Lanes<T> total{};
  const T grid = grid_of<T>(part.set_size);
  if (block.width == 1) {
    double sum = 0;
    for (int t = part.from; t < part.to; ++t) {
      const T value = block.calibrated[t];
      const T score = low[t] + rise[t] * (value < 0 ? T(0) : value > 1 ? T(1) : value);
      sum += static_cast<double>(on_grid(score, grid));
    }
    sums[0] += sum;
    return;
  }
  for (int t = part.from; t < part.to; ++t) {
    const Lanes<T> value = load_loose(block.calibrated + t * block.width);
    total.low += on_grid(low[t] + rise[t] * clamp(value.low), grid);
    total.high += on_grid(low[t] + rise[t] * clamp(value.high), grid);
  }
  alignas(64) T totals[Lanes<T>::count];
  __builtin_memcpy(totals, &total, sizeof(total));
  for (int c = 0; c < block.width; ++c) sums[c] += static_cast<double>(totals[c]);
}

// For the gradient of a set's means, those of low and rise of its tokens and of their calibrated values.
template <class T>
static void spread_gradient(const ClassBlock<T>& block, const Part& part, const Lanes<T>& upstream, const T* rise,
                            T* by_low, T* by_rise) {
  const T all = add_up<T>(upstream.low + upstream.high);
  for (int t = part.from; t < part.to; ++t) by_low[t] += all;
  if (block.width == 1) {
    for (int t = part.from; t < part.to; ++t) {
      const T value = block.calibrated[t];
      by_rise[t] += all * (value < 0 ? T(0) : value > 1 ? T(1) : value);
      block.gradients[t] = value < 0 || value > 1 ? T(0) : all * rise[t];
    }
    return;
  }
  for (int t = part.from; t < part.to; ++t) {
    const Lanes<T> value = load_loose(block.calibrated + t * block.width);
    by_rise[t] += add_up<T>(upstream.low * clamp(value.low) + upstream.high * clamp(value.high));
    // What is written too far belongs to the next token or to the room behind the last, and is written again.
    const Lanes<T> gradient{zero_outside(value.low, upstream.low * rise[t]),
                            zero_outside(value.high, upstream.high * rise[t])};
    __builtin_memcpy(block.gradients + t * block.width, &gradient, sizeof(gradient));
  }
}

template <class T>
static void add_corrections(const Crossed<T>& crossed, const TokenTile<T>& tile, const ClassBlock<T>& block,
                            double* sums) {
  for (int t = 0; t < tile.tokens; ++t) {
    if (tile.refined[t] < 0 || tile.rows[t] < 0) continue;
    double* __restrict to = sums + static_cast<int64_t>(tile.refined[t]) * crossed.n_classes + block.first;
    const T* by_value = block.by_value + t * block.width;
    const T* rates = block.rates + t * block.width;
    for (int c = 0; c < block.width; ++c) to[c] += static_cast<double>(by_value[c] * rates[c]);
  }
}

template <class T>
static void add_lanes(int64_t count, typename Vector<T>::type* lanes, double* gradient) {
  for (int64_t v = 0; v < count; ++v) {
    gradient[v] += static_cast<double>(add_up<T>(lanes[v]));
    lanes[v] = typename Vector<T>::type{};
  }
}

// ---- the two directions

template <class T>
static bool forward(const Crossed<T>& crossed, SliceOfSets sets, T* means, char* memory) {
  CrossedScratch<T> scratch(crossed, memory);
  const int64_t classes = crossed.n_classes, outputs = crossed.n_outputs;
  clear(scratch.sums, outputs * classes);
  Walk walk{sets.first, sets.last, 0};
  if (!begin(crossed, walk, scratch)) return false;
  while (scratch.next.tokens) {
    if (!advance(crossed, walk, scratch)) return false;
    clear(scratch.low, outputs * kTile);
    clear(scratch.rise, outputs * kTile);
    for (int k = 0; k < outputs; ++k) {
      if (!calibrate_plain(crossed, k, scratch)) return false;
      run_plain<false, T>(crossed, scratch, k, crossed.low, nullptr, scratch.low + k * kTile, nullptr);
      run_plain<false, T>(crossed, scratch, k, crossed.rise, nullptr, scratch.rise + k * kTile, nullptr);
    }
    each_block(crossed, scratch, [&](ClassBlock<T>& block) {
      for (int k = 0; k < outputs; ++k) {
        read_values(crossed, crossed.table + k * static_cast<int64_t>(crossed.n_slots), block, block.calibrated);
        double* sums = scratch.sums + k * classes + block.first;
        for (int i = 0; i < scratch.now.n_parts; ++i) {
          const Part& part = scratch.now.parts[i];
          add_scores(block, part, scratch.low + k * kTile, scratch.rise + k * kTile, sums);
          if (!part.ends) continue;
          T* to = means + (part.position * classes + block.first) * outputs + k;
          for (int c = 0; c < block.width; ++c) {
            to[c * outputs] = static_cast<T>(sums[c] / static_cast<double>(part.set_size));
            sums[c] = 0;
          }
        }
      }
    });
  }
  return true;
}

template <class T>
static bool backward(const Crossed<T>& crossed, SliceOfSets sets, const T* grad_means, CrossedGradient gradient,
                     char* memory) {
  CrossedScratch<T> scratch(crossed, memory);
  const int64_t classes = crossed.n_classes, outputs = crossed.n_outputs, corners = outputs * crossed.n_corners;
  clear(scratch.low_lanes, corners);
  clear(scratch.rise_lanes, corners);
  Pair* slot_gradient = reinterpret_cast<Pair*>(gradient.calibration);
  const SlotSpan segments{0, static_cast<uint32_t>(crossed.n_keypoints)};
  const auto add_corner_lanes = [&] {
    add_lanes<T>(corners, scratch.low_lanes, gradient.low);
    add_lanes<T>(corners, scratch.rise_lanes, gradient.rise);
  };
  constexpr int tiles_per_sum = kAdditionsPerSum * Lanes<T>::count / kTile;
  int tiles = 0;
  Walk walk{sets.first, sets.last, 0};
  if (!begin(crossed, walk, scratch)) return false;
  while (scratch.next.tokens) {
    if (!advance(crossed, walk, scratch)) return false;
    const TokenTile<T>& tile = scratch.now;
    clear(scratch.rise, outputs * kTile);
    clear(scratch.by_low, outputs * kTile);
    clear(scratch.by_rise, outputs * kTile);
    for (int k = 0; k < outputs; ++k) {
      if (!calibrate_plain(crossed, k, scratch)) return false;
      run_plain<false, T>(crossed, scratch, k, crossed.rise, nullptr, scratch.rise + k * kTile, nullptr);
    }
    each_block(crossed, scratch, [&](ClassBlock<T>& block) {
      if (tile.any_refined) clear(block.by_value, block.size);
      for (int k = 0; k < outputs; ++k) {
        read_values(crossed, crossed.table + k * static_cast<int64_t>(crossed.n_slots), block, block.calibrated);
        for (int i = 0; i < tile.n_parts; ++i) {
          const Part& part = tile.parts[i];
          alignas(64) T shares[Lanes<T>::count] = {};
          const T* from = grad_means + (part.position * classes + block.first) * outputs + k;
          for (int c = 0; c < block.width; ++c) shares[c] = from[c * outputs] / static_cast<T>(part.set_size);
          spread_gradient(block, part, load(shares), scratch.rise + k * kTile, scratch.by_low + k * kTile,
                          scratch.by_rise + k * kTile);
        }
        const int used = tile.tokens * block.width;
        clear(block.gradients + used, block.size - used);
        for (int at = 0; at < block.size; at += kTile)
          add_slot_gradients(segments, block.segments + at, block.fractions + at, block.gradients + at, kTile,
                             slot_gradient + static_cast<int64_t>(k) * crossed.n_slots);
        if (!tile.any_refined) continue;
        read_values(crossed, crossed.steps + k * (int64_t{1} + crossed.n_keypoints), block, block.calibrated);
        for (int i = 0; i < block.size; ++i) block.by_value[i] += block.gradients[i] * block.calibrated[i];
      }
      if (tile.any_refined) add_corrections(crossed, tile, block, gradient.corrections);
    });
    for (int k = 0; k < outputs; ++k) {
      clear(scratch.gradients, static_cast<int64_t>(crossed.n_plain) * kTile);
      run_plain<true>(crossed, scratch, k, crossed.low, scratch.low_lanes, scratch.low, scratch.by_low + k * kTile);
      run_plain<true>(crossed, scratch, k, crossed.rise, scratch.rise_lanes, scratch.low, scratch.by_rise + k * kTile);
      for (int d = 0; d < crossed.n_plain; ++d) {
        T* gradients = scratch.gradients + d * kTile;
        const T* inside = scratch.inside + (k * crossed.n_plain + d) * kTile;
        for (int t = 0; t < kTile; ++t) gradients[t] *= inside[t];
        add_slot_gradients(scratch.spans[d], tile.slots + d * kTile, tile.fractions + d * kTile, gradients, kTile,
                           slot_gradient + static_cast<int64_t>(k) * crossed.n_slots);
      }
    }
    if (++tiles % tiles_per_sum == 0) add_corner_lanes();
  }
  add_corner_lanes();
  return true;
}

extern const CrossedKernel<float> crossed_f32 = {scratch_bytes<float>, forward<float>, backward<float>};
extern const CrossedKernel<double> crossed_f64 = {scratch_bytes<double>, forward<double>, backward<double>};

}  // namespace PHI_ISA
