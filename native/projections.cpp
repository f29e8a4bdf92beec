#include "bindings.h"

void bind_projections(nanobind::module_&) {}
