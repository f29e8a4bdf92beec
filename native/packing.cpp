// Positions in 32 bits, from two arrays and back, and from one order of sets to another; clearset.sets holds the same in numpy.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "packed_sets.h"

namespace nb = nanobind;

namespace {

std::vector<Coding> coding_of(const Vector<int32_t>& first_slots, const Vector<int32_t>& bits) {
  check_length("bits", bits.size(), first_slots.size());
  check_aligned("first_slots", first_slots);
  check_aligned("bits", bits);
  std::vector<Coding> coding;
  for (size_t d = 0; d < first_slots.size(); ++d) {
    check_range("A first slot", first_slots.data()[d], 0, kMaxInt32);
    check_range("The number of bits", bits.data()[d], 1, 31);
    coding.push_back({first_slots.data()[d], bits.data()[d]});
  }
  return coding;
}

// Sets begin at `begins`, and end within `n_tokens`; some may be left out, by -1, however large they are.
void check_begins(const Ints& begins, const int64_t* offsets, int64_t n_tokens, bool leaves_out) {
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t begin = begins.data()[i], size = offsets[i + 1] - offsets[i];
    if (!(leaves_out && begin == -1)) check_range("The begin of a set", begin, 0, n_tokens - size);
  }
}

void pack_run(const int32_t* slots, const float* fractions, int64_t size, Coding coding, uint32_t* to, bool& fits) {
  const int32_t shift = 32 - coding.bits, most = static_cast<int32_t>((uint32_t{1} << shift) - 1);
  const float whole = static_cast<float>(uint32_t{1} << shift);
  const uint32_t limit = coding.bits == 31 ? uint32_t{1} << 31 : uint32_t{1} << coding.bits;
  bool good = true;
  for (int64_t t = 0; t < size; ++t) {
    const uint32_t slot = static_cast<uint32_t>(slots[t]) - static_cast<uint32_t>(coding.first_slot);
    good &= slot < limit;
    const float scaled = fractions[t] * whole;
    to[t] = slot << shift | static_cast<uint32_t>(scaled < whole ? static_cast<int32_t>(scaled) : most);
  }
  fits &= good;
}

void pack_sets(Matrix<int32_t> slots, Matrix<float> fractions, Ints offsets, Vector<int32_t> first_slots,
               Vector<int32_t> bits, Ints begins, VectorOut<uint32_t> packed) {
  const int64_t n_features = length(slots.shape(0)), n_tokens = length(slots.shape(1));
  if (fractions.shape(0) != slots.shape(0) || fractions.shape(1) != slots.shape(1))
    refuse("slots and fractions must both have the shape (features, tokens).");
  check_length("first_slots", first_slots.size(), slots.shape(0));
  check_range("The number of features", n_features, 1, kMaxInt32);
  check_aligned("slots", slots);
  check_aligned("fractions", fractions);
  check_aligned("offsets", offsets);
  check_aligned("begins", begins);
  check_aligned("packed", packed);
  check_offsets(offsets.data(), offsets.size(), static_cast<size_t>(n_tokens));
  check_length("begins", begins.size(), offsets.size() - 1);
  check_begins(begins, offsets.data(), length(packed.size()) / n_features, true);
  check_numbers<float>("fractions", fractions.data(), fractions.size(), 0, 1);
  const std::vector<Coding> coding = coding_of(first_slots, bits);
  bool fits = true;
  {
    nb::gil_scoped_release release;
    for (size_t i = 0; i < begins.size(); ++i) {
      if (begins.data()[i] < 0) continue;
      const int64_t from = offsets.data()[i], size = offsets.data()[i + 1] - from;
      uint32_t* to = packed.data() + n_features * begins.data()[i];
      for (int64_t d = 0; d < n_features; ++d, to += size)
        pack_run(slots.data() + d * n_tokens + from, fractions.data() + d * n_tokens + from, size, coding[d], to, fits);
    }
  }
  if (!fits) refuse("A slot lies outside its feature.");
}

void unpack_sets(Vector<uint32_t> packed, Ints offsets, Vector<int32_t> first_slots, Vector<int32_t> bits,
                 MatrixOut<int32_t> slots, MatrixOut<float> fractions) {
  const int64_t n_features = length(slots.shape(0)), n_tokens = length(slots.shape(1));
  if (fractions.shape(0) != slots.shape(0) || fractions.shape(1) != slots.shape(1))
    refuse("slots and fractions must both have the shape (features, tokens).");
  check_length("first_slots", first_slots.size(), slots.shape(0));
  check_length("packed", packed.size(), slots.size());
  check_aligned("packed", packed);
  check_aligned("offsets", offsets);
  check_aligned("slots", slots);
  check_aligned("fractions", fractions);
  check_offsets(offsets.data(), offsets.size(), static_cast<size_t>(n_tokens));
  const std::vector<Coding> coding = coding_of(first_slots, bits);
  nb::gil_scoped_release release;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const int64_t begin = offsets.data()[i], size = offsets.data()[i + 1] - begin;
    const uint32_t* from = packed.data() + n_features * begin;
    for (int64_t d = 0; d < n_features; ++d, from += size)
      unpack<false>(from, size, coding[d], slots.data() + d * n_tokens + begin, fractions.data() + d * n_tokens + begin);
  }
}

void move_sets(Vector<uint32_t> packed, Ints offsets, int64_t features, Ints begins, VectorOut<uint32_t> to) {
  check_range("The number of features", features, 1, kMaxInt32);
  check_length("to", to.size(), packed.size());
  check_aligned("packed", packed);
  check_aligned("offsets", offsets);
  check_aligned("begins", begins);
  check_aligned("to", to);
  if (packed.size() % static_cast<size_t>(features) != 0) refuse("packed must have so many entries for each token.");
  const int64_t n_tokens = length(packed.size()) / features;
  check_offsets(offsets.data(), offsets.size(), static_cast<size_t>(n_tokens));
  check_length("begins", begins.size(), offsets.size() - 1);
  check_begins(begins, offsets.data(), n_tokens, false);
  nb::gil_scoped_release release;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t from = offsets.data()[i], size = offsets.data()[i + 1] - from;
    std::memcpy(to.data() + features * begins.data()[i], packed.data() + features * from,
                static_cast<size_t>(4 * features * size));
  }
}

}  // namespace

void bind_packing(nb::module_& module) {
  module.def("pack_sets", &pack_sets, nb::arg("slots").noconvert(), nb::arg("fractions").noconvert(),
             nb::arg("offsets").noconvert(), nb::arg("first_slots").noconvert(), nb::arg("bits").noconvert(),
             nb::arg("begins").noconvert(), nb::arg("packed").noconvert(),
             "Write the tokens of each set from `begins` on; sets that begin at -1 are left out.");
  module.def("unpack_sets", &unpack_sets, nb::arg("packed").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("first_slots").noconvert(), nb::arg("bits").noconvert(), nb::arg("slots").noconvert(),
             nb::arg("fractions").noconvert(), "Write slots and fractions of all sets.");
  module.def("move_sets", &move_sets, nb::arg("packed").noconvert(), nb::arg("offsets").noconvert(), nb::arg("features"),
             nb::arg("begins").noconvert(), nb::arg("to").noconvert(), "Write all sets, each from its place in `begins` on.");
}
