// The slots of a tile's tokens: calibrated values out of the table on the way there, gradients into it on the way back.
// Part of phi_lanes.cpp, inside its namespace.
#pragma once

typedef double Pair __attribute__((vector_size(16)));

// Spans of so many slots are short enough for every slot to look at all tokens.
constexpr uint32_t kSlotsPickingTokens = 16;

// Begins every feature's span with the slot of its token at `start`; false if the slot does not exist.
template <class T>
static bool begin_spans(const Phi<T>& phi, int64_t start, SlotSpan* spans) {
  for (int d = 0; d < phi.n_features; ++d) {
    const uint32_t slot = static_cast<uint32_t>(phi.slots[d * phi.n_tokens + start]);  // a negative slot is a large one
    if (slot >= static_cast<uint32_t>(phi.n_slots)) return false;
    spans[d] = {slot, slot};
  }
  return true;
}

// Widens the span to the slots of a tile; false if one of them does not exist.
static bool widen(SlotSpan& span, const int32_t* slots, int tokens, int32_t n_slots) {
  for (int t = 0; t < tokens; ++t) {
    const uint32_t slot = static_cast<uint32_t>(slots[t]);
    span.first = slot < span.first ? slot : span.first;
    span.last = slot > span.last ? slot : span.last;
  }
  return span.last < static_cast<uint32_t>(n_slots);
}

// Calibrated values of one feature, before they are clamped; false, and no values, if a slot lies outside the span. Every
// token's entry is fetched, one load each, and what follows fills whole registers.
template <class T>
static bool look_up(const TableEntry<T>* __restrict table, SlotSpan span, const int32_t* __restrict slots,
                    const T* __restrict fractions, int tokens, T* __restrict values) {
  uint32_t farthest = 0;
  for (int t = 0; t < tokens; ++t) {
    const uint32_t distance = static_cast<uint32_t>(slots[t]) - span.first;
    farthest = distance > farthest ? distance : farthest;
  }
  if (farthest > span.last - span.first) return false;
  alignas(64) TableEntry<T> entries[kTile];
#pragma GCC unroll 8
  for (int t = 0; t < tokens; ++t) entries[t] = table[slots[t]];
  for (int t = 0; t < tokens; ++t) values[t] = entries[t].value + fractions[t] * entries[t].step;
  return true;
}

#if defined(__AVX512F__)
// The same for a full tile whose span is short: its part of the table stays in registers, and slots are checked as they
// are read.
static bool look_up(const TableEntry<float>* table, SlotSpan span, const int32_t* slots, const float* fractions,
                    int tokens, float* values) {
  if (tokens < kTile || span.last - span.first >= kSlotsInRegisters)
    return look_up<float>(table, span, slots, fractions, tokens, values);
  const float* entries = reinterpret_cast<const float*>(table + span.first);
  const __m512 part[4] = {_mm512_loadu_ps(entries), _mm512_loadu_ps(entries + 16), _mm512_loadu_ps(entries + 32),
                          _mm512_loadu_ps(entries + 48)};
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  const __m512 low = _mm512_permutex2var_ps(part[0], even, part[1]), high = _mm512_permutex2var_ps(part[2], even, part[3]);
  const __m512 low_step = _mm512_permutex2var_ps(part[0], odd, part[1]);
  const __m512 high_step = _mm512_permutex2var_ps(part[2], odd, part[3]);
  const __m512i first = _mm512_set1_epi32(static_cast<int>(span.first));
  const __m512i farthest = _mm512_set1_epi32(static_cast<int>(span.last - span.first));
  uint32_t outside = 0;
  for (int t = 0; t < kTile; t += 16) {
    const __m512i slot = _mm512_sub_epi32(_mm512_loadu_si512(slots + t), first);
    const __m512 fraction = _mm512_loadu_ps(fractions + t);
    const __m512 value = _mm512_permutex2var_ps(low, slot, high), step = _mm512_permutex2var_ps(low_step, slot, high_step);
    outside |= _mm512_cmpgt_epu32_mask(slot, farthest);
    _mm512_store_ps(values + t, _mm512_fmadd_ps(fraction, step, value));
  }
  return outside == 0;
}
#endif

// A token with gradient g gives g and g * fraction to its slot.
template <class T>
static void add_slot_gradients(SlotSpan, const int32_t* slots, const T* fractions, const T* gradients, int tokens,
                               Pair* sums) {
  for (int t = 0; t < tokens; ++t) {
    const double gradient = static_cast<double>(gradients[t]);
    sums[slots[t]] += Pair{gradient, gradient * static_cast<double>(fractions[t])};
  }
}

#if defined(__AVX512F__)
// The sums of eight registers, in order.
static inline __m512d add_lanes(const __m512 (&x)[8]) {
  __m512 pairs[4], quads[2];
  for (int i = 0; i < 4; ++i)
    pairs[i] = _mm512_unpacklo_ps(x[2 * i], x[2 * i + 1]) + _mm512_unpackhi_ps(x[2 * i], x[2 * i + 1]);
  for (int i = 0; i < 2; ++i) {
    const __m512d even = _mm512_castps_pd(pairs[2 * i]), odd = _mm512_castps_pd(pairs[2 * i + 1]);
    quads[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(even, odd)) + _mm512_castpd_ps(_mm512_unpackhi_pd(even, odd));
  }
  const __m512 halves = _mm512_shuffle_f32x4(quads[0], quads[1], 0x88) + _mm512_shuffle_f32x4(quads[0], quads[1], 0xdd);
  const __m512 sums = _mm512_shuffle_f32x4(halves, halves, 0x08) + _mm512_shuffle_f32x4(halves, halves, 0x0d);
  return _mm512_cvtps_pd(_mm512_castps512_ps256(sums));
}

// The same for a full tile whose span is short: four slots at a time pick their tokens out of all, so that no sum in
// memory waits for the one before.
static void add_slot_gradients(SlotSpan span, const int32_t* slots, const float* fractions, const float* gradients,
                               int tokens, Pair* sums) {
  if (tokens < kTile || span.last - span.first >= kSlotsPickingTokens) {
    add_slot_gradients<float>(span, slots, fractions, gradients, tokens, sums);
    return;
  }
  for (uint32_t first = span.first; first <= span.last; first += 4) {
    __m512i numbers[4];
    for (int i = 0; i < 4; ++i) numbers[i] = _mm512_set1_epi32(static_cast<int>(first) + i);
    __m512 lanes[8] = {};
    for (int t = 0; t < kTile; t += 16) {
      const __m512i slot = _mm512_loadu_si512(slots + t);
      const __m512 fraction = _mm512_loadu_ps(fractions + t), gradient = _mm512_load_ps(gradients + t);
      for (int i = 0; i < 4; ++i) {
        const __mmask16 picked = _mm512_cmpeq_epi32_mask(slot, numbers[i]);
        lanes[2 * i] = _mm512_mask_add_ps(lanes[2 * i], picked, lanes[2 * i], gradient);
        lanes[2 * i + 1] = _mm512_mask3_fmadd_ps(gradient, fraction, lanes[2 * i + 1], picked);
      }
    }
    const uint32_t left = span.last - first + 1;
    const __mmask8 in_span = left < 4 ? static_cast<__mmask8>((1u << 2 * left) - 1) : 0xff;
    double* totals = reinterpret_cast<double*>(sums + first);
    _mm512_mask_storeu_pd(totals, in_span, _mm512_maskz_loadu_pd(in_span, totals) + add_lanes(lanes));
  }
}
#endif
