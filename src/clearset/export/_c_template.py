"""What headers have in common: a set function read from tables."""

KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long main
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    """.split()  # noqa: SIM905
)

LINKS = {
    "identity": "  (void)total;",
    "margin": "  (void)total;",
    "exp": "  (void)total;\n  out[0] = exp(out[0]);",
    "sigmoid": "  (void)total;\n  out[0] = NAME_expit(out[0]);",
    "shares": """  for (f = 0; f < NAME_OUTPUTS; ++f) total += out[f] = NAME_expit(out[f]);
  for (f = 0; f < NAME_OUTPUTS; ++f) out[f] /= total;""",
    "softmax": """  {
    double largest = out[0];
    for (f = 1; f < NAME_OUTPUTS; ++f) largest = out[f] > largest ? out[f] : largest;
    for (f = 0; f < NAME_OUTPUTS; ++f) total += out[f] = exp(out[f] - largest);
    for (f = 0; f < NAME_OUTPUTS; ++f) out[f] /= total;
  }""",
}

TEMPLATE = r"""// A model over sets of numbers and categories: C99, and the mathematical library (-lm).
//
//   double out[NAME_OUTPUTS];
//   NAME_score(tokens, n_tokens, set, out);
//
// tokens has NAME_TOKEN_COLUMNS numbers for each token, one token after the other; set has NAME_SET_COLUMNS numbers.
// NAN is missing. Of categories that are texts give NAME_category(feature, text), of others the number; features count
// from 0 in the order of NAME_features. There may be no tokens. out receives the expected label, of two classes the
// probability of the second (of NAME_classes), of several that of each; after training with the hinge loss the margins.
#ifndef NAME_INCLUDED
#define NAME_INCLUDED

#include <math.h>
#include <stddef.h>
#include <string.h>

/*TABLES*/

// NAME_features has five numbers a feature: where it is read (0 tokens, 1 sets, 2 the number of tokens, 3 nowhere, 4
// the place of the token from the end, 5 from the start), its column there, its first slot, how many slots it has
// before that of missing values, and whether it is categorical.

// Returns the code of a category that is a text; NAN of an unknown one.
static inline double NAME_category(int feature, const char *text) {
  int low = NAME_features[5 * feature + 2], high = low + NAME_features[5 * feature + 3];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const int order = NAME_categories[middle] ? strcmp(text, NAME_categories[middle]) : 1;
    if (order == 0) return NAME_slot_values[middle];
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return NAN;
}

// Reads lines between keypoints, level outside of them.
static inline double NAME_line(double x, const double *keypoints, const double *table, int n) {
  int i = 1;
  if (!(x > keypoints[0])) return table[0];
  if (x >= keypoints[n - 1]) return table[n - 1];
  while (x >= keypoints[i]) ++i;
  // Halves: the difference of two numbers may overflow, that of their halves cannot.
  return table[i - 1] + (x / 2 - keypoints[i - 1] / 2) / (keypoints[i] / 2 - keypoints[i - 1] / 2) *
                            (table[i] - table[i - 1]);
}

// Interpolates in a lattice: the sum of the corners of a cell by their weights.
static inline double NAME_lattice(const double *vertices, const double *places, const int *subset, const int *sizes,
                                  int n) {
  double sum = 0;
  unsigned long corner;
  for (corner = 0; corner < 1ul << n; ++corner) {
    double weight = 1;
    size_t at = 0;
    int d;
    for (d = 0; d < n; ++d) {
      const int feature = subset ? subset[d] : d, size = sizes ? sizes[feature] : 2;
      const double place = places[feature] * (size - 1);
      int cell = (int)place;
      const int up = (int)(corner >> d & 1);
      if (cell > size - 2) cell = size - 2;
      weight *= up ? place - cell : 1 - (place - cell);
      at = at * (size_t)size + (size_t)(cell + up);
    }
    if (weight != 0) sum += weight * vertices[at];
  }
  return sum;
}

static inline double NAME_calibrated(int feature, double x, const double *table) {
  const int first = NAME_features[5 * feature + 2], n = NAME_features[5 * feature + 3];
  int slot;
  if (isnan(x)) return table[first + n];
  if (!NAME_features[5 * feature + 4]) return NAME_line(x, NAME_slot_values + first, table + first, n);
  for (slot = first; slot < first + n; ++slot)
    if (NAME_slot_values[slot] == x) return table[slot];
  return table[first + n];
}

static inline double NAME_expit(double x) {
  const double part = exp(x < 0 ? x : -x);
  return x < 0 ? part / (1 + part) : 1 / (1 + part);
}

static inline void NAME_score(const double *tokens, size_t n_tokens, const double *set, double *out) {
  double means[NAME_OUTPUTS * NAME_WIDTH], total = 0;
  size_t known = n_tokens, t;
  int d, e, f, k, r;
  for (r = 0; r < NAME_OUTPUTS * NAME_WIDTH; ++r) means[r] = 0;
  for (t = 0; t < (n_tokens ? n_tokens : 1); ++t) {
    double x[NAME_FEATURES], places[NAME_FEATURES];
    int values = 0;
    for (d = 0; d < NAME_FEATURES; ++d) {
      const int kind = NAME_features[5 * d], column = NAME_features[5 * d + 1];
      x[d] = kind == 0 && n_tokens ? tokens[t * NAME_TOKEN_COLUMNS + (size_t)column] : kind == 1 ? set[column] : NAN;
      if (kind == 2) x[d] = (double)n_tokens;
      else if (kind < 4) values += !isnan(x[d]);
      else if (n_tokens) x[d] = (double)(kind == 4 ? n_tokens - 1 - t : t);
    }
    if (NAME_SETS_OF_ONE && n_tokens == 1 && !values) known = 0;
    for (r = 0; r < NAME_OUTPUTS * NAME_WIDTH; ++r) {
      const int *subset = NAME_subsets;
      double sum = 0;
      for (d = 0; d < NAME_FEATURES; ++d)
        places[d] = NAME_calibrated(d, x[d], NAME_calibration + (size_t)r * NAME_SLOTS);
      for (e = 0; e < NAME_LATTICES; subset += NAME_subset_sizes[e++])
        sum += NAME_lattice(NAME_vertices + (size_t)r * NAME_VERTICES + NAME_vertex_offsets[e], places, subset,
                            NAME_sizes, NAME_subset_sizes[e]);
      means[r] += sum / NAME_LATTICES;
    }
  }
  for (f = 0; f < NAME_OUTPUTS; ++f) {
    double places[NAME_WIDTH];
    for (k = 0; k < NAME_WIDTH; ++k) {
      r = f * NAME_WIDTH + k;
      means[r] /= (double)(n_tokens ? n_tokens : 1);
      if (NAME_ENOUGH_TOKENS > 1 && known < NAME_ENOUGH_TOKENS) {
        // Small sets say less: their means move to the base rate.
        double share = 0;
        if (known > 0) share = NAME_shares[0] + (double)(known - 1) * (1 - NAME_shares[0]) / (NAME_ENOUGH_TOKENS - 1.0);
        means[r] = NAME_base[r] + share * (means[r] - NAME_base[r]);
      }
      places[k] = NAME_line(means[r], NAME_rho_keypoints, NAME_rho_calibrators + (size_t)r * NAME_KEYPOINTS,
                            NAME_KEYPOINTS);
    }
    out[f] = NAME_line(NAME_lattice(NAME_rho_vertices + ((size_t)f << NAME_WIDTH), places, NULL, NULL, NAME_WIDTH),
                       NAME_rho_keypoints, NAME_rho_output + (size_t)f * NAME_KEYPOINTS, NAME_KEYPOINTS);
    if (NAME_HAS_PRIOR && known == 0) out[f] = NAME_prior[f];
  }
/*LINK*/
}

#endif
"""
