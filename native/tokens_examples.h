// The private copy of the examples that tokens are mined from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

inline constexpr uint32_t kEnd = UINT32_MAX;  // stands behind every example, and for a rare item of an n-gram

struct Occurrence {
  uint32_t example, place;  // place of the last item
};

// The examples without their rare items, and the occurrences of each frequent one.
struct Examples {
  std::vector<uint32_t> items;       // frequent items are numbered from 0
  std::vector<int32_t> codes;        // of the frequent items
  std::vector<uint32_t> counts;      // examples that hold each frequent item
  std::vector<size_t> starts;        // where the occurrences of each frequent item begin
  std::vector<Occurrence> occurrences;
  uint32_t boundary = 0;             // the first item of the right side
};

inline Examples read_examples(const int32_t* codes, const int64_t* offsets, size_t n_examples, bool ngrams,
                              int64_t boundary, uint32_t min_count) {
  const size_t n_codes = static_cast<size_t>(offsets[n_examples]);
  int32_t largest = -1;
  for (size_t i = 0; i < n_codes; ++i) largest = std::max(largest, codes[i]);
  const size_t n_items = static_cast<size_t>(largest + 1);
  std::vector<uint32_t> counts(n_items, 0), last(ngrams ? n_items : 0, kEnd);
  for (uint32_t example = 0; example < n_examples; ++example) {
    for (int64_t i = offsets[example]; i < offsets[example + 1]; ++i) {
      if (ngrams && last[codes[i]] == example) continue;
      if (ngrams) last[codes[i]] = example;
      ++counts[codes[i]];
    }
  }
  Examples out;
  std::vector<uint32_t> numbers(counts.size(), kEnd);
  for (size_t code = 0; code < n_items; ++code) {
    if (counts[code] < min_count) continue;
    numbers[code] = static_cast<uint32_t>(out.codes.size());
    out.codes.push_back(static_cast<int32_t>(code));
    out.counts.push_back(counts[code]);
  }
  out.boundary = static_cast<uint32_t>(std::lower_bound(out.codes.begin(), out.codes.end(), boundary) - out.codes.begin());
  out.items.reserve(n_codes + n_examples);
  out.starts.assign(out.codes.size() + 1, 0);
  for (size_t example = 0; example < n_examples; ++example) {
    for (int64_t i = offsets[example]; i < offsets[example + 1]; ++i) {
      const uint32_t item = numbers[codes[i]];
      if (item != kEnd) ++out.starts[item + 1];
      if (item != kEnd || ngrams) out.items.push_back(item);
    }
    out.items.push_back(kEnd);
  }
  for (size_t item = 0; item < out.codes.size(); ++item) out.starts[item + 1] += out.starts[item];
  out.occurrences.resize(out.starts.back());
  std::vector<size_t> next(out.starts.begin(), out.starts.end() - 1);
  uint32_t place = 0;
  for (uint32_t example = 0; example < n_examples; ++example) {
    const int64_t size = offsets[example + 1] - offsets[example];
    for (int64_t i = 0; ngrams ? i < size : out.items[place] != kEnd; ++i, ++place) {
      if (out.items[place] != kEnd) out.occurrences[next[out.items[place]]++] = {example, place};
    }
    ++place;
  }
  return out;
}
