// Columns of lists of numbers where Arrow has them in memory, as its C data interface describes them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "tokens.h"

// The names and the order of what is in these two are Arrow's: https://arrow.apache.org/docs/format/CDataInterface.html
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

namespace {

template <class T>
const T* behind(nb::handle capsule, const char* name) {
  const T* found = static_cast<const T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (found == nullptr) throw nb::python_error();
  if (found->release == nullptr) refuse("What is behind a capsule has been released.");
  return found;
}

bool has_nulls(const ArrowArray& array) { return array.null_count != 0 && array.n_buffers > 0 && array.buffers[0] != nullptr; }

// Whether a type is more than what it is stored as: its name then stands in the metadata, which are the number of pairs,
// and of each key and value the length and the bytes.
bool is_extension(const ArrowSchema& schema) {
  const char* at = schema.metadata;
  if (at == nullptr) return false;
  const auto number = [&at] {
    int32_t found;
    std::memcpy(&found, at, sizeof found);
    at += sizeof found;
    return found;
  };
  constexpr std::string_view kName = "ARROW:extension:name";
  for (int32_t left = number(); left > 0; --left)
    for (const bool is_key : {true, false}) {
      const int32_t length = number();
      if (is_key && std::string_view(at, static_cast<size_t>(length)) == kName) return true;
      at += length;
    }
  return false;
}

// One column of lists: where they begin and end among its values.
struct Lists {
  const int32_t* ends;
  const double* values;
  int64_t n_values;
};

// Files that were damaged are read without a look at these.
bool are_offsets(const Lists& lists, int64_t n_rows) {
  bool fits = lists.ends[0] >= 0 && lists.ends[n_rows] <= lists.n_values;
  for (int64_t row = 0; row < n_rows; ++row) fits &= lists.ends[row] <= lists.ends[row + 1];
  return fits;
}

// False where a column is anything but lists of doubles without nulls. A column without rows need not have offsets.
bool read(const ArrowSchema& schema, const ArrowArray& array, int64_t first_row, int64_t n_rows, Lists& to) {
  static constexpr int32_t kNoLists[] = {0};
  if (std::strcmp(schema.format, "+l") != 0 || schema.dictionary || array.n_buffers < 2 || array.n_children != 1) return false;
  if (is_extension(schema) || is_extension(*schema.children[0])) return false;
  const ArrowArray& values = *array.children[0];
  if (std::strcmp(schema.children[0]->format, "g") != 0 || schema.children[0]->dictionary || values.n_buffers < 2) return false;
  if (has_nulls(array) || has_nulls(values) || array.buffers[1] == nullptr || values.buffers[1] == nullptr) return false;
  to.ends = n_rows > 0 ? static_cast<const int32_t*>(array.buffers[1]) + array.offset + first_row : kNoLists;
  to.values = static_cast<const double*>(values.buffers[1]) + values.offset;
  to.n_values = values.length;
  return reinterpret_cast<uintptr_t>(to.ends) % alignof(int32_t) == 0 && reinterpret_cast<uintptr_t>(to.values) % alignof(double) == 0;
}

// Offsets and the values of each column, which stay where they are; None where the columns of a record batch are not all
// lists of doubles, of the same lengths and without nulls.
nb::object list_columns(nb::object schema_capsule, nb::object array_capsule) {
  const ArrowSchema& schema = *behind<ArrowSchema>(schema_capsule, "arrow_schema");
  const ArrowArray& batch = *behind<ArrowArray>(array_capsule, "arrow_array");
  if (std::strcmp(schema.format, "+s") != 0 || batch.n_children == 0 || schema.n_children != batch.n_children || has_nulls(batch))
    return nb::none();
  std::vector<Lists> columns(static_cast<size_t>(batch.n_children));
  for (int64_t c = 0; c < batch.n_children; ++c)
    if (!read(*schema.children[c], *batch.children[c], batch.offset, batch.length, columns[c]) ||
        !are_offsets(columns[c], batch.length))
      return nb::none();
  NewArray<int64_t> offsets(static_cast<size_t>(batch.length + 1));
  const int32_t* first = columns[0].ends;
  for (int64_t row = 0; row <= batch.length; ++row) offsets.data[row] = first[row] - first[0];
  for (const Lists& column : columns) {
    bool same = true;
    for (int64_t row = 0; row <= batch.length; ++row) same &= column.ends[row] - column.ends[0] == offsets.data[row];
    if (!same) return nb::none();
  }
  const size_t count = static_cast<size_t>(offsets.data[batch.length]);
  nb::list values;
  for (const Lists& column : columns)
    values.append(nb::ndarray<nb::numpy, const double>(column.values + column.ends[0], {count}, array_capsule));
  return nb::make_tuple(offsets.give(), values);
}

}  // namespace

void bind_arrow_lists(nb::module_& module) {
  module.def("list_columns", &list_columns, nb::arg("schema"), nb::arg("array"));
}
