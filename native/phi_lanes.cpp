// phi, then the mean over each set, for one slice of the batch. CMake compiles this file once per instruction set, with
// PHI_ISA as the name of the namespace; see phi_lanes.h for why only plain C++ is used here.
#include "phi_lanes.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace PHI_ISA {

#if defined(__AVX512F__)
constexpr int kLaneBytes = 64;
#elif defined(__AVX2__)
constexpr int kLaneBytes = 32;
#else
constexpr int kLaneBytes = 16;
#endif

#include "phi_lattice.h"

// Lanes of vertex gradients are added to the sums in double after this many additions, before rounding can pile up.
constexpr int kAdditionsPerSum = 128;

typedef double Pair __attribute__((vector_size(16)));

// ---- scratch memory

template <class U>
static U* take(char*& scratch, int64_t count) {
  U* taken = reinterpret_cast<U*>(scratch);
  scratch += (count * static_cast<int64_t>(sizeof(U)) + 63) / 64 * 64;
  return taken;
}

template <class T>
struct Scratch {
  Tile<T> tile;
  double* sums;                            // (outputs): of the set that a tile's end has cut
  typename Vector<T>::type* vertex_lanes;  // (outputs, vertices)
  char* end;

  Scratch(const Phi<T>& phi, char* memory) {
    const int64_t per_feature = static_cast<int64_t>(phi.n_features) * kTile;
    tile.within = take<T>(memory, per_feature);
    tile.cells = take<int32_t>(memory, per_feature);
    tile.scores = take<T>(memory, kTile);
    tile.slopes = take<T>(memory, per_feature);
    tile.upstream = take<T>(memory, kTile);
    tile.gradients = take<T>(memory, per_feature);
    tile.spans = take<SlotSpan>(memory, phi.n_features);
    sums = take<double>(memory, phi.n_outputs);
    vertex_lanes = take<typename Vector<T>::type>(memory, phi.n_outputs * phi.n_vertices);
    end = memory;
  }
};

template <class T>
static int64_t scratch_bytes(const Phi<T>& phi) {
  return reinterpret_cast<intptr_t>(Scratch<T>(phi, nullptr).end);
}

template <class U>
static void clear(U* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = U{};
}

// ---- parts of the way

// Calls visit(set, from, to) for the part of each set inside the tile; gives the set that the next tile begins with.
template <class T, class Visit>
static int64_t each_set(const Phi<T>& phi, int64_t set, int64_t start, int tokens, Visit visit) {
  for (int from = 0; from < tokens;) {
    const int64_t end = phi.offsets[set + 1] - start;
    const int to = end < tokens ? static_cast<int>(end) : tokens;
    visit(set, from, to);
    if (end <= tokens) ++set;
    from = to;
  }
  return set;
}

// Asks for a tile's part of a row in advance: rows are many, and each is left again before the machine sees a pattern.
template <class U>
static void prefetch(const U* row) {
  for (int t = 0; t < kTile; t += 64 / sizeof(U)) __builtin_prefetch(row + t);
}

// Finds the first and the last slot of each feature in the tile; false if one of them does not exist.
template <class T>
static bool find_spans(const Phi<T>& phi, int64_t start, int tokens, SlotSpan* spans) {
  uint32_t largest = 0;  // a negative slot is a large one
  for (int d = 0; d < phi.n_features; ++d) {
    const uint32_t* slots = reinterpret_cast<const uint32_t*>(phi.slots + d * phi.n_tokens + start);
    prefetch(slots + kTile);
    prefetch(phi.fractions + d * phi.n_tokens + start + kTile);
    uint32_t first = slots[0], last = slots[0];
    for (int t = 0; t < tokens; ++t) {
      first = slots[t] < first ? slots[t] : first;
      last = slots[t] > last ? slots[t] : last;
    }
    spans[d] = {static_cast<int32_t>(first), static_cast<int32_t>(last)};
    largest = last > largest ? last : largest;
  }
  return largest < static_cast<uint32_t>(phi.n_slots);
}

// Calibrated values of one feature, before they are clamped: every token's entry is fetched, one load each, and what
// follows fills whole registers.
template <class T>
static void look_up(const TableEntry<T>* __restrict table, SlotSpan, const int32_t* __restrict slots,
                    const T* __restrict fractions, int tokens, T* __restrict values) {
  alignas(64) TableEntry<T> entries[kTile];
#pragma GCC unroll 8
  for (int t = 0; t < tokens; ++t) entries[t] = table[slots[t]];
  for (int t = 0; t < tokens; ++t) values[t] = entries[t].value + fractions[t] * entries[t].step;
}

#if defined(__AVX512F__)
// The same where the tile's slots of the feature are few: the part of the table that they need stays in registers.
static void look_up(const TableEntry<float>* table, SlotSpan span, const int32_t* slots, const float* fractions,
                    int tokens, float* values) {
  if (span.last - span.first >= kSlotsInRegisters) {
    look_up<float>(table, span, slots, fractions, tokens, values);
    return;
  }
  const float* entries = reinterpret_cast<const float*>(table + span.first);
  const __m512 part[4] = {_mm512_loadu_ps(entries), _mm512_loadu_ps(entries + 16), _mm512_loadu_ps(entries + 32),
                          _mm512_loadu_ps(entries + 48)};
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1)), first = _mm512_set1_epi32(span.first);
  const __m512 low = _mm512_permutex2var_ps(part[0], even, part[1]), high = _mm512_permutex2var_ps(part[2], even, part[3]);
  const __m512 low_step = _mm512_permutex2var_ps(part[0], odd, part[1]);
  const __m512 high_step = _mm512_permutex2var_ps(part[2], odd, part[3]);
  for (int t = 0; t < tokens; t += 16) {
    const __mmask16 exists = tokens - t >= 16 ? 0xffff : static_cast<__mmask16>((1u << (tokens - t)) - 1);
    const __m512i slot = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(exists, slots + t), first);
    const __m512 fraction = _mm512_maskz_loadu_ps(exists, fractions + t);
    const __m512 value = _mm512_permutex2var_ps(low, slot, high), step = _mm512_permutex2var_ps(low_step, slot, high_step);
    _mm512_store_ps(values + t, _mm512_fmadd_ps(fraction, step, value));
  }
}
#endif

template <bool with_slopes, class T>
static void calibrate(const Phi<T>& phi, int output, int64_t start, const Tile<T>& tile) {
  const TableEntry<T>* __restrict table = phi.table + static_cast<int64_t>(output) * phi.n_slots;
  for (int d = 0; d < phi.n_features; ++d) {
    const int32_t* __restrict slots = phi.slots + d * phi.n_tokens + start;
    const T* __restrict fractions = phi.fractions + d * phi.n_tokens + start;
    T* __restrict within = tile.within + d * kTile;
    T* __restrict slopes = tile.slopes + d * kTile;
    int32_t* __restrict cells = tile.cells + d * kTile;
    const T last_vertex = static_cast<T>(phi.sizes[d] - 1);
    const int32_t last_cell = phi.sizes[d] - 2;
    look_up(table, tile.spans[d], slots, fractions, tile.tokens, within);
    for (int t = tile.tokens; t < tile.padded; ++t) within[t] = 0;
    for (int t = 0; t < kTile; ++t) {
      const T value = within[t];
      if (with_slopes) slopes[t] = value < 0 || value > 1 ? T(0) : last_vertex;
      within[t] = value < 0 ? T(0) : value > 1 ? T(1) : value;
    }
    if (last_cell == 0) continue;
    for (int t = 0; t < kTile; ++t) {
      const T coordinate = within[t] * last_vertex;
      // Written so that not-a-number, too, gives a cell that exists; the score then is not-a-number.
      int32_t cell = static_cast<int32_t>(coordinate > 0 ? coordinate : T(0));
      cell = cell < last_cell ? cell : last_cell;
      cells[t] = cell;
      within[t] = coordinate - static_cast<T>(cell);
    }
  }
}

template <bool backward, class T>
static void each_lattice(const Phi<T>& phi, int output, const Tile<T>& tile, typename Vector<T>::type* vertex_lanes,
                         double* gradient) {
  for (int e = 0; e < phi.n_lattices; ++e) {
    const Lattice& lattice = phi.lattices[e];
    const int64_t first = output * phi.n_vertices + lattice.first_vertex;
    if (lattice.single_cell) {
      SharedCorners<T> corners{phi.vertices + first, vertex_lanes + first};
      run_lattice<backward>(tile, lattice, corners);
    } else {
      OwnCorners<T> corners(phi.vertices + first, gradient + first, lattice);
      run_lattice<backward>(tile, lattice, corners);
    }
  }
}

template <class T>
static void add_vertex_lanes(int64_t count, typename Vector<T>::type* vertex_lanes, double* gradient) {
  for (int64_t v = 0; v < count; ++v) {
    double sum = 0;
    for (int lane = 0; lane < Lanes<T>::count / 2; ++lane) sum += static_cast<double>(vertex_lanes[v][lane]);
    gradient[v] += sum;
    vertex_lanes[v] = typename Vector<T>::type{};
  }
}

template <class T>
static void add_slot_gradients(const Phi<T>& phi, int64_t start, const Tile<T>& tile, Pair* gradient) {
  for (int d = 0; d < phi.n_features; ++d) {
    const int32_t* slots = phi.slots + d * phi.n_tokens + start;
    const T* fractions = phi.fractions + d * phi.n_tokens + start;
    const T* gradients = tile.gradients + d * kTile;
    const T* slopes = tile.slopes + d * kTile;
    for (int t = 0; t < tile.tokens; ++t) {
      const double slot_gradient = static_cast<double>(gradients[t] * slopes[t]);
      gradient[slots[t]] += Pair{slot_gradient, slot_gradient * static_cast<double>(fractions[t])};
    }
  }
}

template <class T>
static void size_tile(Tile<T>& tile, int64_t tokens_left) {
  tile.tokens = tokens_left < kTile ? static_cast<int>(tokens_left) : kTile;
  tile.padded = (tile.tokens + Lanes<T>::count - 1) / Lanes<T>::count * Lanes<T>::count;
}

// ---- the two directions

template <class T>
static bool forward(const Phi<T>& phi, SliceOfSets sets, T* means, char* memory) {
  Scratch<T> scratch(phi, memory);
  Tile<T>& tile = scratch.tile;
  clear(tile.within, static_cast<int64_t>(phi.n_features) * kTile);
  clear(tile.cells, static_cast<int64_t>(phi.n_features) * kTile);
  clear(scratch.sums, phi.n_outputs);
  const int64_t end = phi.offsets[sets.last];
  int64_t set = sets.first, next_set = sets.first;
  for (int64_t start = phi.offsets[sets.first]; start < end; start += tile.tokens) {
    size_tile(tile, end - start);
    if (!find_spans(phi, start, tile.tokens, tile.spans)) return false;
    for (int k = 0; k < phi.n_outputs; ++k) {
      calibrate<false>(phi, k, start, tile);
      clear(tile.scores, tile.padded);
      each_lattice<false, T>(phi, k, tile, nullptr, nullptr);
      double& sum = scratch.sums[k];
      next_set = each_set(phi, set, start, tile.tokens, [&](int64_t set, int from, int to) {
        for (int t = from; t < to; ++t) sum += static_cast<double>(tile.scores[t]);
        if (start + to < phi.offsets[set + 1]) return;
        const double lattice_scores = static_cast<double>((phi.offsets[set + 1] - phi.offsets[set]) * phi.n_lattices);
        means[set * phi.n_outputs + k] = static_cast<T>(sum / lattice_scores);
        sum = 0;
      });
    }
    set = next_set;
  }
  return true;
}

template <class T>
static void backward(const Phi<T>& phi, SliceOfSets sets, const T* grad_means, SliceGradient gradient, char* memory) {
  Scratch<T> scratch(phi, memory);
  Tile<T>& tile = scratch.tile;
  const int64_t all_vertices = phi.n_outputs * phi.n_vertices;
  clear(tile.within, static_cast<int64_t>(phi.n_features) * kTile);
  clear(tile.cells, static_cast<int64_t>(phi.n_features) * kTile);
  clear(scratch.vertex_lanes, all_vertices);
  Pair* slot_gradient = reinterpret_cast<Pair*>(gradient.calibration);
  const int64_t end = phi.offsets[sets.last];
  int64_t set = sets.first, next_set = sets.first;
  constexpr int tiles_per_sum = kAdditionsPerSum * Lanes<T>::count / kTile;
  int tiles = 0;
  for (int64_t start = phi.offsets[sets.first]; start < end; start += tile.tokens) {
    size_tile(tile, end - start);
    find_spans(phi, start, tile.tokens, tile.spans);
    for (int k = 0; k < phi.n_outputs; ++k) {
      calibrate<true>(phi, k, start, tile);
      next_set = each_set(phi, set, start, tile.tokens, [&](int64_t set, int from, int to) {
        const double lattice_scores = static_cast<double>((phi.offsets[set + 1] - phi.offsets[set]) * phi.n_lattices);
        const T share = static_cast<T>(static_cast<double>(grad_means[set * phi.n_outputs + k]) / lattice_scores);
        for (int t = from; t < to; ++t) tile.upstream[t] = share;
      });
      clear(tile.upstream + tile.tokens, tile.padded - tile.tokens);
      clear(tile.gradients, static_cast<int64_t>(phi.n_features) * kTile);
      each_lattice<true>(phi, k, tile, scratch.vertex_lanes, gradient.vertices);
      add_slot_gradients(phi, start, tile, slot_gradient + static_cast<int64_t>(k) * phi.n_slots);
    }
    set = next_set;
    if (++tiles % tiles_per_sum == 0) add_vertex_lanes<T>(all_vertices, scratch.vertex_lanes, gradient.vertices);
  }
  add_vertex_lanes<T>(all_vertices, scratch.vertex_lanes, gradient.vertices);
}

extern const PhiKernel<float> kernel_f32 = {scratch_bytes<float>, forward<float>, backward<float>};
extern const PhiKernel<double> kernel_f64 = {scratch_bytes<double>, forward<double>, backward<double>};

}  // namespace PHI_ISA
