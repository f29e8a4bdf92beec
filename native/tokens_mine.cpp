// Counting tokens depth first; clearset.tokens._reference holds the same in numpy.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>

#include "bindings.h"
#include "tokens.h"
#include "tokens_examples.h"

namespace {

// Rows of sums that never move while more are added.
template <class T>
class Rows {
 public:
  explicit Rows(size_t width) : width_(width), per_block_(std::max<size_t>(1, (size_t{1} << 18) / (width * sizeof(T)))) {}

  T* add() {
    if (size_ % per_block_ == 0) {
      std::unique_ptr<T[], decltype(&std::free)> block(static_cast<T*>(std::calloc(per_block_ * width_, sizeof(T))),
                                                       &std::free);
      if (!block) throw std::bad_alloc();
      blocks_.push_back(std::move(block));
    }
    return (*this)[size_++];
  }
  T* operator[](size_t i) const { return blocks_[i / per_block_].get() + i % per_block_ * width_; }

 private:
  size_t width_, per_block_, size_ = 0;
  std::vector<std::unique_ptr<T[], decltype(&std::free)>> blocks_;
};

// The tokens of one size that a thread has found, in descending order within each first item.
template <class T>
struct Level {
  explicit Level(size_t width) : sums(width) {}
  std::vector<uint32_t> items, parents, counts;  // parents: numbers within the first item's tokens of the size before
  Rows<T> sums;
};

// What an example adds to the sums of a token: one, or numbers of its own.
struct CountSums {
  using Type = uint32_t;
  const int32_t* channels;
  size_t columns() const { return 1; }
  void add(uint32_t* sums, uint32_t example) const { ++sums[channels[example]]; }
};

template <size_t kColumns>
struct NumberSums {
  using Type = double;
  const int32_t* channels;
  const double* numbers;
  size_t columns() const { return kColumns; }
  void add(double* sums, uint32_t example) const {
    for (size_t j = 0; j < kColumns; ++j) sums[channels[example] * kColumns + j] += numbers[example * kColumns + j];
  }
};

struct Task {
  const Examples& examples;
  bool crosses;
  uint32_t max_items, min_count;
  int64_t limit;
  size_t width;  // of a row of sums
  std::atomic<int64_t> n_tokens{0};
  std::atomic<bool> stop{false};
};

// A thread's work. Nodes wait on a stack; the lists of their occurrences lie in one arena in the same order, so what lies
// behind the list of the node on top is free. Siblings are taken from the last to the first: lists of smaller items wait while
// larger ones grow, no occurrence is in two lists, and the arena needs no more room than the examples (n-grams may
// need that for every size).
template <class Sums, bool kNgrams>
class Miner {
 public:
  using T = typename Sums::Type;

  Miner(Task& task, Sums sums)
      : task_(task), sums_(sums), items_(task.examples.items.data()), counts_(task.examples.codes.size(), 0),
        occurring_(kNgrams ? counts_.size() : 0, 0), last_(kNgrams ? counts_.size() : 0, kEnd),
        next_(counts_.size(), 0), rows_(counts_.size(), nullptr), touched_(counts_.size() + 1) {}

  // Finds all tokens that begin with an item, and tells where those of each size begin in `levels`.
  std::vector<size_t> mine(uint32_t first) {
    const Examples& examples = task_.examples;
    begins_.clear();
    for (const Level<T>& level : levels) begins_.push_back(level.items.size());
    const auto begin = examples.occurrences.begin() + examples.starts[first];
    const size_t size = examples.starts[first + 1] - examples.starts[first];
    if (arena_.size() < size) arena_.resize(size);
    std::copy(begin, begin + size, arena_.begin());
    pending_.push_back({first, 1, 0, examples.counts[first], 0, size});
    while (!pending_.empty() && !task_.stop.load(std::memory_order_relaxed)) {
      const Node node = pending_.back();
      pending_.pop_back();
      T* sums = add(node.level, node.item, node.parent, node.count);
      uint32_t last = kEnd;
      for (size_t i = node.begin; i < node.end; ++i) {
        if (kNgrams && arena_[i].example == last) continue;
        last = arena_[i].example;
        sums_.add(sums, last);
      }
      if (node.level < task_.max_items && !(task_.crosses && node.item >= examples.boundary)) grow(node);
    }
    return begins_;
  }

  std::vector<Level<T>> levels;

 private:
  struct Node {
    uint32_t item, level, parent, count;
    size_t begin, end;
  };

  T* add(uint32_t level, uint32_t item, uint32_t parent, uint32_t count) {
    if (levels.size() < level) {
      levels.emplace_back(task_.width);
      begins_.push_back(0);
    }
    Level<T>& to = levels[level - 1];
    to.items.push_back(item);
    to.parents.push_back(parent);
    to.counts.push_back(count);
    return to.sums.add();
  }

  // Calls visit(item, occurrence) for every way to go on from a list of occurrences.
  template <class Visit>
  void go_on(size_t begin, size_t end, const Visit& visit) {
    const uint32_t least = task_.crosses ? task_.examples.boundary : 0;
    for (size_t i = begin; i < end; ++i) {
      const Occurrence from = arena_[i];
      for (uint32_t place = from.place + 1; items_[place] != kEnd; ++place) {
        if (items_[place] >= least) visit(items_[place], Occurrence{from.example, place});
        if (kNgrams) break;
      }
    }
  }

  void grow(const Node& node) {
    size_t n_touched = 0;
    go_on(node.begin, node.end, [&](uint32_t item, Occurrence to) {
      touched_[n_touched] = item;
      if (kNgrams) {
        n_touched += occurring_[item]++ == 0;
        if (last_[item] == to.example) return;
        last_[item] = to.example;
        ++counts_[item];
      } else {
        n_touched += counts_[item]++ == 0;
      }
    });
    const auto touched_end = touched_.begin() + n_touched;
    const auto rare = [&](uint32_t item) { return counts_[item] < task_.min_count; };
    const auto frequent = std::partition(touched_.begin(), touched_end, rare);
    std::sort(frequent, touched_end);
    const bool allowed = task_.n_tokens.fetch_add(touched_end - frequent, std::memory_order_relaxed) +
                         (touched_end - frequent) <= task_.limit;
    if (!allowed) task_.stop = true;
    if (allowed && frequent != touched_end) {
      const uint32_t parent = static_cast<uint32_t>(levels[node.level - 1].items.size() - 1 - begins_[node.level - 1]);
      if (node.level + 1 == task_.max_items) {
        sum_up(node, parent, &*frequent, &*frequent + (touched_end - frequent));
      } else {
        push(node, parent, &*frequent, &*frequent + (touched_end - frequent));
      }
    }
    for (auto item = touched_.begin(); item != touched_end; ++item) {
      counts_[*item] = 0;
      if (kNgrams) occurring_[*item] = 0, last_[*item] = kEnd;
    }
  }

  // Of tokens of the last size nothing is needed but their sums.
  void sum_up(const Node& node, uint32_t parent, const uint32_t* begin, const uint32_t* end) {
    for (const uint32_t* item = end; item-- != begin;) {
      rows_[*item] = add(node.level + 1, *item, parent, counts_[*item]);
      if (kNgrams) last_[*item] = kEnd;
    }
    go_on(node.begin, node.end, [&](uint32_t item, Occurrence to) {
      if (rows_[item] == nullptr) return;
      if (kNgrams) {
        if (last_[item] == to.example) return;
        last_[item] = to.example;
      }
      sums_.add(rows_[item], to.example);
    });
    for (const uint32_t* item = begin; item != end; ++item) rows_[*item] = nullptr;
  }

  void push(const Node& node, uint32_t parent, const uint32_t* begin, const uint32_t* end) {
    size_t top = node.end;
    for (const uint32_t* item = begin; item != end; ++item) {
      const size_t size = kNgrams ? occurring_[*item] : counts_[*item];
      pending_.push_back({*item, node.level + 1, parent, counts_[*item], top, top + size});
      next_[*item] = top;
      top += size;
    }
    if (arena_.size() < top) arena_.resize(top + top / 2);
    go_on(node.begin, node.end, [&](uint32_t item, Occurrence to) {
      if (counts_[item] >= task_.min_count) arena_[next_[item]++] = to;
    });
  }

  Task& task_;
  Sums sums_;
  const uint32_t* items_;
  std::vector<uint32_t> counts_, occurring_, last_;  // of each next item; all zero or kEnd between two nodes
  std::vector<size_t> next_;
  std::vector<T*> rows_;
  std::vector<uint32_t> touched_;
  std::vector<Occurrence> arena_;
  std::vector<Node> pending_;
  std::vector<size_t> begins_;
};

// Where the tokens that begin with an item are: in which thread's levels, and from where to where.
struct Segment {
  int worker = 0;
  std::vector<size_t> begins, ends;
};

template <class T>
nb::object put_together(const Examples& examples, std::vector<std::vector<Level<T>>*> workers,
                        const std::vector<Segment>& segments, size_t width) {
  size_t n_levels = 0;
  for (const auto* levels : workers) n_levels = std::max(n_levels, levels->size());
  NewArray<int64_t> starts(n_levels + 1);
  starts.data[0] = 0;
  for (size_t level = 0; level < n_levels; ++level) {
    starts.data[level + 1] = starts.data[level];
    for (const auto* levels : workers)
      if (level < levels->size()) starts.data[level + 1] += (*levels)[level].items.size();
  }
  const size_t n = static_cast<size_t>(starts.data[n_levels]);
  NewArray<int32_t> items(n), parents(n);
  NewArray<int64_t> counts(n);
  NewArray<T> sums(n, width);
  {
    nb::gil_scoped_release release;
    std::vector<int64_t> ends_before(segments.size(), 0);  // where the first item's tokens of the size before end
    for (size_t level = 0; level < n_levels; ++level) {
      int64_t to = starts.data[level];
      for (size_t first = 0; first < segments.size(); ++first) {
        const Segment& segment = segments[first];
        if (level >= segment.begins.size()) continue;
        const Level<T>& from = (*workers[segment.worker])[level];
        for (size_t i = segment.ends[level]; i-- > segment.begins[level]; ++to) {
          items.data[to] = examples.codes[from.items[i]];
          parents.data[to] = level == 0 ? -1 : static_cast<int32_t>(ends_before[first] - 1 - from.parents[i]);
          counts.data[to] = from.counts[i];
          std::copy_n(from.sums[i], width, sums.data.get() + to * width);
        }
        ends_before[first] = to;
      }
      for (auto* levels : workers)
        if (level < levels->size()) (*levels)[level] = Level<T>(width);
    }
  }
  return nb::make_tuple(items.give(), parents.give(), starts.give(), counts.give(), sums.give());
}

// The arrays of Mined, or the number of tokens at which the limit was passed.
template <class Sums, bool kNgrams>
nb::object mine(Task& task, Sums sums, int threads, const nb::object& on_progress) {
  const size_t n_items = task.examples.codes.size();
  task.n_tokens = static_cast<int64_t>(n_items);
  if (task.n_tokens > task.limit) return nb::int_(task.n_tokens.load());
  threads = std::max(1, std::min(threads, static_cast<int>(n_items)));
  std::vector<std::unique_ptr<Miner<Sums, kNgrams>>> miners;
  for (int i = 0; i < threads; ++i) miners.push_back(std::make_unique<Miner<Sums, kNgrams>>(task, sums));
  std::vector<Segment> segments(n_items);
  std::atomic<size_t> next{0}, done{0};
  run_watched(
      threads, task.stop,
      [&](int worker) {
        auto& miner = *miners[worker];
        for (size_t first; (first = next++) < n_items && !task.stop;) {
          segments[first] = {worker, miner.mine(static_cast<uint32_t>(first)), {}};
          for (const auto& level : miner.levels) segments[first].ends.push_back(level.items.size());
          done += task.examples.starts[first + 1] - task.examples.starts[first];
        }
      },
      [&] {
        if (!on_progress.is_none()) on_progress(static_cast<double>(done) / task.examples.occurrences.size());
      });
  if (task.n_tokens > task.limit) return nb::int_(task.n_tokens.load());
  std::vector<std::vector<Level<typename Sums::Type>>*> levels;
  for (auto& miner : miners) levels.push_back(&miner->levels);
  return put_together(task.examples, levels, segments, task.width);
}

template <class Sums>
nb::object mine_as(Task& task, Sums sums, bool ngrams, size_t n_channels, int threads, const nb::object& on_progress) {
  task.width = n_channels * sums.columns();
  return ngrams ? mine<Sums, true>(task, sums, threads, on_progress) : mine<Sums, false>(task, sums, threads, on_progress);
}

// There is a counter for every code up to the largest.
constexpr int64_t kMaxCode = (1 << 28) - 1;

nb::object mine_tokens(Vector<int32_t> codes, Vector<int64_t> offsets, Vector<int32_t> channels,
                       int64_t n_channels, std::optional<Matrix<double>> adding, bool ngrams, int64_t boundary,
                       int64_t max_items, int64_t min_count, int64_t limit, int threads, nb::object on_progress) {
  check_aligned("codes", codes);
  check_aligned("offsets", offsets);
  check_aligned("channels", channels);
  if (adding) check_aligned("adding", *adding);
  check_range("The number of items", static_cast<int64_t>(codes.shape(0)), 0, kMaxInt32);
  check_range("The number of offsets", static_cast<int64_t>(offsets.shape(0)), 1, kMaxInt32);
  const size_t n_examples = offsets.shape(0) - 1;
  check_length("channels", channels.shape(0), n_examples);
  check_range("n_channels", n_channels, 1, 1 << 28);
  check_range("boundary", boundary, -1, std::numeric_limits<int64_t>::max());
  check_range("max_items", max_items, 1, kMaxInt32);
  check_range("min_count", min_count, 1, kMaxInt32);
  check_range("threads", threads, 1, kMaxInt32);
  if (adding && (adding->shape(0) != n_examples || (adding->shape(1) != 1 && adding->shape(1) != 3)))
    refuse("What examples add has the shape (" + std::to_string(adding->shape(0)) + ", " +
           std::to_string(adding->shape(1)) + "); with " + std::to_string(n_examples) +
           " examples it must have a row for each and 1 or 3 columns.");
  if (!on_progress.is_none() && !PyCallable_Check(on_progress.ptr()))
    throw nb::type_error("on_progress cannot be called; give a function of the share that is done, or None.");
  Examples examples;
  {
    nb::gil_scoped_release release;
    check_offsets(offsets.data(), offsets.shape(0), codes.shape(0));
    for (size_t i = 0; i < codes.shape(0); ++i) check_range("The code of an item", codes.data()[i], 0, kMaxCode);
    for (size_t i = 0; i < n_examples; ++i) check_range("A channel", channels.data()[i], 0, n_channels - 1);
    examples = read_examples(codes.data(), offsets.data(), n_examples, ngrams, boundary,
                             static_cast<uint32_t>(min_count));
  }
  Task task{examples, boundary >= 0, static_cast<uint32_t>(max_items), static_cast<uint32_t>(min_count), limit, 0};
  if (!adding) return mine_as(task, CountSums{channels.data()}, ngrams, n_channels, threads, on_progress);
  if (adding->shape(1) == 1)
    return mine_as(task, NumberSums<1>{channels.data(), adding->data()}, ngrams, n_channels, threads, on_progress);
  return mine_as(task, NumberSums<3>{channels.data(), adding->data()}, ngrams, n_channels, threads, on_progress);
}

}  // namespace

void bind_tokens_mine(nb::module_& module) {
  module.def("mine_tokens", &mine_tokens, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("channels").noconvert(), nb::arg("n_channels"), nb::arg("adding").noconvert().none(),
             nb::arg("ngrams"), nb::arg("boundary"), nb::arg("max_items"), nb::arg("min_count"), nb::arg("limit"),
             nb::arg("threads"), nb::arg("on_progress").none());
}
