// Which tokens of a prefix tree do examples have? clearset.tokens._reference holds the same in numpy.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>

#include "bindings.h"
#include "tokens.h"

namespace {

constexpr int64_t kRowsPerBlock = 256;
constexpr int64_t kSmall = 4096;  // items that are not worth a thread

struct Tree {
  const int32_t *items, *child_offsets, *first;
  const uint32_t* masks;
  int32_t n_nodes, n_codes, n_first;

  // The tree may be much larger than what is looked at, so it is checked where it is walked. Children that stand behind
  // their parent cannot lead in a circle.
  void check_children(int32_t node) const {
    const int32_t begin = child_offsets[node], end = child_offsets[node + 1];
    if (begin > end || end > n_nodes || (begin < end && begin <= node)) refuse_children(node);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_children(int32_t node) const {
    refuse("The children of node " + std::to_string(node) + " go from " + std::to_string(child_offsets[node]) + " to " +
           std::to_string(child_offsets[node + 1]) + "; they must stand behind it, among " + std::to_string(n_nodes) +
           " nodes.");
  }
};

struct Rows {
  const int32_t* codes;
  const int64_t* offsets;
  const uint8_t* views;  // may be null
};

// A token that an example has: it ends at a place of the example, and has grown from another step.
struct Step {
  int32_t node;
  int32_t place, before;
};

class Finder {
 public:
  Finder(const Tree& tree, const Rows& rows, bool ngrams, bool cover)
      : tree_(tree), rows_(rows), ngrams_(ngrams), cover_(cover),
        // Memory that is only touched where items occur costs nothing for large vocabularies.
        places_(static_cast<int64_t*>(std::calloc(tree.n_codes, sizeof(int64_t))), &std::free) {
    if (!places_) throw std::bad_alloc();
  }

  // Appends the tokens of a row in ascending order. A Finder takes rows in ascending order.
  void find(int64_t row, std::vector<int32_t>& out) {
    begin_ = rows_.offsets[row];
    size_ = static_cast<int32_t>(rows_.offsets[row + 1] - begin_);
    codes_ = rows_.codes + begin_;
    view_ = rows_.views ? rows_.views[row] : 0;
    steps_.clear();
    levels_.assign(1, 0);
    start();
    while (steps_.size() > levels_.back()) {
      const size_t from = levels_.back(), to = steps_.size();
      levels_.push_back(to);
      ngrams_ ? grow_runs(from, to) : grow_subsets(from, to);
    }
    size_t first = 0;
    if (ngrams_) {
      sort_levels();
      if (cover_) cover_runs();
    } else if (cover_) {
      first = cover_subsets();
    }
    int32_t last = -1;
    for (size_t i = first; i < steps_.size(); ++i) {
      const int32_t node = steps_[i].node;
      if (node < 0 || node == last || !chosen(node)) continue;
      out.push_back(node);
      last = node;
    }
  }

 private:
  bool known(int32_t code) const { return static_cast<uint32_t>(code) < static_cast<uint32_t>(tree_.n_codes); }
  bool chosen(int32_t node) const { return view_ < 32 && (tree_.masks[node] >> view_ & 1) != 0; }

  void start() {
    for (int32_t place = 0; place < size_; ++place) {
      const int32_t code = codes_[place];
      if (!known(code)) continue;
      places_[code] = begin_ + place + 1;  // so entries of earlier rows, and the zeros of the start, are too small
      if (code >= tree_.n_first || tree_.first[code] < 0) continue;
      check_range("The first node of an item", tree_.first[code], 0, tree_.n_nodes - 1);
      steps_.push_back({tree_.first[code], place, -1});
    }
  }

  void grow_subsets(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const Step step = steps_[i];
      tree_.check_children(step.node);
      const int32_t begin = tree_.child_offsets[step.node], end = tree_.child_offsets[step.node + 1];
      const int32_t rest = size_ - step.place - 1, n_children = end - begin;
      if (n_children == 0 || rest == 0) continue;
      // Either look up every child among the items, or search every item among the children.
      if (n_children <= 4 * rest || n_children <= rest * (32 - __builtin_clz(n_children))) {
        for (int32_t child = begin; child < end; ++child) {
          const int32_t item = tree_.items[child];
          check_range("The item of a node", item, 0, tree_.n_codes - 1);
          const int64_t place = places_[item] - begin_ - 1;
          if (place >= 0) steps_.push_back({child, static_cast<int32_t>(place), static_cast<int32_t>(i)});
        }
      } else {
        const int32_t* low = tree_.items + begin;
        const int32_t* high = tree_.items + end;
        for (int32_t place = step.place + 1; place < size_ && low != high; ++place) {
          low = std::lower_bound(low, high, codes_[place]);
          if (low != high && *low == codes_[place])
            steps_.push_back({static_cast<int32_t>(low - tree_.items), place, static_cast<int32_t>(i)});
        }
      }
    }
  }

  void grow_runs(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const Step step = steps_[i];
      if (step.place + 1 >= size_) continue;
      tree_.check_children(step.node);
      const int32_t code = codes_[step.place + 1];
      const int32_t* end = tree_.items + tree_.child_offsets[step.node + 1];
      const int32_t* child = std::lower_bound(tree_.items + tree_.child_offsets[step.node], end, code);
      if (child != end && *child == code) steps_.push_back({static_cast<int32_t>(child - tree_.items), step.place + 1, -1});
    }
  }

  void sort_levels() {
    for (size_t level = 0; level + 1 < levels_.size(); ++level) {
      std::sort(steps_.begin() + levels_[level], steps_.begin() + levels_[level + 1],
                [](const Step& a, const Step& b) { return a.node != b.node ? a.node < b.node : a.place < b.place; });
    }
  }

  // The size of the largest kept token over each place. A place that tokens of the present size cover is still open to others
  // of that size.
  bool open(int32_t place, size_t size) const { return covered_[place] == 0 || covered_[place] == size; }
  void take(int32_t place, size_t size) {
    n_covered_ += covered_[place] == 0;
    if (covered_[place] == 0) covered_[place] = static_cast<uint32_t>(size);
  }

  // Marks what is not kept, and gives the first step that was looked at: when all is covered, no smaller one is kept.
  size_t cover_subsets() {
    covered_.assign(size_, 0);
    n_covered_ = 0;
    for (size_t size = levels_.size() - 1; size > 0; --size) {
      for (size_t i = levels_[size - 1]; i < levels_[size]; ++i) {
        bool kept = false;
        if (chosen(steps_[i].node))
          for (int32_t at = static_cast<int32_t>(i); at >= 0 && !kept; at = steps_[at].before) kept = open(steps_[at].place, size);
        if (!kept) {
          steps_[i].node = -1;
          continue;
        }
        for (int32_t at = static_cast<int32_t>(i); at >= 0; at = steps_[at].before) take(steps_[at].place, size);
      }
      if (n_covered_ == size_) return levels_[size - 1];
    }
    return 0;
  }

  void cover_runs() {
    covered_.assign(size_, 0);
    n_covered_ = 0;
    for (size_t size = levels_.size() - 1; size > 0; --size) {
      for (size_t i = levels_[size - 1], next; i < levels_[size]; i = next) {
        bool kept = false;
        for (next = i; next < levels_[size] && steps_[next].node == steps_[i].node; ++next)
          for (size_t k = 0; k < size && !kept; ++k) kept = open(steps_[next].place - static_cast<int32_t>(k), size);
        kept = kept && chosen(steps_[i].node);
        for (size_t j = i; j < next; ++j) {
          if (!kept) steps_[j].node = -1;
          for (size_t k = 0; k < size && kept; ++k) take(steps_[j].place - static_cast<int32_t>(k), size);
        }
      }
    }
  }

  const Tree& tree_;
  const Rows& rows_;
  bool ngrams_, cover_;
  std::unique_ptr<int64_t[], decltype(&std::free)> places_;  // where each item stands in all rows, plus one
  const int32_t* codes_ = nullptr;                           // of the row
  int64_t begin_ = 0;
  int32_t size_ = 0, n_covered_ = 0;
  uint32_t view_ = 0;
  std::vector<Step> steps_;
  std::vector<size_t> levels_;  // where the steps of each size begin
  std::vector<uint32_t> covered_;
};

// Tokens and offsets, or None where there are more tokens than the limit.
nb::object find_tokens(Vector<int32_t> codes, Vector<int64_t> offsets, std::optional<Vector<uint8_t>> views,
                       Vector<int32_t> items, Vector<int32_t> child_offsets, Vector<uint32_t> masks,
                       Vector<int32_t> first, int32_t n_codes, bool ngrams, bool cover, int64_t limit, int threads) {
  check_aligned("codes", codes);
  check_aligned("offsets", offsets);
  check_aligned("items", items);
  check_aligned("child_offsets", child_offsets);
  check_aligned("masks", masks);
  check_aligned("first", first);
  check_range("The number of nodes", static_cast<int64_t>(items.shape(0)), 0, kMaxInt32);
  check_range("The number of items", static_cast<int64_t>(codes.shape(0)), 0, kMaxInt32);
  check_offsets(offsets.data(), offsets.shape(0), codes.shape(0));
  if (views) check_length("views", views->shape(0), offsets.shape(0) - 1);
  check_length("child_offsets", child_offsets.shape(0), items.shape(0) + 1);
  check_length("masks", masks.shape(0), items.shape(0));
  check_range("n_codes", n_codes, 0, kMaxInt32);
  check_range("The length of first", static_cast<int64_t>(first.shape(0)), 0, kMaxInt32);
  check_range("threads", threads, 1, kMaxInt32);
  const Tree tree{items.data(),
                  child_offsets.data(),
                  first.data(),
                  masks.data(),
                  static_cast<int32_t>(items.shape(0)),
                  n_codes,
                  static_cast<int32_t>(first.shape(0))};
  const Rows rows{codes.data(), offsets.data(), views ? views->data() : nullptr};
  const int64_t n_rows = static_cast<int64_t>(offsets.shape(0)) - 1;
  const int64_t n_blocks = (n_rows + kRowsPerBlock - 1) / kRowsPerBlock;
  NewArray<int64_t> ends(n_rows + 1);
  std::vector<std::vector<int32_t>> blocks(n_blocks);
  std::atomic<int64_t> next{0}, total{0};
  std::atomic<bool> stop{false};
  const auto work = [&](int) {
    Finder finder(tree, rows, ngrams, cover);
    for (int64_t block; (block = next++) < n_blocks && !stop;) {
      std::vector<int32_t>& out = blocks[block];
      for (int64_t row = block * kRowsPerBlock; row < std::min(n_rows, (block + 1) * kRowsPerBlock) && !stop; ++row) {
        const size_t before = out.size();
        finder.find(row, out);
        ends.data[row + 1] = static_cast<int64_t>(out.size() - before);
        if ((total += static_cast<int64_t>(out.size() - before)) > limit) stop = true;
      }
    }
  };
  if (static_cast<int64_t>(codes.shape(0)) <= kSmall) {
    nb::gil_scoped_release release;
    work(0);
  } else {
    run_watched(static_cast<int>(std::clamp<int64_t>(threads, 1, n_blocks)), stop, work, [] {});
  }
  if (stop) return nb::none();
  NewArray<int32_t> tokens(total);
  ends.data[0] = 0;
  for (int64_t row = 0; row < n_rows; ++row) ends.data[row + 1] += ends.data[row];
  int32_t* to = tokens.data.get();
  for (const auto& block : blocks) to = std::copy(block.begin(), block.end(), to);
  return nb::make_tuple(tokens.give(), ends.give());
}

}  // namespace

void bind_tokens_find(nb::module_& module) {
  module.def("find_tokens", &find_tokens, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("views").noconvert().none(), nb::arg("items").noconvert(), nb::arg("child_offsets").noconvert(),
             nb::arg("masks").noconvert(), nb::arg("first").noconvert(), nb::arg("n_codes"), nb::arg("ngrams"),
             nb::arg("cover"), nb::arg("limit"), nb::arg("threads"));
}
