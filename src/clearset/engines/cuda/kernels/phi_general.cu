// phi of any layout, of tokens with plain features or crossed with classes, in any order of sets. A warp takes a set.
#include "common.h"
#include "lattice.h"

// Lattices of phi: `starts` of each lattice's features in `features`, and where its vertices begin.
struct Lattices {
  int count;
  const int* starts;
  const int* features;
  const int* first_vertices;
  const int* sizes;  // of each feature
  int n_vertices;
};

struct Tokens {
  const int* slots;  // (features, tokens), of all but the first feature where tokens are crossed with classes
  const REAL* fractions;
  const int64* offsets;
  const int64* order;  // sets in the order of an epoch; null: as they are
  int64 n_tokens;
};

// The first feature of tokens that are crossed with classes.
struct Crossed {
  const int* rows;
  const int* corrected;
  const REAL* values;       // (rows, classes)
  const REAL* keypoints;
  const REAL* corrections;  // (corrected, classes), or null
  int classes;
  int n_keypoints;
};

struct Tables {
  const REAL* calibration;  // (rows, slots)
  const REAL* vertices;     // (rows, vertices)
  int rows;
  int n_slots;
};

// Where gradients are added up, as whole numbers of 1 / scale; there are some copies, to get in each other's way less.
struct Sums {
  int64* calibration;
  int64* vertices;
  int64* corrections;
  int* touched;  // corrected tokens, by the step that touched them last
  const double* scales;  // of calibration, vertices and corrections
  const double* step;
  int64 apart;  // from one copy to the next
  int copies;
};

struct Line {
  REAL fraction;
  REAL raw;  // not yet clamped
  REAL step;

  __device__ Line(const REAL* calibration, int n_slots, int slot, REAL fraction) : fraction(fraction) {
    const REAL below = calibration[slot];
    step = slot + 1 < n_slots ? calibration[slot + 1] - below : REAL(0);
    raw = below + fraction * step;
  }
};

__device__ __forceinline__ int64 set_at(const Tokens& tokens, const Batch& batch, int64 i) {
  return tokens.order ? tokens.order[batch.first_set + i] : batch.first_set + i;
}

__device__ __forceinline__ Line plain_line(const Tokens& tokens, const Tables& tables, const REAL* calibration, int d,
                                          int64 t) {
  const int64 at = d * tokens.n_tokens + t;
  return Line(calibration, tables.n_slots, tokens.slots[at], tokens.fractions[at]);
}

// The cell of lattice e; with `crossed` the first feature is left out.
__device__ __forceinline__ void find_cell(Cell<DEPTH>& cell, const Lattices& lattices, int e, const Tokens& tokens,
                                          const Tables& tables, const REAL* calibration, int64 t, bool crossed) {
  const int* features = lattices.features + lattices.starts[e] + crossed;
  const int depth = lattices.starts[e + 1] - lattices.starts[e] - crossed;
  cell.begin(lattices.first_vertices[e]);
  for (int i = 0; i < depth; ++i) {
    const int size = lattices.sizes[features[i]];
    const REAL raw = plain_line(tokens, tables, calibration, features[i] - crossed, t).raw;
    cell.add(clamped(raw, REAL(0), REAL(1)) * REAL(size - 1), size);
  }
  cell.finish([&](int i) { return lattices.sizes[features[i]]; });
}

// Where the value of a class stands.
struct CrossedLine {
  int slot;
  REAL fraction, raw, x, by_value;

  __device__ CrossedLine(const Crossed& crossed, const REAL* calibration, int64 t, int c) {
    const int row = crossed.rows[t], last = crossed.n_keypoints - 1;
    by_value = fraction = 0;
    slot = crossed.n_keypoints;
    raw = calibration[slot];
    if (row >= 0) {
      REAL value = crossed.values[int64(row) * crossed.classes + c];
      const int corrected = crossed.corrected[t];
      if (crossed.corrections && corrected >= 0) value += crossed.corrections[int64(corrected) * crossed.classes + c];
      const REAL* points = crossed.keypoints;
      const REAL inside = clamped(value, points[0], points[last]);
      int low = 0, high = last;
      while (low + 1 < high) {
        const int middle = (low + high) / 2;
        (points[middle] <= inside ? low : high) = middle;
      }
      slot = low;
      const REAL width = points[low + 1] - points[low], step = calibration[low + 1] - calibration[low];
      fraction = (inside - points[low]) / width;
      raw = calibration[low] + fraction * step;
      by_value = step / width * slope_of_clamped(value, points[0], points[last]);
    }
    x = clamped(raw, REAL(0), REAL(1));
  }
};

// means is (sets, rows) for plain tokens, and (sets, classes, rows) for crossed ones.
extern "C" __global__ void __launch_bounds__(128)
average(Tokens tokens, Crossed crossed, Batch* batch, Lattices lattices, Tables tables, REAL* means) {
  const int64 warp = (int64(blockIdx.x) * blockDim.x + threadIdx.x) / LANES, warps = int64(gridDim.x) * blockDim.x / LANES;
  const int lane = threadIdx.x % LANES, classes = crossed.classes ? crossed.classes : 1;
  Cell<DEPTH> cell;
  for (int64 i = warp; i < batch->n_sets; i += warps) {
    const int64 set = set_at(tokens, *batch, i), begin = tokens.offsets[set], stop = tokens.offsets[set + 1];
    for (int row = 0; row < tables.rows; ++row) {
      const REAL* calibration = tables.calibration + int64(row) * tables.n_slots;
      const REAL* vertices = tables.vertices + int64(row) * lattices.n_vertices;
      for (int c = 0; c < classes; ++c) {
        double sum = 0;
        for (int64 t = begin + lane; t < stop; t += LANES) {
          if (crossed.classes) {
            find_cell(cell, lattices, 0, tokens, tables, calibration, t, true);
            const REAL low = cell.value(vertices), high = cell.value(vertices + lattices.n_vertices / 2);
            sum += low + (high - low) * CrossedLine(crossed, calibration, t, c).x;
            continue;
          }
          REAL score = 0;
          for (int e = 0; e < lattices.count; ++e) {
            find_cell(cell, lattices, e, tokens, tables, calibration, t, false);
            score += cell.value(vertices);
          }
          sum += score / REAL(lattices.count);
        }
        sum = sum_of_warp(sum);
        if (lane == 0) means[(i * classes + c) * tables.rows + row] = REAL(sum / double(stop - begin));
      }
    }
  }
}

__device__ __forceinline__ void add_to_slots(const Sums& sums, int64 first, int slot, double amount, double fraction) {
  add_exactly(sums.calibration + first + slot, amount - amount * fraction, sums.scales[0]);
  if (fraction != 0) add_exactly(sums.calibration + first + slot + 1, amount * fraction, sums.scales[0]);
}

// The gradients by slots of the features of a cell, from the slopes of a score along its fractions times the upstream.
__device__ __forceinline__ void add_slopes_to_slots(const Sums& sums, const Lattices& lattices, int e, const Tokens& tokens,
                                                    const Tables& tables, int row, int64 t, bool crossed, const REAL* slopes) {
  const int* features = lattices.features + lattices.starts[e] + crossed;
  const int depth = lattices.starts[e + 1] - lattices.starts[e] - crossed;
  for (int i = 0; i < depth; ++i) {
    const int64 at = (features[i] - crossed) * tokens.n_tokens + t;
    const REAL* calibration = tables.calibration + int64(row) * tables.n_slots;
    const Line line(calibration, tables.n_slots, tokens.slots[at], tokens.fractions[at]);
    const REAL amount = slopes[i] * REAL(lattices.sizes[features[i]] - 1) * slope_of_clamped(line.raw, REAL(0), REAL(1));
    if (amount != 0) add_to_slots(sums, int64(row) * tables.n_slots, tokens.slots[at], amount, line.fraction);
  }
}

// by_means is as means.
extern "C" __global__ void __launch_bounds__(128)
gradients(Tokens tokens, Crossed crossed, Batch* batch, Lattices lattices, Tables tables, const REAL* by_means, Sums all) {
  const int64 warp = (int64(blockIdx.x) * blockDim.x + threadIdx.x) / LANES, warps = int64(gridDim.x) * blockDim.x / LANES;
  const int lane = threadIdx.x % LANES, classes = crossed.classes, n_vertices = lattices.n_vertices;
  Sums sums = all;
  sums.calibration += blockIdx.x % all.copies * all.apart;
  sums.vertices += blockIdx.x % all.copies * all.apart;
  Cell<DEPTH> cell;
  for (int64 i = warp; i < batch->n_sets; i += warps) {
    const int64 set = set_at(tokens, *batch, i), begin = tokens.offsets[set], stop = tokens.offsets[set + 1];
    const REAL size = REAL(stop - begin);
    for (int row = 0; row < tables.rows; ++row) {
      const REAL* calibration = tables.calibration + int64(row) * tables.n_slots;
      const REAL* vertices = tables.vertices + int64(row) * n_vertices;
      int64* by_vertices = sums.vertices + int64(row) * n_vertices;
      for (int64 t = begin + lane; t < stop; t += LANES) {
        REAL slopes[DEPTH];
        for (int d = 0; d < DEPTH; ++d) slopes[d] = 0;
        if (classes) {
          find_cell(cell, lattices, 0, tokens, tables, calibration, t, true);
          const REAL low = cell.value(vertices), high = cell.value(vertices + n_vertices / 2);
          const int corrected = crossed.corrections ? crossed.corrected[t] : -1;
          if (corrected >= 0) sums.touched[corrected] = int(*sums.step);
          REAL by_low = 0, by_high = 0;
          for (int c = 0; c < classes; ++c) {
            const REAL up = by_means[(i * classes + c) * tables.rows + row] / size;
            const CrossedLine line(crossed, calibration, t, c);
            by_low += up * (1 - line.x);
            by_high += up * line.x;
            const REAL by_x = up * (high - low) * slope_of_clamped(line.raw, REAL(0), REAL(1));
            if (by_x == 0) continue;
            add_to_slots(sums, int64(row) * tables.n_slots, line.slot, by_x, line.fraction);
            if (corrected >= 0)
              add_exactly(sums.corrections + int64(corrected) * classes + c, double(by_x * line.by_value), sums.scales[2]);
          }
          cell.visit([&](int, const REAL* prefixes, int vertex) {
            add_exactly(by_vertices + vertex, prefixes[cell.depth] * by_low, sums.scales[1]);
            add_exactly(by_vertices + n_vertices / 2 + vertex, prefixes[cell.depth] * by_high, sums.scales[1]);
          });
          cell.add_slopes([&](int v) { return by_low * vertices[v] + by_high * vertices[n_vertices / 2 + v]; }, slopes);
          add_slopes_to_slots(sums, lattices, 0, tokens, tables, row, t, true, slopes);
          continue;
        }
        const REAL up = by_means[i * tables.rows + row] / size / REAL(lattices.count);
        if (up == 0) continue;
        for (int e = 0; e < lattices.count; ++e) {
          find_cell(cell, lattices, e, tokens, tables, calibration, t, false);
          cell.visit([&](int, const REAL* prefixes, int vertex) {
            add_exactly(by_vertices + vertex, prefixes[cell.depth] * up, sums.scales[1]);
          });
          for (int d = 0; d < DEPTH; ++d) slopes[d] = 0;
          cell.add_slopes([&](int v) { return up * vertices[v]; }, slopes);
          add_slopes_to_slots(sums, lattices, e, tokens, tables, row, t, false, slopes);
        }
      }
    }
  }
}
