// Which items of a vocabulary do examples have? clearset.tokens._known_tokens says the same in numpy and Arrow.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "bindings.h"
#include "tokens.h"

namespace {

using Bytes = Vector<uint8_t>;

uint64_t mixed(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t hash_of(std::string_view text) {
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15, kSecond = 0xd1342543de82ef95;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = kFirst ^ left, word;
  for (; left >= 8; at += 8, left -= 8) {
    std::memcpy(&word, at, 8);
    hash = mixed(hash ^ word, kSecond);
  }
  word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  return mixed(hash ^ word, kFirst);
}

// Strings as Arrow holds them: text i is what stands from offsets[i] to offsets[i + 1].
struct Texts {
  Texts(const char* name, const Bytes& bytes, const Ints& offsets)
      : bytes(reinterpret_cast<const char*>(bytes.data())), offsets(offsets.data()),
        count(static_cast<int64_t>(offsets.shape(0)) - 1) {
    check_aligned("offsets", offsets);
    bool fits = count >= 0 && this->offsets[0] >= 0 && this->offsets[count] <= static_cast<int64_t>(bytes.shape(0));
    for (int64_t i = 0; fits && i < count; ++i) fits = this->offsets[i] <= this->offsets[i + 1];
    if (!fits) refuse(std::string("The offsets of ") + name + " do not rise within its bytes.");
  }

  std::string_view operator[](int64_t i) const {
    return {bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
  }

  const char* bytes;
  const int64_t* offsets;
  int64_t count;
};

// A table of the items' numbers, open to the next free place, at most half full. It copies the items.
class Vocabulary {
 public:
  Vocabulary(Bytes bytes, Ints offsets) {
    const Texts given("the vocabulary", bytes, offsets);
    check_range("The number of items", given.count, 0, kMaxInt32);
    items_.reserve(static_cast<size_t>(given.count));
    text_.assign(given.bytes + given.offsets[0], given.bytes + given.offsets[given.count]);
    for (int64_t i = 0; i < given.count; ++i)
      items_.emplace_back(text_.data() + given.offsets[i] - given.offsets[0], given[i].size());
    size_t places = 16;
    while (places < 2 * items_.size()) places *= 2;
    table_.assign(places, Entry{0, -1});
    for (int32_t i = 0; i < static_cast<int32_t>(items_.size()); ++i) {
      const uint64_t hash = hash_of(items_[i]);
      size_t place = hash & (places - 1);
      while (table_[place].item >= 0 && items_[table_[place].item] != items_[i]) place = (place + 1) & (places - 1);
      if (table_[place].item < 0) table_[place] = {static_cast<uint32_t>(hash >> 32), i};  // of equal ones the first
    }
  }

  // -1 where it is not there.
  int32_t find(std::string_view text, uint64_t hash) const {
    const uint32_t tag = static_cast<uint32_t>(hash >> 32);
    for (size_t place = hash & (table_.size() - 1); table_[place].item >= 0; place = (place + 1) & (table_.size() - 1))
      if (table_[place].tag == tag && items_[table_[place].item] == text) return table_[place].item;
    return -1;
  }

  // Codes of all rows, where each row begins, and how many items it has. In order, -1 stands where an unknown item is.
  // Otherwise the codes of a row are distinct and ascend, without unknown items, of which distinct ones are counted.
  nb::object encode(Bytes bytes, Ints text_offsets, Ints rows, bool in_order) const {
    const Texts texts("the texts", bytes, text_offsets);
    check_aligned("rows", rows);
    check_offsets(rows.data(), rows.shape(0), static_cast<size_t>(texts.count));
    const int64_t n_rows = static_cast<int64_t>(rows.shape(0)) - 1;
    Encoded encoded(*this, n_rows, texts.count, in_order);
    {
      nb::gil_scoped_release release;
      for (int64_t row = 0; row < n_rows; ++row) {
        for (int64_t i = rows.data()[row]; i < rows.data()[row + 1]; ++i) encoded.add(texts[i]);
        encoded.end_row();
      }
    }
    return encoded.give();
  }

  // The same of a list of lists of strings; None where something else is in it.
  nb::object encode_lists(nb::list rows) const {
    const int64_t n_rows = PyList_GET_SIZE(rows.ptr());
    Encoded encoded(*this, n_rows, 0, false);
    for (int64_t row = 0; row < n_rows; ++row) {
      PyObject* items = PyList_GET_ITEM(rows.ptr(), row);
      if (!PyList_CheckExact(items)) return nb::none();
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); ++i) {
        PyObject* item = PyList_GET_ITEM(items, i);
        Py_ssize_t size = 0;
        const char* text = PyUnicode_CheckExact(item) ? PyUnicode_AsUTF8AndSize(item, &size) : nullptr;
        if (text == nullptr) {
          PyErr_Clear();  // of a string that is no text; whoever reads it next says so
          return nb::none();
        }
        encoded.add({text, static_cast<size_t>(size)});
      }
      encoded.end_row();
    }
    return encoded.give();
  }

 private:
  struct Unknown {
    uint64_t hash;
    std::string_view text;
    bool operator<(const Unknown& other) const { return hash != other.hash ? hash < other.hash : text < other.text; }
    bool operator==(const Unknown& other) const { return hash == other.hash && text == other.text; }
  };

  // Rows that are being encoded.
  class Encoded {
   public:
    Encoded(const Vocabulary& vocabulary, int64_t n_rows, int64_t n_items, bool in_order)
        : vocabulary_(vocabulary), in_order_(in_order), ends_(static_cast<size_t>(n_rows + 1)),
          sizes_(static_cast<size_t>(n_rows)) {
      codes_.reserve(static_cast<size_t>(n_items));
      ends_.data[0] = 0;
    }

    void add(std::string_view text) {
      const uint64_t hash = hash_of(text);
      const int32_t code = vocabulary_.find(text, hash);
      if (code >= 0 || in_order_)
        codes_.push_back(code);
      else
        unknown_.push_back({hash, text});
    }

    void end_row() {
      const auto first = codes_.begin() + ends_.data[row_];
      if (!in_order_) {
        std::sort(first, codes_.end());
        codes_.erase(std::unique(first, codes_.end()), codes_.end());
      }
      std::sort(unknown_.begin(), unknown_.end());
      const int64_t n_unknown = std::unique(unknown_.begin(), unknown_.end()) - unknown_.begin();
      unknown_.clear();
      sizes_.data[row_] = static_cast<int64_t>(codes_.size()) - ends_.data[row_] + n_unknown;
      ends_.data[++row_] = static_cast<int64_t>(codes_.size());
    }

    nb::object give() {
      NewArray<int32_t> codes(codes_.size());
      std::copy(codes_.begin(), codes_.end(), codes.data.get());
      return nb::make_tuple(codes.give(), ends_.give(), sizes_.give());
    }

   private:
    const Vocabulary& vocabulary_;
    bool in_order_;
    int64_t row_ = 0;
    NewArray<int64_t> ends_, sizes_;
    std::vector<int32_t> codes_;
    std::vector<Unknown> unknown_;
  };

  struct Entry {
    uint32_t tag;
    int32_t item;
  };

  std::vector<char> text_;
  std::vector<std::string_view> items_;
  std::vector<Entry> table_;
};

}  // namespace

void bind_tokens_encode(nb::module_& module) {
  nb::class_<Vocabulary>(module, "Vocabulary")
      .def(nb::init<Bytes, Ints>(), nb::arg("bytes").noconvert(), nb::arg("offsets").noconvert())
      .def("encode", &Vocabulary::encode, nb::arg("bytes").noconvert(), nb::arg("offsets").noconvert(),
           nb::arg("rows").noconvert(), nb::arg("in_order"))
      .def("encode_lists", &Vocabulary::encode_lists, nb::arg("rows").noconvert());
}
