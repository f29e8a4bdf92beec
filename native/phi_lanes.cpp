// phi, then the mean over each set, for one slice of the batch. CMake compiles this file once per instruction set, with
// PHI_ISA as the name of the namespace; see phi_lanes.h for why only plain C++ is used here.
#include "phi_lanes.h"

#include "lanes.h"

namespace PHI_ISA {

#include "phi_rows.h"
#include "placing.h"

// Loops over the tokens of a set take whole steps of this many: sets differ in size, and a loop whose end cannot be
// foreseen costs more than a few additions of zero.
constexpr int kStep = 16;

// ---- scratch memory

template <class T>
struct Scratch {
  Tile<T> tile;
  double* sums;                            // (outputs): of the set that a tile's end has cut
  typename Vector<T>::type* vertex_lanes;  // (outputs, vertices)
  T* vertices;                             // (outputs, vertices): of lattices that are read in rows, row by row
  char* end;

  Scratch(const Phi<T>& phi, char* memory) {
    const int64_t per_feature = static_cast<int64_t>(phi.n_features) * kTile;
    tile.within = take<T>(memory, per_feature);
    tile.cells = take<int32_t>(memory, per_feature);
    tile.scores = take<T>(memory, kTile + kStep);
    tile.slopes = take<T>(memory, per_feature);
    tile.upstream = take<T>(memory, kTile + kStep);
    tile.gradients = take<T>(memory, per_feature);
    tile.spans = take<SlotSpan>(memory, phi.n_features);
    int most = 0;
    int64_t most_rows = 0;
    for (int e = 0; e < phi.n_lattices; ++e) {
      most = most < phi.lattices[e].n_features ? phi.lattices[e].n_features : most;
      most_rows = most_rows < phi.lattices[e].n_rows ? phi.lattices[e].n_rows : most_rows;
    }
    const int64_t nodes = heap_nodes(most), in_rows = row_nodes(most_rows);
    tile.heaps = take<Lanes<T>>(memory, nodes < in_rows ? in_rows : nodes);
    tile.corner_offsets = take<int32_t>(memory, int64_t{1} << most);
    sums = take<double>(memory, phi.n_outputs);
    vertex_lanes = take<typename Vector<T>::type>(memory, phi.n_outputs * phi.n_vertices);
    vertices = take<T>(memory, most_rows ? phi.n_outputs * phi.n_vertices : 0);
    end = memory;
  }
};

template <class T>
static int64_t scratch_bytes(const Phi<T>& phi) {
  return reinterpret_cast<intptr_t>(Scratch<T>(phi, nullptr).end);
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

// False if a slot does not exist.
template <bool with_slopes, class T>
static bool calibrate(const Phi<T>& phi, int output, int64_t start, const Tile<T>& tile) {
  const TableEntry<T>* __restrict table = phi.table + static_cast<int64_t>(output) * phi.n_slots;
  for (int d = 0; d < phi.n_features; ++d) {
    const int32_t* __restrict slots = phi.slots + d * phi.n_tokens + start;
    const T* __restrict fractions = phi.fractions + d * phi.n_tokens + start;
    T* __restrict within = tile.within + d * kTile;
    T* __restrict slopes = tile.slopes + d * kTile;
    int32_t* __restrict cells = tile.cells + d * kTile;
    const T last_vertex = static_cast<T>(phi.sizes[d] - 1);
    const int32_t last_cell = phi.sizes[d] - 2;
    while (!look_up(table, tile.spans[d], slots, fractions, tile.tokens, within))
      if (!widen(tile.spans[d], slots, tile.tokens, phi.n_slots)) return false;
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
  return true;
}

template <class T>
static double sum_scores(const T* scores, int count, T grid) {
  if (count == 1) return static_cast<double>(on_grid(scores[0], grid));
  double lanes[kStep] = {};
  for (int t = 0; t < count; t += kStep)
    for (int i = 0; i < kStep; ++i)
      lanes[i] += static_cast<double>(on_grid(t + i < count ? scores[t + i] : T(0), grid));
  for (int half = kStep / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] += lanes[half + i];
  return lanes[0];
}

template <bool backward, class T>
static void each_lattice(const Phi<T>& phi, int output, const Scratch<T>& scratch, double* gradient) {
  const Tile<T>& tile = scratch.tile;
  for (int e = 0; e < phi.n_lattices; ++e) {
    const Lattice& lattice = phi.lattices[e];
    const int64_t first = output * phi.n_vertices + lattice.first_vertex;
    if (lattice.n_rows) {
      run_rows<backward>(tile, lattice, SharedCorners<T>{scratch.vertices + first, scratch.vertex_lanes + first});
    } else if (lattice.single_cell) {
      SharedCorners<T> corners{phi.vertices + first, scratch.vertex_lanes + first};
      run_known_lattice<backward>(tile, lattice, corners);
    } else {
      OwnCorners<T> corners(phi.vertices + first, gradient + first, lattice, tile.corner_offsets);
      run_lattice<backward>(int{lattice.n_features}, tile, lattice, corners);
    }
  }
}

// Calls visit(lattice, first) for every lattice of every output, with the place of its first vertex.
template <class T, class Visit>
static void each_table(const Phi<T>& phi, Visit visit) {
  for (int k = 0; k < phi.n_outputs; ++k)
    for (int e = 0; e < phi.n_lattices; ++e) visit(phi.lattices[e], k * phi.n_vertices + phi.lattices[e].first_vertex);
}

// Lattices that are read in rows keep their vertices, and the lanes of their gradient, in this order.
template <class T>
static void order_vertices(const Phi<T>& phi, T* vertices) {
  each_table(phi, [&](const Lattice& lattice, int64_t first) {
    if (!lattice.n_rows) return;
    for (int64_t v = 0; v < lattice.n_vertices; ++v) vertices[first + v] = phi.vertices[first + lattice.order[v]];
  });
}

template <class T>
static void add_vertex_lanes(const Phi<T>& phi, typename Vector<T>::type* vertex_lanes, double* gradient) {
  each_table(phi, [&](const Lattice& lattice, int64_t first) {
    for (int64_t v = 0; v < lattice.n_vertices; ++v) {
      typename Vector<T>::type& lanes = vertex_lanes[first + v];
      double sum = 0;
      for (int lane = 0; lane < Lanes<T>::count / 2; ++lane) sum += static_cast<double>(lanes[lane]);
      gradient[first + (lattice.n_rows ? lattice.order[v] : v)] += sum;
      lanes = typename Vector<T>::type{};
    }
  });
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
  order_vertices(phi, scratch.vertices);
  if (!begin_spans(phi, phi.offsets[sets.first], tile.spans)) return false;
  const int64_t end = phi.offsets[sets.last];
  int64_t set = sets.first, next_set = sets.first;
  for (int64_t start = phi.offsets[sets.first]; start < end; start += tile.tokens) {
    size_tile(tile, end - start);
    for (int k = 0; k < phi.n_outputs; ++k) {
      if (!calibrate<false>(phi, k, start, tile)) return false;
      clear(tile.scores, tile.padded);
      each_lattice<false>(phi, k, scratch, nullptr);
      double& sum = scratch.sums[k];
      next_set = each_set(phi, set, start, tile.tokens, [&](int64_t set, int from, int to) {
        const int64_t lattice_scores = (phi.offsets[set + 1] - phi.offsets[set]) * phi.n_lattices;
        sum += sum_scores(tile.scores + from, to - from, grid_of<T>(lattice_scores));
        if (start + to < phi.offsets[set + 1]) return;
        means[set * phi.n_outputs + k] = static_cast<T>(sum / static_cast<double>(lattice_scores));
        sum = 0;
      });
    }
    set = next_set;
  }
  return true;
}

template <class T>
static bool backward(const Phi<T>& phi, SliceOfSets sets, const T* grad_means, SliceGradient gradient, T* by_fractions,
                     char* memory) {
  Scratch<T> scratch(phi, memory);
  Tile<T>& tile = scratch.tile;
  clear(tile.within, static_cast<int64_t>(phi.n_features) * kTile);
  clear(tile.cells, static_cast<int64_t>(phi.n_features) * kTile);
  clear(scratch.vertex_lanes, phi.n_outputs * phi.n_vertices);
  order_vertices(phi, scratch.vertices);
  if (!begin_spans(phi, phi.offsets[sets.first], tile.spans)) return false;
  Pair* slot_gradient = reinterpret_cast<Pair*>(gradient.calibration);
  const int64_t end = phi.offsets[sets.last];
  int64_t set = sets.first, next_set = sets.first;
  constexpr int tiles_per_sum = kAdditionsPerSum * Lanes<T>::count / kTile;
  int tiles = 0;
  for (int64_t start = phi.offsets[sets.first]; start < end; start += tile.tokens) {
    size_tile(tile, end - start);
    for (int k = 0; k < phi.n_outputs; ++k) {
      if (!calibrate<true>(phi, k, start, tile)) return false;
      next_set = each_set(phi, set, start, tile.tokens, [&](int64_t set, int from, int to) {
        const double lattice_scores = static_cast<double>((phi.offsets[set + 1] - phi.offsets[set]) * phi.n_lattices);
        const T share = static_cast<T>(static_cast<double>(grad_means[set * phi.n_outputs + k]) / lattice_scores);
        // Whole steps: what is written too far belongs to the next set or to the padding, and is written again.
        for (int t = from; t < to; t += kStep)
          for (int i = 0; i < kStep; ++i) tile.upstream[t + i] = share;
      });
      clear(tile.upstream + tile.tokens, tile.padded - tile.tokens);
      clear(tile.gradients, static_cast<int64_t>(phi.n_features) * kTile);
      each_lattice<true>(phi, k, scratch, gradient.vertices);
      for (int d = 0; d < phi.n_features; ++d) {
        const int64_t row = d * phi.n_tokens + start;
        T* gradients = tile.gradients + d * kTile;
        for (int t = 0; t < kTile; ++t) gradients[t] *= tile.slopes[d * kTile + t];
        add_slot_gradients(tile.spans[d], phi.slots + row, phi.fractions + row, gradients, tile.tokens,
                           slot_gradient + static_cast<int64_t>(k) * phi.n_slots);
        if (!by_fractions) continue;
        const TableEntry<T>* table = phi.table + static_cast<int64_t>(k) * phi.n_slots;
        for (int t = 0; t < tile.tokens; ++t) by_fractions[row + t] += gradients[t] * table[phi.slots[row + t]].step;
      }
    }
    set = next_set;
    if (++tiles % tiles_per_sum == 0) add_vertex_lanes(phi, scratch.vertex_lanes, gradient.vertices);
  }
  add_vertex_lanes(phi, scratch.vertex_lanes, gradient.vertices);
  return true;
}

extern const PhiKernel<float> kernel_f32 = {place<float>, scratch_bytes<float>, forward<float>, backward<float>};
extern const PhiKernel<double> kernel_f64 = {place<double>, scratch_bytes<double>, forward<double>, backward<double>};

}  // namespace PHI_ISA
