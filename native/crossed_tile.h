// Tokens of the chosen sets, put side by side, and their values for a block of classes. Part of crossed_lanes.cpp, inside
// its namespace.
#pragma once

// The part of a set that stands in a tile.
struct Part {
  int64_t position;  // of the set among the chosen ones
  int64_t set_size;
  int from;
  int to;
  bool ends;  // with it the set is complete
};

// Tokens copied out of their sets, so that small sets fill a tile together. What is left of the last tile is filled with
// its first token, which then belongs to no part.
template <class T>
struct TokenTile {
  int tokens;
  int n_parts;
  bool any_refined;
  Part* parts;
  int32_t* slots;    // (plain features, kTile)
  T* fractions;      // (plain features, kTile)
  int32_t* rows;     // (kTile)
  int32_t* refined;  // (kTile)
};

// Where the next tile begins.
struct Walk {
  int64_t position;
  int64_t last;
  int64_t token;  // inside the set
};

template <class U>
static inline void copy(const U* from, int count, U* to) {
  __builtin_memcpy(to, from, static_cast<uint64_t>(count) * sizeof(U));
}

// Sets are small and of many sizes, so they are copied in whole runs as long as there is room for them at both ends; what
// is copied too far is written again by the next set.
template <class U>
static inline void copy_run(const U* from, int count, U* to, int64_t room) {
  constexpr int kRun = 16;
  if (room < count + kRun) return copy(from, count, to);
  for (int at = 0; at < count; at += kRun) copy(from + at, kRun, to + at);
}

static bool all_in(const int32_t* numbers, int64_t size) {
  bool fits = true;
  for (int t = 0; t < kTile; ++t) fits &= static_cast<uint32_t>(numbers[t]) + 1 <= static_cast<uint32_t>(size);
  return fits;
}

// Consecutive tokens of one set.
struct Stretch {
  int64_t position;
  int64_t set_size;
  int64_t first;
  int count;
  bool ends;
};

// Goes on by the rest of a set, but by no more tokens than there is room for.
template <class T>
static Stretch go_on(const Crossed<T>& crossed, Walk& walk, int room) {
  const int64_t set = crossed.sets[walk.position], begin = crossed.offsets[set], size = crossed.offsets[set + 1] - begin;
  const int64_t left = size - walk.token;
  const bool ends = left <= room;
  const Stretch stretch{walk.position, size, begin + walk.token, ends ? static_cast<int>(left) : room, ends};
  walk.token = ends ? 0 : walk.token + room;
  walk.position += ends;
  return stretch;
}

// Memory is slow to answer, and neither sets nor rows stand in the order in which they are read: what will be needed is
// asked for one tile ahead.
template <class U>
static inline void fetch(const U* from, int64_t count) {
  const char* bytes = reinterpret_cast<const char*>(from);
  const int64_t size = count * static_cast<int64_t>(sizeof(U));
  for (int64_t at = 0; at < size; at += 64) __builtin_prefetch(bytes + at);
  __builtin_prefetch(bytes + size - 1);
}

template <class T>
static void fetch_tokens(const Crossed<T>& crossed, Walk walk) {
  for (int room = kTile; room > 0 && walk.position < walk.last;) {
    const Stretch stretch = go_on(crossed, walk, room);
    for (int d = 0; d < crossed.n_plain; ++d) {
      fetch(crossed.slots + d * crossed.n_tokens + stretch.first, stretch.count);
      fetch(crossed.fractions + d * crossed.n_tokens + stretch.first, stretch.count);
    }
    fetch(crossed.rows + stretch.first, stretch.count);
    if (crossed.refines) fetch(crossed.refined + stretch.first, stretch.count);
    room -= stretch.count;
  }
}

template <class T>
static void fetch_rows(const Crossed<T>& crossed, const TokenTile<T>& tile) {
  for (int t = 0; t < tile.tokens; ++t)
    if (tile.rows[t] >= 0)
      fetch(crossed.values + static_cast<int64_t>(tile.rows[t]) * crossed.n_classes, crossed.n_classes);
}

// False if a row or a correction does not exist.
template <class T>
static bool fill(const Crossed<T>& crossed, Walk& walk, TokenTile<T>& tile) {
  tile.tokens = tile.n_parts = 0;
  while (tile.tokens < kTile && walk.position < walk.last) {
    const int from = tile.tokens;
    const Stretch stretch = go_on(crossed, walk, kTile - from);
    const int64_t tokens_left = crossed.n_tokens - stretch.first, room = tokens_left < kTile - from ? tokens_left : kTile - from;
    for (int d = 0; d < crossed.n_plain; ++d) {
      const int64_t at = d * crossed.n_tokens + stretch.first;
      copy_run(crossed.slots + at, stretch.count, tile.slots + d * kTile + from, room);
      copy_run(crossed.fractions + at, stretch.count, tile.fractions + d * kTile + from, room);
    }
    copy_run(crossed.rows + stretch.first, stretch.count, tile.rows + from, room);
    if (crossed.refines) copy_run(crossed.refined + stretch.first, stretch.count, tile.refined + from, room);
    if (crossed.numbers)
      for (int t = from; t < from + stretch.count; ++t)
        if (tile.refined[t] >= 0) tile.refined[t] = crossed.numbers[tile.refined[t]];
    tile.tokens += stretch.count;
    tile.parts[tile.n_parts++] = {stretch.position, stretch.set_size, from, tile.tokens, stretch.ends};
  }
  if (tile.tokens == 0) return true;
  for (int t = tile.tokens; t < kTile; ++t) {
    for (int d = 0; d < crossed.n_plain; ++d) {
      tile.slots[d * kTile + t] = tile.slots[d * kTile];
      tile.fractions[d * kTile + t] = 0;
    }
    tile.rows[t] = tile.refined[t] = -1;
  }
  fetch_rows(crossed, tile);
  fetch_tokens(crossed, walk);
  tile.any_refined = false;
  if (crossed.refines)
    for (int t = 0; t < kTile; ++t) tile.any_refined |= tile.refined[t] >= 0;
  return all_in(tile.rows, crossed.n_rows) && (!crossed.refines || all_in(tile.refined, crossed.n_corrections));
}

// The values of a tile for a block of classes, token after token without gaps: (tokens, width), then up to whole chunks of
// kTile, and behind them room for reading and writing whole lanes at the last token.
template <class T>
struct ClassBlock {
  int first;
  int width;
  int size;           // entries in whole chunks
  T* values;
  int32_t* segments;  // the number of keypoints means "missing"
  T* fractions;
  T* rates;           // derivative of the fraction by the value, zero where clamped
  T* calibrated;      // of one output, before it is clamped
  T* gradients;       // of `calibrated`
  T* by_value;        // gradient of the values, of all outputs
};

template <class T>
static void gather_values(const Crossed<T>& crossed, const TokenTile<T>& tile, ClassBlock<T>& block) {
  for (int t = 0; t < tile.tokens; ++t) {
    T* __restrict to = block.values + t * block.width;
    if (tile.rows[t] < 0) {
      for (int c = 0; c < block.width; ++c) to[c] = crossed.keypoints[0];
      continue;
    }
    const T* __restrict from = crossed.values + static_cast<int64_t>(tile.rows[t]) * crossed.n_classes + block.first;
    if (tile.any_refined && tile.refined[t] >= 0) {
      const T* __restrict correction =
          crossed.corrections + static_cast<int64_t>(tile.refined[t]) * crossed.n_classes + block.first;
      for (int c = 0; c < block.width; ++c) to[c] = from[c] + correction[c];
    } else if (block.width == 1) {
      to[0] = from[0];
    } else {
      copy(from, block.width, to);
    }
  }
  const int used = tile.tokens * block.width;
  block.size = (used + kTile - 1) / kTile * kTile;
  for (int i = used; i < block.size; ++i) block.values[i] = crossed.keypoints[0];
}

// How many of the inner keypoints each of kTile values has reached.
template <class T>
static void find_segments(const T* __restrict keypoints, int n_keypoints, const T* __restrict values,
                          int32_t* __restrict segments) {
  for (int i = 0; i < kTile; ++i) segments[i] = 0;
  for (int j = 1; j < n_keypoints - 1; ++j)
    for (int i = 0; i < kTile; ++i) segments[i] += values[i] >= keypoints[j];
}

#if defined(__AVX512F__)
// The same for keypoints that fit into two registers, by halving; behind the last one stands infinity.
static void find_segments(const float* keypoints, int n_keypoints, const float* values, int32_t* segments) {
  const int inner = n_keypoints - 2;
  if (inner > 31) return find_segments<float>(keypoints, n_keypoints, values, segments);
  const uint32_t filled = (1u << inner) - 1;
  const __m512 infinity = _mm512_set1_ps(__builtin_inff());
  const __m512 low = _mm512_mask_loadu_ps(infinity, static_cast<__mmask16>(filled), keypoints + 1);
  const __m512 high = _mm512_mask_loadu_ps(infinity, static_cast<__mmask16>(filled >> 16), keypoints + 17);
  for (int i = 0; i < kTile; i += 16) {
    const __m512 value = _mm512_load_ps(values + i);
    __m512i reached = _mm512_setzero_si512();
#pragma GCC unroll 5
    for (int step = 16; step > 0; step /= 2) {
      const __m512i next = _mm512_add_epi32(reached, _mm512_set1_epi32(step));
      const __m512 keypoint = _mm512_permutex2var_ps(low, _mm512_add_epi32(reached, _mm512_set1_epi32(step - 1)), high);
      reached = _mm512_mask_mov_epi32(reached, _mm512_cmp_ps_mask(value, keypoint, _CMP_GE_OQ), next);
    }
    _mm512_store_si512(segments + i, reached);
  }
}
#endif

// Finds the segment of every value and its place there, the same for all outputs.
template <class T>
static void place_values(const Crossed<T>& crossed, const TokenTile<T>& tile, const ClassBlock<T>& block) {
  const T first = crossed.keypoints[0], last = crossed.keypoints[crossed.n_keypoints - 1];
  const SlotSpan span{0, static_cast<uint32_t>(crossed.n_keypoints)};
  alignas(64) static const T zeros[kTile] = {};
  alignas(64) T starts[kTile], inverses[kTile];
  for (int at = 0; at < block.size; at += kTile) {
    T* __restrict values = block.values + at;
    int32_t* __restrict segments = block.segments + at;
    T* __restrict fractions = block.fractions + at;
    T* __restrict rates = block.rates + at;
    for (int i = 0; i < kTile; ++i) {
      const T value = values[i];
      rates[i] = value < first || value > last ? T(0) : T(1);
      values[i] = value < first ? first : value > last ? last : value;
    }
    find_segments(crossed.keypoints, crossed.n_keypoints, values, segments);
    look_up(crossed.starts, span, segments, zeros, kTile, starts);
    look_up(crossed.inverses, span, segments, zeros, kTile, inverses);
    for (int i = 0; i < kTile; ++i) {
      fractions[i] = (values[i] - starts[i]) * inverses[i];
      rates[i] *= inverses[i];
    }
  }
  for (int t = 0; t < tile.tokens; ++t) {
    if (tile.rows[t] >= 0) continue;
    for (int i = t * block.width; i < (t + 1) * block.width; ++i) {
      block.segments[i] = crossed.n_keypoints;
      block.fractions[i] = block.rates[i] = 0;
    }
  }
}

// Reads a table of the crossed feature at every value.
template <class T>
static void read_values(const Crossed<T>& crossed, const TableEntry<T>* table, const ClassBlock<T>& block, T* to) {
  const SlotSpan span{0, static_cast<uint32_t>(crossed.n_keypoints)};
  for (int at = 0; at < block.size; at += kTile)
    look_up(table, span, block.segments + at, block.fractions + at, kTile, to + at);
}
